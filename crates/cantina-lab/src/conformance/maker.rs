//! Families whose type is forgotten: each makes pools of the tasks that the checks use, and of no others.

use super::dropping::Legacy;
use super::pool::AnyPool;
use super::task::{Aligned, Counted, Large};
use crate::registry::Family;
use cantina::pool::TaskPool;

/// A way of building pools.
pub(super) struct Maker(Box<dyn Makes>);

/// Puts a batch of numbers as the family does. How many went in.
pub(super) type PutBatch = Box<dyn FnMut(&[u64]) -> usize + Send>;

/// One more end that puts batches into a pool.
pub(super) type BatchEnds = Box<dyn Fn() -> PutBatch>;

/// What the checks make pools of.
pub(super) trait Kind: Send + Sized + 'static {
    /// A new, empty pool of them.
    fn pool(maker: &Maker) -> AnyPool<Self>;
}

impl Maker {
    /// Builds pools as `family` does.
    pub(super) fn of(family: impl Family) -> Self {
        Self(Box::new(family))
    }

    /// A new, empty pool of numbers, and the ends that put batches into it.
    pub(super) fn numbers_in_batches(&self) -> (AnyPool<u64>, BatchEnds) {
        self.0.numbers_in_batches()
    }
}

impl Clone for Maker {
    fn clone(&self) -> Self {
        self.0.again()
    }
}

/// The kinds of tasks, and what pools of them are called.
macro_rules! kinds {
    ($($kind:ty: $pool:ident),* $(,)?) => {
        /// What a family does for the checks.
        trait Makes: Send + Sync {
            fn again(&self) -> Maker;
            fn numbers_in_batches(&self) -> (AnyPool<u64>, BatchEnds);
            $(fn $pool(&self) -> AnyPool<$kind>;)*
        }

        impl<F: Family> Makes for F {
            fn again(&self) -> Maker {
                Maker::of(self.clone())
            }

            fn numbers_in_batches(&self) -> (AnyPool<u64>, BatchEnds) {
                let pool = self.build::<u64>();
                let all = AnyPool::of(pool.clone());
                let end = move || -> PutBatch {
                    let (mut producer, mut run) = (pool.producer(), Vec::new());
                    Box::new(move |tasks| {
                        F::put_batch(&mut producer, tasks.iter().copied(), &mut run)
                    })
                };
                (all, Box::new(end))
            }

            $(fn $pool(&self) -> AnyPool<$kind> {
                AnyPool::of(self.build::<$kind>())
            })*
        }

        $(impl Kind for $kind {
            fn pool(maker: &Maker) -> AnyPool<Self> {
                maker.0.$pool()
            }
        })*
    };
}

kinds! {
    u64: numbers,
    (): nothings,
    u8: bytes,
    Box<u64>: boxes,
    String: texts,
    Aligned: aligned,
    Large: large,
    Counted: counted,
    Legacy: legacies,
}
