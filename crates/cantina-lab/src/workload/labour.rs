//! What a run of a scheduler took of its workers.

use machine::time::Duration;

/// What a run took of those who worked in it, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labour {
    /// Processor time, of all threads together.
    pub busy: Option<Duration>,
    /// What the workers have counted.
    pub workers: Option<Workers>,
    /// What its units have counted, where they are not alike.
    pub units: Option<Units>,
}

/// What units have counted: the one that is hot, and all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Units {
    /// Messages of the one that has most.
    pub hot_messages: u64,
    /// How often that one went to another worker.
    pub hot_moves: u64,
    /// Messages of the others.
    pub messages: u64,
    /// How often they went to another worker.
    pub moves: u64,
    /// How many units there were,
    pub count: u64,
    /// and how many of them went to another worker at all.
    pub moved: u64,
    /// How often the one did that did most often.
    pub most_moves: u64,
}

impl Units {
    /// Of units that have had so many messages, and went to another worker so often.
    pub fn of(units: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut units: Vec<(u64, u64)> = units.collect();
        units.sort_unstable();
        let count = units.len() as u64;
        let moved = units.iter().filter(|(_, moves)| *moves > 0).count() as u64;
        let most_moves = units.iter().map(|(_, moves)| *moves).max().unwrap_or(0);
        let (hot_messages, hot_moves) = units.pop().unwrap_or_default();
        let (messages, moves) =
            units.iter().fold((0, 0), |sum, unit| (sum.0 + unit.0, sum.1 + unit.1));
        Self { hot_messages, hot_moves, messages, moves, count, moved, most_moves }
    }
}

/// What workers have counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Workers {
    /// Operations and messages, of all together.
    pub operations: u64,
    /// Those of the worker that ran the most.
    pub most: u64,
    /// Those of the worker that ran the fewest.
    pub least: u64,
    /// Those of the workers a quarter, half and three quarters of the way from the one that ran the fewest to the one that ran the most.
    pub quarters: [u64; 3],
    /// What they took from each other.
    pub steals: u64,
    /// How often they went to sleep.
    pub parks: u64,
    /// How long they had something to do, all together: they neither slept nor looked for it.
    pub occupied: Duration,
}

impl Workers {
    /// The sum of workers that ran so many operations each.
    pub fn of(operations: impl Iterator<Item = u64>) -> Self {
        let mut each: Vec<u64> = operations.collect();
        each.sort_unstable();
        // The nearer one, and between two the one that ran more.
        let at = |quarters| {
            let last = each.len().saturating_sub(1);
            each.get((last * quarters + 2) / 4).copied().unwrap_or(0)
        };
        Self {
            operations: each.iter().sum(),
            most: at(4),
            least: at(0),
            quarters: [1, 2, 3].map(at),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Units, Workers};

    #[test]
    fn workers_are_told_by_how_much_they_ran() {
        let of = |each: &[u64]| {
            let workers = Workers::of(each.iter().copied());
            (workers.operations, workers.least, workers.quarters, workers.most)
        };
        assert_eq!(of(&[50, 10, 40, 20, 30]), (150, 10, [20, 30, 40], 50));
        assert_eq!(of(&[4, 3, 2, 1]), (10, 1, [2, 3, 3], 4));
        assert_eq!(of(&[2, 1]), (3, 1, [1, 2, 2], 2));
        assert_eq!(of(&[7]), (7, 7, [7; 3], 7));
        assert_eq!(of(&[]), (0, 0, [0; 3], 0));
    }

    #[test]
    fn units_that_went_to_another_worker_are_counted() {
        let units = Units::of([(20, 1), (5, 0), (15, 4), (9, 0)].into_iter());
        assert_eq!((units.count, units.moved, units.most_moves), (4, 2, 4));
        assert_eq!((units.hot_messages, units.hot_moves), (20, 1));
        assert_eq!((units.messages, units.moves), (29, 4));
    }
}
