//! A balancer: a prism in which puts and gets meet, and a bit for each that sends them left and right in turn.

use super::prism::{Met, Patience, Prism};
use machine::CachePadded;
use machine::atomic::AtomicU32;
use machine::atomic::Ordering::Relaxed;
use machine::random::Random;

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left = 0,
    Right = 1,
}

/// A node of the tree.
pub(super) struct Balancer<T> {
    prism: Prism<T>,
    /// bare: how many puts it has sent on. The lowest bit is the paper's toggle.
    puts: CachePadded<AtomicU32>,
    /// bare: how many gets.
    gets: CachePadded<AtomicU32>,
}

impl<T> Balancer<T> {
    pub(super) fn new(slots: usize) -> Self {
        let [puts, gets] = [0, 0].map(|count| CachePadded::new(AtomicU32::new(count)));
        Self { prism: Prism::new(slots), puts, gets }
    }

    /// Hands `task` to a get, or says where to go with it.
    pub(super) fn put(
        &self,
        task: T,
        patience: &mut Patience,
        random: &mut Random,
    ) -> Option<(T, Side)> {
        match self.prism.put(task, patience, random) {
            Met::Other(()) => None,
            Met::Same(task, side) => Some((task, side)),
            Met::Nobody(task) => Some((task, turn(&self.puts))),
        }
    }

    /// The task of a put, or where to go.
    pub(super) fn get(&self, patience: &mut Patience, random: &mut Random) -> Result<T, Side> {
        match self.prism.get(patience, random) {
            Met::Other(task) => Ok(task),
            Met::Same((), side) => Err(side),
            Met::Nobody(()) => Err(turn(&self.gets)),
        }
    }
}

/// Left and right in turn.
fn turn(toggle: &AtomicU32) -> Side {
    // hint: which way; any will do.
    let turns = toggle.fetch_add(1, Relaxed);
    if turns & 1 == 0 { Side::Left } else { Side::Right }
}
