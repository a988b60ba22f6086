//! Threads that are waited for, but not for ever.
//!
//! A check that fails must say so, not hang: whoever polls asks its [`Watch`] each time round, and
//! whoever joins does so until the watch runs out. The first failure makes all the others give up.
//! A thread that never comes back from a call is left behind, and named.
//!
//! Threads of a crew begin together, when all of them are there: short work would be over on the
//! first before the last is started.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `fail` | [`Watch::give_up`] | [`Watch::check`] | nothing: the others only stop |
//! | `gate` | [`Crew::join`], whoever arrives | [`Gate::pass`] | nothing: they only begin |

use super::finding::Finding;
use machine::atomic::Ordering::Relaxed;
use machine::atomic::{AtomicBool, AtomicUsize};
use machine::park::{Parker, Unparker};
use machine::thread::{self, JoinHandle};
use machine::time::{Duration, nanos};
use machine::{Arc, Backoff};
use std::any::Any;

/// The thread that a check runs on, and that starts the others.
pub(super) const CHECK: &str = "the check";

/// How long there is to go, and whether it still matters.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    patience: Duration,
    over: u64,
    failed: Arc<AtomicBool>,
}

/// Threads that each give a `T`.
pub(super) struct Crew<T> {
    watch: Watch,
    gate: Arc<Gate>,
    hands: Vec<Hand<T>>,
}

/// Opens when everybody is there.
struct Gate {
    /// Less by one for each that has arrived.
    missing: AtomicUsize,
}

struct Hand<T> {
    name: String,
    thread: JoinHandle<Result<T, Finding>>,
    done: Parker,
}

/// Rings when its thread is done, however it ends.
struct Bell {
    done: Unparker,
    watch: Watch,
}

impl Watch {
    /// A watch that runs out after `patience`.
    pub(super) fn new(patience: Duration) -> Self {
        let over = nanos().saturating_add(patience.as_nanos() as u64);
        Self { patience, over, failed: Arc::new(AtomicBool::new(false)) }
    }

    /// Whether half of the time is gone: what can be done with less is done with less then, for another
    /// program may want the processors.
    pub(super) fn is_half_gone(&self) -> bool {
        nanos().saturating_add(self.patience.as_nanos() as u64 / 2) >= self.over
    }

    /// `Err` when time is up, or another thread has failed.
    pub(super) fn check(&self, doing: &str) -> Result<(), Finding> {
        // fail: the finding itself comes by joining.
        if self.failed.load(Relaxed) {
            return Err(Finding::aftermath(doing));
        }
        if nanos() < self.over {
            return Ok(());
        }
        Err(self.out_of_patience("to be done", &format!("still {doing}")))
    }

    /// Lets the others give up.
    fn give_up(&self) {
        // fail: see `check`.
        self.failed.store(true, Relaxed);
    }

    /// The same watch for whoever waits for those who look at it: they may be a little late.
    pub(super) fn later(&self) -> Self {
        let grace = self.patience.as_nanos() as u64 / 8;
        Self { over: self.over.saturating_add(grace), ..self.clone() }
    }

    fn left(&self) -> Duration {
        Duration::from_nanos(self.over.saturating_sub(nanos()))
    }

    fn out_of_patience(&self, expected: &str, seen: &str) -> Finding {
        Finding::new(format!("{expected} within {:?}", self.patience), seen)
    }
}

/// Runs `work` on a thread of its own, so that a call that never returns does not take us with it.
pub(super) fn watched<T: Send + 'static>(
    watch: &Watch,
    work: impl FnOnce(&Watch) -> Result<T, Finding> + Send + 'static,
) -> Result<T, Finding> {
    Hand::start(CHECK.to_owned(), watch, work).join(watch)
}

impl<T: Send + 'static> Crew<T> {
    /// Nobody yet.
    pub(super) fn new(watch: &Watch) -> Self {
        let gate = Arc::new(Gate { missing: AtomicUsize::new(Gate::CLOSED) });
        Self { watch: watch.clone(), gate, hands: Vec::new() }
    }

    /// One more thread. `name` is for the finding.
    pub(super) fn start(
        &mut self,
        name: impl Into<String>,
        work: impl FnOnce(&Watch) -> Result<T, Finding> + Send + 'static,
    ) {
        let gate = self.gate.clone();
        self.hands.push(Hand::start(name.into(), &self.watch, move |watch| {
            gate.pass(watch)?;
            work(watch)
        }));
    }

    /// Lets them begin and waits for all of them; what each gave, in the order in which they were
    /// started. Or what one of them found.
    pub(super) fn join(self) -> Result<Vec<T>, Finding> {
        // gate: nothing follows from it.
        self.gate.missing.fetch_sub(Gate::CLOSED - self.hands.len(), Relaxed);
        let watch = self.watch.later();
        let mut given = Vec::with_capacity(self.hands.len());
        let mut findings = Vec::new();
        for hand in self.hands {
            let name = hand.name.clone();
            match hand.join(&watch) {
                Ok(value) => given.push(value),
                Err(finding) => findings.push(finding.of(&name)),
            }
        }
        // Stable: of those who have something to tell, the first.
        findings.sort_by_key(Finding::is_aftermath);
        findings.into_iter().next().map_or(Ok(given), Err)
    }
}

