//! Panics that nobody hears of: who does.

mod running;

use cantina::scheduler::{Runtime, UnheardPanic, WaitError};
use running::{LONG, blocked, fails};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};

/// A runtime with one worker, and what its hook hears.
fn runtime() -> (Runtime, Receiver<UnheardPanic>) {
    let (tells, told) = channel();
    let builder = Runtime::builder().workers(1).name("test");
    let hook = move |panic: &UnheardPanic| tells.send(panic.clone()).unwrap();
    (builder.on_panic(hook).build().unwrap(), told)
}

/// What was heard by the end of `runtime`: what it said, the unit's name, whether it was on the worker.
fn heard(runtime: Runtime, told: &Receiver<UnheardPanic>) -> Vec<(String, Option<String>, bool)> {
    let handle = runtime.handle();
    assert!(runtime.shutdown(LONG).is_nothing());
    let heard: Vec<_> = told.try_iter().collect();
    assert_eq!(handle.metrics().unheard_panics, heard.len() as u64);
    let on_worker = |panic: &UnheardPanic| panic.worker.as_deref() == Some("test-0");
    heard
        .into_iter()
        .map(|panic| (panic.message.clone(), panic.unit.clone(), on_worker(&panic)))
        .collect()
}

fn expected(message: &str, unit: Option<&str>, on_worker: bool) -> (String, Option<String>, bool) {
    (message.to_owned(), unit.map(str::to_owned), on_worker)
}

#[test]
fn what_was_told_is_heard_with_its_unit_and_worker() {
    let (runtime, told) = runtime();
    let unit = runtime.unit_builder().name("till").keep_on_panic().build(0);
    unit.tell(|_| fails("told"));
    assert!(unit.try_tell(|_| fails("tried")).is_ok());
    unit.sender().tell(|_| fails("sent"));
    runtime.unit(0).tell(|_| fails("nameless"));
    let wanted = [
        expected("told", Some("till"), true),
        expected("tried", Some("till"), true),
        expected("sent", Some("till"), true),
        expected("nameless", Some(""), true),
    ];
    assert_eq!(heard(runtime, &told), wanted);
}

#[test]
fn an_eventual_that_is_gone_leaves_its_panic_to_the_hook() {
    let (runtime, told) = runtime();
    let lets_go = blocked(&runtime);
    let unit = runtime.unit_builder().name("till").keep_on_panic().build(0);
    drop(unit.send(|_| fails::<u8>("word")));
    drop(unit.send(|_| fails::<String>("text")));
    drop(unit.send_after(runtime.spawn(|| 1), |_, _| fails::<u8>("after")));
    drop(unit.send_cancellable(|_| fails::<u8>("cancellable")).0);
    lets_go.unpark();
    let mut all = heard(runtime, &told);
    all.sort();
    let till = |message| expected(message, Some("till"), true);
    assert_eq!(all, [till("after"), till("cancellable"), till("text"), till("word")]);
}

#[test]
fn free_operations_and_what_blocks_are_heard_of() {
    let (runtime, told) = runtime();
    let lets_go = blocked(&runtime);
    let inner = runtime.handle();
    drop(runtime.spawn(|| fails::<u8>("a")));
    drop(runtime.spawn_urgent(|| fails::<String>("b")));
    drop(runtime.after(runtime.spawn(|| 1), |_| fails::<u8>("c")));
    drop(runtime.spawn_tail(move || inner.tail((), |()| fails::<String>("d"))));
    drop(runtime.spawn_cancellable(|| fails::<u8>("e")).0);
    drop(runtime.spawn_blocking(|| fails::<u8>("f")));
    lets_go.unpark();
    let mut all = heard(runtime, &told);
    all.sort();
    let free = |message| expected(message, None, true);
    let wanted = [free("a"), free("b"), free("c"), free("d"), free("e")];
    assert_eq!(all[..5], wanted);
    assert_eq!(all[5..], [expected("f", None, false)]);
}

#[test]
fn an_eventual_that_goes_later_leaves_its_panic_to_the_hook() {
    let (runtime, told) = runtime();
    let word = runtime.unit(0).send(|_| fails::<u8>("word"));
    let text = runtime.spawn(|| fails::<String>("text"));
    assert_eq!(runtime.spawn(|| 1).wait(), Ok(1));
    while !format!("{word:?} {text:?}").matches("is_there: true").count().eq(&2) {
        std::thread::yield_now();
    }
    assert_eq!(told.try_iter().count(), 0, "somebody may look at them yet");
    drop((word, text));
    let wanted = [expected("word", None, false), expected("text", None, false)];
    assert_eq!(heard(runtime, &told), wanted);
}

