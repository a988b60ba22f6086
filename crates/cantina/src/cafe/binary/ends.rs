//! The ends of a list of binary trees.

use super::list::{Link, List, Spot};
use super::low::Low;
use super::node::Seen;
use super::tree::WAYS;
use crate::cafe::metrics::{Exchanges, Tally};
use crate::cafe::overtaking::Meter;
use crate::pool::Full;
use crate::reclaim::{Domain, Member, Reclaims};
use machine::Arc;
use machine::fence_after_rmw;
use machine::random::Random;
use std::ops::ControlFlow;
use std::ptr::{self, NonNull};

/// How often an end tries to look at a head that moves, before it holds it.
const TRIES: usize = 2;

/// What every end has.
struct End<T> {
    guard: Member<List<T>, 1>,
    low: Low,
    /// The spot that the hazard pointer names, from one call to the next: null, or one that was the head's.
    spot: *mut Spot<T>,
    random: Random,
    tally: Tally,
    meter: Option<Arc<Meter>>,
    /// Goes last: the others are of it.
    list: Arc<List<T>>,
}

/// A producer's end.
pub(in crate::cafe) struct Putter<T>(End<T>);

/// A consumer's end.
pub(in crate::cafe) struct Getter<T> {
    end: End<T>,
    /// The trees before the last one that were found empty since the head was read, and by which word.
    walked: Vec<(NonNull<Link<T>>, Seen)>,
}

/// How a search ended.
enum Search<T> {
    Found(T),
    Empty,
    /// Somebody has put or taken something, or moved head or tail.
    Disturbed,
}

// SAFETY: the records are its own, on whichever thread; tasks are sent.
unsafe impl<T: Send> Send for End<T> {}
// SAFETY: as above; trees that were walked are only looked at during a call.
unsafe impl<T: Send> Send for Getter<T> {}

// SAFETY: one of its fields.
unsafe impl<T> Reclaims<1> for List<T> {
    type Node = Spot<T>;

    fn domain(&self) -> &Domain<Spot<T>, 1> {
        &self.spots
    }
}

impl<T> End<T> {
    fn new(list: Arc<List<T>>) -> Self {
        let guard = Member::join(list.clone());
        // SAFETY: it goes before the list does.
        let low = unsafe { list.lows.join() };
        let (random, meter) = (list.random(), list.meter.clone());
        Self { guard, low, spot: ptr::null_mut(), random, tally: Tally::default(), meter, list }
    }

    /// The head's spot, protected.
    fn head(&mut self) -> &Spot<T> {
        let found = self.try_head(TRIES).or_else(|| {
            // It moves on no further than those move it who are about to.
            let list = self.list.clone();
            self.tally.get_cas.add(2);
            list.while_held(|| self.try_head(usize::MAX))
        });
        debug_assert!(found.is_some());
        // SAFETY: protected.
        unsafe { &*self.spot }
    }

    /// Protects the head's spot, in so many tries.
    fn try_head(&mut self, tries: usize) -> Option<()> {
        let mut now = self.list.head();
        for _ in 0..tries {
            if now == self.spot {
                return Some(());
            }
            self.guard.announce(0, now);
            self.spot = ptr::null_mut();
            let after = self.list.head();
            if after == now {
                self.spot = now;
                return Some(());
            }
            now = after;
        }
        None
    }

    /// Moves the head from the spot that we protect to a new one, as one of those `exchanges`. Whether nobody else has moved it.
    fn move_head(&mut self, to: Spot<T>, exchanges: fn(&mut Tally) -> &mut Exchanges) -> bool {
        let old = self.spot;
        if self.list.head() != old {
            // In vain, and so would be a new spot.
            self.tally.contended += 1;
            return false;
        }
        let new = to.boxed();
        let moved = self.list.move_head(old, new);
        exchanges(&mut self.tally).note(moved);
        if !moved {
            self.tally.contended += 1;
            // SAFETY: from a box, and nobody else has seen it.
            drop(unsafe { Box::from_raw(new) });
            return false;
        }
        self.guard.clear(0);
        self.spot = ptr::null_mut();
        if let Some(old) = NonNull::new(old) {
            // SAFETY: the head has left it for ever, and it was us who moved it.
            unsafe { self.guard.retire(old) };
        }
        true
    }

    /// Ends a call: looks at no tree any more, and frees some if it is time.
    fn finish(&mut self) {
        self.low.end();
        if self.tally.is_long() {
            self.tally.add_to(&self.list.counters);
        }
        // SAFETY: protected, if there is one.
        let Some(spot) = (unsafe { self.spot.as_ref() }) else { return };
        if self.list.has_passed_many(spot.id) {
            self.list.free_passed(self.spot);
        }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.tally.add_to(&self.list.counters);
    }
}

impl<T> Putter<T> {
    pub(in crate::cafe) fn new(list: Arc<List<T>>) -> Self {
        Self(End::new(list))
    }

