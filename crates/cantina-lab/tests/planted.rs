//! What the suite is worth: it finds each of the bugs that are planted in a twin, and nothing in the
//! twin without them.

mod twin;

use cantina_effort::rounds;
use cantina_lab::conformance::{Effort, Failure, trials_of};
use cantina_lab::registry::Order;
use cantina_lab::workload::{Assignment, Fault, Shape, run_beside};
use std::collections::BTreeSet;
use std::time::Duration;
use twin::{Bug, Plant, Setting, plants};

/// How many seeds a bug may hide from, in the gate and in the deep run: two threads may fail to meet. The first that shows it will do.
const SEEDS: u64 = 20;
const DEEP: u64 = 200;

fn effort() -> Effort {
    Effort { tasks: 1_000, rounds: 10, ..Effort::real() }
}

/// The checks that have to find `bug` do.
fn is_found(bug: Bug) {
    // Some bugs hang: the check has to notice.
    let effort = Effort { patience: Duration::from_secs(4), ..effort() };
    let mut planted = 0;
    for Plant { setting, found_by, says } in plants() {
        if setting.bug == Some(bug) {
            let trials = trials_of(&setting);
            let trial = trials.iter().find(|trial| trial.check == found_by);
            let trial = trial.unwrap_or_else(|| panic!("no {found_by} for {setting:?}"));
            let failures =
                (1..=rounds(SEEDS, DEEP)).filter_map(|seed| trial.run(&effort, seed).err());
            let found = failures.map(|failure| failure.to_string()).find(|failure| {
                println!("{failure}\n");
                failure.contains(says)
            });
            assert!(found.is_some(), "not found, or not as {says:?}: {}", trial.name());
            planted += 1;
        }
    }
    assert!(planted > 0, "{bug:?} is planted nowhere");
}

/// No check finds anything.
fn is_sound(setting: Setting) {
    let failures: Vec<Failure> =
        trials_of(&setting).iter().filter_map(|trial| trial.run(&effort(), 1).err()).collect();
    let texts: Vec<String> = failures.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "\n{}", texts.join("\n\n"));
}

#[test]
fn nothing_is_wrong_with_a_queue() {
    is_sound(Setting::unbounded());
}

#[test]
fn nothing_is_wrong_with_a_stack() {
    is_sound(Setting::last_in_first_out());
}

#[test]
fn nothing_is_wrong_with_a_bag() {
    is_sound(Setting { order: Order::Bag, ..Setting::unbounded() });
}

#[test]
fn nothing_is_wrong_with_a_limit_of_consumers() {
    is_sound(Setting { limit: Some(40), ..Setting::unbounded() });
}

#[test]
fn nothing_is_wrong_with_a_bounded_queue() {
    is_sound(Setting::bounded());
}

#[test]
fn nothing_is_wrong_with_room_for_one_task() {
    is_sound(Setting { capacity: Some(1), ..Setting::bounded() });
}

#[test]
fn nothing_is_wrong_with_a_bound_that_has_slack() {
    let bag = Setting { order: Order::Bag, ..Setting::bounded() };
    is_sound(Setting { capacity: Some(70), full_slack: 5, ..bag });
}

#[test]
fn nothing_is_wrong_with_a_bounded_stack() {
    is_sound(Setting { capacity: Some(33), ..Setting::last_in_first_out() });
}

#[test]
fn a_pool_that_may_refuse_everything_is_refused() {
    let setting = Setting { full_slack: 8, ..Setting::bounded() };
    for trial in trials_of(&setting) {
        let failure = trial.run(&effort(), 1).unwrap_err().to_string();
        assert!(failure.contains("room for at least one task"), "{failure}");
    }
}

#[test]
fn every_check_has_a_bug_to_find() {
    let settings = [Setting::unbounded(), Setting::bounded(), Setting::last_in_first_out()];
    let trials = settings.iter().flat_map(trials_of);
    let found_by: BTreeSet<&str> = plants().iter().map(|plant| plant.found_by).collect();
    let idle: BTreeSet<&str> = trials.map(|trial| trial.check).collect();
    let idle: Vec<&str> = idle.difference(&found_by).copied().collect();
    assert!(idle.is_empty(), "might as well be left out: {idle:?}");
}

#[test]
fn a_task_returned_twice_is_found() {
    is_found(Bug::ReturnsATaskTwice);
}

#[test]
fn a_task_lost_is_found() {
    is_found(Bug::LosesATask);
}

#[test]
fn a_get_in_two_steps_is_found() {
    is_found(Bug::GetsInTwoSteps);
}

#[test]
fn a_task_out_of_turn_is_found() {
    is_found(Bug::ReturnsTheWrongTask);
}

