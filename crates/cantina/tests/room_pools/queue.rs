//! The queue.

use super::{drops_all, fragile};
use cantina::pool::TaskPool;
use cantina::rooms::RoomQueue;
use machine::atomic::AtomicUsize;
use machine::{Arc, thread};

fn queue_of<T>(capacity: usize) -> RoomQueue<T> {
    RoomQueue::builder().capacity(capacity).build().unwrap()
}

#[test]
fn it_is_first_in_first_out_around_its_end() {
    let queue = queue_of(5);
    let mut next = (0.., 0..);
    for many in [1, 5, 3, 2, 4, 5, 1] {
        let put = queue.enqueue_all(next.0.by_ref().take(many)).unwrap();
        assert_eq!((put, queue.len_hint()), (many, many));
        let mut got = Vec::new();
        assert_eq!(queue.dequeue_many(9, &mut got), many);
        assert!(got.into_iter().eq(next.1.by_ref().take(many)));
    }
    let metrics = queue.metrics();
    assert_eq!((metrics.puts, metrics.gets, metrics.capacity), (21, 21, 5));
}

#[test]
fn what_does_not_fit_comes_back_in_order() {
    let queue = queue_of(4);
    let error = queue.enqueue_all(0..).unwrap_err();
    assert_eq!((error.put, error.task), (4, 4));
    assert!(error.rest.take(10).eq(5..15));
    assert_eq!(queue.enqueue(9).unwrap_err().0, 9);
    assert_eq!(queue.dequeue(), Some(0));
    let error = queue.enqueue_all(4..9).unwrap_err();
    assert_eq!(error.put, 1);
    assert!(error.into_inner().eq(5..9));
    assert_eq!(queue.enqueue_all([]).unwrap(), 0);
    let mut got = vec![7];
    assert_eq!(queue.dequeue_many(3, &mut got), 3);
    assert_eq!(got, [7, 1, 2, 3]);
    assert_eq!(queue.dequeue_many(0, &mut got), 0);
    assert_eq!(queue.dequeue_many(usize::MAX, &mut got), 1);
    assert_eq!(queue.dequeue_many(usize::MAX, &mut got), 0);
    assert_eq!(got, [7, 1, 2, 3, 4]);
}

#[test]
fn room_is_reserved_only_for_what_is_there() {
    let queue = queue_of(1_000);
    queue.enqueue_all(0..3).unwrap();
    let mut got = Vec::new();
    assert_eq!(queue.dequeue_many(500, &mut got), 3);
    assert!(got.capacity() < 16);
}

#[test]
fn it_holds_what_it_was_told_to() {
    assert_eq!(RoomQueue::<u8>::new().capacity(), 1024);
    assert_eq!(RoomQueue::new().enqueue_all(0..2_000).unwrap_err().put, 1024);
    for capacity in [0, 1 << 32, usize::MAX] {
        let error = RoomQueue::<()>::builder().capacity(capacity).build().unwrap_err();
        assert_eq!(error.setting, "capacity");
    }
}

#[test]
fn what_is_left_is_dropped_once_whatever_panics() {
    let drops = Arc::new(AtomicUsize::new(0));
    let queue = queue_of(8);
    queue.enqueue_all(fragile(1, &drops)).unwrap();
    drop(queue.dequeue());
    queue.enqueue_all(fragile(8, &drops)).unwrap();
    drops_all(queue, &drops, 9);
}

#[test]
fn an_iterator_that_panics_or_uses_the_queue_does_no_harm() {
    let queue = queue_of(8);
    let inner = queue.clone();
    let tasks = (0..4).inspect(move |task| {
        inner.enqueue(*task).unwrap();
        let _ = inner.dequeue();
        assert!(*task < 3, "enough");
    });
    let put = std::panic::AssertUnwindSafe(|| queue.enqueue_all(tasks));
    assert!(std::panic::catch_unwind(put).is_err());
    assert_eq!(queue.dequeue(), None);
    assert_eq!(queue.enqueue_all(0..8).unwrap(), 8);
}

#[test]
fn large_tasks_and_none_at_all() {
    let queue = queue_of(3);
    let large = |n: u64| [n; 500];
    assert_eq!(queue.enqueue_all((0..5).map(large)).unwrap_err().put, 3);
    assert_eq!(queue.dequeue(), Some(large(0)));
    let queue = queue_of(3);
    assert_eq!(queue.enqueue_all([(); 5]).unwrap_err().put, 3);
    let mut got = Vec::new();
    assert_eq!(queue.dequeue_many(5, &mut got), 3);
    assert_eq!(queue.dequeue(), None);
}

#[test]
fn a_vector_that_can_take_no_more_loses_nothing() {
    let queue = queue_of(3);
    queue.enqueue_all([(); 2]).unwrap();
    // SAFETY: tasks without size need no memory.
    let mut full: Vec<()> =
        unsafe { Vec::from_raw_parts(std::ptr::dangling_mut(), usize::MAX, usize::MAX) };
    let got = std::panic::AssertUnwindSafe(|| queue.dequeue_many(2, &mut full));
    assert!(std::panic::catch_unwind(got).is_err());
    assert_eq!(queue.dequeue_many(2, &mut Vec::new()), 2);
}

#[test]
fn its_ends_are_those_of_a_pool() {
    let queue = queue_of(4);
    let (mut put, mut worker) = (TaskPool::producer(&queue), TaskPool::worker(&queue));
    let error = put.put_all(0..6).unwrap_err();
    assert_eq!((error.put, error.task, error.rest), (4, 4, 5..6));
    assert_eq!(put.clone().try_put(6).unwrap_err().0, 6);
    assert_eq!(worker.get(), Some(0));
    worker.put_all([7]).unwrap();
    let mut get = TaskPool::try_consumer(&queue).unwrap();
    assert!(get.drain().eq([1, 2, 3, 7]));
    assert_eq!((queue.full_slack(), queue.full_counts_under_way()), (0, false));
    assert_eq!(format!("{queue:?} {put:?}"), "RoomQueue(0 tasks) Producer(0 tasks)");
}

#[test]
fn who_finds_too_many_waiting_asks_again() {
    let queue = RoomQueue::builder().capacity(2).limit(1).build().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut got = 0;
                for n in 0..500 {
                    let _ = queue.enqueue(n);
                    got += u64::from(queue.dequeue().is_some());
                }
                got
            })
        })
        .collect();
    let got: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(got + queue.len_hint() as u64, queue.metrics().puts);
}
