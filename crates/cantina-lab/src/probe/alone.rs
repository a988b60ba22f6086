//! What one thread can measure by itself.

use machine::ahead::LINE;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::lock::Mutex;
use machine::random::Random;
use machine::thread::{spin_loop, yield_now};
use machine::time::nanos;
use machine::{CachePadded, fence, touch_read, touch_write};
use std::collections::VecDeque;
use std::hint::black_box;

/// Lines that a first-level cache holds.
const NEAR_LINES: usize = 16;
/// Bytes of a block: a small node of a queue.
pub(super) const BLOCK: usize = 48;
/// Bytes of a page.
const PAGE: usize = 4096;
/// Lines of a page.
const LINES: usize = PAGE / LINE;
/// Pages that are looked at together.
const PAGES: usize = 8;
/// Lines from one that is looked at to the next: too many for a stream.
const APART: usize = 26;

/// Instructions of a turn of plain code: `ci/deep.sh instructions` counts them.
const CODE: u64 = 40;
/// Of a turn of the other loops: the access, and what is around it.
const LOADS: u64 = 8;
const CHASE: u64 = 6;
const STORE: u64 = 6;
const ADD: u64 = 5;
const FENCE: u64 = 7;

/// Nanoseconds of one of `turns` turns that `f` takes.
fn per_turn(turns: usize, f: impl FnOnce()) -> f64 {
    let start = nanos();
    f();
    nanos().saturating_sub(start) as f64 / turns as f64
}

/// Looks at one line after the other, all in the cache.
#[inline(never)]
pub(super) fn loads(turns: usize) -> f64 {
    let lines = ring(NEAR_LINES);
    let look = |turns| {
        for turn in 0..turns {
            machine::instructions(LOADS);
            black_box(lines[turn % NEAR_LINES].load(Relaxed));
        }
    };
    look(NEAR_LINES);
    per_turn(turns, || look(turns))
}

/// Plain code: a number goes into a queue, and another out of it. One queue: a processor that hands what was stored to the next load
/// by itself is slower where two take turns.
pub(super) fn code(turns: usize) -> f64 {
    let mut queue = (0..NEAR_LINES).collect();
    per_turn(turns, || {
        for turn in 0..turns {
            black_box(plain_code(&mut queue, turn));
        }
    })
}

/// Not inlined: a profiler finds it and counts its instructions.
#[inline(never)]
fn plain_code(queue: &mut VecDeque<usize>, number: usize) -> Option<usize> {
    machine::instructions(CODE);
    queue.push_back(number);
    queue.pop_front()
}

/// Goes round a ring that is in the cache.
#[inline(never)]
pub(super) fn chase(turns: usize) -> f64 {
    let ring = ring(NEAR_LINES);
    let at = follow(&ring, 0, NEAR_LINES);
    per_turn(turns, || _ = black_box(follow(&ring, at, turns)))
}

/// Goes once round a ring of `turns` lines.
pub(super) fn chase_through_memory(turns: usize) -> f64 {
    let ring = ring(turns);
    per_turn(turns, || _ = black_box(follow(&ring, 0, turns)))
}

/// Lines that name each other, in no order that could be guessed: one ring through all.
fn ring(lines: usize) -> Vec<CachePadded<AtomicUsize>> {
    let mut next: Vec<usize> = (0..lines).collect();
    let mut random = Random::seeded(lines as u64);
    // Sattolo's shuffle.
    for last in (1..lines).rev() {
        next.swap(last, random.below(last));
    }
    next.into_iter().map(|next| CachePadded::new(AtomicUsize::new(next))).collect()
}

fn follow(ring: &[CachePadded<AtomicUsize>], from: usize, turns: usize) -> usize {
    (0..turns).fold(from, |at, _| {
        machine::instructions(CHASE);
        ring[at].load(Relaxed)
    })
}

#[inline(never)]
pub(super) fn store(turns: usize) -> f64 {
    let word = CachePadded::new(AtomicUsize::new(0));
    per_turn(turns, || {
        for turn in 0..turns {
            machine::instructions(STORE);
            black_box(&word).store(turn, Relaxed);
        }
    })
}

#[inline(never)]
pub(super) fn add(turns: usize) -> f64 {
    let word = CachePadded::new(AtomicUsize::new(0));
    per_turn(turns, || {
        for _ in 0..turns {
            machine::instructions(ADD);
            black_box(word.fetch_add(1, Relaxed));
        }
    })
}

#[inline(never)]
pub(super) fn fence(turns: usize) -> f64 {
    after_store(turns, fence::full)
}

#[inline(never)]
pub(super) fn pause(turns: usize) -> f64 {
    after_store(turns, spin_loop)
}

pub(super) fn give_up(turns: usize) -> f64 {
    after_store(turns, yield_now)
}

/// A store and `f`. The store is what tells a spin loop from one that waits in vain.
fn after_store(turns: usize, f: impl Fn()) -> f64 {
    let word = CachePadded::new(AtomicUsize::new(0));
    per_turn(turns, || {
        for turn in 0..turns {
            machine::instructions(FENCE);
            black_box(&word).store(turn, Relaxed);
            f();
        }
    })
}

pub(super) fn clock(turns: usize) -> f64 {
    per_turn(turns, || {
        for _ in 0..turns {
            black_box(nanos());
        }
    })
}

pub(super) fn allocate(turns: usize) -> f64 {
    per_turn(turns, || {
        for _ in 0..turns {
            drop(black_box(block()));
        }
    })
}

/// A block that was written to.
pub(super) fn block() -> Box<[u8; BLOCK]> {
    let block = Box::new([1; BLOCK]);
    touch_write((&raw const *block).cast(), BLOCK);
    block
}

pub(super) fn page(turns: usize) -> f64 {
    per_turn(turns, || {
        let mut pages: Vec<u8> = Vec::with_capacity(turns * PAGE);
        let start = pages.spare_capacity_mut();
        for page in start.chunks_mut(PAGE) {
            page[0].write(1);
        }
        black_box(&mut pages);
    })
}

/// Goes through the lines of pages that have just been written to for the first time, each at its first line.
pub(super) fn fresh(turns: usize) -> f64 {
    let (groups, left) = (turns.div_ceil(PAGES * LINES), PAGES * (LINES - 1));
    let mut pages = vec![[[0_u8; LINE]; LINES]; groups * PAGES];
    let mut taken = 0;
    for group in pages.chunks_mut(PAGES) {
        for page in &mut *group {
            let first = &mut page[0];
            touch_write(first.as_ptr(), 1);
            *black_box(first) = [1; LINE];
        }
        let start = nanos();
        let end = (0..left).fold(0, |at, turn| {
            // Each look waits for the one before.
            let (page, line) = (turn / (LINES - 1), (turn * APART + at) % (LINES - 1) + 1);
            let line = black_box(&group[page][line]);
            touch_read(line.as_ptr(), 1);
            usize::from(line[0])
        });
        taken += nanos().saturating_sub(start);
        black_box(end);
    }
    taken as f64 / (groups * left) as f64
}

pub(super) fn lock(turns: usize) -> f64 {
    let lock = Mutex::new(0);
    per_turn(turns, || {
        for _ in 0..turns {
            *black_box(&lock).lock() += 1;
        }
    })
}
