//! More users than two of rooms that are joined while they are open, which go where nobody waits, or all have given up.

use super::house::{House, poll};
use cantina_effort::scenario::Scenario;
use machine::park::Parker;
use std::pin::pin;

/// All of them.
pub(crate) const JOINED: [Scenario; 3] = [
    ("three users of joined rooms", three_users_of_joined_rooms),
    ("one joins a room that opens for nobody", one_joins_a_room_that_opens_for_nobody),
    ("one joins and one adopts a ticket", one_joins_and_one_adopts_a_ticket),
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
