//! xtra: actors on tokio's runtime.

use super::Scheduler;
use super::database::{self, Servers};
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS, Server};
use std::sync::Arc;
use xtra::{Actor, Address, Context, Handler, Mailbox};

pub(super) const DDB: Scheduler = Scheduler {
    name: "xtra",
    about: "an actor for each server, with an unbounded mailbox; clients are tasks that send and await",
    package: "xtra",
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| database::run::<Addresses>(assignment),
};

struct Serving(Server);
struct Asked(Request);

impl Actor for Serving {
    type Stop = ();

    async fn stopped(self) {}
}

impl Handler<Asked> for Serving {
    type Return = u64;

    async fn handle(&mut self, Asked(request): Asked, _: &mut Context<Self>) -> u64 {
        self.0.serve(request)
    }
}

#[derive(Clone)]
struct Addresses(Arc<Vec<Address<Serving>>>);

impl Servers for Addresses {
    async fn start() -> Self {
        let start = |_| xtra::spawn_tokio(Serving(Server::default()), Mailbox::unbounded());
        Self(Arc::new((0..SERVERS).map(start).collect()))
    }

    async fn ask(&self, server: usize, request: Request) -> u64 {
        self.0[server].send(Asked(request)).await.expect("the server replies")
    }
}
