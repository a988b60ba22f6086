//! The scheduler.

use cantina::scheduler::{Builder, Eventual, Runtime, Unit, WaitError};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::cell::UnsafeCell;
use machine::fence::Pair;
use machine::park::Parker;
use machine::random::Random;
use machine::time::Duration;
use machine::{Arc, Topology, thread};

/// Those that loom tries, too.
pub(crate) const SMALL: [Scenario; 15] = [
    ("work meets a worker that goes to sleep", work_meets_a_worker_that_goes_to_sleep),
    ("work meets a worker between full fences", work_meets_a_worker_between_full_fences),
    ("a state goes with its last handle", a_state_goes_with_its_last_handle),
    ("a runtime goes with its last reference", a_runtime_goes_with_its_last_reference),
    ("a thief meets a sender", a_thief_meets_a_sender),
    ("arguments arrive at the same time", arguments_arrive_at_the_same_time),
    ("a send meets the end", a_send_meets_the_end),
    ("a sender waits for room", a_sender_waits_for_room),
    ("a cancel meets the start", a_cancel_meets_the_start),
    ("a scope ends", a_scope_ends),
    ("a sender leaves its memory", a_sender_leaves_its_memory),
    ("two operations bring the arguments", two_operations_bring_the_arguments),
    ("an operation ends with another", an_operation_ends_with_another),
    ("an end that waits for itself meets the end", an_end_that_waits_for_itself_meets_the_end),
    ("the argument of an end meets the end", the_argument_of_an_end_meets_the_end),
];

/// Those for schedules that are drawn.
#[allow(dead_code, reason = "loom does not run them")]
pub(crate) const LARGE: [Scenario; 11] = [
    ("a graph of operations comes to an end", a_graph),
    ("a graph is cut off", a_graph_is_cut_off),
    ("nobody sleeps beside what blocks", nobody_sleeps_beside_what_blocks),
    ("a worker has more than room", a_worker_has_more_than_room),
    ("senders fight for room", senders_fight_for_room),
    ("a worker adds a task and blocks", a_worker_adds_a_task_and_blocks),
    ("a worker adds a unit and blocks", a_worker_adds_a_unit_and_blocks),
    ("what waits for itself meets the end", what_waits_for_itself_meets_the_end),
    ("an end of another runtime meets the end", an_end_of_another_runtime_meets_the_end),
    ("an end is listed while its argument comes", an_end_is_listed_while_its_argument_comes),
    ("a message waits beyond the last handle", a_message_waits_beyond_the_last_handle),
];

fn builder(workers: usize) -> Builder {
    Runtime::builder().workers(workers).budget(2).topology(Topology::mock(1, workers))
}

pub(crate) fn runtime(workers: usize) -> Runtime {
    builder(workers).build().unwrap()
}

fn work_meets_a_worker_that_goes_to_sleep() {
    let runtime = runtime(1);
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
}

/// The pair whose light side is no compiler's fence alone.
fn work_meets_a_worker_between_full_fences() {
    let runtime = builder(1).fences(Pair::symmetric()).build().unwrap();
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
}

/// What only operations of one unit touch: a model reports two at a time.
#[derive(Default)]
struct Watched(Arc<UnsafeCell<usize>>);

// SAFETY: what the scheduler promises, and what is tried here.
unsafe impl Send for Watched {}

impl Watched {
    fn enter(&self) -> usize {
        // SAFETY: as above.
        self.0.with_mut(|count| unsafe {
            *count += 1;
            *count
        })
    }
}

fn a_thief_meets_a_sender() {
    let runtime = runtime(2);
    let unit = runtime.unit(Watched::default());
    unit.tell(|state| {
        state.enter();
    });
    assert_eq!(unit.send(|state| state.enter()).wait(), Ok(2));
}

/// Who drops the state, the worker or whoever had the last handle, comes behind all that was done to it.
fn a_state_goes_with_its_last_handle() {
    struct Goes(Watched);
    impl Drop for Goes {
        fn drop(&mut self) {
            self.0.enter();
        }
    }
    let runtime = runtime(1);
    let watched = Watched::default();
    let unit = runtime.unit(Goes(Watched(watched.0.clone())));
    unit.tell(|state| {
        state.0.enter();
    });
    drop(unit);
    drop(runtime);
    assert!(watched.enter() > 1, "the state is gone");
}

/// Nobody waits for its worker, whose deque has grown: whoever has the last reference frees it.
fn a_runtime_goes_with_its_last_reference() {
    let runtime = builder(1).room(1).build().unwrap();
    let handle = runtime.handle();
    drop(handle.spawn(move || {
        (0..2).for_each(|_| drop(runtime.spawn(|| ())));
        drop(runtime);
    }));
}

