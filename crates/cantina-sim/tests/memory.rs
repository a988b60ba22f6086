//! What threads see of each other's stores: store buffers, fences, freed memory.

use cantina_sim::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use cantina_sim::atomic::{AtomicUsize, Ordering};
use cantina_sim::engine::{Memory, Simulation};
use cantina_sim::fence::{self, Pair};
use cantina_sim::lock::Mutex;
use cantina_sim::placement::Block;
use cantina_sim::schedule::{Exhaustive, Schedule};
use cantina_sim::trace::What;
use cantina_sim::{Arc, thread};
use std::alloc::Layout;
use std::collections::BTreeSet;

/// Store, fence, load, on both sides at once: what each saw of the other.
fn dekker(
    order: Ordering,
    hot: impl Fn() + Send + 'static,
    rare: impl Fn() + Send,
) -> (usize, usize) {
    let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let theirs = words.clone();
    let other = thread::spawn(move || {
        theirs.0.store(1, order);
        hot();
        theirs.1.load(order)
    });
    words.1.store(1, order);
    rare();
    let mine = words.0.load(order);
    (mine, other.join().unwrap())
}

/// All that can come out of `scenario`.
fn outcomes<T: Ord>(memory: Memory, scenario: impl FnMut() -> T) -> BTreeSet<T> {
    let search = Exhaustive::new(Simulation::new().memory(memory), scenario);
    search.map(|outcome| outcome.unwrap().value).collect()
}

const NEITHER: (usize, usize) = (0, 0);

#[test]
fn without_a_fence_neither_may_see_the_other() {
    let scenario = || dekker(Relaxed, || (), || ());
    assert!(outcomes(Memory::Tso, scenario).contains(&NEITHER));
    let release = || {
        let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = words.clone();
        let other = thread::spawn(move || {
            theirs.0.store(1, Release);
            theirs.1.load(Acquire)
        });
        words.1.store(1, Release);
        (words.0.load(Acquire), other.join().unwrap())
    };
    assert!(outcomes(Memory::Tso, release).contains(&NEITHER));
}

