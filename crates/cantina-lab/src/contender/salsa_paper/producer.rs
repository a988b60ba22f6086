//! The producer: algorithm 4, and the policy of algorithm 2.

use super::Shared;
use super::chunk::Chunk;
use super::lasting::Lasting;
use super::seats::ChunkMember;
use super::shelves::Shelf;
use cantina::pool::{self, Full};
use machine::Arc;
use machine::topology::NodeId;
use std::fmt;

/// The putting end.
pub struct Producer<T: Send> {
    shelf: Lasting<Shelf<T>>,
    member: ChunkMember<T>,
    /// The seat of the worker that it is part of: the first that it tries.
    home: Option<usize>,
    here: Option<NodeId>,
    access: Vec<usize>,
    /// How often consumers had come or gone when the access list was made.
    turnover: Option<usize>,
    shared: Arc<Shared<T>>,
}

impl<T: Send> Producer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, home: Option<usize>) -> Self {
        let shelf = shared.shelves.take(shared.seats.limit());
        let (member, here) = (shared.member(), shared.here());
        Self { shelf, member, home, here, access: Vec::new(), turnover: None, shared }
    }

    /// The consumers there are, nearest first; equally near ones from another on for each producer. If
    /// there is none, the seat that the first will take.
    fn meet_consumers(&mut self) {
        let turnover = self.shared.seats.turnover();
        if self.turnover == Some(turnover) {
            return;
        }
        let seats = &self.shared.seats;
        self.access.clear();
        self.access.extend((0..seats.used()).filter(|&id| seats.seat(id).is_taken()));
        let count = self.access.len();
        if count == 0 {
            self.access.push(0);
        } else {
            self.access.rotate_left(self.shelf.number() % count);
        }
        self.access.sort_by_cached_key(|&id| {
            let distance = self.shared.distance(self.here, seats.seat(id).node());
            (Some(id) != self.home, distance)
        });
        self.turnover = Some(turnover);
    }

    /// `getChunk`: a spare chunk of the first consumer that has one, and whose it is; else a new one
    /// for the first of all.
    fn get_chunk(&mut self) -> (Lasting<Chunk<T>>, usize) {
        self.meet_consumers();
        for &id in &self.access {
            // SAFETY: a member of this pool.
            if let Some(chunk) = unsafe { self.shared.seats.seat(id).spare(&mut self.member) } {
                return (chunk, id);
            }
        }
        (self.shared.new_chunk(), self.access[0])
    }

    /// Begins a chunk.
    #[inline(never)]
    fn begin_chunk(&mut self) -> Lasting<Chunk<T>> {
        let (chunk, id) = self.get_chunk();
        // SAFETY: out of a chunk pool, or new.
        let node = unsafe { Chunk::begin(chunk, id) };
        // SAFETY: I4: the shelf is ours.
        unsafe { self.shelf.lists[id].append(node) };
        // After the cell, before the first task (I5).
        self.shared.seats.seat(id).count_append();
        chunk
    }

    pub(super) fn put(&mut self, task: T) {
        // SAFETY: I4: the shelf is ours.
        let open = unsafe { self.shelf.filling(|it| it.chunk.map(|chunk| (chunk, it.tasks))) };
        let (chunk, tasks) = open.unwrap_or_else(|| (self.begin_chunk(), 0));
        let full = tasks + 1 == chunk.len();
        // SAFETY: as above. Before the task: the last one lets go of the chunk.
        unsafe {
            self.shelf.filling(|it| {
                it.chunk = (!full).then_some(chunk);
                it.tasks = tasks + 1;
            });
        }
        let slot = chunk.slot(tasks).expect("a chunk that is full is not filled further");
        // SAFETY: we are its producer, and we fill slot after slot.
        unsafe { slot.fill(task) };
    }
}

impl<T: Send> pool::Producer<T> for Producer<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.put(task);
        Ok(())
    }
}

impl<T: Send> Clone for Producer<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), None)
    }
}

impl<T: Send> Drop for Producer<T> {
    fn drop(&mut self) {
        self.shelf.leave();
    }
}

impl<T: Send> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("shelf", &self.shelf.number()).finish_non_exhaustive()
    }
}
