//! Who takes part: stacks that workers share, and one that nobody shares.

use super::super::{Contestant, Drive, Shapes};
use super::{BATCH, FIELD, SMALL_BATCH};
use crate::contender::treiber::Stack;
use crate::contender::{End, Figure4Stack, LockedStack, Treiber};
use crate::workload::{Chore, Hand, Line, Make, Parcel, Payload, Shared, run_forest};
use cantina::pool::{Consumer, Producer, TaskPool};
use cantina::rooms::{RoomStack, WorkStack};
use cantina_record::Kind;

/// Rooms: a visit for a batch.
#[derive(Clone, Copy, Debug)]
struct InRooms;
/// Rooms that know when all is done: a batch is borrowed.
#[derive(Clone, Copy, Debug)]
struct Borrowed;
/// The paper's own stack in rooms.
#[derive(Clone, Copy, Debug)]
struct Figure4;
/// A lock: it is taken once for a batch.
#[derive(Clone, Copy, Debug)]
struct Locked;
/// No lock: an exchange for each node.
#[derive(Clone, Copy, Debug)]
struct LockFree;
/// A vector for one worker: what the job takes without a stack that can be shared.
#[derive(Clone, Copy, Debug)]
struct Unshared;

/// What nodes are taken from and put back to.
pub trait Store<T> {
    /// Takes up to `most` and appends them to `into`.
    fn take(&mut self, most: usize, into: &mut Vec<T>);

    /// Puts all of `from`, and leaves it empty.
    fn give(&mut self, from: &mut Vec<T>);
}

/// A hand on a store, and the nodes in it.
#[derive(Debug)]
pub struct Holding<S, T> {
    store: S,
    nodes: Vec<T>,
}

/// Drives `shared` with these batches and that much work.
pub fn drive_shared<S: Shared>(shared: S, chore: Chore) -> Drive {
    Box::new(move |payload, assignment| match payload {
        Payload::Word => run_forest::<u64, S>(&shared, chore, assignment),
        Payload::Line => run_forest::<Line, S>(&shared, chore, assignment),
    })
}

/// `contestant` with each amount of work: `drive` is told how to go about it.
pub fn each(
    percent: &[u64],
    contestant: impl Fn() -> Contestant,
    drive: impl Fn(u64) -> Drive,
) -> Vec<Contestant> {
    let with = |&percent: &u64| Contestant {
        parameter: Some((FIELD, percent)),
        drive: drive(percent),
        ..contestant()
    };
    percent.iter().map(with).collect()
}

/// The stacks that run on any machine, with each of these amounts of work.
pub fn contestants(percent: &[u64]) -> Vec<Contestant> {
    let ours = Kind::Ours;
    let mut all = Vec::new();
    let mut add = |stacks: Vec<Contestant>| all.extend(stacks);
    add(both(percent, ours, "room-stack", "a stack in rooms, a visit for each batch", InRooms));
    let about = "rooms that lend batches and know when all is done";
    add(some(percent, BATCH, (ours, "work-stack", about, true), Borrowed));
    let about = "the paper's array that grows, in rooms, a visit or two for each batch";
    add(some(percent, BATCH, (Kind::Contender, "figure4-stack", about, false), Figure4));
    let about = "a mutex and a vector, locked once for each batch";
    add(both(percent, Kind::Contender, "locked-stack", about, Locked));
    let about = "Treiber's lock-free stack, an exchange for each node";
    add(some(percent, BATCH, (Kind::Contender, "treiber", about, true), LockFree));
    let about = "a vector that one worker has for itself";
    let alone = some(percent, BATCH, (Kind::Contender, "unshared", about, false), Unshared);
    add(alone.into_iter().map(|each| Contestant { shapes: Shapes::OneToOne, ..each }).collect());
    all
}

/// A stack with usual batches, and with small ones.
fn both<S: Shared + Copy>(
    percent: &[u64],
    kind: Kind,
    name: &str,
    about: &str,
    shared: S,
) -> Vec<Contestant> {
    let mut all = some(percent, BATCH, (kind, name, about, false), shared);
    let (name, about) = (format!("{name}-by-{SMALL_BATCH}"), format!("{about} of {SMALL_BATCH}"));
    all.extend(some(percent, SMALL_BATCH, (kind, &name, &about, false), shared));
    all
}

