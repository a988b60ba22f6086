//! Machines whose threads are interrupted.

use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::{Acquire, Relaxed, Release};
use cantina_sim::cost::{Interruption, Machine};
use cantina_sim::engine::Simulation;
use cantina_sim::park::Parker;
use cantina_sim::time::{Duration, nanos};
use cantina_sim::{Arc, thread, work};

/// A tenth of the time, by interruptions of 10,000 cycles, is somebody else's.
fn interrupted() -> Machine {
    let kinds = vec![Interruption { every: 100_000, lasts: 10_000 }];
    Machine::uniform(1, 2).unwrap().interruptions(kinds)
}

fn on(machine: Machine, seed: u64) -> Simulation {
    Simulation::new().machine(machine).seed(seed).steps(100_000_000)
}

/// Virtual nanoseconds of ten thousand pieces of work.
fn working(simulation: &Simulation) -> u64 {
    let outcome = simulation.run_timed(|| {
        let start = nanos();
        (0..10_000).for_each(|_| work(1_000));
        nanos() - start
    });
    outcome.unwrap().value
}

#[test]
fn who_computes_on_an_interrupted_machine_takes_longer_and_the_seed_tells_when() {
    let alone = working(&on(Machine::uniform(1, 2).unwrap(), 1));
    let took = |seed| working(&on(interrupted(), seed));
    let first = took(1);
    assert_eq!(took(1), first);
    assert!((2..8).any(|seed| took(seed) != first));
    let part = first as f64 / alone as f64;
    assert!((1.07..1.15).contains(&part), "{part}");
}

#[test]
fn a_machine_that_nobody_measured_has_none() {
    for name in Machine::NAMES {
        assert!(name.parse::<Machine>().unwrap().interrupted().is_empty());
    }
}

#[test]
fn threads_that_go_in_step_get_apart() {
    let most_ahead = |machine: Machine| {
        let outcome = on(machine, 3).run_timed(|| {
            let made = Arc::new(AtomicUsize::new(0));
            let theirs = made.clone();
            let producer = thread::spawn(move || {
                for number in 1..=5_000 {
                    work(200);
                    theirs.store(number, Release);
                }
            });
            let (mut used, mut most) = (0, 0);
            while used < 5_000 {
                let ahead = made.load(Acquire) - used;
                most = most.max(ahead);
                if ahead == 0 {
                    thread::spin_loop();
                    continue;
                }
                work(150);
                used += 1;
            }
            producer.join().unwrap();
            most
        });
        outcome.unwrap().value
    };
    let (in_step, apart) = (most_ahead(Machine::uniform(1, 2).unwrap()), most_ahead(interrupted()));
    assert!(in_step < 10 && apart > 20, "{in_step} {apart}");
}

#[test]
fn even_the_longest_wait_ends() {
    let scenario = || {
        thread::sleep(Duration::MAX);
        work(u64::MAX);
        assert!(!Parker::new().park_timeout(Duration::from_nanos(u64::MAX)));
        let word = AtomicUsize::new(0);
        assert_eq!(word.load(Relaxed), 0);
    };
    on(interrupted(), 1).run_timed(scenario).unwrap();
}
