//! Experiments of schedulers: operations instead of tasks, workers instead of producers and consumers.
//!
//! They are measured as pools are: a task is a call of [`fib`], a message of [`ddb`] or of [`tell`], and takes turns
//! with those of the other contestants. In the rows a worker is a producer and a consumer.

pub mod ddb;
pub mod fib;
mod rows;
pub mod tell;

pub use rows::{
    BUSIEST, BUSY, HOT_MOVES, IDLEST, LOST, MOST_MOVED, MOVED, MOVES, NS, PARKS, QUARTERS,
    SPEED_UP, STEALS_PER_UNIT, UTILISATION, WASTE, finish, worked,
};

use super::throughput::{self, Plan};
use super::{Contestant, Guard, Shapes, Stopped, Watch};
use crate::workload::{Assignment, Fault, Labour, Reading, Shape, Workers};
use cantina::scheduler::{Handle, Runtime};
use cantina_record::{Kind, Row};
use machine::time::Duration;

/// The experiments of schedulers.
pub const NAMES: [&str; 3] = [fib::NAME, ddb::NAME, tell::NAME];

/// Workers on the real machine.
pub const WORKERS: [usize; 2] = [1, 2];
/// Workers on a simulated one, as many as there are cores at most.
pub const SIMULATED_WORKERS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// The same of a quick run.
pub const QUICK_SIMULATED_WORKERS: [usize; 3] = [1, 8, 32];

/// How long workers have to come to an end when everything is done.
const END: Duration = Duration::from_secs(10);

/// Whether an experiment is about workers, which are given as shapes such as 2P/2C.
pub fn has_workers(experiment: &str) -> bool {
    [fib::NAME, ddb::NAME].contains(&experiment)
}

/// So many workers, as a shape.
pub fn shape(workers: usize) -> Shape {
    Shape::new(workers, workers)
}

/// Runs one of these experiments on the machine at hand.
///
/// # Errors
/// As [`throughput::measure`].
pub fn measure(
    plan: &Plan,
    contestants: &[&Contestant],
    guard: Option<Guard>,
    watch: Watch<'_>,
) -> Result<Vec<Row>, Stopped> {
    Ok(finish(throughput::measure(plan, contestants, guard, watch)?))
}

/// Somebody who takes part in one of these experiments.
pub fn contestant(
    name: &str,
    kind: Kind,
    about: &str,
    run: impl Fn(&Assignment) -> Result<Reading, Fault> + Send + Sync + 'static,
) -> Contestant {
    Contestant {
        name: name.to_owned(),
        kind,
        about: about.to_owned(),
        version: None,
        shapes: Shapes::Any,
        allocates: true,
        parameter: None,
        drive: Box::new(move |_, assignment| run(assignment)),
    }
}

/// A runtime with so many workers.
fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("there can be threads")
}

/// Lets `runtime` come to its end, and tells what its workers have done.
fn labour(runtime: Runtime, handle: &Handle) -> Labour {
    let _nothing_left = runtime.shutdown(END);
    let metrics = handle.metrics();
    let operations = metrics.workers.iter().map(|worker| worker.operations + worker.messages);
    let workers = Workers {
        steals: metrics.workers.iter().map(|worker| worker.steals).sum(),
        parks: metrics.workers.iter().map(|worker| worker.parks).sum(),
        occupied: metrics.workers.iter().map(|worker| worker.busy).sum(),
        ..Workers::of(operations)
    };
    Labour { workers: Some(workers), ..Labour::default() }
}
