//! Dropping what nobody got.

/// Drops all that `next` gives. When one of them panics the others are dropped all the same, and the
/// panic goes on; a second one aborts, as with the collections of `std`.
pub(super) fn drop_rest<T>(next: impl FnMut() -> Option<T>) {
    struct Rest<T, F: FnMut() -> Option<T>>(F);
    impl<T, F: FnMut() -> Option<T>> Rest<T, F> {
        fn run(&mut self) {
            while let Some(task) = (self.0)() {
                drop(task);
            }
        }
    }
    impl<T, F: FnMut() -> Option<T>> Drop for Rest<T, F> {
        fn drop(&mut self) {
            self.run();
        }
    }
    Rest(next).run();
}
