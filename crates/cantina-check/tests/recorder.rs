//! What the recorder writes down, when, and with which fences.

use cantina_check::{Action, BUDGET, Batch, Clock, Log, Malformed, Spec, check, merge};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst, fence};
use std::thread;

/// A clock that counts how often it is asked.
#[derive(Default)]
struct Ticks(Cell<u64>);

impl Clock for Ticks {
    fn now(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }

    fn fence(&self) {}
}

/// The lines of a log.
fn lines<C: Clock>(log: Log<C>) -> Vec<String> {
    log.into_operations().iter().map(ToString::to_string).collect()
}

#[test]
fn calls_are_recorded_with_their_answers() {
    let clock = Ticks::default();
    let mut log = Log::new(3, &clock);
    assert_eq!(log.put(7, || Ok::<_, ()>("in")), Ok("in"));
    assert_eq!(log.put(8, || Err::<(), _>("back")), Err("back"));
    assert_eq!(log.get(|task: &u64| task + 100, || Some(5)), Some(5));
    assert_eq!(log.get(|task: &u64| *task, || None), None);
    assert_eq!(
        lines(log),
        ["t3 1..2 put 7", "t3 3..4 put 8 full", "t3 5..6 get 105", "t3 7..8 get empty"]
    );
}

#[test]
fn a_batch_is_each_task_by_itself_over_the_whole_call() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    assert_eq!(log.put_all(&[1, 2], Batch::Each, || 2), 2);
    assert_eq!(log.put_all(&[3, 4, 5], Batch::Each, || 1), 1);
    let mut tasks = vec![9];
    let got = log.get_many(
        4,
        Batch::Each,
        |task| *task,
        &mut tasks,
        |into| {
            into.extend([1, 2]);
            2
        },
    );
    assert_eq!((got, tasks), (2, vec![9, 1, 2]));
    assert_eq!(
        lines(log),
        [
            "t0 1..2 put 1",
            "t0 1..2 put 2",
            "t0 3..4 put 3",
            "t0 3..4 put 4 full",
            "t0 5..6 get 1",
            "t0 5..6 get 2",
        ]
    );
}

#[test]
fn an_atomic_batch_is_one_operation() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    log.put_all(&[1, 2], Batch::AtOnce, || 2);
    log.put_all(&[3, 4, 5], Batch::AtOnce, || 1);
    log.get_many(4, Batch::AtOnce, |task| *task, &mut Vec::new(), |into| into.extend([1, 2]));
    log.get_many(1, Batch::AtOnce, |task| *task, &mut Vec::new(), |into| into.push(3));
    // Those were all that were asked for; of the two before there were no more.
    assert_eq!(
        lines(log),
        [
            "t0 1..2 put [1 2]",
            "t0 3..4 put [3] full 4",
            "t0 5..6 get [1 2]",
            "t0 5..6 get empty",
            "t0 7..8 get [3]",
        ]
    );
}

#[test]
fn a_batch_that_gets_nothing_says_empty_if_it_asked_for_something() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    for batch in [Batch::Each, Batch::AtOnce] {
        log.get_many(4, batch, |task| *task, &mut Vec::new(), |_| {});
        log.get_many(0, batch, |task| *task, &mut Vec::new(), |_| {});
    }
    assert_eq!(lines(log), ["t0 1..2 get empty", "t0 5..6 get empty"]);
}

#[test]
fn a_call_that_never_comes_back_is_pending() {
    type Begin = fn(&mut Log<&Ticks>);
    let calls: [(Begin, &str); 6] = [
        (|log| log.begin_put(1), "put 1"),
        (|log| log.begin_get(), "get"),
        (|log| log.begin_get_many(3, Batch::Each), "get up to 3"),
        (|log| log.begin_get_many(3, Batch::AtOnce), "get [up to 3]"),
        (|log| log.begin_put_all(&[1, 2], Batch::AtOnce), "put [1 2]"),
        (|log| log.begin_put_all(&[1], Batch::Each), "put 1"),
    ];
    for (begin, line) in calls {
        let clock = Ticks::default();
        let mut log = Log::new(0, &clock);
        begin(&mut log);
        assert_eq!(lines(log), [format!("t0 1.. {line}")]);
    }
}

#[test]
fn a_pending_batch_is_a_pending_put_of_each_task() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    log.begin_put_all(&[1, 2], Batch::Each);
    assert_eq!(lines(log), ["t0 1.. put 1", "t0 1.. put 2"]);
}

#[test]
fn a_call_that_panics_is_pending_and_the_log_goes_on() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    let call = || -> Result<(), ()> { panic!("on purpose") };
    assert!(catch_unwind(AssertUnwindSafe(|| log.put(1, call))).is_err());
    log.begin_get();
    log.end_get(Some(2));
    assert_eq!(lines(log), ["t0 1.. put 1", "t0 2..3 get 2"]);
}

