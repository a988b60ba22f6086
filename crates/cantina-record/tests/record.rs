//! What is written can be read again; what is wrong is refused, and says why.

use cantina_record::{Facts, Flaw, Kind, Record, RecordError, Row};

fn row(pool: &str) -> Row {
    Row {
        experiment: "throughput".into(),
        machine: "real".into(),
        pool: pool.into(),
        kind: Kind::Ours,
        producers: 2,
        consumers: 3,
        fields: Default::default(),
    }
}

fn sample() -> Record {
    let peer = Row { kind: Kind::Peer, machine: "sim:opteron-8x4".into(), ..row("rtrb") };
    Record {
        machine: Facts::new().with("cpu", "a \"fast\" one").with("cores", 2).with("virtual", true),
        commit: "0123abc-dirty".into(),
        rows: vec![
            row("locked").with("mops_median", 61.5).with("allocator", "system"),
            peer.with("tasks", 1_000_000).with("pinned", false).with("drift", -0.25),
        ],
    }
}

const SAMPLE: &str = r#"{
  "schema": 1,
  "machine": {
    "cpu": "a \"fast\" one",
    "cores": 2,
    "virtual": true
  },
  "commit": "0123abc-dirty",
  "rows": [
    {"experiment":"throughput","machine":"real","pool":"locked","kind":"ours","producers":2,"consumers":3,"allocator":"system","mops_median":61.5},
    {"experiment":"throughput","machine":"sim:opteron-8x4","pool":"rtrb","kind":"peer","producers":2,"consumers":3,"drift":-0.25,"pinned":false,"tasks":1000000}
  ]
}
"#;

#[test]
fn a_record_is_written_with_a_row_per_line() {
    assert_eq!(sample().to_json().unwrap(), SAMPLE);
}

#[test]
fn what_is_written_is_read_again() {
    let read = Record::from_json(SAMPLE).unwrap();
    assert_eq!(read, sample());
    assert_eq!(read.to_json().unwrap(), SAMPLE);
}

#[test]
fn an_empty_record_is_a_record() {
    let empty = Record { machine: Facts::new(), commit: "unknown".into(), rows: Vec::new() };
    let json = empty.to_json().unwrap();
    assert_eq!(Record::from_json(&json).unwrap(), empty);
}

#[test]
fn counts_and_numbers_keep_their_type() {
    let record = Record {
        rows: vec![row("locked").with("count", u64::MAX).with("number", 3.0).with("tiny", 5e-324)],
        ..sample()
    };
    assert_eq!(Record::from_json(&record.to_json().unwrap()).unwrap(), record);
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    for number in [43.199999999999996, 55.800000000000004, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE] {
        let record = Record { rows: vec![row("locked").with("number", number)], ..sample() };
        assert_eq!(Record::from_json(&record.to_json().unwrap()).unwrap(), record);
    }
}

#[test]
fn a_negative_whole_number_is_read_as_a_number() {
    let record = Record::from_json(&SAMPLE.replace("-0.25", "-3")).unwrap();
    assert_eq!(record.rows[1].number("drift"), Some(-3.0));
}

#[test]
fn facts_keep_their_order_and_a_repeated_one_its_place() {
    let facts = Facts::new().with("z", 1).with("a", 2).with("z", 3);
    let names: Vec<_> = facts.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["z", "a"]);
    assert_eq!(facts.get("z"), Some(&3.into()));
    assert_eq!(facts.get("b"), None);
}

#[test]
fn a_number_that_is_not_finite_is_never_written() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let rows = vec![row("locked"), row("locked").with("mops_median", number)];
        let error = Record { rows, ..sample() }.to_json().unwrap_err();
        assert_eq!(error.to_string(), "row 2: `mops_median` is not a finite number");

        let error = Record { machine: Facts::new().with("ghz", number), ..sample() }.to_json();
        assert_eq!(
            error.unwrap_err().to_string(),
            "the machine's facts: `ghz` is not a finite number"
        );
    }
}

