//! What each check has to find.

use super::{Bug, Setting};
use cantina_lab::registry::Order;

/// A bug, in which kind of pool, and the check that has to find it.
pub(crate) struct Plant {
    pub(crate) setting: Setting,
    pub(crate) found_by: &'static str,
    /// A part of what the check says then.
    pub(crate) says: &'static str,
}

/// Every check, and every bug at least once.
pub(crate) fn plants() -> Vec<Plant> {
    use Bug::*;
    let (plain, bounded) = (Setting::unbounded(), Setting::bounded());
    let lifo = Setting::last_in_first_out();
    let bag = Setting { order: Order::Bag, ..plain };
    let limited = Setting { limit: Some(20), ..plain };
    let together = |setting| Setting { together: true, ..setting };
    let (queue, stack) = (together(plain), together(lifo));
    let small = Setting { capacity: Some(3), ..queue };
    let checks = vec![
        (
            "one_thread_cannot_tell_it_from_the_obvious_pool",
            vec![
                (plain, ReturnsTheWrongTask, "whose turn it was (Fifo)"),
                (lifo, ReturnsTheWrongTask, "whose turn it was (Lifo)"),
                (plain, SaysEmptyTooEarly, "`None`"),
                (plain, BatchPutMiscounts, "what `put_all` says"),
                (bounded, BatchPutSkipsATask, "what does not fit"),
                (plain, BatchGetMiscounts, "`get_many` appends"),
                (plain, BatchGetExceedsItsMaximum, "at most"),
                (bounded, FullGivesAnotherTask, "the task that comes back"),
                (bounded, FullTooEarly, "room for a task beside"),
                (bounded, HoldsOneTooMany, "at most 8 tasks inside"),
            ],
        ),
        (
            "every_task_is_got_exactly_once",
            vec![
                (plain, ReturnsATaskTwice, "put 1 and got 2 times"),
                (plain, LosesATask, "put 1 and got 0 times"),
                (bounded, LosesATask, "put 1 and got 0 times"),
                (bag, GetsInTwoSteps, "put 1 and got 2 times"),
                (bounded, FullSwallowsTheTask, "got 0 times"),
                (plain, RemembersThatItWasEmpty, "nothing left when all consumers"),
                (bounded, FullGivesAnotherTask, "the task that comes back"),
            ],
        ),
        (
            "batches_and_single_calls_go_together",
            vec![
                (plain, BatchPutLosesItsTail, "got 0 times"),
                (plain, BatchGetLosesItsTail, "got 0 times"),
                (plain, BatchPutMiscounts, "the tasks that `put_all` put"),
                (bounded, BatchPutSkipsATask, "the tasks after it"),
                (plain, BatchGetMiscounts, "`get_many` appends"),
                (plain, BatchGetExceedsItsMaximum, "at most"),
            ],
        ),
        (
            "tasks_of_every_size_and_alignment_arrive_whole",
            vec![
                (plain, LosesTasksWithoutSize, "and got 0 times"),
                (plain, DamagesATask, "it was damaged"),
            ],
        ),
        (
            "a_leaving_consumer_leaves_its_tasks_to_others",
            vec![
                (plain, LeavingConsumerTakesTasksAlong, "after a handle was dropped"),
                (plain, ForgottenConsumerKeepsTasks, "after a handle was forgotten"),
                (plain, DyingThreadClosesThePool, "after a thread died with a handle"),
                (plain, LeavingConsumerEndsPuts, "room for a task"),
                (plain, LeavingConsumerHidesPuts, "put after a consumer had left"),
            ],
        ),
        (
            "a_leaving_worker_leaves_its_tasks_to_others",
            vec![(plain, LeavingWorkerTakesTasksAlong, "after a handle was dropped")],
        ),
        (
            "a_leaving_producer_leaves_its_tasks_behind",
            vec![(plain, LeavingProducerTakesTasksAlong, "after a handle was dropped")],
        ),
        (
            "handles_come_and_go_while_others_work",
            vec![
                (plain, DyingThreadClosesThePool, "got 0 times"),
                (plain, LeavingConsumerRaces, "got 0 times"),
            ],
        ),
        (
            "what_is_left_is_dropped_once_with_the_last_handle",
            vec![
                (plain, LeaksOnDrop, "is gone: task"),
                (bounded, LeaksOnDrop, "is gone: task"),
                (plain, DropsWithTheLastPool, "before the last handle, a Producer"),
            ],
        ),
        (
            "every_task_is_dropped_once_whoever_goes_last",
            vec![(plain, MiscountsHandles, "after all threads have ended")],
        ),
        (
            "tasks_that_panic_when_dropped_take_no_other_with_them",
            vec![
                (plain, PanicStopsDropping, "panicked, dropped by a"),
                (plain, PanicBecomesAnother, "another panic"),
                (plain, PanicPoisonsOthers, "poisoned"),
            ],
        ),
        (
            "a_task_may_use_another_pool_when_dropped",
            vec![(plain, DyingPoolClosesOthers, "got 0 times")],
        ),
        (
            "batches_of_every_size_are_put_whole",
            vec![
                (plain, BatchPutLosesAFullBuffer, "task 63 put 1 and got 0 times"),
                (plain, BatchPutMiscounts, "what `put_all` says"),
            ],
        ),
        (
            "a_batch_whose_iterator_panics_loses_nothing",
            vec![
                (plain, BatchPutCollectsFirst, "tasks and panicked"),
                (plain, BatchPutHidesThePanic, "pass the iterator's panic on"),
                (plain, BatchPutPanicEndsPuts, "room for a task"),
            ],
        ),
        (
            "the_iterator_of_a_batch_may_use_the_pool",
            vec![
                (plain, BatchPutKeepsOthersOut, "to come back within"),
                (plain, BatchPutMiscounts, "what `put_all` says"),
                (plain, LosesATask, "got 0 times"),
            ],
        ),
        (
            "an_iterator_that_promises_too_much_does_no_harm",
            vec![
                (plain, BatchPutTrustsTheHint, "capacity overflow"),
                (plain, BatchPutMiscounts, "what `put_all` says"),
                (plain, BatchPutLosesItsTail, "got 0 times"),
            ],
        ),
        (
            "a_batch_is_got_up_to_its_maximum_and_appended",
            vec![
                (plain, BatchGetOverwrites, "`get_many` appends"),
                (plain, BatchGetPrepends, "what was there before"),
                (plain, ReturnsATaskTwice, "got 2 times"),
                (plain, BatchGetOfNoneGetsOne, "at most 0 tasks"),
                (plain, BatchGetMiscounts, "`get_many` appends"),
                (plain, BatchGetExceedsItsMaximum, "at most 1 tasks"),
                (plain, LosesATask, "some of"),
            ],
        ),
        (
            "a_batch_reserves_only_for_what_is_there",
            vec![(plain, BatchGetOverReserves, "or little more")],
        ),
        (
            "an_unbounded_pool_is_never_full",
            vec![
                (plain, FullWithoutABound, "`Full`"),
                (plain, BatchPutMiscounts, "what `put_all` says"),
                (plain, LosesATask, "got 0 times"),
            ],
        ),
        (
            "a_full_pool_gives_back_the_very_task",
            vec![
                (bounded, FullSwallowsTheTask, "at most 8 tasks to fit"),
                (bounded, FullGivesAnotherTask, "the task that comes back"),
                (bounded, FullTooEarly, "at least 8 tasks to fit"),
                (bounded, FullForEver, "at least 8 tasks to fit"),
                (bounded, HoldsOneTooMany, "at most 8 tasks to fit"),
                (bounded, SaysEmptyTooEarly, "because it was full"),
            ],
        ),
        (
            "what_does_not_fit_comes_back_in_order",
            vec![
                (bounded, BatchPutSkipsATask, "what comes back"),
                (bounded, FullTooEarly, "at least 8 tasks to fit"),
                (bounded, HoldsOneTooMany, "at most 8 tasks to fit"),
                (bounded, FullSwallowsTheTask, "to be full at last"),
                (bounded, ReturnsATaskTwice, "got 2 times"),
            ],
        ),
        (
            "never_more_than_the_capacity_are_inside",
            vec![(bounded, PutsInTwoSteps, "at most 8 inside")],
        ),
        (
            "tasks_of_one_producer_come_in_order",
            vec![(plain, PutsAtTheWrongEndWhenContended, "the next of producer")],
        ),
        (
            "jugglers_never_find_it_empty",
            vec![
                (plain, SaysEmptyTooEarly, "more were put than got"),
                (bag, SaysEmptyWhenContended, "more were put than got"),
                (plain, ReturnsATaskTwice, "put 1 and got 2 times"),
                (plain, BatchGetExceedsItsMaximum, "more were put than got"),
            ],
        ),
        (
            "a_task_put_by_a_joined_thread_is_there",
            vec![(plain, PutsLate, "`None`"), (plain, BatchGetMiscounts, "1 task, because")],
        ),
        (
            "a_task_put_before_a_signal_is_there_after_it",
            vec![(plain, PutsLate, "`None`"), (plain, ReturnsATaskTwice, "the one that gets")],
        ),
        (
            "a_stalled_thread_blocks_nobody",
            vec![(plain, IdleHandleBlocksOthers, "beside a worker that has")],
        ),
        ("handles_move_between_threads", vec![(plain, HandleIsBoundToItsThread, "`Full`")]),
        (
            "very_many_consumers_work_or_are_refused",
            vec![
                (limited, PlaceIsNeverGivenBack, "the place of a consumer that left"),
                (limited, NamesAnotherLimit, "beside the limit"),
                (limited, ConsumersForgetTheLimit, "`consumer` to panic"),
                (limited, WorkersForgetTheLimit, "`worker` to panic"),
                (limited, WorkersAreNeverRefused, "`try_worker` to refuse"),
                (limited, LosesATask, "got 0 times"),
            ],
        ),
        (
            "histories_of_small_programs_are_linearizable",
            vec![
                (bag, GetsInTwoSteps, "not a bag"),
                (plain, ReturnsTheWrongTask, "not a queue"),
                (lifo, ReturnsTheWrongTask, "not a stack"),
                (bounded, FullTooEarly, "\"full\", but at every instant"),
                (queue, TearsABatchPut, "not a queue"),
                (stack, TearsABatchPut, "not a stack"),
                (queue, TearsABatchGot, "not a queue"),
                (stack, TearsABatchGot, "not a stack"),
                (queue, TurnsABatchPutAround, "not a queue"),
                (stack, TurnsABatchPutAround, "not a stack"),
                (queue, TurnsABatchGotAround, "not a queue"),
                (stack, TurnsABatchGotAround, "not a stack"),
                (small, PutsOneOfABatch, "not a queue"),
                (queue, LeavesSomeOfABatch, "\"empty\", but at every instant"),
                (plain, BatchGetMiscounts, "`get_many` appends"),
                (bounded, FullGivesAnotherTask, "the task that comes back"),
            ],
        ),
        (
            "histories_of_long_runs_show_nothing_wrong",
            vec![
                (plain, ReturnsATaskTwice, "was got more than once"),
                (bag, SaysEmptyWhenContended, "\"empty\", but at every instant"),
            ],
        ),
    ];
    let plant = |found_by, (setting, bug, says)| {
        let setting = Setting { bug: Some(bug), ..setting };
        Plant { setting, found_by, says }
    };
    checks
        .into_iter()
        .flat_map(|(found_by, finds)| finds.into_iter().map(move |find| plant(found_by, find)))
        .collect()
}
