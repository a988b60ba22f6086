//! Logs tell what happened.

use cantina_sim::atomic::Ordering::{Relaxed, SeqCst};
use cantina_sim::atomic::{AtomicPtr, AtomicUsize};
use cantina_sim::cell::UnsafeCell;
use cantina_sim::engine::{Memory, Op, Simulation, ThreadId};
use cantina_sim::lock::Mutex;
use cantina_sim::progress::operation;
use cantina_sim::schedule::Schedule;
use cantina_sim::trace::{
    Description, Role, What, contents, gone, name, node, note, part, row, structure,
};
use cantina_sim::{Arc, CachePadded, thread};

/// What happened to words in a run of `scenario`, on the plainest schedule.
fn told(simulation: &Simulation, timed: bool, scenario: impl FnOnce()) -> Vec<(ThreadId, What)> {
    let plain = Schedule::Replay("".parse().unwrap());
    let simulation = simulation.clone().log(true).schedule(plain);
    let outcome = if timed { simulation.run_timed(scenario) } else { simulation.run(scenario) };
    let log = outcome.unwrap().log.unwrap();
    let events = log.events().iter();
    events
        .filter(|event| !matches!(event.what, What::Did(_)))
        .map(|event| (event.thread, event.what.clone()))
        .collect()
}

fn accesses() {
    let word = AtomicUsize::new(1);
    word.store(2, Relaxed);
    word.store(3, SeqCst);
    word.fetch_add(4, Relaxed);
    let _ = word.compare_exchange(0, 9, Relaxed, Relaxed);
    word.load(Relaxed);
}

#[test]
fn every_access_is_told_with_its_values() {
    let main = ThreadId(0);
    let rest = [
        (main, What::Update { before: 3, after: Some(7) }),
        (main, What::Update { before: 7, after: None }),
        (main, What::Load { value: 7 }),
    ];
    let buffered = [
        (main, What::Buffered { value: 2 }),
        (main, What::Visible { value: 2 }),
        (main, What::Store { value: 3 }),
    ];
    let simulation = Simulation::new();
    for timed in [false, true] {
        let events = told(&simulation, timed, accesses);
        let (order, after) = events.split_at(3);
        assert_eq!(after, rest);
        assert!(buffered.iter().all(|event| order.contains(event)), "{order:?}");
    }
    let direct = [(main, What::Store { value: 2 }), (main, What::Store { value: 3 })];
    let events = told(&simulation.memory(Memory::Sequential), false, accesses);
    assert_eq!(events, [&direct[..], &rest[..]].concat());
}

#[test]
fn notes_names_and_operations_are_told() {
    let scenario = || {
        let words = Arc::new([const { AtomicUsize::new(0) }; 2]);
        name(&*words, "pair");
        note("it begins");
        let theirs = words.clone();
        let other = thread::Builder::new().name("adder".to_owned()).spawn(move || {
            operation("add", || _ = theirs[1].fetch_add(5, Relaxed));
        });
        other.unwrap().join().unwrap();
        let pointer = AtomicPtr::new((&raw const words[1]).cast_mut());
        pointer.load(Relaxed);
    };
    let run = || {
        let outcome = Simulation::new().seed(3).log(true).run(scenario).unwrap();
        outcome.log.unwrap().to_string()
    };
    let text = run();
    for told in [
        "thread 0 'main'                   it begins",
        "thread 1 'adder'                  begins add",
        "thread 1 'adder'     pair+8       update 0 -> 5",
        "thread 1 'adder'                  ends add",
        "load -> &pair+8",
    ] {
        assert!(text.contains(told), "{text}");
    }
    assert_eq!(run(), text);
}

#[test]
fn a_failure_has_its_log() {
    let scenario = || {
        let word = AtomicUsize::new(0);
        word.fetch_add(1, Relaxed);
        assert_eq!(word.load(Relaxed), 2, "it is not two");
    };
    let failure = Simulation::new().log(true).run(scenario).unwrap_err();
    let log = failure.report().log.as_ref().unwrap();
    assert!(log.events().iter().any(|event| event.what == What::Load { value: 1 }));
    assert!(Simulation::new().run(|| ()).unwrap().log.is_none());
}

#[test]
fn words_keep_their_numbers_and_say_where_they_lie() {
    let outcome = Simulation::new().log(true).run(|| {
        let words = [AtomicUsize::new(0), AtomicUsize::new(1)];
        words[1].load(Relaxed);
        words[0].load(Relaxed);
        words[1].load(Relaxed);
    });
    let log = outcome.unwrap().log.unwrap();
    let words: Vec<_> = log.events().iter().filter_map(|event| event.word).collect();
    assert_eq!(words[0], words[2]);
    assert_eq!(log.address(words[0]) - log.address(words[1]), 8);
    assert_eq!(log.word_at(log.address(words[0])), Some(words[0]));
    assert_eq!(log.words(), 2);
}

