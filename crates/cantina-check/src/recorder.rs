//! The recorder: one log per thread.
//!
//! A [`Log`] is an owned value with no part shared: it moves to its thread, or is lent to it, and
//! comes back; [`merge`] makes a history of them. While it records it touches nothing but itself,
//! the clock and the fence.
//!
//! A log that comes back from a thread that died in the middle of a call holds everything up to
//! there, and that call as pending. Lend the log to a thread that may panic (`thread::scope` does
//! it), because what a panicking thread owns dies with it; for a simulated thread that is never
//! resumed keep it where both can reach it, and use the calls that begin and end, which borrow it
//! for a moment only.
//!
//! # The fences
//! A put without a fence may return before other processors see it. By the clock alone a get that
//! starts later and finds nothing would then be wrong, although nobody synchronised with the put
//! and no program can tell. So the log executes a sequentially consistent fence after it takes a
//! start time and before it takes an end time: what ended before another started is visible to it.

use crate::history::{Action, History, Item, Malformed, Operation};

/// The clock and the fence of the machine the threads run on.
pub trait Clock {
    /// The time: one clock for all threads, which never runs backwards.
    fn now(&self) -> u64;
    /// A sequentially consistent fence.
    fn fence(&self);
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn fence(&self) {
        (**self).fence();
    }
}

/// What a batch promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// Each task goes by itself, at some instant of the call.
    Each,
    /// All of them go at one instant, in order. Fewer than were asked for is the claim that there was a moment of the call without
    /// others.
    AtOnce,
}

/// What one thread did.
///
/// Each call has a form that takes a closure, and one of two halves, `begin_` and `end_`. A call
/// that was begun and not ended is pending, also when another one has begun since.
#[derive(Clone, Debug)]
pub struct Log<C> {
    thread: usize,
    clock: C,
    operations: Vec<Operation>,
    /// The call under way, and its start.
    open: Option<(Call, u64)>,
}

#[derive(Clone, Debug)]
enum Call {
    Put(Item),
    PutAll(Box<[Item]>, Batch),
    Get(usize, Batch),
}

/// The history of all the logs.
///
/// # Errors
/// When a task was put more than once, or the clock ran backwards: see [`Malformed`].
pub fn merge<C>(logs: impl IntoIterator<Item = Log<C>>) -> Result<History, Malformed> {
    History::new(logs.into_iter().flat_map(Log::into_operations).collect())
}

impl<C: Clock> Log<C> {
    /// An empty log for thread number `thread`.
    pub fn new(thread: usize, clock: C) -> Self {
        Self::with_capacity(thread, clock, 0)
    }

    /// An empty log that holds `capacity` operations before it allocates.
    pub fn with_capacity(thread: usize, clock: C, capacity: usize) -> Self {
        Self { thread, clock, operations: Vec::with_capacity(capacity), open: None }
    }

    /// Records a put: `Ok` if it was accepted, `Err` if it gave the task back.
    pub fn put<R, E>(&mut self, item: Item, call: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
        self.begin_put(item);
        let answer = call();
        self.end_put(answer.is_ok());
        answer
    }

    /// Records a get; `id` tells what identifies a task.
    pub fn get<T>(
        &mut self,
        id: impl FnOnce(&T) -> Item,
        call: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        self.begin_get();
        let answer = call();
        self.end_get(answer.as_ref().map(id));
        answer
    }

    /// Records a put of many; `call` returns how many of them were accepted.
    pub fn put_all(&mut self, items: &[Item], batch: Batch, call: impl FnOnce() -> usize) -> usize {
        self.begin_put_all(items, batch);
        let accepted = call();
        self.end_put_all(accepted);
        accepted
    }

    /// Records a get of up to `max`: what `call` appends to `into` counts, and its answer is passed
    /// on. `id` tells what identifies a task.
    pub fn get_many<T, R>(
        &mut self,
        max: usize,
        batch: Batch,
        id: impl Fn(&T) -> Item,
        into: &mut Vec<T>,
        call: impl FnOnce(&mut Vec<T>) -> R,
    ) -> R {
        let before = into.len();
        self.begin_get_many(max, batch);
        let answer = call(into);
        self.end_get_many(into[before..].iter().map(id));
        answer
    }

    /// A put of `item` begins.
    pub fn begin_put(&mut self, item: Item) {
        self.begin(Call::Put(item));
    }

