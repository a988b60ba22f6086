//! The queue and the stack in rooms, where they are full, empty, grow and shrink.

use cantina::rooms::{RoomQueue, RoomStack};
use cantina_effort::scenario::Scenario;
use machine::{Arc, thread};

/// Those of the queue.
pub(crate) const QUEUE: [Scenario; 7] = [
    ("two put into the last place", two_put_into_the_last_place),
    ("two dequeue the last task", two_dequeue_the_last_task),
    ("two batches at the full edge", two_batches_at_the_full_edge),
    ("two batches at the empty edge", two_batches_at_the_empty_edge),
    ("a queue hands on in order", a_queue_hands_on_in_order),
    ("a queue never empty never says so", a_queue_never_empty_never_says_so),
    ("a queue never full never says so", a_queue_never_full_never_says_so),
];

/// Those of the stack.
pub(crate) const STACK: [Scenario; 6] = [
    ("two push across a growth", two_push_across_a_growth),
    ("two push batches across growths", two_push_batches_across_growths),
    ("two pop the last task", two_pop_the_last_task),
    ("two batches at the bottom", two_batches_at_the_bottom),
    ("a stack shrinks while it grows", a_stack_shrinks_while_it_grows),
    ("a stack never empty never says so", a_stack_never_empty_never_says_so),
];

fn queue_of<T>(capacity: usize) -> RoomQueue<T> {
    RoomQueue::builder().capacity(capacity).build().unwrap()
}

fn small_stack<T>() -> RoomStack<T> {
    RoomStack::builder().first_chunk(1).build().unwrap()
}

/// A structure in rooms.
trait InRooms: Clone + Send + 'static {
    /// Enters a room, and does nothing there.
    fn look_in(&self);
}

impl<T: Send + 'static> InRooms for RoomQueue<T> {
    fn look_in(&self) {
        assert_eq!(self.dequeue_many(0, &mut Vec::new()), 0);
    }
}

impl<T: Send + 'static> InRooms for RoomStack<T> {
    fn look_in(&self) {
        assert_eq!(self.pop_many(0, &mut Vec::new()), 0);
    }
}

/// What two threads do at the same time, one after the other in the rooms.
fn both<P: InRooms, R: Send + 'static>(pool: &P, f: fn(&P, u32) -> R) -> [R; 2] {
    let theirs = pool.clone();
    let other = thread::spawn(move || f(&theirs, 1));
    [f(pool, 0), other.join().unwrap()]
}

/// What two threads do at the same time. A third is in a room when they come, so that they may be let in together.
fn together<P: InRooms, R: Send + 'static>(pool: &P, f: fn(&P, u32) -> R) -> [R; 2] {
    let others = [0, 1].map(|n| {
        let theirs = pool.clone();
        thread::spawn(move || f(&theirs, n))
    });
    pool.look_in();
    others.map(|other| other.join().unwrap())
}

fn drain_queue<T>(queue: &RoomQueue<T>) -> Vec<T> {
    std::iter::from_fn(|| queue.dequeue()).collect()
}

fn drain_stack<T>(stack: &RoomStack<T>) -> Vec<T> {
    std::iter::from_fn(|| stack.pop()).collect()
}

fn sorted(mut tasks: Vec<u32>) -> Vec<u32> {
    tasks.sort_unstable();
    tasks
}

fn two_put_into_the_last_place() {
    let queue = queue_of(2);
    queue.enqueue(7).unwrap();
    let put = together(&queue, |queue, n| queue.enqueue(n).is_ok());
    assert_eq!(put.iter().filter(|put| **put).count(), 1, "one has the place");
    let last = u32::from(put[1]);
    assert_eq!(drain_queue(&queue), [7, last]);
    // Nothing is left of the other.
    assert_eq!(queue.enqueue_all([1, 2]).unwrap(), 2);
    assert_eq!(queue.enqueue(3).unwrap_err().0, 3);
    assert_eq!(drain_queue(&queue), [1, 2]);
}

fn two_dequeue_the_last_task() {
    let queue = queue_of(2);
    queue.enqueue(7).unwrap();
    let got = together(&queue, |queue, _| queue.dequeue());
    assert!(matches!(got, [Some(7), None] | [None, Some(7)]), "{got:?}");
    // Nothing is left of the other.
    queue.enqueue(8).unwrap();
    assert_eq!(drain_queue(&queue), [8]);
}

fn two_batches_at_the_full_edge() {
    let queue = queue_of(3);
    let put = together(&queue, |queue, n| match queue.enqueue_all([10 * n, 10 * n + 1]) {
        Ok(put) => put,
        Err(error) => {
            let put = error.put;
            let rest: Vec<u32> = error.into_inner().collect();
            assert!(rest.into_iter().eq((10 * n..10 * n + 2).skip(put)));
            put
        }
    });
    // One of them was whole, and the other one has what was left.
    let expected = match put {
        [2, 1] => [0, 1, 10],
        [1, 2] => [10, 11, 0],
        _ => panic!("{put:?} were put"),
    };
    assert_eq!(drain_queue(&queue), expected);
    assert_eq!(queue.enqueue_all([1, 2, 3, 4]).unwrap_err().put, 3);
    assert_eq!(drain_queue(&queue), [1, 2, 3]);
}

