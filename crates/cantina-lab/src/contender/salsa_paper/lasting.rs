//! What lasts as long as its pool: by address, and in arrays that grow.

use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::ops::Deref;
use std::ptr::{self, NonNull};

/// Something that stays where it is until its pool goes. Only handles have these, and they keep their
/// pool.
pub(super) struct Lasting<E>(NonNull<E>);

/// An array whose elements stay where they are. It grows by segments, each twice as long as the one
/// before.
pub(super) struct Growing<E> {
    first: AtomicPtr<Segment<E>>,
}

struct Segment<E> {
    elements: Box<[E]>,
    more: AtomicPtr<Segment<E>>,
}

/// Elements of the first segment.
const FIRST: usize = 4;

// SAFETY: it only lends out the element.
unsafe impl<E: Sync> Send for Lasting<E> {}
// SAFETY: as above.
unsafe impl<E: Sync> Sync for Lasting<E> {}

impl<E> Clone for Lasting<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Lasting<E> {}

impl<E> PartialEq for Lasting<E> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<E> Lasting<E> {
    /// # Safety
    /// It stays until the pool goes, and whoever gets this keeps the pool.
    pub(super) unsafe fn new(element: NonNull<E>) -> Self {
        Self(element)
    }

    pub(super) fn as_ptr(self) -> NonNull<E> {
        self.0
    }
}

impl<E> Deref for Lasting<E> {
    type Target = E;

    fn deref(&self) -> &E {
        // SAFETY: `new`.
        unsafe { self.0.as_ref() }
    }
}

impl<E> Growing<E> {
    /// Without elements.
    pub(super) fn new() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The element `index`, where there is a segment that has it.
    pub(super) fn get(&self, mut index: usize) -> Option<&E> {
        let mut link = &self.first;
        loop {
            // segment: its elements.
            let segment = link.load(Acquire);
            // SAFETY: linked segments stay until we go.
            let segment = unsafe { segment.as_ref()? };
            if let Some(element) = segment.elements.get(index) {
                return Some(element);
            }
            index -= segment.elements.len();
            link = &segment.more;
        }
    }

    /// The element `index`. `make` makes those of new segments, by their index.
    pub(super) fn get_or_grow(&self, index: usize, make: impl Fn(usize) -> E) -> &E {
        let (mut link, mut before, mut length) = (&self.first, 0, FIRST);
        loop {
            // segment: its elements.
            let mut segment = link.load(Acquire);
            if segment.is_null() {
                let elements = (before..before + length).map(&make).collect();
                let more = AtomicPtr::new(ptr::null_mut());
                let new = Box::into_raw(Box::new(Segment { elements, more }));
                // segment: its elements; and those of one that came first.
                segment = match link.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
                    Ok(_) => new,
                    Err(first) => {
                        // SAFETY: from a box, and nobody else has seen it.
                        drop(unsafe { Box::from_raw(new) });
                        first
                    }
                };
            }
            // SAFETY: linked segments stay until we go.
            let segment = unsafe { &*segment };
            if let Some(element) = segment.elements.get(index - before) {
                return element;
            }
            (link, before, length) = (&segment.more, before + length, 2 * length);
        }
    }
}

impl<E> Drop for Growing<E> {
    fn drop(&mut self) {
        // own: `&mut self`.
        let mut next = self.first.load(Relaxed);
        while !next.is_null() {
            // SAFETY: linked once, from a box.
            let segment = unsafe { Box::from_raw(next) };
            // own: as above.
            next = segment.more.load(Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Growing;

    #[test]
    fn elements_are_found_where_they_were_made() {
        let growing = Growing::<usize>::new();
        assert_eq!(growing.get(0), None);
        assert_eq!(*growing.get_or_grow(0, |index| index), 0);
        let first = std::ptr::from_ref(growing.get(3).unwrap());
        assert_eq!(growing.get(4), None);
        for index in [40, 4, 5, 11, 12, 27] {
            assert_eq!(*growing.get_or_grow(index, |index| index), index);
        }
        assert!((0..60).all(|index| growing.get(index) == Some(&index)));
        assert_eq!(growing.get(60), None);
        assert_eq!(std::ptr::from_ref(growing.get(3).unwrap()), first);
    }
}
