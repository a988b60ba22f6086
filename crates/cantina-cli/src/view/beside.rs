//! What was seen of the machine beside the runs.

use super::experiment::{Experiment, PING_PONG, PING_PONG_MAX, PING_PONG_MIN};
use super::number::short;
use cantina_lab::experiment::regime;
use cantina_record::Row;

/// How many cells are named that were measured while the cores moved.
const NAMED: usize = 8;

/// Sentences on how near to each other the cores were, if the rows tell.
pub(super) fn regimes(experiment: &Experiment, rows: &[Row]) -> Option<String> {
    let own: Vec<&Row> = rows.iter().filter(|row| row.experiment == experiment.name).collect();
    let mut sentences: Vec<String> = names(&own).into_iter().chain(distances(&own)).collect();
    let moved: Vec<&&Row> = own.iter().filter(|row| regime::has_moved(row)).collect();
    if !moved.is_empty() {
        let cell = |row: &&&Row| format!("{} {}P/{}C", row.pool, row.producers, row.consumers);
        let more = moved.len().saturating_sub(NAMED);
        let mut cells: Vec<String> = moved.iter().take(NAMED).map(cell).collect();
        cells.extend((more > 0).then(|| format!("and {more} more")));
        sentences.push(format!(
            "The cores moved meanwhile: compare only within a regime, and not at all {}.",
            cells.join(", ")
        ));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What the distances are called, and in how many rows if not in all.
fn names(rows: &[&Row]) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in rows.iter().filter_map(|row| row.text(regime::FIELD)) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let plain = |name: &str| name.replace(char::is_control, "\u{fffd}");
    match counts.as_slice() {
        [] => None,
        [(name, _)] => Some(format!("Regime: {}.", plain(name))),
        several => {
            let named = several.iter().map(|(name, count)| {
                format!("{} in {count} row{}", plain(name), if *count == 1 { "" } else { "s" })
            });
            Some(format!("Regimes: {}.", named.collect::<Vec<_>>().join(", ")))
        }
    }
}

/// How long a word took.
fn distances(rows: &[&Row]) -> Option<String> {
    let of = |name: &'static str| {
        rows.iter().filter_map(move |row| row.number(name).or(row.number(PING_PONG)))
    };
    let low = of(PING_PONG_MIN).min_by(f64::total_cmp)?;
    let high = of(PING_PONG_MAX).max_by(f64::total_cmp)?;
    let (low, high) = (short(low), short(high));
    Some(format!("Beside the runs a word took {low} to {high} ns from one core to another."))
}

#[cfg(test)]
mod tests {
    use super::regimes;
    use crate::view::samples::{HEIGHT, SPEED, speeds};

    #[test]
    fn the_range_of_all_rows_is_told() {
        assert_eq!(regimes(&SPEED, &speeds()), None);
        let mut rows = speeds();
        rows[0] = rows[0].clone().with("ping_pong_ns", 26.5);
        rows[1] = rows[1].clone().with("ping_pong_ns", 112.0).with("ping_pong_ns_max", 150.0);
        let told = regimes(&SPEED, &rows).unwrap();
        assert_eq!(told, "Beside the runs a word took 26.5 to 150 ns from one core to another.");
        assert_eq!(regimes(&HEIGHT, &rows), None);
    }

    #[test]
    fn the_regime_is_named_and_cells_that_are_not_of_it() {
        let near =
            |row: cantina_record::Row| row.with("regime", "near").with("regime_moved", false);
        let mut rows: Vec<_> = speeds().into_iter().map(near).collect();
        assert_eq!(regimes(&SPEED, &rows).unwrap(), "Regime: near.");
        rows[3] = rows[3].clone().with("regime", "far").with("regime_moved", true);
        assert_eq!(
            regimes(&SPEED, &rows).unwrap(),
            "Regimes: near in 8 rows, far in 1 row. The cores moved meanwhile: compare only within a \
             regime, and not at all ring 1P/1C."
        );
        rows.iter_mut().for_each(|row| *row = row.clone().with("regime_moved", true));
        assert!(regimes(&SPEED, &rows).unwrap().ends_with(", and 1 more."));
    }
}
