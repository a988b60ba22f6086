//! Work that makes more work, and comes to an end: a stack from which workers borrow batches.
//!
//! A worker takes a batch, works on it, puts into it what that gives rise to, and returns it. When nothing is left on the stack
//! and no batch is lent, nothing can come any more: all workers are told.
//!
//! # Progress
//! Blocking, as the [stack](super::stack). A worker that finds nothing while others have batches sleeps until there is something,
//! or the end. A batch that is never returned keeps all others waiting.
//!
//! # Linearization
//! As the [stack](super::stack). The end is in the third room, where nobody takes or puts.
//!
//! # Invariants
//! * **I1** outside the rooms, and inside the third one, `lent` is the number of batches that are borrowed and not returned. A batch is
//!   counted in the visit that takes its tasks, and no longer from the visit on that puts back what is left: so what has not been
//!   worked on is on the stack, or in a batch that is counted.
//! * **I2** who takes finds the stack empty until all have left that room, and a batch that is counted there stays so: who finds both puts itself
//!   among those who sleep, in that visit. If none is counted, somebody in the same room may have tasks and not have said so: it looks
//!   again in the third room. There, nothing on the stack and nothing lent is the end, and all who sleep are woken.
//! * **I3** one who sleeps is woken by who puts tasks, by who takes some and leaves others, and by who returns the last batch that was
//!   lent. It takes something, or finds that others have, or the end. Who sleeps found a batch lent, and no task: all that comes
//!   later is put, or returned, by somebody who sees it asleep.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `phase` | who leaves a room | who enters another one later | how many are lent, who sleeps, how often it has ended |
//! | `end` | who finds that it is the end | who was woken, by whomever | all that was done |
//!
//! # Memory
//! As the [stack](super::stack), and a list of those who sleep.

mod batch;

pub use batch::Batch;

use super::packed::{Packed, Plan};
use super::stack::chunks::{Chunks, usual_first};
use super::visit::{BOTH, GET, PUT, Visit, joined};
use crate::pool;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::atomic::{AtomicU64, AtomicUsize};
use machine::lock::Mutex;
use machine::park::{Parker, Unparker};
use machine::{Arc, CachePadded, trace};
use std::fmt;

/// Work that makes more work, shared among workers; see the [module](self).
///
/// Put the first tasks before the workers start: who finds neither a task nor a batch that somebody has is at the end. After an end
/// there may be more work, and another end.
///
/// ```
/// use cantina::rooms::WorkStack;
///
/// let work = WorkStack::new();
/// work.push(10_u32);
/// let workers: Vec<_> = (0..4)
///     .map(|_| {
///         let work = work.clone();
///         std::thread::spawn(move || {
///             let mut done = 0;
///             while let Some(mut batch) = work.borrow(16) {
///                 for _ in 0..16 {
///                     let Some(task) = batch.pop() else { break };
///                     done += 1;
///                     // Twice as much that is less.
///                     batch.extend((task > 0).then(|| [task - 1; 2]).into_iter().flatten());
///                 }
///             }
///             done
///         })
///     })
///     .collect();
/// let done: u32 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
/// assert_eq!(done, 2_047);
/// ```
pub struct WorkStack<T> {
    shared: Arc<Shared<T>>,
}

/// The room of those who look for the end, and of those who free chunks.
const THIRD: usize = BOTH;

struct Shared<T> {
    rooms: Packed,
    tasks: Chunks<T>,
    /// See I1.
    lent: CachePadded<AtomicUsize>,
    asleep: CachePadded<Asleep>,
}

/// Those who found nothing.
struct Asleep {
    /// How many there are in the list.
    count: AtomicUsize,
    /// Added in the room of those who take or in the third one, removed by whoever wakes them.
    list: Mutex<Vec<Unparker>>,
    /// How often it has come to its end while somebody slept.
    ends: AtomicU64,
}

impl<T> WorkStack<T> {
    /// No work.
    pub fn new() -> Self {
        let asleep = Asleep {
            count: AtomicUsize::new(0),
            list: Mutex::new(Vec::new()),
            ends: AtomicU64::new(0),
        };
        let shared = Arc::new(Shared {
            rooms: Packed::new(Plan { rooms: BOTH + 1, ..joined() }),
            tasks: Chunks::new(usual_first::<T>()),
            lent: CachePadded::new(AtomicUsize::new(0)),
            asleep: CachePadded::new(asleep),
        });
        trace::structure(&*shared, "work");
        shared.rooms.describe_parts();
        shared.tasks.describe();
        Self { shared }
    }

    /// Puts `task` on top.
    pub fn push(&self, task: T) {
        self.push_all([task]);
    }

    /// Puts all of `tasks` on top, together, and says how many they were. A worker that has much in its batch while
    /// [others wait](Self::waiting) may share it like this.
    ///
    /// # Panics
    /// When the iterator does. Every task it gave before is put.
    pub fn push_all<I: IntoIterator<Item = T>>(&self, tasks: I) -> usize {
        let put = |run: &mut Vec<T>| self.shared.put_back(run, 0);
        pool::put_in_runs(tasks.into_iter(), usize::MAX, &mut Vec::new(), put)
    }

