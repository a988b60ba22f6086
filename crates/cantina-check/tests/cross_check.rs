//! The judges against each other on random histories, right and wrong: what is fast, what searches,
//! and, on the very small ones, what tries everything.

mod brute_force;
mod generate;

use cantina_check::search::{Found, search};
use cantina_check::{History, Spec, Verdict, check};
use generate::{Random, Shape, linearizable, mutated};

const BUDGET: u64 = 1_000_000;

fn specs() -> Vec<Spec> {
    let orders = [Spec::bag(), Spec::queue(), Spec::stack()];
    let bounds = [(1, 0), (2, 0), (2, 1), (3, 1), (100, 0)];
    let bounded = orders
        .into_iter()
        .flat_map(|spec| bounds.map(|(capacity, slack)| spec.bounded(capacity, slack)));
    orders.into_iter().chain(bounded).collect()
}

/// What all the judges agree on. `None`: the search gave up.
fn agreed(history: &History, spec: &Spec, all_orders: bool) -> Option<bool> {
    let (found, _) = search(history, spec, BUDGET);
    let searched = match found {
        Found::Order => true,
        Found::NoOrder => false,
        Found::Nothing => return None,
    };
    let verdict = check(history, spec, BUDGET);
    assert_eq!(
        verdict.is_linearizable(),
        searched,
        "{spec}, search {found:?}:\n{history}{verdict}"
    );
    if all_orders {
        let tried = brute_force::linearizable(history, spec);
        assert_eq!(searched, tried, "{spec}, search {found:?}, all orders {tried}:\n{history}");
    }
    if let Verdict::Violation(violation) = &verdict {
        let witness = &violation.witness;
        assert_eq!(search(witness, spec, BUDGET).0, Found::NoOrder, "{spec}:\n{history}{verdict}");
        assert_eq!(
            check(witness, spec, BUDGET).violation().map(|again| &again.witness),
            Some(witness),
            "the smallest part of the smallest part is itself: {spec}\n{history}"
        );
    }
    Some(searched)
}

fn cross_check(seeds: u64, shape: impl Fn(Spec, &mut Random) -> Shape, all_orders: bool) {
    let (mut right, mut wrong, mut given_up) = (0, 0, 0);
    for seed in 0..seeds {
        let mut random = Random::new(seed + 1);
        for spec in specs() {
            let shape = shape(spec, &mut random);
            let history = linearizable(&shape, &mut random);
            assert_ne!(agreed(&history, &spec, all_orders), Some(false), "{spec}:\n{history}");
            for _ in 0..3 {
                let mutant = mutated(&history, &mut random);
                match mutant.and_then(|mutant| agreed(&mutant, &spec, all_orders)) {
                    Some(true) => right += 1,
                    Some(false) => wrong += 1,
                    None => given_up += 1,
                }
            }
        }
    }
    // The mutants are worth something only if they come both ways.
    assert!(right > seeds && wrong > seeds, "{right} right, {wrong} wrong, {given_up} given up");
}

#[test]
fn all_judges_agree_on_very_small_histories() {
    let shape = |spec, random: &mut Random| Shape {
        spec,
        operations: 3 + random.below(4),
        threads: 3,
        reach: random.below(5),
        pending: 0,
        at_once: 0,
    };
    cross_check(300, shape, true);
}

#[test]
fn all_judges_agree_when_threads_die() {
    let shape = |spec, random: &mut Random| Shape {
        spec,
        operations: 3 + random.below(4),
        threads: 3,
        reach: random.below(5),
        pending: 4,
        at_once: 0,
    };
    cross_check(300, shape, true);
}

#[test]
fn all_judges_agree_on_atomic_batches() {
    let shape = |spec, random: &mut Random| Shape {
        spec,
        operations: 3 + random.below(3),
        threads: 3,
        reach: random.below(5),
        pending: 6,
        at_once: 3,
    };
    cross_check(200, shape, true);
}

#[test]
fn the_fast_judges_agree_with_the_search_on_longer_histories() {
    let shape = |spec, random: &mut Random| Shape {
        spec,
        operations: 10 + random.below(20),
        threads: 4,
        reach: random.below(6),
        pending: [0, 10][random.below(2)],
        at_once: [0, 0, 5][random.below(3)],
    };
    cross_check(60, shape, false);
}
