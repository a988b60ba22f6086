//! What takes several threads, each on a core of its own.

use super::alone::{BLOCK, block};
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicU64, AtomicUsize};
use machine::fence::Pair;
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use machine::time::nanos;
use machine::topology::CoreId;
use machine::{Arc, CachePadded, Topology, thread, touch_read, touch_write};
use std::hint::black_box;
use std::ptr;

/// Looks at a word before the other thread is let in, where two share a core.
const LOOKS: usize = 1 << 14;
/// Slots of the ring.
const SLOTS: usize = 256;

/// The part of a race in which all have to run.
const TOGETHER: f64 = 0.8;

/// How long a race took.
pub(super) struct Race {
    /// Nanoseconds from the first start to the last end.
    nanos: f64,
    /// The part of it in which everybody ran.
    together: f64,
}

/// Threads that each do what `work` gives for its number, bound to one core after the other.
pub(super) fn race<F: FnOnce() + Send + 'static>(
    threads: usize,
    work: impl FnMut(usize) -> F,
) -> Race {
    let cores: Vec<CoreId> = Topology::of_thread().cores().collect();
    race_on(&cores, threads, work)
}

/// The same on these cores.
fn race_on<F>(cores: &[CoreId], threads: usize, mut work: impl FnMut(usize) -> F) -> Race
where
    F: FnOnce() + Send + 'static,
{
    let missing = Arc::new(CachePadded::new(AtomicUsize::new(threads)));
    let runners: Vec<_> = (0..threads)
        .map(|number| {
            let (missing, work) = (missing.clone(), work(number));
            let core = cores.get(number % cores.len().max(1)).copied();
            thread::spawn(move || {
                // Where threads cannot be bound they run where they may.
                core.map(thread::pin_to);
                missing.fetch_sub(1, AcqRel);
                wait_for(|| missing.load(Acquire) == 0);
                let start = nanos();
                work();
                (start, nanos())
            })
        })
        .collect();
    let times: Vec<_> = runners.into_iter().filter_map(|runner| runner.join().ok()).collect();
    let earliest = |moments: &dyn Fn(&(u64, u64)) -> u64| times.iter().map(moments).min();
    let latest = |moments: &dyn Fn(&(u64, u64)) -> u64| times.iter().map(moments).max();
    let span = |from: Option<u64>, to: Option<u64>| {
        to.unwrap_or(0).saturating_sub(from.unwrap_or(0)).max(1) as f64
    };
    let nanos = span(earliest(&|time| time.0), latest(&|time| time.1));
    let together = span(latest(&|time| time.0), earliest(&|time| time.1)) / nanos;
    Race { nanos, together }
}

/// Looks until `f` is true.
fn wait_for(f: impl Fn() -> bool) {
    let mut looks = 0;
    while !f() {
        looks += 1;
        if looks % LOOKS == 0 {
            thread::yield_now();
        }
    }
}

pub(super) fn ping_pong(turns: usize, far: bool) -> f64 {
    let word = Arc::new(CachePadded::new(AtomicUsize::new(0)));
    let mut cores: Vec<CoreId> = Topology::of_thread().cores().collect();
    if far && cores.len() > 2 {
        cores = vec![cores[0], cores[cores.len() - 1]];
    }
    let race = race_on(&cores, 2, |number| {
        let word = word.clone();
        move || {
            for turn in 0..turns {
                wait_for(|| word.load(Acquire) == 2 * turn + number);
                word.store(2 * turn + number + 1, Release);
            }
        }
    });
    race.nanos / (2 * turns) as f64
}

/// `None`: the threads did not run at the same time.
pub(super) fn add(threads: usize, turns: usize) -> Option<f64> {
    let word = Arc::new(CachePadded::new(AtomicUsize::new(0)));
    let race = race(threads, |_| {
        let word = word.clone();
        move || {
            for _ in 0..turns {
                word.fetch_add(1, Relaxed);
            }
        }
    });
    let per_turn = race.nanos / (threads * turns) as f64;
    (race.together > TOGETHER).then_some(per_turn)
}

