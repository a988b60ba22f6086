//! tokio: tasks, and channels between them.

use super::Scheduler;
use super::database::{self, Servers, fault, runtime};
use super::timed;
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS, Server};
use cantina_lab::experiment::scheduling::fib::{self, compute};
use cantina_lab::experiment::scheduling::tell::{self, Tellings, send_all};
use cantina_lab::workload::{Assignment, Fault, Reading};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

pub(super) const FIB: Scheduler = Scheduler {
    name: "tokio-spawn",
    about: "tokio, two spawned tasks that a third one awaits",
    package: "tokio",
    experiment: fib::NAME,
    shapes: Shapes::Any,
    run: run_fib,
};

pub(super) const DDB: Scheduler = Scheduler {
    name: "tokio-mpsc",
    about: "tokio, a task for each server and client; requests by mpsc, replies by oneshot",
    package: "tokio",
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| database::run::<Channels>(assignment),
};

pub(super) const TELL: Scheduler = Scheduler {
    name: "tokio-mpsc",
    about: "tokio, an unbounded mpsc to a task that takes many at a time",
    package: "tokio",
    experiment: tell::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| run_tell(assignment),
};

/// Messages that are taken at a time.
const MANY: usize = 256;

fn run_fib(assignment: &Assignment, work: u64) -> Result<Reading, Fault> {
    let numbers = fib::forest(assignment.tasks);
    let runtime = runtime(assignment)?;
    let (values, elapsed) = timed(|| {
        runtime.block_on(async {
            let tasks: Vec<_> =
                numbers.iter().map(|&number| tokio::spawn(call(number, work))).collect();
            let mut values = Vec::new();
            for task in tasks {
                values.push(task.await.map_err(fault)?);
            }
            Ok::<_, Fault>(values)
        })
    });
    fib::judge(assignment.tasks, &numbers, &values?)?;
    Ok(Reading::took(elapsed))
}

fn call(number: u32, work: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        compute(work);
        if number < 2 {
            return number.into();
        }
        let one = tokio::spawn(call(number - 1, work));
        let two = tokio::spawn(call(number - 2, work));
        let one = one.await.expect("no task panics");
        let two = two.await.expect("no task panics");
        compute(work);
        one + two
    })
}

/// A request, and where its reply goes.
type Letter = (Request, oneshot::Sender<u64>);

#[derive(Clone)]
struct Channels(Arc<Vec<UnboundedSender<Letter>>>);

impl Servers for Channels {
    async fn start() -> Self {
        let start = |_| {
            let (sender, mut receiver) = unbounded_channel::<Letter>();
            tokio::spawn(async move {
                let mut server = Server::default();
                while let Some((request, reply)) = receiver.recv().await {
                    // A client that is gone wants no reply.
                    let _ = reply.send(server.serve(request));
                }
            });
            sender
        };
        Self(Arc::new((0..SERVERS).map(start).collect()))
    }

    async fn ask(&self, server: usize, request: Request) -> u64 {
        let (sender, reply) = oneshot::channel();
        // If the server is gone, so is its end of the reply.
        let _ = self.0[server].send((request, sender));
        reply.await.expect("the server replies")
    }
}

fn run_tell(assignment: &Assignment) -> Result<Reading, Fault> {
    let runtime = runtime(assignment)?;
    let (sender, mut receiver) = unbounded_channel();
    let receives = runtime.spawn(async move {
        let (mut tellings, mut some) = (Tellings::default(), Vec::with_capacity(MANY));
        while receiver.recv_many(&mut some, MANY).await > 0 {
            some.drain(..).for_each(|number| tellings.hear(number));
        }
        tellings
    });
    let begin = send_all(assignment, move || {
        let sender = sender.clone();
        move |number| {
            // A receiver that is gone is noticed by the sum.
            let _ = sender.send(number);
        }
    });
    let tellings = runtime.block_on(receives).map_err(fault)?;
    let elapsed = Duration::from_nanos(cantina_machine::time::nanos() - begin);
    tellings.judge(assignment.tasks)?;
    Ok(Reading::took(elapsed))
}
