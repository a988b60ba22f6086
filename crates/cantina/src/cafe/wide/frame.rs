//! How many leaves a tree has, and how they hang together.

use super::leaf::SLOTS;
use crate::cafe::MAX_HEIGHT;

/// Children of a root: its word has 17 bits for the version, more than a tree has places.
pub(super) const ROOT_FAN: u32 = 47;
/// Children of a word between root and leaves: 16 bits for the version, more than places below it.
pub(super) const MID_FAN: u32 = 48;
/// Leaves of a mid, as long as the root has room for all mids.
pub(super) const FAN: u32 = 32;

/// So many leaves are mixed.
const GROUP: u32 = 16;
/// How: where each one goes, in four bits, the first one's lowest. Those that follow each other are four or more apart.
const MIXED: u64 = 0x80F7_B3D5_91E6_A2C4;

/// The frame of one tree. One leaf is a tree by itself; up to [`FAN`] hang from the root; more hang from
/// mids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cafe) struct Frame {
    places: u32,
    /// Places of a leaf; the last one may have fewer.
    slots: u32,
    leaves: u32,
    /// Leaves of a mid; the last one may have fewer.
    fan: u32,
    mids: u32,
}

/// Places of a tree of that height.
pub(in crate::cafe) fn places(height: u32) -> u32 {
    let most = ROOT_FAN * MID_FAN * SLOTS;
    if height < MAX_HEIGHT { (2 << height) - 1 } else { most }
}

impl Frame {
    /// The frame of trees of that height, with so many slots in a leaf and leaves in a mid, if a root can
    /// have so many mids.
    pub(in crate::cafe) fn new(height: u32, slots: u32, fan: u32) -> Option<Self> {
        let places = places(height);
        let leaves = places.div_ceil(slots);
        if leaves <= fan {
            return Some(Self { places, slots, leaves, fan, mids: 0 });
        }
        let fan = if leaves.div_ceil(fan) <= ROOT_FAN { fan } else { MID_FAN };
        let mids = leaves.div_ceil(fan);
        (mids <= ROOT_FAN).then_some(Self { places, slots, leaves, fan, mids })
    }

    pub(super) fn places(&self) -> u32 {
        self.places
    }

    /// How many places a producer may claim before it has tasks for them: few of them all.
    pub(super) fn ahead(&self) -> u32 {
        (self.places / 64).clamp(1, self.slots)
    }

    /// By how many others at most a task is overtaken in such a tree. Within a leaf nobody overtakes, unless
    /// places are claimed before there are tasks for them.
    pub(in crate::cafe) fn most_overtakers(&self) -> u32 {
        let own = if self.ahead() == 1 { self.slots_of(self.leaves - 1) } else { 1 };
        self.places - own
    }

    pub(super) fn leaves(&self) -> u32 {
        self.leaves
    }

    pub(super) fn mids(&self) -> u32 {
        self.mids
    }

    /// Children of the root: mids, or leaves where there are none.
    pub(super) fn children(&self) -> u32 {
        if self.mids > 0 { self.mids } else { self.leaves }
    }

    /// Places of `leaf`.
    #[inline]
    pub(super) fn slots_of(&self, leaf: u32) -> u32 {
        self.slots.min(self.places - leaf * self.slots)
    }

    /// The number, in the whole tree, of a place of `leaf`.
    #[inline]
    pub(super) fn place(&self, leaf: u32, slot: u32) -> usize {
        (leaf * self.slots + slot) as usize
    }

    /// Where `leaf` lies among all leaves: leaves with neighbouring numbers are not neighbours. Processors fetch what lies behind
    /// what is read, and would take from a producer what it fills while a consumer reads the leaf before.
    #[inline]
    pub(super) fn spot(&self, leaf: u32) -> u32 {
        let (group, within) = (leaf & !(GROUP - 1), leaf & (GROUP - 1));
        if group + GROUP > self.leaves {
            leaf
        } else {
            group | (MIXED >> (4 * within)) as u32 & (GROUP - 1)
        }
    }

