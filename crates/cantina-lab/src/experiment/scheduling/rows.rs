//! What the rows of schedulers say beside how fast they were.

use super::{ddb, fib};
use crate::experiment::{STEALS, Spread};
use crate::workload::Reading;
use cantina_record::{Row, Value};

/// The field with the nanoseconds of a call or a message.
pub const NS: &str = "ns_median";
/// The field that says how many times as fast it was with one worker.
pub const SPEED_UP: &str = "speed_up";
/// The field with the nanoseconds of processor time of a call or a message.
pub const BUSY: &str = "busy_ns";
/// The field that says how many times the processor time of one worker it took: what is above 1 is wasted.
pub const WASTE: &str = "waste_ratio";
/// The field that says how much of the time workers were busy.
pub const UTILISATION: &str = "utilisation_percent";
/// The field that says how much of the time workers had nothing to do: they slept, or looked for work.
pub const LOST: &str = "lost_percent";
/// The field that says how often the hot unit went to another worker, per thousand of its messages.
pub const HOT_MOVES: &str = "hot_moves_per_1000";
/// The same of the other units.
pub const MOVES: &str = "moves_per_1000";
/// The field with the share of operations that the busiest worker ran.
pub const BUSIEST: &str = "busiest_worker_percent";
/// The field with the share of operations that the idlest worker ran.
pub const IDLEST: &str = "idlest_worker_percent";
/// The fields with the shares of those a quarter, half and three quarters of the way from the idlest to the busiest, where there are
/// more than two workers.
pub const QUARTERS: [&str; 3] =
    ["lower_quartile_worker_percent", "median_worker_percent", "upper_quartile_worker_percent"];
/// The field with the share of units that went to another worker at all.
pub const MOVED: &str = "moved_units_percent";
/// The field with the share that the unit which moved most had in all moves.
pub const MOST_MOVED: &str = "most_moved_unit_percent";
/// The field that says how often workers went to sleep.
pub const PARKS: &str = "parks";
/// The field that says how often a unit was taken from another worker.
pub const STEALS_PER_UNIT: &str = "steals_per_unit";

/// `row` with what these runs of so many tasks took of their workers, if that was looked at.
#[must_use]
pub fn worked<'a>(row: Row, runs: impl Iterator<Item = &'a Reading> + Clone, tasks: u64) -> Row {
    let labours = runs.clone().filter_map(|run| Some((run.elapsed.as_secs_f64(), run.labour?)));
    let busy =
        labours.clone().filter_map(|(elapsed, labour)| Some((elapsed, labour.busy?.as_secs_f64())));
    let counted = labours.clone().filter_map(|(_, labour)| labour.workers);
    let units = labours.clone().filter_map(|(_, labour)| labour.units);
    let occupied = labours
        .filter_map(|(elapsed, labour)| Some((elapsed, labour.workers?.occupied.as_secs_f64())));
    let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let threads = row.consumers as f64;
    let medians = [
        (BUSY, Spread::of(busy.clone().map(|(_, busy)| busy * 1e9 / tasks.max(1) as f64))),
        (
            UTILISATION,
            Spread::of(busy.map(|(elapsed, busy)| 100.0 * busy / (elapsed * threads).max(1e-9))),
        ),
        (
            LOST,
            Spread::of(occupied.map(|(elapsed, occupied)| {
                (100.0 - 100.0 * occupied / (elapsed * threads).max(1e-9)).max(0.0)
            })),
        ),
        (
            HOT_MOVES,
            Spread::of(units.clone().map(|each| 10.0 * share(each.hot_moves, each.hot_messages))),
        ),
        (MOVES, Spread::of(units.clone().map(|each| 10.0 * share(each.moves, each.messages)))),
        (MOVED, Spread::of(units.clone().map(|each| share(each.moved, each.count)))),
        (
            MOST_MOVED,
            Spread::of(units.map(|each| share(each.most_moves, each.moves + each.hot_moves))),
        ),
        (BUSIEST, Spread::of(counted.clone().map(|each| share(each.most, each.operations)))),
        (IDLEST, Spread::of(counted.clone().map(|each| share(each.least, each.operations)))),
        (STEALS, Spread::of(counted.clone().map(|each| each.steals as f64))),
        (PARKS, Spread::of(counted.clone().map(|each| each.parks as f64))),
    ];
    let are_many = row.consumers > 2;
    let quarters = QUARTERS.into_iter().enumerate().filter(|_| are_many).map(|(index, name)| {
        let shares = counted.clone().map(|each| share(each.quarters[index], each.operations));
        (name, Spread::of(shares))
    });
    medians.into_iter().chain(quarters).fold(row, |row, (name, spread)| match spread {
        Some(spread) => row.with(name, spread.median),
        None => row,
    })
}

