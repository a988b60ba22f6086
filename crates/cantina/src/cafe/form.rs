//! The two forms of the pool, behind one interface.

use super::metrics::Metrics;
use super::{binary, wide};
use machine::Arc;
use std::fmt;
use std::ops::ControlFlow;

/// A list of trees of one form.
pub(super) enum Form<T> {
    Wide(Arc<wide::List<T>>),
    Binary(Arc<binary::List<T>>),
}

/// A producer's end of it.
pub(super) enum Putter<T> {
    Wide(wide::Putter<T>),
    Binary(binary::Putter<T>),
}

/// A consumer's end of it.
pub(super) enum Getter<T> {
    Wide(wide::Getter<T>),
    Binary(binary::Getter<T>),
}

impl<T> Form<T> {
    pub(super) fn putter(&self) -> Putter<T> {
        match self {
            Self::Wide(list) => Putter::Wide(wide::Putter::new(list.clone())),
            Self::Binary(list) => Putter::Binary(binary::Putter::new(list.clone())),
        }
    }

    pub(super) fn getter(&self) -> Getter<T> {
        match self {
            Self::Wide(list) => Getter::Wide(wide::Getter::new(list.clone())),
            Self::Binary(list) => Getter::Binary(binary::Getter::new(list.clone())),
        }
    }

    pub(super) fn is_wait_free(&self) -> bool {
        matches!(self, Self::Binary(_))
    }

    pub(super) fn height(&self) -> u32 {
        match self {
            Self::Wide(list) => list.height(),
            Self::Binary(list) => list.height(),
        }
    }

    /// Trees appended from now on have that height. There are such trees.
    pub(super) fn set_height(&self, height: u32) {
        match self {
            Self::Wide(list) => list.set_height(height),
            Self::Binary(list) => list.set_height(height),
        }
    }

    pub(super) fn metrics(&self) -> Metrics {
        match self {
            Self::Wide(list) => list.counters.metrics(list.tree_count(), list.meter.is_some()),
            Self::Binary(list) => list.counters.metrics(list.tree_count(), list.meter.is_some()),
        }
    }

    pub(super) fn len_hint(&self) -> usize {
        match self {
            Self::Wide(list) => list.len_hint(),
            Self::Binary(list) => binary::Getter::new(list.clone()).len_hint(),
        }
    }

    fn tree_count(&self) -> usize {
        match self {
            Self::Wide(list) => list.tree_count(),
            Self::Binary(list) => list.tree_count(),
        }
    }
}

impl<T> Putter<T> {
    #[inline]
    pub(super) fn put(&mut self, task: T) {
        match self {
            Self::Wide(putter) => putter.put(task),
            Self::Binary(putter) => putter.put(task),
        }
    }

    /// Puts all of `tasks`, in order.
    pub(super) fn put_run(&mut self, tasks: &mut Vec<T>) {
        match self {
            Self::Wide(putter) => putter.put_run(tasks),
            Self::Binary(putter) => tasks.drain(..).for_each(|task| putter.put(task)),
        }
    }

    pub(super) fn form(&self) -> Form<T> {
        match self {
            Self::Wide(putter) => Form::Wide(putter.list().clone()),
            Self::Binary(putter) => Form::Binary(putter.list().clone()),
        }
    }
}

impl<T> Getter<T> {
    #[inline]
    pub(super) fn get(&mut self) -> Option<T> {
        match self {
            Self::Wide(getter) => getter.get(),
            Self::Binary(getter) => getter.get(),
        }
    }

    /// One walk of a get, where it is made of walks.
    pub(super) fn walk(&mut self) -> ControlFlow<Option<T>> {
        match self {
            Self::Wide(getter) => ControlFlow::Break(getter.get()),
            Self::Binary(getter) => getter.walk(),
        }
    }

    pub(super) fn get_many(&mut self, max: usize, into: &mut Vec<T>) -> usize {
        match self {
            Self::Wide(getter) => getter.get_many(max, into),
            Self::Binary(getter) => {
                let before = into.len();
                into.extend(std::iter::from_fn(|| getter.get()).take(max));
                into.len() - before
            }
        }
    }

    pub(super) fn form(&self) -> Form<T> {
        match self {
            Self::Wide(getter) => Form::Wide(getter.list().clone()),
            Self::Binary(getter) => Form::Binary(getter.list().clone()),
        }
    }
}

impl<T> Clone for Form<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Wide(list) => Self::Wide(list.clone()),
            Self::Binary(list) => Self::Binary(list.clone()),
        }
    }
}

impl<T> fmt::Debug for Form<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Wide(_) => "wide",
            Self::Binary(_) => "binary",
        };
        write!(f, "{} {what} trees, height {}", self.tree_count(), self.height())
    }
}
