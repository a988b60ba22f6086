//! The third judge: tries every order of a very small history, and shares no code with the others.

use cantina_check::{Action, History, Item, Operation, Order, Spec};

/// Whether some order explains every answer.
pub(crate) fn linearizable(history: &History, spec: &Spec) -> bool {
    explore(history.operations(), &[], spec)
}

/// `inside` is from the oldest to the youngest.
fn explore(left: &[Operation], inside: &[Item], spec: &Spec) -> bool {
    left.iter().all(|operation| operation.end.is_none())
        || left.iter().enumerate().any(|(index, operation)| {
            let may_be_first =
                |other: &Operation| other.end.is_none_or(|end| end >= operation.start);
            let outcomes = match &operation.action {
                Action::PutAtOnce { items, .. } if operation.end.is_none() => {
                    pending_put(items, inside, spec)
                }
                action => outcomes(action, inside, spec),
            };
            left.iter().all(may_be_first)
                && outcomes.into_iter().any(|(inside, again)| {
                    let again = again.map(|action| Operation { action, ..operation.clone() });
                    let rest = [&left[..index], &left[index + 1..], again.as_slice()].concat();
                    explore(&rest, &inside, spec)
                })
        })
}

/// What may be inside after `action`, and what is left of it.
fn outcomes(action: &Action, inside: &[Item], spec: &Spec) -> Vec<(Vec<Item>, Option<Action>)> {
    match action {
        Action::Put(item) => put(&[*item], None, inside, spec),
        Action::Full(item) => put(&[], Some(*item), inside, spec),
        Action::PutAtOnce { items, full } => put(items, *full, inside, spec),
        Action::Get(item) => get(&[*item], inside, spec),
        Action::GetAtOnce(items) => get(items, inside, spec),
        Action::Empty if inside.is_empty() => vec![(Vec::new(), None)],
        Action::Empty => Vec::new(),
        Action::Getting { max: 0 } | Action::GettingAtOnce { max: 0 } => Vec::new(),
        Action::Getting { max } => {
            let again = (*max > 1).then_some(Action::Getting { max: max - 1 });
            let any = inside.iter().flat_map(|&item| get(&[item], inside, spec));
            any.map(|(inside, _)| (inside, again.clone())).collect()
        }
        Action::GettingAtOnce { max } => {
            let any = inside.iter().flat_map(|&item| get(&[item], inside, spec));
            let fewer = Action::GettingAtOnce { max: max - 1 };
            any.flat_map(|(inside, _)| {
                let more = outcomes(&fewer, &inside, spec);
                more.into_iter().chain([(inside, None)])
            })
            .collect()
        }
    }
}

/// All of them, or the first ones, and the next one would have been given back.
fn pending_put(items: &[Item], inside: &[Item], spec: &Spec) -> Vec<(Vec<Item>, Option<Action>)> {
    let first = (0..items.len()).flat_map(|at| put(&items[..at], Some(items[at]), inside, spec));
    first.chain(put(items, None, inside, spec)).collect()
}

fn put(
    items: &[Item],
    full: Option<Item>,
    inside: &[Item],
    spec: &Spec,
) -> Vec<(Vec<Item>, Option<Action>)> {
    let after = [inside, items].concat();
    let fits = spec.bound().is_none_or(|bound| after.len() <= bound.capacity);
    let is_full = spec.bound().is_some_and(|b| after.len() + b.full_slack >= b.capacity);
    if fits && (full.is_none() || is_full) { vec![(after, None)] } else { Vec::new() }
}

fn get(items: &[Item], inside: &[Item], spec: &Spec) -> Vec<(Vec<Item>, Option<Action>)> {
    let mut after = inside.to_vec();
    for item in items {
        let Some(place) = after.iter().position(|other| other == item) else { return Vec::new() };
        let right = match spec.order() {
            Order::Bag => true,
            Order::Queue => place == 0,
            Order::Stack => place == after.len() - 1,
        };
        if !right {
            return Vec::new();
        }
        after.remove(place);
    }
    vec![(after, None)]
}
