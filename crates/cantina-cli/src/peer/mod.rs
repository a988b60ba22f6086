//! Other people's crates: what a user would pick instead.
//!
//! Each is driven by its own fastest documented use, one file per crate. They synchronise over
//! `std`, so they run on the real machine only.
//!
//! Whoever is bounded holds [`CAPACITY`] tasks, if it says nothing else. A producer that finds no room tries again, spinning
//! briefly and then yielding, and so does a consumer that finds nothing: no peer is made to sleep.

mod concurrent_queue;
mod crossbeam_channel;
mod crossbeam_deque;
mod crossbeam_queue;
mod crossfire;
mod flume;
mod kanal;
mod rtrb;
mod st3;
mod std_mpsc;

use cantina_lab::experiment::{Contestant, Drive, Shapes};
use cantina_record::Kind;

/// How many tasks a bounded peer holds that is not faster with fewer.
const CAPACITY: usize = 1 << 16;

/// The lock file this program was built from.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// Somebody else's crate, in one way of using it.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    /// What it is and how it is used, in one line without a full stop.
    about: &'static str,
    /// The crate's name; `std` for what comes with the compiler.
    package: &'static str,
    shapes: Shapes,
    /// Whether it allocates while tasks go through it.
    allocates: bool,
    quick: bool,
    drive: fn() -> Drive,
}

static ALL: [Peer; 18] = [
    rtrb::SINGLE,
    rtrb::BATCH,
    st3::SINGLE,
    st3::BATCH,
    crossbeam_deque::WORKER,
    crossbeam_deque::INJECTOR,
    crossbeam_queue::SEG_QUEUE,
    crossbeam_queue::ARRAY_QUEUE,
    crossbeam_channel::UNBOUNDED,
    crossbeam_channel::BOUNDED,
    kanal::SINGLE,
    kanal::BATCH,
    flume::SINGLE,
    flume::BATCH,
    concurrent_queue::UNBOUNDED,
    crossfire::UNBOUNDED,
    crossfire::BOUNDED,
    std_mpsc::UNBOUNDED,
];

/// Every peer, the fastest by repute first.
pub(crate) fn all() -> &'static [Peer] {
    &ALL
}

impl Peer {
    /// Its name in records and on the command line.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// What it is and how it is used, in one line without a full stop.
    pub(crate) fn about(&self) -> &'static str {
        self.about
    }

    /// The version this program was built with, if it is known.
    pub(crate) fn version(&self) -> Option<&'static str> {
        match self.package {
            "std" => env!("CANTINA_RUSTC").split(' ').nth(1),
            package => locked_version(LOCK, package),
        }
    }

    /// Whether it is among the few of a quick run.
    pub(crate) fn is_quick(&self) -> bool {
        self.quick
    }

    /// The same, ready to take part.
    pub(crate) fn contestant(&self) -> Contestant {
        Contestant {
            name: self.name.to_owned(),
            kind: Kind::Peer,
            about: self.about.to_owned(),
            version: self.version().map(str::to_owned),
            shapes: self.shapes,
            allocates: self.allocates,
            drive: (self.drive)(),
        }
    }
}

/// The version of `package` in a lock file.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let entry = format!("[[package]]\nname = \"{package}\"\nversion = \"");
    lock.split_once(&entry)?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::{LOCK, Peer, all, locked_version};
    use cantina_lab::workload::{Assignment, Payload, Shape};
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn run(peer: &Peer, shape: Shape, payload: Payload) {
        let contestant = peer.contestant();
        if !contestant.shapes.admit(shape) {
            return;
        }
        let assignment =
            Assignment { shape, tasks: 20_001, pin: false, patience: Duration::from_secs(60) };
        let run = (contestant.drive)(payload, &assignment);
        assert!(run.is_ok(), "{} at {shape}: {run:?}", peer.name);
    }

    #[test]
    fn every_peer_hands_over_every_task() {
        for peer in all() {
            for shape in [(1, 1), (2, 2), (1, 3), (3, 1)].map(|(p, c)| Shape::new(p, c)) {
                run(peer, shape, Payload::Word);
                run(peer, shape, Payload::Line);
            }
        }
    }

    #[test]
    fn names_differ_and_descriptions_are_one_line() {
        let names: BTreeSet<&str> = all().iter().map(|peer| peer.name).collect();
        assert_eq!(names.len(), all().len());
        for peer in all() {
            assert!(!peer.about.ends_with('.') && !peer.about.contains('\n'), "{}", peer.about);
        }
    }

    #[test]
    fn the_version_is_the_one_in_the_lock_file() {
        let lock = "[[package]]\nname = \"a-b\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.3.4\"\nsource = \"x\"\n";
        assert_eq!(locked_version(lock, "b"), Some("2.3.4"));
        assert_eq!(locked_version(lock, "c"), None);
        for peer in all() {
            let version = peer.version().unwrap();
            assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{}", peer.name);
            let entries = LOCK.matches(&format!("\nname = \"{}\"\n", peer.package)).count();
            assert!(peer.package == "std" || entries == 1, "{}: which of them?", peer.package);
        }
    }
}