#[test]
fn in_sequence_one_sees_the_other() {
    let seen = outcomes(Memory::Sequential, || dekker(Relaxed, || (), || ()));
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn with_a_full_fence_on_both_sides_one_sees_the_other() {
    let seen = outcomes(Memory::Tso, || dekker(Relaxed, fence::full, fence::full));
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

#[test]
fn a_fence_on_one_side_is_not_enough() {
    assert!(outcomes(Memory::Tso, || dekker(Relaxed, fence::full, || ())).contains(&NEITHER));
    assert!(outcomes(Memory::Tso, || dekker(Relaxed, || (), fence::full)).contains(&NEITHER));
}

#[test]
fn the_last_access_of_a_thread_is_not_its_end() {
    // Nothing but its end comes after its load: its store may still be on its way.
    let seen = outcomes(Memory::Tso, || {
        let words: &'static [AtomicUsize; 2] = Box::leak(Box::new([0; 2].map(AtomicUsize::new)));
        let other = thread::spawn(|| {
            words[0].store(1, Relaxed);
            words[1].load(Relaxed)
        });
        words[1].store(1, SeqCst);
        let mine = words[0].load(Relaxed);
        (mine, other.join().unwrap())
    });
    assert!(seen.contains(&NEITHER));
}

#[test]
fn the_last_access_of_the_scenario_is_not_its_end() {
    // What the other thread saw is only known after the run.
    let search = Exhaustive::new(Simulation::new(), || {
        let words: &'static [AtomicUsize; 3] = Box::leak(Box::new([0; 3].map(AtomicUsize::new)));
        drop(thread::spawn(|| {
            words[1].store(1, SeqCst);
            words[2].store(1 + words[0].load(Relaxed), SeqCst);
        }));
        words[0].store(1, Relaxed);
        (words[1].load(Relaxed), words)
    });
    let mut seen = search.map(|outcome| outcome.unwrap().value);
    assert!(seen.any(|(mine, words)| mine == 0 && words[2].load(Relaxed) == 1));
}

#[test]
fn seqcst_stores_and_read_modify_writes_are_fences() {
    let seen = outcomes(Memory::Tso, || dekker(SeqCst, || (), || ()));
    assert!(!seen.contains(&NEITHER));
    let rmw = || {
        AtomicUsize::new(0).fetch_add(1, Relaxed);
    };
    assert!(!outcomes(Memory::Tso, || dekker(Relaxed, rmw, rmw)).contains(&NEITHER));
    let lock = || drop(Mutex::new(()).lock());
    assert!(!outcomes(Memory::Tso, || dekker(Relaxed, lock, lock)).contains(&NEITHER));
}

#[test]
fn a_pair_orders_a_hot_and_a_rare_side() {
    for pair in [Pair::best(), Pair::symmetric()] {
        let seen = outcomes(Memory::Tso, || {
            dekker(Relaxed, move || pair.light(), || pair.heavy().unwrap())
        });
        assert!(!seen.contains(&NEITHER), "{pair:?}");
    }
}

#[test]
fn two_light_sides_order_nothing_and_a_full_fence_is_no_heavy_side() {
    let pair = Pair::asymmetric().unwrap();
    let light = move || pair.light();
    assert!(outcomes(Memory::Tso, || dekker(Relaxed, light, light)).contains(&NEITHER));
    assert!(outcomes(Memory::Tso, || dekker(Relaxed, light, fence::full)).contains(&NEITHER));
}

#[test]
fn a_message_comes_after_its_contents() {
    let seen = outcomes(Memory::Tso, || {
        let words = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
        let theirs = words.clone();
        let other = thread::spawn(move || {
            theirs.0.store(7, Relaxed);
            theirs.1.store(1, Release);
        });
        let seen = (words.1.load(Acquire) == 1).then(|| words.0.load(Relaxed));
        other.join().unwrap();
        seen
    });
    assert_eq!(seen, BTreeSet::from([None, Some(7)]));
}

#[test]
fn a_thread_sees_its_own_stores() {
    let seen = outcomes(Memory::Tso, || {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let other = thread::spawn(move || theirs.store(5, Relaxed));
        word.store(1, Relaxed);
        word.store(2, Relaxed);
        let seen = word.load(Relaxed);
        other.join().unwrap();
        seen
    });
    assert_eq!(seen, BTreeSet::from([2, 5]));
}

#[test]
fn what_a_thread_wrote_is_there_when_it_is_joined() {
    let seen = outcomes(Memory::Tso, || {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        thread::spawn(move || (1..4).for_each(|n| theirs.store(n, Relaxed))).join().unwrap();
        word.load(Relaxed)
    });
    assert_eq!(seen, BTreeSet::from([3]));
}

#[test]
fn what_was_written_is_there_after_the_run() {
    let word = AtomicUsize::new(0);
    for seed in 0..20 {
        Simulation::new().seed(seed).run(|| word.store(seed as usize, Relaxed)).unwrap();
        assert_eq!(word.load(Relaxed), seed as usize);
    }
}

#[test]
fn a_store_never_lands_in_freed_memory() {
    // The word is gone before its store is visible, and another is in its place.
    let scenario = || {
        let mut word = std::mem::ManuallyDrop::new(AtomicUsize::new(0));
        word.store(1, Relaxed);
        // SAFETY: it is not used again before it is written anew.
        unsafe { std::mem::ManuallyDrop::drop(&mut word) };
        *word = AtomicUsize::new(9);
        thread::spawn(|| ()).join().unwrap();
        word.load(Relaxed)
    };
    for seed in 0..50 {
        let simulation = Simulation::new().seed(seed);
        assert_eq!(simulation.run(scenario).unwrap().value, 9);
        assert_eq!(simulation.run_timed(scenario).unwrap().value, 9);
    }
}

#[test]
fn a_store_never_lands_in_a_freed_block() {
    let layout = Layout::new::<AtomicUsize>();
    for seed in 0..50 {
        let simulation = Simulation::new().seed(seed);
        let late = simulation.run(|| {
            let block = Block::new(layout);
            let word = block.start().cast::<AtomicUsize>();
            // SAFETY: the block is this large; the word is written before it is used.
            unsafe {
                word.write(AtomicUsize::new(0));
                word.as_ref().store(1, Relaxed);
            }
            drop(block);
            // The allocator gives the same memory again.
            let block = Block::new(layout);
            let word = block.start().cast::<usize>();
            // SAFETY: as above.
            unsafe { word.write(9) };
            thread::spawn(|| ()).join().unwrap();
            // SAFETY: it was written.
            unsafe { word.read() }
        });
        assert_eq!(late.unwrap().value, 9);
    }
}

/// Says on drop what its word holds.
struct Says(AtomicUsize, std::sync::mpsc::Sender<usize>);

impl Drop for Says {
    fn drop(&mut self) {
        self.1.send(self.0.load(Relaxed)).unwrap();
    }
}

#[test]
fn whoever_drops_the_last_reference_finds_what_the_others_wrote() {
    let (tell, told) = std::sync::mpsc::channel();
    let search = Exhaustive::new(Simulation::new(), || {
        let says = Arc::new(Says(AtomicUsize::new(0), tell.clone()));
        let theirs = says.clone();
        let other = thread::spawn(move || theirs.0.store(1, Relaxed));
        drop(says);
        other.join().unwrap();
    });
    let runs = search.map(Result::unwrap).count();
    assert!(runs > 10);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), vec![1; runs]);
}

#[test]
fn a_store_buffer_holds_24_stores() {
    // Nobody else goes on while the storing thread can, and no store leaves by itself.
    let plain = Schedule::Replay("".parse().unwrap());
    let outcome = Simulation::new().schedule(plain).log(true).run(|| {
        let word = Arc::new(AtomicUsize::new(0));
        let theirs = word.clone();
        let other = thread::spawn(move || theirs.load(Relaxed));
        (0..30).for_each(|number| word.store(number, Relaxed));
        other.join().unwrap();
    });
    let log = outcome.unwrap().log.unwrap();
    let events = log.events().iter().map(|event| &event.what);
    let mut waiting = 0;
    let mut most = 0;
    for what in events {
        match what {
            What::Buffered { .. } => waiting += 1,
            What::Visible { .. } => waiting -= 1,
            _ => {}
        }
        most = most.max(waiting);
    }
    // One is noted before the oldest has made room for it.
    assert_eq!(most, 25);
}
