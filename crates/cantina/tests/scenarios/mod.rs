//! Small programs that must come out right on every schedule. Each flavour runs them its own way.

mod handoff;
mod locked;
mod reclaim;

/// A scenario and its name.
pub(crate) type Scenario = (&'static str, fn());

/// All of them.
pub(crate) const ALL: [Scenario; 8] = [
    ("exactly one taker gets the task", handoff::exactly_one_taker_gets_the_task),
    ("a task that nobody took is dropped once", handoff::a_task_that_nobody_took_is_dropped_once),
    ("a lock hands every task over once", locked::a_lock_hands_every_task_over_once),
    (
        "a locked pool that is never empty never says so",
        locked::a_locked_pool_never_empty_never_says_so,
    ),
    ("a node is freed after the last look", reclaim::a_node_is_freed_after_the_last_look),
    ("an announcement ends the one before", reclaim::an_announcement_ends_the_one_before),
    ("a seat is handed on with its nodes", reclaim::a_seat_is_handed_on_with_its_nodes),
    ("a node that came back is seen whole", reclaim::a_node_that_came_back_is_seen_whole),
];