    /// The put that began last came back: it accepted the task, or gave it back as full.
    ///
    /// # Panics
    /// When the call under way is not a put of one task.
    pub fn end_put(&mut self, accepted: bool) {
        let (call, start, end) = self.end();
        let Call::Put(item) = call else { panic!("under way is not a put, but {call:?}") };
        let action = if accepted { Action::Put(item) } else { Action::Full(item) };
        self.push(start, Some(end), action);
    }

    /// A get begins.
    pub fn begin_get(&mut self) {
        self.begin_get_many(1, Batch::Each);
    }

    /// The get that began last came back, with a task or with the claim that there is none.
    ///
    /// # Panics
    /// When the call under way is not a get.
    pub fn end_get(&mut self, item: Option<Item>) {
        self.end_get_many(item);
    }

    /// A put of `items`, in this order, begins.
    pub fn begin_put_all(&mut self, items: &[Item], batch: Batch) {
        self.begin(Call::PutAll(items.into(), batch));
    }

    /// The put of many that began last came back. It accepted the first `accepted` of them; if that
    /// is not all, it gave the next one back as full and never came to the rest.
    ///
    /// # Panics
    /// When the call under way is not a put of that many.
    pub fn end_put_all(&mut self, accepted: usize) {
        let (call, start, end) = self.end();
        let Call::PutAll(items, batch) = call else {
            panic!("under way is not a put of many, but {call:?}")
        };
        let full = items.get(accepted).copied();
        let items = &items[..accepted];
        match batch {
            Batch::AtOnce => {
                let items = items.into();
                self.push(start, Some(end), Action::PutAtOnce { items, full });
            }
            Batch::Each => {
                let actions = items.iter().map(|&item| Action::Put(item));
                for action in actions.chain(full.map(Action::Full)) {
                    self.push(start, Some(end), action);
                }
            }
        }
    }

    /// A get of up to `max` begins.
    pub fn begin_get_many(&mut self, max: usize, batch: Batch) {
        self.begin(Call::Get(max, batch));
    }

    /// The get that began last came back with `items`, first one first. None of them is the claim
    /// that there is nothing, unless nothing was asked for; of a batch at once so are fewer than that.
    ///
    /// # Panics
    /// When the call under way is not a get.
    pub fn end_get_many(&mut self, items: impl IntoIterator<Item = Item>) {
        let (call, start, end) = self.end();
        let Call::Get(max, batch) = call else { panic!("under way is not a get, but {call:?}") };
        let items: Box<[Item]> = items.into_iter().collect();
        let (got, at_once) = (items.len(), batch == Batch::AtOnce);
        match batch {
            Batch::AtOnce if got > 0 => self.push(start, Some(end), Action::GetAtOnce(items)),
            _ => items.iter().for_each(|item| self.push(start, Some(end), Action::Get(*item))),
        }
        if got == 0 && max > 0 || at_once && got < max {
            self.push(start, Some(end), Action::Empty);
        }
    }

    fn begin(&mut self, call: Call) {
        self.give_up();
        // The start is taken last, so that nothing of ours is timed.
        let (_, start) = self.open.insert((call, 0));
        *start = self.clock.now();
        self.clock.fence();
    }

    fn end(&mut self) -> (Call, u64, u64) {
        self.clock.fence();
        let end = self.clock.now();
        let (call, start) = self.open.take().expect("no call is under way");
        (call, start, end)
    }
}

impl<C> Log<C> {
    /// The operations in the order in which they began; a call under way is pending.
    pub fn into_operations(mut self) -> Vec<Operation> {
        self.give_up();
        self.operations
    }

    /// Whatever is under way will not come back.
    fn give_up(&mut self) {
        let Some((call, start)) = self.open.take() else { return };
        match call {
            Call::Put(item) => self.push(start, None, Action::Put(item)),
            Call::PutAll(items, Batch::AtOnce) => {
                self.push(start, None, Action::PutAtOnce { items, full: None });
            }
            Call::PutAll(items, Batch::Each) => {
                items.iter().for_each(|&item| self.push(start, None, Action::Put(item)));
            }
            Call::Get(max, Batch::AtOnce) => {
                self.push(start, None, Action::GettingAtOnce { max });
            }
            Call::Get(max, Batch::Each) => self.push(start, None, Action::Getting { max }),
        }
    }

    fn push(&mut self, start: u64, end: Option<u64>, action: Action) {
        self.operations.push(Operation { thread: self.thread, start, end, action });
    }
}
