//! How many blocks a tree has, and how nodes hang together above them.

use super::Shape;
use super::block::SLOTS;
use super::max_array::MAX_VALUES;
use std::ops::Range;

/// Blocks that are looked at one by one, in the wide shape, with no nodes above them.
const FLAT: usize = 256;
/// So many of them lie beside each other.
const BESIDE: usize = 16;
/// Nodes that are looked at one by one, in place of a root above them.
const WIDE_TOP: usize = 64;
/// The most children of a node, in the wide shape.
const WIDE_FAN: usize = 32;
/// The most blocks of a tree, in the wide shape, whose takes are counted late. All of them are looked at before it is full.
const LATE: usize = 1024;
/// The most children of a node.
pub(super) const MAX_FAN: usize = 64;

/// Places of a block, children of a node, and the most nodes of the highest level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widths {
    pub(super) slots: u32,
    pub(super) fan: usize,
    pub(super) top: usize,
}

/// The layout of one tree. Level 0 are the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    capacity: usize,
    slots: u32,
    fan: usize,
    /// How many there are on each level.
    sizes: Vec<usize>,
    /// How many places one of each level has, if it is not the last.
    spans: Vec<usize>,
    /// Whether walks weigh each child, and ends have no block that they begin with.
    pub(super) by_weight: bool,
    /// Whether a consumer counts what it takes below a node when it goes on to another one (I6).
    pub(super) counts_late: bool,
    /// The values of an epoch, where nodes count in max arrays.
    pub(super) array_values: Option<u64>,
}

/// How many children nodes have over so many blocks: no more than it takes to need no further level. Whoever puts or takes
/// looks at all children of a node, twice.
fn wide_fan(blocks: usize) -> usize {
    let covers = |fan: usize, levels: u32| fan.pow(levels).saturating_mul(WIDE_TOP) >= blocks;
    let levels = (1..).find(|&levels| covers(WIDE_FAN, levels)).unwrap_or(0);
    (2..WIDE_FAN).find(|&fan| covers(fan, levels)).unwrap_or(WIDE_FAN)
}

impl Shape {
    /// The widths of a tree with so many places.
    pub(super) fn widths(self, capacity: usize) -> Widths {
        match self {
            Self::Wide => match capacity.div_ceil(SLOTS as usize) {
                ..=FLAT => Widths { slots: SLOTS, fan: BESIDE, top: FLAT },
                blocks => Widths { slots: SLOTS, fan: wide_fan(blocks), top: WIDE_TOP },
            },
            Self::Binary | Self::MaxArrays => Widths { slots: 1, fan: 2, top: 1 },
        }
    }
}

impl Layout {
    pub(super) fn new(capacity: usize, shape: Shape, widths: Widths) -> Self {
        let Widths { slots, fan, top } = widths;
        let mut sizes = vec![capacity.div_ceil(slots as usize)];
        let mut spans = vec![slots as usize];
        while sizes[sizes.len() - 1] > top {
            sizes.push(sizes[sizes.len() - 1].div_ceil(fan));
            spans.push(spans[spans.len() - 1] * fan);
        }
        let array_values = (shape == Shape::MaxArrays).then_some(MAX_VALUES);
        let by_weight = shape != Shape::Wide;
        let counts_late = !by_weight && sizes.len() > 1 && sizes[0] <= LATE;
        Self { capacity, slots, fan, sizes, spans, by_weight, counts_late, array_values }
    }

    #[inline]
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    #[inline]
    pub(super) fn blocks(&self) -> usize {
        self.sizes[0]
    }

    /// How many nodes each level above the blocks has, from below.
    #[inline]
    pub(super) fn levels(&self) -> &[usize] {
        &self.sizes[1..]
    }

    /// The highest level, and how many it has.
    #[inline]
    pub(super) fn top(&self) -> (usize, usize) {
        let level = self.sizes.len() - 1;
        (level, self.sizes[level])
    }

