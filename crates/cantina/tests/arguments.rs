//! What an operation can wait for.

use cantina::scheduler::{Argument, Dependency, Eventual, Runtime, Unit, Value, WaitError};
use std::collections::{BTreeMap, HashMap};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(30);

fn runtime() -> Runtime {
    Runtime::builder().workers(2).build().unwrap()
}

/// Panics, and prints nothing.
fn fails<T>(why: &str) -> T {
    resume_unwind(Box::new(why.to_owned()))
}

#[test]
fn arguments_of_all_shapes_are_there_when_the_operation_begins() {
    let runtime = runtime();
    let one = |value: u32| runtime.spawn(move || value);
    let map: HashMap<_, _> = [(1, one(10))].into();
    let tree: BTreeMap<_, _> = [(2, one(20))].into();
    let arguments = (one(1), vec![one(2), one(3)], [one(4)], Some(one(5)), Box::new(one(6)));
    let all =
        runtime.after((arguments, map, tree, Value(7), ()), |(arguments, map, tree, seven, ())| {
            let (one, two_three, [four], five, six) = arguments;
            let listed = [
                one,
                two_three[0],
                two_three[1],
                four,
                five.unwrap(),
                *six,
                map[&1],
                tree[&2],
                seven,
            ];
            listed.to_vec()
        });
    assert_eq!(all.wait(), Ok(vec![1, 2, 3, 4, 5, 6, 10, 20, 7]));
    let none: Option<Eventual<u8>> = None;
    assert_eq!(
        runtime.after((none, Vec::<Eventual<u8>>::new()), |out| out).wait(),
        Ok((None, vec![]))
    );
}

/// Of each length, and the operation begins when the last of them is there, whichever that is.
#[test]
fn tuples_of_up_to_twelve_are_arguments() {
    let runtime = runtime();
    let mut promises = Vec::new();
    let mut one = || {
        let (promise, value) = runtime.promise();
        promises.push(promise);
        value
    };
    let alone = runtime.after((one(),), |(a,)| vec![a]);
    let two = runtime.after((one(), one()), |(a, b)| vec![a, b]);
    let three = runtime.after((one(), one(), one()), |(a, b, c)| vec![a, b, c]);
    let four = runtime.after((one(), one(), one(), one()), |(a, b, c, d)| vec![a, b, c, d]);
    let five = (one(), one(), one(), one(), one());
    let five = runtime.after(five, |(a, b, c, d, e)| vec![a, b, c, d, e]);
    let six = (one(), one(), one(), one(), one(), one());
    let six = runtime.after(six, |(a, b, c, d, e, f)| vec![a, b, c, d, e, f]);
    let seven = (one(), one(), one(), one(), one(), one(), one());
    let seven = runtime.after(seven, |(a, b, c, d, e, f, g)| vec![a, b, c, d, e, f, g]);
    let eight = (one(), one(), one(), one(), one(), one(), one(), one());
    let eight = runtime.after(eight, |(a, b, c, d, e, f, g, h)| vec![a, b, c, d, e, f, g, h]);
    let nine = (one(), one(), one(), one(), one(), one(), one(), one(), one());
    let nine = runtime.after(nine, |(a, b, c, d, e, f, g, h, i)| vec![a, b, c, d, e, f, g, h, i]);
    let ten = (one(), one(), one(), one(), one(), one(), one(), one(), one(), one());
    let ten =
        runtime.after(ten, |(a, b, c, d, e, f, g, h, i, j)| vec![a, b, c, d, e, f, g, h, i, j]);
    let eleven = (one(), one(), one(), one(), one(), one(), one(), one(), one(), one(), one());
    let eleven = runtime
        .after(eleven, |(a, b, c, d, e, f, g, h, i, j, k)| vec![a, b, c, d, e, f, g, h, i, j, k]);
    let twelve =
        (one(), one(), one(), one(), one(), one(), one(), one(), one(), one(), one(), one());
    let twelve = runtime.after(twelve, |(a, b, c, d, e, f, g, h, i, j, k, l)| {
        vec![a, b, c, d, e, f, g, h, i, j, k, l]
    });
    let all = [alone, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve];
    assert!(all.iter().all(|each| each.try_get().is_none()));
    // Each one's last argument comes last of its own, or first.
    let mut first = 0;
    let numbered: Vec<_> = promises.into_iter().enumerate().collect();
    let (even, odd): (Vec<_>, Vec<_>) =
        numbered.into_iter().partition(|(number, _)| number % 2 == 0);
    even.into_iter()
        .chain(odd.into_iter().rev())
        .for_each(|(number, promise)| promise.keep(number));
    for (length, each) in (1..).zip(all) {
        assert_eq!(each.wait(), Ok((first..first + length).collect()));
        first += length;
    }
}

