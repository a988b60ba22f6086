//! To-do trees of one to eight places.

use cantina::pool::Full;
use cantina::todo_tree::{Builder, Consumer, Lease, Shape, TodoTree};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::{Acquire, Release};
use machine::{Arc, thread};

/// All of them.
pub(crate) const ALL: [Scenario; 36] = [
    ("a place is used again", a_place_is_used_again),
    ("one block is emptied by two", one_block_is_emptied_by_two),
    ("a task moves between blocks", || a_task_moves(&flat(3))),
    ("a task moves below two nodes", || a_task_moves(&tops(3))),
    ("a task moves below a root", || a_task_moves(&deep(2))),
    ("a task moves in a binary tree", || a_task_moves(&binary(2))),
    ("two puts meet between blocks", || two_puts_meet(&flat(2))),
    ("two puts meet below two nodes", || two_puts_meet(&tops(4))),
    ("two puts meet below a root", || two_puts_meet(&binary(2))),
    ("two puts meet below two levels", || two_puts_meet(&binary(4))),
    ("two puts meet below two levels of a wide tree", || two_puts_meet(&deep(4))),
    ("two puts meet in a block of two", || two_puts_meet(&blocks_of_two(2))),
    ("room moves between blocks", || room_moves(&flat(2), 1)),
    ("room moves below a root of a wide tree", || room_moves(&deep(2), 1)),
    ("room moves below a root", || room_moves(&binary(2), 1)),
    ("two puts meet where takes are counted at once", || two_puts_meet(&at_once(4))),
    ("room moves where takes are counted at once", || room_moves(&at_once(2), 1)),
    ("two want the last place where takes are counted at once", || {
        two_want_the_last_place(&at_once(2));
    }),
    ("two want the last place", || two_want_the_last_place(&flat(2))),
    ("two want the last place below a root", || two_want_the_last_place(&binary(2))),
    ("a batch meets a batch", a_batch_meets_a_batch),
    ("two places are used again", two_places_are_used_again),
    ("a task that nobody got is dropped once", a_task_that_nobody_got_is_dropped_once),
    ("a lease is dropped while others look", || a_lease_is_dropped(&flat(2))),
    ("a lease is dropped below a root", || a_lease_is_dropped(&binary(2))),
    ("a lease with an owner is dropped while others look", || a_lease_is_dropped(&owned(2))),
    ("a place with an owner is used again", || a_task_moves(&owned(2))),
    ("two want a task with an owner", || two_want_a_task(&owned(2))),
    ("takes are counted below a root", || takes_are_counted(binary_of_two(), 0)),
    ("takes are counted below a root, elsewhere", || takes_are_counted(binary_of_two(), 1)),
    ("takes are counted below a root, elsewhere again", || takes_are_counted(binary_of_two(), 2)),
    ("takes are counted below a root, and elsewhere", || takes_are_counted(binary_of_two(), 3)),
    ("takes of two are counted at once", || takes_of_two_are_counted(0)),
    ("takes of two are counted at once, elsewhere", || takes_of_two_are_counted(1)),
    ("takes of two are counted at once, elsewhere again", || takes_of_two_are_counted(2)),
    ("takes are counted at once", || takes_are_counted(wide_at_once().capacity(2), 0)),
];

/// Of three threads.
pub(crate) const THREES: [Scenario; 5] = [
    ("two takes and a put between blocks", || two_takes_and_a_put(&flat(2))),
    ("two takes and a put below a root", || two_takes_and_a_put(&binary(2))),
    ("two takes and a put below a root of a wide tree", || two_takes_and_a_put(&deep(2))),
    ("two takes and a put where takes are counted at once", || two_takes_and_a_put(&at_once(2))),
    ("two takes and a put below two levels", || two_takes_and_a_put(&binary(4))),
];

