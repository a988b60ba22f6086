//! A prism: slots in which a put and a get meet, or two of a kind.
//!
//! A slot is a word and a cell. The word is a state and a version, which is a new one each time the slot
//! becomes empty:
//!
//! | state | who made it | the cell | who may change it, and to what |
//! |---|---|---|---|
//! | `EMPTY` | whoever was last | free | a put: `BUSY`; a get: `WANTED` |
//! | `BUSY` | a put that writes its task, or takes it back; a get that takes it | his | he: `OFFERED`, `EMPTY` |
//! | `OFFERED` | a put that waits | its task | a get, or the put itself: `BUSY`; another put: `PAIRED` |
//! | `PAIRED` | a put that came later; both go on, the first with its task | the first one's | the first: `EMPTY` |
//! | `WANTED` | a get that waits | free | the get itself: `EMPTY`; a put: `GIVING`; another get: `PARTED` |
//! | `GIVING` | a put that writes its task | his | he: `GIVEN`; the get: `LEFT` |
//! | `GIVEN` | the put, which is done | the get's task | the get: `EMPTY` |
//! | `LEFT` | the get, which has gone on | the put's task | the put, which takes it back: `EMPTY` |
//! | `PARTED` | a get that came later; both go on | free | the first: `EMPTY` |
//!
//! Nobody waits for a change that only another can make: a get that finds `GIVING` for too long leaves. What is
//! shared of a cell is a matter of the table alone (I3).

use super::balancer::Side;
use machine::CachePadded;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{AcqRel, Acquire, Release};
use machine::cell::UnsafeCell;
use machine::random::Random;
use machine::thread;
use std::mem::MaybeUninit;

const EMPTY: u64 = 0;
const BUSY: u64 = 1;
const OFFERED: u64 = 2;
const PAIRED: u64 = 3;
const WANTED: u64 = 4;
const GIVING: u64 = 5;
const GIVEN: u64 = 6;
const LEFT: u64 = 7;
const PARTED: u64 = 8;

/// The version lies above the state.
const VERSION: u64 = 16;

/// The fewest looks at a slot in which one waits.
const LEAST_PATIENCE: u32 = 2;

/// Slots to meet in.
pub(super) struct Prism<T>(Box<[CachePadded<Slot<T>>]>);

/// One of them.
struct Slot<T> {
    /// A state and a version.
    word: AtomicU64,
    /// See I3.
    cell: UnsafeCell<MaybeUninit<T>>,
}

/// Whom one has met.
pub(super) enum Met<O, S> {
    /// One of the other kind: both are done.
    Other(O),
    /// One of the same: this way.
    Same(S, Side),
    Nobody(S),
}

/// How long a thread waits on a level of the tree, and over how many slots it spreads.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    looks: u32,
    most: u32,
    spread: usize,
}

// SAFETY: I3: a task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send> Sync for Slot<T> {}

impl Patience {
    pub(super) fn new(most: u32) -> Self {
        Self { looks: LEAST_PATIENCE, most: most.max(LEAST_PATIENCE), spread: 1 }
    }

    /// Somebody came: it is worth while to wait.
    fn met(&mut self) {
        self.looks = (2 * self.looks).min(self.most);
    }

    /// Nobody came: fewer slots, and not so long.
    fn waited_in_vain(&mut self) {
        self.looks = (self.looks / 2).max(LEAST_PATIENCE);
        self.spread = (self.spread / 2).max(1);
    }

    /// A slot was in use: more of them.
    fn was_crowded(&mut self) {
        self.spread *= 2;
    }
}

/// The state of a word.
fn state(word: u64) -> u64 {
    word % VERSION
}

/// The same version of another state.
fn to(word: u64, state: u64) -> u64 {
    word - word % VERSION + state
}

