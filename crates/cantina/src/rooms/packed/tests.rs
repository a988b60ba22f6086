//! How long those who wait are passed.

use super::{EnterError, Form, LIMIT, Packed, Plan, Taken};

/// Who waits is passed so often, and no more, each time that a room is opened.
#[test]
fn patience_comes_to_an_end() {
    let plan = Plan {
        rooms: 2,
        with_exit_code: 0,
        joined: true,
        patience: 2,
        limit: LIMIT,
        counting: false,
    };
    let rooms = Packed { processors: 1, ..Packed::new(plan) };
    let close = |_| unreachable!("there is no exit code");
    let waits = |room| match rooms.take(room) {
        Ok(Taken::Ticket(ticket)) => ticket,
        other => panic!("{other:?}"),
    };
    assert_eq!(rooms.take(0), Ok(Taken::Inside));
    let mut ticket = waits(1);
    // It was not opened for somebody who had waited.
    assert_eq!(rooms.try_take(0), Err(EnterError::WouldBlock));
    rooms.leave(0, Taken::Inside, close);
    for (here, there) in [(1, 0), (0, 1), (1, 0)] {
        assert!(rooms.is_good(here, ticket));
        let first = Taken::Ticket(ticket);
        ticket = waits(there);
        assert_eq!([(); 3].map(|()| rooms.try_take(here).is_ok()), [true, true, false]);
        assert_eq!(rooms.try_take(there), Err(EnterError::WouldBlock));
        // Those two, and the one for whom it was opened.
        for taken in [first, Taken::Joined, Taken::Joined] {
            rooms.leave(here, taken, close);
        }
    }
    rooms.leave(0, Taken::Ticket(ticket), close);
    assert_eq!((rooms.outstanding(), rooms.try_take(1)), (0, Ok(Taken::Inside)));
}