fn two_batches_at_the_empty_edge() {
    let queue = queue_of(3);
    queue.enqueue_all([1, 2, 3]).unwrap();
    let got = together(&queue, |queue, _| {
        let mut got = Vec::new();
        assert_eq!(queue.dequeue_many(2, &mut got), got.len());
        got
    });
    assert!(got == [vec![1, 2], vec![3]] || got == [vec![3], vec![1, 2]], "{got:?}");
    queue.enqueue_all([4, 5, 6]).unwrap();
    assert_eq!(drain_queue(&queue), [4, 5, 6]);
}

/// One place: the next task fits when the one before is gone.
fn a_queue_hands_on_in_order() {
    let queue = queue_of(1);
    let theirs = queue.clone();
    let put = move |n: &u32| theirs.enqueue(*n).is_ok();
    let other = thread::spawn(move || (0..2).filter(put).collect::<Vec<u32>>());
    let mut got: Vec<u32> = (0..2).filter_map(|_| queue.dequeue()).collect();
    let put = other.join().unwrap();
    got.extend(drain_queue(&queue));
    assert_eq!(got, put);
    assert_eq!(put[0], 0, "there was room for the first");
}

fn a_queue_never_empty_never_says_so() {
    let queue = queue_of(2);
    let got = both(&queue, |queue, n| {
        queue.enqueue(n).unwrap();
        queue.dequeue().expect("as many were put as were got, and ours")
    });
    assert_eq!(sorted(got.to_vec()), [0, 1]);
}

fn a_queue_never_full_never_says_so() {
    let queue = queue_of(2);
    queue.enqueue_all([5, 6]).unwrap();
    let got = both(&queue, |queue, n| {
        let task = queue.dequeue().expect("two tasks, and two who get one first");
        queue.enqueue(n).expect("we have made room");
        task
    });
    let left = drain_queue(&queue);
    assert_eq!(sorted(got.into_iter().chain(left).collect()), [0, 1, 5, 6]);
}

/// Both need the second chunk.
fn two_push_across_a_growth() {
    let stack = small_stack();
    stack.push(7);
    together(&stack, |stack, n| stack.push(n));
    let tasks = drain_stack(&stack);
    assert!(tasks == [0, 1, 7] || tasks == [1, 0, 7], "{tasks:?}");
}

fn two_push_batches_across_growths() {
    let stack = small_stack();
    together(&stack, |stack, n| assert_eq!(stack.push_all([10 * n, 10 * n + 1]), 2));
    let tasks = drain_stack(&stack);
    let expected = [[11, 10, 1, 0], [1, 0, 11, 10]];
    assert!(expected.contains(&tasks.clone().try_into().unwrap()), "{tasks:?}");
}

fn two_pop_the_last_task() {
    let stack = small_stack();
    stack.push(7);
    let got = together(&stack, |stack, _| stack.pop());
    assert!(matches!(got, [Some(7), None] | [None, Some(7)]), "{got:?}");
    // Nothing is left of the other.
    stack.push(8);
    assert_eq!(drain_stack(&stack), [8]);
}

fn two_batches_at_the_bottom() {
    let stack = small_stack();
    stack.push_all([1, 2, 3]);
    let got = together(&stack, |stack, _| {
        let mut got = Vec::new();
        assert_eq!(stack.pop_many(2, &mut got), got.len());
        got
    });
    assert!(got == [vec![3, 2], vec![1]] || got == [vec![1], vec![3, 2]], "{got:?}");
    stack.push_all([4, 5]);
    assert_eq!(drain_stack(&stack), [5, 4]);
}

/// Tasks that are counted, half of them never got: what is freed too early, or dropped twice, is found.
fn a_stack_shrinks_while_it_grows() {
    let stack = small_stack();
    let task = Arc::new(5);
    stack.push_all((0..7).map(|_| task.clone()));
    let theirs = (stack.clone(), task.clone());
    let other = thread::spawn(move || {
        let (stack, task) = theirs;
        // So many that they reach into a chunk that is one too many when the others are got.
        stack.push_all([task.clone(), task.clone(), task]);
    });
    let mut got = Vec::new();
    while got.len() < 6 {
        stack.pop_many(6 - got.len(), &mut got);
    }
    other.join().unwrap();
    assert!(got.iter().all(|task| **task == 5));
    assert_eq!(stack.metrics().tasks, 4);
    drop((got, stack));
    assert_eq!(Arc::strong_count(&task), 1);
}

fn a_stack_never_empty_never_says_so() {
    let stack = small_stack();
    let got = both(&stack, |stack, n| {
        stack.push(n);
        stack.pop().expect("as many were put as were got, and ours")
    });
    assert_eq!(sorted(got.to_vec()), [0, 1]);
}
