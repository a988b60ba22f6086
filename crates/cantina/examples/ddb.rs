//! A database of the paper: servers that each have their keys, clients that put, get and increment, and one key that
//! everybody wants. No locks, and no increment is lost.
//!
//! `cargo run --release --example ddb`

use cantina::scheduler::{Promise, Runtime, Unit};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const SERVERS: usize = 4;
const CLIENTS: u64 = 28;
const REQUESTS: u64 = 1_000;
const KEYS: u64 = 100;
const HOT: u64 = 0;

/// The values of some keys.
type Server = BTreeMap<u64, u64>;

struct Client {
    servers: Arc<Vec<Unit<Server>>>,
    number: u64,
    /// Requests so far.
    asked: u64,
    /// How many of them were increments of the hot key.
    increments: u64,
    done: Option<Promise<u64>>,
}

impl Client {
    /// Sends a request, and goes on when its reply is there.
    fn ask(&mut self, me: &Unit<Self>) {
        if self.asked == REQUESTS {
            let done = self.done.take().expect("it comes to its end once");
            return done.keep(self.increments);
        }
        let turn = self.number + self.asked;
        // Every other request is about one key.
        let key = if turn % 2 == 0 { HOT } else { 1 + turn % (KEYS - 1) };
        let server = &self.servers[key as usize % SERVERS];
        let reply = match turn % 4 {
            0 => {
                self.increments += 1;
                server.send(move |values| {
                    let value = values.entry(key).or_insert(0);
                    *value += 1;
                    *value
                })
            }
            1 => server.send(move |values| values.insert(key, turn).unwrap_or(0)),
            _ => server.send(move |values| values.get(&key).copied().unwrap_or(0)),
        };
        self.asked += 1;
        let this = me.clone();
        me.send_after(reply, move |client, _| client.ask(&this));
    }
}

fn main() {
    let runtime = Runtime::new();
    let servers: Arc<Vec<_>> =
        Arc::new((0..SERVERS).map(|_| runtime.unit(Server::new())).collect());
    let begin = Instant::now();
    let clients = (0..CLIENTS).map(|number| {
        let (done, end) = runtime.promise();
        let (servers, done) = (servers.clone(), Some(done));
        let client = runtime.unit(Client { servers, number, asked: 0, increments: 0, done });
        let me = client.clone();
        client.tell(move |client| client.ask(&me));
        end
    });
    let asked = runtime.after(clients.collect::<Vec<_>>(), |all| all.into_iter().sum::<u64>());
    let asked = asked.wait().expect("no client fails");
    let took = begin.elapsed();
    let counted = servers[HOT as usize % SERVERS].send(|values| values[&HOT]);
    assert_eq!(counted.wait(), Ok(asked));
    println!("{} requests, {asked} increments of one key, {took:?}", CLIENTS * REQUESTS);
    for (number, worker) in runtime.metrics().workers.iter().enumerate() {
        println!("worker {number}: {} messages, {} steals", worker.messages, worker.steals);
    }
}
