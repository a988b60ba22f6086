//! Other people's crates: what a user would pick instead.
//!
//! Each is driven by its own fastest documented use, one file per crate. They synchronise over
//! `std`, so they run on the real machine only.
//!
//! One of them is nobody's: [`stream`] is what two threads can reach at best. It stands with the contenders.
//!
//! Whoever is bounded holds [`CAPACITY`] tasks, if it says nothing else. A producer that finds no room tries again, spinning
//! briefly and then yielding, and so does a consumer that finds nothing: no peer is made to sleep.
//!
//! Schedulers are other experiments' peers: [`scheduling`].

mod concurrent_queue;
mod crossbeam_channel;
mod crossbeam_deque;
mod crossbeam_queue;
mod crossfire;
mod flume;
mod kanal;
mod parking_lot;
mod rtrb;
pub(crate) mod scheduling;
mod st3;
mod std_mpsc;
mod stream;

use cantina_lab::experiment::scheduling as lab_scheduling;
use cantina_lab::experiment::{Contestant, Drive, Shapes, capacity};
use cantina_record::Kind;

/// How many tasks a bounded peer holds that is not faster with fewer.
const CAPACITY: usize = 1 << 16;

/// The lock file this program was built from.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// The package of what was written for the bench.
const OWN: &str = "cantina-cli";

/// Somebody else's crate, in one way of using it.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    /// What it is and how it is used, in one line without a full stop.
    about: &'static str,
    /// The crate's name; `std` for what comes with the compiler, [`OWN`] for what comes with this program.
    package: &'static str,
    shapes: Shapes,
    /// Whether it allocates while tasks go through it.
    allocates: bool,
    quick: bool,
    drive: fn() -> Drive,
}

static ALL: [Peer; 20] = [
    stream::STREAM,
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
    parking_lot::STACK,
];

/// Whose callers put and get one by one, and who steal many tasks at a time all the same.
const STEALING: [Peer; 3] = [st3::SINGLE, crossbeam_deque::WORKER, crossbeam_deque::INJECTOR];

/// Every peer, the limit first, then the fastest by repute.
pub(crate) fn all() -> &'static [Peer] {
    &ALL
}

/// Some peers whose calls are timed, of those that hand out one task at a time.
pub(crate) fn stamped() -> Vec<Contestant> {
    let contestant = |peer: &Peer, drive| Contestant { drive, ..peer.contestant() };
    vec![
        contestant(&crossbeam_queue::SEG_QUEUE, crossbeam_queue::stamped_segments()),
        contestant(&crossbeam_queue::ARRAY_QUEUE, crossbeam_queue::stamped_array()),
        contestant(&crossbeam_channel::UNBOUNDED, crossbeam_channel::stamped()),
        contestant(&concurrent_queue::UNBOUNDED, concurrent_queue::stamped()),
    ]
}

/// Peers that are bounded, to each of these numbers of tasks.
pub(crate) fn bounded(capacities: &[u64]) -> Vec<Contestant> {
    let with = |peer: &Peer, about: &str, drive: fn(usize) -> Drive| {
        let contestant = |&tasks: &u64| Contestant {
            about: about.to_owned(),
            parameter: Some((capacity::FIELD, tasks)),
            drive: drive(tasks as usize),
            ..peer.contestant()
        };
        capacities.iter().map(contestant).collect::<Vec<_>>()
    };
    let about = "a queue in an array; push and pop";
    let mut all = with(&crossbeam_queue::ARRAY_QUEUE, about, crossbeam_queue::array);
    let about = "a bounded channel; try_send and try_recv";
    all.extend(with(&crossbeam_channel::BOUNDED, about, crossbeam_channel::bounded_to));
    all
}

/// Some peers as stacks that workers share, with each of these amounts of work.
pub(crate) fn shared(percent: &[u64]) -> Vec<Contestant> {
    let mut all = parking_lot::shared(percent);
    all.extend(crossbeam_queue::shared_segments(percent));
    all
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
        version_of(self.package)
    }

    /// Whose it is. Our best is measured against peers' best, and that is not a limit that no pool reaches.
    pub(crate) fn kind(&self) -> Kind {
        kind_of(self.package)
    }

    /// The same, ready to take part.
    pub(crate) fn contestant(&self) -> Contestant {
        Contestant {
            name: self.name.to_owned(),
            kind: self.kind(),
            about: self.about.to_owned(),
            version: self.version().map(str::to_owned),
            shapes: self.shapes,
            allocates: self.allocates,
            parameter: None,
            drive: (self.drive)(),
        }
    }
}

/// Whether a peer of that name is among those of a quick run of an experiment. A name may be a peer's and a scheduler's.
pub(crate) fn is_quick(experiment: &str, name: &str) -> bool {
    let is_quick = |peer: &Peer| peer.name == name && peer.quick;
    lab_scheduling::NAMES.contains(&experiment) || all().iter().any(is_quick)
}

/// Whether a peer is called for one task at a time and steals many.
pub(crate) fn steals_batches(name: &str) -> bool {
    STEALING.iter().any(|peer| peer.name == name)
}

/// The version of a package that this program was built with, if it is known.
fn version_of(package: &str) -> Option<&'static str> {
    match package {
        "std" => env!("CANTINA_RUSTC").split(' ').nth(1),
        OWN => None,
        package => locked_version(LOCK, package),
    }
}

/// Whose a package is.
fn kind_of(package: &str) -> Kind {
    if package == OWN { Kind::Contender } else { Kind::Peer }
}

/// The version of `package` in a lock file.
fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let entry = format!("[[package]]\nname = \"{package}\"\nversion = \"");
    lock.split_once(&entry)?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::{LOCK, OWN, Peer, all, locked_version, stamped};
    use cantina_lab::workload::{Assignment, Payload, Shape};
    use std::collections::BTreeSet;
    use std::time::Duration;

    fn run(peer: &Peer, shape: Shape, payload: Payload) {
        let contestant = peer.contestant();
        if !contestant.shapes.admit(shape) {
            return;
        }
        let assignment = Assignment {
            shape,
            tasks: 20_001,
            pin: false,
            patience: Duration::from_secs(60),
            watched: false,
        };
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
    fn peers_that_are_queues_let_nobody_overtake() {
        let (shape, patience) = (Shape::new(2, 2), Duration::from_secs(60));
        let assignment = Assignment { shape, tasks: 3_000, pin: false, patience, watched: false };
        for contestant in stamped() {
            let reading = (contestant.drive)(Payload::Word, &assignment).unwrap();
            let order = reading.order.expect("one task at a time");
            assert_eq!((order.tasks, order.most), (3_000, 0), "{contestant:?}");
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
        for peer in all().iter().filter(|peer| peer.package != OWN) {
            let version = peer.version().unwrap();
            assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{}", peer.name);
            let entries = LOCK.matches(&format!("\nname = \"{}\"\n", peer.package)).count();
            assert!(peer.package == "std" || entries == 1, "{}: which of them?", peer.package);
        }
    }
}
