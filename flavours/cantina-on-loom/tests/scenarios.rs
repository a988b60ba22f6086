//! The scenarios on every schedule that there is time for.

extern crate cantina_on_loom as cantina;

#[path = "../../../crates/cantina/tests/scenarios/cafe.rs"]
mod cafe;
#[path = "../../../crates/cantina/tests/scenarios/do_all.rs"]
mod do_all;
#[path = "../../../crates/cantina/tests/scenarios/leases.rs"]
mod leases;
#[path = "../../../crates/cantina/tests/scenarios/max_array.rs"]
#[allow(dead_code, reason = "most are too long for loom")]
mod max_array;
#[path = "../../../crates/cantina/tests/scenarios/room_pools.rs"]
mod room_pools;
#[path = "../../../crates/cantina/tests/scenarios/rooms.rs"]
mod rooms;
#[path = "../../../crates/cantina/tests/scenarios/mod.rs"]
mod scenarios;
#[path = "../../../crates/cantina/tests/scenarios/todo_tree.rs"]
mod todo_tree;
#[path = "../../../crates/cantina/tests/scenarios/work.rs"]
mod work;

use cantina_effort::scenario::{self, Part};
use machine::model::{Ended, PREEMPTIONS, search};
use scenarios::salsa_robbed::has_come_to_it;

/// Those that are not in a list of all.
const PARTS: [Part; 11] = [
    ("cafe", &cafe::ALL),
    ("rooms", &rooms::ALL),
    ("rooms::crowds", &rooms::CROWDS),
    ("rooms::queue", &room_pools::QUEUE),
    ("rooms::stack", &room_pools::STACK),
    ("rooms::work", &work::ALL),
    ("todo_tree", &todo_tree::ALL),
    ("todo_tree::threes", &todo_tree::THREES),
    ("todo_tree::leases", &leases::ALL),
    ("todo_tree::do_all", &do_all::ALL),
    // Their accesses have one order of all, which loom's have not: there fences before looks stand for it.
    ("todo_tree::max_array", &max_array::SMALL),
];

/// The scheduler's large ones are too long for loom.
fn parts() -> Vec<Part> {
    let listed = scenarios::PARTS.iter().copied().filter(|(part, _)| *part != "scheduler::large");
    listed.chain(PARTS).collect()
}

fn main() {
    let parts = parts();
    scenario::test_each(&parts, |part, (name, scenario)| {
        let many = parts_of(part);
        let searched = search(preemptions(part, name), many, scenario);
        println!("{part}: {name}: {searched}");
        let is_whole = !matches!(searched.ended, Ended::Time(_));
        let came_to_it = part != "salsa::robbed" || has_come_to_it(name);
        assert!(came_to_it || !is_whole, "no schedule comes to what it is about");
    });
}

/// How many scenarios share the time of `part`.
fn parts_of(part: &str) -> usize {
    parts().iter().find(|(name, _)| *name == part).map_or(1, |(_, scenarios)| scenarios.len())
}

/// As few preemptions as show each weakened ordering of the part.
fn preemptions(part: &str, name: &str) -> usize {
    match (part, name) {
        ("salsa", "a robbed thief gets a whole task") => 5,
        (
            "handoff"
            | "reclaim"
            | "owner_queue"
            | "cafe"
            | "todo_tree"
            | "todo_tree::leases"
            | "todo_tree::max_array",
            _,
        ) => 4,
        ("rooms" | "scheduler::deque" | "todo_tree::do_all", _) => 3,
        // Three threads.
        ("scheduler::values", "two wait with one handle")
        | ("scheduler::values", "a used handle is copied while another goes")
        | ("scheduler::values", "a used handle is copied beside an argument") => 2,
        // There is no worker.
        ("scheduler::values", _) => 5,
        // Workers look at all there is before they sleep.
        (
            "scheduler",
            "a scope ends"
            | "a state goes with its last handle"
            | "a runtime goes with its last reference"
            | "a send meets the end"
            | "a cancel meets the start",
        ) => 2,
        ("scheduler" | "rooms::crowds" | "rooms::work", _) => 1,
        _ => PREEMPTIONS,
    }
}