impl<T> Prism<T> {
    pub(super) fn new(slots: usize) -> Self {
        let slot = |_| {
            let cell = UnsafeCell::new(MaybeUninit::uninit());
            CachePadded::new(Slot { word: AtomicU64::new(EMPTY), cell })
        };
        Self((0..slots.max(1)).map(slot).collect())
    }

    fn any(&self, patience: &mut Patience, random: &mut Random) -> &Slot<T> {
        patience.spread = patience.spread.min(self.0.len());
        &self.0[random.below(patience.spread)]
    }

    /// Looks for somebody, with `task` to give.
    pub(super) fn put(&self, task: T, patience: &mut Patience, random: &mut Random) -> Met<(), T> {
        let slot = self.any(patience, random);
        let seen = slot.look();
        let met = match state(seen) {
            EMPTY if slot.change(seen, BUSY) => slot.offer(to(seen, BUSY), task, patience),
            WANTED if slot.change(seen, GIVING) => slot.give(to(seen, GIVING), task),
            OFFERED if slot.change(seen, PAIRED) => Met::Same(task, Side::Right),
            _ => {
                patience.was_crowded();
                return Met::Nobody(task);
            }
        };
        patience.heed(&met);
        met
    }

    /// Looks for somebody with a task.
    pub(super) fn get(&self, patience: &mut Patience, random: &mut Random) -> Met<T, ()> {
        let slot = self.any(patience, random);
        let seen = slot.look();
        let met = match state(seen) {
            // SAFETY: I3: it is ours from `OFFERED` to `EMPTY`.
            OFFERED if slot.change(seen, BUSY) => Met::Other(unsafe { slot.take(seen) }),
            EMPTY if slot.change(seen, WANTED) => slot.want(to(seen, WANTED), patience),
            WANTED if slot.change(seen, PARTED) => Met::Same((), Side::Right),
            _ => {
                patience.was_crowded();
                return Met::Nobody(());
            }
        };
        patience.heed(&met);
        met
    }
}

impl Patience {
    fn heed<O, S>(&mut self, met: &Met<O, S>) {
        match met {
            Met::Nobody(_) => self.waited_in_vain(),
            _ => self.met(),
        }
    }
}

impl<T> Slot<T> {
    fn look(&self) -> u64 {
        // slot: nothing is read before the word is changed.
        self.word.load(Acquire)
    }

    /// Changes the state, if the word still is `seen`.
    fn change(&self, seen: u64, state: u64) -> bool {
        self.try_change(seen, state).is_ok()
    }

    /// Changes the state, or tells what it is.
    fn try_change(&self, seen: u64, state: u64) -> Result<(), u64> {
        // slot: the cell, both ways. On failure what was done by whom we met.
        self.word.compare_exchange(seen, to(seen, state), AcqRel, Acquire).map(|_| ())
    }

    /// The slot is empty again, in a new version.
    fn empty(&self, word: u64) {
        // slot: the cell is free.
        self.word.store(to(word, EMPTY) + VERSION, Release);
    }

    /// # Safety
    /// I3: the cell is ours, and free.
    unsafe fn write(&self, task: T) {
        // SAFETY: the caller's.
        self.cell.with_mut(|cell| unsafe { (*cell).write(task) });
    }

    /// Moves the task out of the cell, and empties the slot.
    ///
    /// # Safety
    /// I3: the cell and the task are ours.
    unsafe fn take(&self, word: u64) -> T {
        // SAFETY: the caller's.
        let task = self.cell.with_mut(|cell| unsafe { (*cell).assume_init_read() });
        self.empty(word);
        task
    }

    /// Looks until the word is another than `word`, but not for ever.
    fn wait(&self, word: u64, patience: &Patience) {
        for _ in 0..patience.looks {
            if self.look() != word {
                return;
            }
            thread::spin_loop();
        }
    }

