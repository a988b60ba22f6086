//! Settings for [`Rooms`].

use super::Rooms;
use super::form::{Either, Setup};
use super::metrics::Counters;
use crate::pool::BuildError;
use machine::atomic::AtomicU64;
use std::fmt;

/// Who closes one asks all others whether anybody waits there.
pub(super) const MAX_ROOMS: usize = 1 << 16;

/// What is run when a batch has left a room.
pub(super) type ExitCode = Box<dyn Fn() + Send + Sync>;

/// What a room has that has exit code.
pub(super) struct Closing {
    pub(super) code: ExitCode,
    /// How often it was begun; written by whoever runs it.
    pub(super) runs: AtomicU64,
}

/// Settings for [`Rooms`].
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    setup: Setup,
    poison: bool,
    codes: Vec<(usize, ExitCode)>,
}

impl Builder {
    pub(super) fn new(rooms: usize) -> Self {
        Self { setup: Setup::new(rooms), poison: false, codes: Vec::new() }
    }

    /// Exit code of `room`: run by the last one of each batch that leaves it, when nobody is inside any room and before
    /// anybody is let in. It must not enter these rooms. The last one given for a room counts.
    ///
    /// If it panics the room is closed all the same, and everybody else goes on. Whoever ran it gets the panic, as it leaves or
    /// changes rooms. One who leaves may close several rooms, whose other users have gone; then it gets the first panic, and the others
    /// are dropped. So is the panic, and nobody hears of it but by [`poison`](Self::poison), where whoever ran it unwinds already, is about to
    /// be told of another panic, or was run by a waker, in the hands of who opened a room: an executor that polls as it wakes.
    pub fn on_last_exit(mut self, room: usize, code: impl Fn() + Send + Sync + 'static) -> Self {
        self.codes.push((room, Box::new(code)));
        self
    }

    /// Whether a panic inside a room, or of exit code, is remembered: who comes from then on does not enter, and is told
    /// [`Poisoned`](super::EnterError::Poisoned). Who waits already goes in when its room opens. It is not, unless asked for.
    pub fn poison(mut self, poison: bool) -> Self {
        self.poison = poison;
        self
    }

    /// Whether who comes to the room that is open goes in at once, if nobody waits for any room. Not so unless asked for: then
    /// who comes waits for the next batch. It makes no difference for rooms with exit code, nor where there are more than three.
    ///
    /// Those inside may then change all the time without a batch ever ending, as long as nobody wants another room; who does
    /// waits for those inside, and for nobody who comes later.
    ///
    /// ```
    /// use cantina::rooms::Rooms;
    ///
    /// let rooms = Rooms::builder(2).joined(true).build()?;
    /// let reader = rooms.try_enter(0)?;
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| assert!(rooms.try_enter(0).is_ok()));
    ///     scope.spawn(|| assert!(rooms.try_enter(1).is_err()));
    /// });
    /// # drop(reader);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn joined(mut self, joined: bool) -> Self {
        self.setup.joined = joined;
        self
    }

    /// Whether what happens is counted, for [`Rooms::metrics`]. Not so unless asked for: then who enters has one more to write to, that of its
    /// processor.
    ///
    /// ```
    /// use cantina::rooms::Rooms;
    ///
    /// let rooms = Rooms::builder(2).metrics(true).build()?;
    /// rooms.with(0, || ())?;
    /// rooms.enter(1)?.change_to(0)?;
    /// let metrics = rooms.metrics().expect("they were asked for");
    /// assert_eq!((metrics.entries, metrics.waits, metrics.batches), (3, 1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn metrics(mut self, metrics: bool) -> Self {
        self.setup.counting = metrics;
        self
    }

    /// Whether the form for many rooms is taken for few as well: for tests.
    #[doc(hidden)]
    pub fn counted(mut self, counted: bool) -> Self {
        self.setup.counted = counted;
        self
    }

    /// The most that may wait for a room, or, where they are counted, be inside or wait, if less than possible: for tests.
    #[doc(hidden)]
    pub fn limit(mut self, limit: u64) -> Self {
        self.setup.limit = limit;
        self
    }

    /// Where counted tickets begin: for tests.
    #[doc(hidden)]
    pub fn start(mut self, start: u64) -> Self {
        self.setup.start = start;
        self
    }

    /// Builds the rooms.
    ///
    /// # Errors
    /// When there is no room, more than 65536, or exit code for one that there is not.
    pub fn build(mut self) -> Result<Rooms, BuildError> {
        let rooms = self.setup.rooms;
        if !(1..=MAX_ROOMS).contains(&rooms) {
            return Err(BuildError::new("rooms", rooms, format_args!("1 to {MAX_ROOMS}")));
        }
        let mut codes: Box<[Option<Closing>]> = (0..rooms).map(|_| None).collect();
        for (room, code) in self.codes {
            let Some(place) = codes.get_mut(room) else {
                let allowed = format!("a room from 0 to {}", rooms - 1);
                return Err(BuildError::new("on_last_exit", room, allowed));
            };
            *place = Some(Closing { code, runs: AtomicU64::new(0) });
            self.setup.with_exit_code |= 1_u8.checked_shl(room as u32).unwrap_or(0);
        }
        let counters = self.setup.counting.then(Counters::new);
        Ok(Rooms::assemble(Either::new(self.setup), codes, self.poison, counters))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes: Vec<usize> = self.codes.iter().map(|(room, _)| *room).collect();
        f.debug_struct("Builder")
            .field("rooms", &self.setup.rooms)
            .field("on_last_exit", &codes)
            .field("poison", &self.poison)
            .finish()
    }
}
