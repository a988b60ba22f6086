//! Random graphs of operations on real threads.

#[path = "scenarios/graphs.rs"]
mod graphs;

#[test]
fn graphs_of_all_sizes_come_to_their_end() {
    for (operations, times) in [(100, 50), (1_000, 5), (10_000, 1)] {
        for workers in 1..=3 {
            (0..times).for_each(|_| graphs::a_graph_comes_to_its_end(operations, workers));
        }
    }
}
