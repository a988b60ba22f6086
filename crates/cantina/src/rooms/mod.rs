//! Rooms: many may be inside a room together, but only one room is open at a time.
//!
//! A lock that has its users by groups. Readers and writers are two rooms, of which one lets in one at a time by other
//! means; pushes and pops of a stack are two rooms, and inside each of them a fetch-and-add is all it takes, because nobody
//! does the opposite meanwhile.
//!
//! Who finds all rooms empty goes in. All others take a *ticket*. When a room opens, all its tickets are let in together: a *batch*.
//! Whoever comes later waits for the next one, also if the room is open: so nobody waits for ever. The last one of a batch to leave
//! runs the room's *exit code*, once per batch, with nobody inside any room, and opens the next room, in turn, for which there are
//! tickets. Where it is [wanted](Builder::joined), who comes to an open room goes in at once, as long as nobody waits for any.
//!
//! ```
//! use cantina::rooms::Rooms;
//!
//! let rooms = Rooms::builder(2).on_last_exit(1, || println!("all have left")).build()?;
//! let mut guard = rooms.enter(0)?;
//! guard.change_to(1)?;
//! drop(guard);
//! assert_eq!(rooms.with(0, || 5)?, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Structures
//! * [`RoomQueue`]: bounded, first in first out. [`RoomStack`]: growing and shrinking, last in first out. In both of them those who put
//!   have a room and those who get another one: a read-modify-write is all it takes inside, for one task or for a batch.
//! * [`WorkStack`]: a stack for work that makes more work, which knows when all of it is done.
//!
//! # Forms
//! Up to three rooms lie in one word (`packed.rs`, `packed/opening.rs`): alone, entering is one read-modify-write and leaving another. More rooms are
//! counted one by one (`counted.rs`).
//!
//! # Progress
//! Blocking: a room is open until the last of its batch has left. So whoever sleeps inside a room, or forgets its guard, holds up
//! all who want another one or come later; and who waits for itself, inside one room for another, waits for ever. In debug builds a thread that has a
//! [`Guard`] or a [`CellGuard`] is told so by a panic, where it would wait without end. Not where it has an [`AsyncGuard`]: that may go to another thread,
//! and leave there. From its ticket on a user waits for at most one batch of each room. To let others in is O(1), or
//! O(rooms) where they are counted, however many threads wait, for they are woken in a chain. Not so with tasks: who opens a room wakes all of them that
//! it opens for, O(tasks). And where rooms are counted it takes the tickets of its batch that were given up out of a list, which is locked meanwhile, one step
//! for each of them. Who waits looks around for some tens of microseconds, where there are processors for all, and sleeps; who sleeps or is
//! inside takes no steps.
//! A ticket is taken in one of the first steps of `enter`: who may wait looks on for some two microseconds before it, as long as there is no
//! other ticket. Where open rooms are joined, those inside when it is taken may be of any number, but nobody who comes later joins them, unless it is
//! given up.
//!
//! # Linearization
//! A batch is let in at the store to its gate (`open`), who has no ticket at the exchange of the word; a batch has ended at the subtraction
//! from the word, or from `total`, that leaves nobody inside.
//!
//! # Invariants
//! * **I1** tickets are outstanding in at most one of these ways: nothing is (the object is idle), or exactly one thread is
//!   responsible for opening a room, or exactly one batch is open.
//! * **I2** exit code runs when a batch was let in and has left, by whoever is responsible then: nobody is inside any room.
//! * **I3** who sleeps and has a good ticket was woken, or will be: a task by who opened the room, a thread by that one or by a thread that
//!   was woken.
//!
//! The steps, and why these hold: `README.md` beside this file.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `idle` | the end of a batch | who goes in without a ticket, and who takes a ticket | all that batches did, and what gates show |
//! | `open` | who opens a room | who finds its ticket good | all that earlier batches did |
//! | `left` | who leaves | the last one of the batch; who opened the room for nobody, of those who joined and left | what was done inside |
//! | `taken` | who counts its ticket | who ends a batch | the ticket, for the search for the next room |
//! | `given` | who gives up; who opens | who adopts; who opens, or gives up too late | what the ticket's holder knew; with counted rooms fences on both sides |
//! | `asleep` | who goes to sleep, then looks at the room | who opens the room, then looks for sleepers | fences on both sides: one sees the other |
//!
//! # Memory
//! All of it is there from the start, but for those who sleep: a list per room.
//!
//! # Limits
//! 1 to 65,536 rooms. Up to three of them: 14336 waiting per room, and more than three: 2^31 inside or waiting in all. One more is told
//! [`TooManyWaiters`](EnterError::TooManyWaiters). With up to three rooms, if 2032 threads that have found a place for one more stop before they
//! take it, all at the same moment, the program is ended: as where a count of references overflows.

mod builder;
mod cell;
mod counted;
mod error;
pub(crate) mod form;
mod future;
mod guard;
mod lanes;
mod metrics;
pub(crate) mod packed;
pub mod queue;
mod sleepers;
pub mod stack;
mod visit;
pub(crate) mod wait;
pub mod work;

