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
}

impl Units {
    /// Of units that have had so many messages, and went to another worker so often.
    pub fn of(units: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut units: Vec<(u64, u64)> = units.collect();
        units.sort_unstable();
        let (hot_messages, hot_moves) = units.pop().unwrap_or_default();
        let (messages, moves) =
            units.iter().fold((0, 0), |sum, unit| (sum.0 + unit.0, sum.1 + unit.1));
        Self { hot_messages, hot_moves, messages, moves }
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
    /// What they took from each other.
    pub steals: u64,
    /// How often they went to sleep.
    pub parks: u64,
    /// How long they had something to do, all together: they neither slept nor looked for it.
    pub occupied: Duration,
}

impl Workers {
    /// The sum of workers that ran so many operations each.
    pub fn of(operations: impl Iterator<Item = u64> + Clone) -> Self {
        Self {
            operations: operations.clone().sum(),
            most: operations.clone().max().unwrap_or(0),
            least: operations.min().unwrap_or(0),
            ..Self::default()
        }
    }
}
