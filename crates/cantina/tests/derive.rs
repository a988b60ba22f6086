//! Arguments of one's own, derived.

use cantina::scheduler::{Argument, Eventual, Runtime, Value, WaitError};
use std::collections::BTreeMap;

#[derive(Argument)]
#[argument(derive(Debug, PartialEq))]
struct Order {
    price: Eventual<u32>,
    counts: Vec<Eventual<u32>>,
    #[argument(plain)]
    customer: &'static str,
}

#[derive(Argument)]
struct Pair(Eventual<u8>, Option<Eventual<u8>>);

#[derive(Argument)]
#[argument(out = Done, derive(Debug, PartialEq))]
struct Nothing;

/// Inside others, and with types that are known later.
#[derive(Argument, Debug)]
#[argument(crate = ::cantina)]
pub struct Both<A, B: Argument, const N: usize, P = u8>
where
    A: Argument,
    P: Clone,
{
    /// The first.
    pub first: A,
    second: BTreeMap<u8, [B; N]>,
    #[argument(plain)]
    plain: P,
}

#[derive(Argument)]
#[argument(derive(Debug, PartialEq))]
enum Reply<T: Send + 'static> {
    /// There is something.
    Some {
        value: Eventual<T>,
        #[argument(plain)]
        from: u8,
    },
    Two(Eventual<T>, Value<T>),
    None,
}

#[test]
fn an_operation_gets_all_fields_when_they_are_there() {
    let runtime = Runtime::new();
    let (promise, price) = runtime.promise();
    let counts = vec![runtime.spawn(|| 1), runtime.spawn(|| 3)];
    let order = Order { price, counts, customer: "Ada" };
    let order = runtime.after(order, |order| order);
    promise.keep(5);
    let wanted = OrderOut { price: 5, counts: vec![1, 3], customer: "Ada" };
    assert_eq!(order.wait(), Ok(wanted));
}

#[test]
fn structs_without_names_or_fields_are_arguments() {
    let runtime = Runtime::new();
    let pair = Pair(runtime.spawn(|| 2), Some(runtime.spawn(|| 3)));
    let product = runtime.after(pair, |PairOut(one, two)| one * two.unwrap_or(0));
    assert_eq!(product.wait(), Ok(6));
    assert_eq!(runtime.after(Nothing, |done| done).wait(), Ok(Done));
}

#[test]
fn generic_structs_are_arguments_in_each_other() {
    let runtime = Runtime::new();
    let first = Pair(runtime.spawn(|| 2), None);
    let second = BTreeMap::from([(7, [runtime.spawn(|| 'a'), runtime.spawn(|| 'b')])]);
    let both = Both { first, second, plain: String::from("plain") };
    let both = runtime.after(both, |both: BothOut<_, _, 2, String>| {
        let PairOut(first, none) = both.first;
        (first, none, both.second[&7], both.plain)
    });
    assert_eq!(both.wait(), Ok((2, None, ['a', 'b'], "plain".into())));
}

#[test]
fn enums_are_arguments() {
    let runtime = Runtime::new();
    let replies = vec![
        Reply::Some { value: runtime.spawn(|| 4), from: 1 },
        Reply::Two(runtime.spawn(|| 5), Value(6)),
        Reply::None,
    ];
    let replies = runtime.after(replies, |replies| replies);
    let wanted = vec![ReplyOut::Some { value: 4, from: 1 }, ReplyOut::Two(5, 6), ReplyOut::None];
    assert_eq!(replies.wait(), Ok(wanted));
}

#[test]
fn the_first_error_is_the_operation_s() {
    let runtime = Runtime::new();
    let (promise, price) = runtime.promise();
    drop(promise);
    let order = Order { price, counts: vec![], customer: "Ada" };
    assert_eq!(runtime.after(order, |_| ()).wait(), Err(WaitError::Broken));
}