/// Longer ones, for schedules that are drawn.
#[allow(dead_code, reason = "they are too long for loom")]
pub(crate) const FRAYS: [Scenario; 31] = [
    ("a put that has ended is not forgotten", || is_not_forgotten(&binary(2))),
    ("a put that has ended is not forgotten in blocks", || is_not_forgotten(&flat(2))),
    ("a put that has ended is not forgotten below nodes", || is_not_forgotten(&tops(4))),
    ("a put that has ended is not forgotten in a deep tree", || is_not_forgotten(&binary(4))),
    ("a put that has ended is not forgotten over max arrays", || is_not_forgotten(&arrays(2))),
    ("nobody is passed over below a root", || nobody_is_passed_over(&binary(2))),
    ("nobody is passed over below a root of a wide tree", || nobody_is_passed_over(&deep(2))),
    ("room moves often over max arrays", || room_moves(&arrays(2), 5)),
    ("jugglers with owners", || jugglers(&owned(4))),
    ("leases are dropped and taken", || leases_are_dropped_and_taken(&owned(3))),
    ("jugglers over max arrays", || jugglers(&arrays(4))),
    ("room moves often between blocks", || room_moves(&flat(2), 5)),
    ("room moves often to blocks that are not beside", || room_moves(&flat(4), 10)),
    ("a put that has ended is not forgotten in a deep wide tree", || is_not_forgotten(&deep(4))),
    ("room moves often below a root of a wide tree", || room_moves(&deep(2), 5)),
    ("a put that has ended is not forgotten where takes are counted at once", || {
        is_not_forgotten(&at_once(4));
    }),
    ("nobody is passed over where takes are counted at once", || {
        nobody_is_passed_over(&at_once(2))
    }),
    ("room moves often where takes are counted at once", || room_moves(&at_once(2), 5)),
    ("room moves often and far where takes are counted at once", || room_moves(&at_once(4), 10)),
    ("jugglers where takes are counted at once", || jugglers(&at_once(5))),
    ("jugglers in a deep wide tree", || jugglers(&deep(5))),
    ("room moves often below a root", || room_moves(&binary(2), 5)),
    ("room moves often below nodes", || room_moves(&tops(2), 5)),
    ("jugglers in one block", || jugglers(&blocks_of_two(2))),
    ("jugglers in blocks", || jugglers(&flat(4))),
    ("jugglers below nodes", || jugglers(&tops(5))),
    ("jugglers below a root", || jugglers(&blocks_of_two(7))),
    ("jugglers in a binary tree of four", || jugglers(&binary(4))),
    ("jugglers in a binary tree of seven", || jugglers(&binary(7))),
    ("jugglers in a flat tree whose counts go round", || jugglers(&going_round(Shape::Wide))),
    ("jugglers in a binary tree whose counts go round", || jugglers(&going_round(Shape::Binary))),
];

/// Blocks of one place, side by side.
fn flat(capacity: usize) -> TodoTree<u64> {
    TodoTree::builder().capacity(capacity).widths(1, 2, 8).build().unwrap()
}

/// Blocks of one place below two nodes side by side.
fn tops(capacity: usize) -> TodoTree<u64> {
    TodoTree::builder().capacity(capacity).widths(1, 3, 2).build().unwrap()
}

/// Blocks of one place below a root, walks as in wide trees.
fn deep(capacity: usize) -> TodoTree<u64> {
    TodoTree::builder().capacity(capacity).widths(1, 2, 1).build().unwrap()
}

/// The same, and takes are counted at once, as in large trees.
fn at_once(capacity: usize) -> TodoTree<u64> {
    wide_at_once().capacity(capacity).build().unwrap()
}

fn wide_at_once() -> Builder<u64> {
    TodoTree::builder().widths(1, 2, 1).counts_at_once()
}

/// Blocks of two places below a root, if there are several.
fn blocks_of_two(capacity: usize) -> TodoTree<u64> {
    TodoTree::builder().capacity(capacity).widths(2, 2, 1).build().unwrap()
}

/// Blocks of one place below a root, each with an owner.
fn owned(capacity: usize) -> TodoTree<u64> {
    let builder = TodoTree::builder().capacity(capacity).shape(Shape::Binary);
    builder.leases(true).build().unwrap()
}

fn binary(capacity: usize) -> TodoTree<u64> {
    TodoTree::builder().capacity(capacity).shape(Shape::Binary).build().unwrap()
}

fn binary_of_two() -> Builder<u64> {
    TodoTree::builder().capacity(2).shape(Shape::Binary)
}

/// A binary tree over max arrays whose epochs end with every other task.
#[allow(dead_code, reason = "it is for more steps than loom has time for")]
fn arrays(capacity: usize) -> TodoTree<u64> {
    let builder = TodoTree::builder().capacity(capacity).shape(Shape::MaxArrays);
    builder.array_values(2).build().unwrap()
}

