//! actix: actors that each stay on one thread.

use super::super::Scheduler;
use actix::{Actor, Addr, Arbiter, Context, Handler, Message, System};
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS, Server};
use cantina_lab::workload::{Assignment, Fault, Reading};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::unbounded_channel;

pub(in crate::peer::scheduling) const DDB: Scheduler = Scheduler {
    name: "actix",
    about: "an actor for each server, on as many arbiters; clients are futures there that send and await",
    package: "actix",
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| run(assignment),
};

struct Serving(Server);
struct Asked(Request);

impl Message for Asked {
    type Result = u64;
}

impl Actor for Serving {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        context.set_mailbox_capacity(ddb::CLIENTS);
    }
}

impl Handler<Asked> for Serving {
    type Result = u64;

    fn handle(&mut self, Asked(request): Asked, _: &mut Context<Self>) -> u64 {
        self.0.serve(request)
    }
}

fn run(assignment: &Assignment) -> Result<Reading, Fault> {
    System::new().block_on(async {
        let arbiters: Vec<Arbiter> =
            (0..assignment.shape.consumers).map(|_| Arbiter::new()).collect();
        let place = |index: usize| arbiters[index % arbiters.len()].handle();
        let start =
            |index| Serving::start_in_arbiter(&place(index), |_| Serving(Server::default()));
        let servers: Arc<Vec<Addr<Serving>>> = Arc::new((0..SERVERS).map(start).collect());
        let (sender, mut ends) = unbounded_channel();
        let begin = Instant::now();
        for (index, mut client) in ddb::clients(assignment.tasks).into_iter().enumerate() {
            let (servers, sender) = (servers.clone(), sender.clone());
            place(index).spawn(async move {
                while let Some((server, request)) = client.next() {
                    // A server that is gone ends its clients, and that is noticed.
                    let Ok(reply) = servers[server].send(Asked(request)).await else { return };
                    client.hear(reply);
                }
                // Nobody listens only if the run has ended.
                let _ = sender.send(client.increments());
            });
        }
        drop(sender);
        let mut asked = 0;
        while let Some(increments) = ends.recv().await {
            asked += increments;
        }
        let elapsed = begin.elapsed();
        let mut counted = 0;
        for server in servers.iter() {
            let count = server.send(Asked(Request::Count)).await;
            counted += count.map_err(|error| Fault::Panicked { message: error.to_string() })?;
        }
        for arbiter in arbiters {
            arbiter.stop();
            drop(arbiter.join());
        }
        ddb::judge(assignment.tasks, asked, counted)?;
        Ok(Reading::took(elapsed))
    })
}
