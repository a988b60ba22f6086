//! The words of all tasks, and which of them are left.

use super::word::{MAX_WORKERS, State, Word};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::time::nanos;

/// Tasks that a word of bits stands for.
const GROUP: usize = u64::BITS as usize;

pub(super) struct Search {
    entries: Box<[Entry]>,
    /// A bit for each task that may not be done.
    left: Box<[AtomicU64]>,
    /// How many workers there have been.
    workers: AtomicU64,
    /// The age, in nanoseconds, from which on the first claim to a task is taken over. That of the next is twice as much.
    reclaim_after: Option<u64>,
    at_most_once: bool,
}

struct Entry {
    word: AtomicU64,
    /// When the latest claim was made, or somebody failed to make one; kept where that matters.
    since: AtomicU64,
}

/// The age from which on a claim is taken over, of a task that was taken over so often: twice as much each time. So those who
/// work for longer than the first age, and would take each other's claims for ever, come to an age at which one of them ends.
fn grown(age: u64, takeovers: u32) -> u64 {
    age.saturating_mul(1 << takeovers)
}

impl Search {
    pub(super) fn new(tasks: usize, reclaim_after: Option<u64>, at_most_once: bool) -> Self {
        let entry = |_| Entry { word: AtomicU64::new(Word::free().0), since: AtomicU64::new(0) };
        let group = |first: usize| {
            let size = GROUP.min(tasks - first);
            AtomicU64::new(u64::MAX >> (GROUP - size))
        };
        Self {
            entries: (0..tasks).map(entry).collect(),
            left: (0..tasks).step_by(GROUP).map(group).collect(),
            workers: AtomicU64::new(0),
            reclaim_after,
            at_most_once,
        }
    }

    /// The number of one more worker, from 1 on.
    pub(super) fn join(&self) -> Option<u32> {
        let more = |had| (had < MAX_WORKERS).then_some(had + 1);
        // bare: each number is given once, and carries nothing.
        let had = self.workers.fetch_update(Relaxed, Relaxed, more).ok()?;
        Some(had as u32 + 1)
    }

    fn look(&self, task: usize) -> Word {
        // done: the work, if it says so. claim: what was done before it was given back.
        Word(self.entries[task].word.load(Acquire))
    }

    fn exchange(&self, task: usize, seen: Word, new: Word) -> bool {
        // claim: what was done before the claim is given back, and since when it is held. done: the work. What came before
        // was seen with `seen`. On failure nothing is read.
        self.entries[task].word.compare_exchange(seen.0, new.0, Release, Relaxed).is_ok()
    }

    /// The tasks that may not be done, from `start` on.
    fn unfinished(&self, start: usize) -> impl Iterator<Item = usize> {
        let groups = self.left.len();
        let first = start / GROUP;
        let later = u64::MAX << (start % GROUP);
        // The first group comes twice: what is before the start comes last.
        (0..=groups).filter(move |_| groups > 0).flat_map(move |turn| {
            let group = (first + turn) % groups;
            // done: the work of those whose bits are cleared.
            let bits = self.left[group].load(Acquire);
            let mut bits = match turn {
                0 => bits & later,
                _ if turn == groups => bits & !later,
                _ => bits,
            };
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros() as usize);
                bits &= bits.wrapping_sub(1);
                bit.map(|bit| group * GROUP + bit)
            })
        })
    }

    /// What its word says; a task that is done is not looked at again (I2).
    fn state(&self, task: usize) -> State {
        let state = self.look(task).state();
        if state == State::Done {
            self.forget(task);
        }
        state
    }

    fn forget(&self, task: usize) {
        // done: the work, ours or that of whoever we saw it from.
        self.left[task / GROUP].fetch_and(!(1 << (task % GROUP)), Release);
    }

    /// A task, from `start` on, that is the worker's now, and the word that says so.
    pub(super) fn claim(&self, worker: u32, start: usize) -> Option<(usize, Word)> {
        let free =
            |_: &Entry, seen: Word| (seen.state() == State::Free).then(|| seen.claimed_by(worker));
        self.claim_if(start, free).or_else(|| {
            let age = self.reclaim_after?;
            self.claim_if(start, |entry, seen| match seen.state() {
                State::Held(holder) if holder != worker => {
                    // claim: came with the word: no earlier than the claim that we have seen.
                    let since = entry.since.load(Relaxed);
                    let is_old = nanos().saturating_sub(since) >= grown(age, seen.takeovers());
                    is_old.then(|| seen.taken_over_by(worker))
                }
                _ => free(entry, seen),
            })
        })
    }

    /// The first task, from `start` on, for which there is a claim to put in place of its word, and that claim.
    fn claim_if(
        &self,
        start: usize,
        claim: impl Fn(&Entry, Word) -> Option<Word>,
    ) -> Option<(usize, Word)> {
        for task in self.unfinished(start) {
            let entry = &self.entries[task];
            let seen = self.look(task);
            if seen.state() == State::Done {
                self.forget(task);
            } else if let Some(claimed) = claim(entry, seen) {
                if self.reclaim_after.is_some() {
                    // claim: before the claim itself, so that no claim has the time of an earlier one.
                    entry.since.fetch_max(nanos(), Relaxed);
                }
                if self.exchange(task, seen, claimed) {
                    return Some((task, claimed));
                }
            }
        }
        None
    }

    /// The task is done, if the claim stands.
    pub(super) fn done(&self, task: usize, claimed: Word) -> bool {
        let accepted = self.exchange(task, claimed, claimed.done());
        if accepted {
            self.forget(task);
        }
        accepted
    }

    /// Gives a claim back, if it stands and may be given back. Whether it did.
    pub(super) fn give_back(&self, task: usize, claimed: Word) -> bool {
        !self.at_most_once && self.exchange(task, claimed, claimed.given_back())
    }

    /// Takes all claims from a worker; how many.
    pub(super) fn reclaim(&self, worker: u32) -> usize {
        let taken = self.unfinished(0).filter(|&task| {
            let seen = self.look(task);
            seen.state() == State::Held(worker) && self.give_back(task, seen)
        });
        taken.count()
    }

    pub(super) fn is_finished(&self) -> bool {
        self.unfinished(0).all(|task| self.state(task) == State::Done)
    }

    pub(super) fn remaining(&self) -> usize {
        self.unfinished(0).filter(|&task| self.state(task) != State::Done).count()
    }

    pub(super) fn states(&self) -> impl Iterator<Item = State> {
        (0..self.entries.len()).map(|task| self.look(task).state())
    }
}

#[cfg(test)]
mod tests {
    use super::grown;

    #[test]
    fn an_age_grows_without_end() {
        assert_eq!((grown(5, 0), grown(5, 1), grown(5, 10)), (5, 10, 5 << 10));
        assert_eq!((grown(1, 63), grown(3, 63), grown(u64::MAX, 1)), (1 << 63, u64::MAX, u64::MAX));
    }
}
