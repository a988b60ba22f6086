//! The progress checkers: how long operations may take.

use crate::engine::ThreadId;
use crate::engine::table::Ending;
use crate::engine::threads::{Operation, Thread};

/// What is allowed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bounds {
    /// Steps of all until some operation ends.
    pub(crate) lock_free: Option<u64>,
    /// Own steps of an operation.
    pub(crate) wait_free: Option<u64>,
}

/// What was seen.
#[derive(Debug)]
pub(crate) struct Progress {
    bounds: Bounds,
    /// Operations under way, of threads that have not crashed.
    operations: usize,
    /// The step at which an operation last ended, or the first began.
    last: u64,
}

impl Progress {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, operations: 0, last: 0 }
    }

    /// `thread` begins an operation at this step; the one it is in, if any, is put aside.
    pub(crate) fn begin(
        &mut self,
        thread: &mut Thread,
        name: &str,
        step: u64,
    ) -> Option<Operation> {
        if self.operations == 0 {
            self.last = step;
        }
        let operation = Operation { name: name.to_owned(), began: thread.steps };
        let outer = thread.operation.replace(operation);
        if outer.is_none() {
            self.operations += 1;
        }
        outer
    }

    /// `thread` ends its operation at this step and is back in `outer`.
    pub(crate) fn finish(&mut self, thread: &mut Thread, outer: Option<Operation>, step: u64) {
        self.last = step;
        if outer.is_none() {
            self.operations -= 1;
        }
        thread.operation = outer;
    }

    /// `thread` has crashed: what it was in does not end, and nobody waits for it to.
    pub(crate) fn crash(&mut self, thread: &Thread) {
        if thread.operation.is_some() {
            self.operations -= 1;
        }
    }

    /// What `thread`, which takes this step, is accused of.
    pub(crate) fn judge(&self, thread: &Thread, step: u64) -> Option<Ending> {
        let operation = thread.operation.as_ref()?;
        if self.bounds.lock_free.is_some_and(|most| step - self.last > most) {
            return Some(Ending::NobodyFinishes);
        }
        let taken = thread.steps - operation.began;
        let id: ThreadId = thread.id;
        self.bounds.wait_free.is_some_and(|most| taken > most).then_some(Ending::TooSlow(id))
    }
}
