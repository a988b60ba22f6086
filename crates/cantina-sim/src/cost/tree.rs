//! Who comes first: a tournament over the times of all events.
//!
//! Leaves are event sources, two for each thread: its own next step, and the next store in its
//! buffer. The key of a leaf is its time, and its number where times are equal.

/// No event.
pub(crate) const NEVER: u64 = u64::MAX;

/// Bits of a key that say which leaf it is.
const LEAF_BITS: u32 = 10;

/// The smallest key of all leaves, at any time.
#[derive(Debug)]
pub(crate) struct Tree {
    /// The winner of each match; node `n` plays for `n / 2`, leaves start at `nodes.len() / 2`.
    nodes: Vec<u64>,
}

/// The latest time there is: longer than anybody lives.
pub(crate) const LATEST: u64 = (NEVER >> LEAF_BITS) - 1;

/// The key of an event at `time` of `leaf`.
pub(crate) fn key(time: u64, leaf: usize) -> u64 {
    time.min(LATEST) << LEAF_BITS | leaf as u64
}

/// When the event with this key is, and whose.
pub(crate) fn event(key: u64) -> (u64, usize) {
    (key >> LEAF_BITS, (key & ((1 << LEAF_BITS) - 1)) as usize)
}

impl Tree {
    /// A tree without events.
    pub(crate) fn new() -> Self {
        Self { nodes: vec![NEVER; 4] }
    }

    /// The first event.
    pub(crate) fn first(&self) -> u64 {
        self.nodes[1]
    }

    /// Sets the event of `leaf` to `time`.
    pub(crate) fn set(&mut self, leaf: usize, time: u64) {
        self.put(leaf, key(time, leaf));
    }

    /// `leaf` has no event.
    pub(crate) fn clear(&mut self, leaf: usize) {
        self.put(leaf, NEVER);
    }

    fn put(&mut self, leaf: usize, key: u64) {
        while leaf >= self.nodes.len() / 2 {
            self.grow();
        }
        let mut node = self.nodes.len() / 2 + leaf;
        self.nodes[node] = key;
        while node > 1 {
            let winner = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }

    fn grow(&mut self) {
        let leaves = self.nodes.split_off(self.nodes.len() / 2);
        self.nodes = vec![NEVER; leaves.len() * 4];
        for (leaf, key) in leaves.into_iter().enumerate() {
            self.put(leaf, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{NEVER, Tree, event};
    use cantina_machine::random::Random;

    #[test]
    fn the_first_event_is_always_on_top() {
        let mut tree = Tree::new();
        let mut times = vec![None; 514];
        let mut random = Random::seeded(3);
        assert_eq!(tree.first(), NEVER);
        for _ in 0..20_000 {
            let leaf = random.below(times.len());
            times[leaf] = (!random.one_in(4)).then(|| random.below(1_000) as u64);
            match times[leaf] {
                Some(time) => tree.set(leaf, time),
                None => tree.clear(leaf),
            }
            let first = times
                .iter()
                .enumerate()
                .filter_map(|(leaf, time)| Some((time.as_ref()?, leaf)))
                .min();
            match first {
                Some((&time, leaf)) => assert_eq!(event(tree.first()), (time, leaf)),
                None => assert_eq!(tree.first(), NEVER),
            }
        }
    }
}
