//! Excerpts show where threads meet.

use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::Relaxed;
use cantina_sim::engine::{Simulation, ThreadId};
use cantina_sim::progress::operation;
use cantina_sim::schedule::Schedule;
use cantina_sim::trace::{Log, name};
use cantina_sim::{Arc, CachePadded, fence, thread, time};

/// Two that add one, each with a word of its own besides, one after the other; when they began and
/// ended.
fn add() -> [(u64, u64); 2] {
    let word = || CachePadded::new(AtomicUsize::new(0));
    let words = Arc::new([word(), word(), word()]);
    for (word, text) in words.iter().zip(["shared", "first", "second"]) {
        name(&**word, text);
    }
    [1, 2].map(|own| {
        let words = words.clone();
        let add = move || {
            let start = time::nanos();
            words[own].fetch_add(1, Relaxed);
            operation("add", || {
                let seen = words[0].load(Relaxed);
                words[0].store(seen + 1, Relaxed);
                fence::full();
                _ = words[0].compare_exchange(seen, 9, Relaxed, Relaxed);
            });
            (start, time::nanos())
        };
        thread::Builder::new().name(format!("t{own}")).spawn(add).unwrap().join().unwrap()
    })
}

fn logged() -> ([(u64, u64); 2], Box<Log>) {
    let plain = Schedule::Replay("".parse().unwrap());
    let outcome = Simulation::new().log(true).schedule(plain).run(add).unwrap();
    (outcome.value, outcome.log.unwrap())
}

/// Without the numbers of steps, and the spaces that make lanes.
fn rows(text: &str) -> Vec<String> {
    let row = |line: &str| line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ");
    text.lines().map(row).collect()
}

#[test]
fn only_lines_that_several_touched_are_shown() {
    let (_, log) = logged();
    let rows = rows(&log.excerpt().to_string());
    let shared = |rest: [&str; 3]| rest.map(|what| format!("shared (line 2) {what}"));
    let [read, buffered, visible] = shared(["reads 0", "buffers 1", "becomes 1 from the buffer"]);
    let fails = "shared (line 2) stays 1: the exchange fails".to_owned();
    assert_eq!(rows[0], "thread 1 't1' thread 2 't2'");
    let first = ["begins add", &read, &buffered, "fence", &visible, &fails, "ends add"];
    assert_eq!(rows[1..8], first);
    assert_eq!(rows[9], "shared (line 2) reads 1");
    assert_eq!(rows.len(), 15);
}

#[test]
fn each_thread_has_a_lane() {
    let (_, log) = logged();
    let text = log.excerpt().to_string();
    let column = |wanted: &str| text.lines().find_map(|line| line.find(wanted)).unwrap();
    let lane = column("thread 2");
    assert_eq!(column("thread 1"), column("shared (line 2) reads 0"));
    assert_eq!(column("shared (line 2) reads 1"), lane);
    assert!(text.lines().all(|line| line.len() == line.trim_end().len()));
}

#[test]
fn a_call_is_shown_with_its_thread_and_what_others_changed_meanwhile() {
    let ([first, second], log) = logged();
    let excerpt = || log.excerpt().call(ThreadId(2), first.0, Some(second.1), "add twice");
    let text = excerpt().to_string();
    let rows = rows(&text);
    assert_eq!(rows[0], "thread 1 't1' thread 2 't2'");
    assert_eq!(rows[1], "begins add twice");
    // What the other read does not matter, and marks of operations would say it twice.
    assert_eq!(rows[2], "shared (line 2) becomes 1 from the buffer");
    assert_eq!(rows[3], "shared (line 2) reads 1");
    assert_eq!(rows.last().unwrap(), "ends add twice");
    // At other times there was nobody to meet.
    let alone = log.excerpt().call(ThreadId(2), second.0, None, "add").to_string();
    assert!(alone.contains("begins add") && !alone.contains("shared"), "{alone}");
    assert!(!alone.contains("ends"), "{alone}");
}

#[test]
fn what_is_too_long_is_left_out_from_the_middle() {
    let ([first, second], log) = logged();
    let excerpt = || log.excerpt().call(ThreadId(2), first.0, Some(second.1), "add twice");
    let (all, short) = (excerpt().to_string(), excerpt().rows(5).to_string());
    let (all, short): (Vec<_>, Vec<_>) = (all.lines().collect(), short.lines().collect());
    assert_eq!(short[..4], all[..4]);
    assert_eq!(short[4], format!("  ...  {} rows left out", all.len() - 6));
    assert_eq!(short[5..], all[all.len() - 2..]);
}

#[test]
fn where_no_call_is_named_the_end_is_shown() {
    let (_, log) = logged();
    let (all, short) = (log.excerpt().to_string(), log.excerpt().rows(3).to_string());
    let (all, short): (Vec<_>, Vec<_>) = (all.lines().collect(), short.lines().collect());
    assert_eq!(short[1], "  ...  11 rows left out");
    assert_eq!(short[2..], all[12..]);
}
