//! What a violation shows, and how it looks.

use cantina_check::{BUDGET, History, Reason, Spec, Verdict, Violation, check};

fn violation(text: &str, spec: Spec) -> Violation {
    let history: History = text.parse().unwrap();
    match check(&history, &spec, BUDGET) {
        Verdict::Violation(violation) => *violation,
        verdict => panic!("{verdict}\n{history}"),
    }
}

fn assert_witness(spec: Spec, text: &str, witness: &str) {
    let found = violation(text, spec);
    assert_eq!(found.witness.to_string(), witness);
    // It replays: alone it is the same violation.
    assert_eq!(violation(witness, spec), found);
}

#[test]
fn what_has_nothing_to_do_with_it_is_left_out() {
    assert_witness(
        Spec::bag(),
        "t0 1..2 put 1
         t0 3..4 put 2
         t1 3..5 get 2
         t2 5..6 get empty
         t0 7..9 put 3
         t1 10..11 get 1
         t1 12..13 get empty",
        "t0 1..2 put 1\nt2 5..6 get empty\nt1 10..11 get 1\n",
    );
}

#[test]
fn the_shortest_chain_shows_that_it_was_never_empty() {
    assert_witness(
        Spec::bag(),
        "t0 1..2 put 1
         t0 4..5 put 2
         t0 6..7 put 3
         t1 3..20 get empty
         t0 8..9 get 1
         t0 10..11 get 2
         t0 12..13 put 4
         t0 30..31 get 3
         t0 32..33 get 4",
        "t0 1..2 put 1\nt1 3..20 get empty\nt0 6..7 put 3\nt0 8..9 get 1\nt0 30..31 get 3\n",
    );
}

#[test]
fn a_task_got_three_times_is_shown_twice() {
    let text = "t0 1..2 put [1 2]\nt1 3..4 get [1 2]\nt1 5..6 get 1\nt1 7..8 get 1";
    assert_witness(Spec::bag(), text, "t0 1..2 put 1\nt1 3..4 get 1\nt1 5..6 get 1\n");
}

#[test]
fn a_task_made_up_twice_is_shown_once() {
    assert_witness(Spec::bag(), "t1 3..4 get 1\nt1 5..6 get 1", "t1 3..4 get 1\n");
}

#[test]
fn two_tasks_show_that_one_overtook() {
    assert_witness(
        Spec::queue(),
        "t0 1..2 put 1\nt0 3..4 put 2\nt0 5..6 put 3\nt1 7..8 get 1\nt1 9..10 get 3\nt1 11..12 get 2",
        "t0 3..4 put 2\nt0 5..6 put 3\nt1 9..10 get 3\nt1 11..12 get 2\n",
    );
}

#[test]
fn what_a_stack_cannot_do_is_shown_without_what_it_can() {
    assert_witness(
        Spec::stack(),
        "t0 1..2 put 1\nt0 3..4 put 2\nt0 5..6 put 3\nt1 7..8 get 3\nt1 9..10 get 1\nt1 11..12 get 2",
        "t0 1..2 put 1\nt0 3..4 put 2\nt1 9..10 get 1\nt1 11..12 get 2\n",
    );
}

#[test]
fn the_tasks_that_were_inside_stay_with_a_full() {
    assert_witness(
        Spec::bag().bounded(3, 0),
        "t0 1..2 put 1\nt0 3..4 put 2\nt1 5..6 get 1\nt0 7..8 put 3\nt0 9..10 put 4 full\nt1 11..12 get 3",
        "t0 3..4 put 2\nt0 7..8 put 3\nt0 9..10 put 4 full\nt1 11..12 get 3\n",
    );
}

#[test]
fn a_full_that_was_right_is_not_made_wrong() {
    // Without task 1 the first "full" would be wrong; the second one is.
    assert_witness(
        Spec::bag().bounded(1, 0),
        "t0 1..2 put 1\nt0 3..4 put 2 full\nt1 5..6 get 1\nt0 7..8 put 3 full",
        "t0 7..8 put 3 full\n",
    );
}

#[test]
fn one_task_too_many_is_shown_with_as_many_as_there_is_room_for() {
    assert_witness(
        Spec::queue().bounded(2, 0),
        "t0 1..2 put 1\nt0 3..4 put 2\nt0 5..6 put 3\nt0 7..8 put 4\nt1 9..10 get 1",
        "t0 3..4 put 2\nt0 5..6 put 3\nt0 7..8 put 4\n",
    );
}

#[test]
fn a_put_that_gave_the_task_back_stays_with_the_get() {
    assert_witness(
        Spec::bag().bounded(1, 0),
        "t0 1..2 put 1\nt0 3..4 put 2 full\nt1 5..6 get 2\nt1 7..8 get 1",
        "t0 3..4 put 2 full\nt1 5..6 get 2\n",
    );
}

#[test]
fn the_pending_gets_that_could_have_helped_are_shown() {
    assert_witness(
        Spec::bag(),
        "t0 1..2 put 1
         t0 1..2 put 2
         t0 3..4 put 3
         t1 5.. get
         t2 6..7 get empty
         t3 8..9 get 3
         t3 10.. get",
        // Task 3 is enough: no pending get can have taken it.
        "t0 3..4 put 3\nt2 6..7 get empty\nt3 8..9 get 3\n",
    );
    assert_witness(
        Spec::bag(),
        "t0 1..2 put 1\nt0 1..2 put 2\nt0 3..4 put 3\nt1 5.. get\nt2 6..7 get empty\nt3 10.. get",
        "t0 1..2 put 2\nt0 3..4 put 3\nt1 5.. get\nt2 6..7 get empty\n",
    );
}

