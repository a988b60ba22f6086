//! The database on tokio's runtime, whatever its servers are: clients are tasks that ask and wait.

use super::timed;
use cantina_lab::experiment::scheduling::ddb::{self, Request, SERVERS};
use cantina_lab::workload::{Assignment, Fault, Reading};
use std::future::Future;

/// The servers of a run.
pub(super) trait Servers: Clone + Send + Sync + 'static {
    /// Starts them, on the runtime at hand.
    fn start() -> impl Future<Output = Self>;

    /// What a server replies.
    fn ask(&self, server: usize, request: Request) -> impl Future<Output = u64> + Send;
}

/// A runtime with as many workers as there are to be.
pub(super) fn runtime(assignment: &Assignment) -> Result<tokio::runtime::Runtime, Fault> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(assignment.shape.consumers).build();
    runtime.map_err(|error| Fault::Panicked { message: error.to_string() })
}

/// A task that panicked.
pub(super) fn fault(error: tokio::task::JoinError) -> Fault {
    Fault::Panicked { message: error.to_string() }
}

pub(super) fn run<S: Servers>(assignment: &Assignment) -> Result<Reading, Fault> {
    let runtime = runtime(assignment)?;
    let servers = runtime.block_on(S::start());
    let (asked, elapsed) = timed(|| runtime.block_on(ask_all(&servers, assignment.tasks)));
    let counted = runtime.block_on(async {
        let mut all = 0;
        for server in 0..SERVERS {
            all += servers.ask(server, Request::Count).await;
        }
        all
    });
    ddb::judge(assignment.tasks, asked?, counted)?;
    Ok(Reading::took(elapsed))
}

/// Lets every client ask everything; the increments that they asked for.
async fn ask_all<S: Servers>(servers: &S, messages: u64) -> Result<u64, Fault> {
    let clients = ddb::clients(messages).into_iter().map(|mut client| {
        let servers = servers.clone();
        tokio::spawn(async move {
            while let Some((server, request)) = client.next() {
                let reply = servers.ask(server, request).await;
                client.hear(reply);
            }
            client.increments()
        })
    });
    let mut all = 0;
    for client in clients.collect::<Vec<_>>() {
        all += client.await.map_err(fault)?;
    }
    Ok(all)
}
