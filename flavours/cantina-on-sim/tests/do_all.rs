//! `DoAll` on schedules that turn around often, and with workers that die.

extern crate cantina_on_sim as cantina;

mod each_step;
#[path = "../../../crates/cantina/tests/scenarios/do_all.rs"]
mod scenarios;
mod turning;

use cantina::todo_tree::DoAll;
use cantina::todo_tree::do_all::Worker;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::engine::Simulation;
use machine::progress::operation;
use machine::time::Duration;
use machine::{Arc, thread};

/// Schedules of each scenario.
const SCHEDULES: u64 = 750;
/// Steps of a part of a scenario.
const STRETCH: u64 = 10;
/// Steps after which a run hangs.
const STEPS: u64 = 20_000;
/// Steps until some operation ends.
const SOON: u64 = 1_000;
const TASKS: usize = 4;

/// A task: how often it was begun.
type Task = AtomicUsize;

#[test]
fn the_scenarios_come_out_right_on_many_schedules() {
    for (name, scenario) in scenarios::ALL {
        turning::comes_out_right(name, scenario, &Simulation::new(), SCHEDULES, STRETCH);
    }
}

/// Does tasks until there are none to be had, and counts the reports that were accepted.
fn work(worker: &Worker<Task>, accepted: &AtomicUsize) {
    while let Some(claim) = operation("next", || worker.next()) {
        claim.fetch_add(1, SeqCst);
        if operation("done", || claim.done()).is_ok() {
            accepted.fetch_add(1, SeqCst);
        }
    }
}

/// Sends out so many threads that die somewhere. How many reports were accepted, from then on.
fn with_dead(all: &DoAll<Task>, dead: usize) -> Arc<AtomicUsize> {
    let accepted = Arc::new(AtomicUsize::new(0));
    for _ in 0..dead {
        let (worker, accepted) = (all.worker(), accepted.clone());
        thread::spawn(move || work(&worker, &accepted));
    }
    accepted
}

fn tasks() -> impl Iterator<Item = Task> {
    (0..TASKS).map(|_| AtomicUsize::new(0))
}

/// `scenario`, with so many threads stopped after all combinations of numbers of their steps, or after so many of a hundred.
fn die_anywhere(dead: usize, of_a_hundred: u64, scenario: fn(usize)) {
    for seed in each_step::seeds(2, 10) {
        let simulation = Simulation::new().seed(seed).steps(STEPS).lock_free_within(SOON);
        each_step::die(&simulation, dead as u32, of_a_hundred, move || scenario(dead));
    }
}

/// The dead are found out by their names.
fn the_last_worker_reclaims(dead: usize) {
    let all = DoAll::new(tasks());
    let accepted = with_dead(&all, dead);
    let worker = all.worker();
    while !all.is_finished() {
        work(&worker, &accepted);
        // They are dead, or as good as that.
        let holders: Vec<_> = all.progress().claimed.into_keys().collect();
        holders.into_iter().for_each(|holder| {
            all.reclaim(holder);
        });
    }
    assert!(all.tasks().iter().all(|task| task.load(SeqCst) >= 1));
    // A worker that died between its report and its count is missing.
    let accepted = accepted.load(SeqCst);
    assert!((TASKS.saturating_sub(dead)..=TASKS).contains(&accepted), "{accepted}");
}

/// The dead are found out by the age of their claims.
fn the_last_worker_takes_over(dead: usize) {
    let age = Duration::from_micros(5);
    let all = DoAll::<Task>::builder().reclaim_after(age).build(tasks()).unwrap();
    let accepted = with_dead(&all, dead);
    let worker = all.worker();
    while !all.is_finished() {
        work(&worker, &accepted);
        thread::sleep(age);
    }
    assert!(all.tasks().iter().all(|task| task.load(SeqCst) >= 1));
}

fn nothing_is_begun_twice(dead: usize) {
    let all = DoAll::<Task>::builder().at_most_once().build(tasks()).unwrap();
    let accepted = with_dead(&all, dead);
    let worker = all.worker();
    work(&worker, &accepted);
    thread::sleep(Duration::from_millis(1));
    work(&worker, &accepted);
    assert!(all.tasks().iter().all(|task| task.load(SeqCst) <= 1), "begun twice");
    let left = all.remaining();
    assert!(left <= dead, "{left} are left: more than the dead had");
}

#[test]
fn the_last_worker_does_what_the_dead_have_left() {
    die_anywhere(2, 100, the_last_worker_reclaims);
    die_anywhere(3, 5, the_last_worker_reclaims);
}

#[test]
fn old_claims_of_the_dead_are_taken_over() {
    die_anywhere(2, 100, the_last_worker_takes_over);
    die_anywhere(3, 5, the_last_worker_takes_over);
}

#[test]
fn at_most_once_is_kept_whoever_dies() {
    die_anywhere(2, 100, nothing_is_begun_twice);
    die_anywhere(3, 5, nothing_is_begun_twice);
}

#[test]
fn many_workers_that_die_at_random_leave_nothing_undone() {
    let scenarios = [the_last_worker_reclaims, the_last_worker_takes_over, nothing_is_begun_twice];
    for (dead, scenario) in [7, 15].into_iter().flat_map(|dead| scenarios.map(|it| (dead, it))) {
        for seed in each_step::seeds(50, 5_000) {
            let simulation = Simulation::new().seed(seed).steps(10 * STEPS).lock_free_within(SOON);
            let outcome = simulation.random_crashes(dead, 10).run(move || scenario(dead));
            outcome.unwrap_or_else(|failure| panic!("{dead} die: {failure}"));
        }
    }
}

/// Two workers and work that takes longer than the age from which on claims are taken over. How often it was begun.
fn takes_longer_than_the_age(times: u32) -> usize {
    let age = Duration::from_micros(5);
    let all = DoAll::<Task>::builder().reclaim_after(age).build([Task::new(0)]).unwrap();
    let work = move |all: DoAll<Task>| {
        let worker = all.worker();
        while !all.is_finished() {
            match worker.next() {
                Some(claim) => {
                    claim.fetch_add(1, SeqCst);
                    thread::sleep(age * times);
                    let _ = claim.done();
                }
                None => thread::sleep(age / 5),
            }
        }
    };
    let theirs = all.clone();
    let other = thread::spawn(move || work(theirs));
    work(all.clone());
    other.join().unwrap();
    all.tasks()[0].load(SeqCst)
}

#[test]
fn workers_that_take_longer_than_the_age_do_not_take_over_from_each_other_for_ever() {
    for times in [1, 3, 20, 200] {
        for seed in 0..cantina_effort::rounds(20, 2_000) {
            let simulation = Simulation::new().seed(seed).steps(STEPS);
            let outcome = simulation.run(move || takes_longer_than_the_age(times));
            let begun = outcome.unwrap_or_else(|it| panic!("{times} times the age: {it}")).value;
            // The age after so many take-overs is longer than the work.
            let most = 3 + times.ilog2() as usize;
            assert!((1..=most).contains(&begun), "{times} times the age: begun {begun} times");
        }
    }
}
