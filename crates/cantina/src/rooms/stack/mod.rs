//! A stack that grows and shrinks, last in first out, in three rooms: who puts never meets who gets, and who gives memory back meets
//! neither.
//!
//! # Progress
//! Blocking: who puts waits until those who get have left their room, and the other way round; who comes to those who do the same
//! joins them, unless somebody waits. With more users than processors some 2000 join although somebody does, each time that a room is
//! opened. No user code runs inside, and nobody waits there, but for memory.
//!
//! # Linearization
//! Last in, first out. Those who put take effect in the order of their fetch-and-adds, which is that of their places, and so do
//! those who get. A batch has one: its tasks go in, or come out, together. Who finds the stack empty does so at any
//! step inside the room: once one has, all others of that room do until it closes.
//!
//! # Invariants
//! * **I1** outside the rooms tasks lie in places `0..top`, and all chunks up to the uppermost one are there.
//! * **I2** inside a room each has the places that its fetch-and-add gave it, not below 0, and reaches only those.
//! * **I3** a chunk is where it is from the time when it is needed until somebody in the third room frees it: nobody puts or gets then.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `phase` | who leaves a room | who enters one later | the tasks, their number, and the chunks: inside, a read-modify-write is all it takes |
//! | `chunk` | who makes a chunk | who needs it too, in the same room | its places |
//!
//! # Memory
//! Chunk after chunk, each twice as large as the one before; none is moved or copied. Who got tasks and finds more than one chunk above
//! the uppermost task frees the others: memory for at most four times the tasks there are, and for three of the
//! first chunk, is kept. Where that had to be made again, and so the stack sways, it is kept until 64, and from the second time on 1024,
//! who got tasks, or found none, have found it too much. The last handle drops the tasks that nobody got. Where there is no memory the process ends.
//!
//! # Limits
//! Any number of tasks, ends and threads; of more than 14336 that wait for a room some ask again and again.

mod builder;
pub(super) mod chunks;
mod ends;

pub use builder::Builder;
pub use ends::{Consumer, Producer, Worker};

use super::packed::{Packed, Plan};
use super::visit::{BOTH, GET, PUT, Visit, joined};
use crate::pool::{self, TooMany};
use chunks::Chunks;
use machine::Arc;
use machine::trace;
use std::fmt;

/// A stack that grows and shrinks, last in first out; see the [module](self).
///
/// ```
/// use cantina::rooms::RoomStack;
///
/// let stack = RoomStack::new();
/// stack.push("put away");
/// assert_eq!(stack.push_all(["dry", "wash up"]), 2);
/// assert_eq!(stack.pop(), Some("wash up"));
/// let mut rest = Vec::new();
/// assert_eq!(stack.pop_many(10, &mut rest), 2);
/// assert_eq!(rest, ["dry", "put away"]);
/// ```
pub struct RoomStack<T> {
    shared: Arc<Shared<T>>,
}

/// What a [`RoomStack`] is like.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Tasks it holds.
    pub tasks: usize,
    /// Tasks there is memory for.
    pub capacity: usize,
}

/// The room of those who free chunks.
const TIDY: usize = BOTH;

struct Shared<T> {
    rooms: Packed,
    chunks: Chunks<T>,
}

impl<T> RoomStack<T> {
    /// An empty stack.
    pub fn new() -> Self {
        Self::builder().build().expect("a stack of usual chunks")
    }

    /// Settings to build one from.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }

    /// A stack whose first chunk has two to the power of `first` places, and of whose users so many may wait.
    fn with(first: u32, limit: u64) -> Self {
        let rooms = Packed::new(Plan { rooms: BOTH + 1, limit, ..joined() });
        let shared = Arc::new(Shared { rooms, chunks: Chunks::new(first) });
        trace::structure(&*shared, "stack");
        shared.rooms.describe_parts();
        shared.chunks.describe();
        Self { shared }
    }

