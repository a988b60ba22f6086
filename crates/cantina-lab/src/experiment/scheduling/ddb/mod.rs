//! A distributed database: four servers, twenty-eight clients, one key that everybody wants.
//!
//! Figures 7 to 10 of the paper about owner queues. A client asks, waits for the reply, and asks again; what it asks
//! for depends on the reply. Every other request is about the hot key. A request and its reply are two messages.
//!
//! With [work](contestants_with) in each message it also shows how units spread: the hot server can have no more than
//! one worker, and the others have what is left.

mod parts;

pub use parts::{CLIENTS, Client, Request, SERVERS, Server, clients, judge};

use super::fib::{FIELD, compute};
use super::{contestant, labour, runtime};
use crate::experiment::Contestant;
use crate::workload::{Assignment, Fault, Labour, Reading, Units};
use cantina::scheduler::{Eventual, Promise, Unit};
use cantina_record::Kind;
use machine::Arc;
use machine::time::{Duration, nanos};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "ddb";

/// To how much each message counts beside what it is for, on a simulated machine.
pub const WORK: [u64; 3] = [0, 1_000, 10_000];
/// The same of a quick run.
pub const QUICK_WORK: [u64; 2] = [0, 10_000];

/// A client with those that it asks.
struct Asking {
    client: Client,
    servers: Servers,
    /// Kept when it has nothing more to ask.
    done: Option<Promise<u64>>,
    /// To how much each message counts.
    work: u64,
}

type Servers = Arc<Vec<Unit<Server>>>;

/// How a reply finds its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// The client's next operation waits for what the request comes to.
    Eventuals,
    /// The server tells the client.
    Telling,
}

/// The scheduler, in both ways.
pub fn contestants() -> Vec<Contestant> {
    both(0)
}

/// The scheduler, in both ways, with each of these amounts of work in each message.
pub fn contestants_with(work: &[u64]) -> Vec<Contestant> {
    let with = |work| {
        both(work)
            .into_iter()
            .map(move |each| Contestant { parameter: Some((FIELD, work)), ..each })
    };
    work.iter().copied().flat_map(with).collect()
}

fn both(work: u64) -> Vec<Contestant> {
    let ways = [
        (
            "scheduler",
            "units; a request is sent, and the client's next operation waits for its eventual",
            Way::Eventuals,
        ),
        ("scheduler-telling", "units; a request is told, and so is its reply", Way::Telling),
    ];
    let both = ways.into_iter().map(|(name, about, way)| {
        contestant(name, Kind::Ours, about, move |assignment| run(way, work, assignment))
    });
    both.collect()
}

fn run(way: Way, work: u64, assignment: &Assignment) -> Result<Reading, Fault> {
    let tasks = assignment.tasks;
    let runtime = runtime(assignment.shape.consumers);
    let handle = runtime.handle();
    let servers: Servers =
        Arc::new((0..SERVERS).map(|_| runtime.unit(Server::default())).collect());
    let (mut units, mut ends) = (Vec::new(), Vec::new());
    for client in clients(tasks) {
        let (done, end) = runtime.promise();
        let (servers, done) = (servers.clone(), Some(done));
        units.push(runtime.unit(Asking { client, servers, done, work }));
        ends.push(end);
    }
    let begin = nanos();
    for unit in &units {
        let me = unit.clone();
        unit.tell(move |state| state.ask(&me, way));
    }
    let wait = |eventual: Eventual<u64>| match eventual.wait_timeout(assignment.patience) {
        Some(Ok(increments)) => Ok(increments),
        Some(Err(error)) => Err(Fault::Panicked { message: error.to_string() }),
        None => Err(Fault::Lost { tasks, missing: tasks }),
    };
    let asked = ends.into_iter().map(wait).sum::<Result<u64, Fault>>()?;
    let elapsed = Duration::from_nanos(nanos() - begin);
    let counts = servers.iter().map(|server| server.send(|server| server.serve(Request::Count)));
    let counts: Vec<_> = counts.collect();
    let counted = counts.into_iter().map(wait).sum::<Result<u64, Fault>>()?;
    let metrics = servers.iter().map(Unit::metrics).chain(units.iter().map(Unit::metrics));
    let counters = Units::of(metrics.map(|unit| (unit.messages, unit.moves)));
    drop((units, servers));
    judge(tasks, asked, counted)?;
    let labour = Labour { units: Some(counters), ..labour(runtime, &handle) };
    Ok(Reading { labour: Some(labour), ..Reading::took(elapsed) })
}

impl Asking {
    /// Asks for the next thing, if there is one.
    fn ask(&mut self, me: &Unit<Self>, way: Way) {
        let Some((server, request)) = self.client.next() else {
            let done = self.done.take().expect("it comes to its end once");
            return done.keep(self.client.increments());
        };
        let (server, unit, work) = (&self.servers[server], me, self.work);
        let me = unit.clone();
        match way {
            Way::Eventuals => {
                let reply = server.send(move |server: &mut Server| {
                    compute(work);
                    server.serve(request)
                });
                drop(unit.send_after(reply, move |state, reply| state.go_on(reply, &me, way)));
            }
            Way::Telling => server.tell(move |server| {
                compute(work);
                let reply = server.serve(request);
                let unit = me.clone();
                unit.tell(move |state| state.go_on(reply, &me, way));
            }),
        }
    }

    fn go_on(&mut self, reply: u64, me: &Unit<Self>, way: Way) {
        compute(self.work);
        self.client.hear(reply);
        self.ask(me, way);
    }
}

#[cfg(test)]
mod tests {
    use super::contestants;
    use crate::experiment::scheduling::shape;
    use crate::workload::{Assignment, Payload};
    use machine::time::Duration;

    #[test]
    fn every_client_hears_all_its_replies() {
        let patience = Duration::from_secs(60);
        for contestant in contestants() {
            for (workers, tasks) in [(1, 1), (2, 3_000), (3, 56)] {
                let assignment = Assignment {
                    shape: shape(workers),
                    tasks,
                    pin: false,
                    patience,
                    watched: false,
                };
                let reading = (contestant.drive)(Payload::Word, &assignment).unwrap();
                let ran = reading.labour.and_then(|labour| labour.workers).unwrap().operations;
                assert!(ran >= tasks, "{contestant:?}: {ran} of {tasks}");
            }
        }
    }
}
