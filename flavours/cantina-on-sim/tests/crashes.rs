//! What is said to be lock-free, and is no pool: whoever dies at any step, the others' calls come to an end.

extern crate cantina_on_sim as cantina;

use cantina::owner_queue::{Owner, OwnerQueue};
use cantina::reclaim::Domain;
use cantina::scheduler::Runtime;
use cantina::scheduler::deque::Deque;
use cantina::todo_tree::max_array::MaxArray;
use cantina_effort::rounds;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicPtr};
use machine::engine::{Simulation, ThreadId};
use machine::fence::Pair;
use machine::progress::operation;
use machine::thread::{Crashed, JoinHandle};
use machine::{Arc, Topology, thread};
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};
// No steps: nobody dies with them.
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// Threads beside the scenario.
const THREADS: u32 = 3;
/// Steps of all threads until a call of one of them ends: far more than it takes.
const SOON: u64 = 2_000;
/// No thread takes as many steps.
const MANY: u64 = 2_000;
/// Things that each thread does.
const TURNS: u64 = 3;

/// Runs `scenario` with each of its threads stopped for ever after each number of its steps.
fn survives_crashes(scenario: fn()) {
    survives_crashes_behind(0, 20, scenario);
}

/// The same on so many schedules, where `others` were started before its threads, of which none dies.
fn survives_crashes_behind(others: u32, seeds: u64, scenario: fn()) {
    let mut crashes = 0;
    for seed in 0..rounds(seeds, 50 * seeds) {
        for thread in (1..=THREADS).map(|number| ThreadId(others + number)) {
            for steps in 0..MANY {
                let simulation = Simulation::new().seed(seed).crash(thread, steps);
                let outcome = simulation.lock_free_within(SOON).run(scenario);
                let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
                if outcome.crashed.is_empty() {
                    break;
                }
                crashes += 1;
            }
        }
    }
    assert!(crashes > 200, "{crashes}");
}

/// Does `f` on so many threads, each with its number. Whether all came to an end.
fn together(f: impl Fn(u64) + Clone + Send + 'static) -> bool {
    ended(f).len() == THREADS as usize
}

/// The same; the numbers of those that came to an end.
fn ended(f: impl Fn(u64) + Clone + Send + 'static) -> Vec<u64> {
    let start = |number: u32| {
        let f = f.clone();
        thread::spawn(move || f(number.into()))
    };
    let threads: Vec<_> = (1..=THREADS).map(start).collect();
    let has_ended = |thread: JoinHandle<()>| match thread.join() {
        Ok(()) => true,
        Err(payload) if payload.is::<Crashed>() => false,
        Err(payload) => resume_unwind(payload),
    };
    let ended = threads
        .into_iter()
        .zip(1..)
        .filter_map(|(thread, number)| has_ended(thread).then_some(number));
    ended.collect()
}

/// Gets all items, or goes before: whoever comes later goes on.
fn works_off(mut owner: Owner<u64>, got: &Mutex<BTreeSet<u64>>, most: usize) {
    for _ in 0..most {
        let Some((item, again)) = operation("next", || owner.next()) else { return };
        assert!(got.lock().unwrap().insert(item), "{item} twice");
        owner = again;
    }
    operation("leave", || drop(owner));
}

/// Threads that each add items, as `adder` makes them, and work off what they own.
fn adds_and_works_off<A: FnMut(u64) -> Option<Owner<u64>> + 'static>(
    queue: OwnerQueue<u64>,
    adder: fn(&OwnerQueue<u64>) -> A,
) {
    let lists: Vec<_> = (0..=THREADS).map(|_| Arc::new(Mutex::new(BTreeSet::new()))).collect();
    let (theirs, all) = (queue.clone(), lists.clone());
    let ended = together(move |number| {
        let mut enqueue = operation("adder", || adder(&theirs));
        for turn in 0..TURNS {
            let item = TURNS * number + turn;
            let owner = operation("enqueue", || enqueue(item));
            let owner = owner.or_else(|| operation("try_own", || theirs.try_own()));
            let got = &*all[number as usize];
            owner.into_iter().for_each(|owner| works_off(owner, got, 2));
        }
        operation("leave", || drop(enqueue));
    });
    queue.try_own().into_iter().for_each(|owner| works_off(owner, &lists[0], usize::MAX));
    let got: Vec<u64> = lists.iter().flat_map(|list| list.lock().unwrap().clone()).collect();
    let distinct: BTreeSet<u64> = got.iter().copied().collect();
    assert_eq!(distinct.len(), got.len(), "an item twice: {got:?}");
    if ended {
        assert_eq!(got.len() as u64, TURNS * u64::from(THREADS));
    }
}

#[test]
fn a_queue_with_an_owner_takes_items_whoever_has_died() {
    survives_crashes(|| {
        adds_and_works_off(OwnerQueue::new(), |queue| {
            let queue = queue.clone();
            move |item| queue.enqueue(item)
        });
    });
}

/// Nodes go back one by one, and are used again.
#[test]
fn a_queue_takes_items_of_producers_whoever_has_died() {
    survives_crashes(|| {
        adds_and_works_off(OwnerQueue::recycling(1), |queue| {
            let mut producer = queue.producer();
            move |item| producer.enqueue(item)
        });
    });
}

/// A task is an address, and this one's nobody follows.
fn task(number: u64) -> NonNull<u64> {
    NonNull::new(ptr::without_provenance_mut(number as usize)).expect("not zero")
}

