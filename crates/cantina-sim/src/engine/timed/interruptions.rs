//! When the processor is taken away from a thread, and when it has it again.
//!
//! Who runs loses all of an interruption. Who waits does not notice those that end before its wait does, and goes on behind one that
//! does not. Stores that are under way become visible meanwhile.

use crate::cost::Interruption;
use crate::cost::tree::NEVER;
use cantina_machine::random::Random;

/// Sets them apart from other random numbers of a run.
const INTERRUPTIONS: u64 = 0x1d1e_5eed_7e1e_0900;

/// More of a kind at once are passed as if they came at their mean times: somebody sleeps or computes for ages.
const ONE_BY_ONE: u64 = 1_024;

/// What threads have before them.
pub(super) struct Interruptions {
    kinds: Vec<Interruption>,
    /// By slot and kind: when the next one begins.
    next: Vec<Vec<u64>>,
    /// By slot: when the first of them does.
    first: Vec<u64>,
    random: Random,
}

impl Interruptions {
    pub(super) fn new(kinds: &[Interruption], seed: u64) -> Self {
        let random = Random::seeded(seed ^ INTERRUPTIONS);
        Self { kinds: kinds.to_vec(), next: Vec::new(), first: Vec::new(), random }
    }

    /// The thread in `slot` begins at `now`.
    pub(super) fn add(&mut self, slot: usize, now: u64) {
        if slot >= self.first.len() {
            self.first.resize(slot + 1, NEVER);
            self.next.resize(slot + 1, Vec::new());
        }
        let random = &mut self.random;
        self.next[slot] = self.kinds.iter().map(|kind| now + draw(random, kind.every)).collect();
        self.look(slot);
    }

    /// When the thread in `slot` has done what it would have done by `done`, had nobody interrupted it.
    #[inline]
    pub(super) fn run_until(&mut self, slot: usize, done: u64) -> u64 {
        if done < self.first[slot] { done } else { self.pass(slot, done, true) }
    }

    /// When the thread in `slot` goes on, which has waited until `time`.
    #[inline]
    pub(super) fn waited_until(&mut self, slot: usize, time: u64) -> u64 {
        if time < self.first[slot] { time } else { self.pass(slot, time, false) }
    }

    /// Lets those happen that begin by `time`; when the thread goes on.
    #[cold]
    fn pass(&mut self, slot: usize, mut time: u64, runs: bool) -> u64 {
        while self.first[slot] <= time {
            let start = self.first[slot];
            for (next, kind) in self.next[slot].iter_mut().zip(&self.kinds) {
                if *next == start {
                    let many = (time - start) / kind.every;
                    if many > ONE_BY_ONE {
                        *next += many * kind.every;
                        time += if runs { many * kind.lasts } else { 0 };
                        continue;
                    }
                    let end = start + kind.lasts;
                    time = if runs { time + kind.lasts } else { time.max(end) };
                    *next = end + 1 + draw(&mut self.random, kind.every - kind.lasts);
                }
            }
            self.look(slot);
        }
        time
    }

    fn look(&mut self, slot: usize) {
        self.first[slot] = self.next[slot].iter().copied().min().unwrap_or(NEVER);
    }
}

/// A time of `mean` on average: anything up to twice that.
fn draw(random: &mut Random, mean: u64) -> u64 {
    random.below(2 * mean as usize + 1) as u64
}

#[cfg(test)]
mod tests {
    use super::Interruptions;
    use crate::cost::Interruption;

    const KINDS: [Interruption; 2] =
        [Interruption { every: 1_000, lasts: 10 }, Interruption { every: 50_000, lasts: 5_000 }];

    #[test]
    fn who_runs_loses_what_interruptions_last() {
        let mut interruptions = Interruptions::new(&KINDS, 1);
        interruptions.add(3, 0);
        let (mut clock, mut lost) = (0, 0);
        for _ in 0..1_000_000 {
            let later = interruptions.run_until(3, clock + 10);
            lost += later - clock - 10;
            clock = later;
        }
        let part = lost as f64 / clock as f64;
        assert!((0.10..0.12).contains(&part), "{part}");
    }

    #[test]
    fn who_waits_is_held_up_by_what_has_not_ended() {
        let mut interruptions = Interruptions::new(&KINDS[1..], 1);
        interruptions.add(0, 0);
        let held = (1..100_000).filter(|turn| {
            let time = turn * 300_000;
            let later = interruptions.waited_until(0, time);
            assert!(later <= time + 5_000);
            later > time
        });
        let held = held.count();
        assert!((9_000..11_000).contains(&held), "{held}");
    }

    #[test]
    fn where_there_are_none_nobody_is_held_up() {
        let mut interruptions = Interruptions::new(&[], 1);
        interruptions.add(0, 7);
        assert_eq!(interruptions.run_until(0, 1 << 40), 1 << 40);
        assert_eq!(interruptions.waited_until(0, 1 << 40), 1 << 40);
    }

    #[test]
    fn ages_pass_at_once() {
        let mut interruptions = Interruptions::new(&KINDS, 1);
        interruptions.add(0, 0);
        let ages = 1 << 50;
        assert!(interruptions.waited_until(0, ages) <= ages + 5_010);
        let part = (interruptions.run_until(0, 2 * ages) - 2 * ages) as f64 / ages as f64;
        assert!((0.11..0.13).contains(&part), "{part}");
    }
}
