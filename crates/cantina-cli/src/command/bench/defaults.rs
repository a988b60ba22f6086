//! What an experiment measures on this machine when nothing else is said.

use cantina_lab::experiment::scheduling::{ddb, fib, tell};
use cantina_lab::experiment::{
    capacity, chunk_size, density, fairness, pollers, ratios, rooms_stack, scheduling,
    single_producer, throughput, tree_height,
};
use cantina_lab::workload::Shape;

/// The shapes of an experiment.
pub(super) fn shapes(experiment: &str, quick: bool) -> Vec<Shape> {
    match (experiment, quick) {
        (ratios::NAME, _) => ratios::shapes(ratios::THREADS, quick),
        (single_producer::NAME, false) => {
            single_producer::shapes(single_producer::MOST_CONSUMERS, false)
        }
        (single_producer::NAME, true) => {
            single_producer::shapes(single_producer::QUICK_MOST_CONSUMERS, true)
        }
        (chunk_size::NAME, false) => chunk_size::SHAPES.to_vec(),
        (chunk_size::NAME, true) => chunk_size::QUICK_SHAPES.to_vec(),
        (capacity::NAME, false) => capacity::SHAPES.to_vec(),
        (capacity::NAME, true) => capacity::QUICK_SHAPES.to_vec(),
        (tree_height::NAME, false) => tree_height::SHAPES.to_vec(),
        (tree_height::NAME, true) => tree_height::QUICK_SHAPES.to_vec(),
        (fairness::NAME, false) => fairness::SHAPES.to_vec(),
        (fairness::NAME, true) => fairness::QUICK_SHAPES.to_vec(),
        (rooms_stack::NAME, false) => rooms_stack::WORKERS.map(rooms_stack::shape).to_vec(),
        (rooms_stack::NAME, true) => rooms_stack::QUICK_WORKERS.map(rooms_stack::shape).to_vec(),
        (pollers::NAME, false) => pollers::WORKERS.map(pollers::shape).to_vec(),
        (pollers::NAME, true) => pollers::QUICK_WORKERS.map(pollers::shape).to_vec(),
        (fib::NAME | ddb::NAME, _) => scheduling::WORKERS.map(scheduling::shape).to_vec(),
        (tell::NAME, false) => tell::SHAPES.to_vec(),
        (tell::NAME, true) => tell::QUICK_SHAPES.to_vec(),
        (_, false) => throughput::SHAPES.to_vec(),
        (_, true) => throughput::QUICK_SHAPES.to_vec(),
    }
}

/// The experiment's own parameters: sizes of chunks, capacities, heights of trees, numbers of pollers, amounts of work.
pub(super) fn parameters(experiment: &str, quick: bool) -> Vec<u64> {
    match (experiment, quick) {
        (chunk_size::NAME, false) => chunk_size::SIZES.to_vec(),
        (chunk_size::NAME, true) => chunk_size::QUICK_SIZES.to_vec(),
        (capacity::NAME, false) => capacity::CAPACITIES.to_vec(),
        (capacity::NAME, true) => capacity::QUICK_CAPACITIES.to_vec(),
        (tree_height::NAME, false) => tree_height::HEIGHTS.to_vec(),
        (tree_height::NAME, true) => tree_height::QUICK_HEIGHTS.to_vec(),
        (fairness::NAME, false) => fairness::HEIGHTS.to_vec(),
        (fairness::NAME, true) => fairness::QUICK_HEIGHTS.to_vec(),
        (density::NAME, false) => density::HEIGHTS.to_vec(),
        (density::NAME, true) => density::QUICK_HEIGHTS.to_vec(),
        (rooms_stack::NAME, false) => rooms_stack::PERCENT.to_vec(),
        (rooms_stack::NAME, true) => rooms_stack::QUICK_PERCENT.to_vec(),
        (pollers::NAME, false) => pollers::POLLERS.to_vec(),
        (pollers::NAME, true) => pollers::QUICK_POLLERS.to_vec(),
        (fib::NAME, false) => fib::WORK.to_vec(),
        (fib::NAME, true) => fib::QUICK_WORK.to_vec(),
        _ => Vec::new(),
    }
}

/// Tasks of a run, where that is not a matter of how long it takes: each is timed and looked at afterwards, or they are
/// those of a paper.
pub(super) fn tasks(experiment: &str, quick: bool) -> Option<u64> {
    match (experiment, quick) {
        (rooms_stack::NAME, false) => Some(rooms_stack::NODES),
        (rooms_stack::NAME, true) => Some(rooms_stack::QUICK_NODES),
        (fairness::NAME, false) => Some(200_000),
        (fairness::NAME, true) => Some(50_000),
        _ => None,
    }
}
