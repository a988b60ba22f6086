//! The growing stack of the rooms paper, figure 4: with one of its mistakes, if asked.
//!
//! The arrays are all there from the start, each twice as large as the one before, and the paper's `A` and `B` are the last two in use.

use super::twin::Twin;
use cantina::rooms::Rooms;
use machine::atomic::Ordering::{Relaxed, SeqCst};
use machine::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};
use machine::{Arc, CachePadded, trace};

/// What is where nothing was written.
const GARBAGE: u64 = 999;
/// How often it can grow, and once more.
const ARRAYS: u32 = 4;

const PUSH: usize = 0;
const POP: usize = 1;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// A pop takes what its fetch-and-add gave it for an index: only below 0 the stack is empty.
    EmptyBelowZero,
    /// The same where it decides in which array the task is.
    BorderOffByOne,
    /// The first array has fewer places than there are users.
    SmallerThanItsUsers,
    /// A push that finds no room leaves and enters again.
    EntersAgain,
}

pub(crate) struct Figure4 {
    mistake: Option<Mistake>,
    arrays: Arc<Arrays>,
    rooms: Rooms,
}

struct Arrays {
    top: CachePadded<AtomicI64>,
    start: CachePadded<AtomicBool>,
    /// Which array is the paper's `A`.
    last: CachePadded<AtomicUsize>,
    /// Before the first place of each there is one that is nobody's.
    places: Vec<Vec<AtomicU64>>,
}

impl Figure4 {
    /// For two users.
    pub(crate) fn new(mistake: Option<Mistake>) -> Self {
        let first = if mistake == Some(Mistake::SmallerThanItsUsers) { 1 } else { 2 };
        let array = |number| (0..=first << number).map(|_| AtomicU64::new(GARBAGE)).collect();
        let arrays = Arc::new(Arrays {
            top: CachePadded::default(),
            start: CachePadded::default(),
            last: CachePadded::default(),
            places: (0..ARRAYS).map(array).collect(),
        });
        let closed = arrays.clone();
        let rooms = Rooms::builder(2).on_last_exit(PUSH, move || closed.grow());
        Self { mistake, arrays, rooms: rooms.build().expect("two rooms") }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }
}

impl Arrays {
    fn grow(&self) {
        if self.start.load(Relaxed) {
            self.start.store(false, Relaxed);
            self.last.fetch_add(1, Relaxed);
        }
    }

    /// `A`, and `B` if there is one.
    fn both(&self) -> (&[AtomicU64], Option<&[AtomicU64]>) {
        let last = self.last.load(Relaxed);
        let old = last.checked_sub(1).map(|old| self.places[old].as_slice());
        (&self.places[last], old)
    }

    /// Whether there was room.
    fn push(&self, task: u64) -> bool {
        let (new, old) = self.both();
        let size = new.len() - 1;
        let j = self.top.fetch_add(1, SeqCst) as usize;
        if j >= size {
            self.start.store(true, Relaxed);
            self.top.fetch_sub(1, SeqCst);
            return false;
        }
        match old {
            Some(old) if j >= size / 2 => {
                let copied = j - size / 2 + 1;
                new[copied].store(old[copied].load(Relaxed), Relaxed);
                new[j + 1].store(task, Relaxed);
            }
            Some(old) => old[j + 1].store(task, Relaxed),
            None => new[j + 1].store(task, Relaxed),
        }
        true
    }
}

impl Twin for Figure4 {
    fn name(&self) {
        let arrays = &self.arrays;
        trace::name(&*arrays.top, "top");
        trace::name(&*arrays.start, "start");
        for (array, places) in arrays.places.iter().enumerate() {
            for (place, word) in places.iter().enumerate() {
                trace::name(word, &format!("array{array}[{}]", place as i64 - 1));
            }
        }
    }

    /// A push that finds no room twice gives up: there is always some in the next batch.
    fn put(&self, task: u64) -> bool {
        let mut guard = self.rooms.enter(PUSH).unwrap();
        if self.arrays.push(task) {
            return true;
        }
        if self.has(Mistake::EntersAgain) {
            drop(guard);
            guard = self.rooms.enter(PUSH).unwrap();
        } else {
            guard.change_to(PUSH).unwrap();
        }
        let room = self.arrays.push(task);
        drop(guard);
        room
    }

    fn get(&self) -> Option<u64> {
        let guard = self.rooms.enter(POP).unwrap();
        let arrays = &self.arrays;
        let (new, old) = arrays.both();
        let half = (new.len() as i64 - 1) / 2;
        let j = arrays.top.fetch_sub(1, SeqCst);
        let wrong = |mistake| i64::from(self.has(mistake));
        let task = if j <= -wrong(Mistake::EmptyBelowZero) {
            arrays.top.fetch_add(1, SeqCst);
            None
        } else {
            let array = old.filter(|_| j <= half - wrong(Mistake::BorderOffByOne));
            Some(array.unwrap_or(new)[j as usize].load(Relaxed))
        };
        drop(guard);
        task
    }
}
