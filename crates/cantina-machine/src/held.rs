//! What the calling thread holds, for whoever wants to tell it that it is about to wait for itself.
//!
//! In debug builds on the real machine only. A model that waits for itself is a deadlock, and found as such.

use std::cell::RefCell;
use std::marker::PhantomData;

/// Says that the calling thread holds something, until it is dropped. It stays on its thread.
#[derive(Debug)]
#[must_use = "what is held is forgotten when this is dropped"]
pub struct Held {
    address: usize,
    stays_here: PhantomData<*const ()>,
}

thread_local! {
    static HELD: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

impl Held {
    /// Says that the calling thread holds `it`, which stays where it is.
    #[inline]
    pub fn new<T>(it: &T) -> Self {
        let address = std::ptr::from_ref(it) as usize;
        if cfg!(debug_assertions) {
            // While the thread's locals are destroyed nothing is remembered any more.
            let _ = HELD.try_with(|held| held.borrow_mut().push(address));
        }
        Self { address, stays_here: PhantomData }
    }

    /// Whether the calling thread holds `it`, as far as that is known.
    #[inline]
    pub fn is_held<T>(it: &T) -> bool {
        let address = std::ptr::from_ref(it) as usize;
        cfg!(debug_assertions)
            && HELD.try_with(|held| held.borrow().contains(&address)).unwrap_or(false)
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(place) = held.iter().rposition(|address| *address == self.address) {
                    held.swap_remove(place);
                }
            });
        }
    }
}

/// The same where nobody asks: on machines that find who waits for itself as a deadlock.
#[doc(hidden)]
pub mod unasked {
    use std::marker::PhantomData;

    /// Says that the calling thread holds something.
    #[derive(Debug)]
    #[must_use = "what is held is forgotten when this is dropped"]
    pub struct Held {
        stays_here: PhantomData<*const ()>,
    }

    impl Held {
        /// Says that the calling thread holds `it`.
        pub fn new<T>(it: &T) -> Self {
            let _ = it;
            Self { stays_here: PhantomData }
        }

        /// Not that it is known.
        pub fn is_held<T>(it: &T) -> bool {
            let _ = it;
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Held;

    #[test]
    fn what_is_held_is_known_until_it_is_dropped() {
        let things = [1, 2];
        let held = Held::new(&things[0]);
        assert_eq!(Held::is_held(&things[0]), cfg!(debug_assertions));
        assert!(!Held::is_held(&things[1]));
        drop(held);
        assert!(!Held::is_held(&things[0]));
    }

    #[test]
    fn each_thread_holds_its_own() {
        let held = Held::new(&HERE);
        assert!(!std::thread::spawn(|| Held::is_held(&HERE)).join().unwrap());
        drop(held);
    }

    static HERE: u8 = 0;
}
