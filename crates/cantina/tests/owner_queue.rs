//! What an owner queue promises, one thread at a time, and what it and what is built of it take.

use cantina::owner_queue::{Owner, OwnerQueue};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Counts what the calling thread allocates.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + 1);
        BYTES.set(BYTES.get() + layout.size());
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn all<T>(owner: Owner<T>) -> Vec<T> {
    let mut items = Vec::new();
    owner.run(|item| items.push(item));
    items
}

#[test]
fn who_adds_to_an_idle_queue_owns_it_until_it_is_empty() {
    let queue = OwnerQueue::new();
    assert_eq!(format!("{queue:?}"), "OwnerQueue(idle)");
    let owner = queue.enqueue(1).unwrap();
    assert_eq!(format!("{owner:?} {queue:?}"), "Owner(owned) OwnerQueue(owned)");
    assert!(queue.clone().enqueue(2).is_none());
    let (first, owner) = owner.next().unwrap();
    assert!(queue.enqueue(3).is_none(), "the owner is one while it works");
    assert!(queue.try_own().is_none());
    assert_eq!((first, all(owner)), (1, vec![2, 3]));
    assert_eq!(format!("{queue:?}"), "OwnerQueue(idle)");
    assert!(queue.enqueue(4).is_some());
}

#[test]
fn an_owner_that_goes_at_any_point_leaves_its_items_in_order() {
    for taken in 0..=4 {
        for by_enqueue in [true, false] {
            let queue = OwnerQueue::new();
            let mut owner = queue.enqueue(0).unwrap();
            (1..3).for_each(|item| assert!(queue.enqueue(item).is_none()));
            let mut seen = Vec::new();
            for _ in 0..taken.min(3) {
                let (item, still) = owner.next().unwrap();
                owner = still;
                seen.push(item);
            }
            if taken == 4 {
                assert!(queue.enqueue(3).is_none());
            }
            let left = if taken == 4 { 1 } else { 3 - taken };
            drop(owner);
            assert_eq!(format!("{queue:?}").contains("left"), left > 0);
            let next = if by_enqueue { queue.enqueue(9) } else { queue.try_own() };
            assert_eq!(next.is_some(), by_enqueue || left > 0);
            seen.extend(next.into_iter().flat_map(all));
            let end: &[i32] = if by_enqueue { &[9] } else { &[] };
            let whole: Vec<i32> = (0..seen.len() as i32 - end.len() as i32).collect();
            assert_eq!(seen, [&whole, end].concat());
            assert_eq!(whole.len(), if taken == 4 { 4 } else { 3 });
        }
    }
}

#[test]
fn an_owned_queue_keeps_what_comes_for_its_owner() {
    let (queue, owner) = OwnerQueue::owned();
    assert!(queue.enqueue(1).is_none());
    assert!(queue.try_own().is_none());
    assert_eq!(all(owner), [1]);
    let (queue, owner) = OwnerQueue::<u8>::owned();
    drop(owner);
    assert!(queue.try_own().is_none());
    assert!(queue.enqueue(1).is_some());
}

#[test]
fn an_owner_whose_work_panics_leaves_what_is_behind() {
    let queue = OwnerQueue::new();
    let owner = queue.enqueue(1).unwrap();
    assert!(queue.enqueue(2).is_none());
    let work = |_| resume_unwind(Box::new("no"));
    assert!(catch_unwind(AssertUnwindSafe(|| owner.run(work))).is_err());
    assert_eq!(all(queue.try_own().unwrap()), [2]);
}

#[test]
fn an_owner_that_does_nothing_keeps_the_queue_and_loses_no_item() {
    let queue = OwnerQueue::new();
    let idle = queue.enqueue(1);
    assert!(queue.enqueue(2).is_none());
    assert!(queue.try_own().is_none());
    drop(idle);
    assert_eq!(all(queue.try_own().unwrap()), [1, 2]);
}

/// What an item panics with, which panics when it is dropped.
struct Worse;

impl Drop for Worse {
    fn drop(&mut self) {
        resume_unwind(Box::new("worse"));
    }
}

/// An item that counts how many are dropped, and then panics with what it has.
struct Loud(Rc<Cell<usize>>, Option<Panic>);

type Panic = Box<dyn std::any::Any + Send>;

impl Drop for Loud {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        if let Some(panic) = self.1.take() {
            resume_unwind(panic);
        }
    }
}

