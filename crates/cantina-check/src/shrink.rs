//! Makes a violation small: takes away what is not needed to see it.
//!
//! # What may be taken away
//! Only what cannot turn something right into something wrong: if the whole is linearizable, so is
//! what is left. Then a part that is a violation proves that the whole is one. From an order that
//! explains the whole, these can be left out:
//!
//! * an "empty" or a "full": it changes nothing;
//! * a task with all that was done to it: the others stay in their order, and there is only more
//!   room. But a "full" needs the tasks that were inside; so not while there is a "full" in whose
//!   interval the task may be inside. With a bound a pending atomic batch of puts may have been
//!   full, at any time;
//! * pending gets beyond the number of tasks that nobody got. They take one each, and if a later
//!   one does and an earlier one does not, the earlier one could have done it; so the last ones go.
//!   With atomic ones among them they go only when there is no such task at all;
//! * pending gets that started after everything else had ended;
//! * the promise that a batch is atomic, when one task is left of it;
//! * more gets of a task than show that it was got twice, or never put: it is wrong already.
//!
//! Never a put without its get: that would make a violation of its own.
//!
//! # How
//! Starting from the part that the judge points at, stretches of tasks and answers are taken away,
//! long ones first, as long as the judge finds a violation in what is left; in the end none can go
//! alone.

use crate::history::{Action, History, Item, NEVER, Operation};
use crate::judge::{Ruling, judge};
use crate::lives::Finding;
use crate::spec::Spec;
use crate::verdict::{Reason, Violation};
use std::collections::{HashMap, HashSet};

/// The smallest part of `history` that shows what was found, within `budget` steps of search.
pub(crate) fn shrink(history: &History, spec: &Spec, finding: Finding, budget: u64) -> Violation {
    let mut part = pointed_at(history, &finding);
    let mut reason = finding.reason;
    if !shows_itself(&reason) {
        let mut budget = budget;
        let mut judged = |part: &History| match judge(part, spec, &mut budget) {
            Ruling::Violation(finding) => Some(finding.reason),
            Ruling::Linearizable | Ruling::Unknown { .. } => None,
        };
        let mut length = units(&part).len().div_ceil(2).max(1);
        loop {
            let before = units(&part).len();
            let mut from = 0;
            loop {
                let units = units(&part);
                let Some(stretch) = units.get(from..units.len().min(from + length)) else { break };
                if stretch.is_empty() {
                    break;
                }
                let less = without(&part, stretch, spec);
                let is_less = self::units(&less).len() < units.len();
                match if is_less { judged(&less) } else { None } {
                    Some(other) => (part, reason) = (less, other),
                    None => from += length,
                }
            }
            if length == 1 && units(&part).len() == before {
                break;
            }
            length = length.div_ceil(2);
        }
    }
    Violation { reason, witness: part, spec: *spec }
}

/// Whether the judge points at no more than it takes to see it.
fn shows_itself(reason: &Reason) -> bool {
    use Reason::{FullWithoutBound, GivenBack, GotBeforePut, GotTwice, NeverPut};
    matches!(reason, NeverPut(_) | GivenBack(_) | GotTwice(_) | GotBeforePut(_) | FullWithoutBound)
}

/// What can be taken away: a task with all that was done to it, or an answer by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unit {
    Task(Item),
    Look(usize),
}

/// When a task may have been inside, and what is known of its gets.
struct Stay {
    from: u64,
    until: u64,
    put: bool,
    gets: usize,
}

/// What can be taken away from `history`, in the order of time.
fn units(history: &History) -> Vec<Unit> {
    let mut seen = HashSet::new();
    let mut units = Vec::new();
    for (index, Operation { action, .. }) in history.operations().iter().enumerate() {
        let items = action.items_put().iter().chain(action.items_got());
        units.extend(items.filter(|&&item| seen.insert(item)).map(|&item| Unit::Task(item)));
        if *action == Action::Empty || action.item_given_back().is_some() {
            units.push(Unit::Look(index));
        }
    }
    units
}

