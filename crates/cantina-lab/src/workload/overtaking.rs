//! Who overtook whom, from the times of all puts and gets of a run.

use std::cmp::Reverse;

/// The way of one task: when its put began and returned, and when the get that got it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// When the put began, and when it had returned.
    pub put: (u64, u64),
    /// When the get began, and when it had returned.
    pub got: (u64, u64),
}

/// How tasks overtook each other.
///
/// A task `b` *overtakes* a task `a` if the put of `a` had returned before that of `b` began, and the get of `b`
/// had returned before that of `a` began. What overlaps, or has the same time, overtakes nobody: so concurrency
/// adds nothing, and a queue has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overtaking {
    /// How many tasks there were.
    pub tasks: u64,
    /// By how many others a task was overtaken, at most.
    pub most: u64,
    /// How often a task overtook another, in all.
    pub all: u64,
    /// How many others a task overtook, of 99 in a hundred tasks at most.
    pub p99: u64,
}

impl Overtaking {
    /// What these tasks did, each of which was got.
    pub fn of(passages: &[Passage]) -> Self {
        let most = overtakers(passages).into_iter().max().unwrap_or(0);
        // Seen from the end of time, who overtakes is overtaken.
        let back = |(began, returned): (u64, u64)| (u64::MAX - returned, u64::MAX - began);
        let mirrored: Vec<Passage> =
            passages.iter().map(|it| Passage { put: back(it.put), got: back(it.got) }).collect();
        let mut errors = overtakers(&mirrored);
        errors.sort_unstable();
        let nearly_last = (errors.len() * 99).div_ceil(100).saturating_sub(1);
        Self {
            tasks: passages.len() as u64,
            most,
            all: errors.iter().sum(),
            p99: errors.get(nearly_last).copied().unwrap_or(0),
        }
    }

    /// How many others a task overtook on average: its rank among those that waited when it was got.
    pub fn mean_rank_error(&self) -> f64 {
        if self.tasks == 0 { 0.0 } else { self.all as f64 / self.tasks as f64 }
    }
}

/// By how many others each task was overtaken.
fn overtakers(passages: &[Passage]) -> Vec<u64> {
    let mut starts: Vec<u64> = passages.iter().map(|it| it.put.0).collect();
    starts.sort_unstable();
    let mut by_begin: Vec<usize> = (0..passages.len()).collect();
    by_begin.sort_unstable_by_key(|&task| passages[task].got.0);
    // The next to have been got stands last.
    let mut by_return: Vec<usize> = (0..passages.len()).collect();
    by_return.sort_unstable_by_key(|&task| Reverse(passages[task].got.1));
    let mut got = Counts::new(passages.len());
    let mut counts = vec![0; passages.len()];
    for task in by_begin {
        let Passage { put, got: (began, _) } = passages[task];
        while let Some(&other) = by_return.last().filter(|&&other| passages[other].got.1 < began) {
            got.add(starts.partition_point(|&start| start < passages[other].put.0));
            by_return.pop();
        }
        counts[task] = got.all - got.before(starts.partition_point(|&start| start <= put.1));
    }
    counts
}

/// Counts at places, and how many there are before a place: a Fenwick tree.
struct Counts {
    sums: Vec<u64>,
    all: u64,
}

impl Counts {
    fn new(places: usize) -> Self {
        Self { sums: vec![0; places + 1], all: 0 }
    }

    fn add(&mut self, place: usize) {
        self.all += 1;
        let mut at = place + 1;
        while at < self.sums.len() {
            self.sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn before(&self, place: usize) -> u64 {
        let mut at = place;
        let mut sum = 0;
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::{Overtaking, Passage, overtakers};
    use machine::random::Random;

    /// Tasks that are put one after the other, and got at these turns, one after the other.
    fn in_turn(turns: &[u64]) -> Vec<Passage> {
        let passage = |(number, &turn): (u64, &u64)| Passage {
            put: (10 * number, 10 * number + 5),
            got: (1_000 + 10 * turn, 1_005 + 10 * turn),
        };
        (0..).zip(turns).map(passage).collect()
    }

    #[test]
    fn a_queue_has_none_and_a_stack_has_all() {
        assert_eq!(Overtaking::of(&[]), Overtaking::default());
        let queue = Overtaking::of(&in_turn(&[0, 1, 2, 3]));
        assert_eq!(queue, Overtaking { tasks: 4, ..Overtaking::default() });
        let stack = Overtaking::of(&in_turn(&[3, 2, 1, 0]));
        assert_eq!(stack, Overtaking { tasks: 4, most: 3, all: 6, p99: 3 });
        assert_eq!(stack.mean_rank_error(), 1.5);
    }

    #[test]
    fn who_is_late_is_overtaken_by_all_who_are_not() {
        let late = in_turn(&[4, 0, 1, 2, 3]);
        assert_eq!(overtakers(&late), [4, 0, 0, 0, 0]);
        // Four tasks overtook one each.
        assert_eq!(Overtaking::of(&late), Overtaking { tasks: 5, most: 4, all: 4, p99: 1 });
    }

    #[test]
    fn what_overlaps_overtakes_nobody() {
        let apart =
            [Passage { put: (0, 10), got: (70, 80) }, Passage { put: (20, 30), got: (50, 60) }];
        assert_eq!(overtakers(&apart), [1, 0]);
        let puts = [Passage { put: (0, 20), ..apart[0] }, apart[1]];
        assert_eq!(overtakers(&puts), [0, 0], "one begins when the other returns");
        let gets = [Passage { got: (60, 80), ..apart[0] }, apart[1]];
        assert_eq!(overtakers(&gets), [0, 0], "one begins when the other returns");
    }

    #[test]
    fn counting_all_pairs_gives_the_same() {
        let mut random = Random::seeded(7);
        for _ in 0..200 {
            let mut span = || {
                let began = random.below(40) as u64;
                (began, began + random.below(8) as u64)
            };
            let passages: Vec<Passage> =
                (0..30).map(|_| Passage { put: span(), got: span() }).collect();
            let overtakes = |b: &Passage, a: &Passage| a.put.1 < b.put.0 && b.got.1 < a.got.0;
            let by = |a| passages.iter().filter(|b| overtakes(b, a)).count() as u64;
            let slow: Vec<u64> = passages.iter().map(by).collect();
            assert_eq!(overtakers(&passages), slow);
            let of = |b| passages.iter().filter(|a| overtakes(b, a)).count() as u64;
            let mut errors: Vec<u64> = passages.iter().map(of).collect();
            errors.sort_unstable();
            let expected = Overtaking {
                tasks: 30,
                most: slow.iter().copied().max().unwrap(),
                all: slow.iter().sum(),
                p99: errors[29],
            };
            assert_eq!(Overtaking::of(&passages), expected);
        }
    }
}
