//! Users of a cell with so many rooms that they are counted.

use cantina::rooms::{Room, RoomCell};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::{Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicBool;

/// Four rooms, the last of which nobody enters.
type Cell = RoomCell<Desk, 4>;

/// How one is known who only looks.
const LOOKER: usize = 5;

/// Whether exit code was run by one who had opened the room for others and was never inside.
#[allow(dead_code, reason = "who runs few schedules does not ask what they came to")]
pub(crate) static CLOSED_FOR_OTHERS: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Desk {
    filled: AtomicU64,
    settled: u64,
    /// How often each room was closed.
    closed: [u32; 4],
}

struct Bursting;
struct Looking;
struct Filling;

// SAFETY: the only one of its number; it hands out nothing.
unsafe impl Room<Desk> for Bursting {
    const INDEX: usize = 0;
    type View<'a> = ();
    fn view(_: &Desk) {}
    fn on_close(desk: &mut Desk) {
        desk.closed[0] += 1;
        resume_unwind(Box::new("exit code"));
    }
}

// SAFETY: the only one of its number; those who look change nothing.
unsafe impl Room<Desk> for Looking {
    const INDEX: usize = 1;
    type View<'a> = &'a u64;
    fn view(desk: &Desk) -> &u64 {
        &desk.settled
    }
    fn on_close(desk: &mut Desk) {
        desk.closed[1] += 1;
    }
}

// SAFETY: the only one of its number; those who fill only change an atomic.
unsafe impl Room<Desk> for Filling {
    const INDEX: usize = 2;
    type View<'a> = &'a AtomicU64;
    fn view(desk: &Desk) -> &AtomicU64 {
        &desk.filled
    }
    fn on_close(desk: &mut Desk) {
        desk.closed[2] += 1;
        desk.settled += desk.filled.swap(0, Relaxed);
        CLOSED_FOR_OTHERS.fetch_or(thread::word() == LOOKER, Relaxed);
    }
}

fn user(cell: &Arc<Cell>, f: impl FnOnce(&Cell) + Send + 'static) -> thread::JoinHandle<()> {
    let cell = cell.clone();
    thread::spawn(move || f(&cell))
}

fn look(cell: &Cell) {
    thread::set_word(LOOKER);
    let guard = cell.enter::<Looking>().unwrap();
    assert!(*guard.view() <= 1);
    drop(guard);
    thread::set_word(0);
}

fn fill(cell: &Cell) {
    let guard = cell.enter::<Filling>().unwrap();
    guard.view().fetch_add(1, Relaxed);
}

/// All have left: how often the third room was closed at least, and at most.
fn ends(cell: Arc<Cell>, bursts: u32, fewest: u32, most: u32) {
    let desk = Arc::try_unwrap(cell).unwrap().into_inner();
    assert_eq!((desk.filled.load(Relaxed), desk.settled), (0, 1));
    let [bursting, looking, filling, last] = desk.closed;
    assert_eq!((bursting, looking, last), (bursts, 1, 0));
    assert!((fewest..=most).contains(&filling), "{filling} batches");
}

pub(super) fn a_cell_of_four_rooms_is_closed_alone() {
    let cell = Arc::new(Cell::new(Desk::default()));
    let looks = user(&cell, look);
    fill(&cell);
    looks.join().unwrap();
    ends(cell, 0, 1, 1);
}

/// One has a ticket and gives it up, for exit code panics. Who opens its room may be slow, and then closes it for the other one.
pub(crate) fn a_cell_of_four_rooms_is_closed_for_others() {
    let cell = Arc::new(Cell::new(Desk::default()));
    let guard = cell.enter::<Bursting>().unwrap();
    let others = [user(&cell, look), user(&cell, fill)];
    let changes = || drop(guard.change::<Filling>());
    assert!(catch_unwind(AssertUnwindSafe(changes)).is_err());
    others.into_iter().for_each(|other| other.join().unwrap());
    ends(cell, 1, 1, 2);
}
