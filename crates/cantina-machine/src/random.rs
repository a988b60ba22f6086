//! Random numbers, one generator per handle. For choosing, not for secrets.

use std::hash::{BuildHasher, RandomState};

/// A small fast generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

/// A seed unlike the others: drawn from the operating system's randomness here, from the run's seed
/// on the simulated machine.
pub fn seed() -> u64 {
    RandomState::new().hash_one(0u8)
}

impl Random {
    /// The generator that `seed` makes.
    pub fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, each as likely as the others to within 2^-64 of `bound`.
    ///
    /// # Panics
    /// When `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "there is no number below 0");
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// True once in `times`.
    #[inline]
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Random, seed};

    #[test]
    fn a_seed_repeats_and_seeds_differ() {
        let numbers = |seed| {
            let mut random = Random::seeded(seed);
            std::array::from_fn::<u64, 8, _>(|_| random.next_u64())
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        assert_ne!(seed(), seed());
    }

    #[test]
    fn every_number_below_the_bound_comes_up_about_as_often() {
        let mut random = Random::seeded(7);
        let mut counts = [0; 5];
        (0..50_000).for_each(|_| counts[random.below(5)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
    }
}
