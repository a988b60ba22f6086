//! More users than two of rooms that are joined while they are open, which go where nobody waits, or all have given up.

use super::house::{House, poll};
use cantina_effort::scenario::Scenario;
use machine::park::Parker;
use std::pin::pin;
use std::task::Poll;

/// All of them.
pub(crate) const JOINED: [Scenario; 4] = [
    ("three users of joined rooms", three_users_of_joined_rooms),
    ("one joins a room that opens for nobody", one_joins_a_room_that_opens_for_nobody),
    ("one joins and one adopts a ticket", one_joins_and_one_adopts_a_ticket),
    ("one has joined and left a room that opens for nobody", one_has_joined_and_left),
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

/// A room opens for nobody, and before it is left one joins and leaves. The next room opens for one who has adopted its ticket, and so has not
/// seen the word since: only who opened both can tell it what was done in the first.
fn one_has_joined_and_left() {
    let house = House::joined_where_tickets_are_few(2);
    let comes = Parker::new();
    let calls = comes.unparker();
    let opens = house.user(move |house| {
        let guard = house.rooms.enter(1).unwrap();
        let mut entering = [0, 1].map(|room| Box::pin(house.rooms.enter_async(room)));
        let polled = entering.each_mut().map(|entering| poll(entering.as_mut(), &Parker::new()));
        assert!(polled.iter().all(Poll::is_pending));
        drop((polled, entering));
        let joins = house.user(|house| house.visit(1, 0));
        calls.unpark();
        drop(guard);
        joins.join().unwrap();
    });
    comes.park();
    house.visit(2, 1);
    opens.join().unwrap();
    house.ends(0, 0);
}
