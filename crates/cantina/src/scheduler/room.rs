//! Room for messages: a mailbox with a capacity, and those who wait until there is some.

use crate::waiting::WaitList;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence::Pair;

pub(super) struct Room {
    capacity: usize,
    /// Messages that have not run.
    inside: AtomicUsize,
    waiting: WaitList,
}

impl Room {
    pub(super) fn new(capacity: usize, fences: Pair) -> Self {
        Self { capacity, inside: AtomicUsize::new(0), waiting: WaitList::new(fences) }
    }

    /// Goes in if there is room.
    pub(super) fn try_enter(&self) -> bool {
        let more = |inside| (inside < self.capacity).then_some(inside + 1);
        // bare: they count each other; a message carries itself.
        self.inside.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Goes in, room or not.
    pub(super) fn enter(&self) {
        // bare: as above.
        self.inside.fetch_add(1, Relaxed);
    }

    /// Waits for room, and goes in.
    pub(super) fn wait(&self) {
        while !self.try_enter() {
            let listener = self.waiting.listen();
            if self.try_enter() {
                return;
            }
            listener.wait();
        }
    }

    /// A message has run.
    pub(super) fn leave(&self) {
        // bare: as above.
        self.inside.fetch_sub(1, Relaxed);
        self.waiting.notify_one();
    }

    pub(super) fn len(&self) -> usize {
        // stat: a number for humans.
        self.inside.load(Relaxed)
    }
}
