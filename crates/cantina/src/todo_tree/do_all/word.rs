//! Who has a task: one word for each.

/// Bits of a holder.
const HOLDER: u32 = 20;
/// Bits of the number of take-overs, above it.
const TAKEOVERS: u32 = 6;
/// The first bit of the number of the claim, above both.
const NUMBER: u32 = HOLDER + TAKEOVERS;
const MOST_TAKEOVERS: u64 = (1 << TAKEOVERS) - 1;
const FREE: u64 = 0;
const DONE: u64 = (1 << HOLDER) - 1;

/// How many workers there can be, one after the other.
pub(super) const MAX_WORKERS: u64 = DONE - 1;

/// The number of the latest claim, above how often the task was taken over, above the holder. Claims of a task are numbered
/// on, so that no two are the same: 2^38 of them before one comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

/// What a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Free,
    /// By the worker of that number, from 1 on.
    Held(u32),
    Done,
}

impl Word {
    pub(super) fn free() -> Self {
        Self(FREE)
    }

    pub(super) fn state(self) -> State {
        match self.0 & DONE {
            FREE => State::Free,
            DONE => State::Done,
            holder => State::Held(holder as u32),
        }
    }

    /// The next claim, by `worker`.
    pub(super) fn claimed_by(self, worker: u32) -> Self {
        Self((self.0 & !DONE).wrapping_add(1 << NUMBER) | u64::from(worker))
    }

    /// The same, from a holder that has had it for too long.
    pub(super) fn taken_over_by(self, worker: u32) -> Self {
        let once_more = u64::from(self.takeovers() < MOST_TAKEOVERS as u32) << HOLDER;
        Self(self.0 + once_more).claimed_by(worker)
    }

    /// How often it was taken over; 63 times, or more often.
    pub(super) fn takeovers(self) -> u32 {
        (self.0 >> HOLDER & MOST_TAKEOVERS) as u32
    }

    /// The same claim, given back.
    pub(super) fn given_back(self) -> Self {
        Self(self.0 & !DONE | FREE)
    }

    /// The same claim, and its task done.
    pub(super) fn done(self) -> Self {
        Self(self.0 | DONE)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WORKERS, State, Word};

    #[test]
    fn no_claim_is_like_another() {
        let worker = MAX_WORKERS as u32;
        let first = Word::free().claimed_by(worker);
        assert_eq!(first.state(), State::Held(worker));
        let back = first.given_back();
        assert_eq!(back.state(), State::Free);
        let second = back.claimed_by(worker);
        assert_ne!(first, second);
        assert_ne!(second.claimed_by(1), second.claimed_by(2));
        assert_eq!(second.done().state(), State::Done);
        assert_eq!(Word(u64::MAX - (1 << 20) + 2).claimed_by(3).state(), State::Held(3));
        let last = Word(!((1 << 26) - 1));
        assert_eq!(last.claimed_by(3), Word(3), "they go round");
    }

    #[test]
    fn take_overs_are_counted_as_far_as_there_is_room() {
        let mut word = Word::free().claimed_by(1);
        for takeovers in 1..200 {
            let next = word.taken_over_by(2);
            assert_eq!(next.takeovers(), takeovers.min(63));
            assert_eq!(next.state(), State::Held(2));
            assert_ne!(next, word);
            word = next.given_back().claimed_by(3);
            assert_eq!(word.takeovers(), takeovers.min(63), "a new claim is none");
        }
        assert_eq!(word.done().takeovers(), 63);
    }
}
