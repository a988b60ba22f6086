//! Bounds: how many tasks must be inside at an instant, and how many may.
//!
//! For a task put over `[a, b]` and got over `[c, d]`: it *may* be inside at the instants of
//! `[a, d]`, and *must* be at those of `(b, c)`, wherever its operations take effect. Pending puts
//! count for what may be inside. For what must be, the pending gets are dealt out as in `bag_check`;
//! at any instant no other deal leaves fewer.
//!
//! * More than `capacity` that must be inside: a violation.
//! * "Full" without an instant in its interval at which `capacity - full_slack` tasks may be inside:
//!   a violation.
//! * A bound *does not bind* if never more than `capacity` tasks may be inside, and each "full" has
//!   an instant at which `capacity - full_slack` of them must be: then every order that is right
//!   without the bound and without the "full" answers is right with them. (Pending puts of tasks
//!   that nobody got are left out of that order, and of the count.)
//!
//! What counts operations under way says "full" whenever enough tasks *may* be inside: that is all there
//! is to its "full" answers.
//!
//! What lies between is left to the search: "full" wants tasks inside that "empty" and the capacity
//! want outside, and a task can be inside only once.

use crate::lives::{Finding, Life, Lives, Look};
use crate::spec::Bound;
use crate::verdict::Reason;
use std::ops::Range;

/// What could be said about the bound.
pub(crate) enum Bounds {
    /// It is violated.
    Violated(Finding),
    /// It makes no difference to the rest.
    DoNotBind,
    /// Neither is sure.
    MayBind,
}

/// An instant `(t, false)`, or all those between it and the next, `(t, true)`.
type Moment = (u64, bool);

/// Judges the bound. `dealt` are the lives of `all`, dealt out.
pub(crate) fn bounds(all: &Lives, dealt: &[Life], bound: Bound) -> Bounds {
    let must =
        Count::new(dealt.iter().filter(|life| life.put_end < life.get_start).map(must_be_inside));
    if let Some((count, moment)) = must.most()
        && count > bound.capacity
    {
        let inside = |life: &&Life| must_be_inside(life).contains(&moment);
        let items = dealt.iter().filter(inside).map(|life| life.item).collect();
        return Bounds::Violated(Finding {
            takes: true,
            ..Finding::new(Reason::OverCapacity, items)
        });
    }
    let full =
        |count: &Count, full: &Look| count.most_in(full.start, full.end) >= bound.full_from();
    let may = Count::new(all.lives.iter().map(may_be_inside));
    if let Some(wrong) = all.fulls.iter().find(|look| !full(&may, look)) {
        let near = |life: &&Life| life.put_start <= wrong.end && wrong.start <= life.get_end;
        let items = all.lives.iter().filter(near).map(|life| life.item).collect();
        return Bounds::Violated(Finding {
            looks: vec![wrong.operation],
            ..Finding::new(Reason::NotFull, items)
        });
    }
    let fits = Count::new(dealt.iter().map(may_be_inside))
        .most()
        .is_none_or(|(most, _)| most <= bound.capacity);
    if fits && all.fulls.iter().all(|look| bound.under_way || full(&must, look)) {
        Bounds::DoNotBind
    } else {
        Bounds::MayBind
    }
}

/// When a task may be inside.
fn may_be_inside(life: &Life) -> Range<Moment> {
    (life.put_start, false)..(life.get_end, true)
}

/// When it must be. Its put ends before its get starts.
fn must_be_inside(life: &Life) -> Range<Moment> {
    (life.put_end, true)..(life.get_start, false)
}

/// How many of many ranges lie over each moment.
struct Count {
    /// Where the count changes.
    moments: Vec<Moment>,
    /// A tree over these: node `n` holds the greater of `2n` and `2n + 1`, the last nodes are the
    /// counts.
    most: Vec<usize>,
}

impl Count {
    fn new(ranges: impl Iterator<Item = Range<Moment>>) -> Self {
        let mut changes: Vec<(Moment, bool)> =
            ranges.flat_map(|range| [(range.start, true), (range.end, false)]).collect();
        changes.sort_unstable();
        let mut moments: Vec<Moment> = Vec::new();
        let mut counts: Vec<usize> = Vec::new();
        let (mut begun, mut ended) = (0, 0);
        for (moment, begins) in changes {
            if begins {
                begun += 1
            } else {
                ended += 1
            }
            if moments.last() != Some(&moment) {
                moments.push(moment);
                counts.push(0);
            }
            // Ranges end before others begin, so no count in between is wrong.
            *counts.last_mut().expect("the one for this moment") = begun - ended;
        }
        let leaves = counts.len();
        let mut most = vec![0; leaves];
        most.append(&mut counts);
        for node in (1..leaves).rev() {
            most[node] = most[2 * node].max(most[2 * node + 1]);
        }
        Self { moments, most }
    }

    /// The greatest count, and a moment at which it is reached.
    fn most(&self) -> Option<(usize, Moment)> {
        let counts = &self.most[self.moments.len()..];
        counts.iter().copied().zip(self.moments.iter().copied()).max_by_key(|&(count, _)| count)
    }

    /// The greatest count in `[start, end]`.
    fn most_in(&self, start: u64, end: u64) -> usize {
        let up_to = |moment: Moment| self.moments.partition_point(|&other| other <= moment);
        let leaves = self.moments.len();
        let (mut left, mut right) =
            (leaves + up_to((start, false)).saturating_sub(1), leaves + up_to((end, false)));
        let mut most = 0;
        while left < right {
            if left % 2 == 1 {
                most = most.max(self.most[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                most = most.max(self.most[right]);
            }
            left /= 2;
            right /= 2;
        }
        most
    }
}