    pub(in crate::cafe) fn list(&self) -> &Arc<List<T>> {
        &self.0.list
    }

    /// Puts `task`.
    #[inline(never)]
    pub(in crate::cafe) fn put(&mut self, task: T) {
        let end = &mut self.0;
        if let Some(meter) = &end.meter {
            meter.begin(1);
        }
        end.low.lower_to(end.list.tail_id());
        let mut task = task;
        loop {
            // SAFETY: the tail is not before what we announced, and was read afterwards (I6).
            let link = unsafe { &*end.list.tail() };
            match link.tree.put_counted(&mut end.random, &mut end.tally.put_cas, task) {
                Ok(place) => {
                    end.make_reachable(link);
                    if let Some(meter) = &end.meter {
                        link.stamps.leave(place, meter);
                    }
                    break;
                }
                Err(Full(back)) => task = back,
            }
            end.grow(link);
        }
        end.tally.puts += 1;
        end.finish();
    }
}

impl<T> End<T> {
    /// Sees to it that consumers come to `link`, where we have put a task: they may have passed it.
    fn make_reachable(&mut self, link: &Link<T>) {
        // reach: the task is in the tree, then the look where the head is.
        fence_after_rmw();
        if self.try_head(TRIES).is_some() {
            // SAFETY: protected.
            if unsafe { &*self.spot }.id <= link.id {
                return;
            }
        }
        let list = self.list.clone();
        self.tally.put_cas.add(2);
        list.while_held(|| {
            let tree = NonNull::from(link);
            while self.head_while_held().id > link.id {
                let to = Spot { before: None, tree, id: link.id };
                if self.move_head(to, |tally| &mut tally.put_cas) {
                    break;
                }
            }
        });
    }

    /// The head's spot, protected, while it is held: so few move it that we come to an end.
    fn head_while_held(&mut self) -> &Spot<T> {
        let found = self.try_head(usize::MAX);
        debug_assert!(found.is_some());
        // SAFETY: protected.
        unsafe { &*self.spot }
    }

    /// Moves the tail behind a tree that is full, and appends another if there is none.
    fn grow(&mut self, link: &Link<T>) {
        self.tally.contended += 1;
        let (mut next, id) = (link.next(), link.id + 1);
        if next.is_null() {
            let new = Box::into_raw(self.list.new_link(id));
            let linked = link.append(new);
            self.tally.put_cas.note(linked.is_ok());
            match linked {
                Ok(()) => {
                    self.tally.appended += 1;
                    next = new;
                }
                Err(there) => {
                    // SAFETY: from a box, and nobody else has seen it.
                    self.list.drop_link(unsafe { Box::from_raw(new) });
                    next = there;
                }
            }
        }
        let link = ptr::from_ref(link).cast_mut();
        if self.list.tail() == link {
            let moved = self.list.move_tail(link, next);
            self.tally.put_cas.note(moved);
        }
        if self.list.tail_id() < id {
            self.list.tell_tail(id);
            self.tally.put_cas.add(1);
        }
    }
}

impl<T> Getter<T> {
    pub(in crate::cafe) fn new(list: Arc<List<T>>) -> Self {
        Self { end: End::new(list), walked: Vec::new() }
    }

    pub(in crate::cafe) fn list(&self) -> &Arc<List<T>> {
        &self.end.list
    }

    /// Gets a task. `None`: at one instant there was none.
    #[inline(never)]
    pub(in crate::cafe) fn get(&mut self) -> Option<T> {
        let got = self.end.meter.as_ref().map(|meter| meter.got());
        let mut ways = WAYS;
        let task = loop {
            if let ControlFlow::Break(task) = self.walk_once(got, &mut ways) {
                break task;
            }
        };
        self.count(task.is_some());
        self.finish();
        task
    }

    /// One walk of a [`get`](Self::get): what it gets, or that it has to be begun again.
    pub(in crate::cafe) fn walk(&mut self) -> ControlFlow<Option<T>> {
        let got = self.end.meter.as_ref().map(|meter| meter.got());
        let walk = self.walk_once(got, &mut WAYS.clone());
        if let ControlFlow::Break(task) = &walk {
            self.count(task.is_some());
        }
        self.finish();
        walk
    }

    fn walk_once(&mut self, got: Option<u64>, ways: &mut u32) -> ControlFlow<Option<T>> {
        match self.search(got, ways) {
            Search::Found(task) => ControlFlow::Break(Some(task)),
            Search::Empty => ControlFlow::Break(None),
            Search::Disturbed => {
                self.end.tally.contended += 1;
                ControlFlow::Continue(())
            }
        }
    }

    /// Counts a get, which found a task or found that there is none.
    fn count(&mut self, found: bool) {
        if !found {
            return self.end.tally.add_to(&self.end.list.counters);
        }
        self.end.tally.gets += 1;
        if let Some(meter) = &self.end.meter {
            meter.finish(1);
        }
    }