    /// Borrows up to `max` of the uppermost tasks, and waits for them while others have batches. `None`: the end. There was
    /// a moment since the call when nothing was left, and nobody had a batch.
    ///
    /// Who has a batch returns it first, or waits for itself.
    ///
    /// # Panics
    /// When `max` is 0.
    #[must_use = "a batch that is dropped goes back"]
    pub fn borrow(&self, max: usize) -> Option<Batch<'_, T>> {
        assert!(max > 0, "a batch has at least one task");
        let mut tasks = Vec::new();
        loop {
            let look = match self.shared.take(max, &mut tasks) {
                Look::Tasks => return Some(Batch::new(&self.shared, tasks)),
                Look::Neither => self.shared.look_for_the_end(),
                asleep => asleep,
            };
            match look {
                Look::Tasks => {}
                Look::Neither => return None,
                Look::Asleep(sleep) => {
                    sleep.parker.park();
                    if self.shared.asleep.has_ended_since(sleep.ends) {
                        return None;
                    }
                }
            }
        }
    }

    /// How many tasks were there a moment ago, about, without those in batches.
    pub fn len_hint(&self) -> usize {
        self.shared.tasks.len_hint()
    }

    /// How many batches were lent a moment ago, about.
    pub fn lent(&self) -> usize {
        // hint: a look.
        self.shared.lent.load(Relaxed)
    }

    /// How many waited for tasks a moment ago, about.
    pub fn waiting(&self) -> usize {
        // hint: a look.
        self.shared.asleep.count.load(Relaxed)
    }
}

/// What there is.
enum Look {
    /// Something to do.
    Tasks,
    /// Nothing, but others have batches: who looks is among those who sleep.
    Asleep(Sleep),
    /// Neither tasks nor batches.
    Neither,
}

/// What somebody has who found nothing, and is among those who sleep.
struct Sleep {
    parker: Parker,
    /// How often it had come to its end.
    ends: u64,
}

impl<T> Shared<T> {
    #[inline]
    fn visit(&self, room: usize) -> Visit<'_, impl FnMut()> {
        Visit::new(&self.rooms, room, || ())
    }

    /// Takes up to `max` tasks as a batch, if there are any. That there is neither a task nor a batch may not be so.
    fn take(&self, max: usize, into: &mut Vec<T>) -> Look {
        self.tasks.make_room(max, into);
        let visit = self.visit(GET);
        let run = self.tasks.take_run(max, into);
        if run.taken == 0 {
            return self.asleep_or_neither();
        }
        // phase: in the same visit (I1).
        self.lent.fetch_add(1, Relaxed);
        drop(visit);
        if run.left > 0 && self.asleep.are_some() {
            self.asleep.wake_one();
        }
        if self.tasks.wants_trimming(run.left) {
            self.tidy_up();
        }
        Look::Tasks
    }

    /// What there is if there are no tasks, in a room where nobody puts.
    #[cold]
    fn asleep_or_neither(&self) -> Look {
        // phase: of all who returned batches; nobody does now.
        if self.lent.load(Relaxed) > 0 { Look::Asleep(self.asleep.add()) } else { Look::Neither }
    }

    /// Puts all tasks of `run` on top; so many batches were they.
    fn put_back(&self, run: &mut Vec<T>, batches: usize) {
        let some = !run.is_empty();
        let visit = self.visit(PUT);
        self.tasks.put_run(run);
        // phase: in the same visit (I1). In this room there are fewer and fewer.
        let last = batches > 0 && self.lent.fetch_sub(batches, Relaxed) == batches;
        drop(visit);
        if (some || last) && self.asleep.are_some() {
            self.asleep.wake_one();
        }
    }

    /// What there is, where nobody takes or puts. Neither a task nor a batch: all are told.
    #[cold]
    fn look_for_the_end(&self) -> Look {
        let visit = self.visit(THIRD);
        if self.tasks.len_hint() > 0 {
            return Look::Tasks;
        }
        let look = self.asleep_or_neither();
        if let Look::Neither = look {
            let all = self.asleep.end();
            drop(visit);
            all.into_iter().for_each(|sleeper| sleeper.unpark());
        }
        look
    }

    /// Frees chunks that are not needed any more.
    #[cold]
    fn tidy_up(&self) {
        let visit = self.visit(THIRD);
        self.tasks.trim();
        drop(visit);
    }
}

impl Asleep {
    #[inline]
    fn are_some(&self) -> bool {
        // phase: of those who put themselves here before there was a task for them.
        self.count.load(Relaxed) > 0
    }

    /// One more.
    fn add(&self) -> Sleep {
        let parker = Parker::new();
        let mut list = self.list.lock();
        list.push(parker.unparker());
        // phase: for who puts a task later, or ends it.
        self.count.store(list.len(), Relaxed);
        // phase: it ends in another visit.
        Sleep { parker, ends: self.ends.load(Relaxed) }
    }

    #[cold]
    fn wake_one(&self) {
        let mut list = self.list.lock();
        let woken = list.pop();
        // hint: who sees more looks into the list.
        self.count.store(list.len(), Relaxed);
        drop(list);
        if let Some(sleeper) = woken {
            sleeper.unpark();
        }
    }

    /// It is the end, for all of these: they are to be woken.
    fn end(&self) -> Vec<Unparker> {
        let mut list = self.list.lock();
        // end: all that was done, by whoever was inside a room. Before anybody is woken.
        self.ends.fetch_add(1, Release);
        // hint: who sees more looks into the list.
        self.count.store(0, Relaxed);
        std::mem::take(&mut *list)
    }

    fn has_ended_since(&self, ends: u64) -> bool {
        // end: all that was done. If it is the end that woke us we see it; if not, it may have come since.
        self.ends.load(Acquire) != ends
    }
}

impl<T> Clone for WorkStack<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for WorkStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for WorkStack<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkStack")
            .field("tasks", &self.len_hint())
            .field("lent", &self.lent())
            .finish()
    }
}
