//! Histories as text, there and back.

use cantina_check::{History, Malformed, ParseError};

const EVERYTHING: &str = "\
t0 1..5 put 7
t1 2..4 get 7
t2 3.. put 9
t3 3.. get
t3 3.. get up to 4
t1 5..9 get empty
t0 6..7 put 8 full
t0 8..9 put [1 2 3]
t0 8..9 put [4 5] full 6
t0 8..9 put [] full 6
t1 8..9 get [1 2]
t1 10.. put [10 11]
t1 10.. get [up to 3]
";

#[test]
fn what_is_printed_parses_into_the_same() {
    let history: History = EVERYTHING.parse().unwrap();
    assert_eq!(history.len(), EVERYTHING.lines().count());
    assert_eq!(history.to_string(), EVERYTHING);
    assert_eq!(history.to_string().parse(), Ok(history));
}

#[test]
fn comments_empty_lines_and_spaces_say_nothing() {
    let text = "\n# a comment\n  t0   1..2   put  [ 1   2 ]  # and another\n\n";
    assert_eq!(text.parse::<History>().unwrap().to_string(), "t0 1..2 put [1 2]\n");
    assert!("".parse::<History>().unwrap().is_empty());
}

#[test]
fn lines_come_in_the_order_of_their_starts() {
    let history: History = "t0 5..6 get 1\nt0 1..2 put 1".parse().unwrap();
    assert_eq!(history.to_string(), "t0 1..2 put 1\nt0 5..6 get 1\n");
}

#[test]
fn a_line_that_is_no_operation_is_named() {
    for line in [
        "put 7",
        "0 1..2 put 7",
        "t0 1-2 put 7",
        "t0 ..2 put 7",
        "t0 1..x put 7",
        "t0 1..2",
        "t0 1..2 put",
        "t0 1..2 put seven",
        "t0 1..2 put 7 fully",
        "t0 1..2 put [7",
        "t0 1..2 get 7 8",
        "t0 1..2 get empty 8",
        "t0 1..2 take 7",
        "t0 1..2 get up to",
        "t0 -1..2 put 7",
    ] {
        let text = format!("t0 1..2 put 1\n{line}\n");
        assert_eq!(text.parse::<History>(), Err(ParseError::Line(2, line.to_owned())), "{line}");
    }
    let error = "nonsense".parse::<History>().unwrap_err();
    assert_eq!(error.to_string(), "line 1 is no operation (such as `t0 1..5 put 7`): nonsense");
}

#[test]
fn operations_that_are_no_history_are_refused() {
    let why = |text: &str| text.parse::<History>().unwrap_err().to_string();
    assert_eq!(why("t0 5..1 put 7"), "an operation ends before it starts: t0 5..1 put 7");
    assert_eq!(why("t0 1..2 put 7\nt1 3..4 put [6 7]"), "item 7 is put more than once");
    for line in [
        "t0 1..2 get",
        "t0 1..2 get up to 2",
        "t0 1..2 get [up to 2]",
        "t0 1.. get 7",
        "t0 1.. get empty",
        "t0 1.. put 7 full",
        "t0 1.. get [7 8]",
        "t0 1.. put [7] full 8",
    ] {
        let told =
            format!("an operation has an answer and no end, or an end and no answer: {line}");
        assert_eq!(why(line), told);
    }
    let last = u64::MAX;
    for line in [format!("t0 1..{last} put 7"), format!("t0 {last}.. put 7")] {
        assert!(matches!(
            line.parse::<History>(),
            Err(ParseError::Malformed(Malformed::EndOfTime(_)))
        ));
        assert!(why(&line).contains("at the end of time"));
    }
}

#[test]
fn a_task_that_was_given_back_can_be_put_again() {
    let text = "t0 1..2 put 7 full\nt0 3..4 put 7 full\nt0 5..6 put 7\n";
    assert_eq!(text.parse::<History>().unwrap().to_string(), text);
}
