//! Queues, exactly and in `O(n log n)`.
//!
//! Let task `x` be put over `[a, b]` and got over `[c, d]`, `a <= d`; a task that nobody got has
//! `c = d =` never. **A history of single puts and gets on a queue without a bound is linearizable
//! iff it is for a bag, and no task overtakes**: there are no `x` and `y` with `b(x) < a(y)`, put
//! one after the other, and `d(y) < c(x)`, got the other way round. (The patterns are those of
//! Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", CONCUR 2013.)
//!
//! # Why that is enough
//! Each "empty" has an instant `t` outside all spans `(b, c)`. Count it as one more task with
//! `a = b = c = d = t`: it overtakes nobody and nobody overtakes it. Cut each put off at the end of
//! its get and each get at the start of its put (`b' = min(b, d)`, `c' = max(c, a)`), which loses no
//! order and, as `a <= d`, leaves overtaking as it was.
//!
//! 1. *There is an order of all tasks in which `x` is before `y` whenever `b'(x) < a(y)` or
//!    `d(x) < c'(y)`.* Otherwise there is a cycle, which we take as short as can be. Both relations
//!    are transitive, so they alternate in it, and it has at least four tasks as nobody overtakes:
//!    `b'(x) < a(y)`, `d(y) < c'(z)`, `b'(z) < a(w)`. If `b'(x) < a(w)` the cycle was not the
//!    shortest. If not, `b'(z) < a(w) <= b'(x) < a(y)`, and with `d(y) < c'(z)` `y` overtook `z`.
//! 2. *In that order every task has a put that is no earlier than those before it, a get likewise,
//!    in its intervals*: let `p` be the latest `a` of the tasks up to it, and `q` the latest `c'`.
//!    `p <= b'` and `q <= d`, because whoever starts later than that is after it; `p <= q`.
//! 3. Sort everything by time, then by the order of the tasks, then put before get. That is a queue,
//!    and at an "empty", whose `p` and `q` are its `t`, the tasks before it are out and those after
//!    it not in.
//!
//! # Pending operations
//! As for bags, pending puts of tasks that nobody got are left out, and the tasks that nobody got
//! are dealt out to the pending gets in order, by `b` and by `s`. *If any deal works, this one
//! does.* For "empty" that is shown in `bag_check`. As to overtaking, a task that nobody got must be
//! dealt to a get with `s <= D(b)`, the earliest `d(y)` with `b < a(y)`, and must be dealt out at
//! all unless there is no such `y`. `D` does not fall when `b` grows. So if it is finite for the
//! `i`th task, all `i` tasks up to it were dealt to gets with `s <= D`, hence the `i`th get in order
//! has that too. And whoever is left over is put no earlier than those that are dealt out, so these
//! do not overtake it.

use crate::lives::{Finding, Life};
use crate::verdict::Reason;

/// A task that overtook another. `lives` are dealt out.
pub(crate) fn overtaken(lives: &[Life]) -> Option<Finding> {
    let mut by_put_start: Vec<&Life> = lives.iter().collect();
    by_put_start.sort_unstable_by_key(|life| life.put_start);
    let mut by_put_end: Vec<&Life> = lives.iter().collect();
    by_put_end.sort_unstable_by_key(|life| life.put_end);
    let mut before = by_put_end.into_iter().peekable();
    // Of those put before: the one that is got last.
    let mut last: Option<&Life> = None;
    for second in by_put_start {
        while let Some(life) = before.next_if(|life| life.put_end < second.put_start) {
            if last.is_none_or(|other| other.get_start < life.get_start) {
                last = Some(life);
            }
        }
        if let Some(first) = last
            && second.get_end < first.get_start
        {
            let (first, second) = (first.item, second.item);
            return Some(Finding {
                takes: true,
                ..Finding::new(Reason::Overtaken { first, second }, vec![first, second])
            });
        }
    }
    None
}
