//! How far from each other the cores are that a machine was given.
//!
//! Of a virtual machine the host decides it, anew from hour to hour, and it decides what threads that share something reach:
//! rows of two regimes are rows of two machines.
//!
//! They are read of the first two cores that the program may use: where there are more, it is the distance of these two, and says nothing
//! of others, which may lie on another die or node.
//!
//! Two readings tell: how long a word takes from one core to another (`ping_pong_ns`), and how long an addition takes to a word
//! that another core adds to as well (`contended_add_ns`). On the machines seen so far a word took 26 to 30 ns, or 110 to 333 there and
//! back and thus 55 to 170 one way.

use super::Spread;
use cantina_record::{Row, Value, short};
use std::fmt;

/// Cores are near while a word takes no longer than this, in nanoseconds: one and a half times the 30 that were seen.
pub const NEAR: f64 = 45.0;

/// Cores that are so many times as far apart as before are others.
pub const MOVED: f64 = 1.5;

/// The field of a row with the name of its regime.
pub const FIELD: &str = "regime";
/// The field that says whether the cores were others during some of its repetitions, or during most of the other rows.
pub const HAS_MOVED: &str = "regime_moved";
/// The field with the nanoseconds of a word from one core to another.
pub const PING_PONG: &str = "ping_pong_ns";

/// How far apart cores are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Distance {
    /// Nanoseconds of a word from one core to another; none where there is one core.
    pub ping_pong: Option<f64>,
    /// Nanoseconds of an addition to a word that another core adds to as well, if both ran at the same time.
    pub contended_add: Option<f64>,
}

/// What a distance is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// There is no other core.
    OneCore,
    /// A word takes no longer than [`NEAR`].
    Near,
    /// It does.
    Far,
}

impl Regime {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::OneCore => "one-core",
            Self::Near => "near",
            Self::Far => "far",
        }
    }
}

impl Distance {
    /// What it is called.
    pub fn regime(self) -> Regime {
        match self.ping_pong {
            None => Regime::OneCore,
            Some(nanos) if nanos <= NEAR => Regime::Near,
            Some(_) => Regime::Far,
        }
    }

    /// Whether these are other cores than those `before`.
    pub fn has_moved(self, before: Self) -> bool {
        match (self.ping_pong, before.ping_pong) {
            (Some(now), Some(then)) => now.max(then) > now.min(then) * MOVED,
            (now, then) => now.is_some() != then.is_some(),
        }
    }

    /// The one in the middle.
    pub fn usual(distances: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut sorted: Vec<Self> = distances.into_iter().collect();
        sorted.sort_by(|a, b| a.nanos().total_cmp(&b.nanos()));
        sorted.get(sorted.len() / 2).copied()
    }

    fn nanos(self) -> f64 {
        self.ping_pong.unwrap_or(0.0)
    }
}

/// `row` with what was read before and after each of its repetitions.
pub(super) fn label(row: Row, distances: &[Distance]) -> Row {
    let Some(usual) = Distance::usual(distances.iter().copied()) else { return row };
    let moved = distances.iter().any(|a| distances.iter().any(|b| a.has_moved(*b)));
    let row = row.with(FIELD, usual.regime().name()).with(HAS_MOVED, moved);
    let ways = Spread::of(distances.iter().filter_map(|distance| distance.ping_pong));
    let row = match ways {
        Some(ways) => row
            .with(PING_PONG, ways.median)
            .with("ping_pong_ns_min", ways.min)
            .with("ping_pong_ns_max", ways.max),
        None => row,
    };
    match Spread::of(distances.iter().filter_map(|distance| distance.contended_add)) {
        Some(adds) => row.with("contended_add_ns", adds.median),
        None => row,
    }
}

/// The same rows: those measured with other cores than most are marked.
#[must_use]
pub fn against_the_run(rows: Vec<Row>) -> Vec<Row> {
    let distance = |row: &Row| {
        row.text(FIELD)?;
        Some(Distance { ping_pong: row.number(PING_PONG), contended_add: None })
    };
    let Some(usual) = Distance::usual(rows.iter().filter_map(distance)) else { return rows };
    let mark = |row: Row| match distance(&row) {
        Some(own) if own.has_moved(usual) => row.with(HAS_MOVED, true),
        Some(_) | None => row,
    };
    rows.into_iter().map(mark).collect()
}

