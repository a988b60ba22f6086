//! The bugs that can be planted.

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
    /// A handle that has found it empty once finds it empty for ever.
    RemembersThatItWasEmpty,
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
    /// When a consumer has left, what is put is put where nobody looks.
    LeavingConsumerHidesPuts,
    /// When a consumer has left, nothing can be put any more.
    LeavingConsumerEndsPuts,
    /// A consumer that leaves puts the tasks in order, without the lock between.
    LeavingConsumerRaces,
    /// A handle that was used keeps the others out until it is used again or dropped.
    IdleHandleBlocksOthers,
    /// A handle only works on the thread that made it.
    HandleIsBoundToItsThread,
    /// The place of a consumer that left is not given to another.
    PlaceIsNeverGivenBack,
    /// It names one limit and has another.
    NamesAnotherLimit,
    /// The limit only holds for consumers that ask whether there is a place.
    ConsumersForgetTheLimit,
    /// The limit does not hold for workers.
    WorkersForgetTheLimit,
    /// The limit does not hold for workers that ask whether there is a place.
    WorkersAreNeverRefused,

    // The end.
    /// What is left is not dropped.
    LeaksOnDrop,
    /// What is left is dropped with the last pool, though there are other handles.
    DropsWithTheLastPool,
    /// Two handles that leave at once both think that another is left, and nothing is dropped.
    MiscountsHandles,
    /// When a task panics as it is dropped, the others are not.
    PanicStopsDropping,
    /// When a task panics as it is dropped, another panic comes out.
    PanicBecomesAnother,
    /// When a task panics as it is dropped, no other pool works any more.
    PanicPoisonsOthers,
    /// While one pool is dropped, no other takes a task.
    DyingPoolClosesOthers,

    // Batches.
    /// It says that it put one more than it did.
    BatchPutMiscounts,
    /// It keeps the panic of the iterator to itself.
    BatchPutHidesThePanic,
    /// When the iterator panics, nothing can be put any more.
    BatchPutPanicEndsPuts,
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
    /// It says that it got one more than it did.
    BatchGetMiscounts,
    /// It gets one more than it may.
    BatchGetExceedsItsMaximum,
    /// What was in the vector before is gone.
    BatchGetOverwrites,
    /// What it gets comes before what was in the vector.
    BatchGetPrepends,
    /// A batch of at most none gets one.
    BatchGetOfNoneGetsOne,
    /// Room is made for as many as were asked for.
    BatchGetOverReserves,

    // Batches that go in or come out together.
    /// A batch goes in piece by piece.
    TearsABatchPut,
    /// A batch comes out piece by piece.
    TearsABatchGot,
    /// The first task of a batch goes in last.
    TurnsABatchPutAround,
    /// A batch comes out the wrong way round.
    TurnsABatchGotAround,
    /// Of a batch for which there is not room, the first goes in and no more.
    PutsOneOfABatch,
    /// It gets fewer than there are.
    LeavesSomeOfABatch,

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
