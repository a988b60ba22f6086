//! Schedules: each finds what it is for, and what was found replays.

use cantina_sim::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use cantina_sim::engine::{Doing, Failure, Memory, Op, Outcome, Simulation, run};
use cantina_sim::park::Parker;
use cantina_sim::schedule::{Adversary, Exhaustive, Schedule, crowd, delay_rmw};
use cantina_sim::time::Duration;
use cantina_sim::trace::Trace;
use cantina_sim::{Arc, Backoff, CachePadded, random, thread};
use std::collections::{BTreeMap, BTreeSet};

/// Two threads that add one, badly.
fn lost_update() -> usize {
    let count = Arc::new(AtomicUsize::new(0));
    let add = |count: &AtomicUsize| count.store(count.load(Relaxed) + 1, Relaxed);
    let theirs = count.clone();
    let other = thread::spawn(move || add(&theirs));
    add(&count);
    other.join().unwrap();
    count.load(Relaxed)
}

/// Every schedule there is, one of each kind.
fn schedules() -> [Schedule; 5] {
    [
        Schedule::Random,
        Schedule::Pct { depth: 3, length: 12 },
        Schedule::RoundRobin { quantum: 2 },
        delay_rmw(),
        crowd(2),
    ]
}

#[test]
fn a_trace_replays_whatever_made_it() {
    let scenario = || (lost_update(), random::seed());
    for schedule in schedules() {
        for seed in 0..50 {
            let simulation = Simulation::new().seed(seed);
            let made = simulation.clone().schedule(schedule.clone()).run(scenario).unwrap();
            let printed: Trace = made.trace.to_string().parse().unwrap();
            let replayed = simulation.schedule(Schedule::Replay(printed)).run(scenario).unwrap();
            assert_eq!(replayed.value, made.value);
            assert_eq!(replayed.trace, made.trace);
            assert_eq!(replayed.steps, made.steps);
        }
    }
}

#[test]
fn a_trace_of_another_program_is_refused() {
    let trace = Schedule::Replay("7*100".parse().unwrap());
    let failure = Simulation::new().schedule(trace).run(lost_update).unwrap_err();
    assert!(matches!(failure, Failure::Diverged(_)), "{failure}");
}

#[test]
fn the_start_of_a_trace_is_enough() {
    let trace = Schedule::Replay(Trace::default());
    assert_eq!(Simulation::new().schedule(trace).run(lost_update).unwrap().value, 2);
}

#[test]
fn priorities_find_a_lost_update() {
    let schedule = Schedule::Pct { depth: 2, length: 10 };
    let lost = |seed| {
        let simulation = Simulation::new().seed(seed).schedule(schedule.clone());
        simulation.run(lost_update).unwrap().value == 1
    };
    assert!((0..100).any(lost));
}

#[test]
fn priorities_let_a_spinning_thread_give_way() {
    let schedule = Schedule::Pct { depth: 3, length: 50 };
    for seed in 0..200 {
        let simulation = Simulation::new().seed(seed).steps(20_000).schedule(schedule.clone());
        let waits = || {
            let flag = Arc::new(AtomicBool::new(false));
            let counts = Arc::new(AtomicUsize::new(0));
            let waiters: Vec<_> = (0..3)
                .map(|_| (flag.clone(), counts.clone()))
                .map(|(flag, counts)| {
                    thread::spawn(move || {
                        while !flag.load(Relaxed) {
                            counts.fetch_add(1, Relaxed);
                            thread::yield_now();
                        }
                    })
                })
                .collect();
            flag.store(true, Relaxed);
            waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
        };
        simulation.run(waits).unwrap();
    }
}

