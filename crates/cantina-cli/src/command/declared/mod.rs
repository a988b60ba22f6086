//! What the experiments say of themselves.

mod rooms;
mod schedulers;
mod trees;

use super::sim::validate;
use crate::view::{Axis, Better, Experiment, Measure, Paper};
use cantina_lab::experiment::{
    CAS_PER_GET, STEALS_PER_1000, capacity, chunk_size, placement, pollers, ratios,
    single_producer, throughput,
};

/// How many tasks go through.
const THROUGHPUT: Measure = Measure {
    title: "Throughput",
    unit: "M tasks/s",
    value: "mops_median",
    spread: Some(("mops_min", "mops_max")),
    better: Better::Higher,
};

/// What a task costs those who get it.
const READ_MODIFY_WRITES: Measure = fewer("Read-modify-writes", "per task got", CAS_PER_GET);

/// How often consumers took from each other.
const STOLEN: Measure = fewer("Steals", "per 1000 tasks", STEALS_PER_1000);

/// A value of which less is better, without a spread.
const fn fewer(title: &'static str, unit: &'static str, value: &'static str) -> Measure {
    Measure { title, unit, value, spread: None, better: Better::Lower }
}

/// Section 6.3 of the SALSA paper, figure 4a.
const SALSA_PAPER: Paper = Paper {
    source: "the SALSA paper (figure 4a, 32 cores of eight 2.3 GHz Opterons)",
    shape: (16, 16),
    pool: "salsa",
    times: &[
        ("ws-msq", "20"),
        ("ws-lifo", "20"),
        ("concurrent-bags", "more than 3.5"),
        ("salsa-cas", "1.7"),
    ],
    why: "They may differ because those are other implementations (in C++, over jemalloc, never asked \
          whether the pool is empty) in runs of 20 seconds, each thread on a core of its own.",
};

const COMMON_START: &str = "Producers put as fast as they can, consumers get until everything is \
     got; the clock runs from a common start until the last task is got.";

const SIMULATED: &str = "Simulated: the same source, on a model of the machine's caches, links and \
     store buffers. Each value is the median over seeds.";

/// What of a simulated run counts.
const WINDOW: &str = "What counts is what was got from a fifth of the way on until the first producer is done. Where the \
     halves of that time are not within a tenth of each other, from every seed, there are twice as many tasks, three times at most; a value \
     behind ~ has not converged even so.";

/// The same where beginning and end belong to what is measured.
const DOUBLED: &str = "All of a run counts. Where half as many tasks are not as fast within a tenth, there are twice as many, three times \
     at most; a value behind ~ has not converged even so.";

/// The same where the size of the job belongs to what is measured.
const WHOLE: &str = "All of a run counts, its beginning and its end too: it is a job of one size.";

/// What no simulated machine has.
const NOT_MODELLED: &str = "What is not modelled: capacity misses beyond the tags, address \
     translation, overlapping loads beyond a stream of lines, hardware threads, preemption.";

const CHECKED: &str =
    "Every run is checked: the number of tasks got, their sum and their exclusive or.";