    /// Leaves of `mid`.
    pub(super) fn leaves_of(&self, mid: u32) -> u32 {
        self.fan.min(self.leaves - mid * self.fan)
    }

    /// The leaf that hangs from `mid` as its child number so and so.
    pub(super) fn leaf(&self, mid: u32, child: u32) -> u32 {
        mid * self.fan + child
    }

    /// The mid of `leaf`, and which child of it that is.
    #[inline]
    pub(super) fn above(&self, leaf: u32) -> (u32, u32) {
        (leaf / self.fan, leaf % self.fan)
    }
}

#[cfg(test)]
mod tests {
    use super::{FAN, Frame, MID_FAN, ROOT_FAN, SLOTS, places};

    fn frame(height: u32) -> Frame {
        Frame::new(height, SLOTS, FAN).unwrap()
    }

    #[test]
    fn neighbours_lie_apart() {
        for height in 0..17 {
            let frame = frame(height);
            let spots: Vec<u32> = (0..frame.leaves()).map(|leaf| frame.spot(leaf)).collect();
            let is_near = spots.windows(2).any(|two| two[0].abs_diff(two[1]) < 4);
            assert!(height < 8 || !is_near, "{height}");
            let mut sorted = spots;
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..frame.leaves()));
        }
        // What is left over stays where it is.
        let odd = Frame::new(4, 1, 32).unwrap();
        assert_eq!([15, 16, 17, 30].map(|leaf| odd.spot(leaf)), [8, 16, 17, 30]);
    }

    #[test]
    fn a_height_means_the_places_of_a_binary_tree_of_that_height() {
        for height in 0..16 {
            assert_eq!(places(height), 2u32.pow(height + 1) - 1);
        }
        assert_eq!(places(16), 72_192);
    }

    #[test]
    fn all_places_are_in_leaves_and_all_leaves_below_the_root() {
        for height in 0..=16 {
            let frame = frame(height);
            let slots: u32 = (0..frame.leaves()).map(|leaf| frame.slots_of(leaf)).sum();
            assert_eq!(slots, places(height));
            let below: u32 = (0..frame.mids()).map(|mid| frame.leaves_of(mid)).sum();
            assert_eq!(below, if height < 10 { 0 } else { frame.leaves() });
            for leaf in 0..frame.leaves() {
                let (mid, child) = frame.above(leaf);
                assert_eq!(frame.leaf(mid, child), leaf);
            }
        }
    }

    #[test]
    fn what_is_promised_of_overtaking_is_sharp_where_nobody_claims_ahead() {
        let most = |height| frame(height).most_overtakers();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(most), [0, 0, 0, 0, 0, 32, 96]);
        for height in 0..=16 {
            assert_eq!(frame(height).ahead() == 1, height < 7);
            assert!(height < 7 || most(height) == places(height) - 1);
        }
        let narrow = |height, slots| Frame::new(height, slots, 3).unwrap().most_overtakers();
        assert_eq!([narrow(0, 2), narrow(1, 2), narrow(2, 2), narrow(2, 1)], [0, 2, 6, 6]);
    }

    #[test]
    fn small_trees_have_few_levels() {
        let levels = |height| (frame(height).mids(), frame(height).leaves());
        assert_eq!(levels(4), (0, 1));
        assert_eq!(levels(5), (0, 2));
        assert_eq!(levels(9), (0, 32));
        assert_eq!(levels(12), (8, 256));
        assert_eq!(levels(15), (43, 2048));
        assert_eq!(levels(16), (47, 2256));
        assert_eq!(frame(15).leaves_of(0), MID_FAN);
    }

    #[test]
    fn there_is_a_version_for_every_place_below_a_word() {
        for height in 0..=16 {
            assert!(u64::from(places(height)) < 1 << (u64::BITS - ROOT_FAN));
        }
        let below_a_mid = [MID_FAN * SLOTS];
        assert!(below_a_mid.iter().all(|&places| u64::from(places) < 1 << (u64::BITS - MID_FAN)));
    }
}
