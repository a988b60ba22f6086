//! Small programs that must come out right on every schedule. Each flavour runs them its own way.

// By a path, as whoever has one of them alone names it: then what it is made of lies beside it.
#[path = "cafe.rs"]
mod cafe;
mod deque;
mod do_all;
mod handoff;
mod leases;
mod locked;
#[allow(dead_code, reason = "most are too long for loom, and others have tests of their own")]
mod max_array;
pub(crate) mod owner_queue;
mod reclaim;
mod room_pools;
#[path = "rooms.rs"]
mod rooms;
mod salsa;
mod salsa_bounded;
mod salsa_causes;
#[allow(dead_code, reason = "only the simulated machine runs most of them")]
mod salsa_fray;
mod salsa_homes;
#[allow(dead_code, reason = "who runs few schedules does not ask what they came to")]
pub(crate) mod salsa_robbed;
pub(crate) mod scheduler;
#[allow(dead_code, reason = "too long for loom")]
mod shutdowns;
mod todo_tree;
mod values;
mod waiting;
mod work;

use cantina_effort::scenario::{Part, Scenario};

/// All of them. Loom has as few preemptions as show each weakened ordering of a part.
pub(crate) const PARTS: &[Part] = &[
    Part::new("handoff", &handoff::ALL).preemptions(4),
    Part::new("locked", &locked::ALL),
    Part::new("reclaim", &reclaim::ALL).preemptions(4),
    Part::new("owner_queue", &owner_queue::ALL).preemptions(4),
    Part::new("salsa", &SALSA).but(&[("a robbed thief gets a whole task", 5)]),
    Part::new("salsa::bounded", &SALSA_BOUNDED),
    Part::new("salsa::homes", &SALSA_HOMES),
    Part::new("salsa::robbed", &SALSA_ROBBED),
    Part::new("scheduler", &scheduler::SMALL).preemptions(1).but(WORKERS_THAT_SLEEP),
    Part::new("scheduler::deque", &deque::ALL).preemptions(3),
    // There is no worker.
    Part::new("scheduler::values", &values::ALL).preemptions(5).but(VALUES_OF_THREE),
    Part::new("scheduler::large", &scheduler::LARGE).not_on_loom(),
    Part::new("scheduler::shutdown", &shutdowns::ALL).not_on_loom(),
    Part::new("waiting", &waiting::ALL),
    Part::new("cafe", &cafe::ALL).preemptions(4).only_on_loom(),
    Part::new("rooms", &rooms::ALL).preemptions(3).only_on_loom(),
    Part::new("rooms::crowds", &rooms::CROWDS).preemptions(1).only_on_loom(),
    Part::new("rooms::changes", &rooms::CHANGES).preemptions(1).only_on_loom(),
    Part::new("rooms::fickle", &rooms::FICKLE).preemptions(1).only_on_loom(),
    Part::new("rooms::joined", &rooms::JOINED).preemptions(1).only_on_loom(),
    Part::new("rooms::queue", &room_pools::QUEUE).only_on_loom(),
    Part::new("rooms::stack", &room_pools::STACK).only_on_loom(),
    Part::new("rooms::work", &work::ALL).preemptions(1).only_on_loom(),
    Part::new("todo_tree", &todo_tree::ALL).preemptions(4).only_on_loom(),
    Part::new("todo_tree::threes", &todo_tree::THREES).only_on_loom(),
    Part::new("todo_tree::leases", &leases::ALL).preemptions(4).only_on_loom(),
    Part::new("todo_tree::do_all", &do_all::ALL).preemptions(3).only_on_loom(),
    // Their accesses have one order of all, which loom's have not: there fences before looks stand for it.
    Part::new("todo_tree::max_array", &max_array::SMALL).preemptions(4).only_on_loom(),
];

/// Workers look at all there is before they sleep.
const WORKERS_THAT_SLEEP: &[(&str, usize)] = &[
    ("a scope ends", 2),
    ("a state goes with its last handle", 2),
    ("a runtime goes with its last reference", 2),
    ("a send meets the end", 2),
    ("a cancel meets the start", 2),
];

/// Three threads.
const VALUES_OF_THREE: &[(&str, usize)] = &[
    ("two wait with one handle", 2),
    ("a used handle is copied while another goes", 2),
    ("a used handle is copied beside an argument", 2),
];

