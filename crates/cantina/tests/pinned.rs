//! A program that pins its only thread before it does anything else: pools and runtimes see what the process has all the same. No thread but the
//! first may be there, so this is no test of a harness.

use cantina::salsa::Salsa;
use cantina::salsa::policy::{Candidate, Policy, Seeker};
use cantina::scheduler::Runtime;
use cantina::topology::{CoreId, Topology};
use std::fs;
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;

/// The cores that the kernel lets this thread run on, by the kernel's own word.
fn allowed() -> Option<Vec<CoreId>> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let parts = list.trim().split(',').map(|part| part.split_once('-').unwrap_or((part, part)));
    let ranges = parts.map(|(first, last)| Some(first.parse().ok()?..=last.parse().ok()?));
    Some(ranges.collect::<Option<Vec<_>>>()?.into_iter().flatten().map(CoreId).collect())
}

/// Notes what a pool thinks of this machine.
#[derive(Debug)]
struct Notes(Arc<Mutex<Vec<Topology>>>);

impl Policy for Notes {
    fn arrange(&self, topology: &Topology, _: &Seeker, _: &mut [Candidate]) {
        self.0.lock().unwrap().push(topology.clone());
    }
}

fn main() {
    let Some(cores) = allowed() else { return println!("not on Linux: nothing to see") };
    let parallelism = available_parallelism().map_or(1, NonZero::get);
    if machine::thread::pin_to(cores[0]).is_err() {
        return println!("threads cannot be pinned here");
    }
    assert_eq!(allowed(), Some(vec![cores[0]]));
    assert_eq!(Topology::detect().cores().collect::<Vec<_>>(), cores);
    assert_eq!(machine::thread::available_parallelism(), parallelism);
    assert_eq!(machine::thread::own_parallelism(), 1);
    assert_eq!(Runtime::new().metrics().workers.len(), parallelism);

    let seen = Arc::new(Mutex::default());
    let pool = Salsa::builder().policy(Notes(seen.clone())).build().unwrap();
    let _ends = (pool.consumer(), pool.producer().put(1));
    let seen = seen.lock().unwrap();
    assert!(!seen.is_empty() && seen.iter().all(|seen| *seen == Topology::detect()), "{seen:?}");
    println!("test a_program_that_pins_itself_sees_the_process ... ok");
}
