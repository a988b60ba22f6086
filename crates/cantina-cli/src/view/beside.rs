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

/// The regime in which rows may be compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usual<'a> {
    /// None of them has one: nothing is known of it, or they are simulated.
    Unknown,
    /// That of more of them than any other.
    Is(&'a str),
    /// As many of them have another one.
    Mixed,
}

impl<'a> Usual<'a> {
    /// That of these rows, of which those do not count that were measured while the cores moved.
    pub(super) fn of(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let rows: Vec<&Row> = rows.into_iter().filter(|row| !regime::has_moved(row)).collect();
        let counts = counts(&rows);
        let Some(most) = counts.iter().map(|(_, count)| *count).max() else { return Self::Unknown };
        let mut usual = counts.iter().filter(|(_, count)| *count == most);
        match (usual.next(), usual.next()) {
            (Some((name, _)), None) => Self::Is(name),
            _ => Self::Mixed,
        }
    }

    /// Whether a row may be compared with others of it. One that says nothing of a regime may.
    pub(super) fn admits(self, row: &Row) -> bool {
        let is_of_it = row
            .text(regime::FIELD)
            .is_none_or(|name| matches!(self, Self::Is(usual) if usual == name));
        is_of_it && !regime::has_moved(row)
    }
}

/// How many rows have which regime.
fn counts<'a>(rows: &[&'a Row]) -> Vec<(&'a str, usize)> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in rows.iter().filter_map(|row| row.text(regime::FIELD)) {
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    counts
}

/// What the distances are called, and in how many rows if not in all.
fn names(rows: &[&Row]) -> Option<String> {
    let counts = counts(rows);
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
    use super::{Usual, regimes};
    use crate::view::samples::{HEIGHT, SPEED, speeds};
    use cantina_record::Row;
    use std::slice::from_ref;

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
    #[test]
    fn rows_are_compared_in_the_regime_of_most_that_have_not_moved() {
        let row = |name: &str, moved: bool| {
            let row = speeds().remove(0).with("regime_moved", moved);
            if name.is_empty() { row } else { row.with("regime", name) }
        };
        let usual = |rows: &[Row]| match Usual::of(rows) {
            Usual::Unknown => "unknown".to_owned(),
            Usual::Is(name) => name.to_owned(),
            Usual::Mixed => "mixed".to_owned(),
        };
        let (near, far, bare) = (row("near", false), row("far", false), row("", false));
        let (gone, away) = (row("far", true), row("", true));
        assert_eq!(usual(&[]), "unknown");
        assert_eq!(usual(&[bare.clone(), gone.clone()]), "unknown");
        assert_eq!(usual(from_ref(&near)), "near");
        assert_eq!(usual(&[far.clone(), near.clone(), far.clone()]), "far");
        assert_eq!(usual(&[near.clone(), gone.clone(), gone.clone()]), "near");
        let even = [near.clone(), far.clone()];
        assert_eq!(usual(&even), "mixed");
        assert_eq!(usual(&[&even[..], from_ref(&far)].concat()), "far");
        let admits =
            |usual: Usual<'_>| [&near, &far, &bare, &gone, &away].map(|row| usual.admits(row));
        assert_eq!(admits(Usual::Is("near")), [true, false, true, false, false]);
        assert_eq!(admits(Usual::Mixed), [false, false, true, false, false]);
        assert_eq!(admits(Usual::Unknown), [false, false, true, false, false]);
    }
}