#[test]
fn a_log_that_is_shared_is_borrowed_for_a_moment_only() {
    let clock = Ticks::default();
    let log = RefCell::new(Log::new(0, &clock));
    log.borrow_mut().begin_get();
    // The thread could be stopped here for ever, and the log is still to be had.
    assert_eq!(lines(log.borrow().clone()), ["t0 1.. get"]);
    log.borrow_mut().end_get(None);
    assert_eq!(lines(log.into_inner()), ["t0 1..2 get empty"]);
}

#[test]
fn the_fences_are_inside_the_times() {
    /// Writes down what it is asked for.
    #[derive(Default)]
    struct Script(RefCell<Vec<&'static str>>);
    impl Clock for Script {
        fn now(&self) -> u64 {
            self.0.borrow_mut().push("time");
            0
        }

        fn fence(&self) {
            self.0.borrow_mut().push("fence");
        }
    }
    let script = Script::default();
    let mut log = Log::new(0, &script);
    let call = |answer: usize| {
        script.0.borrow_mut().push("call");
        answer
    };
    log.put(1, || Ok::<_, ()>(call(1))).unwrap();
    log.get(|&task| task as u64, || Some(call(1)));
    log.put_all(&[2, 3], Batch::Each, || call(2));
    log.get_many(2, Batch::AtOnce, |&task| task, &mut Vec::new(), |_| call(0));
    assert_eq!(*script.0.borrow(), ["time", "fence", "call", "fence", "time"].repeat(4));
}

#[test]
#[should_panic = "no call is under way"]
fn an_end_without_a_beginning_is_a_mistake() {
    Log::new(0, &Ticks::default()).end_put(true);
}

#[test]
#[should_panic = "under way is not a get, but Put(1)"]
fn the_end_of_another_call_is_a_mistake() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    log.begin_put(1);
    log.end_get(None);
}

#[test]
#[should_panic = "under way is not a put, but Get(1, Each)"]
fn a_put_does_not_end_a_get() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    log.begin_get();
    log.end_put(true);
}

#[test]
#[should_panic = "under way is not a put of many, but Put(1)"]
fn a_batch_does_not_end_a_put() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    log.begin_put(1);
    log.end_put_all(1);
}

#[test]
fn a_history_is_in_the_order_of_the_starts() {
    let clock = Ticks::default();
    let (mut one, mut other) = (Log::with_capacity(0, &clock, 2), Log::new(1, &clock));
    other.begin_put(1);
    one.begin_get();
    other.end_put(true);
    one.end_get(Some(1));
    let history = merge([one, other]).unwrap();
    assert_eq!(history.to_string(), "t1 1..3 put 1\nt0 2..4 get 1\n");
}

#[test]
fn a_task_that_is_put_twice_makes_no_history() {
    let clock = Ticks::default();
    let mut log = Log::new(0, &clock);
    for _ in 0..2 {
        log.begin_put(1);
        log.end_put(true);
    }
    assert_eq!(merge([log]), Err(Malformed::PutMoreThanOnce(1)));
}

/// The clock of real threads.
#[derive(Default)]
struct Shared(AtomicU64);

impl Clock for Shared {
    fn now(&self) -> u64 {
        self.0.fetch_add(1, SeqCst)
    }

    fn fence(&self) {
        fence(SeqCst);
    }
}

#[test]
fn real_threads_at_a_locked_queue_are_linearizable() {
    let clock = Shared::default();
    let queue = Mutex::new(std::collections::VecDeque::new());
    let run = |thread: usize| {
        let mut log = Log::with_capacity(thread, &clock, 4_000);
        for n in 0..1_000 {
            let task = (thread * 1_000 + n) as u64;
            let try_put = |task| {
                let mut queue = queue.lock().unwrap();
                if queue.len() == 16 {
                    return Err(task);
                }
                queue.push_back(task);
                Ok(())
            };
            let _ = log.put(task, || try_put(task));
            if n % 3 != 0 {
                log.get(|&task| task, || queue.lock().unwrap().pop_front());
            }
        }
        log
    };
    let logs: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let history = merge(logs).unwrap();
    for spec in [Spec::queue(), Spec::bag()] {
        let verdict = check(&history, &spec.bounded(16, 0), BUDGET);
        assert!(verdict.is_linearizable(), "{verdict}");
    }
    let unbounded = check(&history, &Spec::queue(), BUDGET);
    assert!(!unbounded.is_linearizable(), "some puts were given back");
}

#[test]
fn a_thread_that_dies_in_a_call_leaves_it_pending() {
    let clock = Shared::default();
    let mut logs = [Log::new(0, &clock), Log::new(1, &clock)];
    let [dies, lives] = &mut logs;
    thread::scope(|scope| {
        let dying = scope.spawn(|| {
            dies.put(1, || Ok::<_, ()>(())).unwrap();
            dies.get(|task: &u64| *task, || panic!("on purpose"));
        });
        assert!(dying.join().is_err());
    });
    lives.get(|task: &u64| *task, || None);
    let history = merge(logs).unwrap();
    let pending = history.operations().iter().find(|operation| operation.end.is_none()).unwrap();
    assert_eq!(pending.action, Action::Getting { max: 1 });
    assert!(check(&history, &Spec::bag(), BUDGET).is_linearizable());
}
