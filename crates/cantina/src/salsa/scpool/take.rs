//! The getting side: a consumer, the chunks it owns, and the one in its hand.

use super::chunk::{Chunk, take};
use super::claims::{Claimed, Claims};
use super::hand::Hand;
use super::home::Place;
use super::scan::Notes;
use super::word::Word;
use super::{HAZARDS, Head, Home, Pools};
use crate::pool::TooMany;
use crate::reclaim::{Domain, Member, Reclaims};
use crate::salsa::metrics::Tally;
use machine::Arc;
use machine::topology::NodeId;
use std::ptr::{self, NonNull};

/// A consumer's end of the mechanism.
pub(in crate::salsa) struct Taker<T> {
    hand: Hand<T>,
    /// What is claimed next, where everything is: then nothing is in the hand.
    claims: Claims<T>,
    pub(super) pools: Arc<Pools<T>>,
    /// Our id.
    pub(super) me: usize,
    pub(super) guard: Member<Pools<T>, HAZARDS>,
    /// The working set: entry `i` is protected by hazard pointer `i`. One is always free, to look at
    /// other chunks with.
    pub(super) held: [Option<Held<T>>; HAZARDS],
    /// The entry that is in the hand, or that the last task came from.
    pub(super) at: usize,
    /// The place, in our home's table, of the chunk that was adopted last.
    swept: Option<Place<T>>,
    /// Our home's appends when it was last swept.
    appends: u64,
    pub(super) tally: Tally,
    /// How many heavy fences were refused since the last that was not.
    pub(super) refused: u32,
    pub(super) notes: Notes<T>,
}

/// A chunk that we own, or owned when we last looked.
pub(super) struct Held<T> {
    pub(super) chunk: Chunk<T>,
    /// The owner word that says so.
    pub(super) mine: Word,
    pub(super) lap: u64,
    /// The next slot: `next[me]` of the chunk.
    pub(super) k: u32,
    /// Slots below have been seen published.
    pub(super) seen: u32,
    /// Slots still to be won by a claim before one may be taken without (I5).
    pub(super) careful: u32,
}

// SAFETY: its id and its hazard pointers are its own, on whichever thread; tasks are sent.
unsafe impl<T: Send> Send for Taker<T> {}

impl<T> Taker<T> {
    /// A consumer on `node`.
    pub(in crate::salsa) fn join(
        pools: Arc<Pools<T>>,
        node: Option<NodeId>,
    ) -> Result<Self, TooMany> {
        let me = pools.take_seat(node)?;
        let guard = Member::join_as(pools.clone(), me);
        let (hand, claims) = (Hand::empty(&pools), Claims::none(&pools));
        let held = std::array::from_fn(|_| None);
        Ok(Self {
            hand,
            claims,
            pools,
            me,
            guard,
            held,
            at: 0,
            swept: None,
            appends: 0,
            tally: Tally::default(),
            refused: 0,
            notes: Notes::default(),
        })
    }

    /// Our id.
    pub(in crate::salsa) fn id(&self) -> usize {
        self.me
    }

    /// Takes the next task of the group in the hand, if it is there. To be followed by
    /// [`next_group`](Self::next_group) if not.
    #[inline(always)]
    pub(in crate::salsa) fn next(&mut self) -> Option<T> {
        self.hand.next()
    }

    /// Takes the next task of the chunk in the hand, after [`next`](Self::next) found none, if it is
    /// there.
    #[inline(always)]
    pub(in crate::salsa) fn next_group(&mut self) -> Option<T> {
        match self.hand.next_of_next_group() {
            None => self.next_otherwise(),
            task => task,
        }
    }

    /// By a claim, or what was announced as the chunk was stolen.
    fn next_otherwise(&mut self) -> Option<T> {
        match self.claims.next() {
            Claimed::Task(task) => return Some(task),
            Claimed::Otherwise(task, stays) => return self.claimed_otherwise(task, stays),
            Claimed::Nothing => {}
        }
        if self.hand.lost {
            self.put_back();
            return self.lost(self.at);
        }
        None
    }

    /// A claim was lost, or won in a chunk that is gone if it does not `stay`.
    #[cold]
    #[inline(never)]
    fn claimed_otherwise(&mut self, task: Option<T>, stays: bool) -> Option<T> {
        if !stays {
            self.put_back();
            self.let_go(self.at);
        }
        task
    }

