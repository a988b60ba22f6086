//! A history as the search wants it: tasks by number, operations in the order of their starts and
//! of their ends, and nothing in it that cannot matter.

use crate::history::{Action, History, Item, NEVER, Operation};
use crate::spec::model::{Fate, Fates};
use std::collections::HashMap;

/// An operation.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) start: u64,
    /// [`NEVER`]: pending.
    pub(crate) end: u64,
    pub(crate) kind: Kind,
}

/// What an operation did, to tasks by number.
#[derive(Debug)]
pub(crate) enum Kind {
    Put(u32),
    Full,
    Get(u32),
    Empty,
    /// A pending get of one task.
    Take,
    PutAtOnce {
        items: Box<[u32]>,
        /// How many of them, the first ones, went in at least: all, unless it is pending. Somebody may have got the last of these.
        least: usize,
        full: bool,
    },
    GetAtOnce(Box<[u32]>),
    /// A pending get of up to so many.
    TakeAtOnce(usize),
}

/// A history, prepared.
#[derive(Debug)]
pub(crate) struct Program {
    /// In the order of their starts.
    pub(crate) steps: Vec<Step>,
    /// Those that ended, in the order of their ends.
    pub(crate) returns: Vec<u32>,
    /// How each task came out.
    pub(crate) fates: Fates,
    /// The step that puts each task. A task that nobody puts has the first.
    pub(crate) put_by: Vec<u32>,
    /// For each step: by when the first task of those put in it or in a later one is out.
    pub(crate) out_after: Vec<u64>,
    /// Whether anything is there that only looks: a full or an empty.
    pub(crate) has_looks: bool,
}

impl Step {
    /// Whether it tells something about the state and leaves it as it is.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.kind, Kind::Full | Kind::Empty)
    }

    /// The tasks it puts.
    pub(crate) fn puts(&self) -> &[u32] {
        match &self.kind {
            Kind::Put(item) => std::slice::from_ref(item),
            Kind::PutAtOnce { items, .. } => items,
            _ => &[],
        }
    }

    /// The tasks it is known to get.
    pub(crate) fn items_got(&self) -> &[u32] {
        match &self.kind {
            Kind::Get(item) => std::slice::from_ref(item),
            Kind::GetAtOnce(items) => items,
            _ => &[],
        }
    }

    /// Whether it takes tasks out.
    pub(crate) fn gets(&self) -> bool {
        matches!(self.kind, Kind::Get(_) | Kind::Take | Kind::GetAtOnce(_) | Kind::TakeAtOnce(_))
    }
}

impl Program {
    pub(crate) fn new(history: &History) -> Self {
        let mut numbers = HashMap::new();
        let mut fates = Vec::new();
        let mut number = |item: Item, fates: &mut Vec<Fate>| {
            *numbers.entry(item).or_insert_with(|| {
                fates.push(Fate { from: NEVER, until: 0, untaken: true });
                u32::try_from(fates.len() - 1).expect("as many tasks as fit in memory")
            })
        };
        // First what came out: what never did can be left out, if it was not surely in.
        for operation in history.operations() {
            for &item in operation.action.items_got() {
                let number = number(item, &mut fates);
                let fate = &mut fates[number as usize];
                fate.from = fate.from.min(operation.start);
                fate.until = fate.until.max(operation.end.unwrap_or(NEVER));
                fate.untaken = false;
            }
        }
        // What may have been full: nobody knows of a batch that is pending.
        let is_full = |it: &Operation| {
            let is_batch = matches!(it.action, Action::PutAtOnce { .. });
            it.action.item_given_back().is_some() || it.end.is_none() && is_batch
        };
        let some_full = history.operations().iter().any(is_full);
        let mut steps: Vec<Step> = Vec::with_capacity(history.len());
        let mut takes = Vec::new();
        for operation in history.operations() {
            let (start, end) = (operation.start, operation.end.unwrap_or(NEVER));
            let mut all = |items: &[Item]| {
                items.iter().map(|&item| number(item, &mut fates)).collect::<Box<[u32]>>()
            };
            let kind = match &operation.action {
                Action::Put(item) => Kind::Put(all(&[*item])[0]),
                Action::Full(_) => Kind::Full,
                Action::Get(item) => Kind::Get(all(&[*item])[0]),
                Action::Empty => Kind::Empty,
                Action::PutAtOnce { items, full: None } if items.is_empty() => continue,
                Action::PutAtOnce { items, full: Some(_) } if items.is_empty() => Kind::Full,
                Action::GetAtOnce(items) if items.is_empty() => continue,
                Action::PutAtOnce { items, full } => {
                    let (items, full) = (all(items), full.is_some());
                    let got = |&item: &u32| !fates[item as usize].untaken;
                    let least = match operation.end {
                        Some(_) => items.len(),
                        None => items.iter().rposition(got).map_or(1, |last| last + 1),
                    };
                    Kind::PutAtOnce { items, least, full }
                }
                Action::GetAtOnce(items) => Kind::GetAtOnce(all(items)),
                Action::Getting { max } => {
                    takes.push((start, *max, false));
                    continue;
                }
                Action::GettingAtOnce { max } => {
                    takes.push((start, *max, true));
                    continue;
                }
            };
            let step = Step { start, end, kind };
            // A put that may not have happened, of tasks that never came out, helps nobody but a
            // put that was given back.
            let helps = |&item: &u32| !fates[item as usize].untaken;
            if end == NEVER && !some_full && !step.puts().iter().any(helps) {
                continue;
            }
            steps.push(step);
        }
        let untaken = |&item: &&u32| fates[*item as usize].untaken;
        let left: usize = steps.iter().map(|it| it.puts().iter().filter(untaken).count()).sum();
        for (start, max, at_once) in takes {
            let max = max.min(left);
            if at_once && max > 1 {
                steps.push(Step { start, end: NEVER, kind: Kind::TakeAtOnce(max) });
            } else {
                steps.extend((0..max).map(|_| Step { start, end: NEVER, kind: Kind::Take }));
            }
        }
        steps.sort_by_key(|step| step.start);
        Self::finish(steps, fates)
    }

    /// Everything that follows from the steps.
    fn finish(steps: Vec<Step>, mut fates: Vec<Fate>) -> Self {
        let takes = |step: &&Step| matches!(step.kind, Kind::Take | Kind::TakeAtOnce(_));
        let first_take = steps.iter().find(takes).map_or(NEVER, |step| step.start);
        for fate in fates.iter_mut().filter(|fate| fate.untaken) {
            *fate = Fate { from: first_take, until: NEVER, untaken: true };
        }
        let mut returns: Vec<u32> =
            (0..steps.len() as u32).filter(|&step| steps[step as usize].end != NEVER).collect();
        returns.sort_by_key(|&step| steps[step as usize].end);
        let mut out_after = vec![NEVER; steps.len() + 1];
        for (index, step) in steps.iter().enumerate().rev() {
            let out = step.puts().iter().map(|&item| fates[item as usize].until).min();
            out_after[index] = out_after[index + 1].min(out.unwrap_or(NEVER));
        }
        let mut put_by = vec![0; fates.len()];
        for (index, step) in steps.iter().enumerate() {
            step.puts().iter().for_each(|&item| put_by[item as usize] = index as u32);
        }
        let has_looks = steps.iter().any(Step::only_looks);
        Self { steps, returns, fates: Fates(fates), put_by, out_after, has_looks }
    }
}