/// Those of SALSA.
pub(crate) const SALSA: [Scenario; 20] = [
    ("an owner with a full hand meets a thief", salsa::an_owner_with_a_full_hand_meets_a_thief),
    ("a consumer follows its producer", salsa::a_consumer_follows_its_producer),
    ("an owner and a thief share a chunk", salsa::an_owner_and_a_thief_share_a_chunk),
    ("a chunk is stolen back", salsa::a_chunk_is_stolen_back),
    ("an owner and a thief claim a chunk", salsa::an_owner_and_a_thief_claim_a_chunk),
    ("two thieves rob each other", salsa::two_thieves_rob_each_other),
    (
        "a chunk is used again when nobody looks at it",
        salsa::a_chunk_is_used_again_when_nobody_looks_at_it,
    ),
    ("a pool that is never empty never says so", salsa::a_pool_that_is_never_empty_never_says_so),
    (
        "a pool of claims that is never empty never says so",
        salsa::a_pool_of_claims_that_is_never_empty_never_says_so,
    ),
    ("a consumer comes and one goes", salsa::a_consumer_comes_and_one_goes),
    ("a producer goes on where another left off", salsa::a_producer_goes_on_where_another_left_off),
    ("a batch meets a thief", salsa::a_batch_meets_a_thief),
    ("a claimed task is whole", salsa_causes::a_claimed_task_is_whole),
    ("a robbed thief gets a whole task", salsa_causes::a_robbed_thief_gets_a_whole_task),
    ("a thief begins where another did", salsa_causes::a_thief_begins_where_another_did),
    ("a put comes before an announcement", salsa_causes::a_put_comes_before_an_announcement),
    ("a put comes before a claim", salsa_causes::a_put_comes_before_a_claim),
    ("a put comes before a claim of a run", salsa_causes::a_put_comes_before_a_claim_of_a_run),
    ("a put comes before a retirement", salsa_causes::a_put_comes_before_a_retirement),
    (
        "an index of an earlier life is not in force",
        salsa_causes::an_index_of_an_earlier_life_is_not_in_force,
    ),
];

/// Those of SALSA with a capacity.
pub(crate) const SALSA_BOUNDED: [Scenario; 4] = [
    ("room comes after the get that made it", salsa_bounded::room_comes_after_the_get_that_made_it),
    ("a get that is over has made room", salsa_bounded::a_get_that_is_over_has_made_room),
    ("two share the last place", salsa_bounded::two_share_the_last_place),
    ("lots meet at the edge", salsa_bounded::lots_meet_at_the_edge),
];

/// Those of what goes through homes.
pub(crate) const SALSA_HOMES: [Scenario; 6] = [
    ("a spare chunk is filled by another", salsa_homes::a_spare_chunk_is_filled_by_another),
    ("two producers fill a chunk", salsa_homes::two_producers_fill_a_chunk),
    ("a consumer counts on", salsa_homes::a_consumer_counts_on),
    ("two consumers come at once", salsa_homes::two_consumers_come_at_once),
    ("a task moves to a new chunk", salsa_fray::a_task_moves_to_a_new_chunk),
    ("a task moves to a new home", salsa_fray::a_task_moves_to_a_new_home),
];

/// Those of steals that others undo.
pub(crate) const SALSA_ROBBED: [Scenario; 3] = [
    ("a scan undoes a claim", salsa_robbed::a_scan_undoes_a_claim),
    (
        "a thief whose claim was undone makes its attempt",
        salsa_robbed::a_thief_whose_claim_was_undone_makes_its_attempt,
    ),
    ("two rob each other of one task", salsa_robbed::two_rob_each_other_of_one_task),
];

/// Longer ones of SALSA, for schedules that are drawn.
#[allow(dead_code, reason = "only the simulated machine runs them")]
pub(crate) const FRAYS: [Scenario; 10] = [
    ("two fight over a chunk", salsa_fray::two_fight_over_a_chunk),
    ("two fight over a full chunk", salsa_fray::two_fight_over_a_full_chunk),
    ("three fight over a chunk", salsa_fray::three_fight_over_a_chunk),
    ("three fight over more", salsa_fray::three_fight_over_more),
    ("runs meet", salsa_fray::runs_meet),
    ("a chunk is used again", salsa::a_chunk_is_used_again_when_nobody_looks_at_it),
    (
        "a task moves to a chunk that was looked at",
        salsa_fray::a_task_moves_to_a_chunk_that_was_looked_at,
    ),
    ("a task moves to a new chunk", salsa_fray::a_task_moves_to_a_new_chunk),
    ("a task moves to a new home", salsa_fray::a_task_moves_to_a_new_home),
    ("a chunk goes between two looks", salsa_fray::a_chunk_goes_between_two_looks),
];