    /// The chunk of `entry` was stolen when we had announced its next slot: the new owner may want
    /// that too.
    fn lost(&mut self, entry: usize) -> Option<T> {
        let held = self.held[entry].as_ref()?;
        let (chunk, k) = (held.chunk, held.k);
        self.tally.claims += 1;
        let won = chunk.claim(&self.pools.settings.plan, k);
        // SAFETY: published, and won (I4); the hazard pointer is still set.
        let task = won.then(|| unsafe { take(chunk.slot(&self.pools.settings.plan, k)) });
        self.tally.gets += u64::from(won);
        self.let_go(entry);
        task
    }

    /// Takes a task from a chunk that we own: the one in the hand, another of the working set, or one
    /// of our home's that we do not hold yet.
    pub(in crate::salsa) fn consume(&mut self) -> Option<T> {
        self.put_back();
        for step in 0..HAZARDS {
            let entry = (self.at + step) % HAZARDS;
            if let Some(task) = self.take(entry) {
                return Some(task);
            }
        }
        self.appends = self.home().appends();
        self.adopt_from_home()
    }

    /// Whether our home has got a chunk since we last looked for one there.
    pub(in crate::salsa) fn has_news(&self) -> bool {
        self.home().appends() != self.appends
    }

    /// What was taken from the hand is noted where it came from.
    pub(super) fn put_back(&mut self) {
        let Hand { k, ready, owner, .. } = self.hand;
        let from = self.held[self.at].as_mut();
        if let Some(held) = from.filter(|held| ptr::eq(owner, held.chunk.owner())) {
            self.tally.gets += u64::from(k - held.k);
            held.k = k;
            held.seen = held.seen.max(ready);
        }
        self.hand = Hand::empty(&self.pools);
        let Claims { k, ready, missed, owner, .. } = self.claims;
        let from = self.held[self.at].as_mut();
        if let Some(held) = from.filter(|held| ptr::eq(owner, held.chunk.owner())) {
            let claims = k - held.k;
            self.tally.claims += u64::from(claims);
            self.tally.gets += u64::from(claims - missed);
            held.k = k;
            held.seen = held.seen.max(ready);
        }
        self.claims = Claims::none(&self.pools);
    }

    /// Takes what may be taken without a claim from `entry` into the hand, or claims there.
    pub(super) fn pick_up(&mut self, entry: usize) {
        self.at = entry;
        if let Some(held) = &self.held[entry] {
            if self.pools.settings.fencing.always_claims() {
                self.claims = Claims::holding(held, &self.pools, self.me);
            } else {
                self.hand = Hand::holding(held, &self.pools, self.me);
            }
        }
    }

    /// Takes a task from the chunk of `entry`, and its next ones into the hand. Nothing when there is
    /// none now, or when the chunk has gone to somebody else.
    pub(super) fn take(&mut self, entry: usize) -> Option<T> {
        loop {
            let held = self.held[entry].as_ref()?;
            if held.k == held.seen && !self.refill(entry) {
                return None;
            }
            let settings = &self.pools.settings;
            let (fencing, plan) = (settings.fencing, &settings.plan);
            let held = self.held[entry].as_mut()?;
            let (chunk, k) = (held.chunk, held.k);
            let careful = held.careful > 0;
            // I5: the claim comes before the announcement: whoever reads that takes the slot for taken.
            let won = careful && chunk.claim(plan, k);
            self.tally.claims += u64::from(careful);
            let next = chunk.next(plan, self.me);
            let gone = !fencing.announce(next, k + 1, chunk.owner(), held.mine);
            if gone && !careful {
                return self.lost(entry);
            }
            // SAFETY: published, and announced and ours afterwards, or won (I4).
            let task = (won || !careful).then(|| unsafe { take(chunk.slot(plan, k)) });
            held.k = k + 1;
            held.careful -= u32::from(won && !fencing.always_claims());
            self.tally.gets += u64::from(task.is_some());
            if gone {
                self.let_go(entry);
            } else if k + 1 == plan.slots {
                self.retire_held(entry);
            } else if task.is_some() {
                self.pick_up(entry);
            } else {
                // Somebody else won it.
                continue;
            }
            return task;
        }
    }

    /// Looks for published slots of `entry` behind those seen. Whether there are any.
    pub(super) fn refill(&mut self, entry: usize) -> bool {
        let plan = &self.pools.settings.plan;
        let Some(held) = &mut self.held[entry] else { return false };
        if held.k == held.chunk.end() {
            self.retire_held(entry);
            return false;
        }
        held.seen = held.chunk.published(plan, held.k, held.lap).max(held.k);
        held.seen > held.k
    }

