//! A job like that of a web crawler: pages lead to pages, nobody knows how many there are, and when all are there
//! somebody has to notice.
//!
//! A host is a unit, so it is asked for one page at a time. The frontier is a unit, too: it knows the pages that were
//! seen, and how many of them are still to come. When that is none, it keeps its promise.
//!
//! `cargo run --release --example crawler`

use cantina::scheduler::{Promise, Runtime, Unit};
use std::collections::BTreeSet;

const HOSTS: u64 = 20;
const PAGES: u64 = 500;

/// A host, and a page of it.
type Address = (u64, u64);

#[derive(Default)]
struct Host {
    fetched: u64,
}

impl Host {
    /// The links of a page; none if there is no such page.
    fn fetch(&mut self, (host, page): Address) -> Result<Vec<Address>, &'static str> {
        self.fetched += 1;
        if page % 17 == 3 {
            return Err("no such page");
        }
        let link =
            |turn: u64| ((host * 7 + page * turn) % HOSTS, (page * 3 + turn * 5 + host) % PAGES);
        Ok((1..=4).map(link).collect())
    }
}

struct Frontier {
    hosts: Vec<Unit<Host>>,
    seen: BTreeSet<Address>,
    /// Pages that were asked for and have not come.
    to_come: usize,
    missing: usize,
    done: Option<Promise<Found>>,
}

/// What there was.
#[derive(Debug)]
struct Found {
    pages: usize,
    missing: usize,
}

impl Frontier {
    /// Asks for a page that nobody has asked for.
    fn visit(&mut self, me: &Unit<Self>, address: Address) {
        if !self.seen.insert(address) {
            return;
        }
        self.to_come += 1;
        let page = self.hosts[address.0 as usize].send(move |host| host.fetch(address));
        let this = me.clone();
        me.send_after(page, move |frontier, links| {
            frontier.missing += usize::from(links.is_err());
            links.into_iter().flatten().for_each(|link| frontier.visit(&this, link));
            frontier.arrived();
        });
    }

    /// A page has come, and what it leads to was asked for: that order makes a count of none the end.
    fn arrived(&mut self) {
        self.to_come -= 1;
        if self.to_come == 0 {
            let done = self.done.take().expect("it comes to its end once");
            done.keep(Found { pages: self.seen.len(), missing: self.missing });
        }
    }
}

fn main() {
    let runtime = Runtime::new();
    let hosts: Vec<_> = (0..HOSTS).map(|_| runtime.unit(Host::default())).collect();
    let (done, found) = runtime.promise();
    let frontier = runtime.unit(Frontier {
        hosts: hosts.clone(),
        seen: BTreeSet::new(),
        to_come: 0,
        missing: 0,
        done: Some(done),
    });
    let me = frontier.clone();
    frontier.tell(move |frontier| frontier.visit(&me, (0, 1)));
    let found = found.wait().expect("it comes to an end");
    let fetched: Vec<_> = hosts.iter().map(|host| host.send(|host| host.fetched)).collect();
    let fetched = runtime.after(fetched, |each| each.into_iter().sum::<u64>()).wait();
    assert_eq!(fetched, Ok(found.pages as u64), "every page once");
    println!("{} pages of {HOSTS} hosts, {} of them not there", found.pages, found.missing);
}
