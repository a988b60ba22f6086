//! Random graphs of operations: values that wait for earlier ones, nested values, units that send to units. Each comes
//! to its end, with the values that a sequential program would have found.

use cantina::scheduler::{Eventual, Handle, Runtime, Unit};
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::random::Random;
use machine::time::Duration;

const UNITS: usize = 4;
/// How far back most arguments are: so that some operations wait long, and many a little.
const NEAR: usize = 16;

/// A state that finds out whether it is used by two, and how often it was used.
struct Checked {
    inside: Arc<AtomicUsize>,
    used: usize,
}

impl Checked {
    fn enter(&mut self, value: u64) -> u64 {
        assert_eq!(self.inside.fetch_add(1, Relaxed), 0, "two at a time");
        self.used += 1;
        assert_eq!(self.inside.fetch_sub(1, Relaxed), 1, "two at a time");
        mix(value)
    }
}

struct Graph {
    handle: Handle,
    random: Random,
    units: Vec<Unit<Checked>>,
    /// How often units are used, in all.
    uses: usize,
    /// Each value with what it should be.
    values: Vec<(Eventual<u64>, u64)>,
    /// Operations so far, with those inside others.
    operations: usize,
}

/// Some other number.
fn mix(value: u64) -> u64 {
    Random::seeded(value).next_u64()
}

fn both(one: u64, two: u64) -> u64 {
    mix(one ^ two.rotate_left(7))
}

/// Operations that begin operations and wait for them, `depth` levels of them.
fn nest(handle: &Handle, depth: usize, value: u64) -> Eventual<u64> {
    let inner = handle.clone();
    match depth {
        0 => handle.spawn(move || mix(value)),
        _ => {
            let begin = move || {
                let parts = [value, value + 1].map(|value| nest(&inner, depth - 1, value));
                inner.after(parts, |[one, two]| both(one, two))
            };
            handle.spawn(begin).flatten()
        }
    }
}

/// What that comes to, and of how many operations.
fn nested(depth: usize, value: u64) -> (u64, usize) {
    match depth {
        0 => (mix(value), 1),
        _ => {
            let [(one, some), (two, more)] =
                [value, value + 1].map(|value| nested(depth - 1, value));
            (both(one, two), some + more + 2)
        }
    }
}

impl Graph {
    fn earlier(&mut self) -> (Eventual<u64>, u64) {
        let there = self.values.len();
        let back = if self.random.one_in(4) { there } else { there.min(NEAR) };
        let (value, known) = &self.values[there - 1 - self.random.below(back)];
        (value.clone(), *known)
    }

    fn unit(&mut self) -> Unit<Checked> {
        self.uses += 1;
        self.units[self.random.below(UNITS)].clone()
    }

    /// One more value, and of how many operations it is.
    fn grow(&mut self) {
        let handle = self.handle.clone();
        let ((one, known), (two, other)) = (self.earlier(), self.earlier());
        let (value, should_be, operations) = match self.random.below(7) {
            0 => {
                let (three, third) = self.earlier();
                let add = |(one, more): (u64, Vec<u64>)| both(one, both(more[0], more[1]));
                let value = handle.after((one, vec![two, three]), add);
                (value, both(known, both(other, third)), 1)
            }
            1 => {
                let use_it = |state: &mut Checked, (one, two): (u64, Option<u64>)| {
                    state.enter(both(one, two.unwrap_or(0)))
                };
                let value = self.unit().send_after((one, Some(two)), use_it);
                (value, mix(both(known, other)), 1)
            }
            2 => {
                let unit = self.unit();
                let value = one.then(move |one| unit.send(move |state| state.enter(one)));
                (value, mix(known), 2)
            }
            3 => {
                // A unit that sends to a unit, itself perhaps.
                let (unit, next) = (self.unit(), self.unit());
                let send = move |state: &mut Checked, one| {
                    let value = state.enter(one);
                    next.send(move |state| state.enter(value))
                };
                (unit.send_after(one, send).flatten(), mix(mix(known)), 2)
            }
            4 => {
                // A value in a value, which another operation gets as it is.
                let (depth, inner) = (self.random.below(3), handle.clone());
                let outer = handle.after(one, move |one| nest(&inner, depth, one % 1_000));
                let value =
                    handle.after((outer, two), |(inner, two)| inner.map(move |one| both(one, two)));
                let (inner, operations) = nested(depth, known % 1_000);
                (value.flatten(), both(inner, other), operations + 3)
            }
            5 => {
                let (promise, value) = handle.promise();
                drop(handle.after([one, two], move |[one, two]| promise.keep(both(one, two))));
                (value, both(known, other), 1)
            }
            _ => {
                let number = self.random.next_u64();
                (handle.spawn(move || mix(number)), mix(number), 1)
            }
        };
        self.values.push((value, should_be));
        self.operations += operations;
    }
}

/// A graph of so many operations, a few more at most, on so many workers.
pub(crate) fn a_graph_comes_to_its_end(operations: usize, workers: usize) {
    let runtime = Runtime::builder().workers(workers).budget(3).build().unwrap();
    let state = || Checked { inside: Arc::new(AtomicUsize::new(0)), used: 0 };
    let first = (runtime.spawn(|| 1), 1);
    let mut graph = Graph {
        handle: runtime.handle(),
        random: Random::seeded(machine::random::seed()),
        units: (0..UNITS).map(|_| runtime.unit(state())).collect(),
        uses: 0,
        values: vec![first],
        operations: 1,
    };
    while graph.operations < operations {
        graph.grow();
    }
    let Graph { units, uses, values, .. } = graph;
    for (value, should_be) in values {
        assert_eq!(value.wait(), Ok(should_be));
    }
    let used = units.iter().map(|unit| unit.send(|state| state.used)).collect::<Vec<_>>();
    let used = runtime.after(used, |used| used.into_iter().sum::<usize>());
    assert_eq!(used.wait(), Ok(uses));
    assert!(runtime.shutdown(Duration::from_secs(60)).is_nothing());
}
