//! Max arrays, raised and scanned by several; each history is judged.

use cantina::todo_tree::max_array::{BoundedMaxArray, MaxArray};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::SeqCst;
use machine::{Arc, thread};

/// Of two threads, with as few steps as there can be.
#[allow(dead_code, reason = "they are for loom")]
pub(crate) const SMALL: [Scenario; 4] = [
    ("each raises one number and scans a small one", || is_linearizable(bounded_by_two, &CROSSED)),
    ("scans look at a small one from both sides", || is_linearizable(bounded_by_two, &LOOKED_AT)),
    ("each raises one number and scans within an epoch", || {
        is_linearizable(epochs_of_two, &CROSSED)
    }),
    ("a raise meets the end of a small epoch", || is_linearizable(epochs_of_two, &TOO_LATE)),
];

/// All of them.
pub(crate) const ALL: [Scenario; 6] = [
    ("raises of both meet scans of a bounded one", || is_linearizable(bounded, &MIXED)),
    ("scans meet in a bounded one", || is_linearizable(bounded, &TWO_SCANNERS)),
    ("scans of a bounded one do not contradict each other", || is_linearizable(bounded, &LADDER)),
    ("raises of both meet scans of an unbounded one", || is_linearizable(unbounded, &MIXED)),
    ("a raise meets the end of an epoch", || is_linearizable(unbounded, &END_OF_AN_EPOCH)),
    ("a scan meets the end of an epoch", || is_linearizable(unbounded, &LATE_RAISE)),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    First(u64),
    Second(u64),
    Scan,
}

use Op::{First, Scan, Second};

type Program = [&'static [Op]];

const MIXED: [&[Op]; 3] =
    [&[First(1), Second(2), Scan], &[Second(1), First(3), Scan], &[Scan, First(2), Scan]];
const TWO_SCANNERS: [&[Op]; 3] =
    [&[First(2), Second(1), First(3)], &[Scan, Second(2), Scan], &[Scan, Scan]];
const LADDER: [&[Op]; 3] =
    [&[First(1), First(2), First(3)], &[Second(1), Scan, Second(3)], &[Scan, Scan, Scan]];
/// An epoch of the unbounded one ends when a number is 4 above where it began.
const END_OF_AN_EPOCH: [&[Op]; 3] =
    [&[First(1), First(6), Scan], &[First(3), Scan], &[Second(2), Scan]];
const LATE_RAISE: [&[Op]; 3] = [&[Second(9)], &[First(3)], &[Scan, Scan, Scan]];
const CROSSED: [&[Op]; 2] = [&[First(1), Scan], &[Second(1), Scan]];
const LOOKED_AT: [&[Op]; 2] = [&[First(1), Second(1)], &[Scan, Scan]];
const TOO_LATE: [&[Op]; 2] = [&[Second(1)], &[First(2)]];

/// What both offer.
trait Pair: Send + Sync + 'static {
    fn call(&self, op: Op) -> Option<(u64, u64)>;
}

fn bounded() -> BoundedMaxArray {
    BoundedMaxArray::new(4, 4)
}

fn unbounded() -> MaxArray {
    MaxArray::new(4)
}

fn bounded_by_two() -> BoundedMaxArray {
    BoundedMaxArray::new(2, 2)
}

fn epochs_of_two() -> MaxArray {
    MaxArray::new(2)
}

impl Pair for BoundedMaxArray {
    fn call(&self, op: Op) -> Option<(u64, u64)> {
        match op {
            First(value) => self.raise_first(value),
            Second(value) => self.raise_second(value),
            Scan => return Some(self.scan()),
        }
        None
    }
}

impl Pair for MaxArray {
    fn call(&self, op: Op) -> Option<(u64, u64)> {
        match op {
            First(value) => self.raise_first(value),
            Second(value) => self.raise_second(value),
            Scan => return Some(self.scan()),
        }
        None
    }
}

/// A call, what it returned, and when it began and had ended.
#[derive(Clone, Copy, Debug)]
struct Call {
    op: Op,
    scanned: Option<(u64, u64)>,
    began: u64,
    ended: u64,
}

fn is_linearizable<P: Pair>(pair: fn() -> P, program: &'static Program) {
    let shared = Arc::new((pair(), AtomicU64::new(0)));
    let run = |ops: &'static [Op]| {
        let shared = shared.clone();
        move || {
            let (pair, clock) = &*shared;
            let call = |&op| {
                let began = clock.fetch_add(1, SeqCst);
                let scanned = pair.call(op);
                Call { op, scanned, began, ended: clock.fetch_add(1, SeqCst) }
            };
            ops.iter().map(call).collect::<Vec<_>>()
        }
    };
    let others: Vec<_> = program[1..].iter().map(|ops| thread::spawn(run(ops))).collect();
    let mut calls = run(program[0])();
    others.into_iter().for_each(|other| calls.extend(other.join().unwrap()));
    calls.extend(run(&[Scan])());
    let all = (1 << calls.len()) - 1;
    assert!(explains(&calls, 0, (0, 0), all), "in no order: {calls:?}");
}

/// Whether the calls that are not `done` can be put behind those that are: none before one that had ended when it began,
/// and each scan where both numbers are what it says.
fn explains(calls: &[Call], done: u32, now: (u64, u64), all: u32) -> bool {
    let left = || (0..calls.len()).filter(|number| done & 1 << number == 0);
    let Some(first_end) = left().map(|number| calls[number].ended).min() else {
        return done == all;
    };
    left().filter(|&number| calls[number].began < first_end).any(|number| {
        let then = match calls[number].op {
            First(value) => (now.0.max(value), now.1),
            Second(value) => (now.0, now.1.max(value)),
            Scan => now,
        };
        let fits = calls[number].scanned.is_none_or(|scanned| scanned == now);
        fits && explains(calls, done | 1 << number, then, all)
    })
}

#[test]
fn the_judge_knows_right_from_wrong() {
    let call = |op, scanned, began, ended| Call { op, scanned, began, ended };
    let judge = |calls: &[Call]| explains(calls, 0, (0, 0), (1 << calls.len()) - 1);
    let raise = call(First(2), None, 0, 5);
    assert!(judge(&[raise, call(Scan, Some((2, 0)), 1, 2), call(Scan, Some((2, 0)), 3, 4)]));
    assert!(!judge(&[raise, call(Scan, Some((2, 0)), 1, 2), call(Scan, Some((0, 0)), 3, 4)]));
    assert!(!judge(&[raise, call(Scan, Some((0, 0)), 6, 7)]));
    assert!(!judge(&[raise, call(Scan, Some((1, 0)), 1, 2)]));
    let other = call(Second(1), None, 0, 5);
    let apart = [(2, 0), (0, 1)].map(|both| call(Scan, Some(both), 0, 5));
    assert!(!judge(&[raise, other, apart[0], apart[1]]), "they contradict each other");
}
