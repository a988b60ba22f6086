//! What is a history of an owner queue, and what is not.

use cantina_check::owner::{Call, OwnerCall, explain};

fn add(item: u64, made_owner: bool) -> Call {
    Call::Enqueue { item, made_owner }
}

/// One call after the other.
fn in_a_row(calls: &[Call]) -> Vec<OwnerCall> {
    let numbered = calls.iter().zip(0u64..);
    numbered
        .map(|(&call, at)| OwnerCall { thread: 0, start: 2 * at, end: 2 * at + 1, call })
        .collect()
}

#[test]
fn each_rule_is_one() {
    let right: [&[Call]; 4] = [
        &[add(1, true), add(2, false), Call::Next(Some(1)), Call::Next(Some(2)), Call::Next(None)],
        &[add(1, true), Call::Leave, Call::TryOwn(true), Call::Next(Some(1)), Call::Next(None)],
        &[add(1, true), Call::Leave, add(2, true), Call::Next(Some(1)), Call::TryOwn(false)],
        &[Call::TryOwn(false), add(1, true), Call::Next(Some(1)), Call::Leave, Call::TryOwn(false)],
    ];
    for calls in right {
        let order = explain(&in_a_row(calls));
        assert_eq!(order, Some((0..calls.len()).collect()), "{calls:?}");
    }
    let wrong: [&[Call]; 9] = [
        &[add(1, false)],
        &[add(1, true), add(2, true)],
        &[add(1, true), add(2, false), Call::Next(Some(2))],
        &[add(1, true), Call::Next(None)],
        &[add(1, true), Call::Leave, Call::Next(Some(1))],
        &[add(1, true), Call::Leave, Call::TryOwn(false)],
        &[add(1, true), Call::TryOwn(true)],
        &[Call::Leave],
        &[add(1, true), Call::Next(Some(1)), Call::Leave, Call::TryOwn(true)],
    ];
    for calls in wrong {
        assert_eq!(explain(&in_a_row(calls)), None, "{calls:?}");
    }
}

#[test]
fn calls_at_the_same_time_may_be_in_either_order() {
    let at = |thread, start, end, call| OwnerCall { thread, start, end, call };
    let mut calls = vec![
        at(0, 0, 5, add(1, false)),
        at(1, 0, 5, add(2, true)),
        at(1, 6, 7, Call::Next(Some(2))),
        at(1, 8, 9, Call::Next(Some(1))),
    ];
    assert_eq!(explain(&calls).unwrap()[..2], [1, 0]);
    calls[1].start = 6;
    calls[1].end = 6;
    assert_eq!(explain(&calls), None, "an item that nobody owns");
}
