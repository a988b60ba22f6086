//! Which nodes the structures lead to: when each was linked, and when no longer.
//!
//! This is read off the memory, not said by anybody: a node is linked when links lead to it from a
//! structure, and retired when none does any more.

use super::story::{Moment, Object, ObjectNumber, Value, WordNumber};
use std::collections::{BTreeMap, BTreeSet};

/// The links there are.
#[derive(Default)]
pub(super) struct Reach {
    structures: Vec<ObjectNumber>,
    /// Where the links of each object lead, by word.
    links: BTreeMap<ObjectNumber, BTreeMap<WordNumber, ObjectNumber>>,
    /// Those that are reached, and from which structure.
    reached: BTreeMap<ObjectNumber, ObjectNumber>,
}

impl Reach {
    /// Links start there.
    pub(super) fn structure(&mut self, number: ObjectNumber) {
        self.structures.push(number);
    }

    /// No links start there any more.
    pub(super) fn gone(&mut self, number: Option<ObjectNumber>) {
        if let Some(number) = number {
            self.structures.retain(|structure| *structure != number);
            self.links.remove(&number);
        }
    }

    /// The link `word` of the object `from` has another value. Says so to the objects it concerns.
    pub(super) fn follow(
        &mut self,
        objects: &mut [Object],
        word: WordNumber,
        from: Option<ObjectNumber>,
        value: Value,
        now: Moment,
    ) {
        let Some(from) = from else { return };
        let links = self.links.entry(from).or_default();
        match value {
            Value::Object(to) => _ = links.insert(word, to),
            _ => _ = links.remove(&word),
        }
        if objects[from].node && !self.reached.contains_key(&from) {
            return;
        }
        let reached = self.reach();
        for (number, home) in &reached {
            let object = &mut objects[*number];
            object.linked.get_or_insert(now);
            object.unlinked = None;
            object.home = Some(*home);
        }
        let before: BTreeSet<_> = self.reached.keys().copied().collect();
        for number in before.into_iter().filter(|number| !reached.contains_key(number)) {
            objects[number].unlinked = Some(now);
        }
        self.reached = reached;
    }

    fn reach(&self) -> BTreeMap<ObjectNumber, ObjectNumber> {
        let mut reached = BTreeMap::new();
        for home in &self.structures {
            let mut open = vec![*home];
            while let Some(number) = open.pop() {
                let links = self.links.get(&number).into_iter().flat_map(BTreeMap::values);
                for to in links {
                    if reached.insert(*to, *home).is_none() {
                        open.push(*to);
                    }
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::Reach;
    use crate::view::trace::places::fresh;
    use crate::view::trace::story::{Object, Value};

    /// A queue, and nodes.
    fn objects(nodes: usize) -> Vec<Object> {
        let object = |number: usize| fresh(number > 0, "it", String::new(), -1, None);
        (0..=nodes).map(object).collect()
    }

    #[test]
    fn a_node_is_linked_with_what_leads_to_it_and_retired_when_nothing_does() {
        let mut objects = objects(2);
        let mut reach = Reach::default();
        reach.structure(0);
        // Word 0 is the head, words 1 and 2 the links of the nodes.
        let mut link = |word: usize, to: Option<usize>, now| {
            let value = to.map_or(Value::Number(0), Value::Object);
            reach.follow(&mut objects, word, Some(word), value, now);
            objects.iter().map(|node| (node.linked, node.unlinked)).skip(1).collect::<Vec<_>>()
        };
        assert_eq!(link(1, Some(2), 1), [(None, None); 2], "nothing leads to the first yet");
        assert_eq!(link(0, Some(1), 2), [(Some(2), None); 2]);
        assert_eq!(link(0, Some(2), 3), [(Some(2), Some(3)), (Some(2), None)]);
        assert_eq!(link(0, None, 4), [(Some(2), Some(3)), (Some(2), Some(4))]);
        assert_eq!(link(0, Some(1), 5), [(Some(2), None); 2], "they can come back");
        assert_eq!(objects[1].home, Some(0));
    }

    #[test]
    fn a_ring_does_not_go_round_for_ever() {
        let mut objects = objects(2);
        let mut reach = Reach::default();
        reach.structure(0);
        for (word, to) in [(0, 1), (1, 2), (2, 1)] {
            reach.follow(&mut objects, word, Some(word), Value::Object(to), 7);
        }
        assert!(objects[1..].iter().all(|node| node.linked == Some(7)));
    }
}
