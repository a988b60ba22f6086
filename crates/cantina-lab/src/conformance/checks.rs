//! All the checks, by name.

use super::case::Case;
use super::finding::Finding;
use super::{
    batches, bounded, churn, dropping, emptiness, handles, histories, leaving, model, once, order,
};
use crate::registry::{Facts, Order};

/// A check, and which pools it is about.
pub(super) struct Check {
    pub(super) name: &'static str,
    pub(super) about: fn(&Facts) -> bool,
    pub(super) run: fn(&Case) -> Result<(), Finding>,
}

/// Every check, in the order in which they are best read.
pub(super) fn checks() -> Vec<Check> {
    let check = |name, about, run| Check { name, about, run };
    vec![
        check(
            "one_thread_cannot_tell_it_from_the_obvious_pool",
            any,
            model::one_thread_cannot_tell_it_from_the_obvious_pool,
        ),
        check("every_task_is_got_exactly_once", any, once::every_task_is_got_exactly_once),
        check(
            "batches_and_single_calls_go_together",
            any,
            once::batches_and_single_calls_go_together,
        ),
        check(
            "tasks_of_every_size_and_alignment_arrive_whole",
            any,
            once::tasks_of_every_size_and_alignment_arrive_whole,
        ),
        check(
            "a_leaving_consumer_leaves_its_tasks_to_others",
            any,
            leaving::a_leaving_consumer_leaves_its_tasks_to_others,
        ),
        check(
            "a_leaving_worker_leaves_its_tasks_to_others",
            any,
            leaving::a_leaving_worker_leaves_its_tasks_to_others,
        ),
        check(
            "a_leaving_producer_leaves_its_tasks_behind",
            any,
            leaving::a_leaving_producer_leaves_its_tasks_behind,
        ),
        check(
            "handles_come_and_go_while_others_work",
            any,
            churn::handles_come_and_go_while_others_work,
        ),
        check(
            "what_is_left_is_dropped_once_with_the_last_handle",
            any,
            dropping::what_is_left_is_dropped_once_with_the_last_handle,
        ),
        check(
            "every_task_is_dropped_once_whoever_goes_last",
            any,
            dropping::every_task_is_dropped_once_whoever_goes_last,
        ),
        check(
            "tasks_that_panic_when_dropped_take_no_other_with_them",
            any,
            dropping::tasks_that_panic_when_dropped_take_no_other_with_them,
        ),
        check(
            "a_task_may_use_another_pool_when_dropped",
            any,
            dropping::a_task_may_use_another_pool_when_dropped,
        ),
        check(
            "batches_of_every_size_are_put_whole",
            any,
            batches::batches_of_every_size_are_put_whole,
        ),
        check(
            "a_batch_whose_iterator_panics_loses_nothing",
            any,
            batches::a_batch_whose_iterator_panics_loses_nothing,
        ),
        check(
            "the_iterator_of_a_batch_may_use_the_pool",
            any,
            batches::the_iterator_of_a_batch_may_use_the_pool,
        ),
        check(
            "an_iterator_that_promises_too_much_does_no_harm",
            any,
            batches::an_iterator_that_promises_too_much_does_no_harm,
        ),
        check(
            "a_batch_is_got_up_to_its_maximum_and_appended",
            any,
            batches::a_batch_is_got_up_to_its_maximum_and_appended,
        ),
        check(
            "a_batch_reserves_only_for_what_is_there",
            any,
            batches::a_batch_reserves_only_for_what_is_there,
        ),
        check(
            "an_unbounded_pool_is_never_full",
            unbounded,
            bounded::an_unbounded_pool_is_never_full,
        ),
        check(
            "a_full_pool_gives_back_the_very_task",
            bounded,
            bounded::a_full_pool_gives_back_the_very_task,
        ),
        check(
            "what_does_not_fit_comes_back_in_order",
            bounded,
            bounded::what_does_not_fit_comes_back_in_order,
        ),
        check(
            "never_more_than_the_capacity_are_inside",
            bounded,
            bounded::never_more_than_the_capacity_are_inside,
        ),
        check(
            "tasks_of_one_producer_come_in_order",
            fifo,
            order::tasks_of_one_producer_come_in_order,
        ),
        check("jugglers_never_find_it_empty", any, emptiness::jugglers_never_find_it_empty),
        check(
            "a_task_put_by_a_joined_thread_is_there",
            any,
            emptiness::a_task_put_by_a_joined_thread_is_there,
        ),
        check(
            "a_task_put_before_a_signal_is_there_after_it",
            any,
            emptiness::a_task_put_before_a_signal_is_there_after_it,
        ),
        check("a_stalled_thread_blocks_nobody", any, handles::a_stalled_thread_blocks_nobody),
        check("handles_move_between_threads", any, handles::handles_move_between_threads),
        check(
            "very_many_consumers_work_or_are_refused",
            any,
            handles::very_many_consumers_work_or_are_refused,
        ),
        check(
            "histories_of_small_programs_are_linearizable",
            any,
            histories::histories_of_small_programs_are_linearizable,
        ),
        check(
            "histories_of_long_runs_show_nothing_wrong",
            any,
            histories::histories_of_long_runs_show_nothing_wrong,
        ),
    ]
}

fn any(_: &Facts) -> bool {
    true
}

fn bounded(facts: &Facts) -> bool {
    facts.capacity.is_some()
}

fn unbounded(facts: &Facts) -> bool {
    facts.capacity.is_none()
}

fn fifo(facts: &Facts) -> bool {
    facts.order == Order::Fifo
}