#[test]
fn round_robin_takes_turns() {
    let gaps = |quantum| {
        let schedule = Schedule::RoundRobin { quantum };
        let outcome = Simulation::new().schedule(schedule).run(|| {
            let steps = Arc::new(AtomicUsize::new(0));
            let tickets = || {
                let steps = steps.clone();
                move || (0..20).map(|_| steps.fetch_add(1, Relaxed)).collect::<Vec<_>>()
            };
            let handles = [thread::spawn(tickets()), thread::spawn(tickets())];
            handles.map(|handle| handle.join().unwrap())
        });
        let gaps = |tickets: &Vec<usize>| -> BTreeSet<usize> {
            // They start and end one after the other.
            tickets[5..15].windows(2).map(|pair| pair[1] - pair[0]).collect()
        };
        outcome.unwrap().value.each_ref().map(gaps)
    };
    assert_eq!(gaps(1), [BTreeSet::from([2]), BTreeSet::from([2])]);
    assert_eq!(gaps(3), [BTreeSet::from([1, 4]), BTreeSet::from([1, 4])]);
}

/// How many failed exchanges it takes `threads` threads to add one each.
fn failures(schedule: Schedule, seed: u64, threads: usize) -> usize {
    let simulation = Simulation::new().seed(seed).schedule(schedule).weak_failures(false);
    let scenario = || {
        let word = Arc::new(AtomicUsize::new(0));
        let adders: Vec<_> = (0..threads)
            .map(|_| word.clone())
            .map(|word| {
                thread::spawn(move || {
                    let mut seen = word.load(Relaxed);
                    let mut failures = 0;
                    while let Err(now) = word.compare_exchange(seen, seen + 1, Relaxed, Relaxed) {
                        failures += 1;
                        seen = now;
                    }
                    failures
                })
            })
            .collect();
        adders.into_iter().map(|adder| adder.join().unwrap()).sum()
    };
    simulation.run(scenario).unwrap().value
}

#[test]
fn an_adversary_makes_exchanges_fail() {
    let total = |schedule: &Schedule| -> usize {
        (0..20).map(|seed| failures(schedule.clone(), seed, 6)).sum()
    };
    let fair = total(&Schedule::Random);
    assert!(total(&delay_rmw()) > fair * 3 / 2, "{fair}, {}", total(&delay_rmw()));
    assert!(total(&crowd(6)) > fair * 3 / 2, "{fair}, {}", total(&crowd(6)));
}

#[test]
fn an_adversary_of_ones_own_sees_what_is_about_to_happen() {
    let stores_first = Adversary::new(|view, _| {
        let store = view.ready().find(|(_, about)| about.op == Op::Store);
        store.map(|(slot, _)| cantina_sim::trace::Choice::Run(slot))
    });
    for seed in 0..20 {
        let schedule = Schedule::Adversary(stores_first.clone());
        let simulation = Simulation::new().seed(seed).schedule(schedule);
        let seen = simulation.run(|| {
            let word = Arc::new(AtomicUsize::new(0));
            let theirs = word.clone();
            let reader = thread::spawn(move || theirs.load(Relaxed));
            // Both are about to act when the reader has started; the store wins.
            while word.load(Relaxed) == 0 {
                word.store(1, Relaxed);
            }
            reader.join().unwrap()
        });
        seen.unwrap();
    }
}

#[test]
fn exhaustive_search_finds_all_outcomes_of_a_race() {
    let mut search = Exhaustive::new(Simulation::new().memory(Memory::Sequential), lost_update);
    let counts: BTreeSet<usize> = search.by_ref().map(|outcome| outcome.unwrap().value).collect();
    assert_eq!(counts, BTreeSet::from([1, 2]));
    assert!(search.is_complete());
    assert!(search.schedules() > 10, "{}", search.schedules());
}

#[test]
fn exhaustive_search_never_tries_a_schedule_twice() {
    let search = Exhaustive::new(Simulation::new(), lost_update).preemptions(2);
    let mut traces = BTreeMap::new();
    for outcome in search {
        *traces.entry(outcome.unwrap().trace.to_string()).or_insert(0) += 1;
    }
    assert!(traces.len() > 20);
    assert!(traces.values().all(|&times| times == 1));
}

#[test]
fn a_preemption_bound_makes_fewer_schedules() {
    let count = |bound: usize| {
        let simulation = Simulation::new().memory(Memory::Sequential);
        let mut search = Exhaustive::new(simulation, lost_update).preemptions(bound);
        let found =
            search.by_ref().any(|outcome: Result<Outcome<usize>, _>| outcome.unwrap().value == 1);
        search.by_ref().for_each(drop);
        assert!(search.is_complete());
        (search.schedules(), found)
    };
    let (none, one, two) = (count(0), count(1), count(2));
    assert!(!none.1 && one.1 && two.1);
    assert!(none.0 < one.0 && one.0 < two.0, "{none:?} {one:?} {two:?}");
}

