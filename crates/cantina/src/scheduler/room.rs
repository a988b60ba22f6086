//! Room for messages: a mailbox with a capacity, and those who wait until there is some.
//!
//! A sender that finds no room puts itself on the list and looks once more, behind a fence; who leaves looks at the
//! list, behind a fence. So one of them sees the other.

use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::fence;
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use std::collections::VecDeque;

pub(super) struct Room {
    capacity: usize,
    /// Messages that have not run.
    inside: AtomicUsize,
    /// How long the list is. Changed under the lock.
    waiting: AtomicUsize,
    list: Mutex<VecDeque<(usize, Unparker)>>,
    /// Numbers for those who wait.
    numbers: AtomicUsize,
}

impl Room {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            inside: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            list: Mutex::new(VecDeque::new()),
            numbers: AtomicUsize::new(0),
        }
    }

    /// Goes in if there is room.
    pub(super) fn try_enter(&self) -> bool {
        let more = |inside| (inside < self.capacity).then_some(inside + 1);
        // stat: they count each other; a message carries itself.
        self.inside.fetch_update(Relaxed, Relaxed, more).is_ok()
    }

    /// Goes in, room or not.
    pub(super) fn enter(&self) {
        // stat: as above.
        self.inside.fetch_add(1, Relaxed);
    }

    /// Waits for room, and goes in.
    pub(super) fn wait(&self) {
        if self.try_enter() {
            return;
        }
        // stat: a name.
        let number = self.numbers.fetch_add(1, Relaxed);
        let parker = Parker::new();
        loop {
            self.change(|list| list.push_back((number, parker.unparker())));
            // space: we are on the list, for whoever leaves.
            fence::full();
            if self.try_enter() {
                // If somebody has just taken us off, its wake-up is for nothing: when our message has run the next one
                // is woken.
                return self.change(|list| list.retain(|waiting| waiting.0 != number));
            }
            parker.park();
            if self.try_enter() {
                return;
            }
        }
    }

    /// A message has run.
    pub(super) fn leave(&self) {
        // stat: they count each other.
        self.inside.fetch_sub(1, Relaxed);
        // space: there is room, for whoever is on the list.
        fence::full();
        // stat: behind the fence.
        if self.waiting.load(Relaxed) > 0 {
            self.wake_one();
        }
    }

    pub(super) fn len(&self) -> usize {
        // stat: a number for humans.
        self.inside.load(Relaxed)
    }

    #[cold]
    fn wake_one(&self) {
        let mut first = None;
        self.change(|list| first = list.pop_front());
        first.into_iter().for_each(|(_, waits)| waits.unpark());
    }

    fn change(&self, f: impl FnOnce(&mut VecDeque<(usize, Unparker)>)) {
        let mut list = self.list.lock();
        f(&mut list);
        // stat: it is looked at behind fences.
        self.waiting.store(list.len(), Relaxed);
    }
}