pub use builder::Builder;
pub use cell::{CellGuard, Room, RoomCell};
pub use error::EnterError;
pub use future::{AsyncGuard, Enter};
pub use guard::Guard;
pub use metrics::Metrics;
pub use queue::RoomQueue;
pub use stack::RoomStack;
pub use work::WorkStack;

use crate::panics::{Panic, forget, keep_first};
use builder::Closing;
use form::{Either, Form, Taken};
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::Relaxed;
use machine::held::{Held, Key};
use machine::time::Duration;
use machine::trace::{self, Role};
use metrics::{Counters, Counts};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What it is called, where a run is drawn, how often exit code has run.
const CODES: [&str; 8] = [
    "exit code 0",
    "exit code 1",
    "exit code 2",
    "exit code 3",
    "exit code 4",
    "exit code 5",
    "exit code 6",
    "exit code 7",
];

/// Rooms of which one is open at a time; see the [module](self).
///
/// ```
/// use cantina::rooms::{EnterError, Rooms};
///
/// let rooms = Rooms::new(3);
/// let guard = rooms.enter(1)?;
/// assert_eq!(rooms.try_enter(2).unwrap_err(), EnterError::WouldBlock);
/// drop(guard);
/// assert_eq!(rooms.enter(3).unwrap_err(), EnterError::NoSuchRoom);
/// # Ok::<(), EnterError>(())
/// ```
pub struct Rooms {
    form: Either,
    /// By room.
    codes: Box<[Option<Closing>]>,
    poison: Poison,
    /// If they are wanted.
    counters: Option<Counters>,
    /// For those inside, by thread.
    key: Key,
}

/// Whether somebody panicked inside.
#[derive(Debug)]
struct Poison {
    /// Whether it is remembered.
    wanted: bool,
    happened: AtomicBool,
}

impl Rooms {
    /// So many rooms, numbered from 0, without exit code.
    ///
    /// # Panics
    /// When there are none, or more than 65,536.
    pub fn new(rooms: usize) -> Self {
        Self::builder(rooms).build().unwrap_or_else(|wrong| panic!("{wrong}"))
    }

    /// Settings to build so many rooms from.
    pub fn builder(rooms: usize) -> Builder {
        Builder::new(rooms)
    }

    fn assemble(
        form: Either,
        codes: Box<[Option<Closing>]>,
        poison: bool,
        counters: Option<Counters>,
    ) -> Self {
        for (closing, name) in codes.iter().zip(CODES) {
            closing.iter().for_each(|closing| trace::part(&closing.runs, name, Role::Number));
        }
        let poison = Poison { wanted: poison, happened: AtomicBool::new(false) };
        Self { form, codes, poison, counters, key: Key::new() }
    }

    /// How many rooms there are.
    pub fn rooms(&self) -> usize {
        self.codes.len()
    }

