//! Panics inside rooms, and of exit code: whoever else comes goes on.

use crate::cancelled::block_on;
use crate::support::both;
use cantina::rooms::{Builder, CellGuard, EnterError, Room, RoomCell, Rooms};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::time::Duration;
use machine::{Arc, thread};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Panics without a word.
fn burst() -> ! {
    resume_unwind(Box::new("burst"))
}

/// What `f` panics with.
fn caught<R>(f: impl FnOnce() -> R) -> Option<&'static str> {
    let panic = catch_unwind(AssertUnwindSafe(f)).err()?;
    Some(panic.downcast_ref::<&str>().copied().unwrap_or("something else"))
}

/// The exit code of room 0 panics the first time.
fn bursting(builder: Builder) -> Builder {
    let times = AtomicUsize::new(0);
    builder.on_last_exit(0, move || {
        if times.fetch_add(1, SeqCst) == 0 {
            burst();
        }
    })
}

#[test]
fn who_panics_inside_leaves() {
    for builder in both(2) {
        let rooms = Arc::new(builder.build().unwrap());
        let theirs = rooms.clone();
        let inside = thread::spawn(move || theirs.with(0, || burst()));
        let _ = rooms.enter(1).unwrap();
        assert!(inside.join().is_err());
        assert!(!rooms.is_poisoned());
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn a_panic_inside_is_remembered_where_that_is_asked_for() {
    for builder in both(2) {
        let rooms = builder.poison(true).build().unwrap();
        assert_eq!(caught(|| rooms.with(0, || burst())), Some("burst"));
        assert!(rooms.is_poisoned());
        assert_eq!(rooms.enter(1).unwrap_err(), EnterError::Poisoned);
        assert_eq!(rooms.try_enter(1).unwrap_err(), EnterError::Poisoned);
        assert_eq!(rooms.enter_timeout(1, Duration::MAX).unwrap_err(), EnterError::Poisoned);
        rooms.clear_poison();
        let mut guard = rooms.enter(1).unwrap();
        guard.change_to(0).unwrap();
    }
}

/// It has its ticket, and nobody takes that from it.
#[test]
fn who_waits_already_goes_in_whoever_panics() {
    for builder in both(2) {
        let rooms = builder.poison(true).build().unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        let mut waits = Box::pin(rooms.enter_async(1));
        let bursts = || {
            let _inside = rooms.enter(0).unwrap();
            assert!(waits.as_mut().poll(&mut cx).is_pending());
            burst();
        };
        assert_eq!(caught(bursts), Some("burst"));
        assert!(rooms.is_poisoned());
        let Poll::Ready(Ok(guard)) = waits.as_mut().poll(&mut cx) else { panic!("it is open") };
        drop(guard);
        assert_eq!(rooms.enter(0).unwrap_err(), EnterError::Poisoned);
    }
}

/// One who comes while it unwinds has not panicked inside.
#[test]
fn who_comes_unwinding_poisons_nothing() {
    struct Comes<'a>(&'a Rooms);
    impl Drop for Comes<'_> {
        fn drop(&mut self) {
            self.0.with(1, || ()).unwrap();
        }
    }
    for builder in both(2) {
        let rooms = builder.poison(true).build().unwrap();
        let unwinds = || {
            let _comes = Comes(&rooms);
            burst();
        };
        assert_eq!(caught(unwinds), Some("burst"));
        assert!(!rooms.is_poisoned());
    }
}

#[test]
fn exit_code_that_panics_closes_the_room() {
    for builder in both(2) {
        let rooms = Arc::new(bursting(builder).build().unwrap());
        let guard = rooms.enter(0).unwrap();
        let theirs = rooms.clone();
        let waits = thread::spawn(move || theirs.with(1, || 5).unwrap());
        while !format!("{rooms:?}").contains(", 1]") {
            thread::yield_now();
        }
        assert_eq!(caught(move || drop(guard)), Some("burst"));
        assert_eq!(waits.join().unwrap(), 5);
        assert_eq!(caught(|| rooms.with(0, || ())), None);
    }
}

#[test]
fn exit_code_that_panics_poisons() {
    for builder in both(2) {
        let rooms = bursting(builder).poison(true).build().unwrap();
        assert_eq!(caught(|| rooms.with(0, || ())), Some("burst"));
        assert_eq!(rooms.enter(1).unwrap_err(), EnterError::Poisoned);
    }
}

/// Two panics at once would end the program.
#[test]
fn exit_code_that_panics_while_its_thread_unwinds_is_not_heard() {
    struct Loud;
    for builder in both(2) {
        let rooms = bursting(builder).build().unwrap();
        let unwinds = || rooms.with(0, || resume_unwind(Box::new(Loud)));
        assert_eq!(caught(unwinds), Some("something else"));
        drop(rooms.try_enter(1).unwrap());
    }
}

/// Nor is what it carries: its drop may panic, too.
#[test]
fn what_exit_code_panics_with_goes_no_further_while_its_thread_unwinds() {
    struct PanicsWhenDropped;
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            burst();
        }
    }
    struct Carries;
    // SAFETY: the only one of its number; it hands out nothing.
    unsafe impl Room<()> for Carries {
        const INDEX: usize = 0;
        type View<'a> = ();
        fn view((): &()) {}
        fn on_close((): &mut ()) {
            resume_unwind(Box::new(PanicsWhenDropped));
        }
    }
    /// Changes rooms as it is dropped.
    struct Changes<'a>(Option<CellGuard<'a, (), Carries, 1>>);
    impl Drop for Changes<'_> {
        fn drop(&mut self) {
            drop(self.0.take().map(|guard| guard.change::<Carries>()));
        }
    }
    for builder in both(2) {
        let carries = || resume_unwind(Box::new(PanicsWhenDropped));
        let rooms = builder.on_last_exit(0, carries).build().unwrap();
        assert_eq!(caught(|| rooms.with(0, || burst())), Some("burst"));
        drop(rooms.try_enter(1).unwrap());
    }
    let cell = RoomCell::<(), 1>::new(());
    let unwinds = || {
        let _changes = Changes(Some(cell.enter::<Carries>().unwrap()));
        burst();
    };
    assert_eq!(caught(unwinds), Some("burst"));
    assert_eq!(caught(|| cell.try_enter::<Carries>().map(|_| burst())), Some("burst"));
}

