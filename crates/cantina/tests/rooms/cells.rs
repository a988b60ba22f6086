//! A cell with so many rooms that they are counted.

use crate::support::threads;
use cantina::rooms::{EnterError, Room, RoomCell};
use machine::Arc;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;

const ROOMS: usize = 5;
/// Turns of each thread.
const TURNS: usize = 100;

/// What was counted in each room since it was opened, and in all.
#[derive(Default)]
struct Tally {
    running: [AtomicU64; ROOMS],
    settled: [u64; ROOMS],
}

struct Counting<const ROOM: usize>;

// SAFETY: the only ones for their numbers. Those inside only add to an atomic of their own room, and read what is only written alone.
unsafe impl<const ROOM: usize> Room<Tally> for Counting<ROOM> {
    const INDEX: usize = ROOM;
    type View<'a> = (&'a AtomicU64, &'a [AtomicU64; ROOMS]);
    fn view(tally: &Tally) -> Self::View<'_> {
        (&tally.running[ROOM], &tally.running)
    }
    fn on_close(tally: &mut Tally) {
        let here = tally.running[ROOM].swap(0, Relaxed);
        assert!(here > 0, "it is closed for nobody");
        tally.settled[ROOM] += here;
    }
}

type Cell = RoomCell<Tally, ROOMS>;

/// Counts, where nobody of another room does.
fn count<const ROOM: usize>((own, all): (&AtomicU64, &[AtomicU64; ROOMS])) {
    own.fetch_add(1, Relaxed);
    let others = all.iter().enumerate().filter(|(room, _)| *room != ROOM);
    assert!(others.map(|(_, running)| running.load(Relaxed)).all(|running| running == 0));
}

fn visit<const ROOM: usize, const NEXT: usize>(cell: &Cell) {
    let guard = cell.enter::<Counting<ROOM>>().unwrap();
    count::<ROOM>(guard.view());
    let guard = guard.change::<Counting<NEXT>>().unwrap();
    count::<NEXT>(guard.view());
}

#[test]
fn what_is_done_in_five_rooms_is_settled_as_each_is_closed() {
    const THREADS: usize = 8;
    let cell = Arc::new(Cell::new(Tally::default()));
    let theirs = cell.clone();
    threads(THREADS, move |number| {
        for turn in 0..TURNS {
            match (number + turn) % ROOMS {
                0 => visit::<0, 3>(&theirs),
                1 => visit::<1, 1>(&theirs),
                2 => visit::<2, 0>(&theirs),
                3 => visit::<3, 4>(&theirs),
                _ => visit::<4, 2>(&theirs),
            }
        }
    });
    let tally = Arc::try_unwrap(cell).unwrap().into_inner();
    assert_eq!(tally.settled.iter().sum::<u64>(), 2 * (THREADS * TURNS) as u64);
    assert!(tally.settled.iter().all(|settled| *settled > 0));
}

#[test]
fn a_cell_of_five_rooms_lets_in_whom_it_can() {
    let cell = Cell::new(Tally::default());
    let guard = cell.try_enter::<Counting<4>>().unwrap();
    count::<4>(guard.view());
    assert_eq!(cell.try_enter::<Counting<4>>().map(drop), Err(EnterError::WouldBlock));
    assert_eq!(cell.try_enter::<Counting<0>>().map(drop), Err(EnterError::WouldBlock));
    let guard = guard.change::<Counting<0>>().unwrap();
    count::<0>(guard.view());
    drop(guard);
    let guard = cell.try_enter::<Counting<1>>().unwrap();
    count::<1>(guard.view());
    drop(guard);
    assert_eq!(cell.into_inner().settled, [1, 1, 0, 0, 1]);
}
