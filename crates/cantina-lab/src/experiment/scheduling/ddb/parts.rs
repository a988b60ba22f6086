//! Servers, clients and what they say to each other: the same for the scheduler and for everybody else.

use crate::workload::Fault;
use machine::random::Random;
use std::collections::BTreeMap;

/// How many servers there are.
pub const SERVERS: usize = 4;
/// How many clients there are.
pub const CLIENTS: usize = 28;

/// The key that every other request is about.
const HOT: u64 = 0;
/// Keys below this one are counters; the others are put.
const COUNTERS: u64 = 64;
/// How many keys there are.
const KEYS: u64 = 256;

/// What a client asks of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Stores a value; the reply is the one before.
    Put {
        /// Where.
        key: u64,
        /// What.
        value: u64,
    },
    /// The reply is the value, or 0.
    Get {
        /// Where.
        key: u64,
    },
    /// Adds one; the reply is the new value.
    Increment {
        /// Where.
        key: u64,
    },
    /// The reply is how many increments the server has counted. No client asks for it.
    Count,
}

/// A server: the values of its keys.
#[derive(Clone, Debug, Default)]
pub struct Server {
    values: BTreeMap<u64, u64>,
}

/// A client: what it has asked, and what it has still to ask.
#[derive(Clone, Debug)]
pub struct Client {
    random: Random,
    /// Requests to come.
    left: u64,
    /// Increments that it has asked for.
    increments: u64,
    /// The last reply.
    heard: u64,
}

/// The clients of a run with so many messages: half of them are requests.
pub fn clients(messages: u64) -> Vec<Client> {
    let (requests, all) = (messages.div_ceil(2), CLIENTS as u64);
    let client = |index: u64| Client {
        random: Random::seeded(index),
        left: requests / all + u64::from(index < requests % all),
        increments: 0,
        heard: 0,
    };
    (0..all).map(client).collect()
}

/// Whether a run of so many messages counted the increments that its clients asked for.
///
/// # Errors
/// [`Fault::Changed`]: it did not.
pub fn judge(messages: u64, asked: u64, counted: u64) -> Result<(), Fault> {
    if asked == counted { Ok(()) } else { Err(Fault::Changed { tasks: messages }) }
}

impl Server {
    /// Does what was asked for; the reply.
    pub fn serve(&mut self, request: Request) -> u64 {
        match request {
            Request::Put { key, value } => self.values.insert(key, value).unwrap_or(0),
            Request::Get { key } => self.values.get(&key).copied().unwrap_or(0),
            Request::Increment { key } => {
                let value = self.values.entry(key).or_insert(0);
                *value += 1;
                *value
            }
            Request::Count => self.values.range(..COUNTERS).map(|(_, value)| value).sum(),
        }
    }
}

impl Client {
    /// What it asks next, and of which server. `None`: it has asked everything.
    #[allow(clippy::should_implement_trait, reason = "what it asks depends on what it hears")]
    pub fn next(&mut self) -> Option<(usize, Request)> {
        self.left = self.left.checked_sub(1)?;
        let drawn = self.random.next_u64();
        let key = if drawn & 1 == 0 { HOT } else { (drawn >> 8) % KEYS };
        let asks = drawn & 2 == 0;
        let request = match key < COUNTERS {
            false if asks => Request::Get { key },
            false => Request::Put { key, value: drawn },
            // What was heard decides too: an odd number is not left alone.
            true if asks && self.heard.is_multiple_of(2) => Request::Get { key },
            true => {
                self.increments += 1;
                Request::Increment { key }
            }
        };
        Some((server_of(key), request))
    }

    /// Hears the reply to what it asked.
    pub fn hear(&mut self, reply: u64) {
        self.heard = reply;
    }

    /// How many increments it has asked for.
    pub fn increments(&self) -> u64 {
        self.increments
    }
}

/// Which server has a key.
fn server_of(key: u64) -> usize {
    Random::seeded(key).below(SERVERS)
}

#[cfg(test)]
mod tests {
    use super::{CLIENTS, HOT, Request, SERVERS, Server, clients, judge, server_of};
    use crate::workload::Fault;

    #[test]
    fn requests_are_shared_out_and_counted() {
        let mut servers = vec![Server::default(); SERVERS];
        let (mut requests, mut hot, mut asked, mut kinds) = (0, 0, 0, [0; 3]);
        for mut client in clients(28_001) {
            while let Some((server, request)) = client.next() {
                requests += 1;
                hot += usize::from(server == server_of(HOT));
                let kind = match request {
                    Request::Put { .. } => 0,
                    Request::Get { .. } => 1,
                    Request::Increment { .. } => 2,
                    Request::Count => panic!("no client asks for it"),
                };
                kinds[kind] += 1;
                client.hear(servers[server].serve(request));
            }
            asked += client.increments();
        }
        assert_eq!(requests, 14_001);
        assert!(hot > 7_000, "{hot}");
        assert!(kinds.iter().all(|&count| count > 1_000), "{kinds:?}");
        let counted: u64 = servers.iter_mut().map(|server| server.serve(Request::Count)).sum();
        assert_eq!(judge(28_001, asked, counted), Ok(()));
        assert_eq!(judge(7, asked, counted + 1), Err(Fault::Changed { tasks: 7 }));
    }

    #[test]
    fn every_server_has_keys_and_every_client_has_requests() {
        let mut keys = [0; SERVERS];
        (0..super::KEYS).for_each(|key| keys[server_of(key)] += 1);
        assert!(keys.iter().all(|&count| count > 30), "{keys:?}");
        let all = clients(2 * CLIENTS as u64);
        assert!(all.len() == CLIENTS && all.iter().all(|client| client.left == 1));
    }
}
