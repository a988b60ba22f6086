//! The deque of a worker, by itself.

use cantina::scheduler::deque::Deque;
use cantina_effort::scenario::Scenario;
use machine::cell::UnsafeCell;
use machine::fence::Pair;
use machine::{Arc, thread};
use std::ptr::NonNull;

/// Loom tries them with more preemptions than it has for a runtime.
pub(crate) const ALL: [Scenario; 8] = [
    ("the last task is taken once", || the_last_task_is_taken_once(Pair::best())),
    ("the last task is taken once between full fences", || {
        the_last_task_is_taken_once(Pair::symmetric());
    }),
    ("a deque grows before a thief", a_deque_grows_before_a_thief),
    ("two thieves meet", || two_thieves_meet(Pair::best())),
    ("two thieves meet between full fences", || two_thieves_meet(Pair::symmetric())),
    ("a slot is used again", a_slot_is_used_again),
    ("an index is used again", an_index_is_used_again),
    ("a turn is stolen", a_turn_is_stolen),
];

type Tasks = Deque<UnsafeCell<usize>>;

/// A worker and a thief that takes two tasks, or two that take one: what each task is worth, and what was taken.
fn taken_once(
    (room, fences): (usize, Pair),
    numbers: &[usize],
    thieves: usize,
    work: impl FnOnce(&Tasks) -> usize,
) {
    stolen_by(Deque::steal, (room, fences), numbers, thieves, work);
}

/// The same with another way to steal.
fn stolen_by(
    steal: fn(&Tasks) -> Option<NonNull<UnsafeCell<usize>>>,
    (room, fences): (usize, Pair),
    numbers: &[usize],
    thieves: usize,
    work: impl FnOnce(&Tasks) -> usize,
) {
    let deque = Arc::new(Deque::new(room, fences));
    let steals = 2 / thieves;
    let thieves: Vec<_> = (0..thieves)
        .map(|_| {
            let deque = deque.clone();
            thread::spawn(move || {
                (0..steals).filter_map(|_| steal(&deque)).map(worth).sum::<usize>()
            })
        })
        .collect();
    let worked = work(&deque);
    let stolen: usize = thieves.into_iter().map(|thief| thief.join().unwrap()).sum();
    let left: usize = std::iter::from_fn(|| steal(&deque)).map(worth).sum();
    assert_eq!(worked + stolen + left, numbers.iter().sum());
}

fn task(number: usize) -> NonNull<UnsafeCell<usize>> {
    let task = NonNull::from(Box::leak(Box::new(UnsafeCell::new(0))));
    // SAFETY: ours. Not before it is there: a thief has to see it.
    unsafe { task.as_ref().with_mut(|place| *place = number) };
    task
}

/// What a task that was taken is worth: a second one to take it would find it gone.
fn worth(task: NonNull<UnsafeCell<usize>>) -> usize {
    // SAFETY: who takes a task has it alone, which is tried here.
    let task = unsafe { Box::from_raw(task.as_ptr()) };
    // SAFETY: as above.
    task.with_mut(|number| unsafe { std::mem::take(&mut *number) })
}

// SAFETY of all below: the caller of `push`, `pop` and `shift` is the one worker.
fn the_last_task_is_taken_once(fences: Pair) {
    taken_once((2, fences), &[1, 2], 1, |deque| {
        // SAFETY: as above.
        unsafe { deque.push(task(1)) };
        // SAFETY: as above.
        unsafe { deque.push(task(2)) };
        // SAFETY: as above.
        (0..3).filter_map(|_| unsafe { deque.pop() }).map(worth).sum()
    });
}

fn a_deque_grows_before_a_thief() {
    taken_once((1, Pair::best()), &[1, 2, 3], 1, |deque| {
        // SAFETY: as above.
        (1..=3).for_each(|number| unsafe { deque.push(task(number)) });
        0
    });
}

fn two_thieves_meet(fences: Pair) {
    taken_once((2, fences), &[1, 2], 2, |deque| {
        // SAFETY: as above.
        (1..=2).for_each(|number| unsafe { deque.push(task(number)) });
        // SAFETY: as above, and nobody pops.
        unsafe { deque.shift() }.map_or(0, worth)
    });
}

fn a_slot_is_used_again() {
    taken_once((1, Pair::best()), &[1, 2], 1, |deque| {
        // SAFETY: as above.
        unsafe { deque.push(task(1)) };
        // SAFETY: as above.
        let popped = unsafe { deque.pop() }.map_or(0, worth);
        // SAFETY: as above.
        unsafe { deque.push(task(2)) };
        popped
    });
}

/// What a thief finds there may be another task than the one it has heard of.
fn an_index_is_used_again() {
    taken_once((2, Pair::best()), &[1, 2, 3], 1, |deque| {
        // SAFETY: as above.
        (1..=2).for_each(|number| unsafe { deque.push(task(number)) });
        // SAFETY: as above.
        let popped = unsafe { deque.pop() }.map_or(0, worth);
        // SAFETY: as above.
        unsafe { deque.push(task(3)) };
        popped
    });
}

/// Where nobody pops there is no fence but the thief's.
fn a_turn_is_stolen() {
    // SAFETY: nobody pops.
    let steal = |deque: &Tasks| unsafe { deque.steal_unpopped(|_, _| true) }.ok();
    stolen_by(steal, (2, Pair::best()), &[1, 2], 1, |deque| {
        // SAFETY: as above.
        (1..=2).for_each(|number| unsafe { deque.push(task(number)) });
        // SAFETY: as above, and nobody pops.
        unsafe { deque.shift() }.map_or(0, worth)
    });
}
