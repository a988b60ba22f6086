//! What a hand-off promises, one thread at a time.

use cantina::handoff::handoff;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

#[test]
fn a_task_is_taken_once_and_not_before_it_is_given() {
    let (giver, taker) = handoff();
    assert_eq!(taker.take(), None);
    assert_eq!(format!("{giver:?} {taker:?}"), "Giver(empty) Taker(empty)");
    giver.give(7);
    assert_eq!(format!("{taker:?}"), "Taker(full)");
    assert_eq!(taker.clone().take(), Some(7));
    assert_eq!(taker.take(), None);
    assert_eq!(format!("{taker:?}"), "Taker(taken)");
}

#[test]
fn a_task_that_nobody_took_is_dropped_and_a_taken_one_is_not_dropped_again() {
    let task = Arc::new(());
    let (giver, taker) = handoff();
    giver.give(task.clone());
    drop(taker);
    assert_eq!(Arc::strong_count(&task), 1);

    let (giver, taker) = handoff();
    giver.give(task.clone());
    let taken = taker.take();
    drop(taker);
    assert_eq!(Arc::strong_count(&task), 2);
    drop(taken);
}

#[test]
fn takers_of_a_dropped_giver_get_nothing() {
    let (giver, taker) = handoff::<u8>();
    drop(giver);
    assert_eq!(taker.take(), None);
}

#[test]
fn a_task_that_panics_when_it_is_dropped_does_not_add_to_a_panic() {
    struct Aloud;
    impl Drop for Aloud {
        fn drop(&mut self) {
            resume_unwind(Box::new("dropped"));
        }
    }
    let given = || {
        let (giver, taker) = handoff();
        giver.give(Aloud);
        taker
    };
    let heard = catch_unwind(|| drop(given()));
    assert_eq!(heard.unwrap_err().downcast_ref(), Some(&"dropped"));
    let heard = catch_unwind(|| {
        let _taker = given();
        resume_unwind(Box::new("first"));
    });
    assert_eq!(heard.unwrap_err().downcast_ref(), Some(&"first"));
}
