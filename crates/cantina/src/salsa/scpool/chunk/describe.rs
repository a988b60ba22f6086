//! What lies where in a chunk, for whoever draws a run.

use super::super::plan::{Plan, WORD};
use super::super::word::ID_BITS;
use super::{COUNT_BITS, Chunk};
use machine::trace::{self, Role};
use std::slice;

impl<T> Chunk<T> {
    /// Says what lies where.
    ///
    /// # Safety
    /// The chunk is private, and all of it is written.
    pub(super) unsafe fn describe(self, plan: &Plan) {
        // SAFETY: the caller's; a plan has so many of each.
        unsafe {
            let head = self.0.as_ref();
            trace::node(head, "chunk");
            trace::part(&head.owner, "owner", Role::Owner { bits: ID_BITS });
            trace::part(&head.limit, "limit", Role::Number);
            trace::part(&head.filled, "filled", Role::Number);
            trace::part(&head.life, "lap", Role::Number);
            let next = slice::from_raw_parts(self.next_at(plan, 0), plan.consumers as usize);
            trace::row(head, next, "next", Role::Index);
            let words = plan.slots.div_ceil(WORD) as usize;
            let taken = slice::from_raw_parts(self.taken_at(plan, 0), words);
            trace::row(head, taken, "taken", Role::Bits);
            let mut slot = 0;
            while slot < plan.slots {
                let header = slice::from_ref(&*self.header_at(plan, slot));
                trace::row(head, header, "header", Role::Count { bits: COUNT_BITS });
                let end = plan.end::<T>(slot);
                let slots = slice::from_raw_parts(self.slot(plan, slot), (end - slot) as usize);
                trace::row(head, slots, "slot", Role::Task);
                slot = end;
            }
        }
    }
}