impl Gate {
    /// More than will ever arrive.
    const CLOSED: usize = usize::MAX / 2;

    /// Waits until everybody is there.
    fn pass(&self, watch: &Watch) -> Result<(), Finding> {
        // gate: nothing follows from it.
        self.missing.fetch_sub(1, Relaxed);
        let backoff = Backoff::new();
        // gate: as above.
        while self.missing.load(Relaxed) > 0 {
            watch.check("waiting for the others to be there")?;
            backoff.snooze();
        }
        Ok(())
    }
}

impl<T: Send + 'static> Hand<T> {
    fn start(
        name: String,
        watch: &Watch,
        work: impl FnOnce(&Watch) -> Result<T, Finding> + Send + 'static,
    ) -> Self {
        let done = Parker::new();
        let bell = Bell { done: done.unparker(), watch: watch.clone() };
        let thread = thread::Builder::new().name(name.clone()).spawn(move || {
            // Moved in: rung after everything that `work` owns is dropped.
            let bell = bell;
            let result = work(&bell.watch);
            if result.is_err() {
                bell.watch.give_up();
            }
            result
        });
        let thread = thread.unwrap_or_else(|error| panic!("cannot start a thread: {error}"));
        Self { name, thread, done }
    }

    fn join(self, watch: &Watch) -> Result<T, Finding> {
        if !self.done.park_timeout(watch.left()) {
            watch.give_up();
            return Err(watch.out_of_patience("to come back", "it did not"));
        }
        let panicked = |payload: Box<dyn Any + Send>| {
            Finding::new("to end well", format!("a panic: {}", message(&*payload)))
        };
        self.thread.join().unwrap_or_else(|payload| Err(panicked(payload)))
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        if thread::panicking() {
            self.watch.give_up();
        }
        self.done.unpark();
    }
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

#[cfg(test)]
mod tests {
    use super::{Crew, Watch, watched};
    use crate::conformance::finding::Finding;
    use machine::park::Parker;
    use machine::thread;
    use machine::time::Duration;

    fn short() -> Watch {
        Watch::new(Duration::from_millis(50))
    }

    fn long() -> Watch {
        Watch::new(Duration::from_secs(60))
    }

    #[test]
    fn all_results_come_back_in_order() {
        let mut crew = Crew::new(&long());
        (0..5).for_each(|index| crew.start("one", move |_| Ok(index)));
        assert_eq!(crew.join(), Ok(vec![0, 1, 2, 3, 4]));
    }

    #[test]
    fn a_call_that_never_returns_is_reported() {
        let watch = short();
        let stuck = watched(&watch, |_| {
            Parker::new().park();
            Ok(())
        });
        assert_eq!(stuck, Err(Finding::new("to come back within 50ms", "it did not")));
    }

    #[test]
    fn a_loop_that_never_ends_says_what_it_does() {
        let turning = watched(&long(), |_| {
            let watch = short();
            loop {
                watch.check("turning")?;
                thread::yield_now();
            }
        });
        assert_eq!(
            turning.map(|(): ()| ()),
            Err(Finding::new("to be done within 50ms", "still turning"))
        );
    }

    #[test]
    fn the_first_failure_ends_the_others_and_is_the_one_to_show() {
        let mut crew = Crew::new(&long());
        let turns = |watch: &Watch| loop {
            watch.check("turning")?;
            thread::yield_now();
        };
        crew.start("the first", turns);
        crew.start("the second", |_| Err::<(), _>(Finding::new("one", "two")));
        crew.start("the third", turns);
        assert_eq!(crew.join(), Err(Finding::new("the second: one", "two")));
    }

    #[test]
    fn a_panic_ends_the_others_and_is_told() {
        let mut crew = Crew::new(&long());
        crew.start("the first", |watch| {
            loop {
                watch.check("turning")?;
                thread::yield_now();
            }
        });
        crew.start("the second", |_| std::panic::resume_unwind(Box::new("no more")));
        let finding = crew.join().map(|_: Vec<()>| ()).unwrap_err();
        assert_eq!(finding, Finding::new("the second: to end well", "a panic: no more"));
    }
}
