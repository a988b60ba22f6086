//! What threads write: stores on their way through the buffer, and who sees them.

use crate::cost::coherence::Kind;
use crate::cost::line::LINE_BITS;
use crate::engine::access::Op;
use crate::engine::table::Table;
use crate::engine::timed::{Lane, Timed, buffer_leaf, lines, thread_leaf};
use crate::memory::buffer::{CAPACITY, Pending};
use crate::memory::place::Place;
use crate::trace::What;

impl Timed {
    /// What the current thread reads at `place`.
    pub(crate) fn load(&mut self, table: &mut Table, place: Place) -> u64 {
        self.look(table.current, place);
        table.current().buffer.forward(place).unwrap_or_else(|| place.read())
    }

    /// The thread in `slot` has looked at the word at `place`.
    fn look(&mut self, slot: usize, place: Place) {
        let id = self.coherence.line(place.address(), self.lanes[slot].core);
        let version = self.coherence.lines.get(id).version;
        self.lanes[slot].lookout.load(id, version);
    }

    /// The current thread writes `bits` at `place`.
    pub(crate) fn store(&mut self, table: &mut Table, place: Place, bits: u64) {
        let slot = table.current;
        if table.current().about.op == Op::SeqCstStore {
            place.write(bits);
            self.written(table, slot, place.address());
            return;
        }
        let issued = self.lanes[slot].clock;
        table.current().buffer.push(place, bits, issued);
        self.enqueue(table, slot);
    }

    /// The current thread writes what `f` makes of the word at `place`, if it makes something.
    pub(crate) fn update(
        &mut self,
        table: &mut Table,
        place: Place,
        f: &dyn Fn(u64) -> Option<u64>,
    ) -> Result<u64, u64> {
        let slot = table.current;
        let old = place.read();
        let Some(new) = f(old) else {
            self.look(slot, place);
            return Err(old);
        };
        self.lanes[slot].lookout.act();
        place.write(new);
        self.written(table, slot, place.address());
        Ok(old)
    }

    /// The current thread does what it was about to do, which is no access to a word.
    pub(crate) fn act(&mut self, table: &mut Table) {
        let slot = table.current;
        let access = table.current().about;
        match access.op {
            Op::Write => {
                let issued = self.lanes[slot].clock;
                let buffer = &mut table.current().buffer;
                lines(access).take(CAPACITY).for_each(|address| buffer.push_plain(address, issued));
                self.enqueue(table, slot);
            }
            Op::HeavyFence => {
                self.drain_all(table);
                self.interrupt(table);
            }
            Op::Rmw | Op::Cas | Op::Lock | Op::Unlock | Op::Unpark => {
                self.written(table, slot, access.address);
            }
            _ => {}
        }
    }

    /// The thread in `slot` has put stores into its buffer.
    fn enqueue(&mut self, table: &mut Table, slot: usize) {
        if !self.buffered.contains(slot) && !table.thread(slot).buffer.is_empty() {
            self.buffered.insert(slot);
            self.request(table, slot, 0);
        }
    }

    /// Asks for the line of the oldest store of the thread in `slot`, which becomes visible then.
    fn request(&mut self, table: &mut Table, slot: usize, now: u64) {
        let Some(&oldest) = table.thread(slot).buffer.oldest() else {
            self.buffered.remove(slot);
            self.events.clear(buffer_leaf(slot));
            return;
        };
        let start = now.max(oldest.issued + self.coherence.costs().drain);
        let done = self.touch(self.lanes[slot].core, oldest.address, Kind::Store, start);
        self.events.set(buffer_leaf(slot), done);
    }

    /// The oldest store of the thread in `slot` becomes visible at `time`, and with it those right
    /// behind it to the same line.
    pub(super) fn commit(&mut self, table: &mut Table, slot: usize, time: u64) {
        let line = |address: usize| address >> LINE_BITS;
        let buffer = &mut table.thread(slot).buffer;
        let first = buffer.oldest().map_or(0, |oldest| line(oldest.address));
        while let Some(store) = table.thread(slot).buffer.oldest().copied() {
            if line(store.address) != first {
                break;
            }
            table.thread(slot).buffer.pop();
            self.write(table, slot, store, time);
        }
        self.written_at(table, slot, first << LINE_BITS, time);
        self.request(table, slot, time);
        self.resume(table, slot, time);
    }

    /// The contents of a store of the thread in `slot` arrive in memory.
    fn write(&self, table: &mut Table, slot: usize, store: Pending, time: u64) {
        if let Some((place, bits)) = store.word {
            place.write(bits);
            if table.log.is_some() {
                let nanos = self.nanos(time);
                table.record(slot, place.address(), nanos, What::Visible { value: bits });
            }
        }
    }

    /// If the thread in `slot` waits for room in its store buffer, and there is: it begins its step.
    fn resume(&mut self, table: &mut Table, slot: usize, time: u64) {
        let room = table.thread(slot).buffer.room();
        if self.lanes[slot].needs.is_some_and(|needs| needs <= room) {
            let lane = &mut self.lanes[slot];
            lane.needs = None;
            lane.clock = lane.clock.max(time);
            let access = table.thread(slot).about;
            self.begin(table, slot, access);
            self.events.set(thread_leaf(slot), self.lanes[slot].clock);
        }
    }

    /// The thread in `slot` has written to the line at `address`.
    fn written(&mut self, table: &mut Table, slot: usize, address: usize) {
        self.written_at(table, slot, address, self.lanes[slot].clock);
    }

    fn written_at(&mut self, table: &mut Table, slot: usize, address: usize, time: u64) {
        self.rounds = 0;
        let id = self.coherence.line(address, self.lanes[slot].core);
        let line = self.coherence.lines.get(id);
        line.version = line.version.wrapping_add(1);
        if std::mem::take(&mut line.watched) {
            for slot in self.idle.iter() {
                if self.lanes[slot].lookout.lines().any(|seen| seen == id) {
                    let lane = &mut self.lanes[slot];
                    lane.clock = self.interruptions.waited_until(slot, lane.clock.max(time));
                    self.events.set(thread_leaf(slot), lane.clock);
                    self.rouse(table, slot);
                }
            }
        }
    }

    /// Makes all stores of the thread in `slot` visible at once.
    pub(super) fn drain(&mut self, table: &mut Table, slot: usize) {
        self.flush(table, slot, usize::MAX);
    }

    /// Makes all stores of everybody visible at once.
    pub(crate) fn drain_all(&mut self, table: &mut Table) {
        self.buffered.iter().for_each(|slot| self.drain(table, slot));
    }

    /// Makes the stores visible that lie between `start` and `end`, and those before them.
    pub(crate) fn clear(&mut self, table: &mut Table, start: usize, end: usize) {
        for slot in self.buffered.iter() {
            let count = table.thread(slot).buffer.until_clear_of(start, end);
            self.flush(table, slot, count);
        }
    }

    /// Makes the `count` oldest stores of the thread in `slot` visible at once.
    fn flush(&mut self, table: &mut Table, slot: usize, count: usize) {
        let Lane { core, clock, .. } = self.lanes[slot];
        let time = clock.max(self.latest);
        let mut left = count;
        while left > 0
            && let Some(store) = table.thread(slot).buffer.pop()
        {
            left -= 1;
            self.write(table, slot, store, time);
            let id = self.coherence.line(store.address, core);
            self.coherence.seize(core, id);
            self.written_at(table, slot, store.address, time);
        }
        if left != count {
            self.request(table, slot, time);
            self.resume(table, slot, time);
        }
    }
}