#[test]
fn exhaustive_search_ends_on_spin_loops() {
    let waits = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.store(true, Relaxed));
        while !flag.load(Relaxed) {
            thread::spin_loop();
        }
        other.join().unwrap();
    };
    let mut search = Exhaustive::new(Simulation::new(), waits).preemptions(3);
    assert!(search.by_ref().take(100_000).all(|outcome| outcome.is_ok()));
    assert!(search.is_complete());
}

#[test]
fn spinning_for_what_nobody_does_is_a_deadlock() {
    for seed in 0..20 {
        let simulation = Simulation::new().seed(seed);
        let failure = simulation.run(|| {
            let flag = AtomicBool::new(false);
            let backoff = Backoff::new();
            while !flag.load(Relaxed) {
                backoff.snooze();
            }
        });
        let Failure::Deadlock(report) = failure.unwrap_err() else { panic!("not a deadlock") };
        assert!(report.to_string().contains("spins on words that nobody changes"), "{report}");
        assert!(report.steps < 2_000);
    }
}

#[test]
fn exchanging_what_nobody_changes_is_a_deadlock_too() {
    let scenario = || {
        let word = AtomicUsize::new(0);
        while word.compare_exchange(1, 2, Relaxed, Relaxed).is_err() {
            thread::spin_loop();
        }
    };
    for failure in [Simulation::new().run(scenario), Simulation::new().run_timed(scenario)] {
        let failure = failure.map(drop).unwrap_err();
        assert!(matches!(failure, Failure::Deadlock(_)), "{failure}");
    }
}

#[test]
fn who_changes_something_does_not_spin_in_vain() {
    let scenario = || {
        let word = AtomicUsize::new(0);
        while word.fetch_add(1, Relaxed) < 1_000 {
            thread::spin_loop();
        }
        let turns = AtomicUsize::new(0);
        while let Err(seen) = turns.compare_exchange(1_000, 0, Relaxed, Relaxed) {
            turns.compare_exchange(seen, seen + 1, Relaxed, Relaxed).unwrap();
            thread::spin_loop();
        }
    };
    Simulation::new().run(scenario).unwrap();
    Simulation::new().run_timed(scenario).unwrap();
}

/// Looks at one word and changes another, for ever or so.
fn looks_and_changes(flag: &AtomicBool, word: &AtomicUsize, turns: usize) {
    for turn in 0..turns {
        assert!(!flag.load(Relaxed));
        word.compare_exchange(turn, turn + 1, Relaxed, Relaxed).unwrap();
        thread::spin_loop();
    }
}

#[test]
fn who_changes_something_is_not_taken_for_spinning() {
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let changes = |flag: &AtomicBool| looks_and_changes(flag, &AtomicUsize::new(0), usize::MAX);
        let _other = thread::spawn(move || changes(&theirs));
        changes(&flag);
    };
    for steps in 1_000..1_020 {
        let failure = Simulation::new().steps(steps).run(scenario).unwrap_err();
        let Failure::Budget(report) = failure else { panic!("{failure}") };
        assert!(report.threads.iter().all(|thread| matches!(thread.doing, Doing::Ready(_))));
    }
    let timed = Simulation::new().run_timed(|| {
        let flag = CachePadded::new(AtomicBool::new(false));
        let word = CachePadded::new(AtomicUsize::new(0));
        looks_and_changes(&flag, &word, 100);
    });
    assert!(timed.unwrap().nanos < 10_000);
}

#[test]
fn many_short_waits_are_no_deadlock() {
    let scenario = || {
        let flag = AtomicBool::new(false);
        for _ in 0..100 {
            for _ in 0..10 {
                assert!(!flag.load(Relaxed));
                thread::spin_loop();
            }
            cantina_sim::fence::full();
        }
    };
    Simulation::new().run(scenario).unwrap();
    Simulation::new().run_timed(scenario).unwrap();
}

