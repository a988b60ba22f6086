//! What the experiments about schedulers say of themselves.

use super::{DOUBLED, NOT_MODELLED, WHOLE, fewer};
use crate::view::{Axis, Better, Experiment, Measure};
use cantina_lab::experiment::STEALS_PER_1000;
use cantina_lab::experiment::scheduling::{
    BUSIEST, BUSY, HOT_MOVES, IDLEST, LOST, MOVED, MOVES, NS, SPEED_UP, UTILISATION, WASTE, ddb,
    fib, tell,
};

/// How fast it is with more workers than one.
const FASTER: Measure = more("Speed-up", "times one worker", SPEED_UP);
/// How much more processor time it takes then.
const MORE_TIME: Measure = fewer("Waste ratio", "times the processor time of one worker", WASTE);
const LOST_TIME: Measure = fewer("Nothing to do", "% of the workers' time", LOST);
const STOLEN: Measure = fewer("Steals", "per 1000 calls", STEALS_PER_1000);
const MESSAGES: Measure = Measure {
    title: "Throughput",
    unit: "M messages/s",
    value: "mops_median",
    spread: Some(("mops_min", "mops_max")),
    better: Better::Higher,
};

/// A value of which more is better, without a spread.
const fn more(title: &'static str, unit: &'static str, value: &'static str) -> Measure {
    Measure { title, unit, value, spread: None, better: Better::Higher }
}

/// What takes so long, with its spread.
const fn time_of(unit: &'static str) -> Measure {
    let spread = Some(("ns_min", "ns_max"));
    Measure { title: "Time", unit, value: NS, spread, better: Better::Lower }
}

const SIMULATED: &str = "Simulated: the same source, each worker on a processor of its own. Each value is the median \
     over seeds.";

const CALLS: &str = "No cutoff: a call is an operation, and where it is not the last, an operation that adds up what \
     two more come to. The results are checked, and of the scheduler the number of operations.";

const WORK: &str = "Work: every call and every sum counts up to that number beside what it is for.";

const PROCESSOR_TIME: &str = "Processor time is that of all threads, their beginning and end included. What it \
     takes beyond that of one worker is wasted: on synchronization, or on looking for work.";

const SIMULATED_TIME: &str = "Processor time is all in which threads did not sleep: they computed, waited for memory, or \
     looked for work.";

const REQUESTS: &str = "28 clients ask 4 servers, each one request at a time, and what they ask next depends on the \
     reply. Every other request is about one key. A request and its reply are two messages. The sum of all \
     increments is checked.";

const SHARES: &str = "Only the scheduler counts what its workers do. With 4 servers and 28 clients a worker has its even \
     share if no server is hot; the hot one can have no more than one worker. A unit moves when it has its turn on \
     another worker than before. The record has the workers between the busiest and the idlest, too, by quarters, and \
     how many of all moves were those of one unit.";

const NOTHING: &str = "Nothing to do: workers of the scheduler slept, or looked for work.";

const WORKED: &str = "Work: every request and every reply counts up to that number beside what it is for. The hot \
     server has 62 % of the requests, so with work no number of workers is more than 3.2 times as fast as one.";

/// Figures 4 to 6 of the paper about owner queues.
pub(super) const FIB: Experiment = Experiment {
    name: fib::NAME,
    title: "Fibonacci numbers",
    about: "what a call costs a scheduler: two operations and one that waits for both",
    axis: Axis::Workers,
    split: &[fib::FIELD, "allocator"],
    measures: &[
        time_of("ns per call"),
        FASTER,
        fewer("Processor time", "ns per call", BUSY),
        MORE_TIME,
        LOST_TIME,
        STOLEN,
    ],
    papers: &[],
    against: None,
    benched: true,
    notes: &[
        CALLS,
        WORK,
        "rayon-join, chili and forte fork on the stack: they call the second part themselves, and whoever waits for \
         both adds up. rayon-scope allocates what it spawns and waits on the stack. tokio-spawn allocates its tasks, as \
         the scheduler allocates its operations, and waits without a stack.",
        "forte takes part if it is named with --pools: its threads, and a heartbeat every 0.1 ms, stay beside what is \
         measured after it.",
        "Sequential is no scheduler: it is the recursive function.",
        PROCESSOR_TIME,
        NOTHING,
    ],
    simulated_notes: &[SIMULATED, WHOLE, CALLS, WORK, SIMULATED_TIME, NOTHING, NOT_MODELLED],
};

/// Figures 7 to 10.
pub(super) const DDB: Experiment = Experiment {
    name: ddb::NAME,
    title: "Database",
    about: "requests and replies between 28 clients and 4 servers, of which one is hot",
    axis: Axis::Workers,
    split: &[fib::FIELD, "allocator"],
    measures: &[
        MESSAGES,
        FASTER,
        more("Utilisation", "% of the workers' time", UTILISATION),
        fewer("Busiest worker", "% of the messages", BUSIEST),
        more("Idlest worker", "% of the messages", IDLEST),
        LOST_TIME,
        fewer("Steals", "per 1000 messages", STEALS_PER_1000),
        fewer("Moves of the hot unit", "per 1000 of its messages", HOT_MOVES),
        fewer("Moves of other units", "per 1000 of their messages", MOVES),
        fewer("Units that moved", "% of the units", MOVED),
    ],
    papers: &[],
    against: None,
    benched: true,
    notes: &[
        REQUESTS,
        "Of the peers, servers are actors, or tasks with a channel, and clients are tasks that await each reply. Mutex has \
         no messages: it is how fast threads can do the same with locks.",
        "actix, kameo and ractor take part if the program is built with --features actors.",
        SHARES,
        PROCESSOR_TIME,
        NOTHING,
    ],
    simulated_notes: &[
        SIMULATED,
        DOUBLED,
        REQUESTS,
        WORKED,
        SHARES,
        SIMULATED_TIME,
        NOTHING,
        NOT_MODELLED,
    ],
};

/// A unit that is told, and a thread with a channel.
pub(super) const TELL: Experiment = Experiment {
    name: tell::NAME,
    title: "Fire and forget",
    about: "messages to one unit from threads that want no reply",
    axis: Axis::Shape,
    split: &["allocator"],
    measures: &[MESSAGES, fewer("Processor time", "ns per message", BUSY)],
    papers: &[],
    against: None,
    benched: true,
    notes: &[
        "Producers are threads that send as fast as they can, consumers are workers. The clock runs until everything has \
         been received. How many came, and their sum, is checked.",
        "Senders run ahead of the receiver. Mutex has no messages and no receiver: the senders count.",
    ],
    simulated_notes: &[
        "Simulated: the same source. Each value is the median over seeds. How many came, and their sum, is checked.",
        DOUBLED,
        NOT_MODELLED,
    ],
};
