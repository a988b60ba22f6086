//! More users of rooms than two, in both forms: longer.

use super::cells::a_cell_of_four_rooms_is_closed_for_others;
use super::house::{House, poll};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::park::Parker;
use machine::time::Duration;
use machine::{Arc, thread};
use std::pin::pin;
use std::task::Poll;

/// All of them.
pub(crate) const CROWDS: [Scenario; 18] = [
    ("three users of two rooms", || three_users(false, 2)),
    ("three users of two counted rooms", || three_users(true, 2)),
    ("three users of three rooms", || three_users(false, 3)),
    ("three users of three counted rooms", || three_users(true, 3)),
    ("three users, one changes", || three_and_one_changes(false)),
    ("three users of counted rooms, one changes", || three_and_one_changes(true)),
    ("two sleepers of one room", || two_sleepers(false)),
    ("two sleepers of one counted room", || two_sleepers(true)),
    ("a task looks again as it is woken", || a_task_looks_again_as_it_is_woken(false)),
    ("a task for counted rooms looks again", || a_task_looks_again_as_it_is_woken(true)),
    ("two of three give up", || two_of_three_give_up(false)),
    ("two of three give up counted rooms", || two_of_three_give_up(true)),
    ("three users of joined rooms", three_users_of_joined_rooms),
    ("one joins a room that opens for nobody", one_joins_a_room_that_opens_for_nobody),
    ("one joins and one adopts a ticket", one_joins_and_one_adopts_a_ticket),
    ("two come as a room opens", two_come_as_a_room_opens),
    ("a ticket that is good is not adopted", a_ticket_that_is_good_is_not_adopted),
    ("a cell of four rooms is closed for others", a_cell_of_four_rooms_is_closed_for_others),
];

fn three_users_of_joined_rooms() {
    let house = House::joined(2);
    let others: Vec<_> = (1..3)
        .map(|n| {
            house.user(move |house| [n % 2, 0].into_iter().for_each(|room| house.visit(n, room)))
        })
        .collect();
    house.visit(0, 0);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(0, 0);
}

/// Who opened it goes on to the next room, for which somebody waits, only if nobody has joined.
fn one_joins_a_room_that_opens_for_nobody() {
    let house = House::joined(2);
    let guard = house.rooms.enter(1).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(0));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    let others = [house.user(|house| house.visit(1, 0)), house.user(|house| house.visit(2, 1))];
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(0, 0);
}

/// The ticket for the other room was given up, and is wanted by one who comes when another joins.
fn one_joins_and_one_adopts_a_ticket() {
    let house = House::joined_where_tickets_are_few(2);
    let guard = house.rooms.enter(0).unwrap();
    {
        let mut entering = pin!(house.rooms.enter_async(1));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
    }
    let others = [house.user(|house| house.visit(1, 0)), house.user(|house| house.visit(2, 1))];
    house.inside.act(0, 0);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(0, 0);
}

/// They are of the batch, or of the next one, and nobody is counted twice.
fn two_come_as_a_room_opens() {
    let house = House::new(false, 1);
    let guard = house.rooms.enter(0).unwrap();
    let come = |n| house.user(move |house| (0..2).for_each(|_| house.visit(n, 0)));
    let others = [1, 2].map(come);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(3, 5);
}

/// Who comes when the room is open is of a later batch, although a ticket of this one was given up and whoever opens has not found it yet.
pub(crate) fn a_ticket_that_is_good_is_not_adopted() {
    let house = House::new(true, 2);
    let (comes, batch) = (Parker::new(), Arc::new(AtomicU64::new(0)));
    let (calls, theirs) = (comes.unparker(), batch.clone());
    let opens = house.user(|house| {
        let guard = house.rooms.enter(1).unwrap();
        {
            let mut entering = pin!(house.rooms.enter_async(0));
            assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
        }
        drop(guard);
    });
    let is_there = house.user(move |house| {
        // It looks, and need not be woken.
        let (mut entering, parker) = (pin!(house.rooms.enter_async(0)), Parker::new());
        let guard = loop {
            match poll(entering.as_mut(), &parker) {
                Poll::Ready(guard) => break guard.unwrap(),
                Poll::Pending => thread::yield_now(),
            }
        };
        house.inside.act(1, 0);
        theirs.store(house.inside.batch(), Relaxed);
        calls.unpark();
        drop(guard);
    });
    comes.park();
    let guard = house.rooms.enter(0).unwrap();
    house.inside.act(2, 0);
    assert!(house.inside.batch() > batch.load(Relaxed), "it is of the batch that was inside");
    drop(guard);
    opens.join().unwrap();
    is_there.join().unwrap();
    house.ends(3, 3);
}

fn three_users(counted: bool, rooms: usize) {
    let house = House::new(counted, rooms);
    let others: Vec<_> =
        (1..3).map(|n| house.user(move |house| house.visit(n, n % rooms))).collect();
    house.visit(0, 0);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(rooms as u32, 3);
}

fn three_and_one_changes(counted: bool) {
    let house = House::new(counted, 2);
    let others: Vec<_> = (1..3).map(|n| house.user(move |house| house.visit(n, n % 2))).collect();
    let mut guard = house.rooms.enter(0).unwrap();
    house.inside.act(0, 0);
    guard.change_to(0).unwrap();
    house.inside.act(0, 0);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(3, 4);
}

/// They wait for the same room, and one wakes the other.
fn two_sleepers(counted: bool) {
    let house = House::new(counted, 2);
    let guard = house.rooms.enter(1).unwrap();
    let others: Vec<_> = (1..3).map(|n| house.user(move |house| house.visit(n, 0))).collect();
    house.inside.act(0, 1);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(2, 3);
}

/// It was asleep before the other one, and is woken as it looks whether it still has to sleep: then it wakes the other one.
fn a_task_looks_again_as_it_is_woken(counted: bool) {
    let house = House::new(counted, 2);
    let opens = house.user(|house| house.visit(1, 1));
    let sleeps = house.user(|house| house.visit(2, 0));
    {
        let (mut entering, parker) = (pin!(house.rooms.enter_async(0)), Parker::new());
        let looks = (0..2).map(|_| poll(entering.as_mut(), &parker));
        if let Some(Poll::Ready(guard)) = looks.into_iter().find(Poll::is_ready) {
            house.inside.act(0, 0);
            drop(guard);
        }
    }
    opens.join().unwrap();
    sleeps.join().unwrap();
    house.ends(2, 3);
}

/// One by a future that is dropped, one by the clock, for the room that the third wants.
fn two_of_three_give_up(counted: bool) {
    let house = House::new(counted, 2);
    let guard = house.rooms.enter(1).unwrap();
    let impatient = house.user(|house| {
        if let Ok(guard) = house.rooms.enter_timeout(0, Duration::from_nanos(1)) {
            house.inside.act(1, 0);
            drop(guard);
        }
    });
    let patient = house.user(|house| house.visit(2, 0));
    {
        let mut entering = pin!(house.rooms.enter_async(0));
        assert!(poll(entering.as_mut(), &Parker::new()).is_pending());
        drop(guard);
    }
    impatient.join().unwrap();
    patient.join().unwrap();
    house.ends(2, 4);
}
