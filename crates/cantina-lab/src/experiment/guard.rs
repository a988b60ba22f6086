//! A guard against a busy machine.
//!
//! Between two runs it times a fixed amount of work on as many threads as will run. On an idle
//! machine that takes the same time again and again; when somebody else is computing, or a virtual
//! machine is given less of its processors, it takes longer, and so did the run beside it.
//!
//! Beside that it sends a word from one core to another and back. That does not tell whether somebody is
//! computing; it tells how near to each other the cores are that the machine was given, which for a virtual
//! one changes from hour to hour, and everything that threads share with it.

use crate::probe;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Acquire};
use machine::time::{Duration, nanos};
use machine::{Arc, Backoff, thread};
use std::hint::black_box;

/// How much longer than the best a reading may be.
const TOLERANCE: f64 = 0.10;
/// Readings before the first run, to know the best.
const FIRST_READINGS: usize = 7;
/// Steps of the fixed work: a few milliseconds, longer than a scheduler's time slice.
const STEPS: u64 = 1_500_000;
/// How often a word goes there and back: well under a millisecond.
const PING_PONGS: usize = 2_000;

/// Tells whether the machine is disturbed.
pub struct Guard {
    read: Box<dyn FnMut() -> Duration>,
    best: Duration,
    last: Duration,
    ping_pong: Option<PingPong>,
}

/// Nanoseconds of a word from one core to another: how to read them, and the last reading.
struct PingPong {
    read: Box<dyn FnMut() -> f64>,
    last: f64,
}

impl Guard {
    /// A guard that takes its readings from `read`. The best so far is what later ones are
    /// compared with.
    pub fn new(read: impl FnMut() -> Duration + 'static) -> Self {
        let (best, last) = (Duration::MAX, Duration::MAX);
        let mut guard = Self { read: Box::new(read), best, last, ping_pong: None };
        (0..FIRST_READINGS).for_each(|_| guard.look());
        guard
    }

    /// The same guard, which also reads nanoseconds of a word from one core to another.
    pub fn with_ping_pong(mut self, mut read: impl FnMut() -> f64 + 'static) -> Self {
        let last = read();
        self.ping_pong = Some(PingPong { read: Box::new(read), last });
        self
    }

    /// A guard that lets `threads` threads compute and, where there are two cores, a word go back and
    /// forth between them.
    pub fn spinning(threads: usize) -> Self {
        let guard = Self::new(move || spin(threads));
        if thread::available_parallelism() < 2 {
            return guard;
        }
        guard.with_ping_pong(|| probe::ping_pong(PING_PONGS))
    }

    /// The last reading of a word from one core to another, in nanoseconds.
    pub fn ping_pong(&self) -> Option<f64> {
        self.ping_pong.as_ref().map(|ping_pong| ping_pong.last)
    }

    /// Takes a reading.
    pub fn look(&mut self) {
        self.last = (self.read)();
        self.best = self.best.min(self.last);
        if let Some(ping_pong) = &mut self.ping_pong {
            ping_pong.last = (ping_pong.read)();
        }
    }

    /// Runs something, and gives the worse of the readings before and after it.
    pub fn around<R>(&mut self, run: impl FnOnce() -> R) -> (R, Duration) {
        let before = self.last;
        let result = run();
        self.look();
        (result, before.max(self.last))
    }

    /// Whether a reading is as good as the best, or nearly.
    pub fn is_calm(&self, reading: Duration) -> bool {
        reading.as_secs_f64() <= self.best.as_secs_f64() * (1.0 + TOLERANCE)
    }
}

/// How long the slowest of `threads` threads takes for a fixed amount of work that all begin at once.
fn spin(threads: usize) -> Duration {
    let missing = Arc::new(AtomicUsize::new(threads));
    let spinners: Vec<_> = (0..threads)
        .map(|_| {
            let missing = missing.clone();
            thread::spawn(move || {
                missing.fetch_sub(1, AcqRel);
                let backoff = Backoff::new();
                while missing.load(Acquire) > 0 {
                    backoff.snooze();
                }
                let start = nanos();
                let mut state = start | 1;
                for _ in 0..STEPS {
                    // Xorshift: each step waits for the one before, and none can be skipped.
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                }
                black_box(state);
                nanos().saturating_sub(start)
            })
        })
        .collect();
    let times = spinners.into_iter().filter_map(|spinner| spinner.join().ok());
    Duration::from_nanos(times.max().unwrap_or(0))
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("best", &self.best)
            .field("last", &self.last)
            .field("ping_pong", &self.ping_pong())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_READINGS, Guard};
    use machine::time::Duration;

    /// A guard whose first readings are all 100, and which then reads these.
    fn guard(readings: &'static [u64]) -> Guard {
        let first = [100; FIRST_READINGS].into_iter();
        let mut all = first.chain(readings.iter().copied());
        Guard::new(move || Duration::from_millis(all.next().unwrap()))
    }

    #[test]
    fn a_run_is_judged_by_the_worse_of_the_readings_around_it() {
        let mut guard = guard(&[130, 105, 109, 111]);
        let mut calm = || {
            let ((), reading) = guard.around(|| ());
            (reading.as_millis(), guard.is_calm(reading))
        };
        assert_eq!(calm(), (130, false));
        assert_eq!(calm(), (130, false), "it was busy before");
        assert_eq!(calm(), (109, true));
        assert_eq!(calm(), (111, false));
    }

    #[test]
    fn a_better_reading_raises_the_bar() {
        let mut guard = guard(&[50]);
        assert!(guard.is_calm(Duration::from_millis(110)));
        guard.look();
        assert!(!guard.is_calm(Duration::from_millis(100)));
        assert!(guard.is_calm(Duration::from_millis(55)));
    }

    #[test]
    fn every_look_sends_a_word_around() {
        let mut readings = [30.0, 31.0, 32.0].into_iter();
        let mut guard = guard(&[100, 100]).with_ping_pong(move || readings.next().unwrap());
        assert_eq!(guard.ping_pong(), Some(30.0));
        guard.look();
        assert_eq!(guard.ping_pong(), Some(31.0));
        guard.around(|| ());
        assert_eq!(guard.ping_pong(), Some(32.0));
    }

    #[test]
    fn spinning_takes_time() {
        let mut guard = Guard::spinning(2);
        let ((), reading) = guard.around(|| ());
        assert!(reading > Duration::ZERO);
        let cores = machine::thread::available_parallelism();
        assert_eq!(guard.ping_pong().is_some_and(|nanos| nanos > 0.0), cores > 1);
    }
}
