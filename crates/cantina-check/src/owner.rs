//! Owner queues: a queue that at most one at a time owns.
//!
//! | call | legal when | effect |
//! |---|---|---|
//! | enqueue, not made the owner | somebody owns it | the item is behind the others |
//! | enqueue, made the owner | nobody owns it | the same, and it is owned |
//! | next of an item | it is owned, and the item the oldest inside | the item is out |
//! | next, nothing | it is owned, and nothing is inside | it is not owned |
//! | try to own, made the owner | nobody owns it, and something is inside | it is owned |
//! | try to own, not made the owner | somebody owns it, or nothing is inside | none |
//! | leave | it is owned | it is not owned |
//!
//! So a history that has such an order has one owner at a time, loses nothing, and is first in, first out.
//!
//! ```
//! use cantina_check::owner::{Call, OwnerCall, explain};
//!
//! let call = |start, end, call| OwnerCall { thread: 0, start, end, call };
//! let mut calls = vec![
//!     call(1, 2, Call::Enqueue { item: 7, made_owner: true }),
//!     call(3, 4, Call::Next(Some(7))),
//!     call(5, 6, Call::Next(None)),
//! ];
//! assert!(explain(&calls).is_some());
//! calls.push(call(7, 8, Call::Enqueue { item: 8, made_owner: false }));   // to whom?
//! assert!(explain(&calls).is_none());
//! ```

use crate::history::Item;
use std::collections::{HashSet, VecDeque};

/// A call of an owner queue, from when to when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerCall {
    /// The thread that called.
    pub thread: usize,
    /// A time at which the call had not yet begun to take effect.
    pub start: u64,
    /// A time at which it had taken effect.
    pub end: u64,
    /// The call and its answer.
    pub call: Call,
}

/// A call and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// An item was added.
    Enqueue {
        /// Which one.
        item: Item,
        /// Whether that made the caller the owner.
        made_owner: bool,
    },
    /// The owner asked for the next item. `None`: there was none, and it is the owner no longer.
    Next(Option<Item>),
    /// Somebody asked to own what was left; whether it does.
    TryOwn(bool),
    /// The owner went.
    Leave,
}

/// An order that explains every answer, as places in `calls`; `None` if there is none.
///
/// It tries all orders, so it is for a few dozen calls.
pub fn explain(calls: &[OwnerCall]) -> Option<Vec<usize>> {
    let mut search =
        Search { calls, done: vec![false; calls.len()], order: Vec::new(), seen: HashSet::new() };
    search.goes_on(&mut State::default()).then_some(search.order)
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    items: VecDeque<Item>,
    owned: bool,
}

impl State {
    /// What it is after `call`, if that is legal.
    fn after(&self, call: Call) -> Option<Self> {
        let mut next = self.clone();
        let legal = match call {
            Call::Enqueue { item, made_owner } => {
                next.items.push_back(item);
                next.owned = true;
                made_owner != self.owned
            }
            Call::Next(Some(item)) => self.owned && next.items.pop_front() == Some(item),
            Call::Next(None) => {
                next.owned = false;
                self.owned && self.items.is_empty()
            }
            Call::TryOwn(made_owner) => {
                next.owned |= made_owner;
                made_owner == (!self.owned && !self.items.is_empty())
            }
            Call::Leave => {
                next.owned = false;
                self.owned
            }
        };
        legal.then_some(next)
    }
}

struct Search<'a> {
    calls: &'a [OwnerCall],
    done: Vec<bool>,
    order: Vec<usize>,
    /// From where it did not go on.
    seen: HashSet<(Vec<bool>, State)>,
}

impl Search<'_> {
    fn goes_on(&mut self, state: &mut State) -> bool {
        if self.order.len() == self.calls.len() {
            return true;
        }
        if !self.seen.insert((self.done.clone(), state.clone())) {
            return false;
        }
        let open = || (0..self.calls.len()).filter(|&place| !self.done[place]);
        let first_end = open().map(|place| self.calls[place].end).min().unwrap_or(0);
        let next: Vec<usize> =
            open().filter(|&place| self.calls[place].start <= first_end).collect();
        for place in next {
            let Some(mut after) = state.after(self.calls[place].call) else { continue };
            self.done[place] = true;
            self.order.push(place);
            if self.goes_on(&mut after) {
                return true;
            }
            self.done[place] = false;
            self.order.pop();
        }
        false
    }
}
