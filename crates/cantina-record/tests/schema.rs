//! The schema that ships with the crate and the code that reads and writes agree.

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use cantina_record::{Facts, Kind, Record, Row};
use serde_json::{Value, json};

struct Judge {
    schemas: Schemas,
    record: SchemaIndex,
}

impl Judge {
    fn new() -> Self {
        let text = serde_json::from_str(Record::JSON_SCHEMA).unwrap();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        compiler.add_resource("record-1.json", text).unwrap();
        let mut schemas = Schemas::new();
        let record = compiler.compile("record-1.json", &mut schemas).unwrap();
        Self { schemas, record }
    }

    fn accepts(&self, json: &Value) -> bool {
        self.schemas.validate(json, self.record).is_ok()
    }
}

fn sample() -> Value {
    json!({
        "schema": 1,
        "machine": { "cpu": "some", "cores": 2, "virtual": true },
        "commit": "unknown",
        "rows": [{
            "experiment": "throughput", "machine": "sim:opteron-8x4", "pool": "locked",
            "kind": "ours", "producers": 1, "consumers": 0,
            "mops_median": 1.5, "pinned": false, "allocator": "system", "tasks": 7,
        }],
    })
}

#[test]
fn what_is_written_fits_the_schema() {
    let row = Row {
        experiment: "throughput".into(),
        machine: "real".into(),
        pool: "crossbeam-segqueue".into(),
        kind: Kind::Peer,
        producers: 16,
        consumers: 16,
        fields: Default::default(),
    };
    let record = Record {
        machine: Facts::new().with("cpu", "some").with("cores", 2).with("ghz", 2.25),
        commit: "0123abc".into(),
        rows: vec![row.with("mops_median", 28.0).with("pinned", true).with("version", "0.3.14")],
    };
    let written = serde_json::from_str(&record.to_json().unwrap()).unwrap();
    assert!(Judge::new().accepts(&written));
}

/// Each of these is refused by the schema and by the code: neither is laxer than the other.
#[test]
fn the_schema_refuses_what_the_code_refuses() {
    let judge = Judge::new();
    let sample = sample();
    assert!(judge.accepts(&sample));
    Record::from_json(&sample.to_string()).unwrap();

    let broken: [(&str, Value); 17] = [
        ("/schema", json!(2)),
        ("/schema", json!("1")),
        ("/machine", json!([])),
        ("/machine/cores", json!(null)),
        ("/machine", json!({ "Number of cores": 2 })),
        ("/commit", json!(" ")),
        ("/commit", json!(7)),
        ("/rows", json!({})),
        ("/rows/0", json!({})),
        ("/rows/0/experiment", json!("")),
        ("/rows/0/machine", json!("sim:")),
        ("/rows/0/machine", json!("unreal")),
        ("/rows/0/kind", json!("foe")),
        ("/rows/0/producers", json!(-1)),
        ("/rows/0/consumers", json!("1")),
        ("/rows/0/mops_median", json!(null)),
        ("/rows/0/mops_median", json!([1.5])),
    ];
    for (place, value) in broken {
        let mut json = sample.clone();
        *json.pointer_mut(place).unwrap() = value;
        assert!(!judge.accepts(&json), "the schema takes {place} = {json}");
        assert!(Record::from_json(&json.to_string()).is_err(), "the code takes {place} = {json}");
    }
    for field in ["schema", "machine", "commit", "rows"] {
        let mut json = sample.clone();
        json.as_object_mut().unwrap().remove(field);
        assert!(!judge.accepts(&json), "the schema does without {field}");
        assert!(Record::from_json(&json.to_string()).is_err(), "the code does without {field}");
    }
}