/// A stack with batches of one size. The last of its facts is whether it allocates all the time.
fn some<S: Shared + Copy>(
    percent: &[u64],
    batch: usize,
    (kind, name, about, allocates): (Kind, &str, &str, bool),
    shared: S,
) -> Vec<Contestant> {
    let drive = |percent| drive_shared(shared, Chore { batch, percent });
    let contestant = || Contestant {
        name: name.to_owned(),
        kind,
        about: about.to_owned(),
        version: None,
        shapes: Shapes::Any,
        allocates,
        parameter: None,
        drive: drive(0),
    };
    each(percent, contestant, drive)
}

/// What makes so many hands on a stack.
fn makers<S: Clone + Send + 'static, H: 'static>(
    workers: usize,
    stack: S,
    hand: fn(S) -> H,
) -> Vec<Make<H>> {
    let make = |stack: S| -> Make<H> { Box::new(move || hand(stack)) };
    (0..workers).map(|_| make(stack.clone())).collect()
}

/// So many hands on a store that holds `first`.
pub fn hands<S, T>(workers: usize, mut store: S, mut first: Vec<T>) -> Vec<Make<Holding<S, T>>>
where
    S: Store<T> + Clone + Send + 'static,
    T: 'static,
{
    store.give(&mut first);
    makers(workers, store, |store| Holding { store, nodes: Vec::new() })
}

impl<T, S: Store<T>> Hand<T> for Holding<S, T> {
    fn round(&mut self, most: usize, work: &mut dyn FnMut(&mut Vec<T>)) -> bool {
        self.store.take(most, &mut self.nodes);
        if self.nodes.is_empty() {
            return false;
        }
        work(&mut self.nodes);
        self.store.give(&mut self.nodes);
        true
    }
}

impl Shared for InRooms {
    type Hand<T: Parcel> = Holding<RoomStack<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        hands(workers, RoomStack::new(), first)
    }
}

impl<T> Store<T> for RoomStack<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        self.pop_many(most, into);
    }

    fn give(&mut self, from: &mut Vec<T>) {
        self.append(from);
    }
}

impl Shared for Borrowed {
    type Hand<T: Parcel> = WorkStack<T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<WorkStack<T>>> {
        let stack = WorkStack::new();
        stack.push_all(first);
        makers(workers, stack, |stack| stack)
    }
}

impl<T> Hand<T> for WorkStack<T> {
    fn round(&mut self, most: usize, work: &mut dyn FnMut(&mut Vec<T>)) -> bool {
        let Some(mut batch) = self.borrow(most) else { return false };
        work(&mut batch);
        true
    }
}

impl Shared for Figure4 {
    type Hand<T: Parcel> = Holding<Figure4Stack<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        hands(workers, Figure4Stack::new(), first)
    }
}

impl<T: Send> Store<T> for Figure4Stack<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        self.get_many(most, into);
    }

    fn give(&mut self, from: &mut Vec<T>) {
        self.append(from);
    }
}

impl Shared for Locked {
    type Hand<T: Parcel> = Holding<LockedStack<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        hands(workers, LockedStack::new(), first)
    }
}

impl<T: Send> Store<T> for LockedStack<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        self.get_many(most, into);
    }

    fn give(&mut self, from: &mut Vec<T>) {
        self.append(from);
    }
}

impl Shared for LockFree {
    type Hand<T: Parcel> = Holding<End<Stack<T>>, T>;

    fn hands<T: Parcel>(&self, workers: usize, mut first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        let stack = Treiber::new();
        stack.worker().give(&mut first);
        makers(workers, stack, |stack| Holding { store: stack.worker(), nodes: Vec::new() })
    }
}

impl<T: Send> Store<T> for End<Stack<T>> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        self.get_many(most, into);
    }

    fn give(&mut self, from: &mut Vec<T>) {
        let put = self.put_all(from.drain(..));
        debug_assert!(put.is_ok(), "it has no bound");
    }
}

impl Shared for Unshared {
    type Hand<T: Parcel> = Holding<Vec<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        assert_eq!(workers, 1, "nobody shares it");
        vec![Box::new(|| Holding { store: first, nodes: Vec::new() })]
    }
}

impl<T> Store<T> for Vec<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        let kept = self.len().saturating_sub(most);
        let taken = &self[kept..];
        machine::touch_read(taken.as_ptr().cast(), size_of_val(taken));
        machine::work(taken.len() as u64);
        into.extend(self.drain(kept..).rev());
    }

    fn give(&mut self, from: &mut Vec<T>) {
        let before = self.len();
        self.append(from);
        let put = &self[before..];
        machine::touch_write(put.as_ptr().cast(), size_of_val(put));
        machine::work(put.len() as u64);
    }
}