#[test]
fn a_task_put_at_the_wrong_end_is_found() {
    is_found(Bug::PutsAtTheWrongEndWhenContended);
}

#[test]
fn tasks_without_a_size_that_are_lost_are_found() {
    is_found(Bug::LosesTasksWithoutSize);
}

#[test]
fn a_damaged_task_is_found() {
    is_found(Bug::DamagesATask);
}

#[test]
fn none_from_a_pool_that_is_not_empty_is_found() {
    is_found(Bug::SaysEmptyTooEarly);
}

#[test]
fn none_from_a_pool_where_somebody_is_inside_is_found() {
    is_found(Bug::SaysEmptyWhenContended);
}

#[test]
fn none_from_a_pool_that_was_empty_once_is_found() {
    is_found(Bug::RemembersThatItWasEmpty);
}

#[test]
fn a_put_that_others_see_too_late_is_found() {
    is_found(Bug::PutsLate);
}

#[test]
fn a_consumer_that_takes_tasks_along_is_found() {
    is_found(Bug::LeavingConsumerTakesTasksAlong);
}

#[test]
fn a_forgotten_consumer_that_keeps_tasks_is_found() {
    is_found(Bug::ForgottenConsumerKeepsTasks);
}

#[test]
fn a_worker_that_takes_tasks_along_is_found() {
    is_found(Bug::LeavingWorkerTakesTasksAlong);
}

#[test]
fn a_producer_that_takes_a_task_along_is_found() {
    is_found(Bug::LeavingProducerTakesTasksAlong);
}

#[test]
fn a_pool_that_is_closed_by_a_dying_thread_is_found() {
    is_found(Bug::DyingThreadClosesThePool);
}

#[test]
fn a_race_between_a_leaving_consumer_and_others_is_found() {
    is_found(Bug::LeavingConsumerRaces);
}

#[test]
fn a_handle_that_blocks_others_while_it_is_idle_is_found() {
    is_found(Bug::IdleHandleBlocksOthers);
}

#[test]
fn a_handle_that_cannot_leave_its_thread_is_found() {
    is_found(Bug::HandleIsBoundToItsThread);
}

#[test]
fn a_place_for_a_consumer_that_is_never_given_back_is_found() {
    is_found(Bug::PlaceIsNeverGivenBack);
}

#[test]
fn a_leak_on_drop_is_found() {
    is_found(Bug::LeaksOnDrop);
}

#[test]
fn a_pool_that_drops_its_tasks_before_its_last_handle_goes_is_found() {
    is_found(Bug::DropsWithTheLastPool);
}

#[test]
fn handles_that_are_miscounted_are_found() {
    is_found(Bug::MiscountsHandles);
}

#[test]
fn a_panic_that_stops_the_dropping_is_found() {
    is_found(Bug::PanicStopsDropping);
}

#[test]
fn a_dying_pool_that_closes_others_is_found() {
    is_found(Bug::DyingPoolClosesOthers);
}

#[test]
fn a_batch_that_loses_its_tail_is_found() {
    is_found(Bug::BatchPutLosesItsTail);
}

#[test]
fn a_batch_that_loses_a_task_where_a_buffer_is_full_is_found() {
    is_found(Bug::BatchPutLosesAFullBuffer);
}

#[test]
fn a_batch_that_is_lost_when_its_iterator_panics_is_found() {
    is_found(Bug::BatchPutCollectsFirst);
}

#[test]
fn a_batch_that_keeps_others_out_is_found() {
    is_found(Bug::BatchPutKeepsOthersOut);
}

#[test]
fn a_batch_that_trusts_its_iterator_is_found() {
    is_found(Bug::BatchPutTrustsTheHint);
}

#[test]
fn a_batch_that_skips_a_task_when_it_is_full_is_found() {
    is_found(Bug::BatchPutSkipsATask);
}

#[test]
fn a_batch_got_without_its_tail_is_found() {
    is_found(Bug::BatchGetLosesItsTail);
}

#[test]
fn a_batch_that_overwrites_is_found() {
    is_found(Bug::BatchGetOverwrites);
}

#[test]
fn a_batch_that_is_not_appended_is_found() {
    is_found(Bug::BatchGetPrepends);
}

#[test]
fn a_batch_of_none_that_gets_one_is_found() {
    is_found(Bug::BatchGetOfNoneGetsOne);
}

#[test]
fn a_batch_that_reserves_too_much_is_found() {
    is_found(Bug::BatchGetOverReserves);
}