/// Counts that are three tasks short of 2^48 in each block.
fn going_round(shape: Shape) -> TodoTree<u64> {
    TodoTree::builder().capacity(4).shape(shape).counts_from((1 << 48) - 3).build().unwrap()
}

/// `got` are the tasks 1 to `tasks`, each once.
fn all_once(got: impl IntoIterator<Item = u64>, tasks: u64) {
    let mut got: Vec<u64> = got.into_iter().collect();
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=tasks), "{got:?} of {tasks}");
}

fn never_empty(task: Option<u64>) -> u64 {
    task.expect("it was never empty")
}

fn put(pool: &TodoTree<u64>, task: u64) {
    pool.producer().try_put(task).expect("there is room");
}

/// One place: who finds it full gets its task back.
pub(crate) fn a_place_is_used_again() {
    let pool = TodoTree::builder().capacity(1).build().unwrap();
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        let back = theirs.try_put(Box::new(1)).err().map(Full::into_inner);
        (back, theirs.get())
    });
    let mut here = pool.worker();
    let back = here.try_put(Box::new(2)).err().map(Full::into_inner);
    let mine = here.get();
    let (their_back, their_task) = other.join().unwrap();
    let got = [back, mine, their_back, their_task, here.get()];
    all_once(got.into_iter().flatten().map(|task| *task), 2);
}

/// Two tasks, and two threads that each want both.
pub(crate) fn one_block_is_emptied_by_two() {
    let pool = blocks_of_two(2);
    pool.producer().put_all([1, 2]).unwrap();
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || theirs.drain().collect::<Vec<_>>());
    let mine: Vec<u64> = pool.consumer().drain().collect();
    all_once(other.join().unwrap().into_iter().chain(mine), 2);
}

/// One task is there. The other thread puts one before it gets one.
fn a_task_moves(pool: &TodoTree<u64>) {
    put(pool, 1);
    // Two ends, for a worker would stay with its own task.
    let (mut producer, mut consumer) = (pool.producer(), pool.consumer());
    let other = thread::spawn(move || {
        producer.try_put(2).expect("there is room");
        never_empty(consumer.get())
    });
    let mut here = pool.consumer();
    let mine = never_empty(here.get());
    all_once([mine, other.join().unwrap()], 2);
    assert_eq!(here.get(), None);
}

/// Two threads, each of which puts before it gets.
fn two_puts_meet(pool: &TodoTree<u64>) {
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        theirs.try_put(1).expect("there is room");
        never_empty(theirs.get())
    });
    let mut here = pool.worker();
    here.try_put(2).expect("there is room");
    let mine = never_empty(here.get());
    all_once([mine, other.join().unwrap()], 2);
}

/// One task less than there are places, of which the other thread takes some and puts them back: there is always room for one more.
fn room_moves(pool: &TodoTree<u64>, times: usize) {
    let last = pool.capacity() as u64;
    (1..last).for_each(|task| put(pool, task));
    let (mut get, mut put_back) = (pool.consumer(), pool.producer());
    let other = thread::spawn(move || {
        for _ in 0..times {
            let task = never_empty(get.get());
            put_back.try_put(task).expect("it was never full");
        }
    });
    let mut here = pool.producer();
    here.try_put(last).expect("it was never full");
    other.join().unwrap();
    all_once(pool.consumer().drain(), last);
    assert_eq!(pool.len_hint(), 0);
}

/// One place is left and nobody gets: one of two has it.
fn two_want_the_last_place(pool: &TodoTree<u64>) {
    put(pool, 1);
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.try_put(2).is_ok());
    let mine = pool.producer().try_put(3).is_ok();
    assert!(mine != other.join().unwrap());
    assert_eq!(pool.consumer().drain().count(), 2);
}

/// Two at once into a block of two, and two at once out of it.
pub(crate) fn a_batch_meets_a_batch() {
    let pool = blocks_of_two(2);
    let mut theirs = pool.producer();
    let other = thread::spawn(move || theirs.put_all([1, 2]).unwrap());
    let mut got = Vec::new();
    let mut here = pool.consumer();
    let first = here.get_many(2, &mut got);
    assert_eq!(other.join().unwrap(), 2);
    assert_eq!(here.get_many(2, &mut got), 2 - first);
    all_once(got, 2);
}