/// In each other, empty ones among them, on units as well.
#[test]
fn arguments_lie_in_arguments() {
    let runtime = runtime();
    let unit = runtime.unit(0);
    let one = |value: u32| runtime.spawn(move || value);
    type Deep = BTreeMap<u8, Box<Option<Vec<[Eventual<u32>; 2]>>>>;
    let deep: Deep = [
        (1, Box::new(Some(vec![[one(1), one(2)], [one(3), one(4)]]))),
        (2, Box::new(Some(Vec::new()))),
        (3, Box::new(None)),
    ]
    .into();
    let none: ([Eventual<u32>; 0], HashMap<u8, Eventual<u32>>) = ([], HashMap::new());
    let sum = unit.send_after((deep, none, Value(5)), |state, (deep, (none, empty), five)| {
        let numbers = deep.into_values().filter_map(|each| *each).flatten().flatten();
        *state = numbers.sum::<u32>() + five + none.len() as u32 + empty.len() as u32;
        *state
    });
    assert_eq!(sum.wait(), Ok(15));
    // The first that fails fails the operation, wherever it lies.
    let fails = Some(Box::new([one(1), runtime.spawn(|| fails("in it"))]));
    assert_eq!(
        runtime.after((vec![fails], one(2)), |_| ()).wait(),
        Err(WaitError::Panicked("in it".to_owned()))
    );
}

#[test]
fn an_argument_that_hides_an_eventual_breaks_its_operation_and_no_other() {
    struct Hides(Eventual<u8>);
    impl Argument for Hides {
        type Out = u8;
        fn dependencies(&self, _: &mut dyn FnMut(&dyn Dependency)) {}
        fn resolve(self) -> Result<u8, WaitError> {
            self.0.resolve()
        }
    }
    let runtime = runtime();
    let (promise, hidden) = runtime.promise();
    assert_eq!(runtime.after(Hides(hidden), |out| out).wait(), Err(WaitError::Broken));
    promise.keep(1);
    assert_eq!(runtime.spawn(|| 2).wait(), Ok(2));
}

#[test]
fn an_argument_that_failed_does_not_poison_the_unit() {
    let runtime = runtime();
    let unit = runtime.unit(1);
    let failed = runtime.spawn(|| fails::<u8>("no"));
    assert_eq!(
        unit.send_after(failed, |_, _| ()).wait(),
        Err(WaitError::Panicked("no".to_owned()))
    );
    assert_eq!(unit.send(|state| *state).wait(), Ok(1));
}

