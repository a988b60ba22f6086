//! What the calling thread holds, for whoever wants to tell it that it is about to wait for itself.
//!
//! In debug builds on the real machine only. A model that waits for itself is a deadlock, and found as such.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// What is held: no other one is the same, also when it lies where that one was.
#[derive(Debug)]
pub struct Key {
    number: u64,
}

/// Says that the calling thread holds something, until it is dropped. It stays on its thread. Forgotten, it is held for ever.
#[derive(Debug)]
#[must_use = "what is held is forgotten when this is dropped"]
pub struct Held {
    number: u64,
    stays_here: PhantomData<*const ()>,
}

/// The number of the next key.
static NEXT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static HELD: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Key {
    /// A new one.
    #[inline]
    pub fn new() -> Self {
        // bare: each number once.
        let number = if cfg!(debug_assertions) { NEXT.fetch_add(1, Relaxed) } else { 0 };
        Self { number }
    }
}

impl Default for Key {
    fn default() -> Self {
        Self::new()
    }
}

impl Held {
    /// Says that the calling thread holds what has this key.
    #[inline]
    pub fn new(key: &Key) -> Self {
        if cfg!(debug_assertions) {
            // While the thread's locals are destroyed nothing is remembered any more.
            let _ = HELD.try_with(|held| held.borrow_mut().push(key.number));
        }
        Self { number: key.number, stays_here: PhantomData }
    }

    /// Whether the calling thread holds what has this key, as far as that is known.
    #[inline]
    pub fn is_held(key: &Key) -> bool {
        cfg!(debug_assertions)
            && HELD.try_with(|held| held.borrow().contains(&key.number)).unwrap_or(false)
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        if cfg!(debug_assertions) {
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(place) = held.iter().rposition(|number| *number == self.number) {
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

    /// What is held.
    #[derive(Debug, Default)]
    pub struct Key(());

    /// Says that the calling thread holds something.
    #[derive(Debug)]
    #[must_use = "what is held is forgotten when this is dropped"]
    pub struct Held {
        stays_here: PhantomData<*const ()>,
    }

    impl Key {
        /// A new one.
        pub fn new() -> Self {
            Self(())
        }
    }

    impl Held {
        /// Says that the calling thread holds what has this key.
        pub fn new(key: &Key) -> Self {
            let _ = key;
            Self { stays_here: PhantomData }
        }

        /// Not that it is known.
        pub fn is_held(key: &Key) -> bool {
            let _ = key;
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Held, Key};
    use std::thread;

    #[test]
    fn what_is_held_is_known_until_it_is_dropped() {
        let keys = [(); 2].map(|()| Key::new());
        let held = Held::new(&keys[0]);
        assert_eq!(Held::is_held(&keys[0]), cfg!(debug_assertions));
        assert!(!Held::is_held(&keys[1]));
        drop(held);
        assert!(!Held::is_held(&keys[0]));
    }

    #[test]
    fn each_thread_holds_its_own() {
        let key = Key::new();
        let held = Held::new(&key);
        thread::scope(|scope| assert!(!scope.spawn(|| Held::is_held(&key)).join().unwrap()));
        drop(held);
    }

    #[test]
    fn what_is_forgotten_is_no_other_one_in_the_same_place() {
        let mut key = Key::new();
        std::mem::forget(Held::new(&key));
        assert_eq!(Held::is_held(&key), cfg!(debug_assertions));
        key = Key::new();
        assert!(!Held::is_held(&key));
    }
}
