//! What the experiments of schedulers come to on a simulated machine with 32 processors.

use cantina_effort::Effort;
use lab_on_sim::experiment::Contestant;
use lab_on_sim::experiment::scheduling::{ddb, fib, shape};
use lab_on_sim::workload::{Assignment, Payload, Reading, Units, Workers};
use machine::cost::Machine;
use machine::engine::Simulation;
use machine::time::Duration;

#[global_allocator]
static ALLOCATOR: machine::SimAllocator = machine::SimAllocator;

/// What each operation counts to: the paper's number.
const WORK: u64 = 10_000;

/// A run, and the nanoseconds in which its threads did not sleep.
fn run(contestant: &Contestant, workers: usize, tasks: u64) -> (Reading, f64) {
    let patience = Duration::from_secs(100);
    let assignment =
        Assignment { shape: shape(workers), tasks, pin: false, patience, watched: false };
    let simulation = Simulation::new().machine(Machine::opteron_8x4()).seed(1).steps(1 << 30);
    let outcome = simulation.run_timed(|| (contestant.drive)(Payload::Word, &assignment));
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
    (outcome.value.unwrap(), outcome.busy_nanos as f64)
}

fn named(contestants: Vec<Contestant>, name: &str) -> Contestant {
    contestants.into_iter().find(|each| each.name == name).unwrap()
}

fn counted(reading: &Reading) -> (Workers, Units) {
    let labour = reading.labour.unwrap();
    (labour.workers.unwrap(), labour.units.unwrap_or_default())
}

/// How many times as fast `reading` is as `alone`.
fn times(alone: &Reading, reading: &Reading) -> f64 {
    alone.elapsed.as_secs_f64() / reading.elapsed.as_secs_f64()
}

#[test]
fn fib_with_work_is_linear_and_wastes_little() {
    // For 32 workers there has to be more to do than the gate has time for.
    let (size, crowds): (_, &[usize]) =
        if Effort::asked() == Effort::Deep { (21, &[8, 32]) } else { (18, &[8]) };
    for name in ["scheduler", "scheduler-tails"] {
        let contestant = named(fib::contestants(&[WORK]), name);
        let (alone, busy) = run(&contestant, 1, fib::calls(size));
        for &workers in crowds {
            let (reading, took) = run(&contestant, workers, fib::calls(size));
            let (faster, waste) = (times(&alone, &reading), took / busy);
            assert!(faster > 0.9 * workers as f64, "{name}, {workers}: {faster:.1} times");
            assert!(waste < 1.1, "{name}, {workers}: {waste:.2} times the processor time");
        }
    }
}

#[test]
fn ddb_with_work_spreads_and_its_hot_unit_stays() {
    for contestant in ddb::contestants_with(&[WORK]) {
        let (alone, _) = run(&contestant, 1, 10_000);
        for workers in [4, 32] {
            let (reading, _) = run(&contestant, workers, 10_000);
            let faster = times(&alone, &reading);
            let (each, units) = counted(&reading);
            let place = format!("{contestant:?}, {workers}: {faster:.2}, {each:?}, {units:?}");
            // The hot server has 5/8 of the requests: 3.2 is the most.
            assert!(faster > 2.2, "{place}");
            assert!(each.most < each.operations / 2, "{place}");
            // What is busy stays with its worker, and what is not is taken from there.
            assert!(units.hot_messages > 3_000, "{place}");
            assert!(units.hot_moves * 100 < units.hot_messages, "{place}");
            assert!(units.moves * 5 > units.messages, "{place}");
        }
    }
}
