//! Whose turn it is on a worker of the scheduler, by counts, and what the counters say of it.

mod running;

use cantina::scheduler::{Handle, Runtime, Unit};
use machine::Topology;
use machine::lock::Mutex;
use machine::park::Parker;
use running::{LONG, blocked, runtime};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};

/// A unit that always has a message, and what comes from outside meanwhile.
struct Outside {
    handle: Handle,
    cold: Unit<()>,
    /// Messages of the unit so far.
    count: AtomicUsize,
    /// How many of them ran before each thing that came.
    waited: Mutex<Vec<usize>>,
}

/// As often as something comes, and how many messages apart.
const COMES: usize = 24;
const APART: usize = 83;

fn is_hot(unit: &Unit<()>, outside: &Arc<Outside>) {
    let now = outside.count.fetch_add(1, Relaxed);
    if now >= COMES * APART {
        return;
    }
    if now % APART == 0 {
        let ours = outside.clone();
        let tells = move || {
            let waited = ours.count.load(Relaxed) - now;
            ours.waited.lock().push(waited);
        };
        let (handle, cold) = (outside.handle.clone(), outside.cold.clone());
        // While this message runs.
        let sends = std::thread::spawn(move || match now % 3 {
            0 => drop(handle.spawn(tells)),
            1 => drop(handle.spawn_urgent(tells)),
            _ => cold.tell(move |()| tells()),
        });
        sends.join().unwrap();
    }
    let (this, outside) = (unit.clone(), outside.clone());
    unit.tell(move |()| is_hot(&this, &outside));
}

/// The rest of the turn in which it comes, and one more at most.
#[test]
fn what_comes_from_outside_waits_for_two_turns_of_a_hot_unit() {
    const BUDGET: usize = 4;
    let runtime = Runtime::builder().workers(1).budget(BUDGET).build().unwrap();
    let (handle, cold, hot) = (runtime.handle(), runtime.unit(()), runtime.unit(()));
    let (count, waited) = (AtomicUsize::new(0), Mutex::default());
    let outside = Arc::new(Outside { handle, cold, count, waited });
    let (this, theirs) = (hot.clone(), outside.clone());
    hot.tell(move |()| is_hot(&this, &theirs));
    while outside.waited.lock().len() < COMES {
        std::thread::yield_now();
    }
    let waited = outside.waited.lock().clone();
    assert!(waited.iter().all(|messages| *messages <= 2 * BUDGET), "{waited:?}");
    drop(runtime);
}

/// All of one operation's, on one worker: each 1021st time it takes the oldest.
#[test]
fn free_operations_run_last_in_first_out_and_now_and_then_the_oldest() {
    const MANY: usize = 5_000;
    let runtime = runtime(1);
    let order: Arc<Mutex<Vec<usize>>> = Arc::default();
    let (handle, theirs) = (runtime.handle(), order.clone());
    drop(runtime.spawn(move || {
        for number in 0..MANY {
            let order = theirs.clone();
            drop(handle.spawn(move || order.lock().push(number)));
        }
    }));
    assert!(runtime.shutdown(LONG).is_nothing());
    let (mut oldest, mut newest) = (Vec::new(), MANY);
    for (turn, number) in order.lock().iter().enumerate() {
        if *number == newest - 1 {
            newest -= 1;
        } else {
            assert_eq!(*number, oldest.len(), "neither the newest nor the oldest");
            oldest.push(turn);
        }
    }
    assert_eq!(newest, oldest.len());
    assert!(oldest[0] < 1021 && oldest.len() >= MANY / 1021, "{oldest:?}");
    assert!(oldest.windows(2).all(|pair| pair[1] - pair[0] == 1021), "{oldest:?}");
}