/// `None`: the threads did not run at the same time.
pub(super) fn lock(turns: usize) -> Option<f64> {
    // As behind most locks: a word beside it says where in some memory something is written.
    let guarded = (0, vec![CachePadded::new(0_u64); SLOTS]);
    let lock = Arc::new(CachePadded::new(Mutex::new(guarded)));
    let race = race(2, |_| {
        let lock = lock.clone();
        move || {
            for _ in 0..turns {
                let mut guarded = lock.lock();
                let (at, lines) = &mut *guarded;
                *at = (*at + 1) % SLOTS;
                let line = &mut *lines[*at];
                touch_write((&raw const *line).cast(), size_of::<u64>());
                *line += 1;
            }
        }
    });
    let per_turn = race.nanos / (2 * turns) as f64;
    (race.together > TOGETHER).then_some(per_turn)
}

/// What goes through a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// A pointer to nothing.
    Word,
    /// The same, after an exchange of a word of one's own.
    FencedWord,
    /// The first, taken out by an exchange of the slot.
    TakenWord,
    /// A pointer to a new block, which the other thread reads and gives back.
    Block,
}

/// Passes a pointer through a ring to another thread.
pub(super) fn pass(turns: usize, load: Load) -> f64 {
    let blocks = load == Load::Block;
    let slot = |_| CachePadded::new(AtomicPtr::<[u8; BLOCK]>::new(ptr::null_mut()));
    let ring: Arc<Vec<_>> = Arc::new((0..SLOTS).map(slot).collect());
    let race = race(2, |number| {
        let ring = ring.clone();
        move || {
            let own = CachePadded::new(AtomicUsize::new(0));
            for turn in 0..turns {
                let slot = &ring[turn % SLOTS];
                if load == Load::FencedWord {
                    own.fetch_add(1, AcqRel);
                }
                if number == 0 {
                    let made = if blocks { Box::into_raw(block()) } else { ptr::dangling_mut() };
                    wait_for(|| slot.load(Acquire).is_null());
                    slot.store(made, Release);
                    continue;
                }
                wait_for(|| !slot.load(Acquire).is_null());
                let made = if load == Load::TakenWord {
                    slot.swap(ptr::null_mut(), AcqRel)
                } else {
                    let made = slot.load(Relaxed);
                    slot.store(ptr::null_mut(), Release);
                    made
                };
                if blocks {
                    touch_read(made.cast(), BLOCK);
                    // SAFETY: it was boxed by the first thread, and is in the ring once.
                    black_box(unsafe { Box::from_raw(made) }[0]);
                }
            }
        }
    });
    race.nanos / turns as f64
}

/// Two threads that wake each other in turn: what a way takes, and what of that the waker loses.
pub(super) fn wake(turns: usize) -> (f64, f64) {
    let mut parkers = [Parker::new(), Parker::new()].map(Some);
    let wakers: Vec<Unparker> = parkers.iter().flatten().map(Parker::unparker).collect();
    let waking = Arc::new(AtomicU64::new(0));
    let race = race(2, |number| {
        let (parker, waker) = (parkers[number].take(), wakers[1 - number].clone());
        let waking = waking.clone();
        move || {
            let parker = parker.expect("each thread has one");
            for _ in 0..turns {
                if number == 1 {
                    parker.park();
                }
                let start = nanos();
                waker.unpark();
                waking.fetch_add(nanos().saturating_sub(start), Relaxed);
                if number == 0 {
                    parker.park();
                }
            }
        }
    });
    let ways = (2 * turns) as f64;
    (race.nanos / ways, waking.load(Relaxed) as f64 / ways)
}

/// A thread that fences heavily beside one that computes, and waits at times.
pub(super) fn heavy(turns: usize) -> f64 {
    let done = Arc::new(AtomicUsize::new(0));
    let fences = Arc::new(AtomicU64::new(0));
    let pair = Pair::best();
    race(2, |number| {
        let (done, fences) = (done.clone(), fences.clone());
        move || {
            if number == 1 {
                wait_for(|| done.load(Acquire) == 1);
                return;
            }
            let start = nanos();
            for _ in 0..turns {
                // A kernel that refuses takes its time for that, too.
                let _ = pair.heavy();
            }
            fences.store(nanos().saturating_sub(start), Relaxed);
            done.store(1, Release);
        }
    });
    fences.load(Relaxed) as f64 / turns as f64
}
