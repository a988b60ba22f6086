//! Time: what things cost, and who waits for whom.

use cantina_sim::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cantina_sim::atomic::{AtomicBool, AtomicUsize};
use cantina_sim::cost::Machine;
use cantina_sim::engine::{Failure, Simulation};
use cantina_sim::fence::{self, Pair};
use cantina_sim::lock::Mutex;
use cantina_sim::park::Parker;
use cantina_sim::time::{Duration, nanos};
use cantina_sim::topology::CoreId;
use cantina_sim::{Arc, CachePadded, thread, work};

fn simulation() -> Simulation {
    Simulation::new().steps(100_000_000)
}

/// Virtual nanoseconds that `f` takes.
fn timed(f: impl FnOnce()) -> u64 {
    let start = nanos();
    f();
    nanos() - start
}

/// Virtual nanoseconds that it takes `threads` threads to do `f`, which gets their number. They start
/// at once, each on a core of its own.
fn together(threads: usize, f: impl Fn(usize) + Clone + Send + 'static) -> u64 {
    let start = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..threads)
        .map(|number| (number, start.clone(), f.clone()))
        .map(|(number, start, f)| {
            thread::spawn(move || {
                thread::pin_to(CoreId(number)).unwrap();
                start.fetch_add(1, Relaxed);
                while start.load(Acquire) <= threads {
                    thread::spin_loop();
                }
                f(number);
                nanos()
            })
        })
        .collect();
    while start.load(Relaxed) < threads {
        thread::spin_loop();
    }
    let began = nanos();
    start.fetch_add(1, Release);
    let ends = workers.into_iter().map(|worker| worker.join().unwrap());
    ends.max().unwrap() - began
}

/// Millions of additions per virtual second that `threads` threads make to one word, or each to its
/// own.
fn additions(threads: usize, shared: bool) -> f64 {
    let turns = 500;
    let outcome = simulation().run_timed(|| {
        let words: Vec<_> = (0..threads).map(|_| CachePadded::new(AtomicUsize::new(0))).collect();
        let words = Arc::new(words);
        let theirs = words.clone();
        let nanos = together(threads, move |number| {
            let word = &theirs[if shared { 0 } else { number }];
            (0..turns).for_each(|_| _ = word.fetch_add(1, Relaxed));
        });
        let total: usize = words.iter().map(|word| word.load(Relaxed)).sum();
        assert_eq!(total, threads * turns);
        nanos
    });
    (threads * turns) as f64 * 1e3 / outcome.unwrap().value as f64
}

#[test]
fn work_takes_its_time() {
    let time = simulation().run_timed(|| timed(|| work(2_300_000))).unwrap().value;
    assert!((1_000_000..1_000_100).contains(&time), "{time}");
}

#[test]
fn threads_compute_at_the_same_time() {
    let computes = || {
        let workers: Vec<_> = (0..8).map(|_| thread::spawn(|| work(23_000_000))).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    };
    let nanos = simulation().run_timed(computes).unwrap().nanos;
    assert!((10_000_000..11_000_000).contains(&nanos), "{nanos}");
}

#[test]
fn a_shared_counter_does_not_scale_and_ones_own_does() {
    let (one, shared, own) = (additions(1, true), additions(16, true), additions(16, false));
    assert!(shared < one / 2.0, "{one} {shared}");
    assert!(own > one * 8.0, "{one} {own}");
}

#[test]
fn the_other_socket_is_farther() {
    let bounce = |other: usize| {
        let scenario = move || {
            let word = Arc::new(AtomicUsize::new(0));
            let theirs = word.clone();
            let turns = |word: &AtomicUsize, mine: usize| {
                for turn in (mine..400).step_by(2) {
                    while word.load(Acquire) != turn {
                        thread::spin_loop();
                    }
                    word.store(turn + 1, Release);
                }
            };
            thread::pin_to(CoreId(0)).unwrap();
            let replies = thread::spawn(move || {
                thread::pin_to(CoreId(other)).unwrap();
                turns(&theirs, 1);
            });
            turns(&word, 0);
            replies.join().unwrap();
        };
        simulation().run_timed(scenario).unwrap().nanos
    };
    let (die, hop, hops) = (bounce(1), bounce(4), bounce(28));
    assert!(die < hop && hop < hops, "{die} {hop} {hops}");
}

