//! Tasks that are all to be done, by workers that panic, are stuck, or die.

#[path = "scenarios/do_all.rs"]
mod scenarios;

use cantina::todo_tree::DoAll;
use cantina::todo_tree::do_all::Superseded;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    for (name, scenario) in scenarios::ALL {
        println!("{name}");
        (0..2_000).for_each(|_| scenario());
    }
}

#[test]
fn all_tasks_of_any_number_are_done() {
    for tasks in [0, 1, 2, 63, 64, 65, 128, 1_000] {
        let all = DoAll::new((0..tasks).map(|_| AtomicUsize::new(0)));
        assert_eq!(all.remaining(), tasks);
        let crew: Vec<_> = (0..3)
            .map(|_| {
                let worker = all.worker();
                thread::spawn(move || {
                    while let Some(claim) = worker.next() {
                        claim.fetch_add(1, Relaxed);
                        claim.done().unwrap();
                    }
                })
            })
            .collect();
        crew.into_iter().for_each(|it| it.join().unwrap());
        assert!(all.is_finished());
        assert!(all.tasks().iter().all(|task| task.load(Relaxed) == 1));
        let progress = all.progress();
        assert_eq!((progress.tasks, progress.done, progress.claimed.len()), (tasks, tasks, 0));
    }
}

#[test]
fn what_a_panicking_worker_had_goes_back() {
    let all = DoAll::new(0..100);
    let worker = all.worker();
    let mut panics = 0;
    while !all.is_finished() {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let claim = worker.next().expect("nobody else holds one");
            assert!(panics > 50 || *claim % 3 != 0, "no threes yet");
            claim.done().unwrap();
        }));
        panics += usize::from(done.is_err());
    }
    assert!(panics > 50);
    assert_eq!(all.progress().done, 100);
}

#[test]
fn a_stuck_worker_is_found_out_by_its_name_and_its_task_taken_over() {
    let all = DoAll::new([1, 2, 3]);
    let (stuck, quick) = (all.worker(), all.worker());
    let (first, second) = (stuck.next().unwrap(), stuck.next().unwrap());
    assert_ne!(first.index(), second.index());
    quick.next().unwrap().done().unwrap();
    assert!(quick.next().is_none(), "two are held");
    assert_eq!((all.remaining(), all.is_finished()), (2, false));
    let progress = all.progress();
    assert_eq!((progress.done, &progress.claimed[&stuck.id()]), (1, &2));
    assert_eq!(all.reclaim(quick.id()), 0);
    assert_eq!(all.reclaim(stuck.id()), 2);
    let again = quick.next().unwrap();
    let late = if first.index() == again.index() { first } else { second };
    assert_eq!(late.done(), Err(Superseded), "while another is at it");
    again.done().unwrap();
    assert_eq!(all.remaining(), 1);
    quick.next().unwrap().done().unwrap();
    assert!(all.is_finished());
}

#[test]
fn a_claim_that_is_dropped_late_does_not_give_back_another_one() {
    let all = DoAll::new([1]);
    let (slow, quick) = (all.worker(), all.worker());
    let old = slow.next().unwrap();
    all.reclaim(slow.id());
    let new = quick.next().unwrap();
    drop(old);
    assert!(slow.next().is_none(), "it is held");
    new.done().unwrap();
    assert!(slow.next().is_none(), "it is done");
    // The same worker, the same task, and another claim.
    let all = DoAll::new([1]);
    let slow = all.worker();
    let old = slow.next().unwrap();
    all.reclaim(slow.id());
    let new = slow.next().unwrap();
    assert_eq!(old.done(), Err(Superseded));
    new.done().unwrap();
}

#[test]
fn an_old_claim_is_taken_over_and_a_young_one_is_not() {
    let age = Duration::from_millis(50);
    let all = DoAll::<u8>::builder().reclaim_after(age).build([1]).unwrap();
    let (stuck, other) = (all.worker(), all.worker());
    let claim = stuck.next().unwrap();
    let begun = std::time::Instant::now();
    let taken = loop {
        match other.next() {
            Some(taken) => break taken,
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(begun.elapsed() >= age / 2, "taken over at once");
    assert!(stuck.next().is_none() || begun.elapsed() > age, "it is young again");
    assert_eq!(claim.done(), Err(Superseded));
    taken.done().unwrap();
    let patient = DoAll::<u8>::builder().reclaim_after(Duration::MAX).build([1]).unwrap();
    let worker = patient.worker();
    let _held = worker.next().unwrap();
    assert!(patient.worker().next().is_none());
}

#[test]
fn at_most_once_means_that_nothing_comes_back() {
    let all = DoAll::<u8>::builder().at_most_once().build([1, 2, 3]).unwrap();
    let worker = all.worker();
    drop(worker.next().unwrap());
    let _held = worker.next().unwrap();
    worker.next().unwrap().done().unwrap();
    assert_eq!(all.reclaim(worker.id()), 0);
    assert!(worker.next().is_none());
    assert_eq!((all.remaining(), all.is_finished()), (2, false));
}

#[test]
fn nonsense_is_not_built() {
    let zero = DoAll::<u8>::builder().reclaim_after(Duration::ZERO).build([1]);
    assert_eq!(zero.unwrap_err().setting, "reclaim_after");
    let both = DoAll::<u8>::builder().at_most_once().reclaim_after(Duration::from_secs(1));
    assert_eq!(both.build([1]).unwrap_err().setting, "reclaim_after");
}

#[test]
fn everything_says_what_it_is() {
    let all = DoAll::new([1, 2]);
    let worker = all.worker();
    let claim = worker.next().unwrap();
    assert_eq!(format!("{all:?} {worker:?}"), "DoAll(2 of 2 tasks remain) Worker(1)");
    assert_eq!(format!("{claim:?}"), format!("Claim({})", claim.index()));
    assert_eq!(worker.id().to_string(), "1");
    assert!(Superseded.to_string().contains("taken over"));
}
