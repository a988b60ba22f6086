//! The consumer: the left column of algorithm 5, and `get` of algorithm 2.
//!
//! Comments name the paper's lines.

use super::Shared;
use super::chunk::{Chunk, EMPTY, Node, TAKEN};
use super::lasting::Lasting;
use super::list::List;
use super::scan::Notes;
use super::seats::ChunkMember;
use super::shelves::Shelf;
use super::steal::Stolen;
use super::word::Word;
use cantina::pool::{self, TooMany};
use cantina::reclaim::Participant;
use machine::Arc;
use std::fmt;

/// How many chunks a consumer looks at: the one it works on, and another.
pub(super) const SLOTS: usize = 2;

/// The getting end.
pub struct Consumer<T: Send> {
    pub(super) guard: Participant<Chunk<T>, SLOTS>,
    member: ChunkMember<T>,
    pub(super) me: usize,
    /// The paper's `currentNode`.
    pub(super) current: Option<Held<T>>,
    /// The hazard pointer to look at chunks with. The other one is for the current chunk.
    pub(super) look: usize,
    /// The list and the cell where the current node was found: the traversal is a fair one.
    turn: (usize, usize),
    /// All shelves, the oldest first.
    shelves: Vec<Lasting<Shelf<T>>>,
    access: Vec<usize>,
    /// How often consumers had come or gone when the access list was made.
    turnover: Option<usize>,
    pub(super) notes: Notes<T>,
    pub(super) shared: Arc<Shared<T>>,
}

/// A chunk to take from, by a node of ours, as long as the owner word is this one.
pub(super) struct Held<T> {
    pub(super) chunk: Lasting<Chunk<T>>,
    pub(super) node: Lasting<Node<T>>,
    pub(super) word: Word,
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Held<T> {}

impl<T: Send> Consumer<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Result<Self, TooMany> {
        let me = shared.seats.take(shared.here())?;
        Ok(Self {
            // SAFETY: it is dropped before `shared`, which has the domain.
            guard: unsafe { shared.domain.join() },
            member: shared.member(),
            me,
            current: None,
            look: 0,
            turn: (0, 0),
            shelves: Vec::new(),
            access: Vec::new(),
            turnover: None,
            notes: Notes::default(),
            shared,
        })
    }

    #[inline]
    pub(super) fn get(&mut self) -> Option<T> {
        // 75
        match self.current.and_then(|held| self.take_task(held)) {
            None => self.get_elsewhere(),
            task => task,
        }
    }

    #[inline(never)]
    fn get_elsewhere(&mut self) -> Option<T> {
        loop {
            if let Some(task) = self.consume() {
                return Some(task);
            }
            match self.steal_from_all() {
                Stolen::Task(task) => return Some(task),
                Stolen::Chunk => {}
                Stolen::Nothing => {
                    if self.is_empty() {
                        return None;
                    }
                }
            }
        }
    }

    fn steal_from_all(&mut self) -> Stolen<T> {
        self.meet_consumers();
        for position in 0..self.access.len() {
            match self.steal(self.access[position]) {
                Stolen::Nothing => {}
                stolen => return stolen,
            }
        }
        Stolen::Nothing
    }

    /// All consumers that have been, nearest first; equally near ones in turn, ourselves last.
    fn meet_consumers(&mut self) {
        let turnover = self.shared.seats.turnover();
        if self.turnover == Some(turnover) {
            return;
        }
        let seats = &self.shared.seats;
        let (me, used) = (self.me, seats.used());
        let here = seats.seat(me).node();
        self.access.clear();
        self.access.extend((1..=used).map(|step| (me + step) % used));
        self.access.sort_by_cached_key(|&id| {
            (id == me, self.shared.distance(here, seats.seat(id).node()))
        });
        self.turnover = Some(turnover);
    }

    /// Learns of new producers.
    pub(super) fn meet_producers(&mut self) {
        let newest = self.shared.shelves.newest();
        let known = self.shelves.len();
        let new = std::iter::successors(newest, |shelf| shelf.older());
        self.shelves.extend(new.take_while(|shelf| shelf.number() >= known));
        self.shelves[known..].reverse();
    }

    /// How many lists a consumer has: one for each producer, and the stolen ones.
    pub(super) fn lists(&self) -> usize {
        self.shelves.len() + 1
    }

    /// A list of the consumer `id`.
    pub(super) fn list(&self, id: usize, number: usize) -> &List<T> {
        match self.shelves.get(number) {
            Some(shelf) => &shelf.lists[id],
            None => &self.shared.seats.seat(id).stolen,
        }
    }

