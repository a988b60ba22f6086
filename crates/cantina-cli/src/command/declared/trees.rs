//! What the experiments about trees say of themselves.

use super::{CHECKED, COMMON_START, DOUBLED, NOT_MODELLED, SIMULATED, THROUGHPUT, fewer};
use crate::view::{Axis, Better, Experiment, Measure, Paper};
use cantina_lab::experiment::steps::walks;
use cantina_lab::experiment::{CAS_FAILURES, density, fairness, steps, tree_height, write_all};

/// How often a task met somebody who was faster.
const FAILED_CAS: Measure = fewer("Read-modify-writes in vain", "per put or get", CAS_FAILURES);

/// Section 5.2 of the CAFÉ paper, figure 2. Of both forms: the paper's, and the default.
const CAFE_PAPER: Paper = Paper {
    source: "the CAFÉ paper (figure 2, trees of height 13, 32 cores of eight 2.3 GHz Opterons)",
    shape: (16, 16),
    pool: "cafe-wait-free",
    times: &[(tree_height::BESIDE, "30")],
    why: "Here it is the best height that counts. They may differ because those are other \
          implementations, in Java.",
};
const CAFE_PAPER_WIDE: Paper = Paper { pool: "cafe", ..CAFE_PAPER };

const IN_VAIN: &str = "Read-modify-writes in vain are those of which somebody else was faster, of both ends. Where \
     trees are wide, most cannot fail.";

const QUEUE_HAS_NONE: &str = "The queue has no height: its column is the one called none.";

const CONSUMERS_LAG: &str = "Consumers begin when half of the tasks have been put, and lag behind, as the paper's do: in low trees \
     they are in other ones than producers, in very high ones in the same. The time before counts.";

const OTHERS_HAVE_NONE: &str = "Who has no trees has no height: the column called none.";

const OVERTAKES: &str = "A task overtakes another if it was put later (the put began when the other's had returned) and \
     was got earlier (the get had returned when the other's began). What overlaps overtakes nobody. Rank \
     error: how many others a task overtook.";

const ORDER_TOO: &str = "The rank error of half as many tasks has to be the same as well, within a tenth of it or of a task. Where a \
     pool promises nothing it grows with the run, and so do the most overtakers of a task: they are those of so many tasks.";

const TIMED: &str = "Every put and get is timed, and consumers work on what they get, on one task in twenty for long: \
     so throughput is lower than in the other experiments.";

const LEMMA_1: &str = "Lemma 1 of the CAFÉ paper: when a put to a tree of height h fails that tries k places of the last \
     level (leaf trials), the tree has at least 2^((k+2)/(k+3) h) tasks, with high probability. The spread is \
     that of all runs, each with other random numbers. With several producers each may put one more.";

/// Figure 5 of the CAFÉ paper.
pub(super) const HEIGHT: Experiment = Experiment {
    name: tree_height::NAME,
    title: "Tree height",
    about: "what the height of trees does to the pools that have them, beside a queue",
    axis: Axis::Field { name: tree_height::FIELD, label: "height of the trees" },
    split: &["payload_bytes", "allocator"],
    measures: &[THROUGHPUT, FAILED_CAS],
    papers: &[CAFE_PAPER, CAFE_PAPER_WIDE],
    against: None,
    benched: true,
    notes: &[COMMON_START, CONSUMERS_LAG, CHECKED, IN_VAIN, QUEUE_HAS_NONE],
    simulated_notes: &[
        SIMULATED,
        DOUBLED,
        CONSUMERS_LAG,
        IN_VAIN,
        QUEUE_HAS_NONE,
        "Where all producers together have fewer tasks than a tree has places, there is one tree.",
        CHECKED,
        NOT_MODELLED,
    ],
};

/// Figure 6.
pub(super) const FAIRNESS: Experiment = Experiment {
    name: fairness::NAME,
    title: "Fairness",
    about: "how many tasks overtake another, what trees promise of that, and how fast it is",
    axis: Axis::Field { name: fairness::FIELD, label: "height of the trees" },
    split: &["payload_bytes", "allocator"],
    measures: &[
        fewer("Overtakers of a task", "at most", fairness::MOST),
        fewer("Overtakers that are promised", "at most", fairness::PROMISED),
        fewer("Rank error", "tasks overtaken on average", fairness::MEAN),
        fewer("Rank error, p99", "tasks overtaken", fairness::P99),
        THROUGHPUT,
    ],
    papers: &[],
    against: Some((fairness::MEAN, THROUGHPUT.value)),
    benched: true,
    notes: &[OVERTAKES, TIMED, OTHERS_HAVE_NONE, CHECKED],
    simulated_notes: &[
        SIMULATED,
        DOUBLED,
        ORDER_TOO,
        OVERTAKES,
        TIMED,
        OTHERS_HAVE_NONE,
        CHECKED,
        NOT_MODELLED,
    ],
};

