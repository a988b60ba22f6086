//! What the standard library has: threads, a channel, a mutex.

use super::{Scheduler, timed};
use crate::peer::OWN;
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Client, Request, SERVERS, Server};
use cantina_lab::experiment::scheduling::tell::{self, Tellings, send_all};
use cantina_lab::workload::{Assignment, Fault, Reading};
use cantina_machine::time::nanos;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

pub(super) const DDB: Scheduler = Scheduler {
    name: "mutex",
    about: "a mutex around each server; no messages, clients take turns on as many threads",
    package: OWN,
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| run_ddb(assignment),
};

pub(super) const MUTEX: Scheduler = Scheduler {
    name: "mutex",
    about: "a mutex that the senders lock; no messages and no receiver",
    package: OWN,
    experiment: tell::NAME,
    shapes: Shapes::OneConsumer,
    run: |assignment, _| run_mutex(assignment),
};

pub(super) const CHANNEL: Scheduler = Scheduler {
    name: "std-mpsc",
    about: "the standard library's unbounded channel, to a thread",
    package: "std",
    experiment: tell::NAME,
    shapes: Shapes::OneConsumer,
    run: |assignment, _| run_channel(assignment),
};

fn run_ddb(assignment: &Assignment) -> Result<Reading, Fault> {
    let servers: [Mutex<Server>; SERVERS] = Default::default();
    let threads = assignment.shape.consumers;
    let mut groups: Vec<Vec<Client>> = vec![Vec::new(); threads];
    for (index, client) in ddb::clients(assignment.tasks).into_iter().enumerate() {
        groups[index % threads].push(client);
    }
    let (asked, elapsed) = timed(|| {
        thread::scope(|scope| {
            let ask = |group| scope.spawn(|| take_turns(group, &servers));
            let threads: Vec<_> = groups.into_iter().map(ask).collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<u64>()
        })
    });
    let counted =
        servers.iter().map(|server| locked(server, |server| server.serve(Request::Count)));
    ddb::judge(assignment.tasks, asked, counted.sum())?;
    Ok(Reading::took(elapsed))
}

/// Every client asks once, again and again until all are done; the increments that they asked for.
fn take_turns(mut clients: Vec<Client>, servers: &[Mutex<Server>]) -> u64 {
    let mut asks = true;
    while asks {
        asks = false;
        for client in &mut clients {
            if let Some((server, request)) = client.next() {
                client.hear(locked(&servers[server], |server| server.serve(request)));
                asks = true;
            }
        }
    }
    clients.iter().map(Client::increments).sum()
}

fn locked<S, R>(mutex: &Mutex<S>, f: impl FnOnce(&mut S) -> R) -> R {
    f(&mut mutex.lock().unwrap_or_else(PoisonError::into_inner))
}

fn run_mutex(assignment: &Assignment) -> Result<Reading, Fault> {
    let tellings = Arc::new(Mutex::new(Tellings::default()));
    let theirs = tellings.clone();
    let begin = send_all(assignment, move || {
        let tellings = theirs.clone();
        move |number| locked(&tellings, |tellings| tellings.hear(number))
    });
    let elapsed = Duration::from_nanos(nanos() - begin);
    locked(&tellings, |tellings| tellings.judge(assignment.tasks))?;
    Ok(Reading::took(elapsed))
}

fn run_channel(assignment: &Assignment) -> Result<Reading, Fault> {
    let (sender, receiver) = channel();
    let receives = thread::spawn(move || {
        let mut tellings = Tellings::default();
        receiver.into_iter().for_each(|number| tellings.hear(number));
        tellings
    });
    let begin = send_all(assignment, move || {
        let sender = sender.clone();
        move |number| {
            // A receiver that is gone is noticed by the sum.
            let _ = sender.send(number);
        }
    });
    let panicked = |_| Fault::Panicked { message: "the receiver".to_owned() };
    let tellings = receives.join().map_err(panicked)?;
    let elapsed = Duration::from_nanos(nanos() - begin);
    tellings.judge(assignment.tasks)?;
    Ok(Reading::took(elapsed))
}