    /// Takes a task from a chunk of our home that we own and do not hold. One pass, from behind the last
    /// one adopted, so that none is starved.
    fn adopt_from_home(&mut self) -> Option<T> {
        let home = self.home();
        for place in home.table.places_around(self.swept) {
            let Some((entry, chunk)) = self.look_at(place) else { continue };
            let word = chunk.word();
            if word.owner() == self.me && word.is_stable() {
                self.swept = Some(place);
                self.adopt(entry, chunk, word);
                if let Some(task) = self.take(entry) {
                    return Some(task);
                }
            } else {
                self.guard.clear(entry);
            }
        }
        None
    }

    /// The chunk at `place`, protected by the free hazard pointer, if there is one that we do not hold.
    pub(super) fn look_at(&mut self, place: Place<T>) -> Option<(usize, Chunk<T>)> {
        let hint = place.hint()?;
        if self.held.iter().flatten().any(|held| held.chunk == hint) {
            return None;
        }
        let free = self.free();
        let chunk = NonNull::new(self.guard.protect(free, place.word()))?;
        let chunk = Chunk::from_raw(chunk);
        // It may have become another.
        if self.held.iter().flatten().any(|held| held.chunk == chunk) {
            self.guard.clear(free);
            return None;
        }
        Some((free, chunk))
    }

    /// The entry, and the hazard pointer, that is not in use.
    pub(super) fn free(&self) -> usize {
        self.held.iter().position(Option::is_none).expect("one is always free")
    }

    /// Holds `chunk`, which hazard pointer `entry` protects and `word` says to be ours.
    pub(super) fn adopt(&mut self, entry: usize, chunk: Chunk<T>, word: Word) {
        let settings = &self.pools.settings;
        let k = chunk.index(&settings.plan, self.me);
        // I5: nobody has claimed anything in a chunk that was never stolen.
        let careful =
            if word.is_fresh() && !settings.fencing.always_claims() { 0 } else { settings.batch };
        let lap = chunk.life(|life| life.lap);
        let held = Held { chunk, mine: word, lap, k, seen: k, careful };
        self.held[entry] = Some(held);
        self.tally.switches += 1;
        if self.held.iter().all(Option::is_some) {
            self.let_go((entry + 1) % HAZARDS);
        }
    }

    /// Holds the chunk of `entry` no longer. If it still is ours we find it again.
    pub(super) fn let_go(&mut self, entry: usize) {
        self.held[entry] = None;
        self.guard.clear(entry);
    }

    /// The chunk of `entry` is exhausted.
    pub(super) fn retire_held(&mut self, entry: usize) {
        if let Some(held) = self.held[entry].take() {
            self.retire(entry, held.chunk, held.mine);
        }
    }

    /// Retires `chunk`, which hazard pointer `entry` protects, if its owner word still is `word`.
    pub(super) fn retire(&mut self, entry: usize, chunk: Chunk<T>, word: Word) {
        self.tally.changes += 1;
        if !chunk.change(word, word.retired()) {
            self.guard.clear(entry);
            return;
        }
        // I6: it is ours to retire.
        let place = chunk.life(|life| life.place);
        place.into_iter().for_each(Place::empty);
        self.guard.clear(entry);
        let (batch, me) = (self.pools.retired_at_once(), self.me);
        let keep = |pools: &Pools<T>, chunk| pools.keep(me, Chunk::from_raw(chunk));
        // SAFETY: it is out of its place, once (I6). What nobody names is private.
        unsafe { self.guard.retire_into(chunk.as_raw(), batch, keep) };
        self.report();
    }

    /// Our home.
    pub(super) fn home<'a>(&self) -> &'a Home<T> {
        self.pools.lasting_home(self.me).expect("a consumer has a home")
    }

    /// Makes what we have done known to `metrics`.
    pub(in crate::salsa) fn report(&mut self) {
        self.tally.add_to(&self.home().counters);
    }
}

impl<T> Drop for Taker<T> {
    fn drop(&mut self) {
        self.put_back();
        self.report();
    }
}

// SAFETY: one of its fields.
unsafe impl<T> Reclaims<HAZARDS> for Pools<T> {
    type Node = Head<T>;

    fn domain(&self) -> &Domain<Head<T>, HAZARDS> {
        &self.domain
    }

    /// What nobody names is private.
    unsafe fn have_back(&self, id: usize, chunk: NonNull<Head<T>>) {
        self.keep(id, Chunk::from_raw(chunk));
    }

    fn has_left(&self, id: usize) {
        self.leave_seat(id);
    }
}
