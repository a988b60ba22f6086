use super::{Cell, Relaxed};
use crate::scheduler::Runtime;
use crate::scheduler::counted::tests::aborts;

#[test]
fn references_are_not_counted_beyond_all_bounds() {
    let runtime = Runtime::builder().workers(1).without_threads();
    let cell = Cell::<()>::new(runtime.shared.clone(), false, |_| ());
    let referred = || {
        // own: nobody else has it.
        cell.counts.store((1 << 31) + 1, Relaxed);
        cell.refer();
    };
    let test = "scheduler::cell::tests::references_are_not_counted_beyond_all_bounds";
    assert!(aborts(test, referred));
}
