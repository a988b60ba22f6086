//! What a unit at rest takes, and what those who waited leave: counted by the allocator of this program.

use cantina::scheduler::{Runtime, Unit};
use std::alloc::{GlobalAlloc, Layout, System};
use std::pin::Pin;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

/// The most that a unit takes beside its state, its handle among it.
const MOST: usize = 256;

/// The most that one takes that has room for so many messages.
const MOST_WITH_ROOM: usize = 640;

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

/// Counts while nobody else does.
fn alone(count: impl FnOnce()) {
    while COUNTS.swap(true, Acquire) {
        thread::yield_now();
    }
    let _next = Next;
    count();
}

/// Makes so many units, sends each a message, and looks what they take: before it, and after it.
fn rest(units: usize) {
    alone(|| counted(units, MOST, |runtime, state| runtime.unit(state)));
}

/// Lets the next one count, whatever became of this.
struct Next;

impl Drop for Next {
    fn drop(&mut self) {
        COUNTS.store(false, Release);
    }
}

fn counted(units: usize, most: usize, unit: impl Fn(&Runtime, State) -> Unit<State>) {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    // What the runtime allocates when it is first used is not the units'.
    assert_eq!(runtime.unit([7; 4]).send(|state: &mut State| state[0]).wait(), Ok(7));
    let before = BYTES.load(Relaxed);
    let all: Vec<Unit<State>> =
        (0..units as u64).map(|number| unit(&runtime, [number; 4])).collect();
    let each = |when: &str| {
        let bytes = BYTES.load(Relaxed).saturating_sub(before) / units;
        let beside = bytes.saturating_sub(size_of::<State>());
        println!("{when}: {beside} bytes beside the state");
        assert!(beside <= most, "{when}: {beside} bytes beside the state");
    };
    each("new");
    let told: Vec<_> = all.iter().map(|unit| unit.send(|state| state[1] - state[0])).collect();
    told.into_iter().for_each(|each| assert_eq!(each.wait(), Ok(0)));
    each("after its message");
}

/// Those who wait for a value, and no longer than they have time, leave nothing beside it.
#[test]
fn timed_waits_leave_nothing() {
    let wait = || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let (promise, value) = runtime.promise::<u8>();
        let copy = value.clone();
        // What the first leaves stays with the value.
        assert_eq!(
            (value.wait_timeout(Duration::ZERO), copy.wait_timeout(Duration::ZERO)),
            (None, None)
        );
        let before = BYTES.load(Relaxed);
        for _ in 0..cantina_effort::rounds(2_000, 1_000_000) {
            assert_eq!(value.wait_timeout(Duration::ZERO), None);
            assert_eq!(copy.wait_timeout(Duration::ZERO), None);
            assert_eq!(value.clone().wait_timeout(Duration::ZERO), None);
            let mut polled = value.clone();
            assert!(
                Pin::new(&mut polled).poll(&mut Context::from_waker(Waker::noop())).is_pending()
            );
        }
        let more = BYTES.load(Relaxed).saturating_sub(before);
        assert!(more < 4096, "{more} bytes");
        promise.keep(7);
        assert_eq!((value.wait(), copy.wait()), (Ok(7), Ok(7)));
    };
    alone(wait);
}

/// What waits for a promise that is never kept is in a list while it waits, and no longer.
#[test]
fn what_waited_leaves_nothing() {
    let wait = || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let waited = || {
            let (promise, value) = runtime.promise::<u8>();
            let (handle, after) = (runtime.handle(), value.map(|value| value + 1));
            let end = runtime.spawn_tail(move || handle.tail(after, |value| value + 1));
            promise.keep(1);
            assert_eq!(end.wait(), Ok(3));
        };
        // Workers keep so many blocks, for themselves and for others.
        (0..6_000).for_each(|_| waited());
        let before = BYTES.load(Relaxed);
        (0..cantina_effort::rounds(2_000, 1_000_000)).for_each(|_| waited());
        let more = BYTES.load(Relaxed).saturating_sub(before);
        assert!(more < 1 << 16, "{more} bytes");
    };
    alone(wait);
}

#[test]
fn a_unit_at_rest_takes_at_most_256_bytes_beside_its_state() {
    rest(100_000);
}

#[test]
fn a_unit_with_room_takes_at_most_640_bytes_beside_its_state() {
    let unit = |runtime: &Runtime, state| runtime.unit_builder().capacity(8).build(state);
    alone(|| counted(10_000, MOST_WITH_ROOM, unit));
}

#[test]
#[ignore = "it takes some time where nothing is optimized"]
fn a_million_units_are_an_ordinary_number() {
    rest(1_000_000);
}