#[test]
fn who_yields_lets_another_go_on() {
    // This schedule keeps to the current thread for as long as it can.
    let plain = Schedule::Replay(Trace::default());
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let turns = AtomicUsize::new(0);
        let theirs = flag.clone();
        let other = thread::spawn(move || theirs.swap(true, Relaxed));
        while !flag.load(Relaxed) {
            turns.fetch_add(1, Relaxed);
            thread::yield_now();
        }
        other.join().unwrap();
    };
    Simulation::new().schedule(plain).steps(1_000).run(scenario).unwrap();
}

#[test]
fn a_spin_loop_with_a_bound_comes_to_it() {
    for seed in 0..20 {
        run(seed, || {
            let flag = AtomicBool::new(false);
            for _ in 0..100 {
                if flag.load(Relaxed) {
                    break;
                }
                thread::spin_loop();
            }
        });
    }
}

#[test]
fn a_thread_may_give_up_spinning_while_others_go_on() {
    let gives_up = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            (0..3).for_each(|_| _ = theirs.load(Relaxed));
            theirs.store(true, Relaxed);
        });
        let seen = (0..2).any(|_| {
            thread::spin_loop();
            flag.load(Relaxed)
        });
        other.join().unwrap();
        seen
    };
    let seen: BTreeSet<bool> = (0..500).map(|seed| run(seed, gives_up)).collect();
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_hasty_clock_lets_time_run_out_before_its_time() {
    let waits = || {
        let parker = Parker::new();
        let unparker = parker.unparker();
        let other = thread::spawn(move || unparker.unpark());
        let woken = parker.park_timeout(Duration::from_secs(10));
        other.join().unwrap();
        woken
    };
    let woken = |hasty: bool| -> BTreeSet<bool> {
        let simulation = Simulation::new().hasty_clock(hasty);
        (0..200).map(|seed| simulation.clone().seed(seed).run(waits).unwrap().value).collect()
    };
    assert_eq!(woken(false), BTreeSet::from([true]));
    assert_eq!(woken(true), BTreeSet::from([false, true]));
}

#[test]
fn weak_exchanges_fail_now_and_then_and_never_when_told_so() {
    let fails = || {
        let word = AtomicUsize::new(0);
        word.compare_exchange_weak(0, 1, Relaxed, Relaxed).is_err()
    };
    let count = |allowed: bool| {
        let simulation = Simulation::new().weak_failures(allowed);
        let failed = |seed: &u64| simulation.clone().seed(*seed).run(fails).unwrap().value;
        (0..1_000).filter(failed).count()
    };
    assert!((5..100).contains(&count(true)));
    assert_eq!(count(false), 0);
    assert!(!fails());
}

#[test]
fn a_loop_with_a_bound_is_not_kept_from_it_by_one_without() {
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            for _ in 0..10 {
                assert!(!theirs.load(Relaxed));
                thread::spin_loop();
            }
            theirs.store(true, Relaxed);
        });
        while !flag.load(Relaxed) {
            thread::spin_loop();
        }
        other.join().unwrap();
    };
    for schedule in schedules().into_iter().chain([Schedule::Replay(Trace::default())]) {
        Simulation::new().schedule(schedule).run(scenario).unwrap();
    }
    Simulation::new().run_timed(scenario).unwrap();
}

#[test]
fn a_loop_with_a_bound_is_not_kept_from_it_by_one_that_does_something() {
    let scenario = || {
        let flag = Arc::new(AtomicBool::new(false));
        let theirs = flag.clone();
        let other = thread::spawn(move || {
            for _ in 0..20 {
                assert!(!theirs.load(Relaxed));
                thread::yield_now();
            }
            theirs.store(true, Relaxed);
        });
        let turns = AtomicUsize::new(0);
        while !flag.load(Relaxed) {
            turns.fetch_add(1, Relaxed);
            thread::yield_now();
        }
        other.join().unwrap();
    };
    for schedule in schedules().into_iter().chain([Schedule::Replay(Trace::default())]) {
        Simulation::new().schedule(schedule).steps(50_000).run(scenario).unwrap();
    }
    Simulation::new().run_timed(scenario).unwrap();
}
