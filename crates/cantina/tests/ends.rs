//! What the ends of all pools have in common.

#![deny(unfulfilled_lint_expectations)]

use cantina::cafe::{self, Cafe};
use cantina::locked::{self, Locked};
use cantina::pool::Full;
use cantina::prelude::*;
use cantina::rooms::{RoomQueue, RoomStack, queue, stack};
use cantina::salsa::{self, Bounded, Salsa, bounded};
use cantina::todo_tree::{self, TodoTree};
use std::cell::Cell;

/// Implemented once for what is not `Sync`, and twice for what is: then nobody can tell which is meant.
trait NotSync<A> {
    fn is_not_sync() {}
}
impl<T: ?Sized> NotSync<()> for T {}
impl<T: ?Sized + Sync> NotSync<u8> for T {}

fn is_sent<T: Send>() {}

/// That this compiles is what is tested.
macro_rules! one_thread_at_a_time {
    ($($end:ty),* $(,)?) => {
        #[test]
        fn ends_are_sent_and_not_shared() {
            $(
                <$end as NotSync<_>>::is_not_sync();
                is_sent::<$end>();
            )*
        }
    };
}

one_thread_at_a_time![
    cafe::Producer<u8>,
    cafe::Consumer<u8>,
    cafe::Worker<u8>,
    locked::Producer<u8>,
    locked::Consumer<u8>,
    locked::Worker<u8>,
    salsa::Producer<u8>,
    salsa::Consumer<u8>,
    salsa::Worker<u8>,
    bounded::Producer<u8>,
    bounded::Consumer<u8>,
    bounded::Worker<u8>,
    todo_tree::Producer<u8>,
    todo_tree::Consumer<u8>,
    todo_tree::Worker<u8>,
    queue::Producer<u8>,
    queue::Consumer<u8>,
    queue::Worker<u8>,
    stack::Producer<u8>,
    stack::Consumer<u8>,
    stack::Worker<u8>,
    // Tasks that are no `Sync` are sent all the same.
    cafe::Worker<Cell<u8>>,
    locked::Worker<Cell<u8>>,
    salsa::Worker<Cell<u8>>,
    bounded::Worker<Cell<u8>>,
    todo_tree::Worker<Cell<u8>>,
    queue::Worker<Cell<u8>>,
    stack::Worker<Cell<u8>>,
];

/// By its own methods, and by those of the trait.
macro_rules! passes_a_task {
    ($($pool:expr),* $(,)?) => {
        $({
            let pool = $pool;
            assert_eq!(pool.producer().try_put(1), Ok(()));
            let mut consumer = pool.try_consumer().unwrap();
            assert_eq!(consumer.get(), Some(1));
            let mut worker = TaskPool::try_worker(&pool).unwrap();
            assert_eq!(worker.try_put(2), Ok(()));
            assert_eq!(worker.get(), Some(2));
            assert_eq!(pool.try_worker().unwrap().get(), None);
        })*
    };
}

#[test]
fn every_pool_can_be_asked_whether_it_has_room_for_an_end() {
    passes_a_task![
        Cafe::new(),
        Locked::new(),
        Salsa::new(),
        Bounded::new(),
        TodoTree::new(),
        RoomQueue::new(),
        RoomStack::new(),
    ];
}

/// That this compiles is what is tested: each of them is a warning.
#[test]
fn who_gets_a_task_has_to_do_something_with_it() {
    fn of_any<P: TaskPool<u8>>(pool: &P) {
        #[expect(unused_must_use, reason = "it is tried")]
        pool.consumer().get();
        pool.producer().try_put(1).unwrap();
    }
    let (cafe, locked, tree) = (Cafe::new(), Locked::new(), TodoTree::new());
    of_any(&cafe);
    of_any(&locked);
    of_any(&tree);
    #[expect(unused_must_use, reason = "it is tried")]
    cafe.consumer().get();
    #[expect(unused_must_use, reason = "it is tried")]
    cafe.worker().get();
    #[expect(unused_must_use, reason = "it is tried")]
    locked.consumer().get();
    #[expect(unused_must_use, reason = "it is tried")]
    locked.worker().get();
    #[expect(unused_must_use, reason = "it is tried")]
    tree.consumer().get();
    #[expect(unused_must_use, reason = "it is tried")]
    tree.worker().take_leased();
    let refused = || Full(1);
    #[expect(unused_must_use, reason = "it is tried")]
    refused();
}
