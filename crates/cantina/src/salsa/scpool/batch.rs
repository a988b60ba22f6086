//! Runs of tasks: one announcement for many.

use super::chunk::{Chunk, send_back, send_group_back, take};
use super::shape::{Group, Shape, WORD};
use super::{HAZARDS, Taker};

impl<T> Taker<T> {
    /// As [`consume`](Self::consume), for up to `max` tasks of the working set. How many there were.
    pub(in crate::salsa) fn consume_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        self.put_back();
        let (first, before) = (self.at, into.len());
        for step in 0..HAZARDS {
            let entry = (first + step) % HAZARDS;
            while into.len() - before < max {
                if self.take_run(entry, max - (into.len() - before), into) == 0 {
                    break;
                }
                self.at = entry;
            }
        }
        into.len() - before
    }

    /// Takes up to `max` tasks from the chunk of `entry` with one announcement. How many; none when
    /// there are none now, all were lost, or the chunk has gone.
    fn take_run(&mut self, entry: usize, max: usize, into: &mut Vec<T>) -> usize {
        let Some(held) = &self.held[entry] else { return 0 };
        if held.k == held.seen && !self.refill(entry) {
            return 0;
        }
        let settings = &self.pools.settings;
        let (fencing, shape) = (settings.fencing, &settings.shape);
        let Some(held) = &mut self.held[entry] else { return 0 };
        let (chunk, k) = (held.chunk, held.k);
        let most = settings.batch.min(u32::try_from(max).unwrap_or(u32::MAX));
        held.seen = see_further(chunk, shape, held.seen, held.lap, k.saturating_add(most));
        let count = most.min(held.seen - k);
        // Before anything is announced: it may panic.
        into.reserve(count as usize);
        let before = into.len();
        let careful = held.careful > 0;
        if careful {
            // I5: the claims come before the announcement.
            self.tally.claims += take_won(chunk, shape, k, count, into);
        }
        let next = chunk.next(shape, self.me);
        let gone = !fencing.announce(next, k + count, chunk.owner(), held.mine);
        if !careful && gone {
            self.tally.claims += take_won(chunk, shape, k, count, into);
        } else if !careful {
            // SAFETY: published, announced, and ours afterwards (I4).
            unsafe { take_all(chunk, shape, k, count, into) };
        }
        let got = into.len() - before;
        self.tally.gets += got as u64;
        held.k = k + count;
        if careful && !fencing.always_claims() {
            held.careful = held.careful.saturating_sub(got as u32);
        }
        if gone {
            self.let_go(entry);
        } else if k + count == shape.slots {
            self.retire_held(entry);
        }
        got
    }
}

/// As far as tasks are published from `seen` on, group by group, as long as it is not `enough`.
fn see_further<T>(chunk: Chunk<T>, shape: &Shape, seen: u32, lap: u64, enough: u32) -> u32 {
    let mut seen = seen;
    while seen < enough.min(shape.slots) {
        let end = chunk.published(shape, seen, lap);
        if end <= seen {
            break;
        }
        seen = end;
    }
    seen
}

/// Takes those of `count` slots from `slot` on that are won by a claim. How many claims that took.
fn take_won<T>(chunk: Chunk<T>, shape: &Shape, slot: u32, count: u32, into: &mut Vec<T>) -> u64 {
    let (mut slot, end) = (slot, slot + count);
    let mut claims = 0;
    while slot < end {
        let run = (end - slot).min(WORD - slot % WORD);
        let mut won = chunk.claim_run(shape, slot, run);
        claims += 1;
        while won != 0 {
            let place = won.trailing_zeros();
            // SAFETY: published, and won (I4).
            into.push(unsafe { take(chunk.slot(shape, slot + place)) });
            won &= won - 1;
        }
        slot += run;
    }
    claims
}

/// Takes `count` slots from `slot` on.
///
/// # Safety
/// They are published, and ours (I4).
unsafe fn take_all<T>(chunk: Chunk<T>, shape: &Shape, slot: u32, count: u32, into: &mut Vec<T>) {
    into.reserve(count as usize);
    let (mut slot, end) = (slot, slot + count);
    while slot < end {
        let run_end = shape.end::<T>(slot).min(end);
        let run = (run_end - slot) as usize;
        let from = chunk.slot(shape, slot);
        // SAFETY: the caller's; the slots of a group lie behind each other, and there is room for all
        // of them behind those that the vector has.
        unsafe {
            let to = into.as_mut_ptr().add(into.len());
            (0..run).for_each(|place| to.add(place).write(take(from.add(place))));
            into.set_len(into.len() + run);
        }
        if !Group::<T>::IS_LINE {
            // SAFETY: just taken, and not retired before we return.
            (0..run).for_each(|place| unsafe { send_back(from.add(place)) });
        }
        if run_end == shape.end::<T>(slot) {
            // SAFETY: as above.
            unsafe { send_group_back(chunk.header_at(shape, slot), from.add(run - 1)) };
        }
        slot = run_end;
    }
}
