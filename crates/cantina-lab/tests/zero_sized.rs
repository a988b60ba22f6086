//! Tasks without a size that want to be dropped.
//!
//! They have no place to say where they belong, so one thread counts for all of them, and the suite,
//! which runs on both machines, cannot have them.

use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_lab::registry::{Family, Visitor, visit_all};
use std::cell::Cell;

thread_local! {
    static DROPPED: Cell<usize> = const { Cell::new(0) };
}

struct Nothing;

impl Drop for Nothing {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
    }
}

struct Dropping;

impl Visitor for Dropping {
    fn visit<F: Family>(&mut self, family: F) {
        let name = family.facts().name;
        let pool = family.build::<Nothing>();
        let mut worker = pool.worker();
        let mut put = 0;
        DROPPED.set(0);
        while put < 300 && worker.try_put(Nothing).map_err(std::mem::forget).is_ok() {
            put += 1;
        }
        let got = put / 3;
        for number in 0..got {
            assert_eq!(DROPPED.get(), number, "{name}");
            drop(worker.get().expect("not all were got"));
        }
        drop(pool);
        assert_eq!(DROPPED.get(), got, "{name}: before the last handle goes");
        drop(worker);
        assert_eq!(DROPPED.get(), put, "{name}: after the last handle is gone");
    }
}

#[test]
fn tasks_without_a_size_are_dropped_once() {
    visit_all(&mut Dropping);
}