#[test]
fn nothing_is_wrong_with_batches_that_go_together() {
    let together = |setting| Setting { together: true, ..setting };
    is_sound(together(Setting::unbounded()));
    is_sound(together(Setting::last_in_first_out()));
    is_sound(Setting { capacity: Some(3), ..together(Setting::unbounded()) });
}

#[test]
fn a_batch_that_is_torn_is_found() {
    is_found(Bug::TearsABatchPut);
    is_found(Bug::TearsABatchGot);
}

#[test]
fn a_batch_that_is_turned_around_is_found() {
    is_found(Bug::TurnsABatchPutAround);
    is_found(Bug::TurnsABatchGotAround);
}

#[test]
fn a_batch_of_which_fewer_go_than_can_is_found() {
    is_found(Bug::PutsOneOfABatch);
    is_found(Bug::LeavesSomeOfABatch);
}

#[test]
fn a_task_not_given_back_by_a_full_pool_is_found() {
    is_found(Bug::FullSwallowsTheTask);
}

#[test]
fn another_task_given_back_by_a_full_pool_is_found() {
    is_found(Bug::FullGivesAnotherTask);
}

#[test]
fn a_pool_that_is_full_too_early_is_found() {
    is_found(Bug::FullTooEarly);
}

#[test]
fn a_pool_that_stays_full_is_found() {
    is_found(Bug::FullForEver);
}

#[test]
fn a_pool_without_a_bound_that_is_full_is_found() {
    is_found(Bug::FullWithoutABound);
}

#[test]
fn a_pool_that_holds_one_too_many_is_found() {
    is_found(Bug::HoldsOneTooMany);
}

#[test]
fn a_put_in_two_steps_is_found() {
    is_found(Bug::PutsInTwoSteps);
}

#[test]
fn a_pool_that_takes_nothing_after_a_consumer_has_left_is_found() {
    is_found(Bug::LeavingConsumerEndsPuts);
}

#[test]
fn a_limit_that_is_not_the_one_it_names_is_found() {
    is_found(Bug::NamesAnotherLimit);
}

#[test]
fn a_limit_that_consumers_forget_is_found() {
    is_found(Bug::ConsumersForgetTheLimit);
}

#[test]
fn a_limit_that_workers_forget_is_found() {
    is_found(Bug::WorkersForgetTheLimit);
}

#[test]
fn a_pool_that_hides_tasks_after_a_consumer_has_left_is_found() {
    is_found(Bug::LeavingConsumerHidesPuts);
}

#[test]
fn a_panic_that_becomes_another_is_found() {
    is_found(Bug::PanicBecomesAnother);
}

#[test]
fn a_panic_that_poisons_other_pools_is_found() {
    is_found(Bug::PanicPoisonsOthers);
}

#[test]
fn a_batch_put_that_miscounts_is_found() {
    is_found(Bug::BatchPutMiscounts);
}

#[test]
fn a_batch_that_hides_a_panic_is_found() {
    is_found(Bug::BatchPutHidesThePanic);
}

#[test]
fn a_pool_that_takes_nothing_after_an_iterator_panicked_is_found() {
    is_found(Bug::BatchPutPanicEndsPuts);
}

#[test]
fn a_batch_got_that_miscounts_is_found() {
    is_found(Bug::BatchGetMiscounts);
}

#[test]
fn a_batch_that_exceeds_its_maximum_is_found() {
    is_found(Bug::BatchGetExceedsItsMaximum);
}

/// What a run of two workers and a poller says of a twin.
fn beside_a_poller(setting: Setting) -> Result<(), Fault> {
    let (shape, patience) = (Shape::new(2, 2), Duration::from_secs(1));
    let assignment = Assignment { shape, tasks: 2_000, pin: false, patience, watched: false };
    run_beside::<u64, _>(&setting, &assignment, 1).map(|_| ())
}

#[test]
fn workers_beside_pollers_notice_a_task_that_is_lost() {
    let fault = beside_a_poller(Setting { bug: Some(Bug::LosesATask), ..Setting::unbounded() });
    assert!(matches!(fault, Err(Fault::Lost { tasks: 2_000, .. })), "{fault:?}");
}

#[test]
fn workers_beside_pollers_end_when_one_of_them_panics() {
    let fault = beside_a_poller(Setting { limit: Some(2), ..Setting::unbounded() });
    assert!(matches!(fault, Err(Fault::Panicked { .. })), "{fault:?}");
}

#[test]
fn workers_beside_pollers_make_room_for_each_other() {
    assert_eq!(beside_a_poller(Setting::bounded()), Ok(()));
    assert_eq!(beside_a_poller(Setting { capacity: Some(1), ..Setting::unbounded() }), Ok(()));
}
