//! Users of rooms, in both forms.

pub(crate) mod cells;
mod crowds;
pub(crate) mod fickle;
mod house;
mod joined;

pub(crate) use crowds::{CHANGES, CROWDS};
pub(crate) use fickle::FICKLE;
pub(crate) use joined::JOINED;

use cantina::rooms::{EnterError, Room, RoomCell};
use cantina_effort::scenario::Scenario;
use house::{House, block_on, bursts, finish, poll};
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::park::Parker;
use machine::time::Duration;
use machine::{Arc, thread};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

/// All of them.
pub(crate) const ALL: [Scenario; 37] = [
    ("a ticket of a later batch is not adopted", a_ticket_of_a_later_batch_is_not_adopted),
    ("two users of two rooms", || two_users(false)),
    ("two users of two counted rooms", || two_users(true)),
    ("two users who come again", || two_come_again(false)),
    ("two users who come again to counted rooms", || two_come_again(true)),
    ("a user changes rooms", || one_changes(false)),
    ("a user changes counted rooms", || one_changes(true)),
    ("two users change rooms", || two_change(false)),
    ("two users change counted rooms", || two_change(true)),
    ("a user tries", || one_tries(false, 1)),
    ("a user tries counted rooms", || one_tries(true, 1)),
    ("a user tries the room where another is", || one_tries(false, 0)),
    ("a user tries the counted room where another is", || one_tries(true, 0)),
    ("a user has no patience", || one_has_no_patience(false)),
    ("a user of counted rooms has no patience", || one_has_no_patience(true)),
    ("a task is dropped", || a_task_is_dropped(false)),
    ("a task for counted rooms is dropped", || a_task_is_dropped(true)),
    ("a task and a thread", || a_task_and_a_thread(false)),
    ("a task and a thread for counted rooms", || a_task_and_a_thread(true)),
    ("a ticket is adopted", || a_ticket_is_adopted(false)),
    ("a ticket for counted rooms is adopted", || a_ticket_is_adopted(true)),
    ("a task is woken and dropped", || a_task_is_woken_and_dropped(false)),
    ("a task for counted rooms is woken and dropped", || a_task_is_woken_and_dropped(true)),
    ("one gives up beside another", || one_gives_up_beside_another(false)),
    ("one gives up counted rooms beside another", || one_gives_up_beside_another(true)),
    (
        "a ticket is adopted by one who has seen nothing",
        a_ticket_is_adopted_by_one_who_has_seen_nothing,
    ),
    ("a ticket is adopted that was given up in a panic", a_ticket_given_up_in_a_panic_is_adopted),
    ("a room opens for nobody, and opens again", a_room_opens_for_nobody_and_opens_again),
    ("a cell is closed alone", a_cell_is_closed_alone),
    ("a cell of four rooms is closed alone", cells::a_cell_of_four_rooms_is_closed_alone),
    ("a room is opened again and again", a_room_is_opened_again_and_again),
    ("an open room is joined", an_open_room_is_joined),
    ("two go from one joined room to another", two_go_from_one_joined_room_to_another),
    (
        "a joined room is entered at once or not at all",
        a_joined_room_is_entered_at_once_or_not_at_all,
    ),
    ("one gives up a joined room", one_gives_up_a_joined_room),
    (
        "a ticket that was given up keeps nobody from joining",
        a_ticket_that_was_given_up_keeps_nobody_from_joining,
    ),
    ("two leave a joined room to one who waits", two_leave_a_joined_room_to_one_who_waits),
];

fn two_users(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| house.visit(1, 0));
    house.visit(0, 1);
    other.join().unwrap();
    house.ends(2, 2);
}

fn two_come_again(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| (0..2).for_each(|_| house.visit(1, 0)));
    (0..2).for_each(|_| house.visit(0, 0));
    other.join().unwrap();
    house.ends(2, 4);
}

fn one_changes(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| house.visit(1, 0));
    let mut guard = house.rooms.enter(0).unwrap();
    house.inside.act(0, 0);
    guard.change_to(1).unwrap();
    house.inside.act(0, 1);
    drop(guard);
    other.join().unwrap();
    house.ends(2, 3);
}

fn two_change(counted: bool) {
    let house = House::new(counted, 2);
    let change = |house: &House, user, room| {
        let mut guard = house.rooms.enter(room).unwrap();
        house.inside.act(user, room);
        guard.change_to(1).unwrap();
        house.inside.act(user, 1);
    };
    let other = house.user(move |house| change(&house, 1, 0));
    change(&house, 0, 1);
    other.join().unwrap();
    house.ends(3, 4);
}

fn one_tries(counted: bool, room: usize) {
    let house = House::new(counted, 2);
    let other = house.user(|house| house.visit(1, 0));
    let tried = house.rooms.try_enter(room);
    let closed = match &tried {
        Ok(_) => 2,
        Err(error) => {
            assert_eq!(*error, EnterError::WouldBlock);
            1
        }
    };
    if tried.is_ok() {
        house.inside.act(0, room);
    }
    drop(tried);
    other.join().unwrap();
    // One batch if both want the same room, and the other has its ticket before we open it.
    house.ends(if room == 0 { 1 } else { closed }, closed);
}

