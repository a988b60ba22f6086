//! The stack of work.

use cantina::rooms::WorkStack;
use machine::thread;

/// Works until the end: each task of count n becomes two of n - 1. How many.
pub(crate) fn work(stack: &WorkStack<u32>, max: usize) -> u64 {
    let mut done = 0;
    while let Some(mut batch) = stack.borrow(max) {
        for task in std::mem::take(&mut *batch) {
            done += 1;
            if task > 0 {
                batch.extend([task - 1; 2]);
            }
        }
    }
    done
}

#[test]
fn all_is_done_when_all_are_told() {
    let stack = WorkStack::new();
    for round in 0..3 {
        stack.push_all([10; 16]);
        let workers: Vec<_> = (0..8)
            .map(|number| {
                let stack = stack.clone();
                thread::spawn(move || work(&stack, 1 + 40 * (number % 3)))
            })
            .collect();
        let done: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        assert_eq!(done, 16 * 2_047, "round {round}");
        assert_eq!((stack.len_hint(), stack.lent(), stack.waiting()), (0, 0, 0));
    }
}

#[test]
fn workers_that_panic_leave_their_tasks_to_the_others() {
    let stack = WorkStack::new();
    stack.push_all(0..1_000_u32);
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let stack = stack.clone();
            thread::spawn(move || {
                let mut done = Vec::new();
                while let Some(mut batch) = stack.borrow(7) {
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                        while let Some(task) = batch.pop() {
                            done.push(task);
                            if task % 10 == 3 {
                                std::panic::resume_unwind(Box::new("a task's"));
                            }
                        }
                        drop(batch);
                    }));
                    drop(result);
                }
                done
            })
        })
        .collect();
    let mut done: Vec<u32> =
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect();
    done.sort_unstable();
    assert!(done.into_iter().eq(0..1_000));
}

#[test]
fn a_batch_is_a_vector_that_goes_back() {
    let stack = WorkStack::new();
    assert_eq!(stack.push_all(0..5), 5);
    let mut batch = stack.borrow(3).unwrap();
    assert_eq!(*batch, [4, 3, 2]);
    assert_eq!((stack.lent(), stack.len_hint()), (1, 2));
    assert_eq!(format!("{batch:?} {stack:?}"), "Batch(3 tasks) WorkStack { tasks: 2, lent: 1 }");
    batch.pop();
    batch.push(7);
    drop(batch);
    assert_eq!(*stack.borrow(9).unwrap(), [7, 3, 4, 1, 0]);
    assert_eq!((stack.lent(), stack.len_hint()), (0, 5));
}

#[test]
#[should_panic = "at least one task"]
fn a_batch_of_none_is_refused() {
    let _ = WorkStack::<u8>::new().borrow(0);
}