#[test]
fn who_gets_the_error_has_heard_of_it() {
    let (runtime, told) = runtime();
    let failed = runtime.spawn(|| fails::<u8>("waited for"));
    let copies = [failed.clone(), failed.clone()];
    assert!(failed.wait().is_err());
    drop(copies);
    let text = runtime.spawn(|| fails::<String>("depended on"));
    assert!(text.map(|text| text).wait().is_err());
    assert_eq!(heard(runtime, &told), []);
}

#[test]
fn the_last_of_a_chain_tells_of_the_panic_of_the_first() {
    let (runtime, told) = runtime();
    let lets_go = blocked(&runtime);
    let chain = (0..10).fold(runtime.spawn(|| fails::<u8>("first")), |last, _| last.map(|one| one));
    drop(chain);
    lets_go.unpark();
    assert_eq!(heard(runtime, &told), [expected("first", None, true)]);
}

#[test]
fn a_scope_tells_of_one_panic_and_the_hook_of_the_others() {
    let (runtime, told) = runtime();
    let failed = runtime.scope(|scope| {
        scope.spawn(|| fails("one"));
        scope.spawn(|| fails("two"));
    });
    let Err(WaitError::Panicked(first)) = failed else { panic!("{failed:?}") };
    let other = if first == "one" { "two" } else { "one" };
    assert_eq!(heard(runtime, &told), [expected(other, None, true)]);
}

#[test]
fn a_scope_that_panics_itself_leaves_the_first_one_to_the_hook() {
    let (runtime, told) = runtime();
    let scope = || {
        runtime.scope(|scope| -> () {
            scope.spawn(|| fails("an operation"));
            fails("the scope")
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(scope)).is_err());
    assert_eq!(heard(runtime, &told), [expected("an operation", None, false)]);
}

#[test]
fn a_state_that_cannot_be_made_anew_is_heard_of() {
    let (runtime, told) = runtime();
    let builder = runtime.unit_builder().name("till").rebuild_on_panic(|| fails("make"));
    builder.build(0).tell(|_| fails("told"));
    let till = |message| expected(message, Some("till"), true);
    assert_eq!(heard(runtime, &told), [till("told"), till("make")]);
}

#[test]
fn what_fails_otherwise_is_no_panic() {
    let (runtime, told) = runtime();
    let (promise, broken) = runtime.promise::<u8>();
    drop(promise);
    drop(broken);
    let lets_go = blocked(&runtime);
    let (value, canceller) = runtime.spawn_cancellable(|| 1);
    assert!(canceller.cancel());
    drop(value);
    lets_go.unpark();
    assert_eq!(heard(runtime, &told), []);
}

/// Neither on a worker, nor where an eventual is dropped.
#[test]
fn a_hook_that_panics_does_no_harm() {
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                fails("loud")
            }
        }
    }
    let loud = Loud;
    let hook = move |panic: &UnheardPanic| {
        let _loud = &loud;
        fails(&panic.message)
    };
    let runtime = Runtime::builder().workers(1).on_panic(hook).build().unwrap();
    let unit = runtime.unit_builder().keep_on_panic().build(0);
    unit.tell(|_| fails("told"));
    assert_eq!(unit.send(|state| *state + 1).wait(), Ok(1));
    let failed = runtime.spawn(|| fails::<String>("later"));
    while !format!("{failed:?}").contains("true") {
        std::thread::yield_now();
    }
    drop(failed);
    assert_eq!(runtime.spawn(|| 2).wait(), Ok(2));
    assert_eq!(runtime.metrics().unheard_panics, 2);
}

/// It may send, and drop what nobody has heard of.
#[test]
fn a_hook_may_use_the_runtime() {
    let (tells, told) = channel();
    let other = Runtime::builder().workers(1).build().unwrap();
    let counts = other.unit(0);
    let theirs = counts.clone();
    let hook = move |panic: &UnheardPanic| {
        theirs.tell(|count| *count += 1);
        tells.send(panic.message.len()).unwrap();
    };
    let runtime = Runtime::builder().workers(1).on_panic(hook).build().unwrap();
    (0..100).for_each(|_| drop(runtime.spawn(|| fails::<u8>("again"))));
    assert!(runtime.shutdown(LONG).is_nothing());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [5; 100]);
    assert_eq!(counts.send(|count| *count).wait(), Ok(100));
}
