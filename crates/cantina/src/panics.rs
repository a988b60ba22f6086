//! Several panics where one can go on: the first is heard, the others are forgotten.
//!
//! What somebody panicked with may panic itself when it is dropped. That goes no further either: whoever gives back many
//! things gives back all of them.

use machine::thread::panicking;
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What a panic carries.
pub(crate) type Panic = Box<dyn Any + Send>;

/// Runs `f`, and keeps what it panics with, if that is the first.
pub(crate) fn catch(first: &mut Option<Panic>, f: impl FnOnce()) {
    keep_first(first, catch_unwind(AssertUnwindSafe(f)).err());
}

/// Runs `f`, which is somebody else's: what it panics with goes no further, for others wait to go on.
pub(crate) fn alone(f: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f)) {
        forget(panic);
    }
}

/// Keeps the first panic, for whoever can be told of it, and forgets another one.
pub(crate) fn keep_first(first: &mut Option<Panic>, next: Option<Panic>) {
    match (&first, next) {
        (None, next) => *first = next,
        (Some(_), Some(next)) => forget(next),
        (Some(_), None) => {}
    }
}

/// How often what a drop panics with is dropped as well, before it is left where it is.
const WORSE: usize = 8;

/// Drops what somebody panicked with whom nobody hears. That may panic itself, and goes no further either.
pub(crate) fn forget(mut panic: Panic) {
    for _ in 0..WORSE {
        match catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            Ok(()) => return,
            Err(worse) => panic = worse,
        }
    }
    mem::forget(panic);
}

/// Drops all that `next` gives, also when one of them panics: the panic goes on when all are dropped.
pub fn drop_all<T>(next: impl FnMut() -> Option<T>) {
    let mut first = None;
    std::iter::from_fn(next).for_each(|task| catch(&mut first, || drop(task)));
    go_on(first);
}

/// Panics with `first`, if there was one; not where the thread panics already, which would end the program.
#[inline]
pub(crate) fn go_on(first: Option<Panic>) {
    if let Some(first) = first {
        go_on_with(first);
    }
}

#[cold]
fn go_on_with(first: Panic) {
    if panicking() {
        forget(first);
    } else {
        resume_unwind(first);
    }
}

#[cfg(test)]
mod tests {
    use super::{catch, forget, go_on, keep_first};
    use machine::Arc;
    use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

    struct PanicsWhenDropped;

    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            resume_unwind(Box::new(Self));
        }
    }

    #[test]
    fn of_several_panics_the_first_is_heard_whatever_the_others_carry() {
        let mut first = None;
        keep_first(&mut first, None);
        assert!(first.is_none());
        keep_first(&mut first, Some(Box::new("first")));
        keep_first(&mut first, Some(Box::new(PanicsWhenDropped)));
        catch(&mut first, || resume_unwind(Box::new(PanicsWhenDropped)));
        keep_first(&mut first, None);
        let heard = catch_unwind(AssertUnwindSafe(|| go_on(first))).unwrap_err();
        assert_eq!(heard.downcast_ref(), Some(&"first"));
    }

    #[test]
    fn what_a_forgotten_panic_panics_with_is_dropped_too() {
        struct Below(usize, Arc<()>);
        impl Drop for Below {
            fn drop(&mut self) {
                if self.0 > 0 {
                    resume_unwind(Box::new(Self(self.0 - 1, self.1.clone())));
                }
            }
        }
        let here = Arc::new(());
        forget(Box::new(Below(3, here.clone())));
        assert_eq!(Arc::strong_count(&here), 1);
    }

    #[test]
    fn no_panic_is_added_to_one_that_is_under_way() {
        struct Gone;
        impl Drop for Gone {
            fn drop(&mut self) {
                go_on(Some(Box::new("second")));
            }
        }
        let heard = catch_unwind(|| {
            let _gone = Gone;
            resume_unwind(Box::new("first"));
        });
        assert_eq!(heard.unwrap_err().downcast_ref(), Some(&"first"));
    }
}