/// A queue with six items that were taken off its head and one that was not: the first panic of several comes
/// from the former, and what the second carries panics itself.
fn loud(drops: &Rc<Cell<usize>>) -> OwnerQueue<Loud> {
    let item = |panic| Loud(drops.clone(), panic);
    let queue = OwnerQueue::new();
    let owner = queue.enqueue(item(None)).unwrap();
    for number in 0..6 {
        let panic: Option<Panic> = match number {
            0 => Some(Box::new("first")),
            2 | 5 => Some(Box::new(Worse)),
            _ => None,
        };
        assert!(queue.enqueue(item(panic)).is_none());
    }
    let (first, owner) = owner.next().unwrap();
    drop(first);
    assert!(queue.enqueue(item(Some(Box::new("last")))).is_none());
    drop(owner);
    queue
}

#[test]
fn what_is_left_is_dropped_once_even_when_a_drop_panics() {
    let drops = Rc::new(Cell::new(0));
    let queue = loud(&drops);
    assert_eq!(drops.get(), 1);
    let heard = catch_unwind(AssertUnwindSafe(|| drop(queue))).unwrap_err();
    assert_eq!(heard.downcast_ref(), Some(&"first"));
    assert_eq!(drops.get(), 8);
}

/// The last handle goes while its thread unwinds: none of the panics is added to the one that is under way.
#[test]
fn what_is_left_by_a_panic_is_dropped_once_even_when_a_drop_panics() {
    let drops = Rc::new(Cell::new(0));
    let queue = loud(&drops);
    let unwinds = move || {
        let _goes = queue;
        resume_unwind(Box::new("under way"));
    };
    let heard = catch_unwind(AssertUnwindSafe(unwinds)).unwrap_err();
    assert_eq!(heard.downcast_ref(), Some(&"under way"));
    assert_eq!(drops.get(), 8);
}

#[test]
fn producers_and_owners_that_go_on_allocate_nothing() {
    let queue = OwnerQueue::recycling(4);
    let mut producers = [queue.producer(), queue.producer()];
    let mut round = || {
        for item in 0..100 {
            let [one, other] = &mut producers;
            let owner = one.enqueue(item).unwrap();
            assert!(other.enqueue(item).is_none());
            owner.run(drop);
        }
    };
    round();
    let before = ALLOCATED.get();
    round();
    assert_eq!(ALLOCATED.get(), before);
}

#[test]
fn a_producer_may_keep_every_node_there_is() {
    let queue = OwnerQueue::recycling(usize::MAX);
    let mut producer = queue.producer();
    for item in 0..3 {
        producer.enqueue(item).unwrap().run(|seen| assert_eq!(seen, item));
    }
}

#[test]
fn a_unit_at_rest_is_small() {
    let runtime = cantina::scheduler::Runtime::builder().workers(1).build().unwrap();
    let mut units = Vec::with_capacity(100_000);
    let before = BYTES.get();
    units.extend((0..100_000_u64).map(|number| runtime.unit(number)));
    let each = (BYTES.get() - before) / units.len();
    assert!(each <= 256 + size_of::<u64>(), "{each} bytes");
    let last = units[99_999].send(|number| *number);
    assert_eq!(last.wait(), Ok(99_999));
}

#[test]
fn a_burst_of_nodes_is_given_back() {
    let item = Rc::new(());
    let queue = OwnerQueue::recycling(1);
    let owner = queue.enqueue(item.clone()).unwrap();
    (0..100).for_each(|_| assert!(queue.enqueue(item.clone()).is_none()));
    owner.run(drop);
    assert_eq!(Rc::strong_count(&item), 1);
    // Sixteen nodes are kept: the seventeenth is new.
    let mut producer = queue.producer();
    let before = ALLOCATED.get();
    let owner = producer.enqueue(item.clone()).unwrap();
    (1..16).for_each(|_| assert!(producer.enqueue(item.clone()).is_none()));
    assert_eq!(ALLOCATED.get(), before);
    assert!(producer.enqueue(item.clone()).is_none());
    assert_eq!(ALLOCATED.get(), before + 1);
    owner.run(drop);
}

mod owner_history;

#[test]
fn every_recorded_program_has_an_order() {
    (0..500).for_each(owner_history::a_random_program_has_an_order);
}