#[test]
fn atomic_batches_shrink_task_by_task() {
    assert_witness(
        Spec::queue(),
        "t0 1..2 put [1 2 3 4]\nt1 3..4 get [1 2]\nt1 5..6 get [4 3]",
        "t0 1..2 put [3 4]\nt1 5..6 get [4 3]\n",
    );
}

#[test]
fn what_no_pending_get_could_have_helped_is_found_without_trying_them() {
    // The pending gets may have taken all that was put between 1 and 2; these two are wrong anyway.
    let mut text = String::from("t0 1..2 put 1\nt0 5..6 put 2\nt0 7..8 get 1\nt0 9..10 get 2\n");
    for thread in 1..=10 {
        text += &format!("t{thread} 3..4 put {thread}0\nt{thread} 5.. get\n");
    }
    let history: History = text.parse().unwrap();
    let verdict = check(&history, &Spec::stack(), 0);
    let witness = "t0 1..2 put 1\nt0 5..6 put 2\nt0 7..8 get 1\nt0 9..10 get 2\n";
    assert_eq!(verdict.violation().unwrap().witness.to_string(), witness);
}

#[test]
fn a_violation_is_drawn_with_a_lane_for_each_thread() {
    let text = "t0 100..250 put 1\nt1 200..300 put 2\nt12 410..500 get empty\nt1 500..510 get 1";
    let drawn = violation(text, Spec::bag()).to_string();
    let expected = "\
not a bag: \"empty\", but at every instant of that call something was inside

time  200 300 410 500
t1    [put 2]
t12           [get empty]

t1 200..300 put 2
t12 410..500 get empty
";
    assert_eq!(drawn, expected);
}

#[test]
fn a_drawing_shows_pending_operations_and_batches() {
    let text = "t0 1..6 put [1 2]\nt1 1..3 get 1\nt1 1..4 get 2\nt2 2.. put 3\nt0 7..8 put 5 full";
    let history: History = text.parse().unwrap();
    let mut violation = violation("t0 7..8 put 5 full", Spec::queue());
    violation.witness = history;
    let expected = "\
not a queue: \"full\", but it has no bound

time  1 2 3   4 6 7 8
t0    [put [1 2]] [put 5 full]
t1    [get 1]
      [get 2  ]
t2      [put 3 ...

t0 1..6 put [1 2]
t1 1..3 get 1
t1 1..4 get 2
t2 2.. put 3
t0 7..8 put 5 full
";
    assert_eq!(violation.to_string(), expected);
}

#[test]
fn long_times_are_drawn_from_the_first_one_on() {
    let text =
        "t0 81234567000100..81234567000200 put 1\nt1 81234567000300..81234567001000 get empty";
    let drawn = violation(text, Spec::bag()).to_string();
    let expected = "\
not a bag: \"empty\", but at every instant of that call something was inside

times from 81234567000100 on
time  0 100   200 900
t0    [put 1]
t1            [get empty]

t0 81234567000100..81234567000200 put 1
t1 81234567000300..81234567001000 get empty
";
    assert_eq!(drawn, expected);
}

#[test]
fn specs_and_verdicts_are_told_in_words() {
    let of = |spec: Spec| spec.to_string();
    assert_eq!(of(Spec::bag()), "bag");
    assert_eq!(of(Spec::queue().bounded(8, 0)), "queue of 8");
    assert_eq!(of(Spec::stack().bounded(8, 3)), "stack of 8, \"full\" from 5");
    assert_eq!(of(Spec::stack().bounded(3, 8)), "stack of 3, \"full\" from 0");
    assert_eq!(Verdict::Linearizable.to_string(), "linearizable");
    let unknown = Verdict::Unknown { steps: 5 };
    assert_eq!(unknown.to_string(), "unknown: no answer within 5 steps");
    assert_eq!((unknown.is_linearizable(), unknown.violation()), (false, None));
}

#[test]
fn without_a_budget_nothing_is_sure_but_what_is_fast() {
    let bound = Spec::bag().bounded(1, 0);
    let history: History = "t0 1..9 put 1\nt1 2..8 put 2 full\nt1 10..11 get 1".parse().unwrap();
    assert_eq!(check(&history, &bound, 0), Verdict::Unknown { steps: 0 });
    assert_eq!(check(&history, &bound, 100), Verdict::Linearizable);
    // A put that may not have happened is not counted where that is enough.
    let pending: History = "t0 1.. put 1\nt1 2..3 put 2".parse().unwrap();
    assert_eq!(check(&pending, &bound, 0), Verdict::Linearizable);
    let reason = check(&history, &Spec::bag(), 0).violation().map(|it| it.reason.clone());
    assert_eq!(reason, Some(Reason::FullWithoutBound));
}

#[test]
fn the_scene_is_what_its_threads_did_meanwhile() {
    let text = "t0 1..2 put 1
         t1 1..2 get 1
         t0 3..4 put 2
         t1 3..6 put 3
         t2 5..9 get empty
         t0 8..9 put 4
         t0 10..11 get 2
         t1 10.. get
         t2 12..14 get 3";
    let violation = violation(text, Spec::bag());
    let witness = "t0 3..4 put 2\nt2 5..9 get empty\nt0 10..11 get 2\n";
    assert_eq!(violation.witness.to_string(), witness);
    let scene = violation.scene(&text.parse().unwrap());
    let scene: Vec<String> = scene.iter().map(ToString::to_string).collect();
    assert_eq!(scene, ["t0 3..4 put 2", "t2 5..9 get empty", "t0 8..9 put 4", "t0 10..11 get 2"]);
}
