//! Which move to try first.

use super::place::Places;
use crate::program::{Kind, Program, Step};
use crate::spec::model::{Fate, Model};

/// When the tasks that each step puts should go in, compared to those of others. A step that puts
/// nothing has the rank 0.
pub(super) struct Ranks(Vec<u128>);

impl Ranks {
    /// By the middles of their puts and gets.
    pub(super) fn new<M: Model>(program: &Program) -> Self {
        let rank = |put: &Step, item: u32| {
            let Fate { from, until, .. } = program.fates[item];
            let put_middle = put.start.midpoint(put.end.min(until));
            u128::from(put_middle) + u128::from(M::rank(from.midpoint(until)))
        };
        let first = |put: &Step| put.puts().first().map_or(0, |&item| rank(put, item));
        Self(program.steps.iter().map(first).collect())
    }

    fn of(&self, step: u32) -> u128 {
        self.0[step as usize]
    }
}

impl<M: Model> Places<'_, M> {
    /// An answer that only looks, and is right as things are.
    pub(super) fn right_look(&self) -> Option<u32> {
        let right = |&step: &u32| match self.step(step).kind {
            Kind::Empty => self.model.len() == 0,
            Kind::Full => self.is_full(),
            _ => false,
        };
        if self.program.has_looks { self.open().find(right) } else { None }
    }

    /// A step that should rather go before the one that is due.
    pub(super) fn sooner(&self, ranks: &Ranks) -> Option<u32> {
        let due = self.step(self.due());
        let first_put = || {
            let puts = self.open().filter(|&step| !self.step(step).puts().is_empty());
            puts.min_by_key(|&step| ranks.of(step))
        };
        if due.gets() {
            // While it can still become as full as somebody says it was.
            let puts = || self.open().map(|step| self.step(step).puts().len()).sum();
            return if self.is_open(|kind| matches!(kind, Kind::Full))
                && self.may_be_full_with(puts())
            {
                first_put()
            } else {
                None
            };
        }
        if due.puts().is_empty() {
            return None;
        }
        if self.is_open(|kind| matches!(kind, Kind::Empty)) {
            // While it can still become empty.
            let gets = self.open().filter(|&step| self.step(step).gets()).count();
            let next = self.open().find(|&step| self.gives_to(step));
            if self.model.len() <= gets && next.is_some() {
                return next;
            }
        }
        first_put().filter(|&step| ranks.of(step) < ranks.of(self.due()))
    }

    /// Whether the one that looks like this is under way.
    fn is_open(&self, look: fn(&Kind) -> bool) -> bool {
        self.program.has_looks && self.open().any(|step| look(&self.step(step).kind))
    }

    /// Whether a get could have what it got, or begin to.
    fn gives_to(&self, step: u32) -> bool {
        match &self.step(step).kind {
            Kind::Get(item) => self.model.gives(*item),
            Kind::GetAtOnce(items) => items.first().is_some_and(|&item| self.model.gives(item)),
            _ => false,
        }
    }

    /// The moves beside those `tried`: first those that may help the one that is due.
    pub(super) fn other_moves(&self, tried: &[u32], ranks: &Ranks) -> Vec<u32> {
        let due = self.step(self.due());
        let helps = |step: u32| match &due.kind {
            Kind::Put(_) | Kind::PutAtOnce { .. } | Kind::Empty => self.step(step).gets(),
            Kind::Full => !self.step(step).gets(),
            Kind::Get(item) => self.step(step).puts().contains(item),
            _ => false,
        };
        let mut moves: Vec<u32> = self.open().filter(|step| !tried.contains(step)).collect();
        moves.sort_by_key(|&step| (!helps(step), ranks.of(step), self.step(step).end));
        moves
    }
}
