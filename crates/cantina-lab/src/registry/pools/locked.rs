//! The locked pool.

use crate::registry::{Facts, Family, Order, Visitor};
use cantina::locked::Locked;
use cantina_record::Kind;

pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(LockedFamily);
}

/// There are none.
pub(super) fn visit_variants(_: &mut impl Visitor) {}

#[derive(Clone, Copy, Debug)]
struct LockedFamily;

impl Family for LockedFamily {
    type Pool<T: Send + 'static> = Locked<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: "locked".to_owned(),
            kind: Kind::Ours,
            about: "a mutex and a deque: first in, first out, obviously right",
            order: Order::Fifo,
            capacity: None,
            non_blocking: false,
        }
    }

    fn build<T: Send + 'static>(&self) -> Locked<T> {
        Locked::new()
    }
}
