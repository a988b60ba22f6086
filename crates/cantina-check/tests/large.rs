//! Long histories, as a stress test records them: judged, and not only begun.

mod generate;
mod simulate;

use cantina_check::{BUDGET, Operation, Spec, Verdict, check};
use generate::{Random, Shape, linearizable, mutated};
use simulate::{Crowd, history};

const CROWD: Crowd = Crowd {
    spec: Spec::bag(),
    threads: 8,
    operations: 20_000,
    puts_of_ten: 5,
    at_once: 1,
    dying: 0,
};

fn assert_linearizable(crowd: &Crowd, seeds: u64) {
    for seed in 1..=seeds {
        let verdict = check(&history(crowd, seed), &crowd.spec, BUDGET);
        assert_eq!(verdict, Verdict::Linearizable, "{crowd:?}, seed {seed}");
    }
}

#[test]
fn long_histories_of_bags_queues_and_stacks_are_judged() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack()] {
        for puts_of_ten in [4, 5, 7] {
            assert_linearizable(&Crowd { spec, puts_of_ten, ..CROWD }, 2);
        }
    }
}

#[test]
fn long_histories_with_dead_threads_are_judged() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack()] {
        assert_linearizable(&Crowd { spec, dying: 3, ..CROWD }, 2);
    }
}

#[test]
fn long_histories_with_bounds_are_judged() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack()] {
        for capacity in [1, 4, 64] {
            let spec = spec.bounded(capacity, 0);
            assert_linearizable(&Crowd { spec, operations: 5_000, ..CROWD }, 3);
            assert_linearizable(&Crowd { spec, operations: 5_000, threads: 4, ..CROWD }, 3);
        }
    }
}

#[test]
fn long_histories_of_queues_that_are_mostly_full_are_judged() {
    let spec = Spec::queue().bounded(64, 0);
    assert_linearizable(&Crowd { spec, puts_of_ten: 6, operations: 2_000, ..CROWD }, 10);
}

#[test]
fn long_histories_with_atomic_batches_are_judged() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack()] {
        let crowd = Crowd { spec, operations: 5_000, threads: 4, at_once: 3, ..CROWD };
        assert_linearizable(&crowd, 3);
        let spec = spec.bounded(16, 0);
        assert_linearizable(&Crowd { spec, ..crowd }, 3);
    }
}

#[test]
fn long_histories_with_much_overlap_are_judged() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack()] {
        let shape =
            Shape { spec, operations: 3_000, threads: 8, reach: 30, pending: 0, at_once: 0 };
        let history = linearizable(&shape, &mut Random::new(7));
        assert!(check(&history, &spec, BUDGET).is_linearizable(), "{spec}");
    }
}

#[test]
fn what_is_wrong_with_a_long_history_is_shown_in_a_few_lines() {
    for spec in [Spec::bag(), Spec::queue(), Spec::stack(), Spec::queue().bounded(8, 0)] {
        let mut random = Random::new(5);
        let long = history(&Crowd { spec, ..CROWD }, 3);
        let mut violations = 0;
        for _ in 0..20 {
            let Some(mutant) = mutated(&long, &mut random) else { continue };
            if let Verdict::Violation(violation) = check(&mutant, &spec, BUDGET) {
                let witness = violation.witness.operations();
                let part_of = |part: &Operation| mutant.operations().contains(part);
                assert!(witness.iter().all(part_of), "{violation}");
                assert!(witness.len() <= 40, "{} lines:\n{violation}", witness.len());
                violations += 1;
            }
        }
        assert!(violations > 5, "{spec}: {violations} violations");
    }
}
