//! What a history is judged as.
//!
//! A [`Spec`] says how a sequence of operations, one after the other, has to answer. A history is
//! linearizable if such a sequence can be had from it by choosing one instant for each operation.
//!
//! | operation | legal when | effect |
//! |---|---|---|
//! | put | fewer than `capacity` tasks are inside | the task is inside |
//! | put, given back as full | at least `capacity - full_slack` are inside | none |
//! | get of a task | it is inside; in a queue the oldest, in a stack the youngest | it is out |
//! | get, empty | none is inside | none |
//!
//! "Full" is judged like everything else, at one instant of its call, and in the same order that
//! explains all the other answers. What may have happened counts for it if that helps: a pending put
//! may have put its task, a pending get need not have taken any. So it is wrong only if
//! `capacity - full_slack` tasks cannot have been inside at any instant of the call.
//!
//! An atomic batch does all its puts or all its gets at one instant, in its order; if it gave a
//! task back, it was full right after those it accepted. Pending operations may be left out, a
//! pending get that is not takes whatever it likes of what the table allows, and a pending atomic
//! batch of puts that is not has put all its tasks, or the first of them and was full right after.

pub(crate) mod bag;
pub(crate) mod model;
pub(crate) mod queue;
pub(crate) mod stack;

use std::fmt;

/// What a history is judged as: an order, and a bound if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    order: Order,
    bound: Option<Bound>,
}

/// Which task a get has to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Any that is inside.
    Bag,
    /// The oldest.
    Queue,
    /// The youngest.
    Stack,
}

/// How much fits, and when it may say that no more does.
///
/// `capacity` is never exceeded, and "full" is legal from `capacity - full_slack` tasks on. So
/// what may hold a few more than it says has the larger number as its capacity, and the difference
/// in its slack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// How many tasks may be inside at once.
    pub capacity: usize,
    /// How many tasks may be missing from it when a put says "full".
    pub full_slack: usize,
    /// Whether "full" counts operations under way: a task then takes up room from the start of its put
    /// to the end of its get, whenever these take effect.
    pub under_way: bool,
}

impl Spec {
    /// A pool: tasks come out in any order.
    pub const fn bag() -> Self {
        Self { order: Order::Bag, bound: None }
    }

    /// First in, first out.
    pub const fn queue() -> Self {
        Self { order: Order::Queue, bound: None }
    }

    /// Last in, first out.
    pub const fn stack() -> Self {
        Self { order: Order::Stack, bound: None }
    }

    /// The same with room for `capacity` tasks, which may say "full" when `full_slack` or fewer
    /// of them are missing.
    pub const fn bounded(self, capacity: usize, full_slack: usize) -> Self {
        Self { order: self.order, bound: Some(Bound { capacity, full_slack, under_way: false }) }
    }

    /// The same, if it has a bound, when "full" counts operations under way.
    pub const fn counting_under_way(mut self) -> Self {
        if let Some(bound) = &mut self.bound {
            bound.under_way = true;
        }
        self
    }

    /// Which task a get has to return.
    pub const fn order(&self) -> Order {
        self.order
    }

    /// How much fits.
    pub const fn bound(&self) -> Option<Bound> {
        self.bound
    }
}

impl Bound {
    /// From how many tasks on "full" is legal.
    pub const fn full_from(&self) -> usize {
        self.capacity.saturating_sub(self.full_slack)
    }

    /// From how many tasks on "full" is legal in an order of the operations. What counts those under
    /// way has no such number: whether they were enough is seen before an order is looked for.
    pub(crate) const fn full_in_order_from(&self) -> usize {
        if self.under_way { 0 } else { self.full_from() }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.order {
            Order::Bag => "bag",
            Order::Queue => "queue",
            Order::Stack => "stack",
        })?;
        match self.bound {
            None => Ok(()),
            Some(bound) => {
                write!(f, " of {}", bound.capacity)?;
                if bound.full_slack > 0 {
                    write!(f, ", \"full\" from {}", bound.full_from())?;
                }
                if bound.under_way { f.write_str(", counting what is under way") } else { Ok(()) }
            }
        }
    }
}
