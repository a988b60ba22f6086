//! Where chunks can be found: a home's table of places.
//!
//! Segments of places and a bit for each that is in use, linked as more are needed. A producer claims a
//! bit and publishes its chunk there; whoever retires the chunk empties the place.

use super::chunk::{Chunk, Head};
use machine::CachePadded;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicPtr, AtomicU64};
use machine::trace::{self, Role};
use std::ptr::{self, NonNull};

/// Places, for all chunks of one home.
pub(super) struct Table<T> {
    first: Segment<T>,
    /// A segment where a place was found last, to begin with.
    roomy: AtomicPtr<Segment<T>>,
}

struct Segment<T> {
    /// A bit for each place: claimed before the chunk is there, given back after it has gone.
    used: CachePadded<AtomicU64>,
    places: Box<[AtomicPtr<Head<T>>]>,
    /// How many places the segments before have.
    before: usize,
    /// Linked once, freed with the table.
    more: AtomicPtr<Segment<T>>,
}

/// A place in a table, by its address.
pub(in crate::salsa) struct Place<T> {
    segment: NonNull<Segment<T>>,
    bit: u32,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> Table<T> {
    /// A table that grows by `width` places at a time, at most 64.
    pub(super) fn new(width: usize) -> Self {
        Self { first: Segment::new(width, 0), roomy: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Says what lies where, now that it stays there.
    pub(super) fn describe(&self) {
        trace::part(&*self.first.used, "used", Role::Number);
        self.describe_segment(&self.first);
    }

    fn describe_segment(&self, segment: &Segment<T>) {
        trace::row(self, &segment.places, "place", Role::Place);
    }

    /// Claims a place. [`Place::publish`] is to follow.
    pub(super) fn claim(&self) -> Place<T> {
        // segment: its contents.
        let roomy = self.roomy.load(Acquire);
        // SAFETY: null, or a segment of ours, which live as long as we do.
        let roomy = unsafe { roomy.as_ref() }.unwrap_or(&self.first);
        let later = std::iter::successors(Some(roomy), |segment| segment.next());
        let all = std::iter::successors(Some(&self.first), |segment| segment.next());
        let earlier = all.take_while(|segment| !ptr::eq(*segment, roomy));
        let found = later.chain(earlier).find_map(Segment::claim);
        let place = found.unwrap_or_else(|| self.claim_in_new_segment(roomy));
        if place.segment != NonNull::from(roomy) {
            // segment: its contents. A hint: any will do.
            self.roomy.store(place.segment.as_ptr(), Release);
        }
        place
    }

    fn claim_in_new_segment(&self, last: &Segment<T>) -> Place<T> {
        let mut segment = last;
        loop {
            segment = segment.next_or_new();
            self.describe_segment(segment);
            if let Some(place) = segment.claim() {
                return place;
            }
        }
    }

    /// The places in use.
    pub(super) fn places(&self) -> impl Iterator<Item = Place<T>> + use<T> {
        // bits: a chunk whose publication we know of has its bit set.
        let bits = self.first.used.load(Acquire);
        places_from(NonNull::from(&self.first), bits)
    }

    /// The places in use, from behind `last` once around.
    pub(super) fn places_around(
        &self,
        last: Option<Place<T>>,
    ) -> impl Iterator<Item = Place<T>> + use<T> {
        let later = last.map(|last| {
            // SAFETY: segments live as long as the table.
            let segment = unsafe { last.segment.as_ref() };
            // bits: as above.
            let bits = segment.used.load(Acquire) & (u64::MAX << last.bit << 1);
            places_from(last.segment, bits)
        });
        let end = last.map_or(usize::MAX, |last| last.number());
        let earlier = self.places().take_while(move |place| place.number() <= end);
        later.into_iter().flatten().chain(earlier)
    }
}

/// The places of `bits` in `segment`, and all that are used behind it.
fn places_from<T>(
    mut segment: NonNull<Segment<T>>,
    mut bits: u64,
) -> impl Iterator<Item = Place<T>> + use<T> {
    std::iter::from_fn(move || {
        while bits == 0 {
            // SAFETY: segments live as long as the table, and so do the places we give out.
            segment = NonNull::from(unsafe { segment.as_ref() }.next()?);
            // SAFETY: as above.
            // bits: a chunk whose publication we know of has its bit set.
            bits = unsafe { segment.as_ref() }.used.load(Acquire);
        }
        let bit = bits.trailing_zeros();
        bits &= bits - 1;
        Some(Place { segment, bit })
    })
}

impl<T> Segment<T> {
    fn new(width: usize, before: usize) -> Self {
        Self {
            before,
            used: CachePadded::new(AtomicU64::new(0)),
            places: (0..width).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
            more: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Each place is tried once: who comes too late everywhere goes on to another segment.
    fn claim(&self) -> Option<Place<T>> {
        // hint: the read-modify-write decides.
        let mut used = self.used.load(Relaxed);
        let mut tried = 0;
        loop {
            let bit = (used | tried).trailing_ones();
            if bit as usize >= self.places.len() {
                return None;
            }
            // bits: whoever had the place before has emptied it.
            used = self.used.fetch_or(1 << bit, AcqRel);
            if used & (1 << bit) == 0 {
                return Some(Place { segment: NonNull::from(self), bit });
            }
            tried |= 1 << bit;
        }
    }

    fn next(&self) -> Option<&Self> {
        // segment: its contents.
        let more = self.more.load(Acquire);
        // SAFETY: linked segments live as long as the table.
        unsafe { more.as_ref() }
    }

    fn next_or_new(&self) -> &Self {
        if let Some(next) = self.next() {
            return next;
        }
        let width = self.places.len();
        let new = Box::into_raw(Box::new(Self::new(width, self.before + width)));
        // segment: its contents; and those of one that came first.
        let more = match self.more.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
            Ok(_) => new,
            Err(first) => {
                // SAFETY: from a box, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                first
            }
        };
        // SAFETY: linked segments live as long as the table.
        unsafe { &*more }
    }
}

impl<T> Place<T> {
    /// Its number in the table.
    fn number(self) -> usize {
        // SAFETY: as in `word`.
        unsafe { self.segment.as_ref() }.before + self.bit as usize
    }

    /// The word that names the chunk.
    pub(super) fn word<'a>(self) -> &'a AtomicPtr<Head<T>> {
        // SAFETY: a place does not outlive its table: the pools' handles keep both.
        unsafe { &(*self.segment.as_ptr()).places[self.bit as usize] }
    }

    /// The chunk that was here a moment ago: not to be looked at.
    pub(super) fn hint(self) -> Option<Chunk<T>> {
        // hint: a hint; whoever looks at the chunk protects it first.
        NonNull::new(self.word().load(Relaxed)).map(Chunk::from_raw)
    }

    /// Names `chunk` here.
    pub(super) fn publish(self, chunk: Chunk<T>) {
        // place: the chunk as it begins.
        self.word().store(chunk.as_raw().as_ptr(), Release);
    }

    /// The chunk is gone, and the place may be used again.
    pub(super) fn empty(self) {
        // place: that it is retired, with all we know to be taken.
        self.word().store(ptr::null_mut(), Release);
        // SAFETY: as in `word`.
        let used = unsafe { &(*self.segment.as_ptr()).used };
        // bits: the place is empty before it is claimed again.
        used.fetch_and(!(1 << self.bit), AcqRel);
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // own: `&mut self`. One after the other: there may be many.
        let mut more = self.first.more.load(Relaxed);
        while !more.is_null() {
            // SAFETY: linked once, from a box.
            let segment = unsafe { Box::from_raw(more) };
            // own: as above.
            more = segment.more.load(Relaxed);
        }
    }
}
