//! "Full" that counts operations under way.

use cantina_check::{BUDGET, History, Reason, Spec, check};

fn reason(text: &str, spec: Spec) -> Option<Reason> {
    let history: History = text.parse().unwrap();
    check(&history, &spec, BUDGET).violation().map(|violation| violation.reason.clone())
}

const EXACT: Spec = Spec::bag().bounded(3, 0);
const UNDER_WAY: Spec = EXACT.counting_under_way();

/// The get has taken its task, or it could not be empty; and it has not ended when there is no room.
const ROOM_NOT_GIVEN_BACK: &str = "t1 1..2 put 1\nt2 3..20 get 1\nt1 4..5 get empty\n\
                                   t1 6..7 put 2\nt1 8..9 put 3\nt1 10..11 put 4 full\n";

#[test]
fn a_get_that_has_not_ended_takes_up_room() {
    assert_eq!(reason(ROOM_NOT_GIVEN_BACK, UNDER_WAY), None);
    assert_eq!(reason(ROOM_NOT_GIVEN_BACK, EXACT), Some(Reason::NoOrder));
}

#[test]
fn a_get_that_has_ended_does_not() {
    let ended = ROOM_NOT_GIVEN_BACK.replace("3..20", "3..9");
    assert_eq!(reason(&ended, UNDER_WAY), Some(Reason::NotFull));
}

#[test]
fn slack_and_capacity_hold_as_ever() {
    let ended = ROOM_NOT_GIVEN_BACK.replace("3..20", "3..9");
    assert_eq!(reason(&ended, Spec::bag().bounded(3, 1).counting_under_way()), None);
    let too_many = "t1 1..2 put 1\nt1 3..4 put 2\nt1 5..6 put 3\nt1 7..8 put 4\n";
    assert_eq!(reason(too_many, UNDER_WAY), Some(Reason::OverCapacity));
}
