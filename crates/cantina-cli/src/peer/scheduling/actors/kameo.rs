//! kameo: actors on tokio's runtime.

use super::super::Scheduler;
use super::super::database::{self, Servers};
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS, Server};
use kameo::actor::{ActorRef, Spawn};
use kameo::error::Infallible;
use kameo::message::{Context, Message};
use kameo::{Actor, mailbox};
use std::sync::Arc;

pub(in crate::peer::scheduling) const DDB: Scheduler = Scheduler {
    name: "kameo",
    about: "an actor for each server, with an unbounded mailbox; clients are tasks that ask and await",
    package: "kameo",
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| database::run::<References>(assignment),
};

struct Serving(Server);
struct Asked(Request);

impl Actor for Serving {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(state: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(state)
    }
}

impl Message<Asked> for Serving {
    type Reply = u64;

    async fn handle(&mut self, Asked(request): Asked, _: &mut Context<Self, u64>) -> u64 {
        self.0.serve(request)
    }
}

#[derive(Clone)]
struct References(Arc<Vec<ActorRef<Serving>>>);

impl Servers for References {
    async fn start() -> Self {
        let start =
            |_| Serving::spawn_with_mailbox(Serving(Server::default()), mailbox::unbounded());
        Self(Arc::new((0..SERVERS).map(start).collect()))
    }

    async fn ask(&self, server: usize, request: Request) -> u64 {
        self.0[server].ask(Asked(request)).await.expect("the server replies")
    }
}
