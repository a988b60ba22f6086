//! Something to do, in one word.

use machine::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ptr::{self, NonNull};

/// A free operation that is to run, or the right to run a unit's messages: there is one for each unit that has some.
pub(in crate::scheduler) struct Task(NonNull<Header>);

// SAFETY: what a task leads to may move between threads: operations and states are `Send`.
unsafe impl Send for Task {}

/// What a task leads to: a part of an operation or of a unit.
pub(in crate::scheduler) struct Header {
    run: &'static Run,
    /// The next one in the injector: its who has the task (I1).
    next: UnsafeCell<usize>,
    kind: Kind,
}

/// In which queue it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) enum Kind {
    Unit,
    Free,
    Urgent,
}

/// What can be done with a task.
#[derive(Clone, Copy)]
pub(in crate::scheduler) struct Run {
    /// Runs it. It is used up, unless a unit has more messages: then it is given back.
    ///
    /// # Safety
    /// The header is that of a task, which the caller has (I1).
    pub(in crate::scheduler) run: unsafe fn(NonNull<Header>, &mut Turn<'_>) -> Option<Task>,
    /// Fails it, and counts it among what is left.
    ///
    /// # Safety
    /// As of `run`.
    pub(in crate::scheduler) cancel: unsafe fn(NonNull<Header>, &mut Left),
}

/// What a unit may do at a time.
pub(in crate::scheduler) struct Turn<'a> {
    /// On which worker.
    pub(in crate::scheduler) worker: usize,
    /// How many messages it may run.
    pub(in crate::scheduler) budget: usize,
    /// Whether it should stop before, having run so many.
    pub(in crate::scheduler) stops: &'a dyn Fn(usize) -> bool,
    /// How many it has run.
    pub(in crate::scheduler) done: usize,
}

/// What a [`Runtime::shutdown`](crate::scheduler::Runtime::shutdown) left undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "what was left undone has failed"]
pub struct Left {
    /// The names of units that had messages left, in their order, and how many: units of one name together.
    pub units: Vec<(String, usize)>,
    /// Operations that have no unit.
    pub free: usize,
    /// Operations whose arguments were not there.
    pub waiting: usize,
}

impl Left {
    /// Whether everything was done.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Units that have had messages more than once, and those of one name, named once.
    pub(in crate::scheduler) fn merged(self) -> Self {
        let mut units = BTreeMap::new();
        for (name, count) in self.units {
            *units.entry(name).or_default() += count;
        }
        Self { units: units.into_iter().collect(), ..self }
    }

    pub(in crate::scheduler) fn add(&mut self, mut other: Self) {
        self.units.append(&mut other.units);
        self.free += other.free;
        self.waiting += other.waiting;
    }
}

impl Header {
    pub(in crate::scheduler) fn new(run: &'static Run, kind: Kind) -> Self {
        Self { run, next: UnsafeCell::new(0), kind }
    }
}

impl Task {
    /// # Safety
    /// The header stays until the task is used up, and there is no other task of it (I1).
    pub(in crate::scheduler) unsafe fn new(header: NonNull<Header>) -> Self {
        Self(header)
    }

    pub(super) fn into_raw(self) -> NonNull<Header> {
        self.0
    }

    pub(super) fn address(&self) -> usize {
        self.0.as_ptr().expose_provenance()
    }

    /// # Safety
    /// The [`address`](Self::address) of a task that was forgotten, once.
    pub(super) unsafe fn from_address(address: usize) -> Self {
        // SAFETY: the caller's.
        Self(unsafe { NonNull::new_unchecked(ptr::with_exposed_provenance_mut(address)) })
    }

    fn header(&self) -> &Header {
        // SAFETY: it stays while there is a task of it.
        unsafe { self.0.as_ref() }
    }

    pub(super) fn kind(&self) -> Kind {
        self.header().kind
    }

    pub(in crate::scheduler) fn is_unit(&self) -> bool {
        self.kind() == Kind::Unit
    }

    pub(super) fn next(&self) -> usize {
        // SAFETY: I1: we have the task.
        self.header().next.with(|next| unsafe { *next })
    }

    pub(super) fn set_next(&self, next: usize) {
        // SAFETY: I1: we have the task.
        self.header().next.with_mut(|place| unsafe { *place = next });
    }

    pub(super) fn run(self, turn: &mut Turn<'_>) -> Option<Self> {
        // SAFETY: I1: we have the task, and it is used up here.
        unsafe { (self.header().run.run)(self.0, turn) }
    }

    /// Fails what it would do.
    pub(in crate::scheduler) fn cancel(self, left: &mut Left) {
        // SAFETY: as in `run`.
        unsafe { (self.header().run.cancel)(self.0, left) };
    }
}
