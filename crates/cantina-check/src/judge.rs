//! The judge: what is fast first, the search last.
//!
//! | history | sure without the search |
//! |---|---|
//! | of a bag or a queue | always |
//! | of a stack | always, but pending gets can take long |
//! | of any of them with a bound | if the bound does not bind |
//! | with atomic batches | no |
//!
//! Whatever the fast checks find wrong is wrong in all these cases: a history that is linearizable
//! stays so when bounds, "full" answers and the atomicity of batches are forgotten. For queues a
//! guess goes before the search, which may find that all is well, but not that it is not.

use crate::bag_check::not_empty;
use crate::bound_check::{Bounds, bounds};
use crate::guess::guess;
use crate::history::History;
use crate::lives::{Finding, Lives};
use crate::program::Program;
use crate::queue_check::overtaken;
use crate::search::{Found, search_program};
use crate::spec::{Order, Spec};
use crate::stack_check::stack;
use crate::verdict::Reason;

/// What the judge says, before a violation is made small.
pub(crate) enum Ruling {
    Linearizable,
    Violation(Finding),
    Unknown { steps: u64 },
}

/// Judges `history` within `budget` steps of search, and takes those it needs from it.
pub(crate) fn judge(history: &History, spec: &Spec, budget: &mut u64) -> Ruling {
    let given = *budget;
    let (all, sure) = match fast(history, spec, budget) {
        Ok(judged) => judged,
        Err(finding) => return Ruling::Violation(finding),
    };
    if sure {
        return Ruling::Linearizable;
    }
    let program = Program::new(history);
    if spec.order() == Order::Queue {
        let steps = guess(&program, spec.bound(), *budget / 2);
        *budget -= steps.unwrap_or_else(|steps| steps);
        if steps.is_ok() {
            return Ruling::Linearizable;
        }
    }
    let (found, steps) = search_program(&program, spec, *budget);
    *budget = budget.saturating_sub(steps);
    match found {
        Found::Order => Ruling::Linearizable,
        Found::NoOrder => Ruling::Violation(all.everything()),
        Found::Nothing => Ruling::Unknown { steps: given - *budget },
    }
}

/// Everything that can be said without the search: a violation, or whether it is sure that there is
/// none.
fn fast(history: &History, spec: &Spec, budget: &mut u64) -> Result<(Lives, bool), Finding> {
    let all = Lives::of(history)?;
    let dealt = all.dealt_out();
    let mut sure = !all.at_once;
    if spec.bound().is_none()
        && let Some(full) = all.fulls.first()
    {
        let looks = vec![full.operation];
        return Err(Finding { looks, ..Finding::new(Reason::FullWithoutBound, Vec::new()) });
    }
    if let Some(finding) = not_empty(&all, &dealt) {
        return Err(finding);
    }
    match spec.order() {
        Order::Bag => {}
        Order::Queue => overtaken(&dealt).map_or(Ok(()), Err)?,
        Order::Stack => sure &= stack(&all, budget)?,
    }
    if let Some(bound) = spec.bound() {
        match bounds(&all, &dealt, bound) {
            Bounds::Violated(finding) => return Err(finding),
            Bounds::DoNotBind => {}
            Bounds::MayBind => sure = false,
        }
    }
    Ok((all, sure))
}