/// The experiments there are, the default one first.
pub(super) static EXPERIMENTS: [Experiment; 17] = [
    Experiment {
        name: throughput::NAME,
        title: "Throughput",
        about: "how many tasks per second go from producers to consumers",
        axis: Axis::Shape,
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT],
        papers: &[SALSA_PAPER],
        against: None,
        benched: true,
        notes: &[
            COMMON_START,
            CHECKED,
            "Each value is the median of repetitions that take turns with those of the other rows, \
         beginning with another row each time.",
            "Threads stay on their cores at 1P/1C; in the other shapes the operating system places \
         them.",
            "Whoever finds nothing to get, or no room to put, spins briefly and then yields.",
            "Rows named -batch move 64 tasks at a time, or as many as the crate hands out at once.",
            "Producers of an unbounded pool run ahead of its consumers: it is filled, then drained.",
            "Stream is no pool: it is how fast cache lines full of tasks go from one thread to another.",
            "Compare within a table. With mimalloc only those are measured that allocate while tasks \
         go through them.",
        ],
        simulated_notes: &[
            SIMULATED,
            WINDOW,
            CHECKED,
            "Each thread has a processor of its own, node by node; producers and consumers are mixed \
         evenly.",
            NOT_MODELLED,
        ],
    },
    Experiment {
        name: ratios::NAME,
        title: "Ratios",
        about: "as many threads, shared out differently between producers and consumers",
        axis: Axis::Shape,
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT],
        papers: &[],
        against: None,
        benched: true,
        notes: &[COMMON_START, CHECKED],
        simulated_notes: &[SIMULATED, WINDOW, CHECKED, NOT_MODELLED],
    },
    Experiment {
        name: single_producer::NAME,
        title: "Single producer",
        about: "one producer and more and more consumers: who keeps up, and what a task costs",
        axis: Axis::Shape,
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT, READ_MODIFY_WRITES, STOLEN],
        papers: &[],
        against: None,
        benched: true,
        notes: &[
            COMMON_START,
            CHECKED,
            "Read-modify-writes are those of consumers. Only pools that count them have a row: of the \
             others each get takes at least one, and more where consumers meet.",
        ],
        simulated_notes: &[SIMULATED, WINDOW, CHECKED, NOT_MODELLED],
    },
    Experiment {
        name: placement::NAME,
        title: "Placement",
        about: "what it costs when threads and memory are placed badly",
        axis: Axis::Field { name: placement::FIELD, label: "threads and memory" },
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT],
        papers: &[],
        against: None,
        benched: true,
        notes: &[
            "Threads bound to one core after the other, and threads that the operating system \
             places. Where memory lies is the operating system's choice both times.",
            "On a machine with one memory node this shows what moving between cores costs, and \
             nothing of distant memory: for that there is the simulated machine.",
            CHECKED,
        ],
        simulated_notes: &[
            "Local: threads are bound to processors node by node, producers and consumers mixed; memory lies \
             with whoever asks for it.",
            "No affinity: threads run on processors drawn from the seed, each block of memory lies \
             on any node.",
            "One node: threads as in local, all memory on the first node. Half-speed links: the \
             same, and a line occupies a link twice as long.",
            WINDOW,
            CHECKED,
            NOT_MODELLED,
        ],
    },
    Experiment {
        name: chunk_size::NAME,
        title: "Chunk size",
        about: "what the size of chunks does to the pools that have them",
        axis: Axis::Field { name: chunk_size::FIELD, label: "tasks of a chunk" },
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT, READ_MODIFY_WRITES],
        papers: &[],
        against: None,
        benched: true,
        notes: &[
            COMMON_START,
            CHECKED,
            "A pool with a capacity takes part with chunks that are not larger than it.",
        ],
        simulated_notes: &[
            SIMULATED,
            "Where a producer has fewer tasks than a chunk holds, no chunk is ever full.",
            WINDOW,
            CHECKED,
            NOT_MODELLED,
        ],
    },
    Experiment {
        name: capacity::NAME,
        title: "Capacity",
        about: "bounded pools that all have room for as many tasks",
        axis: Axis::Field { name: capacity::FIELD, label: "tasks there is room for" },
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT],
        papers: &[],
        against: None,
        benched: true,
        notes: &[
            COMMON_START,
            CHECKED,
            "Whoever finds nothing to get, or no room to put, spins briefly and then yields.",
            "Rows named -batch move 64 tasks at a time.",
        ],
        simulated_notes: &[SIMULATED, WINDOW, CHECKED, NOT_MODELLED],
    },
    trees::HEIGHT,
    trees::FAIRNESS,
    trees::DENSITY,
    trees::STEPS,
    rooms::STACK,
    trees::WRITE_ALL,
    schedulers::FIB,
    schedulers::DDB,
    schedulers::TELL,
    Experiment {
        name: pollers::NAME,
        title: "Pollers",
        about: "whether consumers that find nothing slow down workers that are busy",
        axis: Axis::Field { name: pollers::FIELD, label: "pollers" },
        split: &["payload_bytes", "allocator"],
        measures: &[THROUGHPUT],
        papers: &[],
        against: None,
        benched: true,
        notes: &[
            "Each worker puts eight tasks and gets as many, again and again; 2P/2C are two workers. \
             Pollers get, and wait as every consumer does that finds nothing.",
            "Where all tasks lie in one place a poller may get one: it counts, whoever got it.",
            "Where there are fewer cores than threads, pollers cost workers their time on a core too: \
             compare with a row of the same column.",
            CHECKED,
        ],
        simulated_notes: &[
            SIMULATED,
            "Each worker puts eight tasks and gets as many, again and again. Workers and pollers have \
             a processor each: what pollers cost, they cost through the pool.",
            WINDOW,
            CHECKED,
            NOT_MODELLED,
        ],
    },
    Experiment {
        name: validate::NAME,
        title: "Validation",
        about: "whether ratios between pools on the simulated machine are those of the real one",
        axis: Axis::Field { name: validate::THREADS, label: "threads" },
        split: &[],
        measures: &[
            THROUGHPUT,
            Measure {
                title: "Ratio to the first pool",
                unit: "times its throughput",
                value: "ratio",
                spread: None,
                better: Better::Higher,
            },
        ],
        papers: &[],
        against: None,
        benched: false,
        notes: &[
            "One thread puts a task and gets one, in turn; two threads are a producer and a \
             consumer, each on a core of its own.",
            "Ratios between pools agree when they are within a factor of two of each other, for \
             every two pools.",
        ],
        simulated_notes: &[
            "The simulated machine's costs come from micro-benchmarks of this machine, in which no \
             pool takes part.",
            DOUBLED,
            NOT_MODELLED,
        ],
    },
];
