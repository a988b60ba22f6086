//! A guard against a busy machine.
//!
//! Between two runs it times a fixed amount of work on as many threads as will run. On an idle
//! machine that takes the same time again and again; when somebody else is computing, or a virtual
//! machine is given less of its processors, it takes longer, and so did the run beside it.
//!
//! Beside that it reads how far from each other the cores are that the machine was given: its [regime](super::regime). How
//! many there are is asked at every look, too. Where there are more than two it is the first two that are read.

use super::regime::Distance;
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
/// How often a word goes there and back in a reading, and how often two threads add: well under a millisecond. Of some readings the
/// shortest counts: who is interrupted is never faster for it.
const PING_PONGS: usize = 500;
const ADDITIONS: usize = 2_000;
const DISTANCE_READINGS: usize = 4;

/// Tells whether the machine is disturbed.
pub struct Guard {
    read: Box<dyn FnMut() -> Duration>,
    best: Duration,
    last: Duration,
    cores: Option<Cores>,
}

/// How far apart the cores are: how to read it, and the last reading.
struct Cores {
    read: Box<dyn FnMut() -> Distance>,
    last: Distance,
}

impl Guard {
    /// A guard that takes its readings from `read`. The best so far is what later ones are
    /// compared with.
    pub fn new(read: impl FnMut() -> Duration + 'static) -> Self {
        let (best, last) = (Duration::MAX, Duration::MAX);
        let mut guard = Self { read: Box::new(read), best, last, cores: None };
        (0..FIRST_READINGS).for_each(|_| guard.look());
        guard
    }

    /// The same guard, which also reads how far apart the cores are.
    pub fn with_distance(mut self, mut read: impl FnMut() -> Distance + 'static) -> Self {
        let last = read();
        self.cores = Some(Cores { read: Box::new(read), last });
        self
    }

    /// A guard that lets `threads` threads compute, or as many as there are cores, and, where there are two,
    /// reads how far they are apart.
    pub fn spinning(threads: usize) -> Self {
        Self::new(move || spin(threads.min(thread::own_parallelism()).max(1)))
            .with_distance(distance)
    }

    /// The last reading of how far apart the cores are, if that is read.
    pub fn distance(&self) -> Option<Distance> {
        self.cores.as_ref().map(|cores| cores.last)
    }

    /// Takes a reading.
    pub fn look(&mut self) {
        self.last = (self.read)();
        self.best = self.best.min(self.last);
        if let Some(cores) = &mut self.cores {
            cores.last = (cores.read)();
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

/// How far apart the first two cores are now that the thread may run on.
fn distance() -> Distance {
    if thread::own_parallelism() < 2 {
        return Distance::default();
    }
    let shortest = |nanos: f64, other: f64| nanos.min(other);
    let ways = (0..DISTANCE_READINGS).map(|_| probe::ping_pong(PING_PONGS));
    let adds = (0..DISTANCE_READINGS).filter_map(|_| probe::contended_add(ADDITIONS));
    Distance { ping_pong: ways.reduce(shortest), contended_add: adds.reduce(shortest) }
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
            .field("distance", &self.distance())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_READINGS, Guard};
    use crate::experiment::regime::Distance;
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
        let mut guard = guard(&[100, 100])
            .with_distance(move || Distance { ping_pong: readings.next(), contended_add: None });
        let last = |guard: &Guard| guard.distance().and_then(|distance| distance.ping_pong);
        assert_eq!(last(&guard), Some(30.0));
        guard.look();
        assert_eq!(last(&guard), Some(31.0));
        guard.around(|| ());
        assert_eq!(last(&guard), Some(32.0));
    }

    #[test]
    fn spinning_takes_time() {
        let mut guard = Guard::spinning(2);
        let ((), reading) = guard.around(|| ());
        assert!(reading > Duration::ZERO);
        let cores = super::thread::own_parallelism();
        let ping_pong = guard.distance().unwrap().ping_pong;
        assert_eq!(ping_pong.is_some_and(|nanos| nanos > 0.0), cores > 1);
    }
}
