//! A binary whose allocator is the simulator's: runs are the same again, whatever came before.

use cantina_sim::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use cantina_sim::atomic::{AtomicPtr, AtomicUsize};
use cantina_sim::cost::{Machine, Placement};
use cantina_sim::engine::{Failure, Simulation};
use cantina_sim::lock::Mutex;
use cantina_sim::topology::CoreId;
use cantina_sim::trace::What;
use cantina_sim::{Arc, CachePadded, SimAllocator, thread, touch_write};
use std::hint::black_box;
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
            // Through a black box, or a clever compiler allocates nothing.
            let first = black_box(Box::into_raw(Box::new(5_u64)));
            // SAFETY: it is a box.
            drop(unsafe { Box::from_raw(first) });
            let second = black_box(Box::into_raw(Box::new(6_u64)));
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(second) });
            black_box(first as usize) == black_box(second as usize)
        });
        outcome.unwrap().value
    };
    assert!((0..10).all(|_| run()));
}

#[test]
fn who_reaches_into_freed_memory_is_named() {
    let reach = |seed, watch, frees| {
        Simulation::new().seed(seed).watch_freed(watch).run(move || {
            let word = Box::into_raw(Box::new(AtomicUsize::new(5)));
            let address = word.expose_provenance();
            let look = thread::spawn(move || {
                // SAFETY: a word of the arena's memory, also when it was freed: nobody else uses it.
                unsafe { (*ptr::with_exposed_provenance::<AtomicUsize>(address)).load(Relaxed) }
            });
            thread::yield_now();
            if frees {
                // SAFETY: it is a box.
                drop(unsafe { Box::from_raw(word) });
            }
            look.join().unwrap()
        })
    };
    let failure = |watch, frees| (0..50).find_map(|seed| reach(seed, watch, frees).err());
    assert!(failure(true, false).is_none() && failure(false, true).is_none());
    let named = failure(true, true);
    assert!(matches!(named, Some(Failure::Freed { thread, .. }) if thread.0 == 1), "{named:?}");
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

/// Virtual nanoseconds of a block that is allocated by one thread and freed by it, or by another.
fn cost_of_a_block(passed_on: bool) -> f64 {
    const BLOCKS: usize = 500;
    let outcome = Simulation::new().run_timed(move || {
        let mut elapsed = 0;
        // The first round is new memory.
        for _ in 0..2 {
            let start = cantina_sim::time::nanos();
            let blocks: Vec<_> = (0..BLOCKS).map(|_| Box::new([0_u64; 4])).collect();
            elapsed = cantina_sim::time::nanos() - start;
            let free = move || {
                thread::pin_to(CoreId(if passed_on { 1 } else { 0 })).unwrap();
                let start = cantina_sim::time::nanos();
                drop(blocks);
                cantina_sim::time::nanos() - start
            };
            elapsed += thread::spawn(free).join().unwrap();
        }
        elapsed
    });
    outcome.unwrap().value as f64 / BLOCKS as f64
}

#[test]
fn a_block_that_is_passed_on_costs_more_than_one_that_is_used_up() {
    let (own, passed) = (cost_of_a_block(false), cost_of_a_block(true));
    // Twice 60 cycles at 2300 MHz; and then the list, the links in the blocks, and twice 60 more.
    assert!((50.0..60.0).contains(&own), "{own}");
    assert!((100.0..300.0).contains(&passed), "{passed}");
}

#[test]
fn a_machine_places_blocks_where_it_wants() {
    // Who asks is on node 0, and so is who touches it.
    let cost = |placement| {
        let machine = Machine::opteron_8x4().placement(placement);
        let outcome = Simulation::new().machine(machine).log(true).run_timed(|| {
            let word = Box::new(CachePadded::new(AtomicUsize::new(7)));
            word.load(Relaxed)
        });
        let log = outcome.unwrap().log.unwrap();
        let first = log.events().iter().find(|event| event.what == What::Load { value: 7 });
        first.unwrap().cycles
    };
    let near = cost(Placement::Local);
    assert!((136..150).contains(&near), "{near}");
    let far = cost(Placement::OneNode(7));
    assert!((407..421).contains(&far), "{far}");
}

#[test]
fn who_gives_back_several_blocks_in_a_row_pays_for_the_way_to_their_owner_once() {
    let machine = Machine::opteron_8x4();
    let mut costs = machine.costs().clone();
    costs.malloc_shared = 1_000_000;
    let machine = machine.calibrated("slow to share", 1_000, costs);
    let dear = Simulation::new().machine(machine).run_timed(|| {
        let give_back = |blocks: Vec<Box<[u64; 4]>>| {
            let free = move || {
                thread::pin_to(CoreId(1)).unwrap();
                let start = cantina_sim::time::nanos();
                drop(blocks);
                (cantina_sim::time::nanos() - start) / 900_000
            };
            thread::spawn(free).join().unwrap()
        };
        let blocks = |count| (0..count).map(|_| Box::new([0; 4])).collect();
        // The blocks of the second come from what the first one gave back.
        [give_back(blocks(5)), give_back(blocks(5))]
    });
    // Their list of five is another size, and goes back, too: it is one way all the same.
    assert_eq!(dear.unwrap().value, [1, 1]);
}