/// Lemma 1.
pub(super) const DENSITY: Experiment = Experiment {
    name: density::NAME,
    title: "Density",
    about: "how full a binary tree is when a put finds no room, beside what a lemma promises",
    axis: Axis::Field { name: density::HEIGHT, label: "height of the tree" },
    split: &[density::LEAF_TRIALS],
    measures: &[
        Measure {
            title: "Tasks at the first put in vain",
            unit: "mean",
            value: "tasks_mean",
            spread: Some(("tasks_min", "tasks_max")),
            better: Better::Higher,
        },
        Measure {
            title: "The same to the lemma's bound",
            unit: "times 2^((k+2)/(k+3) h)",
            value: "times_bound_mean",
            spread: Some(("times_bound_min", "times_bound_max")),
            better: Better::Higher,
        },
    ],
    papers: &[],
    against: None,
    benched: true,
    notes: &[LEMMA_1],
    simulated_notes: &[LEMMA_1],
};

/// Lemma 2 of CAFÉ's, and what the to-do tree's paper says.
pub(super) const STEPS: Experiment = Experiment {
    name: steps::NAME,
    title: "Steps",
    about: "how many accesses a put to binary trees takes, and an operation on to-do trees, beside what papers promise",
    axis: Axis::Field { name: steps::HEIGHT, label: "height of the trees" },
    split: &[walks::LOAD, walks::SCHEDULE],
    measures: &[
        fewer("Steps of an operation", "mean", "steps_mean"),
        fewer("Steps of an operation", "at most", "steps_max"),
        fewer("Most steps to the lemma's measure", "times log2² N", "max_to_log2_squared"),
        fewer("Steps to the lemma's measure", "mean, times log2² N", "mean_to_log2_squared"),
        fewer("Steps to the to-do tree's measure", "mean, times log2³ m", "mean_to_log2_cubed"),
        fewer("Most steps to the to-do tree's measure", "times log2³ m", "max_to_log2_cubed"),
        fewer("Work to empty a full tree", "times (m + p log p) log³ m", "work_to_bound"),
        fewer("The same, as the paper has it", "times m + p log p log³ m", "work_to_paper"),
        fewer("Others got before a task, half of them", "times the places", "wait_p50"),
        fewer("Others got before a task, p99", "times the places", "wait_p99"),
        fewer("Others got before a task", "at most, times the places", "wait_max"),
    ],
    papers: &[],
    against: None,
    benched: false,
    notes: &[],
    simulated_notes: &[
        "Lemma 2 of the CAFÉ paper: after N puts to a tree each has taken O(log² N) steps, with high \
         probability. A step is an access to memory that threads share, a fence, or something said to \
         another thread.",
        "Four producers fill one tree, or put as many tasks as a tree has places to a pool of such \
         trees that two consumers empty meanwhile. N is how many were put; a put that fails counts too.",
        "The to-do tree's paper: an operation on a tree of m places takes O(log³ m) steps, amortized. Height is \
         log2 m. p workers (of pP/pC) empty a full tree (one-shot), put and get in a half full one (mixed), \
         want the same task (one-task), or get and put in a full one (full).",
        "Whose turn it is: chance; all in turn; an adversary that holds back whoever is about to do a \
         read-modify-write; one that does so until half of the workers are about to do one to the same word.",
        "As the paper has it, p workers empty a full tree in O(m + p log p log³ m) steps. That cannot be where each of m \
         gets walks down log m levels.",
    ],
};

/// The to-do tree's one-shot form.
pub(super) const WRITE_ALL: Experiment = Experiment {
    name: write_all::NAME,
    title: "Write-all",
    about: "what it takes to do all of some tasks when workers die",
    axis: Axis::Field { name: write_all::DYING, label: "workers that die" },
    split: &[],
    measures: &[
        Measure {
            title: "Total work",
            unit: "steps of all workers per task",
            value: "work_per_task",
            spread: Some(("work_per_task_min", "work_per_task_max")),
            better: Better::Lower,
        },
        Measure {
            title: "Wasted attempts",
            unit: "per task",
            value: "wasted_per_task",
            spread: Some(("wasted_per_task_min", "wasted_per_task_max")),
            better: Better::Lower,
        },
    ],
    papers: &[],
    against: None,
    benched: false,
    notes: &[],
    simulated_notes: &[
        "A task is a word to be changed. Workers die at random steps, all but the first at most; a run in which a task \
         is left undone fails. Whose turn it is, is left to chance.",
        "An attempt is wasted when its task had been done or was done once more. do-all takes claims over after 50 µs, a \
         step being 10 ns; counter-retry looks through all tasks when its counter is at the end; random-probing does \
         when it often found nothing to do.",
    ],
};