/// The ticket for the new room is given back, or that one would stay open.
#[test]
fn exit_code_that_panics_in_a_change_leaves_the_guard_outside() {
    for builder in both(2) {
        let rooms = bursting(builder).build().unwrap();
        let mut guard = rooms.enter(0).unwrap();
        assert_eq!(caught(|| guard.change_to(1)), Some("burst"));
        drop(rooms.try_enter(0).unwrap());
        // Not as one that would wait for itself.
        drop(rooms.enter(0).unwrap());
        guard.change_to(1).unwrap();
        assert_eq!(guard.room(), 1);
        assert_eq!(rooms.try_enter(0).unwrap_err(), EnterError::WouldBlock);
        drop(guard);
        drop(rooms.try_enter(0).unwrap());
    }
}

#[test]
fn exit_code_that_panics_in_a_change_of_a_task_leaves_it_outside() {
    for builder in both(2) {
        let rooms = bursting(builder).build().unwrap();
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(Ok(guard)) = pin!(rooms.enter_async(0)).poll(&mut cx) else {
            panic!("the rooms are idle");
        };
        let mut changing = Box::pin(guard.change_to(1));
        assert_eq!(caught(|| changing.as_mut().poll(&mut cx)), Some("burst"));
        drop(changing);
        drop(rooms.try_enter(0).unwrap());
    }
}

/// Whether it is told that it would wait for itself.
#[cfg(debug_assertions)]
fn is_told<R>(f: impl FnOnce() -> R) -> bool {
    caught(f).is_some_and(|text| text.contains("would wait for itself"))
}

/// Rooms whose exit code enters them.
#[cfg(debug_assertions)]
fn entering(counted: bool) -> Arc<Rooms> {
    Arc::new_cyclic(|rooms: &std::sync::Weak<Rooms>| {
        let rooms = rooms.clone();
        let enters = move || drop(rooms.upgrade().unwrap().enter(1));
        Rooms::builder(2).counted(counted).on_last_exit(0, enters).build().unwrap()
    })
}

/// Exit code that waits for itself is told so, and everybody else goes on.
#[test]
#[cfg(debug_assertions)]
fn exit_code_that_enters_is_told() {
    for rooms in [false, true].map(entering) {
        assert!(is_told(|| rooms.with(0, || ())));
        drop(rooms.try_enter(1).unwrap());
        let mut guard = rooms.enter(0).unwrap();
        assert!(is_told(|| guard.change_to(1)));
        drop(rooms.try_enter(1).unwrap());
    }
}

/// Also where a task runs it, whose guard nobody takes for the thread's.
#[test]
#[cfg(debug_assertions)]
fn exit_code_of_a_task_that_enters_is_told() {
    for rooms in [false, true].map(entering) {
        let guard = block_on(rooms.enter_async(0)).unwrap();
        assert!(is_told(|| drop(guard)));
        drop(rooms.try_enter(1).unwrap());
        let guard = block_on(rooms.enter_async(0)).unwrap();
        assert!(is_told(|| block_on(guard.change_to(1))));
        drop(rooms.enter(1).unwrap());
    }
}

/// And that of a cell.
#[test]
#[cfg(debug_assertions)]
fn exit_code_of_a_cell_that_enters_is_told() {
    struct Enters;
    static CELL: std::sync::OnceLock<RoomCell<(), 1>> = std::sync::OnceLock::new();
    // SAFETY: the only one of its number; it hands out nothing.
    unsafe impl Room<()> for Enters {
        const INDEX: usize = 0;
        type View<'a> = ();
        fn view((): &()) {}
        fn on_close((): &mut ()) {
            drop(CELL.get().unwrap().enter::<Enters>());
        }
    }
    let cell = CELL.get_or_init(|| RoomCell::new(()));
    let guard = cell.enter::<Enters>().unwrap();
    assert!(is_told(|| drop(guard)));
    let guard = cell.enter::<Enters>().unwrap();
    assert!(is_told(|| guard.change::<Enters>()));
    assert!(is_told(|| cell.enter::<Enters>().map(drop)));
}

struct Bursting;
struct Calm;

// SAFETY: the only one of its number; it hands out nothing.
unsafe impl Room<u32> for Bursting {
    const INDEX: usize = 0;
    type View<'a> = ();
    fn view(_: &u32) {}
    fn on_close(state: &mut u32) {
        *state += 1;
        if *state == 1 {
            burst();
        }
    }
}

// SAFETY: the only one of its number; those who read change nothing.
unsafe impl Room<u32> for Calm {
    const INDEX: usize = 1;
    type View<'a> = &'a u32;
    fn view(state: &u32) -> &u32 {
        state
    }
}

#[test]
fn a_cell_whose_exit_code_panics_goes_on() {
    let cell = RoomCell::<u32, 2>::new(0);
    let guard = cell.enter::<Bursting>().unwrap();
    assert_eq!(caught(|| guard.change::<Calm>()), Some("burst"));
    assert_eq!(*cell.try_enter::<Calm>().unwrap().view(), 1);
    drop(cell.enter::<Bursting>().unwrap());
    assert_eq!(cell.into_inner(), 2);
}