fn one_has_no_patience(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| house.visit(1, 0));
    let entered = house.rooms.enter_timeout(1, Duration::from_nanos(1));
    let closed = match &entered {
        Ok(_) => 2,
        Err(error) => {
            assert_eq!(*error, EnterError::TimedOut);
            1
        }
    };
    if entered.is_ok() {
        house.inside.act(0, 1);
    }
    drop(entered);
    other.join().unwrap();
    house.ends(closed, closed);
}

/// It is polled once, and dropped: not yet let in, or about to be, or inside.
fn a_task_is_dropped(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| house.visit(1, 0));
    {
        let mut entering = pin!(house.rooms.enter_async(1));
        if let Poll::Ready(guard) = poll(entering.as_mut(), &Parker::new()) {
            house.inside.act(0, 1);
            drop(guard.unwrap());
        }
    }
    other.join().unwrap();
    house.ends(1, 2);
}

/// It sleeps before somebody else does, and does not come when it is woken: the other one must be woken all the same.
fn a_task_is_woken_and_dropped(counted: bool) {
    let house = House::new(counted, 2);
    let guard = house.rooms.enter(1).unwrap();
    let mut entering = Box::pin(house.rooms.enter_async(0));
    assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    let other = house.user(|house| house.visit(1, 0));
    drop(guard);
    drop(entering);
    other.join().unwrap();
    house.ends(2, 3);
}

/// They may be of one batch, which is the last one's to close: of who is inside, or of who opened it for both.
fn one_gives_up_beside_another(counted: bool) {
    let house = House::new(counted, 2);
    let guard = house.rooms.enter(1).unwrap();
    let mut entering = Box::pin(house.rooms.enter_async(0));
    assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    let other = house.user(|house| house.visit(1, 0));
    drop(entering);
    drop(guard);
    other.join().unwrap();
    house.ends(2, 2);
}

fn a_task_and_a_thread(counted: bool) {
    let house = House::new(counted, 2);
    let other = house.user(|house| {
        let guard = block_on(house.rooms.enter_async(0)).unwrap();
        house.inside.act(1, 0);
        let guard = block_on(guard.change_to(1)).unwrap();
        house.inside.act(1, 1);
        drop(guard);
    });
    house.visit(0, 1);
    other.join().unwrap();
    house.ends(2, 3);
}

/// Gives up while room 0 is open for it, and comes again: the ticket is still there, or the room has opened.
fn a_ticket_is_adopted(counted: bool) {
    let house = House::where_tickets_are_few(counted);
    let guard = house.rooms.enter(0).unwrap();
    let other = house.user(|house| {
        for _ in 0..2 {
            let _ = house.rooms.enter_timeout(1, Duration::from_nanos(1)).map(|guard| {
                house.inside.act(1, 1);
                drop(guard);
            });
        }
        house.visit(1, 1);
    });
    house.inside.act(0, 0);
    drop(guard);
    other.join().unwrap();
    house.ends(2, 4);
}

/// The gate has shown before what the ticket waits for, four generations ago.
fn a_ticket_is_adopted_by_one_who_has_seen_nothing() {
    let house = House::where_tickets_are_few(false);
    let other = house.user(|house| house.visit(1, 0));
    (0..3).for_each(|_| house.visit_as_one_who_waits(0));
    let guard = house.rooms.enter(1).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(0));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    house.inside.act(0, 1);
    drop(guard);
    other.join().unwrap();
    house.ends(7, 8);
}

/// As above, where who gives it up has not gone to sleep: its waker has panicked before that.
fn a_ticket_given_up_in_a_panic_is_adopted() {
    let house = House::where_tickets_are_few(false);
    let other = house.user(|house| house.visit(1, 0));
    (0..3).for_each(|_| house.visit_as_one_who_waits(0));
    let guard = house.rooms.enter(1).unwrap();
    let gives_up = house.user(|house| {
        let poll = || pin!(house.rooms.enter_async(0)).poll(&mut Context::from_waker(&bursts()));
        assert!(catch_unwind(AssertUnwindSafe(poll)).is_err());
    });
    gives_up.join().unwrap();
    house.inside.act(0, 1);
    drop(guard);
    other.join().unwrap();
    house.ends(7, 8);
}

/// Who looks for a ticket of the next batch is slow: meanwhile there is one that was given up, of the batch after the next but one.
pub(crate) fn a_ticket_of_a_later_batch_is_not_adopted() {
    let house = House::where_tickets_are_few(false);
    let guard = house.rooms.enter(1).unwrap();
    let (mut first, parker) = (pin!(house.rooms.enter_async(0)), Parker::new());
    assert!(poll(first.as_mut(), &parker).is_pending());
    let other = house.user(|house| house.visit(1, 0));
    drop(guard);
    let guard = finish(first, &parker);
    house.inside.act(0, 0);
    drop(guard);
    house.visit_as_one_who_waits(0);
    let guard = house.rooms.enter(1).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(0));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    drop(guard);
    other.join().unwrap();
    house.clone().ends(5, 6);
}

