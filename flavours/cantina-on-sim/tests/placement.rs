//! Chunks of SALSA lie on the node of the consumer that they are for, wherever the producer is: told by what new ones
//! cost to fill on a simulated machine, in its own time.

extern crate cantina_on_sim as cantina;

use cantina::salsa::Salsa;
use machine::cost::{Costs, Machine};
use machine::engine::Simulation;
use machine::thread::pin_to;
use machine::time::Instant;
use machine::topology::CoreId;

/// Enough for several chunks.
const TASKS: u64 = 5_000;
/// Nodes in a row, with two cores each.
const NODES: usize = 4;
const CORES: usize = 2;

/// Where every access takes what it takes.
fn machine() -> Machine {
    let mut costs = Costs::opteron();
    costs.jitter = 0;
    Machine::uniform(NODES, CORES).unwrap().calibrated("exact", 1_000, costs)
}

/// Virtual nanoseconds in which a producer on one node fills new chunks for a consumer on another.
fn filled_in(from: usize, to: usize) -> u128 {
    let outcome = Simulation::new().machine(machine()).run_timed(|| {
        let core = CoreId(from * CORES);
        pin_to(core).unwrap();
        let pool = Salsa::new();
        let consumer = pool.consumer_on(CoreId(to * CORES + 1)).unwrap();
        let mut producer = pool.producer_on(core);
        let begin = Instant::now();
        (0..TASKS).for_each(|task| producer.put(task));
        let nanos = begin.elapsed().as_nanos();
        assert!(pool.metrics().chunks > 3);
        drop(consumer);
        nanos
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}")).value
}

#[test]
fn new_chunks_are_near_when_the_consumer_is() {
    let near = filled_in(0, 0);
    for node in 1..NODES {
        let far = filled_in(0, node);
        assert!(near < far, "{near} ns on its own node, {far} for a consumer on node {node}");
    }
}

#[test]
fn new_chunks_are_where_the_consumer_is_and_not_where_the_first_node_is() {
    let near = filled_in(0, 0);
    for node in 1..NODES {
        let (same, back) = (filled_in(node, node), filled_in(node, 0));
        assert!(same < back, "{same} ns on node {node}, {back} for a consumer on node 0");
        assert!(same.abs_diff(near) < near / 20, "{same} ns on node {node}, {near} on node 0");
    }
}