/// Two at once into a block of two and out again, and two at once into it, where there is room.
pub(crate) fn two_places_are_used_again() {
    let pool = blocks_of_two(2);
    let mut theirs = pool.worker();
    let other = thread::spawn(move || {
        let put = theirs.put_all([1, 2]).unwrap_or_else(|full| full.put);
        let mut got = Vec::new();
        theirs.get_many(2, &mut got);
        (put, got)
    });
    let put = pool.producer().put_all([3, 4]).unwrap_or_else(|full| full.put);
    let (their_put, mut got) = other.join().unwrap();
    got.extend(pool.consumer().drain());
    assert_eq!(got.len(), put + their_put, "{got:?}");
    got.sort_unstable();
    got.dedup();
    assert_eq!(got.len(), put + their_put, "{got:?}");
}

/// One is got, the other left, while the producer goes.
pub(crate) fn a_task_that_nobody_got_is_dropped_once() {
    struct Counted(Arc<machine::atomic::AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Release);
        }
    }
    let drops = Arc::new(machine::atomic::AtomicUsize::new(0));
    let pool = TodoTree::builder().capacity(2).widths(1, 2, 1).build().unwrap();
    let mut theirs = pool.producer();
    let tasks = [Counted(drops.clone()), Counted(drops.clone())];
    let other = thread::spawn(move || assert!(theirs.put_all(tasks).is_ok()));
    let mut here = pool.consumer();
    drop(pool);
    drop(here.get());
    drop(here);
    other.join().unwrap();
    assert_eq!(drops.load(Acquire), 2);
}

/// One thread has a task on a lease and drops it before it gets; the other wants it too.
fn a_lease_is_dropped(pool: &TodoTree<u64>) {
    put(pool, 1);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || {
        let seen = theirs.take_leased().map(|lease| *lease);
        (seen, theirs.get())
    });
    let mut here = pool.consumer();
    let mine = here.take_leased().map(Lease::into_inner);
    let (seen, theirs) = other.join().unwrap();
    assert!(mine.is_none() || theirs.is_none(), "got by two");
    assert!(mine.is_some() || theirs.is_some(), "got by nobody");
    assert!(seen.is_none_or(|task| task == 1));
    assert_eq!(here.get(), None);
    put(pool, 1);
    put(pool, 2);
}

/// One task and two takers, one of which may find what the other is in the middle of.
fn two_want_a_task(pool: &TodoTree<u64>) {
    put(pool, 1);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || theirs.get());
    let mine = pool.consumer().get();
    assert!(mine.is_some() != other.join().unwrap().is_some());
    assert_eq!(pool.len_hint(), 0);
}

/// One task is there. One thread puts another before it gets, one gets, and so does this one: all there is.
fn two_takes_and_a_put(pool: &TodoTree<u64>) {
    put(pool, 1);
    let (mut producer, mut first) = (pool.producer(), pool.consumer());
    let puts = thread::spawn(move || {
        // The only free place may be where a task is just being taken from.
        let room = producer.try_put(2).is_ok();
        (room, first.get())
    });
    let mut second = pool.consumer();
    let takes = thread::spawn(move || second.get());
    let mut here = pool.consumer();
    let mine = here.get();
    let (room, first) = puts.join().unwrap();
    let got = [mine, first, takes.join().unwrap()];
    // Whenever it was empty, one of the others had the first task, and the put had not ended.
    assert_eq!(here.get(), None, "wrong empty: {got:?}");
    all_once(got.into_iter().flatten(), 1 + u64::from(room));
    assert_eq!(pool.len_hint(), 0);
}

/// Two tasks and two takers: when both have ended the counts at the top are exact.
fn takes_are_counted(builder: Builder<u64>, seed: u64) {
    // Some seeds send them to different places.
    let pool = &builder.seed(seed).build().unwrap();
    put(pool, 1);
    put(pool, 2);
    let mut theirs = pool.consumer();
    let other = thread::spawn(move || never_empty(theirs.get()));
    let mut here = pool.consumer();
    let mine = never_empty(here.get());
    all_once([mine, other.join().unwrap()], 2);
    assert_eq!(pool.len_hint(), 0, "not counted");
    assert_eq!(here.get(), None);
}

