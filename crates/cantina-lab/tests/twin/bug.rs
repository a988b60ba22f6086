//! The bugs that can be planted, and which check has to find each.

use super::Setting;
use cantina_lab::registry::Order;

/// What is wrong with a twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    // Tasks.
    /// Now and then a task that is got stays inside as well.
    ReturnsATaskTwice,
    /// Now and then a task that is put is dropped.
    LosesATask,
    /// A get looks at a task first and removes one later, without the lock between.
    GetsInTwoSteps,
    /// Now and then it takes the second task instead of the first.
    ReturnsTheWrongTask,
    /// While somebody else is inside, a task is put where the other end is.
    PutsAtTheWrongEndWhenContended,
    /// Tasks without a size are not kept.
    LosesTasksWithoutSize,
    /// A task comes out with other bytes than it went in.
    DamagesATask,

    // The claim that it is empty.
    /// Now and then it says so of a pool that is not.
    SaysEmptyTooEarly,
    /// It says so when somebody else is inside.
    SaysEmptyWhenContended,
    /// A task is only visible to others when its producer makes its next call.
    PutsLate,

    // Handles.
    /// A consumer gets a few ahead, and drops them when it leaves.
    LeavingConsumerTakesTasksAlong,
    /// A consumer gets a few ahead, and gives them back only when it is dropped.
    ForgottenConsumerKeepsTasks,
    /// A worker keeps what it puts to itself.
    LeavingWorkerTakesTasksAlong,
    /// The last task of a producer goes with it.
    LeavingProducerTakesTasksAlong,
    /// A handle that is dropped by a panic closes the pool.
    DyingThreadClosesThePool,
    /// A consumer that leaves puts the tasks in order, without the lock between.
    LeavingConsumerRaces,
    /// A handle that was used keeps the others out until it is used again or dropped.
    IdleHandleBlocksOthers,
    /// A handle only works on the thread that made it.
    HandleIsBoundToItsThread,
    /// The place of a consumer that left is not given to another.
    PlaceIsNeverGivenBack,

    // The end.
    /// What is left is not dropped.
    LeaksOnDrop,
    /// What is left is dropped with the last pool, though there are other handles.
    DropsWithTheLastPool,
    /// Two handles that leave at once both think that another is left, and nothing is dropped.
    MiscountsHandles,
    /// When a task panics as it is dropped, the others are not.
    PanicStopsDropping,
    /// While one pool is dropped, no other takes a task.
    DyingPoolClosesOthers,

    // Batches.
    /// The last task of a batch is counted and not put.
    BatchPutLosesItsTail,
    /// A batch that just fills a buffer loses its last task.
    BatchPutLosesAFullBuffer,
    /// The iterator is collected before anything is put.
    BatchPutCollectsFirst,
    /// Nobody else gets in while the iterator runs.
    BatchPutKeepsOthersOut,
    /// Room is made for as many as the iterator promises.
    BatchPutTrustsTheHint,
    /// When it is full, a task more is taken from the iterator.
    BatchPutSkipsATask,
    /// The last task of a batch is got and dropped.
    BatchGetLosesItsTail,
    /// What was in the vector before is gone.
    BatchGetOverwrites,
    /// A batch of at most none gets one.
    BatchGetOfNoneGetsOne,
    /// Room is made for as many as were asked for.
    BatchGetOverReserves,

    // Bounds.
    /// A full pool drops the task and says that all is well.
    FullSwallowsTheTask,
    /// A full pool gives another task back than it was given.
    FullGivesAnotherTask,
    /// It is full one task before it may be.
    FullTooEarly,
    /// Once it was full it stays full.
    FullForEver,
    /// It has no bound, and is full at some point.
    FullWithoutABound,
    /// It holds one more than it says.
    HoldsOneTooMany,
    /// It looks for room first and puts later, without the lock between.
    PutsInTwoSteps,
}

/// A bug, in which kind of pool, and the check that has to find it.
pub(crate) struct Plant {
    pub(crate) setting: Setting,
    pub(crate) found_by: &'static str,
    /// A part of what the check says then.
    pub(crate) says: &'static str,
}

