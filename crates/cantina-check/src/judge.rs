//! The judge: what is fast first, the search last.
//!
//! | | exact without the search |
//! |---|---|
//! | bag, queue | always |
//! | stack | if no pending get may have taken anything, or none needs to have |
//! | any of them, bounded | if the bound does not bind |
//! | with atomic batches | never |
//!
//! Whatever the fast checks find wrong is wrong in all the other cases too: a history that is
//! linearizable stays so when bounds, "full" answers and the atomicity of batches are forgotten.

use crate::bag_check::not_empty;
use crate::bound_check::{Bounds, bounds};
use crate::history::History;
use crate::lives::{Finding, Life, Lives};
use crate::queue_check::overtaken;
use crate::search::{Found, search};
use crate::spec::{Order, Spec};
use crate::stack_check::tangled;
use crate::verdict::Reason;

/// What the judge says, before a violation is made small.
pub(crate) enum Ruling {
    Linearizable,
    Violation(Finding),
    Unknown { steps: u64 },
}

/// Judges `history` within `budget` steps of search, and takes those it needs from it.
pub(crate) fn judge(history: &History, spec: &Spec, budget: &mut u64) -> Ruling {
    let (all, sure) = match fast(history, spec) {
        Ok(judged) => judged,
        Err(finding) => return Ruling::Violation(finding),
    };
    if sure {
        return Ruling::Linearizable;
    }
    let (found, steps) = search(history, spec, *budget);
    *budget = budget.saturating_sub(steps);
    match found {
        Found::Order => Ruling::Linearizable,
        Found::NoOrder => Ruling::Violation(everything(&all)),
        Found::Nothing => Ruling::Unknown { steps },
    }
}

/// Everything that can be said without the search: a violation, or whether it is sure that there is
/// none.
fn fast(history: &History, spec: &Spec) -> Result<(Lives, bool), Finding> {
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
        Order::Stack => sure &= stack(&all)?,
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

/// Whether it is sure that the tasks are in order, if they are not certainly out of it.
fn stack(all: &Lives) -> Result<bool, Finding> {
    let mut lives: Vec<Life> =
        all.lives.iter().filter(|life| !life.is_doubtful()).copied().collect();
    let finding = tangled(&lives);
    let Some(first_take) = all.takes.first() else { return finding.map_or(Ok(true), Err) };
    // If the pending gets took nothing?
    if finding.is_none() && not_empty(all, &lives).is_none() {
        return Ok(true);
    }
    // If the first of them could have taken everything?
    lives
        .iter_mut()
        .filter(|life| life.is_untaken())
        .for_each(|life| life.get_start = first_take.start);
    tangled(&lives).map_or(Ok(false), |finding| Err(Finding { takes: true, ..finding }))
}

/// All of the history: no order of it was found.
fn everything(all: &Lives) -> Finding {
    Finding {
        reason: Reason::NoOrder,
        items: all.lives.iter().map(|life| life.item).collect(),
        looks: all.empties.iter().chain(&all.fulls).map(|look| look.operation).collect(),
        takes: true,
    }
}
