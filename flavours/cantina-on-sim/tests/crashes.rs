//! What is said to be lock-free, and is no pool: whoever dies at any step, the others' calls come to an end.

extern crate cantina_on_sim as cantina;

use cantina::owner_queue::{Owner, OwnerQueue};
use cantina::reclaim::Domain;
use cantina::todo_tree::max_array::MaxArray;
use cantina_effort::rounds;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{AcqRel, Acquire};
use machine::engine::{Simulation, ThreadId};
use machine::progress::operation;
use machine::thread::Crashed;
use machine::{Arc, thread};
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::ptr::{self, NonNull};
// No step: nobody dies with it.
use std::sync::Mutex;

/// Threads beside the scenario.
const THREADS: u32 = 3;
/// Steps of all threads until a call of one of them ends: far more than it takes.
const SOON: u64 = 2_000;
/// No thread takes as many steps.
const MANY: u64 = 2_000;
/// Things that each thread does.
const TURNS: u64 = 3;

/// Runs `scenario` with each of its threads stopped for ever after each number of its steps.
fn survives_crashes(scenario: fn()) {
    let mut crashes = 0;
    for seed in 0..rounds(20, 1_000) {
        for thread in (1..=THREADS).map(ThreadId) {
            for steps in 0..MANY {
                let simulation = Simulation::new().seed(seed).crash(thread, steps);
                let outcome = simulation.lock_free_within(SOON).run(scenario);
                let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
                if outcome.crashed.is_empty() {
                    break;
                }
                crashes += 1;
            }
        }
    }
    assert!(crashes > 200, "{crashes}");
}

/// Does `f` on so many threads, each with its number. Whether all came to an end.
fn together(f: impl Fn(u64) + Clone + Send + 'static) -> bool {
    let start = |number: u32| {
        let f = f.clone();
        thread::spawn(move || f(number.into()))
    };
    let threads: Vec<_> = (1..=THREADS).map(start).collect();
    threads.into_iter().fold(true, |all, thread| match thread.join() {
        Ok(()) => all,
        Err(payload) if payload.is::<Crashed>() => false,
        Err(payload) => resume_unwind(payload),
    })
}

/// Gets all items, or goes before: whoever comes later goes on.
fn works_off(mut owner: Owner<u64>, got: &Mutex<BTreeSet<u64>>, most: usize) {
    for _ in 0..most {
        let Some((item, again)) = operation("next", || owner.next()) else { return };
        assert!(got.lock().unwrap().insert(item), "{item} twice");
        owner = again;
    }
    operation("leave", || drop(owner));
}

#[test]
fn a_queue_with_an_owner_takes_items_whoever_has_died() {
    survives_crashes(|| {
        let queue = Arc::new(OwnerQueue::new());
        let lists: Vec<_> = (0..=THREADS).map(|_| Arc::new(Mutex::new(BTreeSet::new()))).collect();
        let (theirs, all) = (queue.clone(), lists.clone());
        let ended = together(move |number| {
            for turn in 0..TURNS {
                let item = TURNS * number + turn;
                let owner = operation("enqueue", || theirs.enqueue(item));
                let owner = owner.or_else(|| operation("try_own", || theirs.try_own()));
                let got = &*all[number as usize];
                owner.into_iter().for_each(|owner| works_off(owner, got, 2));
            }
        });
        queue.try_own().into_iter().for_each(|owner| works_off(owner, &lists[0], usize::MAX));
        let got: Vec<u64> = lists.iter().flat_map(|list| list.lock().unwrap().clone()).collect();
        let distinct: BTreeSet<u64> = got.iter().copied().collect();
        assert_eq!(distinct.len(), got.len(), "an item twice: {got:?}");
        if ended {
            assert_eq!(got.len() as u64, TURNS * u64::from(THREADS));
        }
    });
}

#[test]
fn a_max_array_is_raised_and_scanned_whoever_has_died() {
    survives_crashes(|| {
        // Few numbers for each epoch, so that many begin one.
        let array = Arc::new(MaxArray::new(2));
        let theirs = array.clone();
        together(move |number| {
            for turn in 1..=TURNS {
                let value = number + turn;
                operation("first", || theirs.raise_first(value));
                operation("second", || theirs.raise_second(value));
                let (first, second) = operation("scan", || theirs.scan());
                assert!(first >= value && second >= value);
            }
        });
        let (first, second) = array.scan();
        assert!(first <= u64::from(THREADS) + TURNS && second <= first.max(second));
    });
}

/// # Safety
/// It is from a box, and used no more.
unsafe fn free(node: NonNull<u64>) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

#[test]
fn nodes_are_protected_and_retired_whoever_has_died() {
    survives_crashes(|| {
        // SAFETY: nodes are boxes, and may be freed anywhere.
        let domain: Domain<u64, 1> = unsafe { Domain::new(2, free) };
        let shared = Arc::new((domain, AtomicPtr::new(Box::into_raw(Box::new(0)))));
        let theirs = shared.clone();
        together(move |number| {
            let (domain, source) = &*theirs;
            // SAFETY: the participant goes before the domain, which the scenario keeps.
            let mut participant = operation("join", || unsafe { domain.join() });
            for turn in 0..TURNS {
                let node = operation("protect", || participant.protect(0, source));
                // SAFETY: announced; and null only when all is over.
                assert!(unsafe { *node } <= 10 * u64::from(THREADS) + TURNS);
                participant.clear(0);
                let new = Box::into_raw(Box::new(10 * number + turn));
                // A get of somebody else may come between.
                let old = NonNull::new(source.swap(new, AcqRel)).expect("there is always one");
                // SAFETY: the swap has unlinked it.
                operation("retire", || unsafe { participant.retire(domain, old) });
            }
            // SAFETY: the domain it joined.
            operation("leave", || unsafe { participant.leave(domain) });
        });
        let last = shared.1.swap(ptr::null_mut(), AcqRel);
        assert!(shared.1.load(Acquire).is_null());
        // SAFETY: nobody who lives looks at it any more.
        drop(unsafe { Box::from_raw(last) });
    });
}