/// Every bug, at least once, and every check.
pub(crate) fn plants() -> Vec<Plant> {
    use Bug::*;
    let (plain, bounded) = (Setting::unbounded(), Setting::bounded());
    let lifo = Setting::last_in_first_out();
    let bag = Setting { order: Order::Bag, ..plain };
    let limited = Setting { limit: Some(20), ..plain };
    let rows = [
        (plain, ReturnsATaskTwice, "every_task_is_got_exactly_once", "put 1 and got 2 times"),
        (
            plain,
            ReturnsATaskTwice,
            "histories_of_long_runs_show_nothing_wrong",
            "was got more than once",
        ),
        (plain, LosesATask, "every_task_is_got_exactly_once", "put 1 and got 0 times"),
        (bounded, LosesATask, "every_task_is_got_exactly_once", "put 1 and got 0 times"),
        (bag, GetsInTwoSteps, "every_task_is_got_exactly_once", "put 1 and got 2 times"),
        (bag, GetsInTwoSteps, "histories_of_small_programs_are_linearizable", "not a bag"),
        (
            plain,
            ReturnsTheWrongTask,
            "one_thread_cannot_tell_it_from_the_obvious_pool",
            "whose turn it was (Fifo)",
        ),
        (
            lifo,
            ReturnsTheWrongTask,
            "one_thread_cannot_tell_it_from_the_obvious_pool",
            "whose turn it was (Lifo)",
        ),
        (plain, ReturnsTheWrongTask, "histories_of_small_programs_are_linearizable", "not a queue"),
        (lifo, ReturnsTheWrongTask, "histories_of_small_programs_are_linearizable", "not a stack"),
        (
            plain,
            PutsAtTheWrongEndWhenContended,
            "tasks_of_one_producer_come_in_order",
            "the next of producer",
        ),
        (
            plain,
            LosesTasksWithoutSize,
            "tasks_of_every_size_and_alignment_arrive_whole",
            "task 0 put 500 and got 0 times",
        ),
        (plain, DamagesATask, "tasks_of_every_size_and_alignment_arrive_whole", "it was damaged"),
        (plain, SaysEmptyTooEarly, "jugglers_never_find_it_empty", "more were put than got"),
        (plain, SaysEmptyTooEarly, "one_thread_cannot_tell_it_from_the_obvious_pool", "`None`"),
        (bag, SaysEmptyWhenContended, "jugglers_never_find_it_empty", "more were put than got"),
        (
            bag,
            SaysEmptyWhenContended,
            "histories_of_long_runs_show_nothing_wrong",
            "\"empty\", but at every instant",
        ),
        (plain, PutsLate, "a_task_put_by_a_joined_thread_is_there", "`None`"),
        (plain, PutsLate, "a_task_put_before_a_signal_is_there_after_it", "`None`"),
        (
            plain,
            LeavingConsumerTakesTasksAlong,
            "a_leaving_consumer_leaves_its_tasks_to_others",
            "after a handle was dropped",
        ),
        (
            plain,
            ForgottenConsumerKeepsTasks,
            "a_leaving_consumer_leaves_its_tasks_to_others",
            "after a handle was forgotten",
        ),
        (
            plain,
            DyingThreadClosesThePool,
            "a_leaving_consumer_leaves_its_tasks_to_others",
            "after a thread died with a handle",
        ),
        (plain, DyingThreadClosesThePool, "handles_come_and_go_while_others_work", "got 0 times"),
        (
            plain,
            LeavingWorkerTakesTasksAlong,
            "a_leaving_worker_leaves_its_tasks_to_others",
            "after a handle was dropped",
        ),
        (
            plain,
            LeavingProducerTakesTasksAlong,
            "a_leaving_producer_leaves_its_tasks_behind",
            "after a handle was dropped",
        ),
        (plain, LeavingConsumerRaces, "handles_come_and_go_while_others_work", "got 0 times"),
        (
            plain,
            IdleHandleBlocksOthers,
            "a_stalled_thread_blocks_nobody",
            "beside a worker that has",
        ),
        (plain, HandleIsBoundToItsThread, "handles_move_between_threads", "`Full`"),
        (
            limited,
            PlaceIsNeverGivenBack,
            "very_many_consumers_work_or_are_refused",
            "the place of a consumer that left",
        ),
        (plain, LeaksOnDrop, "what_is_left_is_dropped_once_with_the_last_handle", "is gone: task"),
        (
            bounded,
            LeaksOnDrop,
            "what_is_left_is_dropped_once_with_the_last_handle",
            "is gone: task",
        ),
        (
            plain,
            DropsWithTheLastPool,
            "what_is_left_is_dropped_once_with_the_last_handle",
            "before the last handle, a Producer",
        ),
        (
            plain,
            MiscountsHandles,
            "every_task_is_dropped_once_whoever_goes_last",
            "after all threads have ended",
        ),
        (
            plain,
            PanicStopsDropping,
            "a_task_that_panics_when_dropped_takes_no_other_with_it",
            "panicked, dropped by a",
        ),
        (plain, DyingPoolClosesOthers, "a_task_may_use_another_pool_when_dropped", "got 0 times"),
        (plain, BatchPutLosesItsTail, "batches_and_single_calls_go_together", "got 0 times"),
        (
            plain,
            BatchPutLosesAFullBuffer,
            "batches_of_every_size_are_put_whole",
            "task 63 put 1 and got 0 times",
        ),
        (
            plain,
            BatchPutCollectsFirst,
            "a_batch_whose_iterator_panics_loses_nothing",
            "tasks and panicked",
        ),
        (
            plain,
            BatchPutKeepsOthersOut,
            "the_iterator_of_a_batch_may_use_the_pool",
            "to come back within",
        ),
        (
            plain,
            BatchPutTrustsTheHint,
            "an_iterator_that_promises_too_much_does_no_harm",
            "capacity overflow",
        ),
        (bounded, BatchPutSkipsATask, "what_does_not_fit_comes_back_in_order", "what comes back"),
        (plain, BatchGetLosesItsTail, "batches_and_single_calls_go_together", "got 0 times"),
        (
            plain,
            BatchGetOverwrites,
            "a_batch_is_got_up_to_its_maximum_and_appended",
            "what was there before",
        ),
        (
            plain,
            BatchGetOfNoneGetsOne,
            "a_batch_is_got_up_to_its_maximum_and_appended",
            "a batch of at most none",
        ),
        (plain, BatchGetOverReserves, "a_batch_reserves_only_for_what_is_there", "or little more"),
        (
            bounded,
            FullSwallowsTheTask,
            "a_full_pool_gives_back_the_very_task",
            "at most 8 tasks to fit",
        ),
        (bounded, FullSwallowsTheTask, "every_task_is_got_exactly_once", "got 0 times"),
        (
            bounded,
            FullGivesAnotherTask,
            "a_full_pool_gives_back_the_very_task",
            "the task that comes back",
        ),
        (bounded, FullTooEarly, "a_full_pool_gives_back_the_very_task", "at least 8 tasks to fit"),
        (
            bounded,
            FullTooEarly,
            "histories_of_small_programs_are_linearizable",
            "\"full\", but at every instant",
        ),
        (bounded, FullForEver, "a_full_pool_gives_back_the_very_task", "at least 8 tasks to fit"),
        (plain, FullWithoutABound, "an_unbounded_pool_is_never_full", "`Full`"),
        (
            bounded,
            HoldsOneTooMany,
            "a_full_pool_gives_back_the_very_task",
            "at most 8 tasks to fit",
        ),
        (bounded, PutsInTwoSteps, "never_more_than_the_capacity_are_inside", "at most 8 inside"),
    ];
    rows.map(|(setting, bug, found_by, says)| Plant {
        setting: Setting { bug: Some(bug), ..setting },
        found_by,
        says,
    })
    .into()
}
