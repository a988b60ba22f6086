//! Runs of tasks: one announcement for many.

use super::chunk::{Chunk, send_back, send_group_back, take};
use super::hand::Spot;
use super::plan::{Group, Plan, WORD};
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
        let (fencing, plan) = (settings.fencing, &settings.plan);
        let Some(held) = &mut self.held[entry] else { return 0 };
        let (chunk, k) = (held.chunk, held.k);
        let most = settings.batch.min(u32::try_from(max).unwrap_or(u32::MAX));
        held.seen = see_further(chunk, plan, held.seen, held.lap, k.saturating_add(most));
        let count = most.min(held.seen - k);
        // Before anything is announced: it may panic.
        into.reserve(count as usize);
        let before = into.len();
        let careful = held.careful > 0;
        if careful {
            // I5: the claims come before the announcement.
            self.tally.claims += take_won(chunk, plan, k, count, into);
        }
        let next = chunk.next(plan, self.me);
        let gone = !fencing.announce(next, k + count, chunk.owner(), held.mine);
        if !careful && gone {
            self.tally.claims += take_won(chunk, plan, k, count, into);
        } else if !careful {
            // SAFETY: published, announced, and ours afterwards (I4).
            unsafe { take_all(chunk, plan, k, count, into) };
        }
        let got = into.len() - before;
        self.tally.gets += got as u64;
        held.k = k + count;
        if careful && !fencing.always_claims() {
            held.careful = held.careful.saturating_sub(got as u32);
        }
        if gone {
            self.let_go(entry);
        } else if k + count == plan.slots {
            self.retire_held(entry);
        }
        got
    }
}

/// As far as tasks are published from `seen` on, group by group, as long as it is not `enough`.
fn see_further<T>(chunk: Chunk<T>, plan: &Plan, seen: u32, lap: u64, enough: u32) -> u32 {
    let (mut seen, enough) = (seen, enough.min(plan.slots));
    if seen >= enough {
        return seen;
    }
    let mut spot = Spot::of(chunk, plan, seen, lap);
    loop {
        // SAFETY: a header of the chunk that we hold (I2): `seen` is one of its slots.
        let published = unsafe { spot.published() };
        if published <= i64::from(seen) {
            return seen;
        }
        seen = published as u32;
        if seen < spot.end || seen >= enough {
            return seen;
        }
        spot.turn_over();
    }
}

/// Takes those of `count` slots from `slot` on that are won by a claim. How many claims that took.
fn take_won<T>(chunk: Chunk<T>, plan: &Plan, slot: u32, count: u32, into: &mut Vec<T>) -> u64 {
    let (mut slot, end) = (slot, slot + count);
    let mut claims = 0;
    while slot < end {
        let run = (end - slot).min(WORD - slot % WORD);
        let mut won = chunk.claim_run(plan, slot, run);
        claims += 1;
        while won != 0 {
            let place = won.trailing_zeros();
            // SAFETY: published, and won (I4).
            into.push(unsafe { take(chunk.slot(plan, slot + place)) });
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
unsafe fn take_all<T>(chunk: Chunk<T>, plan: &Plan, slot: u32, count: u32, into: &mut Vec<T>) {
    debug_assert!(count > 0);
    into.reserve(count as usize);
    let end = slot + count;
    let mut slot = slot;
    let mut spot = Spot::of(chunk, plan, slot, 0);
    // SAFETY: the room is reserved.
    let mut to = unsafe { into.as_mut_ptr().add(into.len()) };
    loop {
        let run = (spot.end.min(end) - slot) as usize;
        let from = spot.slot(slot);
        // SAFETY: the caller's; the slots of a group lie behind each other, and there is room for all
        // of them behind those that the vector has. A loop that is as long as a group is one without
        // counting.
        unsafe {
            let put = |place| to.add(place).write(take(from.add(place)));
            if run == Group::<T>::SLOTS as usize {
                (0..Group::<T>::SLOTS as usize).for_each(put);
            } else {
                (0..run).for_each(put);
            }
            to = to.add(run);
        }
        if !Group::<T>::IS_LINE {
            // SAFETY: just taken, and not retired before we return.
            (0..run).for_each(|place| unsafe { send_back(from.add(place)) });
        }
        slot += run as u32;
        if slot == spot.end || slot == plan.slots {
            // SAFETY: as above.
            unsafe { send_group_back(spot.header, from.add(run - 1)) };
        }
        if slot == end {
            break;
        }
        spot.turn_over();
    }
    // SAFETY: so many have been written behind those that there were.
    unsafe { into.set_len(into.len() + count as usize) };
}
