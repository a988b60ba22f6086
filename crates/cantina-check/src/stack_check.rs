//! Stacks, exactly, for histories of single puts and gets without a bound; in about `O(n log n)`
//! unless pending gets took something.
//!
//! Let task `x` be put over `[a, b]` and got over `[c, d]`, `a <= d`; a task that nobody got has
//! `c = d =` never: getting it after all else changes nothing. Tasks can be taken away one after
//! the other, and the history is linearizable iff what is left is ("decrease and conquer", as in Lee
//! and Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring", OOPSLA 2025):
//!
//! 1. A task with `c <= b` goes in and right out again, at an instant that its put and its get
//!    share. It is in nobody's way. What is left has `b < c`, and is unavoidably inside in the span
//!    `(b, c)`.
//! 2. *A gap*: an instant `t` in no span. Each task has `c <= t` or `b >= t`, and never both. The
//!    history is linearizable iff the two parts are: one after the other they are an order of the
//!    whole, because each operation of the first starts at `t` or before, and each of the second
//!    ends at `t` or after. At `t` the stack is empty, so any "empty" can be answered there that has
//!    a gap in its interval; it needs one, see `bag_check`.
//! 3. *A bottom*: a task whose put starts before any operation ends, `a <= min b`, and whose get
//!    ends after every operation has started, `d >= max c`. It can go in first and out last.
//!
//! If neither 2 nor 3 applies to a part that is not empty, it is not linearizable: in an order of
//! it the stack is either empty between two tasks, which makes a gap with a part on each side, or
//! the first task that goes in comes out last.
//!
//! # Pending operations
//! As for bags, pending puts of tasks that nobody got are left out. A pending get that started at `s`
//! may have taken a task that nobody got: then `c = s` instead of never. Which one is not to be told
//! from the ends of their puts, as it is for bags and queues. First nothing is dealt out. If a part
//! is found that cannot be, or an "empty" that was not, then one of the tasks in it that nobody got
//! must have been taken, and each of them is tried with each of the pending gets in turn; if there
//! is none, it is wrong for certain. That is exact, and takes time exponential in the number of
//! pending gets, so it has a budget. What would be wrong even if every such task could be taken from
//! the first `s` on is found before.
//!
//! # How
//! By their `b`, the tasks of a part lie side by side, as gaps separate them: a part is a range. A
//! tree over the tasks finds the bottom of a range, a tree over the instants counts the spans over
//! each and finds the gaps that open when a task is taken away. The bottom is found by walking down
//! where both conditions may hold, which takes long only if many tasks fulfil one condition each
//! and none both, such as when many operations overlap.

use crate::bag_check::not_empty;
use crate::gaps::Gaps;
use crate::history::NEVER;
use crate::lives::{Finding, Life, Lives, Take};
use crate::verdict::Reason;
use std::ops::Range;

/// Steps that a look at so many tasks takes from the budget, one at least.
const TASKS_PER_STEP: usize = 16;

/// Whether the tasks are in order, and the "empty" answers right: an error says that they are not,
/// `false` that the budget was spent.
pub(crate) fn stack(all: &Lives, budget: &mut u64) -> Result<bool, Finding> {
    let mut lives: Vec<Life> =
        all.lives.iter().filter(|life| !life.is_doubtful()).copied().collect();
    let Some(finding) = wrong(all, &lives) else { return Ok(true) };
    let Some(first_take) = all.takes.first() else { return Err(finding) };
    // What is wrong even if everything could have been taken needs no trying.
    let mut taken = lives.clone();
    let untaken = taken.iter_mut().filter(|life| life.is_untaken());
    untaken.for_each(|life| life.get_start = first_take.start);
    if let Some(finding) = wrong(all, &taken) {
        return Err(Finding { takes: true, ..finding });
    }
    // Half of the budget, so that something is left for the search.
    let mut half = *budget / 2;
    *budget -= half;
    let dealt = deal(all, &mut lives, &mut all.takes.clone(), &finding, &mut half);
    *budget += half;
    match dealt {
        Some(true) => Ok(true),
        Some(false) => Err(all.everything()),
        None => Ok(false),
    }
}

fn wrong(all: &Lives, lives: &[Life]) -> Option<Finding> {
    tangled(lives).or_else(|| not_empty(all, lives))
}

/// Whether some deal of tasks to `takes` makes right what was found, and everything else. `None`: the
/// budget was spent.
fn deal(
    all: &Lives,
    lives: &mut [Life],
    takes: &mut [Take],
    finding: &Finding,
    budget: &mut u64,
) -> Option<bool> {
    for item in &finding.items {
        let place = lives.iter().position(|life| life.item == *item).expect("a task of these");
        if !lives[place].is_untaken() {
            continue;
        }
        for take in 0..takes.len() {
            if takes[take].max == 0 {
                continue;
            }
            *budget = budget.checked_sub(1 + (lives.len() / TASKS_PER_STEP) as u64)?;
            takes[take].max -= 1;
            lives[place].get_start = takes[take].start;
            let right = match wrong(all, lives) {
                None => true,
                Some(finding) => deal(all, lives, takes, &finding, budget)?,
            };
            if right {
                return Some(true);
            }
            lives[place].get_start = NEVER;
            takes[take].max += 1;
        }
    }
    Some(false)
}

