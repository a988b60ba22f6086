//! What takes the processor away from threads that have a core each: how often, and for how long.
//!
//! A thread reads the clock again and again. Where it finds a gap it was interrupted: by a timer, by the operating system, or, on a virtual
//! machine, by whoever else wants the processor. Nothing of this is seen in the other programs' readings, of which the fast ones count; but who passes
//! tasks to another thread has a backlog behind every gap of the other's.

use super::together::race;
use machine::Arc;
use machine::lock::Mutex;
use machine::time::nanos;

/// Nanoseconds of a gap at least: less is not worth a mention.
const SHORTEST: u64 = 500;
/// How many times as long the gaps of a kind are as those of the kind before.
const TIMES: u64 = 4;
/// Kinds: the last is of gaps from 8 milliseconds on.
const KINDS: usize = 8;
/// Instructions of a turn, beside the clock's.
const TURN: u64 = 6;

/// Interruptions of about the same length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interrupted {
    /// Nanoseconds from one to the next, on average.
    pub every: f64,
    /// Nanoseconds that one lasts, on average.
    pub lasts: f64,
}

/// What interrupts `threads` threads that look for `time` nanoseconds, each on a core of its own.
pub fn interruptions(threads: usize, time: u64) -> Vec<Interrupted> {
    let gaps = Arc::new(Mutex::new([(0, 0); KINDS]));
    race(threads, |_| {
        let gaps = gaps.clone();
        move || {
            let seen = look(time);
            for (all, seen) in gaps.lock().iter_mut().zip(seen) {
                *all = (all.0 + seen.0, all.1 + seen.1);
            }
        }
    });
    let (gaps, time) = (*gaps.lock(), threads as f64 * time as f64);
    let kind = |&(count, sum): &(u64, u64)| {
        let count = (count > 0).then_some(count as f64)?;
        Some(Interrupted { every: time / count, lasts: sum as f64 / count })
    };
    gaps.iter().filter_map(kind).collect()
}

/// Nanoseconds that are lost to them in a millisecond.
pub fn lost(interruptions: &[Interrupted]) -> f64 {
    interruptions.iter().map(|each| each.lasts / each.every * 1e6).sum()
}

/// The gaps of each kind in `time` nanoseconds: how many, and how long they were together.
fn look(time: u64) -> [(u64, u64); KINDS] {
    let mut seen = [(0, 0); KINDS];
    let start = nanos();
    let mut last = start;
    while last.saturating_sub(start) < time {
        machine::instructions(TURN);
        let now = nanos();
        let gap = now.saturating_sub(last);
        if gap >= SHORTEST {
            let kind = &mut seen[(gap / SHORTEST).ilog(TIMES).min(KINDS as u32 - 1) as usize];
            *kind = (kind.0 + 1, kind.1 + gap);
        }
        last = now;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::{KINDS, interruptions, lost};

    #[test]
    fn interruptions_last_no_longer_than_it_is_from_one_to_the_next() {
        let found = interruptions(2, 5_000_000);
        assert!(found.len() <= KINDS);
        for each in &found {
            assert!(each.lasts >= 500.0 && each.every.is_finite(), "{each:?}");
        }
        assert!(lost(&found) >= 0.0);
    }
}
