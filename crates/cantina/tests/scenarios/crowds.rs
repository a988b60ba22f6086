//! More users of rooms than two, in both forms: longer.

use super::house::House;
use cantina_effort::scenario::Scenario;

/// Those who come and go.
pub(crate) const CROWDS: [Scenario; 7] = [
    ("three users of two rooms", || three_users(false, 2)),
    ("three users of two counted rooms", || three_users(true, 2)),
    ("three users of three rooms", || three_users(false, 3)),
    ("three users of three counted rooms", || three_users(true, 3)),
    ("two sleepers of one room", || two_sleepers(false)),
    ("two sleepers of one counted room", || two_sleepers(true)),
    ("two come as a room opens", two_come_as_a_room_opens),
];

/// One of them changes rooms.
pub(crate) const CHANGES: [Scenario; 6] = [
    ("three users, one changes", || three_and_one_changes(false)),
    ("three users of counted rooms, one changes", || three_and_one_changes(true)),
    ("three users, one goes on to the other room", || three_and_one_goes_on(false, 2)),
    ("three users, one goes on to the other counted room", || three_and_one_goes_on(true, 2)),
    ("three users, one goes on to the next room", || three_and_one_goes_on(false, 3)),
    ("three users, one goes on to the next counted room", || three_and_one_goes_on(true, 3)),
];

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

fn three_users(counted: bool, rooms: usize) {
    let house = House::new(counted, rooms);
    let others: Vec<_> =
        (1..3).map(|n| house.user(move |house| house.visit(n, n % rooms))).collect();
    house.visit(0, 0);
    others.into_iter().for_each(|other| other.join().unwrap());
    house.ends(rooms as u32, 3);
}

/// To the room where it is: it waits for the next batch.
fn three_and_one_changes(counted: bool) {
    let house = House::new(counted, 2);
    three_and_one_goes_to(&house, 2, 0);
    house.ends(3, 4);
}

/// To a room that one of the others wants, too.
fn three_and_one_goes_on(counted: bool, rooms: usize) {
    let house = House::new(counted, rooms);
    three_and_one_goes_to(&house, rooms, 1);
    house.ends(rooms as u32, 4);
}

fn three_and_one_goes_to(house: &House, rooms: usize, room: usize) {
    let others: Vec<_> =
        (1..3).map(|n| house.user(move |house| house.visit(n, n % rooms))).collect();
    let mut guard = house.rooms.enter(0).unwrap();
    house.inside.act(0, 0);
    guard.change_to(room).unwrap();
    house.inside.act(0, room);
    drop(guard);
    others.into_iter().for_each(|other| other.join().unwrap());
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