/// Tasks that cannot be in an order of last in, first out.
fn tangled(lives: &[Life]) -> Option<Finding> {
    let mut lives: Vec<Life> =
        lives.iter().filter(|life| life.put_end < life.get_start).copied().collect();
    lives.sort_unstable_by_key(|life| life.put_end);
    let mut gaps = Gaps::new(lives.iter().map(|life| (life.put_end, life.get_start)));
    let mut tasks = Tasks::new(&lives);
    let mut parts = Vec::new();
    let opened = gaps.find(0, NEVER);
    split(0..lives.len(), &opened, &lives, &mut parts);
    while let Some(part) = parts.pop() {
        let whole = tasks.over(&part);
        if whole.put_end == NEVER {
            continue; // Nothing is left of it.
        }
        let Some(bottom) = tasks.bottom(&part, whole.put_end, whole.get_start) else {
            let left = part.filter(|&task| tasks.is_left(task));
            let items = left.map(|task| lives[task].item).collect();
            return Some(Finding::new(Reason::NoOrder, items));
        };
        tasks.take_away(bottom);
        let Life { put_end, get_start, .. } = lives[bottom];
        gaps.take_away(put_end, get_start);
        let opened = gaps.find(put_end, get_start);
        split(part, &opened, &lives, &mut parts);
    }
    None
}

/// Splits a part at the gaps, given in order.
fn split(part: Range<usize>, gaps: &[u64], lives: &[Life], parts: &mut Vec<Range<usize>>) {
    let mut rest = part;
    for gap in gaps {
        let tasks = &lives[rest.clone()];
        let end = rest.start + tasks.partition_point(|life| life.put_end < *gap);
        if end > rest.start {
            parts.push(rest.start..end);
            rest.start = end;
        }
    }
    if !rest.is_empty() {
        parts.push(rest);
    }
}

/// What a range of tasks has to say: the earliest put, the latest get.
#[derive(Clone, Copy, Debug)]
struct Extent {
    put_start: u64,
    put_end: u64,
    get_start: u64,
    get_end: u64,
}

/// A tree over the tasks, in the order of their `put_end`: node `n` is over those of `2n` and
/// `2n + 1`, and the tasks themselves are the last nodes.
struct Tasks {
    nodes: Vec<Extent>,
    leaves: usize,
}

impl Extent {
    const NOTHING: Self = Self { put_start: NEVER, put_end: NEVER, get_start: 0, get_end: 0 };

    fn and(self, other: Self) -> Self {
        Self {
            put_start: self.put_start.min(other.put_start),
            put_end: self.put_end.min(other.put_end),
            get_start: self.get_start.max(other.get_start),
            get_end: self.get_end.max(other.get_end),
        }
    }
}

impl Tasks {
    fn new(lives: &[Life]) -> Self {
        let leaves = lives.len().next_power_of_two();
        let mut nodes = vec![Extent::NOTHING; 2 * leaves];
        for (node, life) in nodes[leaves..].iter_mut().zip(lives) {
            let &Life { put_start, put_end, get_start, get_end, .. } = life;
            *node = Extent { put_start, put_end, get_start, get_end };
        }
        for node in (1..leaves).rev() {
            nodes[node] = nodes[2 * node].and(nodes[2 * node + 1]);
        }
        Self { nodes, leaves }
    }

    fn is_left(&self, task: usize) -> bool {
        self.nodes[self.leaves + task].put_end != NEVER
    }

    fn take_away(&mut self, task: usize) {
        let mut node = self.leaves + task;
        self.nodes[node] = Extent::NOTHING;
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].and(self.nodes[2 * node + 1]);
        }
    }

    /// The extent of what is left in `range`.
    fn over(&self, range: &Range<usize>) -> Extent {
        let (mut left, mut right) = (self.leaves + range.start, self.leaves + range.end);
        let mut extent = Extent::NOTHING;
        while left < right {
            if left % 2 == 1 {
                extent = extent.and(self.nodes[left]);
                left += 1;
            }
            if right % 2 == 1 {
                right -= 1;
                extent = extent.and(self.nodes[right]);
            }
            left /= 2;
            right /= 2;
        }
        extent
    }

    /// A task of `range` whose put starts at `first` or before, and whose get ends at `last` or
    /// after.
    fn bottom(&self, range: &Range<usize>, first: u64, last: u64) -> Option<usize> {
        let mut open = vec![(1, 0..self.leaves)];
        while let Some((node, over)) = open.pop() {
            let extent = self.nodes[node];
            let apart = over.end <= range.start || range.end <= over.start;
            if apart || extent.put_start > first || extent.get_end < last {
                continue;
            }
            if node >= self.leaves {
                return Some(node - self.leaves);
            }
            let middle = over.start.midpoint(over.end);
            open.push((2 * node + 1, middle..over.end));
            open.push((2 * node, over.start..middle));
        }
        None
    }
}
