//! That the model would notice: the trap that the paper's interface has.

extern crate cantina_on_loom as cantina;

#[path = "../../../crates/cantina/tests/scenarios/owner_queue.rs"]
#[allow(dead_code, reason = "`scenarios.rs` runs the others")]
mod scenarios;

use machine::model::{PREEMPTIONS, search};

/// What was taken off the queue is worked on while somebody else owns it.
#[test]
#[should_panic(expected = "Causality violation")]
fn an_owner_that_works_on_the_last_item_after_the_end_is_found() {
    search(PREEMPTIONS, 1, scenarios::the_last_item_is_worked_on_after_the_end);
}
