//! SALSA beside consumers that ask an empty pool again and again, on a simulated machine with 32 processors.

use lab_on_sim::experiment::pollers::{contestants, shape};
use lab_on_sim::workload::{Assignment, Payload};
use machine::cost::Machine;
use machine::engine::Simulation;
use machine::time::Duration;

#[global_allocator]
static ALLOCATOR: machine::SimAllocator = machine::SimAllocator;

const WORKERS: usize = 4;
const POLLERS: u64 = 4;
/// Of all workers together.
const TASKS: u64 = 32_000;
/// What pollers leave of the speed, at least. Measured: 0.83.
const LEFT: f64 = 0.75;

/// Tasks in a nanosecond, while everybody is at work.
fn speed(name: &str, pollers: u64) -> f64 {
    let all = contestants(&[pollers]);
    let contestant = all.into_iter().find(|contestant| contestant.name == name).unwrap();
    let patience = Duration::from_secs(100);
    let shape = shape(WORKERS);
    let assignment = Assignment { shape, tasks: TASKS, pin: true, patience, watched: true };
    let simulation = Simulation::new().machine(Machine::opteron_8x4()).seed(1).steps(1 << 30);
    let outcome = simulation.run_timed(|| (contestant.drive)(Payload::Word, &assignment));
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
    let window = outcome.value.unwrap().window.expect("it was watched");
    (window.first + window.second) as f64 / (2 * window.half).as_nanos() as f64
}

#[test]
fn pollers_of_salsa_leave_the_busy_most_of_their_speed() {
    let (alone, beside) = (speed("salsa", 0), speed("salsa", POLLERS));
    assert!(beside > LEFT * alone, "{beside:.3} of {alone:.3}");
    // So it says something: a queue in common is looked at by everybody.
    let (alone, beside) = (speed("ms-queue", 0), speed("ms-queue", POLLERS));
    assert!(beside < LEFT * alone, "{beside:.4} of {alone:.4}");
}
