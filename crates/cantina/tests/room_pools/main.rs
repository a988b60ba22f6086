//! What the queue and the stack in rooms promise beyond the conformance suite.

mod crowd;
mod queue;
#[path = "../scenarios/room_pools.rs"]
mod scenarios;
mod stack;
mod work;
#[path = "../scenarios/work.rs"]
mod work_scenarios;

use cantina::rooms::{RoomStack, WorkStack};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    for (name, scenario) in scenarios::QUEUE.into_iter().chain(scenarios::STACK) {
        println!("{name}");
        (0..1_000).for_each(|_| scenario());
    }
    for (name, scenario) in work_scenarios::ALL.into_iter().chain(work_scenarios::CROWDS) {
        println!("{name}");
        (0..1_000).for_each(|_| scenario());
    }
}

/// A task whose drop is counted, and may panic.
struct Fragile {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        self.drops.fetch_add(1, SeqCst);
        assert!(!self.panics, "a drop that panics");
    }
}

/// So many tasks, of which every third panics when it is dropped.
fn fragile(many: usize, drops: &Arc<AtomicUsize>) -> Vec<Fragile> {
    (0..many).map(|n| Fragile { drops: drops.clone(), panics: n % 3 == 1 }).collect()
}

/// What dropping something of `many` fragile tasks does: each is dropped once, and the panic goes on.
fn drops_all<P>(pool: P, drops: &AtomicUsize, many: usize) {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(pool)));
    assert!(result.is_err());
    assert_eq!(drops.load(SeqCst), many);
}

/// Says that it will never end.
struct Boaster(std::ops::Range<u64>);

impl Iterator for Boaster {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}

#[test]
fn an_iterator_that_promises_too_much_does_no_harm() {
    let stack = RoomStack::new();
    assert_eq!(stack.push_all(Boaster(0..5)), 5);
    assert_eq!(stack.pop(), Some(4));
    let work = WorkStack::new();
    assert_eq!(work.push_all(Boaster(0..5)), 5);
    assert_eq!(work.len_hint(), 5);
}
