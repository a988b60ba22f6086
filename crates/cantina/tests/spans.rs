//! What the scheduler tells a subscriber of the `tracing` crate.

use cantina::scheduler::Runtime;
use machine::lock::Mutex;
use std::fmt::{self, Write};
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const LONG: Duration = Duration::from_secs(30);

/// Tells of each span: when it begins, with its fields, and when it was left. On a worker of a runtime that is called `loud` it
/// panics in the step that comes behind that name.
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

fn is_loud() -> bool {
    std::thread::current().name().is_some_and(|name| name.starts_with("loud"))
}

/// Panics, and prints nothing.
fn loud_in(step: &str) {
    if std::thread::current().name() == Some(&format!("loud-{step}-0")) {
        resume_unwind(Box::new("loud"));
    }
}

impl Subscriber for Teller {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "cantina::scheduler"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        loud_in("new");
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        if !is_loud() {
            self.told.send(fields.0).unwrap();
        }
        Id::from_u64(self.spans.fetch_add(1, Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {
        loud_in("enter");
    }

    fn exit(&self, _: &Id) {
        loud_in("exit");
        if !is_loud() {
            self.told.send("left".to_owned()).unwrap();
        }
    }

    fn try_close(&self, _: Id) -> bool {
        loud_in("close");
        true
    }
}

/// What a subscriber is told.
fn subscribed() -> &'static Mutex<Receiver<String>> {
    static TELLS: OnceLock<Mutex<Receiver<String>>> = OnceLock::new();
    TELLS.get_or_init(|| {
        let (told, tells) = channel();
        let teller = Teller { told, spans: AtomicU64::new(0) };
        tracing::subscriber::set_global_default(teller).unwrap();
        Mutex::new(tells)
    })
}

#[test]
fn a_subscriber_that_panics_harms_nobody() {
    subscribed();
    for step in ["new", "enter", "exit", "close"] {
        let runtime = Runtime::builder().workers(1).name(format!("loud-{step}")).build().unwrap();
        let unit = runtime.unit(0);
        for count in 1..=2 {
            let sent = unit.send(|state| {
                *state += 1;
                *state
            });
            let spawned = runtime.spawn(move || count);
            assert_eq!(sent.wait_timeout(LONG), Some(Ok(count)), "{step}");
            assert_eq!(spawned.wait_timeout(LONG), Some(Ok(count)), "{step}");
        }
    }
}

#[test]
fn messages_and_operations_have_spans() {
    let tells = subscribed().lock();
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let unit = runtime.unit_builder().name("till").build(1);
    assert_eq!(unit.send(|state| *state).wait(), Ok(1));
    assert_eq!(runtime.spawn(|| 2).wait(), Ok(2));
    drop(runtime);
    let told: Vec<String> = tells.try_iter().collect();
    let wanted = ["message unit=\"till\" worker=0", "left", "operation worker=0", "left"];
    assert_eq!(told, wanted);
}
