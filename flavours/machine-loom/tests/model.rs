//! What the facade promises, on every schedule.

use machine_loom::atomic::{AtomicUsize, Ordering::Relaxed};
use machine_loom::fence::Pair;
use machine_loom::lock::Mutex;
use machine_loom::park::Parker;
use machine_loom::time::{Duration, Instant};
use machine_loom::{Arc, thread};

/// Two threads that each store, fence with their side of the pair, or not, and load what the other stored. One of them sees it.
fn of_kind(pair: fn() -> Pair, sides: (bool, bool)) {
    let pair = pair();
    loom::model(move || {
        let words = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let theirs = words.clone();
        let hot = thread::spawn(move || {
            theirs[0].store(1, Relaxed);
            if sides.0 {
                pair.light();
            }
            theirs[1].load(Relaxed)
        });
        words[1].store(1, Relaxed);
        if sides.1 {
            pair.heavy().unwrap();
        }
        let rare = words[0].load(Relaxed);
        assert!(hot.join().unwrap() + rare > 0, "neither saw the other");
    });
}

fn asymmetric() -> Pair {
    Pair::asymmetric().expect("loom has it")
}

#[test]
fn one_side_of_a_pair_sees_the_other() {
    of_kind(asymmetric, (true, true));
    of_kind(Pair::symmetric, (true, true));
}

#[test]
#[should_panic = "neither saw the other"]
fn a_light_side_alone_is_not_enough() {
    of_kind(Pair::symmetric, (true, false));
}

#[test]
#[should_panic = "neither saw the other"]
fn a_heavy_side_alone_is_not_enough() {
    of_kind(Pair::symmetric, (false, true));
}

#[test]
#[should_panic = "neither saw the other"]
fn a_light_side_of_the_asymmetric_pair_alone_is_not_enough() {
    of_kind(asymmetric, (true, false));
}

#[test]
#[should_panic = "neither saw the other"]
fn a_heavy_side_of_the_asymmetric_pair_alone_is_not_enough() {
    of_kind(asymmetric, (false, true));
}

#[test]
fn a_wake_up_is_never_lost_and_carries_what_came_before() {
    loom::model(|| {
        let parker = Parker::new();
        let waker = parker.unparker();
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let other = thread::spawn(move || {
            theirs.store(1, Relaxed);
            waker.unpark();
        });
        if !parker.park_timeout(Duration::from_millis(1)) {
            parker.park();
        }
        assert_eq!(word.load(Relaxed), 1);
        other.join().unwrap();
    });
}

#[test]
fn a_lock_lets_one_in_at_a_time() {
    loom::model(|| {
        let count = Arc::new(Mutex::new(0));
        let theirs = count.clone();
        let other = thread::spawn(move || *theirs.lock() += 1);
        if let Some(mut count) = count.try_lock() {
            *count += 1;
        } else {
            *count.lock() += 1;
        }
        other.join().unwrap();
        assert_eq!(*count.lock(), 2);
    });
}

#[test]
fn a_deadline_comes_for_who_waits_for_it() {
    loom::model(|| {
        let parker = Parker::new();
        let waker = parker.unparker();
        let other = thread::spawn(move || waker.unpark());
        let deadline = Instant::now() + Duration::from_secs(1);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || parker.park_timeout(left) {
                break;
            }
        }
        assert!(Instant::now() <= deadline);
        other.join().unwrap();
    });
}