/// One worker blocks. Its unit, and an operation that it has spawned, go to the other one.
#[test]
fn what_waits_behind_an_operation_that_blocks_is_stolen_and_counted() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    // One of the two is kept busy, so that the unit begins on the other one.
    let thief_goes = blocked(&runtime);
    let unit = runtime.unit_builder().capacity(10).build(());
    let number = || {
        let name = std::thread::current().name().unwrap().to_owned();
        name.rsplit('-').next().unwrap().parse::<usize>().unwrap()
    };
    let victim = unit.send(move |()| number()).wait().unwrap();
    let (tells, told) = std::sync::mpsc::channel();
    let waits = Parker::new();
    let victim_goes = waits.unparker();
    let theirs = (unit.clone(), runtime.handle());
    drop(runtime.spawn(move || {
        let (unit, handle) = theirs;
        tells.send((unit.send(move |()| number()), handle.spawn(number))).unwrap();
        waits.park();
    }));
    let (message, free) = told.recv().unwrap();
    let before = handle.metrics().workers;
    assert_eq!((before[victim].queued, before[1 - victim].queued), (2, 0));
    assert_eq!((unit.metrics().moves, unit.metrics().queued), (0, Some(1)));
    thief_goes.unpark();
    assert_eq!((message.wait(), free.wait()), (Ok(1 - victim), Ok(1 - victim)));
    assert_eq!(unit.metrics().moves, 1);
    victim_goes.unpark();
    let parks = |handle: &Handle| handle.metrics().workers.iter().all(|worker| worker.parks > 0);
    while !parks(&handle) {
        std::thread::yield_now();
    }
    assert!(runtime.shutdown(LONG).is_nothing());
    let workers = handle.metrics().workers;
    let steals = |worker: usize| workers[worker].steals - before[worker].steals;
    assert_eq!((steals(victim), steals(1 - victim)), (0, 2));
    let (victim, thief) = (&workers[victim], &workers[1 - victim]);
    assert_eq!((victim.operations, victim.messages), (1, 1));
    assert_eq!((thief.operations, thief.messages), (2, 1));
    assert_eq!((victim.queued, thief.queued), (0, 0));
    assert_eq!(unit.metrics().queued, Some(0));
}

/// Of a list of cores as the kernel writes it, the only one.
#[cfg(target_os = "linux")]
fn only_core() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().parse().ok()
}

/// Each on its own core, in the order of the topology; with more workers than cores they share these.
#[test]
#[cfg(target_os = "linux")]
fn a_pinned_worker_runs_on_its_core_and_no_other() {
    let topology = Topology::detect();
    let cores: Vec<_> = topology.cores().collect();
    let mine = std::thread::spawn({
        let first = cores[0];
        move || machine::thread::pin_to(first).is_ok()
    });
    if !mine.join().unwrap() {
        return println!("threads cannot be pinned here");
    }
    let workers = cores.len().min(4) + 1;
    let runtime = Runtime::builder().workers(workers).topology(topology).pin(true).build().unwrap();
    // Each keeps its worker until all have one.
    let all = Arc::new(Barrier::new(workers));
    let place = |all: Arc<Barrier>| {
        all.wait();
        (std::thread::current().name().unwrap().to_owned(), only_core())
    };
    let places = (0..workers).map(|_| {
        runtime.spawn({
            let all = all.clone();
            move || place(all)
        })
    });
    let mut seen: Vec<_> =
        places.collect::<Vec<_>>().into_iter().map(|it| it.wait().unwrap()).collect();
    seen.sort_unstable();
    let core = |worker: usize| cores[worker % cores.len()].0;
    let expected = |worker| (format!("cantina-{worker}"), Some(core(worker)));
    assert_eq!(seen, (0..workers).map(expected).collect::<Vec<_>>());
}

/// Nor that the last handle is gone, which a unit with a weak one is sent.
#[test]
fn what_is_no_operation_is_not_counted() {
    let runtime = runtime(1);
    let (handle, unit) = (runtime.handle(), runtime.unit(1));
    let weak = unit.downgrade();
    let value = unit.send(|state| *state);
    drop(unit);
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!((value.wait(), weak.upgrade().is_none()), (Ok(1), true));
    assert_eq!((handle.metrics().workers[0].messages, handle.metrics().operations()), (1, 1));
}