/// Whether the cores moved while this row was measured, or since the others were.
pub fn has_moved(row: &Row) -> bool {
    row.fields.get(HAS_MOVED) == Some(&Value::Flag(true))
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ping_pong {
            Some(nanos) => write!(f, "{} ns apart ({})", short(nanos), self.regime().name()),
            None => f.write_str("one"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Distance, HAS_MOVED, Regime, against_the_run, has_moved, label};
    use cantina_record::{Kind, Row};

    fn at(nanos: f64) -> Distance {
        Distance { ping_pong: Some(nanos), contended_add: Some(nanos / 2.0) }
    }

    const ALONE: Distance = Distance { ping_pong: None, contended_add: None };

    fn row(distances: &[Distance]) -> Row {
        let row = Row {
            experiment: "throughput".to_owned(),
            machine: "real".to_owned(),
            pool: "locked".to_owned(),
            kind: Kind::Ours,
            producers: 1,
            consumers: 1,
            fields: Default::default(),
        };
        label(row, distances)
    }

    #[test]
    fn a_distance_has_a_name() {
        let names = [ALONE, at(26.0), at(30.0), at(55.0), at(170.0)].map(Distance::regime);
        use Regime::{Far, Near, OneCore};
        assert_eq!(names, [OneCore, Near, Near, Far, Far]);
    }

    #[test]
    fn a_distance_has_three_digits() {
        assert_eq!(at(28.04).to_string(), "28.0 ns apart (near)");
        assert_eq!(at(170.4).to_string(), "170 ns apart (far)");
        assert_eq!(at(5.678).to_string(), "5.68 ns apart (near)");
        assert_eq!(ALONE.to_string(), "one");
    }

    #[test]
    fn cores_have_moved_that_are_half_as_far_again_or_another_number() {
        assert!(!at(30.0).has_moved(at(44.0)) && !at(44.0).has_moved(at(30.0)));
        assert!(at(30.0).has_moved(at(46.0)) && at(46.0).has_moved(at(30.0)));
        assert!(ALONE.has_moved(at(30.0)) && at(30.0).has_moved(ALONE));
        assert!(!ALONE.has_moved(ALONE));
    }

    #[test]
    fn a_row_says_how_far_apart_the_cores_were_and_whether_that_changed() {
        let calm = row(&[at(28.0), at(26.0), at(30.0)]);
        let read = ["ping_pong_ns", "ping_pong_ns_min", "ping_pong_ns_max", "contended_add_ns"];
        assert_eq!(read.map(|name| calm.number(name)), [28.0, 26.0, 30.0, 14.0].map(Some));
        assert_eq!((calm.text("regime"), has_moved(&calm)), (Some("near"), false));
        let moved = row(&[at(28.0), at(170.0), at(165.0)]);
        assert_eq!((moved.text("regime"), has_moved(&moved)), (Some("far"), true));
        let alone = row(&[ALONE, ALONE]);
        assert_eq!((alone.text("regime"), alone.number("ping_pong_ns")), (Some("one-core"), None));
        assert!(has_moved(&row(&[ALONE, at(28.0)])), "from one core to two");
        assert!(row(&[]).fields.is_empty());
        calm.check().unwrap();
    }

    #[test]
    fn rows_of_another_regime_than_most_are_marked() {
        let rows = vec![row(&[at(170.0)]), row(&[at(28.0)]), row(&[at(165.0)]), row(&[ALONE])];
        let marked: Vec<bool> = against_the_run(rows).iter().map(has_moved).collect();
        assert_eq!(marked, [false, true, false, true]);
        let bare = Row { fields: Default::default(), ..row(&[]) };
        assert_eq!(against_the_run(vec![bare])[0].fields.get(HAS_MOVED), None);
    }
}
