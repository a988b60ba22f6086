//! Histories written by hand, right and wrong, each with the sentence that it shows.

mod brute_force;

use cantina_check::search::{Found, search};
use cantina_check::{BUDGET, History, Reason, Spec, Verdict, check};

/// A history, and what is expected of it.
struct Golden<'a> {
    sentence: &'a str,
    spec: Spec,
    /// `linearizable`, or the reason as it is told.
    verdict: &'a str,
    history: History,
}

/// What a bound looks like here: `queue of 3 slack 1`.
fn spec(text: &str) -> Spec {
    let words: Vec<&str> = text.split_whitespace().collect();
    let order = match words[0] {
        "bag" => Spec::bag(),
        "queue" => Spec::queue(),
        "stack" => Spec::stack(),
        other => panic!("no spec: {other}"),
    };
    match words[1..] {
        [] => order,
        ["of", capacity] => order.bounded(capacity.parse().unwrap(), 0),
        ["of", capacity, "slack", slack] => {
            order.bounded(capacity.parse().unwrap(), slack.parse().unwrap())
        }
        _ => panic!("no spec: {text}"),
    }
}

fn read(text: &str) -> Vec<Golden<'_>> {
    let sections = text.split("== ").skip(1);
    let read = |section| {
        let (header, history) = str::split_once(section, '\n').unwrap();
        let [sentence, judged_as, verdict] = header.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("no header: {header}")
        };
        let history = history.parse().unwrap_or_else(|error| panic!("{sentence}: {error}"));
        Golden { sentence, spec: spec(judged_as), verdict, history }
    };
    sections.map(read).collect()
}

fn judge(text: &str, at_least: usize) {
    let all = read(text);
    assert!(all.len() >= at_least, "only {} histories", all.len());
    for Golden { sentence, spec, verdict, history } in all {
        let judged = check(&history, &spec, BUDGET);
        let told = match &judged {
            Verdict::Violation(violation) => violation.reason.to_string(),
            other => other.to_string(),
        };
        assert_eq!(told, verdict, "{sentence}:\n{history}\n{judged}");
        let right = verdict == "linearizable";
        let found = if right { Found::Order } else { Found::NoOrder };
        assert_eq!(search(&history, &spec, BUDGET).0, found, "by search: {sentence}");
        assert_eq!(brute_force::linearizable(&history, &spec), right, "all orders: {sentence}");
    }
}

#[test]
fn bags_are_judged_as_written() {
    judge(include_str!("golden/bag.txt"), 30);
}

#[test]
fn queues_are_judged_as_written() {
    judge(include_str!("golden/queue.txt"), 18);
}

#[test]
fn stacks_are_judged_as_written() {
    judge(include_str!("golden/stack.txt"), 15);
}

#[test]
fn bounds_are_judged_as_written() {
    judge(include_str!("golden/bounded.txt"), 20);
}

#[test]
fn every_reason_is_told_by_a_golden_history() {
    let files = [
        include_str!("golden/bag.txt"),
        include_str!("golden/queue.txt"),
        include_str!("golden/stack.txt"),
        include_str!("golden/bounded.txt"),
    ];
    let told: Vec<Reason> = files
        .into_iter()
        .flat_map(read)
        .filter_map(|it| {
            check(&it.history, &it.spec, BUDGET).violation().map(|it| it.reason.clone())
        })
        .collect();
    let kinds: std::collections::HashSet<_> = told.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 10);
}
