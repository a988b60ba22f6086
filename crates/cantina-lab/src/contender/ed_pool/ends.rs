//! The ends of an [`EdPool`](super::EdPool): the way down the tree, and the queues.

use super::Shared;
use super::balancer::{Balancer, Side};
use super::prism::Patience;
use crate::contender::lane::{Lane, Member, Stamp};
use crate::contender::ms_queue::Queue;
use cantina::pool::{self, Full};
use cantina::reclaim;
use machine::Arc;
use machine::random::{Random, seed};
use std::fmt;

/// An end for both roles.
pub struct End<T: Send> {
    member: Member<Queue<T>>,
    random: Random,
    /// For each level of the tree: of puts, and of gets.
    patience: Box<[[Patience; 2]]>,
    /// What each queue said when it was last found empty.
    stamps: Box<[Option<Stamp>]>,
    /// Goes last: the others are of it.
    shared: Arc<Shared<T>>,
}

impl<T: Send> Shared<T> {
    /// The balancers on the way down, each chosen by the side that the one above sent us to.
    fn balancer(&self, number: usize) -> Option<&Balancer<T>> {
        self.balancers.get(number)
    }

    /// The queue at the end of a way that came to `number`.
    fn queue_of(&self, number: usize) -> usize {
        number - self.balancers.len()
    }
}

/// The child on that side.
fn below(number: usize, side: Side) -> usize {
    2 * number + 1 + side as usize
}

impl<T: Send> End<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let patience = Patience::new(shared.setup.patience);
        let levels = shared.queues.len().ilog2();
        Self {
            member: reclaim::Member::join(shared.nodes.clone()),
            random: Random::seeded(seed()),
            patience: (0..levels).map(|_| [patience.clone(), patience.clone()]).collect(),
            stamps: shared.queues.iter().map(|_| None).collect(),
            shared,
        }
    }

    /// Goes down until a put takes it on the way, or to a queue.
    fn descend(&mut self) -> Result<T, usize> {
        let mut number = 0;
        for [_, patience] in &mut self.patience {
            let Some(balancer) = self.shared.balancer(number) else { break };
            match balancer.get(patience, &mut self.random) {
                Ok(task) => return Ok(task),
                Err(side) => number = below(number, side),
            }
        }
        Err(self.shared.queue_of(number))
    }
}

impl<T: Send> pool::Producer<T> for End<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        let (mut task, mut number) = (task, 0);
        for [patience, _] in &mut self.patience {
            let Some(balancer) = self.shared.balancer(number) else { break };
            let Some((back, side)) = balancer.put(task, patience, &mut self.random) else {
                return Ok(());
            };
            (task, number) = (back, below(number, side));
        }
        let queue = &self.shared.queues[self.shared.queue_of(number)];
        // SAFETY: I1.
        unsafe { queue.put(&mut self.member, task) };
        Ok(())
    }
}

impl<T: Send> pool::Consumer<T> for End<T> {
    fn get(&mut self) -> Option<T> {
        let first = match self.descend() {
            Ok(task) => return Some(task),
            Err(queue) => queue,
        };
        loop {
            let mut as_before = true;
            for turn in 0..self.stamps.len() {
                let number = (first + turn) % self.stamps.len();
                // SAFETY: I1.
                match unsafe { self.shared.queues[number].get(&mut self.member) } {
                    Ok(task) => return Some(task),
                    Err(stamp) => as_before &= self.stamps[number].replace(stamp) == Some(stamp),
                }
            }
            if as_before {
                return None;
            }
        }
    }
}

impl<T: Send> Clone for End<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T: Send> fmt::Debug for End<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("End").finish_non_exhaustive()
    }
}