/// The same of batches.
fn takes_of_two_are_counted(seed: u64) {
    let builder = TodoTree::builder().capacity(4).widths(2, 2, 1).counts_at_once();
    let pool = builder.seed(seed).build().unwrap();
    pool.producer().put_all(1..=4).expect("there is room");
    let take = |mut consumer: Consumer<u64>| {
        let mut got = Vec::new();
        consumer.get_many(2, &mut got);
        got
    };
    let theirs = pool.consumer();
    let other = thread::spawn(move || take(theirs));
    let mine = take(pool.consumer());
    all_once(other.join().unwrap().into_iter().chain(mine), 4);
    assert_eq!(pool.len_hint(), 0, "not counted");
}

/// One takes and takes again, one puts two, one takes: whoever finds nothing has not passed over a task whose put
/// had ended before, and which is still there in the end. This is how the paper's read order fails.
#[allow(dead_code, reason = "it is too long for loom")]
fn is_not_forgotten(pool: &TodoTree<u64>) {
    put(pool, 1);
    let ended = Arc::new(AtomicBool::new(false));
    let (seen, mut second) = (ended.clone(), pool.producer());
    let puts = thread::spawn(move || {
        // The other place may not have been given back yet.
        let there = second.try_put(2).is_ok();
        seen.store(there, Release);
        let _ = second.try_put(3);
    });
    let mut third = pool.consumer();
    let takes = thread::spawn(move || third.get());
    let mut here = pool.consumer();
    let first = here.get();
    let was_there = ended.load(Acquire);
    let again = here.get();
    puts.join().unwrap();
    let theirs = takes.join().unwrap();
    let left: Vec<u64> = here.drain().collect();
    assert!(!(was_there && again.is_none() && left.contains(&2)), "2 was there all the time");
    let got: Vec<u64> = [first, again, theirs].into_iter().flatten().chain(left).collect();
    assert_eq!(got.iter().filter(|&&task| task == 1).count(), 1, "{got:?}");
}

/// One task is there. One thread puts another, one gets, and so does this one. It finds nothing only if the first task is gone.
#[allow(dead_code, reason = "it is too long for loom")]
fn nobody_is_passed_over(pool: &TodoTree<u64>) {
    put(pool, 1);
    let mut producer = pool.producer();
    let puts = thread::spawn(move || producer.try_put(2).is_ok());
    let mut theirs = pool.consumer();
    // What it got is counted when it goes, at the latest.
    let takes = thread::spawn(move || theirs.get());
    let mut here = pool.consumer();
    let mine = here.get();
    let theirs = takes.join().unwrap();
    assert!(mine.is_some() || theirs == Some(1), "1 was there all the time");
    let room = puts.join().unwrap();
    all_once(mine.into_iter().chain(theirs).chain(here.drain()), 1 + u64::from(room));
}

/// Three threads that put before they get, with room for all of them.
#[allow(dead_code, reason = "it is too long for loom")]
fn jugglers(pool: &TodoTree<u64>) {
    let room = pool.capacity().min(3) as u64;
    let juggle = |task: u64| {
        let mut worker = pool.worker();
        move || {
            (0..3).fold(task, |task, _| {
                worker.try_put(task).expect("it was never full");
                never_empty(worker.get())
            })
        }
    };
    let others: Vec<_> = (2..=room).map(|task| thread::spawn(juggle(task))).collect();
    let mine = juggle(1)();
    let got = others.into_iter().map(|other| other.join().unwrap()).chain([mine]);
    all_once(got.collect::<Vec<_>>(), room);
    assert_eq!(pool.consumer().get(), None);
    assert_eq!(pool.len_hint(), 0);
}

/// Three threads that take tasks on leases, give back every other one, and put it again when they are done with it.
#[allow(dead_code, reason = "it is too long for loom")]
fn leases_are_dropped_and_taken(pool: &TodoTree<u64>) {
    put(pool, 1);
    put(pool, 2);
    let work = || {
        let mut worker = pool.worker();
        move || {
            for turn in 0..4 {
                let Some(lease) = worker.take_leased() else { continue };
                if turn % 2 == 1 {
                    let task = lease.into_inner();
                    worker.try_put(task).expect("it was never full");
                }
            }
        }
    };
    let others = [thread::spawn(work()), thread::spawn(work())];
    work()();
    others.into_iter().for_each(|other| other.join().unwrap());
    all_once(pool.consumer().drain(), 2);
}