    /// Enters `room`, and waits until it is open.
    ///
    /// # Errors
    /// [`NoSuchRoom`](EnterError::NoSuchRoom), [`TooManyWaiters`](EnterError::TooManyWaiters),
    /// [`Poisoned`](EnterError::Poisoned).
    ///
    /// # Panics
    /// In debug builds, when this thread is inside already: it would wait for itself.
    #[inline(always)]
    pub fn enter(&self, room: usize) -> Result<Guard<'_>, EnterError> {
        self.check(room)?;
        must_not_hold(&self.key);
        let taken = wait::enter(&self.form, room)?;
        self.came(taken);
        Ok(Guard::new(self, room, taken))
    }

    /// Enters `room` if nobody is inside any room or has a ticket, or, where open rooms are [joined](Builder::joined), if it is open and nobody
    /// waits.
    ///
    /// # Errors
    /// [`NoSuchRoom`](EnterError::NoSuchRoom), [`WouldBlock`](EnterError::WouldBlock),
    /// [`Poisoned`](EnterError::Poisoned).
    #[inline]
    pub fn try_enter(&self, room: usize) -> Result<Guard<'_>, EnterError> {
        self.check(room)?;
        let taken = self.form.try_take(room)?;
        self.came(taken);
        Ok(Guard::new(self, room, taken))
    }

    /// Enters `room`, and waits until it is open, but no longer than `timeout`. A thread that is inside already is not told that it waits
    /// for itself: it learns it when the time is over, if it ever is.
    ///
    /// # Errors
    /// As [`enter`](Self::enter), and [`TimedOut`](EnterError::TimedOut).
    ///
    /// # Panics
    /// In debug builds, when this thread is inside already, the room cannot be joined, and `timeout` is too long for the clock, as [`Duration::MAX`]
    /// is.
    pub fn enter_timeout(&self, room: usize, timeout: Duration) -> Result<Guard<'_>, EnterError> {
        self.check(room)?;
        let taken = self.form.take(room)?;
        self.came(taken);
        self.may_wait(room, taken, Some(timeout));
        wait::arrive_within(&self.form, room, taken, timeout)?;
        Ok(Guard::new(self, room, taken))
    }

    /// Enters `room` without blocking a thread: the future is ready inside it. The ticket is taken at the first poll;
    /// dropped before it is ready, the future gives it up, and may block for a moment: whoever opens the room for it just then
    /// has to say so first.
    ///
    /// A future that the room has opened for holds it open until it is polled or dropped, as a guard does: who waits
    /// in the same task for something else meanwhile may wait for ever.
    ///
    /// # Errors
    /// The future has those of [`enter`](Self::enter).
    ///
    /// # Panics
    /// The future does when it is polled after it was ready. When it is dropped and is the last one that a batch waits
    /// for, exit code may.
    pub fn enter_async(&self, room: usize) -> Enter<'_> {
        Enter::new(self, room)
    }

    /// Calls `f` inside `room`.
    ///
    /// # Errors
    /// As [`enter`](Self::enter).
    ///
    /// # Panics
    /// As [`enter`](Self::enter), and when `f` does, or exit code as it leaves.
    pub fn with<R>(&self, room: usize, f: impl FnOnce() -> R) -> Result<R, EnterError> {
        let guard = self.enter(room)?;
        let result = f();
        drop(guard);
        Ok(result)
    }

    /// Whether somebody panicked inside, or exit code did, as far as that is [remembered](Builder::poison).
    pub fn is_poisoned(&self) -> bool {
        self.poison.is_set()
    }

    /// Forgets panics: the rooms can be entered again.
    pub fn clear_poison(&self) {
        // bare: as `is_set`.
        self.poison.happened.store(false, Relaxed);
    }

    /// What happened, if that was [asked for](Builder::metrics).
    pub fn metrics(&self) -> Option<Metrics> {
        let Counts { batches, let_in, sleeps } = self.form.counts();
        // hint: a look.
        let runs = |closing: &Closing| closing.runs.load(Relaxed);
        let exit_codes = self.codes.iter().flatten().map(runs).sum();
        self.counters.as_ref().map(|counters| {
            counters.sum(Metrics { sleeps, batches, let_in, exit_codes, ..Metrics::default() })
        })
    }

    /// Somebody came, and is inside or waits.
    #[inline]
    fn came(&self, taken: Taken) {
        if let Some(counters) = &self.counters {
            counters.came(taken);
        }
    }

    /// Somebody is inside.
    #[inline]
    fn entered(&self) {
        if let Some(counters) = &self.counters {
            counters.entered();
        }
    }

    /// Panics when a ticket that was just `taken` would be waited for for ever, as this thread is inside: then it is given up.
    fn may_wait(&self, room: usize, taken: Taken, most: Option<Duration>) {
        if let Taken::Ticket(ticket) = taken {
            // The clock is asked only where it matters.
            if Held::is_held(&self.key) && wait::is_for_ever(most) {
                self.give_up(room, ticket);
                must_not_hold(&self.key);
            }
        }
    }

    /// Whether `room` can be entered.
    #[inline]
    fn check(&self, room: usize) -> Result<(), EnterError> {
        if room >= self.codes.len() {
            return Err(EnterError::NoSuchRoom);
        }
        if self.poison.is_set() {
            return Err(EnterError::Poisoned);
        }
        Ok(())
    }

    /// Leaves `room`, where somebody came with `taken`. What exit code panicked with.
    #[inline]
    fn leave(&self, room: usize, taken: Taken) -> Option<Panic> {
        let mut first = None;
        self.form.leave(room, taken, |room| {
            if let Some(closing) = &self.codes[room] {
                keep_first(&mut first, self.run(closing));
            }
        });
        first
    }

    /// Runs exit code. The room is closed whatever it does, or all would wait for ever.
    fn run(&self, Closing { code, runs }: &Closing) -> Option<Panic> {
        // own: nobody is inside, and nobody else closes the room.
        runs.store(runs.load(Relaxed) + 1, Relaxed);
        // Whoever runs it, exit code that enters these rooms waits for itself.
        let _held = Held::new(&self.key);
        let panic = catch_unwind(AssertUnwindSafe(code)).err();
        if panic.is_some() && self.poison.is_wanted() {
            self.poison.set();
        }
        panic
    }

    /// Gives a ticket for `room` up, or leaves it if it is too late. What exit code panics with then is dropped.
    fn give_up(&self, room: usize, ticket: u64) {
        if !wait::gives_up(&self.form, room, ticket) {
            self.leave(room, Taken::Ticket(ticket)).into_iter().for_each(forget);
        }
    }
}

/// Panics when this thread is inside, where it is to wait for all who are.
#[inline]
#[track_caller]
fn must_not_hold(key: &Key) {
    assert!(
        !Held::is_held(key),
        "this thread is inside these rooms already, and would wait for itself for ever"
    );
}

impl Poison {
    #[inline]
    fn is_wanted(&self) -> bool {
        self.wanted
    }

    #[inline]
    fn is_set(&self) -> bool {
        // bare: who was inside before has left through the room's edges; this only says that it panicked.
        self.wanted && self.happened.load(Relaxed)
    }

    fn set(&self) {
        // bare: as `is_set`.
        self.happened.store(true, Relaxed);
    }
}

impl fmt::Debug for Rooms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rooms").field(&self.form).finish()
    }
}