#[test]
fn a_store_is_cheaper_than_a_fence_and_a_light_fence_than_all() {
    let cost = |f: fn(&AtomicUsize)| {
        let scenario = move || {
            let word = AtomicUsize::new(0);
            word.store(1, Relaxed);
            timed(|| (0..100).for_each(|_| f(&word)))
        };
        simulation().run_timed(scenario).unwrap().value
    };
    let light = cost(|_| Pair::best().light());
    let store = cost(|word| word.store(1, Relaxed));
    let strong = cost(|word| word.store(1, SeqCst));
    let fence = cost(|word| {
        word.store(1, Relaxed);
        fence::full();
    });
    let heavy = cost(|_| Pair::best().heavy().unwrap());
    assert!(
        light < store && store * 2 < strong && strong < fence,
        "{light} {store} {strong} {fence}"
    );
    assert!(fence * 10 < heavy, "{fence} {heavy}");
}

#[test]
fn neighbours_on_a_line_disturb_each_other() {
    let time = |stride: usize| {
        let scenario = move || {
            let words = Arc::new([const { AtomicUsize::new(0) }; 32]);
            together(2, move |number| {
                (0..500).for_each(|turn| {
                    words[number * stride].store(turn, Relaxed);
                    words[number * stride].fetch_add(1, Relaxed);
                });
            })
        };
        simulation().run_timed(scenario).unwrap().value
    };
    let (near, far) = (time(1), time(16));
    assert!(near > far * 2, "{near} {far}");
}

/// How often, in 100 rounds, two sides that store and then load at the same time both miss what
/// the other stored.
fn both_missed(fences: bool) -> usize {
    let scenario = move || {
        let words = Arc::new([0; 2].map(|_| CachePadded::new(AtomicUsize::new(0))));
        let missed = Arc::new([0; 2].map(|_| Mutex::new(Vec::new())));
        let seen = missed.clone();
        together(2, move |mine| {
            for turn in 1..=100 {
                // Both lines are warm, and both start at once.
                words[1 - mine].load(Relaxed);
                let start = 200_000 + turn as u64 * 5_000;
                while nanos() < start {
                    work(5);
                }
                words[mine].store(turn, Relaxed);
                if fences {
                    fence::full();
                }
                let missed = words[1 - mine].load(Relaxed) < turn;
                seen[mine].lock().push(missed);
            }
        });
        let (here, there) = (missed[0].lock(), missed[1].lock());
        here.iter().zip(&*there).filter(|(here, there)| **here && **there).count()
    };
    simulation().run_timed(scenario).unwrap().value
}

#[test]
fn without_a_fence_neither_may_see_the_other() {
    assert!(both_missed(false) > 10, "{}", both_missed(false));
    assert_eq!(both_missed(true), 0);
}

#[test]
fn a_heavy_fence_makes_everybodys_stores_visible() {
    let machine = Machine::opteron_8x4();
    let mut costs = machine.costs().clone();
    // Stores take longer than the fence.
    costs.heavy = 0;
    // And who has a copy keeps it meanwhile.
    costs.hold = 100;
    (costs.memory, costs.store_owned, costs.store_shared) =
        ([1_000_000; 4], [1_000_000; 4], [1_000_000; 4]);
    let slow = machine.calibrated("slow", 1_000, costs);
    let seen = |heavy: bool| {
        let scenario = move || {
            let word = Arc::new(CachePadded::new(AtomicUsize::new(0)));
            let theirs = word.clone();
            let at = |time: u64| {
                thread::sleep(
                    Duration::from_micros(time).saturating_sub(Duration::from_nanos(nanos())),
                )
            };
            let hot = thread::spawn(move || {
                thread::pin_to(CoreId(1)).unwrap();
                at(5_000);
                theirs.store(1, Relaxed);
                Pair::best().light();
                work(10_000_000);
            });
            word.load(Relaxed);
            at(5_100);
            if heavy {
                Pair::best().heavy().unwrap();
            }
            let seen = word.load(Relaxed);
            hot.join().unwrap();
            seen
        };
        simulation().machine(slow.clone()).run_timed(scenario).unwrap().value
    };
    assert_eq!((seen(false), seen(true)), (0, 1));
}

