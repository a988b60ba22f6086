//! A chunk of SALSA as its consumers share it: an owner that announces and looks, thieves that change the owner word twice,
//! and bits for the slots that both may want. Or with a step left out, each of them a row of the table in `docs/papers.md`.

use cantina::pool::{Consumer, Full, Producer, TaskPool};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::{Arc, CachePadded, fence, trace};

/// Slots, and ends.
const SLOTS: usize = 4;
const ENDS: usize = 4;
/// The end that the chunk is filled for.
const HOME: u64 = 1;

/// What can be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// The owner's look at the owner word after its announcement.
    Look,
    /// The slot that a new owner has to win before it takes one without a claim.
    CarefulSlot,
    /// The change of the owner word that says that the index is the thief's.
    SecondChange,
}

/// The chunk. It is filled before anybody gets, and never used again.
struct Chunk {
    left_out: Option<Left>,
    /// A count of changes, the owner, and whose index is in force, in 8 bits each.
    owner: CachePadded<AtomicU64>,
    next: Vec<CachePadded<AtomicU64>>,
    /// A bit for each slot that was claimed.
    taken: CachePadded<AtomicU64>,
    /// Slots filled.
    filled: CachePadded<AtomicU64>,
    slots: Vec<AtomicU64>,
    /// Ends that there have been.
    ends: AtomicU64,
}

/// One that puts and gets, by its number.
pub(crate) struct End {
    chunk: Arc<Chunk>,
    me: u64,
    held: Option<Held>,
}

/// The chunk, in the hand of its owner.
#[derive(Clone, Copy)]
struct Held {
    word: u64,
    slot: u64,
    /// It has to win a slot first.
    careful: bool,
}

fn word(changes: u64, owner: u64, from: u64) -> u64 {
    changes << 16 | owner << 8 | from
}

impl Chunk {
    fn new(left_out: Option<Left>) -> Self {
        let zero = || CachePadded::new(AtomicU64::new(0));
        Self {
            left_out,
            owner: CachePadded::new(AtomicU64::new(word(0, HOME, HOME))),
            next: (0..ENDS).map(|_| zero()).collect(),
            taken: zero(),
            filled: zero(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            ends: AtomicU64::new(0),
        }
    }

    fn lacks(&self, step: Left) -> bool {
        self.left_out == Some(step)
    }

    fn change(&self, old: u64, owner: u64, from: u64) -> Option<u64> {
        let new = word((old >> 16) + 1, owner, from);
        self.owner.compare_exchange(old, new, AcqRel, Relaxed).is_ok().then_some(new)
    }

    fn index(&self, end: u64) -> &AtomicU64 {
        &self.next[end as usize]
    }

    fn task(&self, slot: u64) -> u64 {
        self.slots[slot as usize].load(Relaxed)
    }

    /// The task of `slot`, if it is won.
    fn claim(&self, slot: u64) -> Option<u64> {
        let before = self.taken.fetch_or(1 << slot, AcqRel);
        (before >> slot & 1 == 0).then(|| self.task(slot))
    }
}

impl End {
    /// From the chunk in the hand: nothing when there is none, when it has gone, or when it is empty.
    fn take(&mut self) -> Option<u64> {
        let chunk = &self.chunk;
        loop {
            let held = self.held.as_mut()?;
            let slot = held.slot;
            if slot == chunk.filled.load(Acquire) {
                return None;
            }
            let won = if held.careful { chunk.claim(slot) } else { None };
            chunk.index(self.me).store(slot + 1, Release);
            fence::full();
            let gone = chunk.owner.load(Acquire) != held.word && !chunk.lacks(Left::Look);
            let task = match (held.careful, gone) {
                (true, _) => won,
                (false, true) => chunk.claim(slot),
                (false, false) => Some(chunk.task(slot)),
            };
            held.slot += 1;
            held.careful &= won.is_none();
            if gone {
                self.held = None;
            }
            if task.is_some() {
                return task;
            }
        }
    }

    /// From an owner, or from a thief that has changed the owner word once. `Err`: there is nothing.
    fn steal(&mut self, old: u64) -> Result<Option<u64>, ()> {
        let (chunk, me, from) = (&self.chunk, self.me, old & 0xff);
        let is_stable = old >> 8 & 0xff == from;
        let (index, filled) = (chunk.index(from).load(Acquire), chunk.filled.load(Acquire));
        fence::full();
        let taken = chunk.taken.load(Acquire);
        let Some(slot) = (index..filled).find(|slot| taken >> slot & 1 == 0) else {
            let nothing = is_stable && chunk.owner.load(Acquire) == old;
            if !is_stable {
                chunk.change(old, from, from);
            }
            return if nothing { Err(()) } else { Ok(None) };
        };
        let claimed_from = if chunk.lacks(Left::SecondChange) { me } else { from };
        let Some(claimed) = chunk.change(old, me, claimed_from) else { return Ok(None) };
        fence::full();
        let now = chunk.index(from).load(Acquire);
        if from != me {
            chunk.index(me).store(now, Release);
        }
        let settled =
            if claimed_from == me { Some(claimed) } else { chunk.change(claimed, me, me) };
        let careful = !chunk.lacks(Left::CarefulSlot);
        self.held = settled.map(|word| Held { word, slot: now, careful });
        Ok(if settled.is_none() && now == index { chunk.claim(slot) } else { None })
    }
}

impl Consumer<u64> for End {
    fn get(&mut self) -> Option<u64> {
        loop {
            let task = self.take();
            if task.is_some() {
                return task;
            }
            let now = self.chunk.owner.load(Acquire);
            if self.held.is_some_and(|held| held.word == now) {
                return None;
            }
            self.held = None;
            if now == word(0, self.me, self.me) {
                // Nobody has claimed anything.
                let slot = self.chunk.index(self.me).load(Relaxed);
                self.held = Some(Held { word: now, slot, careful: false });
                continue;
            }
            match self.steal(now) {
                Ok(None) => {}
                Ok(task) => return task,
                Err(()) => return None,
            }
        }
    }
}

impl Producer<u64> for End {
    fn try_put(&mut self, task: u64) -> Result<(), Full<u64>> {
        let slot = self.chunk.filled.load(Relaxed);
        let Some(place) = self.chunk.slots.get(slot as usize) else { return Err(Full(task)) };
        place.store(task, Relaxed);
        self.chunk.filled.store(slot + 1, Release);
        Ok(())
    }
}

/// As a pool: its first end puts, and comes last.
#[derive(Clone)]
pub(crate) struct OneChunk(Arc<Chunk>);

impl OneChunk {
    pub(crate) fn new(left_out: Option<Left>) -> Self {
        let chunk = Arc::new(Chunk::new(left_out));
        trace::name(&*chunk.owner, "owner");
        trace::name(&*chunk.taken, "taken");
        for (end, next) in chunk.next.iter().enumerate() {
            trace::name(&**next, &format!("next{end}"));
        }
        Self(chunk)
    }
}

impl TaskPool<u64> for OneChunk {
    type Producer = End;
    type Consumer = End;
    type Worker = End;

    fn producer(&self) -> End {
        self.worker()
    }

    fn consumer(&self) -> End {
        self.worker()
    }

    fn worker(&self) -> End {
        End { chunk: self.0.clone(), me: self.0.ends.fetch_add(1, Relaxed), held: None }
    }
}
