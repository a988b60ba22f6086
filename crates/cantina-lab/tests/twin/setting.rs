//! Which pool the twin is, and what is wrong with it.

use super::end::End;
use super::{Bug, Twin};
use cantina_lab::registry::{Batches, Facts, Family, Order};
use cantina_record::Kind;

/// Which pool the twin is, and what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) order: Order,
    pub(crate) capacity: Option<usize>,
    pub(crate) full_slack: usize,
    /// How many consumers and workers there may be.
    pub(crate) limit: Option<usize>,
    /// Whether its batches are one operation each.
    pub(crate) together: bool,
    pub(crate) bug: Option<Bug>,
}

impl Setting {
    pub(crate) fn unbounded() -> Self {
        Self {
            order: Order::Fifo,
            capacity: None,
            full_slack: 0,
            limit: None,
            together: false,
            bug: None,
        }
    }

    pub(crate) fn bounded() -> Self {
        Self { capacity: Some(8), ..Self::unbounded() }
    }

    pub(crate) fn last_in_first_out() -> Self {
        Self { order: Order::Lifo, ..Self::unbounded() }
    }
}

impl Family for Setting {
    type Pool<T: Send + 'static> = Twin<T>;

    fn facts(&self) -> Facts {
        let mut name = format!("twin-{:?}", self.order).to_lowercase();
        if let Some(capacity) = self.capacity {
            name += &format!("-of-{capacity}");
        }
        if self.full_slack > 0 {
            name += &format!("-slack-{}", self.full_slack);
        }
        if let Some(limit) = self.limit {
            name += &format!("-for-{limit}");
        }
        if self.together {
            name += "-together";
        }
        if let Some(bug) = self.bug {
            name += &format!("-{bug:?}");
        }
        Facts {
            name,
            kind: Kind::Contender,
            about: "a lock, and a bug if it is told to have one",
            order: self.order,
            capacity: self.capacity,
            non_blocking: false,
        }
    }

    fn batches(&self) -> Batches {
        if self.together { Batches::TOGETHER } else { Batches::default() }
    }

    fn put_batch<T: Send + 'static>(
        producer: &mut End<T>,
        tasks: impl Iterator<Item = T>,
        _: &mut Vec<T>,
    ) -> usize {
        producer.put_batch(tasks.collect())
    }

    fn build<T: Send + 'static>(&self) -> Twin<T> {
        Twin::new(*self)
    }
}