#[test]
fn a_heavy_fence_takes_time_from_everybody() {
    let time = |fences: usize| {
        let scenario = move || {
            together(2, move |number| {
                if number == 0 {
                    (0..fences).for_each(|_| Pair::best().heavy().unwrap());
                } else {
                    (0..10_000).for_each(|_| work(100));
                }
            })
        };
        simulation().run_timed(scenario).unwrap().value
    };
    let (without, with) = (time(0), time(100));
    // A hundred interrupts of a thousand cycles.
    assert!((40_000..50_000).contains(&(with - without)), "{without} {with}");
}

#[test]
fn stores_become_visible_in_order() {
    let scenario = || {
        let words = Arc::new([const { AtomicUsize::new(0) }; 64]);
        let theirs = words.clone();
        let writer = thread::spawn(move || {
            for turn in 1..200 {
                // Far from each other, so that they take different times.
                theirs[0].store(turn, Release);
                theirs[32].store(turn, Release);
                theirs[63].store(turn, Release);
            }
        });
        let mut last = 0;
        while last < 199 {
            let third = words[63].load(Acquire);
            let second = words[32].load(Acquire);
            let first = words[0].load(Acquire);
            assert!(third <= second && second <= first, "{third} {second} {first}");
            last = third;
        }
        writer.join().unwrap();
    };
    simulation().run_timed(scenario).unwrap();
}

#[test]
fn a_lock_lets_one_in_and_whoever_waits_long_sleeps() {
    let scenario = |inside: u64| {
        simulation().run_timed(move || {
            let total = Arc::new(Mutex::new(0));
            let adders: Vec<_> = (0..8)
                .map(|_| total.clone())
                .map(|total| {
                    thread::spawn(move || {
                        for _ in 0..50 {
                            let mut total = total.lock();
                            let seen = *total;
                            work(inside);
                            *total = seen + 1;
                        }
                    })
                })
                .collect();
            adders.into_iter().for_each(|adder| adder.join().unwrap());
            *total.lock()
        })
    };
    assert_eq!(scenario(10).unwrap().value, 400);
    assert_eq!(scenario(20_000).unwrap().value, 400);
}

#[test]
fn sleeping_takes_virtual_time_and_waking_costs() {
    let scenario = || {
        assert!(timed(|| thread::sleep(Duration::from_millis(5))) >= 5_000_000);
        let parker = Parker::new();
        assert!(!parker.park_timeout(Duration::from_millis(1)));
        let unparker = parker.unparker();
        let waker = thread::spawn(move || {
            work(1_000_000);
            unparker.unpark();
            nanos()
        });
        assert!(parker.park_timeout(Duration::from_secs(1)));
        let woken = nanos();
        let wakes = waker.join().unwrap();
        assert!(woken > wakes + 1_000, "{woken} {wakes}");
    };
    simulation().run_timed(scenario).unwrap();
}

#[test]
fn long_waits_in_spin_loops_take_few_steps() {
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let waiters: Vec<_> = (0..16)
            .map(|_| flag.clone())
            .map(|flag| {
                thread::spawn(move || {
                    while !flag.load(Acquire) {
                        thread::spin_loop();
                    }
                    nanos()
                })
            })
            .collect();
        work(100_000_000);
        flag.store(true, Release);
        let set = nanos();
        for waiter in waiters {
            let seen = waiter.join().unwrap();
            assert!((set..set + 20_000).contains(&seen), "{set} {seen}");
        }
    };
    let outcome = simulation().run_timed(scenario).unwrap();
    // A turn each 40 microseconds at most, rather than each ten nanoseconds.
    assert!(outcome.steps < 2_000_000, "{}", outcome.steps);
}

#[test]
fn who_spins_sees_a_change_when_it_comes() {
    let scenario = || {
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let waiter = thread::spawn(move || {
            let wait = |turn| {
                while theirs.load(Acquire) < turn {
                    thread::spin_loop();
                }
                nanos()
            };
            (1..50).map(wait).collect::<Vec<u64>>()
        });
        let set = |turn| {
            work(50_000 + 100 * turn as u64);
            flag.store(turn, Release);
            nanos()
        };
        let set: Vec<u64> = (1..50).map(set).collect();
        let seen = waiter.join().unwrap();
        set.into_iter().zip(seen).map(|(set, seen)| seen - set).max().unwrap()
    };
    let latest = simulation().run_timed(scenario).unwrap().value;
    assert!(latest < 300, "{latest}");
}

