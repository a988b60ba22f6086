//! The experiment with contestants that only pretend.

use super::session::{calibrate, order};
use super::{Column, NAME, Pin, Plan, SHAPES, measure};
use crate::experiment::regime::{self, Distance};
use crate::experiment::{Contestant, Event, Guard, Shapes, Stopped, placement, registered};
use crate::workload::{Assignment, Counters, Fault, Payload, Reading, Shape};
use cantina_record::{Kind, Row};
use machine::Arc;
use machine::lock::Mutex;
use machine::time::Duration;
use std::ops::ControlFlow;

const ONE_TO_ONE: Column = column(1, 1, Payload::Word);

const fn column(producers: usize, consumers: usize, payload: Payload) -> Column {
    Column { shape: Shape::new(producers, consumers), payload, pin: false }
}

/// Who ran, in order, and with what.
type Log = Arc<Mutex<Vec<(String, Assignment)>>>;

/// Somebody who says that a run took so long per task.
fn pretender(name: &str, per_task: Duration, log: &Log) -> Contestant {
    let (mine, log) = (name.to_owned(), log.clone());
    Contestant {
        name: name.to_owned(),
        kind: Kind::Peer,
        about: "pretends".to_owned(),
        version: Some("1.2.3".to_owned()),
        shapes: Shapes::Any,
        allocates: false,
        parameter: None,
        drive: Box::new(move |_, assignment| {
            log.lock().push((mine.clone(), assignment.clone()));
            let elapsed = per_task * assignment.tasks as u32;
            let (put_elapsed, pinned) = (elapsed / 2, assignment.pin);
            Ok(Reading { put_elapsed, pinned, ..Reading::took(elapsed) })
        }),
    }
}

fn plan(columns: &[Column], repetitions: usize) -> Plan {
    Plan {
        experiment: NAME.to_owned(),
        machine: "real".to_owned(),
        columns: columns.to_vec(),
        repetitions,
        target: Duration::from_millis(50),
        tasks: Some(1_000),
    }
}