/// It has shown one eventual, which may come later, or never. The operation fails with what the argument panicked with,
/// at once, and what it has goes; nothing else is held up.
#[test]
fn an_argument_that_panics_as_it_is_asked_fails_its_operation() {
    struct Panics(
        Eventual<u8>,
        #[expect(dead_code, reason = "it counts those that are there")] Arc<()>,
    );
    impl Argument for Panics {
        type Out = u8;
        fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
            visit(&self.0);
            fails("asked")
        }
        fn resolve(self) -> Result<u8, WaitError> {
            self.0.resolve()
        }
    }
    let operations: [fn(&Runtime, Panics) -> Eventual<u8>; 5] = [
        |runtime, argument| runtime.after(argument, |value| value),
        |runtime, argument| runtime.after_urgent((argument,), |(value,)| value),
        |runtime, argument| runtime.unit(()).send_after(argument, |(), value| value),
        |runtime, argument| {
            let handle = runtime.handle();
            runtime.spawn_tail(move || handle.tail(argument, |value| value))
        },
        |runtime, argument| {
            let there = self::runtime();
            let handle = there.handle();
            let value = runtime.spawn_tail(move || handle.tail(argument, |value| value));
            while format!("{value:?}").contains("false") {
                std::thread::yield_now();
            }
            value
        },
    ];
    for operation in operations {
        for kept in [false, true] {
            let (runtime, there) = (runtime(), Arc::new(()));
            let (promise, value) = runtime.promise();
            let other = value.clone().map(|value| value + 1);
            let failed = operation(&runtime, Panics(value, there.clone()));
            assert_eq!(failed.wait(), Err(WaitError::Panicked("asked".to_owned())));
            assert_eq!(Arc::strong_count(&there), 1, "what it has is gone");
            if kept {
                promise.keep(1);
                assert_eq!(other.wait(), Ok(2));
                assert!(runtime.shutdown(LONG).is_nothing());
            } else {
                assert_eq!(runtime.shutdown(LONG).waiting, 1, "the other one");
                assert_eq!(other.wait(), Err(WaitError::Cancelled));
                drop(promise);
            }
        }
    }
}

/// Its eventuals are there, and it panics as it makes of them what the operation gets: that does not run, and a unit's state, which it has not
/// touched, is not poisoned.
#[test]
fn an_argument_that_panics_as_it_is_resolved_fails_its_operation() {
    struct Panics(
        Eventual<u8>,
        #[expect(dead_code, reason = "it counts those that are there")] Arc<()>,
    );
    impl Argument for Panics {
        type Out = Arc<()>;
        fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
            visit(&self.0);
        }
        fn resolve(self) -> Result<Arc<()>, WaitError> {
            assert_eq!(self.0.resolve(), Ok(1));
            fails("resolved")
        }
    }
    fn never<T>(_: Arc<()>) -> T {
        unreachable!("its argument has failed")
    }
    type Send = fn(&Runtime, &Unit<u8>, Panics) -> Eventual<u8>;
    let operations: [Send; 4] = [
        |runtime, _, argument| runtime.after(argument, never),
        |runtime, _, argument| runtime.after_urgent(argument, never),
        |_, unit, argument| unit.send_after(argument, |_, argument| never(argument)),
        |runtime, _, argument| {
            let handle = runtime.handle();
            runtime.spawn_tail(move || handle.tail(argument, never))
        },
    ];
    for operation in operations {
        // There before it is sent, or comes later.
        for late in [false, true] {
            let (runtime, there) = (runtime(), Arc::new(()));
            let (unit, (promise, value)) = (runtime.unit(5), runtime.promise());
            let mut kept = Some(promise);
            if !late {
                kept.take().unwrap().keep(1);
            }
            let failed = operation(&runtime, &unit, Panics(value, there.clone()));
            kept.into_iter().for_each(|promise| promise.keep(1));
            let depends = failed.clone().map(|value| value + 1);
            let error = WaitError::Panicked("resolved".to_owned());
            assert_eq!((failed.wait(), depends.wait()), (Err(error.clone()), Err(error)));
            assert_eq!(Arc::strong_count(&there), 1, "what it has is gone");
            assert_eq!(unit.send(|state| *state).wait(), Ok(5));
            assert_eq!(runtime.metrics().unheard_panics, 0);
            assert!(runtime.shutdown(LONG).is_nothing());
        }
    }
}
