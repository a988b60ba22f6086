//! The conformance suite: what every pool has to keep, checked on whichever machine this is.
//!
//! A pool is [registered](crate::registry) once and gets all of it; [`trials_of`] is for pools that are not.
//! Each check is a plain function, named after what it checks, over pools whose type is forgotten: it is
//! compiled once. [`trials`] pairs every registered pool with every check that is about it, as plain data. A test program runs them its own way: on real threads with
//! much [`Effort`] each, on the simulated machine with little, over many seeds.
//!
//! ```
//! use cantina_lab::conformance::{Effort, trials};
//!
//! let effort = Effort { tasks: 100, rounds: 1, ..Effort::real() };
//! let trials = trials();
//! let trial = trials.iter().find(|trial| trial.name() == "locked::jugglers_never_find_it_empty");
//! assert_eq!(trial.map(|trial| trial.run(&effort, 1)), Some(Ok(())));
//! ```
//!
//! | file | what it checks |
//! |---|---|
//! | `once` | every task is got exactly once, whoever puts and gets, whatever a task is |
//! | `leaving`, `churn` | handles that go, dropped, leaked or with their thread, lose nothing |
//! | `dropping` | what is left is dropped once, also when a task's `Drop` panics |
//! | `batches` | `put_all` and `get_many` |
//! | `bounded` | what does not fit comes back, and never too much is inside |
//! | `model`, `order` | one thread sees the obvious pool; several see the order that is promised |
//! | `emptiness` | `None` is never said of a pool that holds something |
//! | `handles` | handles that stand still, move, and are very many |
//! | `histories` | recorded histories of random programs, judged |
//!
//! What a bounded pool does when it is full is seen best in a small one: register it with little room
//! too. `tests/twin` has a pool that can be wrong in many ways, and says which check finds which.
//!
//! A check never hangs: whoever waits looks at the clock, and what does not come back within the
//! [patience](Effort::patience) of a run is left behind and reported.

mod account;
mod batches;
mod both;
mod bounded;
mod case;
mod checks;
mod churn;
mod crew;
mod dropping;
mod emptiness;
mod finding;
mod handles;
mod histories;
mod leaving;
mod maker;
mod model;
mod must;
mod once;
mod order;
mod pool;
mod task;
mod traffic;

pub use case::Effort;
pub use finding::{Failure, Finding, Recorded};

use crate::registry::{self, Batches, Facts, Family, Visitor};
use cantina_record::Kind;
use case::Case;
use checks::{Check, checks};
use crew::Watch;
use maker::Maker;
use std::fmt;

/// One check of one pool.
pub struct Trial {
    /// The pool.
    pub pool: String,
    /// The check.
    pub check: &'static str,
    facts: Facts,
    batches: Batches,
    maker: Maker,
    run: fn(&Case) -> Result<(), Finding>,
}

/// Every check of every registered pool, and of those in unusual shapes.
pub fn trials() -> Vec<Trial> {
    struct Collect(Vec<Trial>);
    impl Visitor for Collect {
        fn visit<F: Family>(&mut self, family: F) {
            self.0.extend(trials_of(&family));
        }
    }
    let mut collect = Collect(Vec::new());
    registry::visit_all(&mut collect);
    registry::visit_variants(&mut collect);
    collect.0
}

/// Every check of one pool.
pub fn trials_of<F: Family>(family: &F) -> Vec<Trial> {
    pair(&family.facts(), family.batches(), &Maker::of(family.clone()))
}

/// The checks that are about such a pool, each with a way to make it.
fn pair(facts: &Facts, batches: Batches, maker: &Maker) -> Vec<Trial> {
    let checks = checks().into_iter().filter(|check| (check.about)(facts));
    let trial = |Check { name, run, .. }| {
        let (facts, maker) = (facts.clone(), maker.clone());
        Trial { pool: facts.name.clone(), check: name, facts, batches, maker, run }
    };
    checks.map(trial).collect()
}

impl Trial {
    /// `pool::check`.
    pub fn name(&self) -> String {
        format!("{}::{}", self.pool, self.check)
    }

    /// Whose pool it is.
    pub fn kind(&self) -> Kind {
        self.facts.kind
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the pool does not keep what the check asks for, or does not come back.
    pub fn run(&self, effort: &Effort, seed: u64) -> Result<(), Failure> {
        self.watched(effort.clone(), seed).map_err(|finding| Failure {
            pool: self.pool.clone(),
            check: self.check,
            seed,
            finding,
        })
    }

    /// Runs the check, and waits for it a little longer than it may take itself.
    fn watched(&self, effort: Effort, seed: u64) -> Result<(), Finding> {
        let watch = Watch::new(effort.patience).later().later();
        let (promised, maker, check) =
            ((self.facts.clone(), self.batches), self.maker.clone(), self.run);
        crew::watched(&watch, move |_| {
            let case = Case::new(maker, promised, effort, seed);
            finding::ensure(case.room > 0, "room for at least one task", "none that is sure")?;
            check(&case)
        })
    }
}

impl fmt::Debug for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Trial").field(&self.name()).finish()
    }
}