    /// Ends a call.
    fn finish(&mut self) {
        self.walked.clear();
        self.end.finish();
    }

    /// How many tasks there were a moment ago.
    pub(in crate::cafe) fn len_hint(&mut self) -> usize {
        let (before, tree) = self.acquire();
        let mut next = before.unwrap_or(tree).as_ptr();
        let mut count = 0;
        // SAFETY: not before what we announced (I6).
        while let Some(link) = unsafe { next.as_ref() } {
            count += link.tree.len_hint();
            next = link.next();
        }
        self.end.finish();
        count
    }

    /// The head's trees, protected: they and all behind them stay. Goes on to look at what it announced last.
    fn acquire(&mut self) -> (Option<NonNull<Link<T>>>, NonNull<Link<T>>) {
        self.walked.clear();
        loop {
            let (low, before, tree) = {
                let spot = self.end.head();
                (spot.low(), spot.before, spot.tree)
            };
            // The head may have moved before the announcement was seen: only a look after it counts.
            if !self.end.low.lower_to(low) {
                return (before, tree);
            }
        }
    }

    /// Looks into all trees from the head's to the one that is the tail's now. So many tasks had been got when the
    /// call began, if overtaking is measured; `ways` as in a tree.
    fn search(&mut self, got: Option<u64>, ways: &mut u32) -> Search<T> {
        let (mut before, mut tree) = self.acquire();
        let tail = self.end.list.tail();
        // SAFETY: the tail is never before the head, and so not before what we announced (I6).
        let tail_id = unsafe { &*tail }.id;
        let mut is_head = true;
        loop {
            let (random, cas) = (&mut self.end.random, &mut self.end.tally.get_cas);
            if let Some(link) = before {
                // SAFETY: not before what we announced (I6).
                match unsafe { link.as_ref() }.tree.take(random, cas, ways) {
                    Ok(found) => return self.found(link, got, found),
                    Err(seen) => self.walked.push((link, seen)),
                }
            }
            // SAFETY: as above.
            let link = unsafe { tree.as_ref() };
            if let Ok(found) = link.tree.take(random, cas, ways) {
                return self.found(tree, got, found);
            }
            if tail_id <= link.id {
                return if self.is_as_before(tail) { Search::Empty } else { Search::Disturbed };
            }
            let next = NonNull::new(link.next()).expect("the tail is behind it");
            if self.end.list.is_held() {
                // On without the head.
                (before, tree, is_head) = (Some(tree), next, false);
                continue;
            }
            // Only from where the head was read.
            if is_head {
                let to = Spot { before: Some(tree), tree: next, id: link.id + 1 };
                let moved = self.end.move_head(to, |tally| &mut tally.get_cas);
                self.end.tally.passed += u64::from(moved);
            }
            (before, tree) = self.acquire();
            is_head = true;
        }
    }

    /// A task of a tree's place, looked at if overtaking is measured.
    fn found(
        &mut self,
        link: NonNull<Link<T>>,
        got: Option<u64>,
        (task, place): (T, usize),
    ) -> Search<T> {
        if let Some(got) = got {
            // SAFETY: not before what we announced (I6).
            unsafe { link.as_ref() }.stamps.look(place, got, &mut self.end.tally.overtaking);
        }
        Search::Found(task)
    }

    /// Whether all was empty at one instant: the head is where it was read, the trees that were walked since
    /// then have not changed, and the tail is where it was.
    fn is_as_before(&self, tail: *mut Link<T>) -> bool {
        // reach: the trees were empty, and only then the look at what has changed.
        fence_after_rmw();
        // SAFETY: not before what we announced (I6).
        let same =
            |(link, seen): &(NonNull<Link<T>>, Seen)| unsafe { link.as_ref() }.tree.look() == *seen;
        self.walked.iter().all(same)
            && self.end.list.head() == self.end.spot
            && self.end.list.tail() == tail
    }
}

#[cfg(test)]
mod tests {
    use super::{Arc, End, List, NonNull, Spot};
    use machine::fence::Pair;

    #[test]
    fn a_head_that_was_elsewhere_meanwhile_is_not_the_one_that_was_seen() {
        let list = Arc::new(List::<u8>::new(0, 1, 0, false, Pair::best()));
        let [mut slow, mut consumer, mut producer] = [(); 3].map(|()| End::new(list.clone()));
        // SAFETY: nothing is freed in so short a list.
        let first = unsafe { &*list.tail() };
        producer.grow(first);
        let behind = || Spot {
            before: Some(NonNull::from(first)),
            tree: NonNull::new(first.next()).unwrap(),
            id: 1,
        };
        assert_eq!((slow.head().id, consumer.head().id), (0, 0));
        assert!(consumer.move_head(behind(), |tally| &mut tally.get_cas));
        // Back to where it was.
        producer.make_reachable(first);
        assert!(!slow.move_head(behind(), |tally| &mut tally.get_cas));
        assert_eq!(consumer.head().id, 0);
    }
}