fn run(plan: &Plan, contestants: &[Contestant], guard: Option<Guard>) -> Vec<Row> {
    let contestants: Vec<&Contestant> = contestants.iter().collect();
    measure(plan, &contestants, guard, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// A guard whose readings after the first ones are these, and then always the first.
fn guard(readings: &'static [u64]) -> Guard {
    let mut readings =
        std::iter::repeat_n(100, 7).chain(readings.iter().copied()).chain(std::iter::repeat(100));
    Guard::new(move || Duration::from_millis(readings.next().unwrap()))
}

#[test]
fn each_round_begins_with_the_next_contestant() {
    assert_eq!(order(0, 3).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(order(1, 3).collect::<Vec<_>>(), [1, 2, 0]);
    assert_eq!(order(5, 3).collect::<Vec<_>>(), [2, 0, 1]);
    let log = Log::default();
    let contestants = ["a", "b", "c"].map(|name| pretender(name, Duration::from_micros(1), &log));
    run(&plan(&[ONE_TO_ONE], 3), &contestants, None);
    let names: String = log.lock().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, "abc abc bca cab".replace(' ', ""), "warm-up, then the rounds");
}

#[test]
fn a_row_holds_the_median_and_the_spread() {
    let mut micros = [9, 1, 4, 2].into_iter();
    let readings: Arc<Mutex<Vec<u64>>> = Arc::new(Mutex::new(micros.by_ref().rev().collect()));
    let mut contestant = pretender("a", Duration::ZERO, &Log::default());
    contestant.drive = Box::new(move |_, assignment| {
        let elapsed = Duration::from_micros(readings.lock().pop().unwrap() * 1_000);
        let (put_elapsed, pinned) = (elapsed / 2, assignment.pin);
        Ok(Reading { put_elapsed, pinned, ..Reading::took(elapsed) })
    });
    let rows = run(&plan(&[ONE_TO_ONE], 3), &[contestant], None);
    let row = &rows[0];
    row.check().unwrap();
    let values = ["mops_median", "mops_min", "mops_max", "put_mops_median", "tasks", "repetitions"];
    let values = values.map(|name| row.number(name).unwrap());
    assert_eq!(values, [0.5, 0.25, 1.0, 1.0, 1_000.0, 3.0], "the warm-up does not count");
    assert_eq!((row.producers, row.consumers, row.pool.as_str()), (1, 1, "a"));
    assert_eq!(row.text("version"), Some("1.2.3"));
}

#[test]
fn what_is_bound_and_what_is_not_are_two_columns_also_where_nothing_can_be_bound() {
    let free = column(1, 1, Payload::Word);
    let plan = plan(&[Column { pin: true, ..free }, free], 1);
    let placements = |refused: bool| -> Vec<String> {
        let mut contestant = pretender("a", Duration::ZERO, &Log::default());
        contestant.drive = Box::new(move |_, assignment| {
            let pinned = assignment.pin && !refused;
            Ok(Reading { pinned, ..Reading::took(Duration::from_millis(1)) })
        });
        let go_on = &mut |_: Event<'_>| ControlFlow::Continue(());
        let rows = placement::measure(&plan, &[&contestant], None, go_on).unwrap();
        rows.iter().map(|row| row.text(placement::FIELD).unwrap().to_owned()).collect()
    };
    assert_eq!(placements(false), ["bound to cores", "not bound"]);
    assert_eq!(placements(true), ["bound to cores: refused", "not bound"]);
}

#[test]
fn a_row_holds_what_the_pool_counted_and_what_sets_the_contestant_apart() {
    let mut contestant = pretender("a", Duration::ZERO, &Log::default());
    contestant.parameter = Some(("chunk_size", 8));
    let steals = Mutex::new(0);
    contestant.drive = Box::new(move |_, assignment| {
        *steals.lock() += 1;
        let steals = Some(*steals.lock());
        let counters = Counters {
            gets: assignment.tasks,
            cas: 250,
            steals,
            failed_cas: Some(500),
            fair_within: None,
        };
        let counters = Some(counters);
        Ok(Reading { counters, ..Reading::took(Duration::from_millis(1)) })
    });
    let rows = run(&plan(&[ONE_TO_ONE], 3), &[contestant], None);
    let values = ["cas_per_get", "steals", "cas_failures_per_op", "chunk_size"];
    let values = values.map(|name| rows[0].number(name));
    assert_eq!(values, [0.25, 3.0, 0.25, 8.0].map(Some));
}

#[test]
fn only_one_to_one_is_pinned_unless_told_otherwise() {
    let pinned = |pin: Pin| SHAPES.iter().filter(|shape| pin.applies(**shape)).count();
    assert_eq!([Pin::Auto, Pin::Always, Pin::Never].map(pinned), [1, 7, 0]);
    for pin in [true, false] {
        let contestants = [pretender("a", Duration::from_micros(1), &Log::default())];
        let rows = run(&plan(&[Column { pin, ..ONE_TO_ONE }], 1), &contestants, None);
        assert_eq!(rows[0].fields["pinned"], pin.into());
    }
}

#[test]
fn who_cannot_run_in_a_column_has_no_row_there() {
    let log = Log::default();
    let mut ring = pretender("ring", Duration::from_micros(1), &log);
    ring.shapes = Shapes::OneToOne;
    let contestants = [ring, pretender("a", Duration::from_micros(1), &log)];
    let columns = SHAPES.map(|shape| Column { shape, ..ONE_TO_ONE });
    let plan = plan(&columns, 2);
    assert_eq!(plan.steps(&contestants.iter().collect::<Vec<_>>()), (7 + 1) * 3);
    let rows = run(&plan, &contestants, None);
    assert_eq!(rows.iter().filter(|row| row.pool == "ring").count(), 1);
    assert_eq!(rows.len(), 8);
}

#[test]
fn all_repetitions_have_the_number_of_tasks_that_takes_the_time() {
    let log = Log::default();
    let contestants = [pretender("a", Duration::from_nanos(100), &log)];
    let rows = run(&Plan { tasks: None, ..plan(&[ONE_TO_ONE], 4) }, &contestants, None);
    let tasks: Vec<u64> = log.lock().iter().map(|(_, assignment)| assignment.tasks).collect();
    let measured = &tasks[tasks.len() - 4..];
    assert_eq!(rows[0].number("tasks"), Some(measured[0] as f64));
    assert!(measured.iter().all(|tasks| (499_000..=500_000).contains(tasks)), "{tasks:?}");
}

#[test]
fn tasks_are_calibrated_in_steps_and_never_too_many() {
    let target = Duration::from_millis(80);
    let after = |tasks, micros| calibrate(tasks, Duration::from_micros(micros), target, 1 << 20);
    assert_eq!(after(1_000, 40_000), (2_000, true));
    assert_eq!(after(1_000, 160_000), (500, true));
    assert_eq!(after(1_000, 1), (32_000, false));
    assert_eq!(after(1_000, 20_000), (4_000, false));
    assert_eq!(after(1 << 20, 10), (1 << 20, true));
    assert_eq!(after(1 << 19, 10), (1 << 20, false));
    assert_eq!(after(1, 1_000_000), (1, true));
}

#[test]
fn a_warm_up_that_was_held_up_does_not_make_the_runs_short() {
    let mut contestant = pretender("a", Duration::ZERO, &Log::default());
    let held_up = Mutex::new(true);
    contestant.drive = Box::new(move |_, assignment| {
        let once = if std::mem::take(&mut *held_up.lock()) { 40_000_000 } else { 0 };
        let elapsed = Duration::from_nanos(once + 10 * assignment.tasks);
        Ok(Reading::took(elapsed))
    });
    let rows = run(&Plan { tasks: None, ..plan(&[ONE_TO_ONE], 1) }, &[contestant], None);
    assert_eq!(rows[0].number("tasks"), Some(5e6), "50 ms of 10 ns");
}

#[test]
fn a_disturbed_repetition_is_thrown_away_and_repeated() {
    let log = Log::default();
    let contestants = ["a", "b"].map(|name| pretender(name, Duration::from_micros(1), &log));
    // The look before the rounds, one after the first run, one before it is tried again.
    let rows = run(&plan(&[ONE_TO_ONE], 2), &contestants, Some(guard(&[100, 120, 100])));
    let counts = |name| rows.iter().map(|row| row.number(name).unwrap()).collect::<Vec<_>>();
    assert_eq!(counts("discarded"), [1.0, 0.0]);
    assert_eq!(counts("disturbed"), [0.0, 0.0]);
    assert_eq!(counts("repetitions"), [2.0, 2.0]);
    let names: String = log.lock().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, "ab aab ba".replace(' ', ""));
}

#[test]
fn a_row_tells_how_far_apart_the_cores_were() {
    let contestants = [pretender("a", Duration::from_micros(1), &Log::default())];
    let guard = guard(&[100; 8]).with_distance(distances(&[9.0, 30.0, 30.0, 40.0, 44.0]));
    let rows = run(&plan(&[ONE_TO_ONE], 3), &contestants, Some(guard));
    let read = ["ping_pong_ns", "ping_pong_ns_min", "ping_pong_ns_max"];
    // Before and after each, and not of the look before the first column.
    assert_eq!(read.map(|name| rows[0].number(name)), [35.0, 30.0, 44.0].map(Some));
    assert_eq!((rows[0].text("regime"), regime::has_moved(&rows[0])), (Some("near"), false));
}

/// So many nanoseconds from core to core, one reading after the other, and then always the last; 0 stands for a single core.
fn distances(nanos: &'static [f64]) -> impl FnMut() -> Distance {
    let last = nanos.last().copied();
    let mut nanos = nanos.iter().copied();
    move || {
        let ping_pong = nanos.next().or(last).filter(|nanos| *nanos > 0.0);
        Distance { ping_pong, contended_add: None }
    }
}

/// The rows of runs of one contestant beside which the cores were so far apart, and what was said.
fn moving(nanos: &'static [f64], repetitions: usize) -> (Vec<Row>, Vec<String>) {
    let contestant = pretender("a", Duration::from_micros(1), &Log::default());
    let guard = guard(&[]).with_distance(distances(nanos));
    let mut notes = Vec::new();
    let plan = plan(&[ONE_TO_ONE], repetitions);
    let rows = measure(&plan, &[&contestant], Some(guard), &mut |event| {
        if let Event::Note(line) = event {
            notes.push(line.to_owned());
        }
        ControlFlow::Continue(())
    });
    (rows.unwrap(), notes)
}

#[test]
fn a_move_of_the_cores_is_told_of_once_and_what_was_run_meanwhile_is_run_again() {
    // One of five repetitions begins far and ends near.
    let near = &[28.0, 28.0, 170.0, 28.0, 28.0, 28.0, 28.0, 28.0];
    let (rows, notes) = moving(near, 5);
    let expected = [
        "the cores moved: they were 28.0 ns apart (near), and are 170 ns apart (far)",
        "the cores moved: they were 170 ns apart (far), and are 28.0 ns apart (near)",
    ];
    assert_eq!(notes, expected);
    assert_eq!((rows[0].text("regime"), regime::has_moved(&rows[0])), (Some("near"), false));
    let counts = ["repetitions", "strays", "ping_pong_ns_max"];
    assert_eq!(counts.map(|name| rows[0].number(name)), [5.0, 2.0, 28.0].map(Some));
}

#[test]
fn cores_that_moved_for_good_are_marked_and_not_waited_for() {
    let (rows, notes) = moving(&[28.0, 28.0, 28.0, 28.0, 28.0, 170.0], 5);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(regime::has_moved(&rows[0]));
    assert_eq!(rows[0].number("strays"), Some(3.0), "three tries");
    assert_eq!(rows[0].number("ping_pong_ns_max"), Some(170.0));
}

#[test]
fn a_second_core_that_comes_during_a_run_is_noticed() {
    let (rows, notes) = moving(&[0.0, 0.0, 0.0, 28.0], 4);
    assert_eq!(notes, ["the cores moved: they were one, and are 28.0 ns apart (near)"]);
    assert_eq!(rows[0].text("regime"), Some("near"));
    let (rows, notes) = moving(&[0.0], 2);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!((rows[0].text("regime"), rows[0].number("ping_pong_ns")), (Some("one-core"), None));
}

#[test]
fn a_machine_that_stays_busy_is_told_of_once_and_marked() {
    let contestants = [pretender("a", Duration::from_micros(30), &Log::default())];
    static BUSY: [u64; 64] = [150; 64];
    let mut notes = Vec::new();
    let contestants: Vec<&Contestant> = contestants.iter().collect();
    let rows = measure(&plan(&[ONE_TO_ONE], 9), &contestants, Some(guard(&BUSY)), &mut |event| {
        if let Event::Note(line) = event {
            notes.push(line.to_owned());
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("busy"), "{notes:?}");
    let row = &rows[0];
    let counts = ["repetitions", "discarded", "disturbed"].map(|name| row.number(name).unwrap());
    // Ten steps of 50 ms are planned, 250 ms may be wasted, and a repetition wastes 30 and 20.
    assert_eq!(counts, [9.0, 5.0, 9.0]);
}

#[test]
fn repetitions_before_the_best_reading_count_as_disturbed_too() {
    let contestants = [pretender("a", Duration::from_micros(1), &Log::default())];
    // Calm against what was known then; not against what came later.
    let readings = &[100, 100, 80, 80, 80, 80, 80, 80];
    let rows = run(&plan(&[ONE_TO_ONE], 3), &contestants, Some(guard(readings)));
    let counts = ["repetitions", "discarded", "disturbed"];
    assert_eq!(counts.map(|name| rows[0].number(name)), [3.0, 1.0, 1.0].map(Some));
}

#[test]
fn a_fault_stops_the_experiment_and_says_where() {
    let mut liar = pretender("liar", Duration::from_micros(1), &Log::default());
    liar.drive = Box::new(|_, _| Err(Fault::Lost { tasks: 1_000, missing: 1 }));
    let columns = [column(2, 2, Payload::Word)];
    let stopped = measure(&plan(&columns, 3), &[&liar], None, &mut |_| ControlFlow::Continue(()));
    let message = stopped.unwrap_err().to_string();
    assert_eq!(message, "liar at 2P/2C with 8-byte tasks: 1 of 1000 tasks never came");
}

#[test]
fn the_watcher_sees_every_step_and_can_stop_between_runs() {
    let log = Log::default();
    let contestant = pretender("a", Duration::from_micros(1), &log);
    let plan = plan(&[ONE_TO_ONE], 3);
    let (mut steps, mut said) = (0, Vec::new());
    measure(&plan, &[&contestant], None, &mut |event| {
        match event {
            Event::Ran => steps += 1,
            Event::Running(what) => said.push(what.to_owned()),
            Event::Note(_) => {}
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(steps, plan.steps(&[&contestant]));
    assert_eq!(said[0], "throughput 1P/1C a");
    log.lock().clear();
    let mut left = 2;
    let stopped = measure(&plan, &[&contestant], None, &mut |event| match event {
        Event::Running(_) if left == 0 => ControlFlow::Break(()),
        Event::Running(_) => {
            left -= 1;
            ControlFlow::Continue(())
        }
        Event::Ran | Event::Note(_) => ControlFlow::Continue(()),
    });
    assert_eq!(stopped, Err(Stopped::OnRequest));
    assert_eq!(log.lock().len(), 2);
}

#[test]
fn every_registered_pool_can_be_measured() {
    let contestants = registered();
    let columns = [column(1, 1, Payload::Word), column(2, 2, Payload::Line)];
    let rows = run(&plan(&columns, 1), &contestants, None);
    assert_eq!(rows.len(), contestants.len() * 2);
    assert!(rows.iter().all(|row| row.check().is_ok() && row.number("mops_median") > Some(0.0)));
}