fn arguments_arrive_at_the_same_time() {
    let runtime = runtime(1);
    let (promise, one) = runtime.promise();
    let two = runtime.spawn(|| 2);
    let sum = runtime.after((one, two), |(one, two)| one + two);
    promise.keep(1);
    assert_eq!(sum.wait(), Ok(3));
}

fn a_send_meets_the_end() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let sent = unit.send(|state| *state += 1);
    drop(runtime);
    assert!(matches!(sent.wait(), Ok(()) | Err(WaitError::Cancelled)));
    assert_eq!(unit.send(|_| ()).wait(), Err(WaitError::Closed));
}

fn a_sender_waits_for_room() {
    let runtime = runtime(1);
    let unit = runtime.unit_builder().capacity(1).build(0);
    unit.tell(|state| *state += 1);
    unit.tell(|state| *state += 1);
    assert_eq!(unit.send(|state| *state).wait(), Ok(2));
}

fn a_cancel_meets_the_start() {
    let runtime = runtime(1);
    let ran = Watched::default();
    let theirs = Watched(ran.0.clone());
    let (value, canceller) = runtime.spawn_cancellable(move || theirs.enter());
    if canceller.cancel() {
        assert_eq!(value.wait(), Err(WaitError::Cancelled));
        assert_eq!(ran.enter(), 1, "it did not run");
    } else {
        assert_eq!(value.wait(), Ok(1));
        assert_eq!(ran.enter(), 2);
    }
}

fn a_scope_ends() {
    let runtime = runtime(1);
    let borrowed = UnsafeCell::new(0);
    struct Borrows<'a>(&'a UnsafeCell<usize>);
    // SAFETY: the scope waits for what borrows, which is tried here.
    unsafe impl Send for Borrows<'_> {}
    impl Borrows<'_> {
        fn add(self) {
            // SAFETY: as above.
            self.0.with_mut(|count| unsafe { *count += 1 });
        }
    }
    let theirs = Borrows(&borrowed);
    assert_eq!(runtime.scope(|scope| scope.spawn(move || theirs.add())), Ok(()));
    // SAFETY: as above.
    borrowed.with_mut(|count| assert_eq!(unsafe { *count }, 1));
}

/// They come while they are asked for, or before, or behind.
fn two_operations_bring_the_arguments() {
    let runtime = runtime(1);
    let (one, two) = (runtime.spawn(|| 1), runtime.spawn(|| 2));
    assert_eq!(runtime.after((one, two), |(one, two)| one + two).wait(), Ok(3));
}

fn an_operation_ends_with_another() {
    let runtime = runtime(1);
    let inner = runtime.handle();
    let value = runtime.spawn_tail(move || {
        let part = inner.spawn(|| Box::new(3));
        inner.tail(part, |part| *part + 4)
    });
    assert_eq!(value.wait(), Ok(7));
}

/// What an operation ends with waits for the value that it is to bring: nobody but the end of the runtime resolves it.
fn an_end_that_waits_for_itself_meets_the_end() {
    let runtime = runtime(1);
    let (handle, (promise, own)) = (runtime.handle(), runtime.promise());
    let value = runtime.after_tail(own, move |own: Eventual<u8>| handle.tail(own, |value| value));
    promise.keep(value.clone());
    drop(runtime);
    assert_eq!(value.wait(), Err(WaitError::Cancelled));
}

/// What an operation ends with is listed while its argument comes, and the runtime goes: it runs, or is cancelled.
fn the_argument_of_an_end_meets_the_end() {
    let runtime = runtime(1);
    let (handle, (promise, seven)) = (runtime.handle(), runtime.promise());
    let value = runtime.spawn_tail(move || handle.tail(seven, |seven: Box<u8>| *seven + 1));
    let keeps = thread::spawn(move || promise.keep(Box::new(7)));
    drop(runtime);
    keeps.join().unwrap();
    assert!(matches!(value.wait(), Ok(8) | Err(WaitError::Cancelled)));
}

/// One slab has three slots in a model: the second sender goes on in what the first has left, or not.
fn a_sender_leaves_its_memory() {
    let runtime = runtime(1);
    let unit = runtime.unit(0);
    let first = unit.clone();
    let first = thread::spawn(move || first.sender().tell(|sum| *sum += 1));
    let second = unit.sender();
    (0..2).for_each(|_| second.tell(|sum| *sum += 1));
    drop(second);
    first.join().unwrap();
    let third = unit.sender();
    (0..2).for_each(|_| third.tell(|sum| *sum += 1));
    assert_eq!(unit.send(|sum| *sum).wait(), Ok(5));
}