/// Rows of one experiment with what they say when they stand beside each other, and without what says nothing here.
pub fn finish(rows: Vec<Row>) -> Vec<Row> {
    // What has not converged is nothing to divide by.
    let alone = |row: &Row, field: &str| {
        let same = |other: &&Row| {
            other.consumers == 1
                && other.fields.get("converged") != Some(&Value::Flag(false))
                && other.experiment == row.experiment
                && other.machine == row.machine
                && other.pool == row.pool
                && other.fields.get(fib::FIELD) == row.fields.get(fib::FIELD)
        };
        rows.iter().find(same)?.number(field)
    };
    let finished = rows.iter().map(|row| {
        let mut more = row.clone();
        for name in ["payload_bytes", "put_mops_median", "pinned"] {
            more.fields.remove(name);
        }
        let mut tell = |name: &str, value: Option<f64>| {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                more.fields.insert(name.to_owned(), value.into());
            }
        };
        let ns = |field: &str| row.number(field).map(|mops| 1e3 / mops);
        tell(NS, ns("mops_median"));
        tell("ns_min", ns("mops_max"));
        tell("ns_max", ns("mops_min"));
        if super::has_workers(&row.experiment) {
            let times = |field: &str| Some(row.number(field)? / alone(row, field)?);
            tell(SPEED_UP, times("mops_median"));
            tell(WASTE, times(BUSY));
        } else {
            more.fields.remove(UTILISATION);
            more.fields.remove(LOST);
        }
        if row.experiment == ddb::NAME {
            let units = (ddb::SERVERS + ddb::CLIENTS) as f64;
            more = match row.number(STEALS) {
                Some(steals) => more.with(STEALS_PER_UNIT, steals / units),
                None => more,
            };
        }
        more
    });
    finished.collect()
}

#[cfg(test)]
mod tests {
    use super::{
        BUSIEST, BUSY, HOT_MOVES, IDLEST, LOST, MOST_MOVED, MOVED, MOVES, NS, QUARTERS, SPEED_UP,
        UTILISATION, WASTE, finish, worked,
    };
    use crate::workload::{Labour, Reading, Units, Workers};
    use cantina_record::{Kind, Row};
    use machine::time::Duration;

    fn row(workers: u64, mops: f64, busy: f64) -> Row {
        let row = Row {
            experiment: "fib".into(),
            machine: "real".into(),
            pool: "a".into(),
            kind: Kind::Ours,
            producers: workers,
            consumers: workers,
            fields: Default::default(),
        };
        let row = row.with("mops_median", mops).with("mops_min", mops).with("mops_max", mops);
        row.with(BUSY, busy).with("payload_bytes", 8_u64)
    }

    #[test]
    fn rows_are_set_beside_the_one_with_one_worker() {
        let other = |workers, mops| Row { pool: "b".into(), ..row(workers, mops, 1.0) };
        let rows =
            finish(vec![row(4, 6.0, 550.0), row(1, 2.0, 500.0), other(4, 3.0), other(1, 3.0)]);
        let numbers = |name: &str| rows.iter().map(|row| row.number(name)).collect::<Vec<_>>();
        assert_eq!(numbers(SPEED_UP), [3.0, 1.0, 1.0, 1.0].map(Some));
        assert_eq!(numbers(NS)[1], Some(500.0));
        assert_eq!(numbers(WASTE)[..2], [Some(1.1), Some(1.0)]);
        assert!(
            rows.iter().all(|row| row.check().is_ok() && row.number("payload_bytes").is_none())
        );
        let alone = finish(vec![row(4, 6.0, 550.0)]);
        assert_eq!((alone[0].number(SPEED_UP), alone[0].number(WASTE)), (None, None));
    }

    #[test]
    fn nothing_stands_beside_one_worker_who_has_not_converged() {
        let judged = |row: Row, converged: bool| row.with("converged", converged);
        let rows = |alone: bool, four: bool| {
            finish(vec![judged(row(4, 6.0, 550.0), four), judged(row(1, 2.0, 500.0), alone)])
        };
        for row in rows(false, true) {
            assert_eq!((row.number(SPEED_UP), row.number(WASTE)), (None, None));
            assert!(row.number(NS).is_some());
        }
        assert_eq!(rows(true, true)[0].number(SPEED_UP), Some(3.0));
        assert_eq!(rows(true, false)[0].number(WASTE), Some(1.1), "which is marked as its row is");
    }

    #[test]
    fn what_workers_did_is_in_the_row() {
        let occupied = Duration::from_micros(14);
        let workers = Workers { steals: 3, occupied, ..Workers::of([10, 30].into_iter()) };
        let units = Some(Units::of([(20, 1), (5, 1), (15, 3)].into_iter()));
        let busy = Some(Duration::from_micros(15));
        let labour = Labour { busy, workers: Some(workers), units };
        let reading = Reading { labour: Some(labour), ..Reading::took(Duration::from_micros(10)) };
        let row = worked(row(2, 1.0, 0.0), [reading].iter(), 100);
        let numbers = [BUSY, UTILISATION, BUSIEST, IDLEST, "steals"].map(|name| row.number(name));
        assert_eq!(numbers, [150.0, 75.0, 75.0, 25.0, 3.0].map(Some));
        let numbers = [LOST, HOT_MOVES, MOVES].map(|name| row.number(name).map(f64::round));
        assert_eq!(numbers, [30.0, 50.0, 200.0].map(Some));
        let numbers = [MOVED, MOST_MOVED].map(|name| row.number(name));
        assert_eq!(numbers, [100.0, 60.0].map(Some));
        assert!(QUARTERS.iter().all(|name| row.number(name).is_none()), "there are two");
        let workers = Some(Workers::of([1, 2, 3, 4].into_iter()));
        let reading = Reading { labour: Some(Labour { workers, ..labour }), ..reading };
        let many = worked(self::row(4, 1.0, 0.0), [reading].iter(), 100);
        let numbers = QUARTERS.map(|name| many.number(name));
        assert_eq!(numbers, [20.0, 30.0, 30.0].map(Some));
        let nothing = worked(row.clone(), [Reading::took(Duration::ZERO)].iter(), 100);
        assert_eq!(nothing, row);
    }
}