#[test]
fn a_field_may_not_hide_a_column() {
    for name in ["experiment", "machine", "pool", "kind", "producers", "consumers"] {
        let flaw = row("locked").with(name, 1).check().unwrap_err();
        assert_eq!(flaw, Flaw::FixedName { name: name.into() });
    }
}

#[test]
fn names_are_plain() {
    for name in ["", "Mops", "mops median", "2nd", "_x", "größe"] {
        let flaw = Flaw::BadName { name: name.into() };
        assert_eq!(row("locked").with(name, 1).check().unwrap_err(), flaw);
        assert_eq!(Facts::new().with(name, 1).check().unwrap_err(), flaw);
    }
    row("locked").with("p99_9_ns", 1).check().unwrap();
}

#[test]
fn a_row_says_who_ran_what_and_where() {
    for blank in ["", " "] {
        assert!(matches!(row(blank).check(), Err(Flaw::Blank { name }) if name == "pool"));
        let nameless = Row { experiment: blank.into(), ..row("locked") };
        assert!(matches!(nameless.check(), Err(Flaw::Blank { name }) if name == "experiment"));
    }
    for machine in ["", "Real", "sim", "sim:", "sim: "] {
        let elsewhere = Row { machine: machine.into(), ..row("locked") };
        assert!(matches!(elsewhere.check(), Err(Flaw::UnknownMachine { .. })), "{machine}");
    }
}

#[test]
fn a_commit_is_never_empty() {
    let nowhere = Record { commit: " ".into(), ..sample() };
    assert!(matches!(nowhere.to_json(), Err(RecordError::BlankCommit)));
}

#[test]
fn another_schema_is_refused_by_its_number() {
    for (schema, found) in [("2", "2"), ("\"1\"", "\"1\""), ("null", "null"), ("1.5", "1.5")] {
        let json = format!("{{\"schema\": {schema}, \"cells\": []}}");
        let error = Record::from_json(&json).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("a record of schema {found}; this program knows schema 1")
        );
    }
}

#[test]
fn what_is_no_record_is_refused_in_one_line() {
    let cases = [
        ("", "EOF while parsing"),
        ("7", "invalid type"),
        ("[1, 2]", "not a record"),
        ("{}", "missing field `schema`"),
        ("{\"schema\": 1}", "missing field `machine`"),
        (&SAMPLE.replace("\"commit\": \"0123abc-dirty\",", ""), "missing field `commit`"),
        (&SAMPLE.replacen("\"pool\":\"locked\",", "", 1), "missing field `pool` at line 10"),
        (&SAMPLE.replace("\"peer\"", "\"foe\""), "unknown variant `foe`"),
        (&SAMPLE.replace("-0.25", "null"), "expected a number, a text or a flag at line 11"),
        (&SAMPLE.replace("-0.25", "[1]"), "expected a number, a text or a flag at line 11"),
        (&SAMPLE.replace("-0.25", "1e999"), "number out of range at line 11"),
        (&SAMPLE.replace("\"producers\":2", "\"producers\":-2"), "expected u64"),
        (&SAMPLE.replace("\"virtual\"", "\"cpu\""), "duplicate fact `cpu`"),
        (&SAMPLE.replace("\"drift\"", "\"tasks\""), "duplicate field `tasks`"),
        (&SAMPLE.replace("\"drift\"", "\"pool\""), "duplicate field `pool`"),
        ("{\"schema\": 1, \"machine\": []}", "expected an object of named facts"),
        (&SAMPLE.replace("\"real\"", "\"unreal\""), "row 1: `machine` is \"unreal\""),
        (&format!("{SAMPLE}{SAMPLE}"), "trailing characters"),
    ];
    for (json, expected) in cases {
        let error = Record::from_json(json).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} should say {expected:?}");
        assert!(!error.contains('\n'), "{error:?}");
    }
}
