//! Random graphs of operations on many schedules, each of which its seed replays.
//!
//! With more effort than the gate's there are graphs of 10,000 operations, too.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/graphs.rs"]
mod graphs;

use machine::engine::Simulation;
use machine::schedule::Schedule;

/// Sizes of graphs, and on how many schedules each is tried: in the gate, and in the deep run.
const SIZES: [(usize, u64, u64); 2] = [(100, 200, 20_000), (1_000, 8, 1_000)];
const LARGE: usize = 10_000;

/// Steps after which a run hangs, for each operation.
const STEPS_PER_OPERATION: u64 = 20_000;

/// Half of them random walks, half by priorities: one thread far ahead of the others.
fn schedule(seed: u64, operations: usize) -> Schedule {
    match seed % 2 {
        0 => Schedule::Random,
        _ => Schedule::Pct { depth: 4, length: 200 * operations },
    }
}

fn try_graphs(operations: usize, seeds: impl Iterator<Item = u64>) {
    for seed in seeds {
        let workers = 1 + seed as usize % 3;
        let simulation = Simulation::new().seed(seed).schedule(schedule(seed, operations));
        let simulation = simulation.steps(STEPS_PER_OPERATION * operations as u64);
        let outcome = simulation.run(|| graphs::a_graph_comes_to_its_end(operations, workers));
        if let Err(failure) = outcome {
            panic!("{operations} operations, {workers} workers: {failure}");
        }
    }
}

#[test]
fn graphs_come_to_their_end_on_every_schedule() {
    let seeds = |many| (0..many).map(|more| cantina_effort::seed(0).wrapping_add(more));
    for (operations, gate, deep) in SIZES {
        try_graphs(operations, seeds(cantina_effort::rounds(gate, deep)));
    }
    try_graphs(LARGE, seeds(cantina_effort::rounds(1, 101) - 1));
}