/// The part that the judge points at.
fn pointed_at(history: &History, finding: &Finding) -> History {
    let stays = stays(history);
    let has_takes = history.operations().iter().any(|operation| operation.action.has_no_answer());
    let mut items: HashSet<Item> = finding.items.iter().copied().collect();
    if finding.takes && has_takes {
        items.extend(stays.iter().filter(|(_, stay)| stay.gets == 0).map(|(&item, _)| item));
    }
    let looks: HashSet<usize> = finding.looks.iter().copied().collect();
    keep(history, &stays, |item| items.contains(&item), |look| looks.contains(&look))
}

/// `history` without `units`, as far as they may go.
fn without(history: &History, units: &[Unit], spec: &Spec) -> History {
    let units: HashSet<Unit> = units.iter().copied().collect();
    let stays = stays(history);
    let look_stays = |look| !units.contains(&Unit::Look(look));
    let may_be_full = |it: &Operation| {
        let is_batch = matches!(it.action, Action::PutAtOnce { .. });
        spec.bound().is_some() && it.end.is_none() && is_batch
    };
    let says_full =
        |look: usize, it: &Operation| it.action.item_given_back().is_some() && look_stays(look);
    let fulls: Vec<&Operation> = history
        .operations()
        .iter()
        .enumerate()
        .filter(|(look, it)| may_be_full(it) || says_full(*look, it))
        .map(|(_, operation)| operation)
        .collect();
    let counts_for_a_full = |item| {
        let stay: &Stay = &stays[&item];
        fulls.iter().any(|full| stay.from <= full.end.unwrap_or(NEVER) && full.start <= stay.until)
    };
    let task_stays = |item| !units.contains(&Unit::Task(item)) || counts_for_a_full(item);
    keep(history, &stays, task_stays, look_stays)
}

fn stays(history: &History) -> HashMap<Item, Stay> {
    let mut stays: HashMap<Item, Stay> = HashMap::new();
    for operation in history.operations() {
        let unknown = || Stay { from: NEVER, until: 0, put: false, gets: 0 };
        for &item in operation.action.items_put() {
            let stay = stays.entry(item).or_insert_with(unknown);
            (stay.put, stay.from) = (true, operation.start);
        }
        for &item in operation.action.items_got() {
            let stay = stays.entry(item).or_insert_with(unknown);
            stay.gets += 1;
            stay.until = stay.until.max(operation.end.unwrap_or(NEVER));
        }
    }
    stays.values_mut().filter(|stay| stay.gets == 0).for_each(|stay| stay.until = NEVER);
    stays
}

/// The part of `history` with these tasks and these answers.
fn keep(
    history: &History,
    stays: &HashMap<Item, Stay>,
    task_stays: impl Fn(Item) -> bool,
    look_stays: impl Fn(usize) -> bool,
) -> History {
    let untaken = stays.iter().filter(|(item, stay)| stay.gets == 0 && task_stays(**item)).count();
    let mut takes = Takes::new(history, untaken);
    let mut gets: HashMap<Item, usize> = HashMap::new();
    let mut get_stays = |item: Item| {
        let gets = gets.entry(item).or_default();
        *gets += 1;
        task_stays(item) && *gets <= 1 + usize::from(stays[&item].put)
    };
    let mut operations = Vec::new();
    for (index, operation) in history.operations().iter().enumerate() {
        let action = match &operation.action {
            Action::Put(item) => task_stays(*item).then_some(Action::Put(*item)),
            Action::Get(item) => get_stays(*item).then_some(Action::Get(*item)),
            Action::Full(item) => look_stays(index).then_some(Action::Full(*item)),
            Action::Empty => look_stays(index).then_some(Action::Empty),
            Action::PutAtOnce { items, full } => {
                let items = items.iter().copied().filter(|&item| task_stays(item)).collect();
                put_at_once(items, full.filter(|_| look_stays(index)))
            }
            Action::GetAtOnce(items) => {
                let items: Box<[Item]> =
                    items.iter().copied().filter(|&item| get_stays(item)).collect();
                match *items {
                    [] => None,
                    [item] => Some(Action::Get(item)),
                    _ => Some(Action::GetAtOnce(items)),
                }
            }
            Action::Getting { max } => match takes.deal(*max) {
                0 => None,
                max => Some(Action::Getting { max }),
            },
            Action::GettingAtOnce { max } => match takes.deal(*max) {
                0 => None,
                1 => Some(Action::Getting { max: 1 }),
                max => Some(Action::GettingAtOnce { max }),
            },
        };
        operations.extend(action.map(|action| Operation { action, ..*operation }));
    }
    let last_end = operations.iter().filter_map(|it| it.end).max();
    operations.retain(|it| !it.action.has_no_answer() || Some(it.start) <= last_end);
    History::part(operations)
}

