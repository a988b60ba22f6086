//! Which instants lie in none of many open intervals, while intervals are taken away.
//!
//! Only the ends of the intervals are looked at: the free instants are a closed set, and each
//! stretch of it begins at such an end.

use std::ops::Range;

/// How many intervals lie over each instant: a tree over the instants, in which node `n` is over
/// those of `2n` and `2n + 1`, and the instants themselves are the last nodes.
#[derive(Debug)]
pub(crate) struct Gaps {
    /// The ends of the intervals.
    instants: Vec<u64>,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// How many intervals lie over all of it, and not over all of its parent.
    all_over: i64,
    /// How many of the intervals that end below its parent lie over the instant with the fewest.
    fewest: i64,
}

/// More than all the intervals: a gap that has been found already, or no instant at all.
const FOUND: i64 = i64::MAX / 2;

impl Gaps {
    /// Counts `intervals`, given as `(after, before)`.
    pub(crate) fn new(intervals: impl Iterator<Item = (u64, u64)> + Clone) -> Self {
        let mut instants: Vec<u64> =
            intervals.clone().flat_map(|(after, before)| [after, before]).collect();
        instants.sort_unstable();
        instants.dedup();
        let leaves = instants.len().next_power_of_two();
        let mut gaps = Self { nodes: vec![Node::default(); 2 * leaves], instants };
        let nobody = gaps.instants.len()..leaves;
        gaps.add(FOUND, &nobody, 1, 0..leaves);
        for (after, before) in intervals {
            gaps.add(1, &gaps.between(after, before), 1, 0..leaves);
        }
        gaps
    }

    /// Takes the interval `(after, before)` away.
    pub(crate) fn take_away(&mut self, after: u64, before: u64) {
        let between = self.between(after, before);
        self.add(-1, &between, 1, 0..self.nodes.len() / 2);
    }

    /// The gaps at instants of the open interval `(after, before)` that were not found before, in
    /// order.
    pub(crate) fn find(&mut self, after: u64, before: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let between = self.between(after, before);
        self.find_below(&between, 1, 0..self.nodes.len() / 2, 0, &mut found);
        found
    }

    fn between(&self, after: u64, before: u64) -> Range<usize> {
        self.instants.partition_point(|&instant| instant <= after)
            ..self.instants.partition_point(|&instant| instant < before)
    }

    /// Adds `count` over the places in `range`, as far as they are below `node`, which is over
    /// `over`.
    fn add(&mut self, count: i64, range: &Range<usize>, node: usize, over: Range<usize>) {
        if range.is_empty() || over.end <= range.start || range.end <= over.start {
            return;
        }
        if range.start <= over.start && over.end <= range.end {
            self.nodes[node].all_over += count;
            self.nodes[node].fewest += count;
            return;
        }
        let middle = over.start.midpoint(over.end);
        self.add(count, range, 2 * node, over.start..middle);
        self.add(count, range, 2 * node + 1, middle..over.end);
        self.update(node);
    }

    /// `above` lie over all of `node`, beside its own.
    fn find_below(
        &mut self,
        range: &Range<usize>,
        node: usize,
        over: Range<usize>,
        above: i64,
        found: &mut Vec<u64>,
    ) {
        let apart = over.end <= range.start || range.end <= over.start;
        if apart || above + self.nodes[node].fewest > 0 {
            return;
        }
        if over.len() == 1 {
            found.push(self.instants[over.start]);
            self.nodes[node].all_over += FOUND;
            self.nodes[node].fewest += FOUND;
            return;
        }
        let above = above + self.nodes[node].all_over;
        let middle = over.start.midpoint(over.end);
        self.find_below(range, 2 * node, over.start..middle, above, found);
        self.find_below(range, 2 * node + 1, middle..over.end, above, found);
        self.update(node);
    }

    fn update(&mut self, node: usize) {
        let below = self.nodes[2 * node].fewest.min(self.nodes[2 * node + 1].fewest);
        self.nodes[node].fewest = self.nodes[node].all_over + below;
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;

    #[test]
    fn an_instant_between_two_intervals_is_free() {
        let mut gaps = Gaps::new([(1, 3), (3, 5)].into_iter());
        assert_eq!(gaps.find(0, 9), [1, 3, 5]);
        assert_eq!(gaps.find(0, 9), [], "each is found once");
    }

    #[test]
    fn taking_an_interval_away_opens_what_only_it_lay_over() {
        let mut gaps = Gaps::new([(1, 9), (2, 4), (3, 6)].into_iter());
        assert_eq!(gaps.find(1, 9), []);
        gaps.take_away(1, 9);
        assert_eq!(gaps.find(1, 6), [2]);
        assert_eq!(gaps.find(0, 10), [1, 6, 9]);
        gaps.take_away(3, 6);
        assert_eq!(gaps.find(0, 10), [4]);
        gaps.take_away(2, 4);
        assert_eq!(gaps.find(0, 10), [3]);
    }

    #[test]
    fn without_intervals_there_is_nothing_to_find() {
        assert_eq!(Gaps::new([].into_iter()).find(0, 9), []);
    }
}
