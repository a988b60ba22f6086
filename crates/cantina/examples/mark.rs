//! Marks what can be reached in a graph, as a garbage collector does, with several threads on a
//! [`WorkStack`], and checks it against a sequential mark.
//!
//! `cargo run --release -p cantina --example mark [EDGES [THREADS]]`

use cantina::rooms::WorkStack;
use std::io::IsTerminal;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

const EDGES: usize = 10_000_000;
const EDGES_OF_A_NODE: usize = 8;
/// How many nodes a worker borrows, and how many it keeps for itself before it returns the rest.
const BATCH: usize = 500;
/// How often the bar is drawn.
const TICK: Duration = Duration::from_millis(10);
const BAR: usize = 40;

/// Nodes are numbers. Their edges lie behind each other.
struct Graph {
    /// Where the edges of each node begin, and where those of the last one end.
    begins: Vec<usize>,
    targets: Vec<u32>,
}

impl Graph {
    /// So many edges, from each node up to twice as many as on average. Some nodes are not reached, among them those to which only such
    /// lead.
    fn new(edges: usize) -> Self {
        let nodes = (edges / EDGES_OF_A_NODE).max(1);
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut begins = vec![0];
        let mut targets = Vec::with_capacity(edges);
        for node in 0..nodes {
            let many = random.below(2 * EDGES_OF_A_NODE + 1).min(edges - targets.len());
            // The last tenth is reached from there only.
            let range = if node < nodes - nodes / 10 { nodes - nodes / 10 } else { nodes };
            targets.extend((0..many).map(|_| random.below(range) as u32));
            begins.push(targets.len());
        }
        Self { begins, targets }
    }

    fn nodes(&self) -> usize {
        self.begins.len() - 1
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        &self.targets[self.begins[node as usize]..self.begins[node as usize + 1]]
    }
}

/// Numbers that look random: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

fn mark_alone(graph: &Graph) -> Vec<bool> {
    let mut marks = vec![false; graph.nodes()];
    let mut stack = vec![0_u32];
    marks[0] = true;
    while let Some(node) = stack.pop() {
        for &target in graph.edges_of(node) {
            if !std::mem::replace(&mut marks[target as usize], true) {
                stack.push(target);
            }
        }
    }
    marks
}

/// What one of several workers does until all is marked.
fn mark(graph: &Graph, marks: &[AtomicBool], work: &WorkStack<u32>, done: &AtomicUsize) {
    while let Some(mut batch) = work.borrow(BATCH) {
        // A bounded share of work: what is left then goes back, where others find it.
        let mut marked = 0;
        while marked < 2 * BATCH {
            let Some(node) = batch.pop() else { break };
            for &target in graph.edges_of(node) {
                let mark = &marks[target as usize];
                // Looked at first: most are marked already, and a load shares the line.
                if !mark.load(Relaxed) && !mark.swap(true, Relaxed) {
                    batch.push(target);
                }
            }
            marked += 1;
        }
        done.fetch_add(marked, Relaxed);
    }
}

/// What is marked, and how long it took: until the last worker was told the end, whatever is drawn meanwhile.
fn mark_together(graph: &Graph, threads: usize, expected: usize) -> (Vec<bool>, Duration) {
    let start = Instant::now();
    let marks: Vec<AtomicBool> = (0..graph.nodes()).map(|_| AtomicBool::new(false)).collect();
    let (work, done) = (WorkStack::new(), AtomicUsize::new(0));
    marks[0].store(true, Relaxed);
    work.push(0);
    let took = thread::scope(|scope| {
        let worker = || {
            mark(graph, &marks, &work, &done);
            start.elapsed()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        if std::io::stderr().is_terminal() {
            while !workers.iter().all(|worker| worker.is_finished()) {
                draw(done.load(Relaxed), expected);
                thread::sleep(TICK);
            }
            draw(done.load(Relaxed), expected);
            eprintln!();
        }
        let times = workers.into_iter().map(|worker| worker.join().expect("it does not panic"));
        times.max().unwrap_or_default()
    });
    assert_eq!(done.into_inner(), expected, "each node is worked on once");
    (marks.into_iter().map(AtomicBool::into_inner).collect(), took)
}

fn draw(done: usize, all: usize) {
    let filled = BAR * done / all.max(1);
    eprint!("\r[{}{}] {done} of {all} nodes", "#".repeat(filled), " ".repeat(BAR - filled));
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let edges = arguments.next().unwrap_or(EDGES);
    let threads = arguments
        .next()
        .unwrap_or_else(|| thread::available_parallelism().map_or(2, |threads| threads.get()));
    let graph = Graph::new(edges);
    println!("{} nodes, {} edges", graph.nodes(), graph.targets.len());

    let start = Instant::now();
    let alone = mark_alone(&graph);
    let reached = alone.iter().filter(|mark| **mark).count();
    println!("alone: {reached} nodes in {:.0?}", start.elapsed());

    let (together, took) = mark_together(&graph, threads, reached);
    println!("{threads} threads: the same in {took:.0?}");
    assert!(alone == together, "both have marked the same nodes");
}
