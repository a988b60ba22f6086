//! Pools whose ends are clones of the pool.

/// Makes a pool of a type that puts and gets by itself.
macro_rules! ends_are_clones {
    ($pool:ident) => {
        impl<T: Send> cantina::pool::TaskPool<T> for $pool<T> {
            type Producer = Self;
            type Consumer = Self;
            type Worker = Self;

            fn producer(&self) -> Self {
                self.clone()
            }

            fn consumer(&self) -> Self {
                self.clone()
            }

            fn worker(&self) -> Self {
                self.clone()
            }
        }
    };
}

pub(crate) use ends_are_clones;
