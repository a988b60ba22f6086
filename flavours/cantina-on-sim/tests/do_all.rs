//! `DoAll` on schedules that turn around often, and with workers that die.

extern crate cantina_on_sim as cantina;

#[path = "../../../crates/cantina/tests/scenarios/do_all.rs"]
mod scenarios;
mod turning;

use cantina::todo_tree::DoAll;
use cantina::todo_tree::do_all::Worker;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::engine::{Simulation, ThreadId};
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
/// Threads that die.
const DEAD: usize = 2;
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

/// Sends out threads that die somewhere. How many reports were accepted, from then on.
fn with_dead(all: &DoAll<Task>) -> Arc<AtomicUsize> {
    let accepted = Arc::new(AtomicUsize::new(0));
    for _ in 0..DEAD {
        let (worker, accepted) = (all.worker(), accepted.clone());
        thread::spawn(move || work(&worker, &accepted));
    }
    accepted
}

fn tasks() -> impl Iterator<Item = Task> {
    (0..TASKS).map(|_| AtomicUsize::new(0))
}

/// `scenario`, with both threads stopped after each pair of numbers of their steps.
fn dies_anywhere(scenario: fn()) {
    let mut both = 0;
    for first in 0.. {
        let mut first_died = false;
        for second in 0.. {
            let simulation = Simulation::new().seed(first ^ second).steps(STEPS);
            let simulation = simulation.lock_free_within(SOON);
            let run = simulation.crash(ThreadId(1), first).crash(ThreadId(2), second);
            let outcome = run
                .run(scenario)
                .unwrap_or_else(|failure| panic!("dead after {first} and {second}: {failure}"));
            let has_died =
                |number| outcome.crashed.iter().any(|(thread, _)| *thread == ThreadId(number));
            first_died |= has_died(1);
            both += usize::from(outcome.crashed.len() == DEAD);
            if !has_died(2) {
                break;
            }
        }
        if !first_died {
            break;
        }
    }
    assert!(both > 50, "{both} runs with two dead");
}

#[test]
fn the_last_worker_does_what_the_dead_have_left() {
    dies_anywhere(|| {
        let all = DoAll::new(tasks());
        let accepted = with_dead(&all);
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
        assert!((TASKS - DEAD..=TASKS).contains(&accepted), "{accepted}");
    });
}

#[test]
fn old_claims_of_the_dead_are_taken_over() {
    dies_anywhere(|| {
        let age = Duration::from_micros(5);
        let all = DoAll::<Task>::builder().reclaim_after(age).build(tasks()).unwrap();
        let accepted = with_dead(&all);
        let worker = all.worker();
        while !all.is_finished() {
            work(&worker, &accepted);
            thread::sleep(age);
        }
        assert!(all.tasks().iter().all(|task| task.load(SeqCst) >= 1));
    });
}

#[test]
fn at_most_once_is_kept_whoever_dies() {
    dies_anywhere(|| {
        let all = DoAll::<Task>::builder().at_most_once().build(tasks()).unwrap();
        let accepted = with_dead(&all);
        let worker = all.worker();
        work(&worker, &accepted);
        thread::sleep(Duration::from_millis(1));
        work(&worker, &accepted);
        assert!(all.tasks().iter().all(|task| task.load(SeqCst) <= 1), "begun twice");
        let left = all.remaining();
        assert!(left <= DEAD, "{left} are left: more than the dead had");
    });
}
