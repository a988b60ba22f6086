//! All schedules of a tiny program.
//!
//! A depth-first search that runs the scenario again for each schedule. Without a bound it is for
//! programs of a dozen steps; with few preemptions (forced switches away from a thread that could
//! have gone on) it is for a few dozen, and most bugs need no more than two.

use crate::engine::{Failure, Outcome, Simulation};
use crate::schedule::chooser::{Candidates, Chooser};
use crate::trace::Choice;

/// Runs a scenario on one schedule after the other, until all were tried.
///
/// As an iterator it gives what came out of each run.
pub struct Exhaustive<F> {
    simulation: Simulation,
    scenario: F,
    /// `None` when the search is complete.
    tree: Option<Tree>,
    schedules: u64,
}

impl<F> Exhaustive<F> {
    /// All schedules of `scenario`, with the other settings of `simulation`. Weak
    /// compare-and-exchanges do not fail for no reason, and random faults are those of its seed.
    pub fn new(simulation: Simulation, scenario: F) -> Self {
        let simulation = simulation.weak_failures(false);
        Self { simulation, scenario, tree: Some(Tree::default()), schedules: 0 }
    }

    /// Only schedules with at most `most` preemptions. A store becoming visible is none; a thread
    /// that goes round a spin loop in vain and a deadline that comes early are.
    pub fn preemptions(mut self, most: usize) -> Self {
        if let Some(tree) = &mut self.tree {
            tree.preemptions = Some(most);
        }
        self
    }

    /// Schedules run so far.
    pub fn schedules(&self) -> u64 {
        self.schedules
    }

    /// Whether all were tried.
    pub fn is_complete(&self) -> bool {
        self.tree.is_none()
    }
}

impl<T, F: FnMut() -> T> Iterator for Exhaustive<F> {
    type Item = Result<Outcome<T>, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let tree = self.tree.take()?;
        let (result, chooser) =
            self.simulation.run_with(Chooser::Exhaustive(tree), &mut self.scenario);
        self.schedules += 1;
        if let Chooser::Exhaustive(tree) = chooser {
            self.tree = tree.next();
        }
        Some(result)
    }
}

/// The path from the root of the search to the schedule that is being run.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    preemptions: Option<usize>,
    path: Vec<Branch>,
    /// How far the run has come on the path.
    depth: usize,
    /// Preemptions so far in this run.
    preempted: usize,
}

/// A choice with what is left to try.
#[derive(Debug)]
struct Branch {
    choices: Vec<Choice>,
    at: usize,
}

impl Tree {
    pub(crate) fn pick(&mut self, candidates: &Candidates) -> Choice {
        if self.depth == self.path.len() {
            let left = self.preemptions.map(|most| most - self.preempted.min(most));
            let first = candidates.plain();
            let mut choices = vec![first];
            choices.extend(candidates.choices().filter(|&choice| {
                choice != first && (left != Some(0) || price(candidates, choice) == 0)
            }));
            self.path.push(Branch { choices, at: 0 });
        }
        let branch = &self.path[self.depth];
        let choice = branch.choices[branch.at];
        self.depth += 1;
        self.preempted += price(candidates, choice);
        choice
    }

    /// The tree with the next schedule as its path, if there is one.
    fn next(mut self) -> Option<Self> {
        while let Some(branch) = self.path.last_mut() {
            branch.at += 1;
            if branch.at < branch.choices.len() {
                self.depth = 0;
                self.preempted = 0;
                return Some(self);
            }
            self.path.pop();
        }
        None
    }
}

/// How many preemptions `choice` is.
fn price(candidates: &Candidates, choice: Choice) -> usize {
    let preempts = match choice {
        Choice::Commit(_) => false,
        Choice::Run(slot) => {
            let slot = usize::from(slot);
            let others = candidates.current.is_some_and(|current| current != slot);
            others || (candidates.idle.contains(slot) && !candidates.ready.is_empty())
        }
        Choice::Deadline => !candidates.ready.is_empty(),
    };
    usize::from(preempts)
}

impl<F> std::fmt::Debug for Exhaustive<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exhaustive")
            .field("schedules", &self.schedules)
            .field("complete", &self.is_complete())
            .finish_non_exhaustive()
    }
}
