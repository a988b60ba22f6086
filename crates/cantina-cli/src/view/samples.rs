//! Experiments and rows for the tests of this folder.

use super::experiment::{Axis, Better, Experiment, Measure};
use cantina_record::{Facts, Kind, Record, Row};

/// An experiment over shapes.
pub(super) const SPEED: Experiment = Experiment {
    name: "speed",
    title: "Speed",
    about: "How fast it is",
    axis: Axis::Shape,
    split: &["allocator"],
    measures: &[Measure {
        title: "Speed",
        unit: "M tasks/s",
        value: "mops_median",
        spread: Some(("mops_min", "mops_max")),
        better: Better::Higher,
    }],
    papers: &[],
    against: None,
    benched: true,
    notes: &["Measured with care."],
    simulated_notes: &["Simulated with care."],
};

/// An experiment over a parameter, with two measures of which less is better.
pub(super) const HEIGHT: Experiment = Experiment {
    name: "height",
    title: "Tree height",
    about: "What a higher tree costs",
    axis: Axis::Field { name: "height", label: "height of the tree" },
    split: &[],
    measures: &[
        Measure {
            title: "Overtakers",
            unit: "tasks",
            value: "max_overtakers",
            spread: None,
            better: Better::Lower,
        },
        Measure {
            title: "Failed CAS",
            unit: "per get",
            value: "cas_per_get",
            spread: None,
            better: Better::Lower,
        },
    ],
    papers: &[],
    against: Some(("max_overtakers", "cas_per_get")),
    benched: true,
    notes: &[],
    simulated_notes: &[],
};

/// A row without values.
pub(super) fn bare(experiment: &Experiment, kind: Kind, pool: &str, shape: (u64, u64)) -> Row {
    Row {
        experiment: experiment.name.into(),
        machine: "real".into(),
        pool: pool.into(),
        kind,
        producers: shape.0,
        consumers: shape.1,
        fields: Default::default(),
    }
}

/// A cell of [`SPEED`] that spreads by a tenth downwards and a fifth upwards.
pub(super) fn speed(kind: Kind, pool: &str, shape: (u64, u64), mops: f64) -> Row {
    bare(&SPEED, kind, pool, shape)
        .with("mops_median", mops)
        .with("mops_min", mops * 0.9)
        .with("mops_max", mops * 1.2)
}

/// A cell of [`HEIGHT`].
pub(super) fn height(pool: &str, height: u64, overtakers: u64) -> Row {
    bare(&HEIGHT, Kind::Ours, pool, (2, 2))
        .with("height", height)
        .with("max_overtakers", overtakers)
}

/// Three kinds, three shapes, a peer that runs in one of them.
pub(super) fn speeds() -> Vec<Row> {
    use Kind::{Contender, Ours, Peer};
    vec![
        speed(Peer, "channel", (1, 1), 25.0),
        speed(Peer, "channel", (1, 3), 33.3),
        speed(Peer, "channel", (2, 2), 36.0),
        speed(Peer, "ring", (1, 1), 210.0),
        bare(&SPEED, Peer, "ring", (2, 2)).with("skipped", "one producer and one consumer only"),
        speed(Ours, "locked", (1, 1), 50.0),
        speed(Ours, "locked", (1, 3), 54.0),
        speed(Ours, "locked", (2, 2), 62.0),
        speed(Contender, "treiber", (2, 2), 9.3),
    ]
}

/// A record of these rows.
pub(super) fn record(rows: Vec<Row>) -> Record {
    let machine = Facts::new().with("cpu", "some cpu").with("cores", 2).with("command", "bench");
    Record { machine, commit: "0123abc".into(), rows }
}