/// Who opened it for one that had given up is slow, and meanwhile the room has shown all its generations.
fn a_room_opens_for_nobody_and_opens_again() {
    let house = House::new(false, 2);
    let guard = house.rooms.enter(1).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(0));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    let other = house.user(|house| (0..4).for_each(|_| house.visit_as_one_who_waits(0)));
    drop(guard);
    other.join().unwrap();
    house.ends(8, 9);
}

struct Adding;
struct Reading;

// SAFETY: the only one of its number; those who add only change an atomic.
unsafe impl Room<(AtomicU64, u64)> for Adding {
    const INDEX: usize = 0;
    type View<'a> = &'a AtomicU64;
    fn view(state: &(AtomicU64, u64)) -> &AtomicU64 {
        &state.0
    }
    fn on_close(state: &mut (AtomicU64, u64)) {
        state.1 += state.0.swap(0, Relaxed);
    }
}

// SAFETY: the only one of its number; those who read change nothing.
unsafe impl Room<(AtomicU64, u64)> for Reading {
    const INDEX: usize = 1;
    type View<'a> = (&'a AtomicU64, &'a u64);
    fn view(state: &(AtomicU64, u64)) -> (&AtomicU64, &u64) {
        (&state.0, &state.1)
    }
}

fn a_cell_is_closed_alone() {
    let cell = Arc::new(RoomCell::<_, 2>::new((AtomicU64::new(0), 0)));
    let theirs = cell.clone();
    let add = |cell: &RoomCell<(AtomicU64, u64), 2>| {
        let guard = cell.enter::<Adding>().unwrap();
        guard.view().fetch_add(1, Relaxed);
        let guard = guard.change::<Reading>().unwrap();
        let (open, settled) = guard.view();
        assert_eq!(open.load(Relaxed), 0);
        assert!((1..=2).contains(settled));
    };
    let other = thread::spawn(move || add(&theirs));
    add(&cell);
    other.join().unwrap();
    assert_eq!(*cell.try_enter::<Reading>().unwrap().view().1, 2);
}

/// More often than there are generations, by one who finds it idle and one who waits.
fn a_room_is_opened_again_and_again() {
    let house = House::new(false, 1);
    (0..5).for_each(|_| house.visit(0, 0));
    let other = house.user(|house| house.visit(1, 0));
    (0..2).for_each(|_| house.visit(0, 0));
    other.join().unwrap();
    house.ends(7, 8);
}

/// Who comes while somebody is inside needs nobody to leave.
fn an_open_room_is_joined() {
    let house = House::joined(2);
    let guard = house.rooms.enter(0).unwrap();
    let joins = house.user(|house| house.visit(1, 0));
    house.inside.act(0, 0);
    joins.join().unwrap();
    drop(guard);
    house.visit(0, 1);
    house.ends(0, 0);
}

fn two_go_from_one_joined_room_to_another() {
    let house = House::joined(2);
    let other = house.user(|house| (0..2).for_each(|room| house.visit(1, room)));
    (0..2).for_each(|room| house.visit(0, room));
    other.join().unwrap();
    house.ends(0, 0);
}

fn a_joined_room_is_entered_at_once_or_not_at_all() {
    let house = House::joined(2);
    let other = house.user(|house| (0..2).for_each(|room| house.visit(1, room)));
    for room in [0, 1, 0] {
        let entered = house.rooms.try_enter(room).inspect(|_| house.inside.act(0, room));
        assert!(!matches!(entered, Err(error) if error != EnterError::WouldBlock));
    }
    other.join().unwrap();
    house.ends(0, 0);
}

/// Its ticket goes with those who have one, or is the last there is.
fn one_gives_up_a_joined_room() {
    let house = House::joined(2);
    let other = house.user(|house| (0..2).for_each(|room| house.visit(1, room)));
    for room in [1, 0] {
        let entered = house.rooms.enter_timeout(room, Duration::from_nanos(1));
        let entered = entered.inspect(|_| house.inside.act(0, room));
        assert!(!matches!(entered, Err(error) if error != EnterError::TimedOut));
    }
    other.join().unwrap();
    house.ends(0, 0);
}

/// Nobody waits: who comes to the open room needs nobody to leave.
fn a_ticket_that_was_given_up_keeps_nobody_from_joining() {
    let house = House::joined(2);
    let guard = house.rooms.enter(0).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(1));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    let joins = house.user(|house| house.visit(1, 0));
    house.inside.act(0, 0);
    joins.join().unwrap();
    drop(guard);
    house.visit(0, 1);
    house.ends(0, 0);
}

/// Who is let in by the last of them sees what the first one did, too.
fn two_leave_a_joined_room_to_one_who_waits() {
    let house = House::joined(2);
    let guard = house.rooms.enter(0).unwrap();
    let others = [house.user(|house| house.visit(1, 0)), house.user(|house| house.visit(2, 1))];
    house.inside.act(0, 0);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(0, 0);
}
