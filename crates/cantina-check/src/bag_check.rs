//! Bags, exactly and in `O(n log n)`: every task is told apart from the others, so what is inside
//! at an instant is a question to each task by itself.
//!
//! # Complete histories
//! A task put over `[a, b]` and got over `[c, d]`, with `a <= d`, is *unavoidably inside* at the
//! instants of the open interval `(b, c)`, if `b < c`; a task that nobody got has `c = d =` never.
//! **The history is linearizable iff each "empty" has an instant in its interval that lies in no
//! such span.** Necessary: at an instant of the span the task is inside, wherever its put and its
//! get take effect. Sufficient: give each "empty" such an instant; a task with `b < c` goes in at
//! `b` and comes out at `c`, one with `c <= b` goes in and right out again at an instant that both
//! intervals share (there is one, because `a <= d`). Where several things happen at one instant,
//! first come the gets of spans that end, then the "empty" answers, then the puts of spans that
//! begin, then the tasks that go in and right out.
//!
//! # Pending operations
//! A pending put of a task that was got did happen: `b` is never, and there is no span. A pending
//! put of a task that nobody got is left out: it could only be in the way.
//!
//! A pending get that started at `s` may take one task that nobody got, from `s` on; then the task's
//! span is `(b, s)` instead of `(b, never)`. Which task it takes is up to us. *An instant `t` can
//! be made free of those tasks only if there are at most as many with `b < t` as there are pending
//! gets with `s <= t`*, since each needs its own. **Deal them out in order**, the first tasks by
//! `b` to the first gets by `s`: at such a `t` the tasks with `b < t` are the first so many, and go
//! to gets with `s <= t`. So this one deal frees every instant that any deal frees, all at the same
//! time, and the question is again one about complete histories.
//!
//! # Other orders
//! For queues and stacks, and with bounds and atomic batches, the condition stays necessary.

use crate::history::NEVER;
use crate::lives::{Finding, Life, Lives, Look};
use crate::verdict::Reason;

/// An open interval in which a task is unavoidably inside.
#[derive(Clone, Copy, Debug)]
struct Span {
    after: u64,
    before: u64,
    life: usize,
}

/// An "empty" that was given although something was inside all the time. `lives` are those of
/// `all`, dealt out.
pub(crate) fn not_empty(all: &Lives, lives: &[Life]) -> Option<Finding> {
    if all.empties.is_empty() {
        return None;
    }
    let spans = spans(lives);
    let occupied = union(&spans);
    let wrong = all.empties.iter().find(|empty| {
        let next = occupied.partition_point(|&(_, before)| before <= empty.start);
        occupied.get(next).is_some_and(|&(after, before)| after < empty.start && empty.end < before)
    })?;
    // Tasks that were got for certain show it better than those that pending gets may have taken.
    let certain: Vec<Span> =
        spans.iter().filter(|span| lives[span.life].get_end != NEVER).copied().collect();
    let chain = cover(&certain, wrong).or_else(|| cover(&spans, wrong))?;
    Some(Finding {
        reason: Reason::NotEmpty,
        items: chain.iter().map(|&life| lives[life].item).collect(),
        looks: vec![wrong.operation],
        // Which tasks the pending gets took matters if one of them is in the chain.
        takes: chain.iter().any(|&life| lives[life].get_end == NEVER),
    })
}

/// The spans, by their beginnings.
fn spans(lives: &[Life]) -> Vec<Span> {
    let mut spans: Vec<Span> = lives
        .iter()
        .enumerate()
        .filter(|(_, life)| life.put_end < life.get_start)
        .map(|(index, life)| Span { after: life.put_end, before: life.get_start, life: index })
        .collect();
    spans.sort_unstable_by_key(|span| span.after);
    spans
}

/// Their union, as open intervals that do not overlap, in order. Where one ends and the next begins
/// at the same instant, that instant is free.
fn union(spans: &[Span]) -> Vec<(u64, u64)> {
    let mut union: Vec<(u64, u64)> = Vec::new();
    for span in spans {
        match union.last_mut() {
            Some((_, before)) if span.after < *before => *before = (*before).max(span.before),
            _ => union.push((span.after, span.before)),
        }
    }
    union
}

/// The fewest spans that leave no instant of `empty` free, from each instant on the one that reaches
/// farthest. `None`: some instant is free.
fn cover(spans: &[Span], empty: &Look) -> Option<Vec<usize>> {
    let mut chain = Vec::new();
    let mut spans = spans.iter().peekable();
    let mut instant = empty.start;
    let mut farthest: Option<&Span> = None;
    while instant <= empty.end {
        while let Some(span) = spans.next_if(|span| span.after < instant) {
            if farthest.is_none_or(|other| other.before < span.before) {
                farthest = Some(span);
            }
        }
        let span = farthest.filter(|span| instant < span.before)?;
        chain.push(span.life);
        instant = span.before;
    }
    Some(chain)
}
