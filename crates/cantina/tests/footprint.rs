//! What a unit at rest takes: counted by the allocator of this program.

use cantina::scheduler::{Runtime, Unit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;

/// The most that a unit takes beside its state, its handle among it.
const MOST: usize = 256;

/// Bytes that are allocated, by all threads.
static BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator, and a number beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}

type State = [u64; 4];

/// Whether somebody counts: one at a time.
static COUNTS: AtomicBool = AtomicBool::new(false);

/// Makes so many units, sends each a message, and looks what they take: before it, and after it.
fn rest(units: usize) {
    while COUNTS.swap(true, Acquire) {
        thread::yield_now();
    }
    let _next = Next;
    counted(units);
}

/// Lets the next one count, whatever became of this.
struct Next;

impl Drop for Next {
    fn drop(&mut self) {
        COUNTS.store(false, Release);
    }
}

fn counted(units: usize) {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    // What the runtime allocates when it is first used is not the units'.
    assert_eq!(runtime.unit([7; 4]).send(|state: &mut State| state[0]).wait(), Ok(7));
    let before = BYTES.load(Relaxed);
    let all: Vec<Unit<State>> = (0..units as u64).map(|number| runtime.unit([number; 4])).collect();
    let each = |when: &str| {
        let bytes = BYTES.load(Relaxed).saturating_sub(before) / units;
        let beside = bytes.saturating_sub(size_of::<State>());
        println!("{when}: {beside} bytes beside the state");
        assert!(beside <= MOST, "{when}: {beside} bytes beside the state");
    };
    each("new");
    let told: Vec<_> = all.iter().map(|unit| unit.send(|state| state[1] - state[0])).collect();
    told.into_iter().for_each(|each| assert_eq!(each.wait(), Ok(0)));
    each("after its message");
}

#[test]
fn a_unit_at_rest_takes_at_most_256_bytes_beside_its_state() {
    rest(100_000);
}

#[test]
#[ignore = "it takes some time where nothing is optimized"]
fn a_million_units_are_an_ordinary_number() {
    rest(1_000_000);
}
