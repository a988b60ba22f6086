//! A binary whose allocator is the simulator's: runs are the same again, whatever came before.

use cantina_sim::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use cantina_sim::atomic::{AtomicPtr, AtomicUsize};
use cantina_sim::engine::{Failure, Simulation};
use cantina_sim::lock::Mutex;
use cantina_sim::topology::CoreId;
use cantina_sim::trace::What;
use cantina_sim::{Arc, CachePadded, SimAllocator, thread, touch_write};
use std::ptr;

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

struct Node {
    value: usize,
    next: *mut Node,
}

/// A stack that never frees, and words that share lines by chance.
fn program() -> (usize, u64) {
    let top = Arc::new(AtomicPtr::new(ptr::null_mut::<Node>()));
    let near: Arc<Vec<Box<AtomicUsize>>> =
        Arc::new((0..4).map(|_| Box::new(AtomicUsize::new(0))).collect());
    let workers: Vec<_> = (0..4)
        .map(|number| (number, top.clone(), near.clone()))
        .map(|(number, top, near)| {
            thread::spawn(move || {
                for value in 0..50 {
                    let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
                    touch_write(node.cast(), size_of::<Node>());
                    let mut head = top.load(Acquire);
                    loop {
                        // SAFETY: the node is not in the stack yet.
                        unsafe { (*node).next = head };
                        match top.compare_exchange(head, node, AcqRel, Acquire) {
                            Ok(_) => break,
                            Err(now) => head = now,
                        }
                    }
                    near[number].fetch_add(value, Relaxed);
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    let mut sum = 0;
    let mut node = top.load(Acquire);
    while !node.is_null() {
        // SAFETY: everybody else has ended; each node was boxed and is freed once.
        let owned = unsafe { Box::from_raw(node) };
        sum += owned.value;
        node = owned.next;
    }
    (sum, cantina_sim::time::nanos())
}

#[test]
fn a_timed_run_is_the_same_whatever_the_heap_looks_like() {
    let run = |seed| {
        let outcome = Simulation::new().seed(seed).run_timed(program).unwrap();
        (outcome.value, outcome.nanos, outcome.steps)
    };
    let first: Vec<_> = (0..5).map(run).collect();
    assert!(first.iter().all(|((sum, _), ..)| *sum == 4 * 1_225));
    // The heap of the process looks different each time.
    let mut clutter: Vec<Vec<u8>> = Vec::new();
    for size in [24, 40, 1_000, 77] {
        clutter.extend((0..100).map(|n| vec![0; size + n]));
        clutter.retain(|block| block.len() % 3 != 0);
        assert_eq!((0..5).map(run).collect::<Vec<_>>(), first);
    }
}

#[test]
fn memory_lies_on_the_node_of_whoever_asked_for_it() {
    // The scenario is on node 0; who touches the word first is three hops away, or next to it.
    let cost = |core| {
        let outcome = Simulation::new().log(true).run_timed(move || {
            let word = Box::new(CachePadded::new(AtomicUsize::new(7)));
            let touch = move || {
                thread::pin_to(CoreId(core)).unwrap();
                word.load(Relaxed)
            };
            thread::spawn(touch).join().unwrap()
        });
        let log = outcome.unwrap().log.unwrap();
        let first = log.events().iter().find(|event| event.what == What::Load { value: 7 });
        first.unwrap().cycles
    };
    assert!((136..150).contains(&cost(1)), "{}", cost(1));
    assert!((407..421).contains(&cost(28)), "{}", cost(28));
}

#[test]
fn what_a_run_returns_may_be_kept() {
    let kept: Vec<Vec<usize>> = (0..20)
        .map(|seed| Simulation::new().seed(seed).run(|| (0..100).collect()).unwrap().value)
        .collect();
    let others: Vec<Vec<usize>> = (0..20)
        .map(|seed| Simulation::new().seed(seed).run_timed(|| vec![7; 1_000]).unwrap().value)
        .collect();
    assert!(kept.iter().all(|numbers| numbers.iter().copied().eq(0..100)));
    assert!(others.iter().all(|numbers| numbers.iter().all(|&number| number == 7)));
}

#[test]
fn memory_may_grow_move_and_be_freed_elsewhere() {
    let mut numbers = vec![1, 2, 3];
    let text = Simulation::new().run(|| {
        // It came from the system and grows in the arena.
        numbers.extend(0..10_000);
        let numbers = std::mem::take(&mut numbers);
        let theirs = thread::spawn(move || numbers.len()).join().unwrap();
        theirs.to_string()
    });
    let text = text.unwrap().value;
    let other = std::thread::spawn(move || text + " freed on another OS thread").join().unwrap();
    assert_eq!(other, "10003 freed on another OS thread");
}

#[test]
fn a_block_that_was_freed_is_used_again() {
    let run = || {
        let outcome = Simulation::new().run(|| {
            let first = Box::into_raw(Box::new(5_u64));
            // SAFETY: it is a box.
            drop(unsafe { Box::from_raw(first) });
            let second = Box::into_raw(Box::new(6_u64));
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(second) });
            first == second
        });
        outcome.unwrap().value
    };
    assert!((0..10).all(|_| run()));
}

#[test]
fn too_much_memory_is_reported() {
    let hoards = || {
        let mut hoard = Vec::new();
        loop {
            hoard.push(vec![1_u8; 1 << 16]);
        }
    };
    for timed in [false, true] {
        let simulation = Simulation::new().memory_limit(10 << 20);
        let failure = if timed {
            simulation.run_timed::<()>(hoards).map(drop).unwrap_err()
        } else {
            simulation.run::<()>(hoards).map(drop).unwrap_err()
        };
        assert!(matches!(failure, Failure::Memory(_)), "{failure}");
        assert!(failure.to_string().starts_with("the program's memory is used up"));
    }
}

#[test]
fn a_store_never_lands_in_freed_memory() {
    for seed in 0..50 {
        let late = Simulation::new().seed(seed).run(|| {
            // The words are freed without being dropped, and others are in their place.
            let words = Box::into_raw(Box::new([0_u64; 4])).cast::<AtomicUsize>();
            // SAFETY: a word of zeros is an atomic zero.
            unsafe { &*words }.store(1, Relaxed);
            // SAFETY: it is that box.
            drop(unsafe { Box::from_raw(words.cast::<[u64; 4]>()) });
            let words = Box::new([9_u64; 4]);
            thread::spawn(|| ()).join().unwrap();
            words[0]
        });
        assert_eq!(late.unwrap().value, 9);
    }
}

#[test]
fn abandoned_threads_leave_their_memory_behind() {
    let lock = Arc::new(Mutex::new(()));
    for seed in 0..200 {
        let theirs = lock.clone();
        let simulation = Simulation::new().seed(seed).random_crashes(2, 4);
        let outcome = simulation.run(move || {
            let handles: Vec<_> = (0..2)
                .map(|number| {
                    thread::spawn(move || {
                        let held = vec![number; 100];
                        let word = AtomicUsize::new(0);
                        (0..4).for_each(|_| _ = word.fetch_add(held.len(), Relaxed));
                        word.load(Relaxed)
                    })
                })
                .collect();
            drop(theirs);
            handles.into_iter().map(|handle| handle.join().unwrap_or(400)).sum::<usize>()
        });
        assert_eq!(outcome.unwrap().value, 800);
    }
}

/// Not a test of its own: says what came out, for [`another_process_gets_the_same`] to compare.
#[test]
fn says_what_came_out() {
    for seed in 0..3 {
        let timed = Simulation::new().seed(seed).log(true).run_timed(program).unwrap();
        let random = Simulation::new().seed(seed).log(true).run(program).unwrap();
        println!("RECORD {seed} {:?} {}", timed.value, timed.nanos);
        println!("RECORD {seed} {:?} {}", random.value, random.trace);
        for line in
            timed.log.unwrap().to_string().lines().chain(random.log.unwrap().to_string().lines())
        {
            println!("RECORD {line}");
        }
    }
}

#[test]
fn another_process_gets_the_same() {
    let record = |variable: &str, value: String| {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "says_what_came_out", "--nocapture"])
            .env(variable, value)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().filter(|line| line.contains("RECORD")).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = record("A", String::new());
    assert!(first.len() > 1_000, "{}", first.len());
    assert!(first == record("ANOTHER_VARIABLE", "x".repeat(10_000)), "they differ");
    assert!(first == record("YET_ANOTHER", "y".repeat(123)), "they differ");
}