    /// Puts `task` on top.
    #[inline]
    pub fn push(&self, task: T) {
        let visit = self.shared.visit(PUT);
        self.shared.chunks.put(task);
        drop(visit);
    }

    /// Puts all of `tasks` on top, together, the last one uppermost, and says how many they were.
    ///
    /// # Panics
    /// When the iterator does. Every task it gave before is put.
    pub fn push_all<I: IntoIterator<Item = T>>(&self, tasks: I) -> usize {
        self.push_in_runs(tasks, usize::MAX)
    }

    /// Puts all of `tasks` on top, together, the last one uppermost, and says how many they were: as [`push_all`](Self::push_all), but out of a
    /// vector, which is empty then and keeps its memory.
    pub fn append(&self, tasks: &mut Vec<T>) -> usize {
        let count = tasks.len();
        if count > 0 {
            let visit = self.shared.visit(PUT);
            self.shared.chunks.put_run(tasks);
            drop(visit);
        }
        count
    }

    /// The same, up to `most` at a time.
    fn push_in_runs(&self, tasks: impl IntoIterator<Item = T>, most: usize) -> usize {
        let put = |run: &mut Vec<T>| _ = self.append(run);
        pool::put_in_runs(tasks.into_iter(), most, &mut Vec::new(), put)
    }

    /// Gets the uppermost task. `None`: there was none.
    #[inline]
    #[must_use = "the task is dropped if nobody takes it"]
    pub fn pop(&self) -> Option<T> {
        let visit = self.shared.visit(GET);
        let task = self.shared.chunks.take();
        drop(visit);
        self.shared.tidy(self.len_hint());
        task
    }

    /// Gets up to `max` of the uppermost tasks, together, appends them to `into`, the uppermost first, and says how many. 0 with
    /// `max > 0`: there was none.
    pub fn pop_many(&self, max: usize, into: &mut Vec<T>) -> usize {
        self.shared.chunks.make_room(max, into);
        let visit = self.shared.visit(GET);
        let run = self.shared.chunks.take_run(max, into);
        drop(visit);
        self.shared.tidy(run.left);
        run.taken
    }

    /// One more putting end.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.clone())
    }

    /// One more getting end.
    pub fn consumer(&self) -> Consumer<T> {
        Consumer::new(self.clone())
    }

    /// One more getting end; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_consumer(&self) -> Result<Consumer<T>, TooMany> {
        Ok(self.consumer())
    }

    /// One more end for a thread in both roles.
    pub fn worker(&self) -> Worker<T> {
        Worker::new(self.clone())
    }

    /// One more end for a thread in both roles; there is no limit.
    ///
    /// # Errors
    /// Never.
    pub fn try_worker(&self) -> Result<Worker<T>, TooMany> {
        Ok(self.worker())
    }

    /// What it is like: exact when nobody uses it meanwhile.
    pub fn metrics(&self) -> Metrics {
        Metrics { tasks: self.len_hint(), capacity: self.shared.chunks.places() }
    }

    /// How many tasks it held a moment ago, about.
    pub fn len_hint(&self) -> usize {
        self.shared.chunks.len_hint()
    }
}

impl<T> Shared<T> {
    #[inline]
    fn visit(&self, room: usize) -> Visit<'_, impl FnMut()> {
        Visit::new(&self.rooms, room, || ())
    }

    /// Frees chunks that so many tasks do not need any more, if there are any.
    #[inline]
    fn tidy(&self, tasks: usize) {
        if self.chunks.wants_trimming(tasks) {
            self.tidy_up();
        }
    }

    #[cold]
    fn tidy_up(&self) {
        let visit = self.visit(TIDY);
        self.chunks.trim();
        drop(visit);
    }
}

pool::forward_to_own_methods!(RoomStack {});

impl<T> Clone for RoomStack<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for RoomStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tasks", self.chunks.len_hint())
    }
}

impl<T> fmt::Debug for RoomStack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RoomStack").field(&*self.shared).finish()
    }
}