/// More tasks than a worker's deque has room for at first, while another one steals.
fn a_worker_has_more_than_room() {
    let runtime = builder(2).room(1).build().unwrap();
    let handle = runtime.handle();
    let all = runtime.spawn(move || {
        let parts: Vec<_> = (1..=6).map(|number| handle.spawn(move || number)).collect();
        let units: Vec<_> = (1..=3).map(|number| handle.unit(number)).collect();
        let sent: Vec<_> = units.iter().map(|unit| unit.send(|number| *number)).collect();
        handle.after((parts, sent), |(parts, sent)| {
            parts.iter().sum::<u32>() + sent.iter().sum::<u32>()
        })
    });
    assert_eq!(all.flatten().wait(), Ok(27));
}

/// What an operation adds before it blocks, and is waiting for, another worker does, be that about to sleep.
fn a_worker_adds_a_task_and_blocks() {
    let runtime = runtime(2);
    let handle = runtime.handle();
    let blocks = runtime.spawn(move || {
        let parker = Parker::new();
        let wakes = parker.unparker();
        drop(handle.spawn(move || wakes.unpark()));
        parker.park();
    });
    assert_eq!(blocks.wait(), Ok(()));
}

/// The same with units: others are on their way, so that the other worker may have left them to this one.
fn a_worker_adds_a_unit_and_blocks() {
    let runtime = runtime(2);
    let units: Vec<_> = (0..3).map(|_| runtime.unit(0)).collect();
    let last = runtime.unit(());
    let blocks = runtime.unit(()).send(move |()| {
        units.iter().for_each(|unit| unit.tell(|state| *state += 1));
        let again = units[2].clone();
        units[0].send(move |_| {
            let parker = Parker::new();
            let wakes = parker.unparker();
            again.tell(|state| *state += 1);
            last.tell(move |()| wakes.unpark());
            parker.park();
        })
    });
    assert_eq!(blocks.flatten().wait(), Ok(()));
}

/// A value that is its own inner value: nobody but the end of the runtime resolves it.
fn what_waits_for_itself_meets_the_end() {
    let runtime = runtime(1);
    let (promise, own) = runtime.promise();
    let value = runtime.after(own, |value: Eventual<u8>| value).flatten();
    promise.keep(value.clone());
    drop(runtime);
    assert_eq!(value.wait(), Err(WaitError::Cancelled));
}

/// It begins when it is in the list, and not before: what has run is not left over.
fn an_end_is_listed_while_its_argument_comes() {
    let runtime = runtime(1);
    let (handle, (promise, seven)) = (runtime.handle(), runtime.promise());
    let value = runtime.spawn_tail(move || handle.tail(seven, |seven: Box<u8>| *seven + 1));
    let keeps = thread::spawn(move || promise.keep(Box::new(7)));
    assert_eq!(value.wait(), Ok(8));
    keeps.join().unwrap();
    assert!(runtime.shutdown(Duration::MAX).is_nothing());
}

/// What an operation ends with waits on another runtime, which goes on: the value is its own runtime's.
fn an_end_of_another_runtime_meets_the_end() {
    let (here, there) = (runtime(1), runtime(1));
    let (handle, (promise, never)) = (there.handle(), there.promise::<u8>());
    let value = here.spawn_tail(move || handle.tail(never, |value| value));
    drop(here);
    assert_eq!(value.wait(), Err(WaitError::Cancelled));
    drop(promise);
}

/// Its argument comes while the last handle goes, of which there was a weak one: it runs, and the state goes behind it.
fn a_message_waits_beyond_the_last_handle() {
    let runtime = runtime(1);
    let (state, (promise, value)) = (Arc::new(()), runtime.promise());
    let unit = runtime.unit(state.clone());
    let weak = unit.downgrade();
    let sent = unit.send_after(value, |_, seven| seven);
    let keeps = thread::spawn(move || promise.keep(7));
    drop(unit);
    assert_eq!(sent.wait(), Ok(7));
    keeps.join().unwrap();
    assert!(runtime.shutdown(Duration::MAX).is_nothing());
    assert!(weak.upgrade().is_none());
    assert_eq!(Arc::strong_count(&state), 1);
}

/// Three threads and an operation send to a unit that has room for one.
fn senders_fight_for_room() {
    let runtime = runtime(2);
    let unit = runtime.unit_builder().capacity(1).build(0);
    let inside = unit.clone();
    let sends = runtime.spawn(move || inside.tell(|state| *state += 1));
    let senders: Vec<_> = (0..3)
        .map(|_| {
            let unit = unit.clone();
            thread::spawn(move || (0..2).for_each(|_| unit.tell(|state| *state += 1)))
        })
        .collect();
    senders.into_iter().for_each(|sender| sender.join().unwrap());
    assert_eq!(sends.wait(), Ok(()));
    assert_eq!(unit.send(|state| *state).wait(), Ok(7));
}