#[test]
fn words_know_their_lines() {
    let outcome = Simulation::new().log(true).run(|| {
        let words: Vec<_> =
            (0..3).map(|_| CachePadded::new([0; 2].map(AtomicUsize::new))).collect();
        for number in [2, 0, 1, 0] {
            words[number].iter().for_each(|word| _ = word.load(Relaxed));
        }
    });
    let log = outcome.unwrap().log.unwrap();
    let words = log.events().iter().filter_map(|event| event.word);
    let lines: Vec<u32> = words.map(|word| log.line(word)).collect();
    assert_eq!(lines, [0, 0, 1, 1, 2, 2, 1, 1]);
}

#[test]
fn in_a_timed_run_the_log_has_the_costs() {
    let outcome = Simulation::new().log(true).run_timed(|| {
        let word = AtomicUsize::new(0);
        word.load(Relaxed);
        word.load(Relaxed);
    });
    let log = outcome.unwrap().log.unwrap();
    let costs: Vec<u64> = log
        .events()
        .iter()
        .filter(|event| event.what == What::Load { value: 0 })
        .map(|event| event.cycles)
        .collect();
    // The first comes from memory, the second from the cache.
    assert!(costs[0] > 100 && costs[1] < 10, "{costs:?}");
    assert!(log.events().iter().any(|event| event.what == What::Did(Op::End)));
}

#[test]
fn plain_data_and_locks_are_told_too() {
    let scenario = || {
        let cell = UnsafeCell::new(1_u64);
        // SAFETY: nobody else has it.
        cell.with_mut(|value| unsafe { *value = 5 });
        let lock = Mutex::new(6_u64);
        let mut guard = lock.lock();
        *guard += 1;
        assert!(lock.try_lock().is_none());
    };
    let main = ThreadId(0);
    let told = told(&Simulation::new(), false, scenario);
    let expected = [
        What::Data { value: 5 },
        What::Locked { taken: true },
        What::Locked { taken: false },
        What::Data { value: 7 },
    ];
    assert_eq!(told, expected.map(|what| (main, what)));
}

#[test]
fn what_the_program_says_of_its_words_is_told() {
    struct Queue {
        head: AtomicUsize,
        tasks: Vec<u64>,
    }
    let scenario = || {
        let queue = Box::new(Queue { head: AtomicUsize::new(3), tasks: vec![8, 9] });
        structure(&*queue, "queue");
        part(&queue.head, "head", Role::Number);
        contents(&queue.tasks, queue.tasks.iter());
        node(&queue.tasks[0], "task");
        gone(&queue.tasks[0]);
    };
    let told = told(&Simulation::new(), false, scenario);
    let expected = [
        Description::Structure { what: "queue", bytes: size_of::<Queue>() },
        Description::Part { name: "head", role: Role::Number, bytes: 8, value: 3 },
        Description::Contents(vec![8, 9]),
        Description::Node { what: "task", bytes: 8 },
        Description::Gone { bytes: 8 },
    ];
    assert_eq!(told, expected.map(|said| (ThreadId(0), What::Described(said))));
}

#[test]
fn a_row_is_told_once_with_what_it_belongs_to() {
    let words = Box::new([1_u64, 2, 3]);
    let whole = (&raw const *words) as usize;
    let told = told(&Simulation::new(), false, || {
        row(&*words, &words[1..], "word", Role::Index);
        row(&*words, &words[3..], "nothing", Role::Index);
    });
    let row = Description::Row { name: "word", role: Role::Index, bytes: 8, count: 2, whole };
    assert_eq!(told, [(ThreadId(0), What::Described(row))]);
}

#[test]
fn the_log_knows_an_exchange_from_an_addition() {
    let outcome = Simulation::new().log(true).run(|| {
        let word = AtomicUsize::new(0);
        word.fetch_add(1, Relaxed);
        let _ = word.compare_exchange(1, 2, Relaxed, Relaxed);
    });
    let log = outcome.unwrap().log.unwrap();
    let updates = log.events().iter().filter(|event| matches!(event.what, What::Update { .. }));
    let ops: Vec<Op> = updates.map(|event| event.op).collect();
    assert_eq!(ops, [Op::Rmw, Op::Cas]);
}