#[test]
fn who_sleeps_is_waited_for() {
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let sleeper = thread::spawn(move || {
            thread::sleep(Duration::from_millis(20));
            theirs.store(true, Release);
        });
        while !flag.load(Acquire) {
            thread::spin_loop();
        }
        sleeper.join().unwrap();
    };
    simulation().run_timed(scenario).unwrap();
}

#[test]
fn a_spin_loop_with_a_bound_comes_to_it() {
    let scenario = || {
        let flag = AtomicBool::new(false);
        timed(|| {
            for _ in 0..100 {
                if flag.load(Relaxed) {
                    return;
                }
                thread::spin_loop();
            }
        })
    };
    let nanos = simulation().run_timed(scenario).unwrap().value;
    assert!((400..1_000).contains(&nanos), "{nanos}");
}

#[test]
fn spinning_for_what_nobody_does_is_a_deadlock() {
    let scenario = || {
        let flag = AtomicBool::new(false);
        while !flag.load(Relaxed) {
            thread::spin_loop();
        }
    };
    let failure = simulation().run_timed(scenario).unwrap_err();
    assert!(matches!(failure, Failure::Deadlock(_)), "{failure}");
    assert!(failure.to_string().contains("spins on words that nobody changes"), "{failure}");
}

#[test]
fn deadlocks_panics_and_crashes_are_as_on_a_schedule() {
    let failure = simulation().run_timed(|| Parker::new().park()).unwrap_err();
    assert!(matches!(failure, Failure::Deadlock(_)), "{failure}");
    let boo = || std::panic::resume_unwind(Box::new("boo"));
    let failure = simulation().run_timed::<()>(boo).unwrap_err();
    assert!(matches!(failure, Failure::Panic { .. }), "{failure}");
    let first = cantina_sim::engine::ThreadId(1);
    let outcome = simulation().crash(first, 3).run_timed(|| {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let add = move || (0..10).for_each(|_| _ = theirs.fetch_add(1, Relaxed));
        thread::spawn(add).join().unwrap_err();
        word.load(Relaxed)
    });
    assert_eq!(outcome.unwrap().value, 3);
}

#[test]
fn two_hundred_and_fifty_six_threads_run_on_as_many_cores() {
    let machine: Machine = "16x16".parse().unwrap();
    let outcome = simulation().machine(machine).run_timed(|| {
        assert_eq!(thread::available_parallelism(), 256);
        let total = Arc::new(AtomicUsize::new(0));
        let adders: Vec<_> = (0..256)
            .map(|_| total.clone())
            .map(|total| {
                thread::spawn(move || {
                    (0..20).for_each(|_| _ = total.fetch_add(1, Relaxed));
                    thread::current_core().unwrap()
                })
            })
            .collect();
        let mut cores: Vec<CoreId> = adders.into_iter().map(|a| a.join().unwrap()).collect();
        cores.sort_unstable();
        cores.dedup();
        (total.load(Relaxed), cores.len())
    });
    assert_eq!(outcome.unwrap().value, (5_120, 256));
}

#[test]
fn a_core_that_does_not_exist_is_refused() {
    simulation()
        .run_timed(|| {
            let error = thread::pin_to(CoreId(32)).unwrap_err();
            assert!(error.to_string().contains("core 32"), "{error}");
            thread::pin_to(CoreId(31)).unwrap();
            assert_eq!(thread::current_core(), Some(CoreId(31)));
        })
        .unwrap();
    assert!(thread::pin_to(CoreId(0)).is_err());
}

#[test]
fn even_the_longest_wait_ends() {
    let scenario = || {
        thread::sleep(Duration::MAX);
        thread::sleep(Duration::MAX);
        work(u64::MAX);
        assert!(!Parker::new().park_timeout(Duration::from_nanos(u64::MAX)));
    };
    simulation().run_timed(scenario).unwrap();
}
