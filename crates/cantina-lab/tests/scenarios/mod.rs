//! Small programs of the contenders that must come out right on every schedule. Each flavour runs
//! them its own way.

mod bags;
mod central;
mod ed_pool;
mod stealing;

use cantina::pool::{Consumer, Producer};
use cantina_effort::scenario::Part;

/// All of them.
pub(crate) const PARTS: &[Part] = &[
    Part::new("central", &central::ALL),
    Part::new("stealing", &stealing::ALL),
    Part::new("bags", &bags::ALL),
    Part::new("ed_pool", &ed_pool::ALL),
];

/// Something that is whole or not.
type Task = Box<u64>;

fn put(producer: &mut impl Producer<Task>, task: u64) {
    assert!(producer.try_put(Box::new(task)).is_ok(), "there is always room");
}

fn get(consumer: &mut impl Consumer<Task>) -> Option<u64> {
    consumer.get().map(|task| *task)
}

/// The same from a pool that has a task all the time.
fn get_one(consumer: &mut impl Consumer<Task>) -> Option<u64> {
    let got = get(consumer);
    assert!(got.is_some(), "it was never empty");
    got
}

/// Asserts that these, with those that are left, are the tasks up to `last`, each once.
fn each_once(
    got: impl IntoIterator<Item = Option<u64>>,
    left: &mut impl Consumer<Task>,
    last: u64,
) {
    let mut got: Vec<u64> = got.into_iter().flatten().collect();
    got.extend(std::iter::from_fn(|| get(left)));
    got.sort_unstable();
    assert!(got.iter().copied().eq(1..=last), "{got:?}");
}
