//! Lines that are asked for before they are needed.

use cantina_sim::ahead::{to_read, to_write};
use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::Relaxed;
use cantina_sim::engine::Simulation;
use cantina_sim::time::nanos;
use cantina_sim::topology::CoreId;
use cantina_sim::{Arc, CachePadded, thread, work};

type Word = Arc<CachePadded<AtomicUsize>>;

/// Virtual nanoseconds of `then` with a word that another core has written to, after `before` and some computing.
fn time_of(before: fn(&Word), then: fn(&Word)) -> u64 {
    let run = move || {
        let word = Arc::new(CachePadded::new(AtomicUsize::new(0)));
        let theirs = word.clone();
        let other = thread::spawn(move || {
            thread::pin_to(CoreId(1)).unwrap();
            theirs.store(1, Relaxed);
        });
        other.join().unwrap();
        before(&word);
        work(1_000);
        let start = nanos();
        then(&word);
        nanos() - start
    };
    Simulation::new().run_timed(run).unwrap().value
}

fn read(word: &Word) {
    assert_eq!(word.load(Relaxed), 1);
}

fn add(word: &Word) {
    word.fetch_add(1, Relaxed);
}

fn address(word: &Word) -> *const AtomicUsize {
    &raw const ***word
}

#[test]
fn a_line_that_was_asked_for_is_there_when_it_is_needed() {
    // 81 and 110 cycles at 2300 MHz, and what is around them.
    let nothing: fn(&Word) = |_| {};
    assert!(time_of(nothing, read) >= 35 && time_of(nothing, add) >= 47);
    assert!(time_of(|word| to_read(address(word)), read) < 20);
    assert!(time_of(|word| to_write(address(word)), read) < 20);
    assert!(time_of(|word| to_write(address(word)), add) < 30);
    assert!(time_of(|word| to_read(address(word)), add) >= 47, "others still have a copy");
}

#[test]
fn asking_takes_no_time_and_is_no_step() {
    let ask: fn(&Word) = |word| {
        to_read(address(word));
        to_write(address(word));
    };
    let nothing: fn(&Word) = |_| {};
    assert_eq!(time_of(|_| {}, ask), time_of(|_| {}, nothing));
    let explored = |ask: fn(&Word)| {
        let program = || {
            let word = Arc::new(CachePadded::new(AtomicUsize::new(1)));
            ask(&word);
            word.load(Relaxed)
        };
        let outcome = Simulation::new().run(program).unwrap();
        (outcome.steps, outcome.nanos)
    };
    assert_eq!(explored(ask), explored(nothing));
}

#[test]
fn what_is_asked_for_may_be_anywhere() {
    let ask = || {
        to_read(std::ptr::null::<u8>());
        to_write(std::ptr::without_provenance::<u8>(usize::MAX));
    };
    ask();
    Simulation::new().run_timed(ask).unwrap();
}