    /// Those of the level below that hang from a node.
    #[inline]
    pub(super) fn children(&self, level: usize, node: usize) -> Range<usize> {
        let first = node * self.fan;
        first..(first + self.fan).min(self.sizes[level - 1])
    }

    /// The one that hangs over a block or node.
    #[inline]
    pub(super) fn above(&self, child: usize) -> usize {
        (child as u32 / self.fan as u32) as usize
    }

    /// How many places there are in a block, or below a node.
    #[inline]
    pub(super) fn places_of(&self, level: usize, node: usize) -> usize {
        let span = self.spans[level];
        span.min(self.capacity - node * span)
    }

    /// The number, in the whole tree, of a place of `block`.
    #[inline]
    pub(super) fn place(&self, block: usize, slot: u32) -> usize {
        block * self.slots as usize + slot as usize
    }

    /// The block of a place, and which of its places that is.
    #[inline]
    pub(super) fn block_of(&self, place: usize) -> (usize, u32) {
        let slots = self.slots as usize;
        (place / slots, (place % slots) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::{Layout, Shape, Widths};

    fn layouts() -> impl Iterator<Item = Layout> {
        let widths = [(16, 32, 64), (1, 2, 1), (2, 2, 1), (3, 3, 2), (1, 2, 2), (4, 5, 3)];
        let capacities = [1, 2, 3, 15, 16, 17, 100, 1_023, 1_024, 1_025, 5_000];
        capacities.into_iter().flat_map(move |capacity| {
            widths.map(|(slots, fan, top)| {
                Layout::new(capacity, Shape::Wide, Widths { slots, fan, top })
            })
        })
    }

    #[test]
    fn all_places_are_in_blocks_and_all_blocks_below_the_top() {
        for layout in layouts() {
            let (top, nodes) = layout.top();
            for level in 0..=top {
                let places = |node| layout.places_of(level, node);
                let size = if level == 0 { layout.blocks() } else { layout.levels()[level - 1] };
                assert_eq!((0..size).map(places).sum::<usize>(), layout.capacity(), "{layout:?}");
            }
            let mut reached: Vec<usize> = (0..nodes).collect();
            for level in (1..=top).rev() {
                reached = reached.iter().flat_map(|&node| layout.children(level, node)).collect();
            }
            assert!(reached.iter().copied().eq(0..layout.blocks()), "{layout:?}");
            for place in 0..layout.capacity() {
                let (block, slot) = layout.block_of(place);
                assert_eq!(layout.place(block, slot), place);
                assert!((slot as usize) < layout.places_of(0, block));
            }
        }
    }

    #[test]
    fn a_few_thousand_places_are_flat() {
        let layout = |capacity, shape: Shape| Layout::new(capacity, shape, shape.widths(capacity));
        assert_eq!(layout(1_024, Shape::Wide).top(), (0, 64));
        assert_eq!(layout(4_096, Shape::Wide).top(), (0, 256));
        assert_eq!(layout(4_097, Shape::Wide).levels(), [52]);
        assert_eq!(layout(1 << 15, Shape::Wide).levels(), [64]);
        assert_eq!(layout(1 << 16, Shape::Wide).levels(), [512, 64]);
        assert_eq!(layout(1 << 28, Shape::Wide).top(), (4, 60));
        assert_eq!(layout(16, Shape::Binary).levels(), [8, 4, 2, 1]);
        assert_eq!(layout(1, Shape::Binary).top(), (0, 1));
        assert_eq!(layout(5, Shape::Binary).levels(), [3, 2, 1]);
    }

    #[test]
    fn a_child_is_below_the_one_above_it() {
        for layout in layouts() {
            for (level, &size) in (1..).zip(layout.levels()) {
                for node in 0..size {
                    assert!(layout.children(level, node).all(|child| layout.above(child) == node));
                }
            }
        }
    }
}
