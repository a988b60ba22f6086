//! More users of rooms than two, of whom some give up, or look again: in both forms.

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
pub(crate) const FICKLE: [Scenario; 6] = [
    ("a task looks again as it is woken", || a_task_looks_again_as_it_is_woken(false)),
    ("a task for counted rooms looks again", || a_task_looks_again_as_it_is_woken(true)),
    ("two of three give up", || two_of_three_give_up(false)),
    ("two of three give up counted rooms", || two_of_three_give_up(true)),
    ("a ticket that is good is not adopted", a_ticket_that_is_good_is_not_adopted),
    ("a cell of four rooms is closed for others", a_cell_of_four_rooms_is_closed_for_others),
];

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