/// An operation that blocks until others have run, which come from two threads and from a unit with more messages
/// than its budget: they are not left to the worker that it keeps.
fn nobody_sleeps_beside_what_blocks() {
    let runtime = runtime(2);
    let (first, second) = (Parker::new(), Parker::new());
    let (wakes_first, wakes_second) = (first.unparker(), second.unparker());
    let unit = runtime.unit(());
    (0..3).for_each(|_| unit.tell(|()| ()));
    let blocks = runtime.spawn(move || {
        first.park();
        second.park();
    });
    let theirs = runtime.handle();
    let other = thread::spawn(move || theirs.spawn(move || wakes_first.unpark()).wait());
    unit.tell(move |()| wakes_second.unpark());
    assert_eq!(blocks.wait(), Ok(()));
    assert_eq!(other.join().unwrap(), Ok(()));
}

/// How many send, each to all units.
const SENDERS: usize = 4;

/// A state that finds out whether it is used by two, and whether a sender's messages come in order.
struct Checked {
    inside: Arc<AtomicUsize>,
    last: [usize; SENDERS],
}

fn check(state: &mut Checked, sender: usize, number: usize) {
    assert_eq!(state.inside.fetch_add(1, Relaxed), 0, "two at a time");
    // It stays long enough for somebody to send, and for another worker to come.
    (0..16).for_each(|_| assert_eq!(state.inside.load(Relaxed), 1, "two at a time"));
    assert_eq!(state.last[sender] + 1, number, "in the order they were sent");
    state.last[sender] = number;
    assert_eq!(state.inside.fetch_sub(1, Relaxed), 1, "two at a time");
}

fn units(runtime: &Runtime) -> Vec<Unit<Checked>> {
    let state = || Checked { inside: Arc::new(AtomicUsize::new(0)), last: [0; SENDERS] };
    (0..3).map(|_| runtime.unit(state())).collect()
}

/// Sends the numbers up to `last`, each to all units.
fn send_numbers(units: &[Unit<Checked>], sender: usize, last: usize) {
    for number in 1..=last {
        units.iter().for_each(|unit| unit.tell(move |state| check(state, sender, number)));
    }
}

/// Random operations that wait for random values of earlier ones, some of them nested. Beside them three more send: a thread,
/// one with handles of its own, and an operation.
fn a_graph() {
    let runtime = runtime(2);
    let units = units(&runtime);
    let theirs = units.clone();
    let plain = thread::spawn(move || send_numbers(&theirs, 1, 12));
    let theirs: Vec<_> = units.iter().map(Unit::sender).collect();
    let handles = thread::spawn(move || {
        for number in 1..=12 {
            theirs.iter().for_each(|unit| unit.tell(move |state| check(state, 2, number)));
        }
    });
    let theirs = units.clone();
    let sends = runtime.spawn(move || send_numbers(&theirs, 3, 12));
    let mut random = Random::seeded(machine::random::seed());
    let mut values = vec![runtime.spawn(|| 1_u64)];
    for number in 1..=12 {
        for unit in &units {
            unit.tell(move |state| check(state, 0, number));
        }
        let before = |random: &mut Random| values[random.below(values.len())].clone();
        let arguments = (before(&mut random), vec![before(&mut random)]);
        let handle = runtime.handle();
        let value = match random.below(4) {
            0 => runtime.after(arguments, |(one, more)| one % 7 + more[0] % 5),
            1 => units[random.below(3)].send_after(arguments, |_, (one, more)| one % 3 + more[0]),
            2 => arguments.0.then(move |one| handle.spawn(move || one % 11 + 1)),
            _ => {
                let unit = units[random.below(3)].clone();
                arguments.0.then(move |one| unit.send(move |_| one % 13))
            }
        };
        values.push(value);
    }
    for value in values {
        assert!(value.wait().is_ok());
    }
    plain.join().unwrap();
    handles.join().unwrap();
    assert_eq!(sends.wait(), Ok(()));
    let ends = units.iter().map(|unit| unit.send(|state| state.last));
    ends.collect::<Vec<_>>().into_iter().for_each(|end| assert_eq!(end.wait(), Ok([12; SENDERS])));
}

/// The runtime goes while there is work of all kinds: every value is resolved.
fn a_graph_is_cut_off() {
    let runtime = runtime(2);
    let units = units(&runtime);
    let (promise, never) = runtime.promise::<u64>();
    let mut values = vec![runtime.spawn(|| 1), never.map(|value| value + 1)];
    for number in 1..=6 {
        units[number % 3].tell(|_| ());
        let last = values[number / 2].clone();
        values.push(units[number % 3].send_after(last, |_, value| value + 1));
    }
    let unit = units[0].clone();
    let sends = thread::spawn(move || unit.send(|_| 5).wait());
    drop(runtime);
    let fails = |error| matches!(error, WaitError::Cancelled | WaitError::Closed);
    for value in values {
        assert!(value.wait().map_or_else(fails, |_| true));
    }
    assert!(sends.join().unwrap().map_or_else(fails, |value| value == 5));
    drop(promise);
}