    fn consume(&mut self) -> Option<T> {
        // 75
        if let Some(held) = self.current
            && let Some(task) = self.take_task(held)
        {
            return Some(task);
        }
        // 78
        self.meet_producers();
        let lists = self.lists();
        let (first, from) = self.turn;
        for step in 0..=lists {
            let number = (first + step) % lists;
            let len = self.list(self.me, number).len();
            let cells = match step {
                0 => from.min(len)..len,
                step if step == lists => 0..from.min(len),
                _ => 0..len,
            };
            for cell in cells {
                let Some(held) = self.hold(number, cell) else { continue };
                self.adopt(held);
                if let Some(task) = self.take_task(held) {
                    self.turn = (number, cell);
                    return Some(task);
                }
            }
        }
        self.let_go();
        None
    }

    /// 79: the chunk that a cell of ours leads to, if we own it by that node.
    fn hold(&mut self, number: usize, cell: usize) -> Option<Held<T>> {
        let node = self.list(self.me, number).node(cell).filter(|node| node.refers())?;
        let chunk = node.chunk;
        self.guard.announce(self.look, chunk.as_ptr().as_ptr());
        // After the announcement (I1).
        let word = chunk.word();
        let ours = word.id() == self.me && word.node() == node.number && !word.is_in_transit();
        ours.then_some(Held { chunk, node, word })
    }

    /// Works on a chunk that was looked at.
    pub(super) fn adopt(&mut self, held: Held<T>) {
        self.current = Some(held);
        self.look = 1 - self.look;
    }

    /// Looks at no chunk any more.
    pub(super) fn let_go(&mut self) {
        self.current = None;
        (0..SLOTS).for_each(|slot| self.guard.clear(slot));
    }

    /// `takeTask`, from the current chunk.
    #[inline]
    fn take_task(&mut self, held: Held<T>) -> Option<T> {
        let Held { chunk, node, word } = held;
        let pair = self.shared.pair;
        let index = node.own_index();
        // 86, 87
        let slot = chunk.slot(index)?;
        let state = slot.look();
        if state == EMPTY {
            return None;
        }
        // seen: the task is there for a thief too, also if it was our own put, then the look.
        pair.light();
        // 88
        if !chunk.is_still(word) {
            self.current = None;
            return None;
        }
        debug_assert_ne!(state, TAKEN, "an owner's index has passed what others took");
        // 90
        node.announce(index + 1);
        // steal: announced, then the look.
        pair.light();
        // 91
        if chunk.is_still(word) {
            // 92
            slot.set_taken();
            // SAFETY: announced, and ours afterwards (I2).
            let task = unsafe { slot.take() };
            self.check_last(held, index + 1);
            return Some(task);
        }
        // 95
        let won = slot.win();
        self.current = None;
        // SAFETY: won (I2).
        won.then(|| unsafe { slot.take() })
    }

    /// `checkLast`: recycles a chunk whose slots are all taken. See I3.
    pub(super) fn check_last(&mut self, held: Held<T>, index: usize) {
        if index == held.chunk.len() {
            self.recycle(held.chunk, &held.node, held.word);
        }
    }

    /// Makes a chunk nobody's if the owner word is still `word`, and keeps it for producers. It is
    /// announced, and is not afterwards.
    #[inline(never)]
    pub(super) fn recycle(&mut self, chunk: Lasting<Chunk<T>>, node: &Node<T>, word: Word) {
        let nobodys = word.recycled();
        let ours = chunk.change(word, nobodys);
        if ours {
            node.end();
        }
        self.let_go();
        if !ours || nobodys.is_worn() {
            return;
        }
        let (shared, member) = (&self.shared, &mut self.member);
        let keep = |spare| {
            // SAFETY: chunks last, and only handles look into chunk pools.
            let spare = unsafe { Lasting::new(spare) };
            // SAFETY: a member of this pool.
            unsafe { shared.seats.seat(self.me).keep(member, spare) };
        };
        // SAFETY: I3: we made it nobody's; the domain that we joined.
        unsafe { self.guard.retire_into(&shared.domain, chunk.as_ptr(), 1, keep) };
    }
}

impl<T: Send> pool::Consumer<T> for Consumer<T> {
    fn get(&mut self) -> Option<T> {
        self.get()
    }
}

impl<T: Send> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.seats.leave(self.me);
    }
}

impl<T: Send> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("seat", &self.me).finish_non_exhaustive()
    }
}
