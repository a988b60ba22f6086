//! Is there nothing? A double collect over all chunks of all homes.

use super::chunk::{Chunk, Header};
use super::table::Place;
use super::{Pools, Taker};
use machine::fence;
use std::ptr::NonNull;

/// What a scan found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::salsa) enum Emptiness {
    /// At one instant there was no task.
    Empty,
    /// There was one; the number is another when it is another.
    Task(u64),
    /// Somebody was at work meanwhile.
    Disturbed,
}

/// A chunk without a task, to be looked at again.
struct Looked<T> {
    place: Place<T>,
    chunk: Chunk<T>,
    /// The slot that the next task will be in.
    slot: u32,
    /// The header that said that it was not there.
    header: Header,
}

/// What is remembered between the passes; kept for its memory.
pub(super) struct Notes<T> {
    /// The home to begin with, another one after each proof: the first that has a task is looked at
    /// again and again.
    first: usize,
    appends: Vec<u64>,
    looked: Vec<Looked<T>>,
}

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self { first: 0, appends: Vec::new(), looked: Vec::new() }
    }
}

impl<T> Taker<T> {
    /// Whether all pools are empty.
    pub(in crate::salsa) fn scan(&mut self) -> Emptiness {
        self.put_back();
        let mut notes = std::mem::take(&mut self.notes);
        notes.appends.clear();
        notes.looked.clear();
        let found = self.scan_with(&mut notes);
        if found == Emptiness::Empty {
            notes.first = notes.first.wrapping_add(1);
        }
        let free = self.free();
        self.guard.clear(free);
        self.notes = notes;
        found
    }

    fn scan_with(&mut self, notes: &mut Notes<T>) -> Emptiness {
        let used = self.pools.used();
        notes.appends.extend((0..used).map(|id| self.appends(id)));
        let first = notes.first % used;
        for id in (first..used).chain(0..first) {
            let Some(home) = self.pools.lasting_home(id) else { continue };
            for place in home.table.places() {
                if let Some(found) = self.look_first(place, notes) {
                    return found;
                }
            }
        }
        // empty: the instant. What was there before is seen by the second pass, or was by the first.
        fence::full();
        if !notes.looked.iter().all(|looked| self.looks_the_same(looked)) {
            return Emptiness::Disturbed;
        }
        let appends = (0..used).all(|id| self.appends(id) == notes.appends[id]);
        if appends && self.pools.used() == used { Emptiness::Empty } else { Emptiness::Disturbed }
    }

    fn appends(&self, id: usize) -> u64 {
        self.pools.home(id).map_or(0, |home| home.appends())
    }

    /// The first pass, for one place. An answer, if this chunk gives one.
    fn look_first(&mut self, place: Place<T>, notes: &mut Notes<T>) -> Option<Emptiness> {
        let free = self.free();
        let chunk = Chunk::from_raw(NonNull::new(self.guard.protect(free, place.word()))?);
        let plan = &self.pools.settings.plan;
        let word = chunk.word();
        if word.is_retired() {
            return None;
        }
        if !word.is_stable() {
            // The index in force may hold an announcement that its owner made after the claim.
            if self.waited_out(chunk, word) {
                self.tally.changes += 1;
                let undone = chunk.change(word, word.rolled_back());
                self.tally.undone += u64::from(undone);
            }
            return Some(Emptiness::Disturbed);
        }
        let mut slot = chunk.index(plan, word.owner());
        // empty: the index, then whether it was the one in force.
        fence::full();
        if chunk.word() != word {
            return Some(Emptiness::Disturbed);
        }
        let lap = chunk.life(|life| life.lap);
        let end = chunk.end();
        while slot < end {
            let header = chunk.look(plan, slot);
            if slot >= plan.first::<T>(slot) + header.count(lap) {
                notes.looked.push(Looked { place, chunk, slot, header });
                return None;
            }
            let untaken = chunk.past_taken(plan, slot);
            if untaken == slot {
                return Some(Emptiness::Task(word.bits().wrapping_add(u64::from(slot))));
            }
            slot = untaken;
        }
        None
    }

    /// The second pass, for one chunk.
    fn looks_the_same(&mut self, looked: &Looked<T>) -> bool {
        let free = self.free();
        let now = self.guard.protect(free, looked.place.word());
        now == looked.chunk.as_raw().as_ptr()
            && looked.chunk.look(&self.pools.settings.plan, looked.slot) == looked.header
    }
}

impl<T> Pools<T> {
    /// How many tasks there were a moment ago.
    pub(in crate::salsa) fn len_hint(&self) -> usize {
        // SAFETY: it is dropped before we return.
        let mut guard = unsafe { self.domain.join() };
        let plan = &self.settings.plan;
        let mut tasks = 0;
        for home in (0..self.used()).filter_map(|id| self.home(id)) {
            for place in home.table.places() {
                let Some(chunk) = NonNull::new(guard.protect(0, place.word())) else { continue };
                let chunk = Chunk::from_raw(chunk);
                let word = chunk.word();
                if word.is_retired() {
                    continue;
                }
                let lap = chunk.life(|life| life.lap);
                let mut slot = chunk.index(plan, word.from());
                while slot < chunk.end() && slot < chunk.published(plan, slot, lap) {
                    tasks += usize::from(!chunk.is_taken(plan, slot));
                    slot += 1;
                }
            }
        }
        tasks
    }
}
