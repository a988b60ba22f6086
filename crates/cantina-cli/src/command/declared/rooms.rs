//! What the experiments about rooms say of themselves.

use super::{NOT_MODELLED, SIMULATED, WHOLE};
use crate::view::{Axis, Better, Experiment, Measure};
use cantina_lab::experiment::rooms_stack;

const JOB: &str = "Workers take up to 500 nodes at once from one stack (those named -by-64: up to 64), turn each into two of the next lower \
     count, or into nothing where that was 0, work on them, and put back at once what came of them. All begin with 16,000 nodes of \
     count 11, which are 65,520,000 nodes in all; where there are fewer, the counts are lower.";

const TIME: &str = "Work percent: how long a worker works on nodes, on average, in hundredths of the time that it takes one worker to \
     get them from a locked stack that nobody else uses. The time is drawn from 0 to twice that.";

const PROPORTION: &str = "40, 100 and 600 percent are the paper's. Its lock degrades from some 20 workers on with the most work; here 500 nodes are copied in the \
     time of about two read-modify-writes of a contended word, and the lock is held all the time by 20 workers with 12,000 percent.";

const TOTAL: &str = "Total work is the time times the workers, here for each node: where it is the same for all numbers of workers, each \
     brings as much as the first. Overhead is what is left of it without the time that nodes are worked on. Unshared is a vector that one worker has for itself.";

const CHECKED: &str = "Every run is checked: the number of nodes taken, the sum of their numbers and their exclusive or.";

/// Section 4 of the rooms paper, figure 5.
pub(super) const STACK: Experiment = Experiment {
    name: rooms_stack::NAME,
    title: "A shared stack",
    about: "what it costs workers to share work on one stack, in rooms, under locks and without",
    axis: Axis::Workers,
    split: &[rooms_stack::FIELD, "payload_bytes", "allocator"],
    measures: &[
        Measure {
            title: "Total work",
            unit: "processor-ns per node",
            value: rooms_stack::WORK_OF_A_NODE[0],
            spread: Some((rooms_stack::WORK_OF_A_NODE[1], rooms_stack::WORK_OF_A_NODE[2])),
            better: Better::Lower,
        },
        Measure {
            title: "Overhead",
            unit: "processor-ns per node",
            value: rooms_stack::OVERHEAD[0],
            spread: Some((rooms_stack::OVERHEAD[1], rooms_stack::OVERHEAD[2])),
            better: Better::Lower,
        },
        Measure {
            title: "Throughput",
            unit: "M nodes/s",
            value: "mops_median",
            spread: Some(("mops_min", "mops_max")),
            better: Better::Higher,
        },
    ],
    papers: &[],
    against: None,
    benched: true,
    notes: &[
        JOB,
        TIME,
        TOTAL,
        "Of crossbeam's queue and of Treiber's stack nodes are taken, and put back, one by one.",
        "Where there are more workers than cores, the total work counts those who wait for a core too.",
        CHECKED,
    ],
    simulated_notes: &[SIMULATED, WHOLE, JOB, TIME, PROPORTION, TOTAL, CHECKED, NOT_MODELLED],
};
