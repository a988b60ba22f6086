//! SALSA with a capacity: room that is made, shared and given back.

use super::salsa::{Task, task};
use cantina::salsa::bounded::{Consumer, Producer};
use cantina::salsa::{Bounded, Mode};
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::{Acquire, Relaxed, Release};
use machine::topology::Topology;
use machine::{Arc, thread};

fn pool(capacity: usize, chunk_size: usize, mode: Mode) -> Bounded<Task> {
    Bounded::builder()
        .capacity(capacity)
        .chunk_size(chunk_size)
        .max_consumers(1)
        .mode(mode)
        .patience(0)
        .spares(1)
        .table_width(2)
        .topology(Topology::mock(1, 1))
        .build()
        .unwrap()
}

/// Whether there was room for a task with this number.
fn put(producer: &mut Producer<Task>, number: u64) -> bool {
    match producer.try_put(task(number)) {
        Ok(()) => true,
        Err(full) => {
            assert_eq!(full.0, task(number), "what does not fit comes back");
            false
        }
    }
}

/// With all ends gone there is as much room as in the beginning, less what is inside.
fn fills_up(pool: &Bounded<Task>, inside: usize) {
    let mut producer = pool.producer();
    let room = (0..).take_while(|number| put(&mut producer, *number)).count();
    assert_eq!(room + inside, pool.capacity(), "credits were made or lost, {inside} are inside");
}

/// Whoever finds room comes after the get that made it, and all that came before that.
pub(crate) fn room_comes_after_the_get_that_made_it() {
    // With claims: the fences of an owner that takes without would show the get, too.
    let pool = pool(1, 4, Mode::Claim);
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    assert!(put(&mut producer, 1));
    let before = Arc::new(AtomicBool::new(false));
    let theirs = before.clone();
    let gets = thread::spawn(move || {
        // stat: it is the get that orders it.
        theirs.store(true, Relaxed);
        assert_eq!(consumer.get(), Some(task(1)));
    });
    if put(&mut producer, 2) {
        // stat: as above. Before any fence.
        assert!(before.load(Relaxed), "room, and the get has not begun");
        assert_eq!(pool.len_hint(), 1, "inside, with a capacity of 1");
    }
    gets.join().unwrap();
}

/// There is room when a get is over.
pub(crate) fn a_get_that_is_over_has_made_room() {
    let pool = pool(1, 2, Mode::Fence);
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    assert!(put(&mut producer, 1));
    let is_over = Arc::new(AtomicBool::new(false));
    let theirs = is_over.clone();
    let gets = thread::spawn(move || {
        assert!(consumer.get().is_some());
        // The get.
        theirs.store(true, Release);
    });
    // The same.
    let was_over = is_over.load(Acquire);
    let there_was_room = put(&mut producer, 2);
    assert!(there_was_room || !was_over, "full, and the only task has been got");
    gets.join().unwrap();
    drop(producer);
    fills_up(&pool, usize::from(there_was_room));
}

/// Two producers put one task each, and a consumer gets one, where there is room for one.
pub(crate) fn two_share_the_last_place() {
    let pool = pool(1, 2, Mode::Fence);
    let (mut one, mut two) = (pool.producer(), pool.producer());
    let mut consumer = pool.consumer();
    let puts = thread::spawn(move || put(&mut one, 1));
    let other = thread::spawn(move || put(&mut two, 2));
    let got = usize::from(consumer.get().is_some());
    let inside = [puts, other].map(|puts| usize::from(puts.join().unwrap())).iter().sum::<usize>();
    assert!(inside > 0, "full, and nothing is inside");
    assert!(inside - got <= 1, "{inside} were put, {got} got, in a place for one");
    drop(consumer);
    fills_up(&pool, inside - got);
}

/// Gets until there is nothing, or so many.
fn gets(consumer: &mut Consumer<Task>, most: usize) -> usize {
    (0..most).take_while(|_| consumer.get().is_some()).count()
}

/// The same where credits go by twos: two producers come with two tasks each, and there is room for one
/// more than the consumer makes.
pub(crate) fn lots_meet_at_the_edge() {
    const CAPACITY: usize = 128;
    let pool = pool(CAPACITY, 64, Mode::Fence);
    let (mut one, mut two) = (pool.producer(), pool.producer());
    let mut consumer = pool.consumer();
    let filled = CAPACITY - 1;
    assert_eq!(one.put_all((0..filled as u64).map(task)).unwrap(), filled);
    let puts = thread::spawn(move || (1..=2).filter(|number| put(&mut one, *number)).count());
    let other = thread::spawn(move || (1..=2).filter(|number| put(&mut two, *number)).count());
    let got = gets(&mut consumer, 2);
    assert_eq!(got, 2);
    let put = puts.join().unwrap() + other.join().unwrap();
    let inside = filled + put - got;
    assert!(inside <= CAPACITY, "{put} were put");
    assert!(put > 0, "full, and there was a place");
    drop(consumer);
    fills_up(&pool, inside);
}