fn put_at_once(items: Box<[Item]>, full: Option<Item>) -> Option<Action> {
    match (&*items, full) {
        ([], None) => None,
        ([], Some(full)) => Some(Action::Full(full)),
        (&[item], None) => Some(Action::Put(item)),
        _ => Some(Action::PutAtOnce { items, full }),
    }
}

/// How many tasks the pending gets can have taken.
struct Takes {
    left: usize,
    /// Atomic ones are not dealt out one after the other.
    at_once: bool,
}

impl Takes {
    fn new(history: &History, untaken: usize) -> Self {
        let at_once = |it: &Operation| matches!(it.action, Action::GettingAtOnce { max } if max.min(untaken) > 1);
        Self { left: untaken, at_once: history.operations().iter().any(at_once) }
    }

    /// What is left for a pending get of up to `max`.
    fn deal(&mut self, max: usize) -> usize {
        let max = max.min(self.left);
        if !self.at_once {
            self.left -= max;
        }
        max
    }
}

#[cfg(test)]
mod tests {
    use super::{Unit, units, without};
    use crate::generate::{Random, Shape, linearizable, mutated};
    use crate::history::History;
    use crate::search::{Found, search};
    use crate::spec::Spec;

    fn is_linearizable(history: &History, spec: &Spec) -> bool {
        search(history, spec, 1_000_000).0 == Found::Order
    }

    #[test]
    fn taking_something_away_makes_nothing_wrong() {
        let orders = [Spec::bag(), Spec::queue(), Spec::stack()];
        let bounded = orders.map(|spec| spec.bounded(2, 0));
        let slack = orders.map(|spec| spec.bounded(3, 1));
        let mut fewer = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed + 1);
            for spec in orders.into_iter().chain(bounded).chain(slack) {
                let shape = Shape {
                    spec,
                    operations: 4 + random.below(8),
                    threads: 3,
                    reach: random.below(5),
                    pending: 5,
                    at_once: 4,
                };
                let right = linearizable(&shape, &mut random);
                let mutant = mutated(&right, &mut random);
                for history in mutant.iter().chain([&right]) {
                    if !is_linearizable(history, &spec) {
                        continue;
                    }
                    for unit in units(history) {
                        let less = without(history, &[unit], &spec);
                        assert!(
                            is_linearizable(&less, &spec),
                            "{spec} without {unit:?}:\n{history}\n{less}"
                        );
                        fewer += usize::from(units(&less).len() < units(history).len());
                    }
                }
            }
        }
        assert!(fewer > 5_000, "only {fewer} had less");
    }

    #[test]
    fn a_task_that_may_have_made_it_full_is_not_taken_away() {
        let history: History = "t0 1..2 put 1\nt1 3..4 put 2 full\nt0 5..6 get 1".parse().unwrap();
        let spec = Spec::bag().bounded(1, 0);
        assert_eq!(without(&history, &[Unit::Task(1)], &spec), history);
        let both = without(&history, &[Unit::Task(1), Unit::Look(1)], &spec);
        assert_eq!(both, History::default());
    }

    #[test]
    fn pending_gets_go_when_there_is_nothing_left_for_them() {
        let text =
            "t0 1..2 put 1\nt0 3..4 put 2\nt1 5.. get\nt2 6.. get up to 3\nt0 7..8 get empty";
        let history: History = text.parse().unwrap();
        let less = without(&history, &[Unit::Task(1)], &Spec::bag());
        assert_eq!(less.to_string(), "t0 3..4 put 2\nt1 5.. get\nt0 7..8 get empty\n");
        let less = without(&history, &[Unit::Look(4)], &Spec::bag());
        assert_eq!(less.to_string(), "t0 1..2 put 1\nt0 3..4 put 2\n");
    }
}