    /// Offers `task` for a while in a slot that is `busy`, with us.
    fn offer(&self, busy: u64, task: T, patience: &Patience) -> Met<(), T> {
        // SAFETY: I3: ours since it was empty.
        unsafe { self.write(task) };
        let offered = to(busy, OFFERED);
        // slot: the task.
        self.word.store(offered, Release);
        self.wait(offered, patience);
        match self.try_change(offered, BUSY) {
            // SAFETY: I3: nobody came, and it is ours again.
            Ok(()) => Met::Nobody(unsafe { self.take(busy) }),
            Err(now) if now == to(busy, PAIRED) => {
                // SAFETY: I3: it stayed ours.
                Met::Same(unsafe { self.take(busy) }, Side::Left)
            }
            // A get has taken it, and is at it or gone.
            Err(_) => Met::Other(()),
        }
    }

    /// Gives `task` to the get that waits in a slot to which we are `giving`.
    fn give(&self, giving: u64, task: T) -> Met<(), T> {
        // SAFETY: I3: ours since somebody wanted it.
        unsafe { self.write(task) };
        match self.try_change(giving, GIVEN) {
            Ok(()) => Met::Other(()),
            // SAFETY: I3: the get has left, so it is ours.
            Err(_) => Met::Nobody(unsafe { self.take(giving) }),
        }
    }

    /// Waits for a task for a while, in a slot that says it is `wanted`.
    fn want(&self, wanted: u64, patience: &Patience) -> Met<T, ()> {
        self.wait(wanted, patience);
        let gone = to(wanted, EMPTY) + VERSION;
        // slot: nothing was in the cell. On failure what was done by whom we met.
        let Err(now) = self.word.compare_exchange(wanted, gone, AcqRel, Acquire) else {
            return Met::Nobody(());
        };
        if now == to(wanted, PARTED) {
            self.empty(wanted);
            return Met::Same((), Side::Left);
        }
        if now == to(wanted, GIVING) && self.change(now, LEFT) {
            return Met::Nobody(());
        }
        // SAFETY: I3: given to us.
        Met::Other(unsafe { self.take(wanted) })
    }
}

#[cfg(test)]
mod tests {
    use super::{Met, Patience, Prism};
    use machine::random::Random;
    use machine::{Arc, thread};

    fn patience() -> (Patience, Random) {
        (Patience::new(64), Random::seeded(1))
    }

    #[test]
    fn who_is_alone_goes_on_with_what_it_came_with() {
        let prism = Prism::new(1);
        let (mut patience, mut random) = patience();
        for task in 0..10 {
            assert!(
                matches!(prism.put(task, &mut patience, &mut random), Met::Nobody(back) if back == task)
            );
            assert!(matches!(prism.get(&mut patience, &mut random), Met::Nobody(())));
        }
    }

    /// Puts and gets in turn: the sums of what was given and got, and how often it went left and right.
    fn work(prism: &Prism<u64>, first: u64) -> [u64; 4] {
        let (mut patience, mut random) = (Patience::new(2_000), Random::seeded(first));
        let mut sums = [0; 4];
        for turn in first..first + 2_000 {
            if turn.is_multiple_of(2) {
                match prism.put(turn, &mut patience, &mut random) {
                    Met::Other(()) => sums[0] += turn,
                    Met::Same(_, side) => sums[2 + side as usize] += 1,
                    Met::Nobody(_) => {}
                }
            } else {
                match prism.get(&mut patience, &mut random) {
                    Met::Other(task) => sums[1] += task,
                    Met::Same((), side) => sums[2 + side as usize] += 1,
                    Met::Nobody(()) => {}
                }
            }
        }
        sums
    }

    #[test]
    fn a_put_and_a_get_meet_and_two_of_a_kind_part() {
        let prism = Arc::new(Prism::new(1));
        let threads = [0, 1].map(|first| {
            let prism = prism.clone();
            thread::spawn(move || work(&prism, first))
        });
        let [one, two] = threads.map(|thread| thread.join().unwrap());
        let [given, got, left, right] = std::array::from_fn(|sum| one[sum] + two[sum]);
        assert_eq!(given, got);
        assert_eq!(left, right);
    }
}
