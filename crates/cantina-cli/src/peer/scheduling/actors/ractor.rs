//! ractor: actors on tokio's runtime.

use super::super::Scheduler;
use super::super::database::{self, Servers};
use cantina_lab::experiment::Shapes;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS, Server};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use std::sync::Arc;

pub(in crate::peer::scheduling) const DDB: Scheduler = Scheduler {
    name: "ractor",
    about: "an actor for each server; clients are tasks that call and await",
    package: "ractor",
    experiment: ddb::NAME,
    shapes: Shapes::Any,
    run: |assignment, _| database::run::<References>(assignment),
};

struct Serving;
struct Asked(Request, RpcReplyPort<u64>);

impl Actor for Serving {
    type Msg = Asked;
    type State = Server;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Asked>, (): ()) -> Result<Server, ActorProcessingErr> {
        Ok(Server::default())
    }

    async fn handle(
        &self,
        _: ActorRef<Asked>,
        Asked(request, reply): Asked,
        server: &mut Server,
    ) -> Result<(), ActorProcessingErr> {
        // A client that is gone wants no reply.
        let _ = reply.send(server.serve(request));
        Ok(())
    }
}

#[derive(Clone)]
struct References(Arc<Vec<ActorRef<Asked>>>);

impl Servers for References {
    async fn start() -> Self {
        let mut all = Vec::new();
        for _ in 0..SERVERS {
            all.push(Actor::spawn(None, Serving, ()).await.expect("it starts").0);
        }
        Self(Arc::new(all))
    }

    async fn ask(&self, server: usize, request: Request) -> u64 {
        let reply = self.0[server].call(|port| Asked(request, port), None).await;
        reply.expect("the server is asked").unwrap()
    }
}
