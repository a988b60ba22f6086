//! What an experiment says of itself, so that tables, plots and `cantina list` know it.
//!
//! Plain data: a new experiment declares itself and gets its tables and its section of the page.
//!
//! Some row fields mean the same in every experiment: `version` (of a peer) stands behind the pool's
//! name, `skipped` (a reason, in a row without values) becomes a footnote, `discarded` and
//! `disturbed` (repetitions that were measured again, or kept on a busy machine) and `strays` (of those that were measured again, who
//! ran on cores nearer or farther apart than most) are added up, of `ping_pong_ns` (how long a word took from one core to another beside the runs) the range is told, with the `regime` that it
//! makes, and what was simulated and is not `converged` neither wins nor stands in a ratio. Nor does what is of another `regime` than
//! most of its column, or of which the `regime_moved`.
//! Who `steals_batches` stands with those that are called for one task at a time, and is named.

use cantina_lab::experiment::regime;

/// The row fields that mean the same in every experiment.
pub(super) const RESERVED: [&str; 16] = [
    "version",
    SKIPPED,
    "discarded",
    "disturbed",
    "strays",
    PING_PONG,
    PING_PONG_MIN,
    PING_PONG_MAX,
    "contended_add_ns",
    regime::FIELD,
    regime::HAS_MOVED,
    CONVERGED,
    "second_half_to_first",
    "to_half_as_many",
    "rank_error_to_half_as_many",
    STEALS_BATCHES,
];

/// The field with the reason why there are no values.
pub(super) const SKIPPED: &str = "skipped";
/// The field of a peer that is called for one task at a time and moves many.
pub(crate) const STEALS_BATCHES: &str = "steals_batches";
/// The field that says whether a simulated cell was long enough.
pub(super) const CONVERGED: &str = "converged";
/// The fields with the nanoseconds of a word from one core to another.
pub(super) const PING_PONG: &str = regime::PING_PONG;
pub(super) const PING_PONG_MIN: &str = "ping_pong_ns_min";
pub(super) const PING_PONG_MAX: &str = "ping_pong_ns_max";

/// An experiment, and how its rows are to be read.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// The `experiment` of its rows, and what the user types.
    pub(crate) name: &'static str,
    /// Its heading.
    pub(crate) title: &'static str,
    /// What it shows, in one line without a full stop.
    pub(crate) about: &'static str,
    /// What a table's columns are.
    pub(crate) axis: Axis,
    /// Fields that are parameters: where one varies, each of its values gets a table and a plot.
    /// `machine` is always one, and the shape is where it is not the axis.
    pub(crate) split: &'static [&'static str],
    /// What was measured: a table and a plot each.
    pub(crate) measures: &'static [Measure],
    /// What papers say of it.
    pub(crate) papers: &'static [Paper],
    /// Two of the measures of which one is bought with the other, by their fields: a picture with the first across and the
    /// second up.
    pub(crate) against: Option<(&'static str, &'static str)>,
    /// Whether `cantina bench` runs it; `cantina sim` runs all.
    pub(crate) benched: bool,
    /// How it was measured on the real machine and what it does not say, a sentence each.
    pub(crate) notes: &'static [&'static str],
    /// The same of a simulated machine.
    pub(crate) simulated_notes: &'static [&'static str],
}

/// What a paper says of an experiment: how many times better one pool is than others, in one shape.
/// Where the experiment has a parameter, each of them with the value that suits it best.
#[derive(Debug)]
pub(crate) struct Paper {
    /// Which paper, and on what machine.
    pub(crate) source: &'static str,
    /// Producers and consumers.
    pub(crate) shape: (u64, u64),
    /// The paper's own pool.
    pub(crate) pool: &'static str,
    /// The others, and how many times better than each it is there.
    pub(crate) times: &'static [(&'static str, &'static str)],
    /// Why other numbers may come out here: a sentence.
    pub(crate) why: &'static str,
}

/// What varies from column to column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// The numbers of producers and consumers.
    Shape,
    /// The number of workers: as many producers as consumers.
    Workers,
    /// A field of the row.
    Field {
        /// The field's name in the row.
        name: &'static str,
        /// What it is called in a heading.
        label: &'static str,
    },
}

/// One measured value of an experiment.
#[derive(Debug)]
pub(crate) struct Measure {
    /// Its heading.
    pub(crate) title: &'static str,
    /// Its unit.
    pub(crate) unit: &'static str,
    /// The field that holds it.
    pub(crate) value: &'static str,
    /// The fields that hold the smallest and the largest reading.
    pub(crate) spread: Option<(&'static str, &'static str)>,
    /// Which way is good.
    pub(crate) better: Better,
}

/// Which of two values is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Better {
    /// The larger.
    Higher,
    /// The smaller.
    Lower,
}

impl Better {
    /// How much better `value` is than `other`: 2 is twice as good, whichever way is good.
    pub(crate) fn ratio(self, value: f64, other: f64) -> f64 {
        match self {
            Self::Higher => value / other,
            Self::Lower => other / value,
        }
    }

    /// Whether `value` is better than `other`.
    pub(crate) fn prefers(self, value: f64, other: f64) -> bool {
        match self {
            Self::Higher => value > other,
            Self::Lower => value < other,
        }
    }

    /// For a heading.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Higher => "higher is better",
            Self::Lower => "lower is better",
        }
    }
}

impl Axis {
    /// What the columns are called together.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Shape => "producers and consumers",
            Self::Workers => "workers",
            Self::Field { label, .. } => label,
        }
    }
}
