//! What the scheduler tells a subscriber of the `tracing` crate.

use cantina::scheduler::Runtime;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Sender, channel};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Tells of each span: when it begins, with its fields, and when it was left.
struct Teller {
    told: Sender<String>,
    spans: AtomicU64,
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Teller {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "cantina::scheduler"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        self.told.send(fields.0).unwrap();
        Id::from_u64(self.spans.fetch_add(1, Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {
        self.told.send("left".to_owned()).unwrap();
    }
}

#[test]
fn messages_and_operations_have_spans() {
    let (told, tells) = channel();
    tracing::subscriber::set_global_default(Teller { told, spans: AtomicU64::new(0) }).unwrap();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let unit = runtime.unit_builder().name("till").build(1);
    assert_eq!(unit.send(|state| *state).wait(), Ok(1));
    assert_eq!(runtime.spawn(|| 2).wait(), Ok(2));
    drop(runtime);
    let told: Vec<String> = tells.try_iter().collect();
    let wanted = ["message unit=\"till\" worker=0", "left", "operation worker=0", "left"];
    assert_eq!(told, wanted);
}