/// The first of the threads is its worker, which lets it grow, and the others steal.
#[test]
fn a_deque_is_worked_off_and_stolen_from_whoever_has_died() {
    survives_crashes(|| {
        let deque = Arc::new(Deque::<u64>::new(1, Pair::best()));
        let got = Arc::new(Mutex::new(BTreeSet::new()));
        let (theirs, all) = (deque.clone(), got.clone());
        let keep = |got: &Mutex<BTreeSet<usize>>, task: NonNull<u64>| {
            assert!(got.lock().unwrap().insert(task.addr().get()), "{task:?} twice");
        };
        let ended = together(move |number| {
            for turn in 0..TURNS {
                if number > 1 {
                    operation("steal", || theirs.steal()).into_iter().for_each(|it| keep(&all, it));
                    continue;
                }
                for task in [2 * turn + 1, 2 * turn + 2].map(task) {
                    // SAFETY: this thread is its worker.
                    operation("push", || unsafe { theirs.push(task) });
                }
                // SAFETY: as above.
                let popped = operation("pop", || unsafe { theirs.pop() });
                popped.into_iter().for_each(|task| keep(&all, task));
            }
        });
        while let Some(task) = operation("steal", || deque.steal()) {
            keep(&got, task);
        }
        if ended {
            assert!(got.lock().unwrap().iter().copied().eq(1..=2 * TURNS as usize));
        }
    });
}

/// A worker that has something to do all the time, so that nobody sleeps, which is a matter of locks. Who tells dies before the unit is
/// in a run queue holds up that unit, and no other.
#[test]
fn a_scheduler_is_told_and_spawned_on_whoever_has_died() {
    survives_crashes_behind(1, 2, || {
        let builder = Runtime::builder().workers(1).topology(Topology::mock(1, 1));
        let runtime = builder.build().unwrap();
        let signals = Arc::new([const { AtomicBool::new(false) }; 2]);
        let theirs = signals.clone();
        let busy = runtime.spawn(move || {
            let [begun, over] = &*theirs;
            begun.store(true, Release);
            while !over.load(Acquire) {
                thread::yield_now();
            }
        });
        let [begun, over] = &*signals;
        while !begun.load(Acquire) {
            thread::yield_now();
        }
        // What each of them has told its own unit, and spawned.
        let done: Arc<Vec<[AtomicU64; 2]>> =
            (0..=THREADS).map(|_| Default::default()).collect::<Vec<_>>().into();
        let (shared, handle) = (runtime.unit(0), runtime.handle());
        let units: Vec<_> = (0..=THREADS).map(|_| runtime.unit(())).collect();
        let (theirs, all) = ((shared.clone(), units.clone()), done.clone());
        let ended = ended(move |number| {
            let own = number as usize;
            for _ in 0..2 {
                operation("tell all", || theirs.0.tell(|count| *count += 1));
                let done = all.clone();
                operation("tell", || {
                    theirs.1[own].tell(move |()| _ = done[own][0].fetch_add(1, Relaxed))
                });
                let done = all.clone();
                operation("spawn", || {
                    drop(handle.spawn(move || done[own][1].fetch_add(1, Relaxed)))
                });
            }
        });
        over.store(true, Release);
        busy.wait().unwrap();
        while ended.iter().any(|&own| done[own as usize].iter().any(|done| done.load(Relaxed) < 2))
        {
            thread::yield_now();
        }
    });
}

#[test]
fn a_max_array_is_raised_and_scanned_whoever_has_died() {
    survives_crashes(|| {
        // Few numbers for each epoch, so that many begin one.
        let array = Arc::new(MaxArray::new(2));
        let theirs = array.clone();
        together(move |number| {
            for turn in 1..=TURNS {
                let value = number + turn;
                operation("first", || theirs.raise_first(value));
                operation("second", || theirs.raise_second(value));
                let (first, second) = operation("scan", || theirs.scan());
                assert!(first >= value && second >= value);
            }
        });
        let (first, second) = array.scan();
        assert!(first <= u64::from(THREADS) + TURNS && second <= first.max(second));
    });
}

/// # Safety
/// It is from a box, and used no more.
unsafe fn free(node: NonNull<u64>) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

#[test]
fn nodes_are_protected_and_retired_whoever_has_died() {
    survives_crashes(|| {
        // SAFETY: nodes are boxes, and may be freed anywhere.
        let domain: Domain<u64, 1> = unsafe { Domain::new(2, free) };
        let shared = Arc::new((domain, AtomicPtr::new(Box::into_raw(Box::new(0)))));
        let theirs = shared.clone();
        together(move |number| {
            let (domain, source) = &*theirs;
            // SAFETY: the participant goes before the domain, which the scenario keeps.
            let mut participant = operation("join", || unsafe { domain.join() });
            for turn in 0..TURNS {
                let node = operation("protect", || participant.protect(0, source));
                // SAFETY: announced; and null only when all is over.
                assert!(unsafe { *node } <= 10 * u64::from(THREADS) + TURNS);
                participant.clear(0);
                let new = Box::into_raw(Box::new(10 * number + turn));
                // A get of somebody else may come between.
                let old = NonNull::new(source.swap(new, AcqRel)).expect("there is always one");
                // SAFETY: the swap has unlinked it.
                operation("retire", || unsafe { participant.retire(domain, old) });
            }
            // SAFETY: the domain it joined.
            operation("leave", || unsafe { participant.leave(domain) });
        });
        let last = shared.1.swap(ptr::null_mut(), AcqRel);
        assert!(shared.1.load(Acquire).is_null());
        // SAFETY: nobody who lives looks at it any more.
        drop(unsafe { Box::from_raw(last) });
    });
}
