//! Stories of small programs, and their pages.

use super::story::{Kind, Owner, Story, Value, role_letter};
use super::{Heading, SCRIPTS, page, tell};
use cantina_sim::atomic::Ordering::{Relaxed, SeqCst};
use cantina_sim::atomic::{AtomicPtr, AtomicU64};
use cantina_sim::cell::UnsafeCell;
use cantina_sim::engine::Simulation;
use cantina_sim::lock::Mutex;
use cantina_sim::progress::operation;
use cantina_sim::trace::{self, Log, Role};
use cantina_sim::{Arc, fence, thread};
use std::ptr::{self, null_mut};

/// A stack of one place.
struct Top {
    top: AtomicPtr<Node>,
}

struct Node {
    below: AtomicPtr<Node>,
    task: UnsafeCell<u64>,
}

/// The log of a program of one thread.
fn log(program: impl FnOnce() + Send + 'static) -> Log {
    let outcome = Simulation::new().log(true).run(|| thread::spawn(program).join().unwrap());
    *outcome.unwrap().log.unwrap()
}

fn story(program: impl FnOnce() + Send + 'static) -> Story {
    tell(&log(program), 1)
}

/// Pushes a task, pops it, frees its node.
fn push_and_pop() {
    let stack = Box::new(Top { top: AtomicPtr::new(null_mut()) });
    trace::structure(&*stack, "stack");
    trace::part(&stack.top, "top", Role::Link);
    let mut node = Box::new(Node { below: AtomicPtr::new(null_mut()), task: UnsafeCell::new(0) });
    operation("put 7", || {
        trace::node(&*node, "node");
        trace::part(&node.below, "below", Role::Link);
        trace::part(&node.task, "task", Role::Task);
        // SAFETY: nobody else has it.
        node.task.with_mut(|task| unsafe { *task = 7 });
        stack.top.store(&raw mut *node, SeqCst);
    });
    trace::note("");
    operation("get", || {
        let _ = stack.top.compare_exchange(null_mut(), null_mut(), Relaxed, Relaxed);
        let _ = stack.top.compare_exchange(&raw mut *node, null_mut(), Relaxed, Relaxed);
        node.task.with_mut(|_| ());
        trace::gone(&node.task);
        trace::gone(&*node);
    });
    trace::note("7");
}

/// The kinds of the steps, as the script sees them.
fn kinds(kinds: &[Kind]) -> String {
    kinds.iter().map(|kind| kind.letter()).collect()
}

#[test]
fn steps_have_their_kinds_names_and_values() {
    let story = story(push_and_pop);
    let put = [Kind::Begin, Kind::Write, Kind::Store, Kind::End];
    let get = [Kind::Begin, Kind::Failed, Kind::Exchanged, Kind::Write, Kind::End];
    assert_eq!(story.steps.kinds, kinds(&[&put[..], &get[..]].concat()));
    let name = |step: usize| story.steps.words[step].map(|word| story.words[word].name.as_str());
    let names: Vec<_> = (0..story.steps.len()).map(name).collect();
    let [task, top] = [Some("A.task"), Some("top")];
    assert_eq!(names, [None, task, top, None, None, top, top, task, None]);
    let node = Value::Object(1);
    assert_eq!(story.steps.values[1..3], [Value::Number(7), node]);
    assert_eq!((story.steps.values[6], story.steps.after[6]), (node, Value::Number(0)));
    assert_eq!(story.steps.values[5], node, "an exchange that fails tells what it found");
}

#[test]
fn a_node_is_in_hand_then_linked_then_retired_then_gone() {
    let story = story(push_and_pop);
    let [stack, node] = &story.objects[..] else { panic!("{:?}", story.objects) };
    assert_eq!(
        (stack.name.as_str(), stack.node, node.name.as_str(), node.node),
        ("stack", false, "A", true)
    );
    assert_eq!((node.born, node.linked, node.unlinked, node.gone), (0, Some(2), Some(6), Some(7)));
    assert_eq!((node.home, node.maker), (Some(0), Some(0)));
    let task = story.words.iter().position(|word| word.role == 't').unwrap();
    let values = story.changes.iter().filter(|change| change.1 == task);
    let values: Vec<_> = values.map(|change| (change.0, change.2)).collect();
    let seven = Value::Number(7);
    assert_eq!(values, [(0, Value::None), (1, seven), (7, seven), (7, Value::None)]);
}

#[test]
fn operations_have_their_results() {
    let story = story(push_and_pop);
    let told: Vec<_> = story
        .operations
        .iter()
        .map(|each| (each.name.as_str(), each.result.as_str(), each.from, each.to))
        .collect();
    assert_eq!(told, [("put 7", "", 0, Some(3)), ("get", "7", 4, Some(8))]);
}

#[test]
fn an_address_that_is_used_again_is_another_word() {
    let story = story(|| {
        let word = Box::new(AtomicPtr::new(ptr::null_mut::<u8>()));
        operation("it", || {
            for name in ["first", "second"] {
                trace::node(&*word, "node");
                trace::part(&*word, name, Role::Number);
                word.load(Relaxed);
            }
        });
    });
    let names: Vec<_> =
        story.steps.words.iter().flatten().map(|word| &story.words[*word].name).collect();
    assert_eq!(names, ["A.first", "B.second"], "without a word about the end of the first");
    assert_eq!(story.objects[0].gone, Some(1));
    assert_eq!(
        (story.words[0].line, story.words[0].offset),
        (story.words[1].line, story.words[1].offset)
    );
}

#[test]
fn a_lock_has_a_holder_and_those_that_find_it_held() {
    let story = story(|| {
        let lock = Arc::new(Mutex::new(5_u64));
        trace::structure(&*lock, "pool");
        trace::part(&*lock, "lock", Role::Lock);
        operation("it", || {
            let mut guard = lock.lock();
            trace::part(&*guard, "count", Role::Number);
            assert!(lock.try_lock().is_none());
            *guard += 1;
            trace::contents(&*guard, [1_u64, 2].iter());
        });
    });
    let expected = [Kind::Begin, Kind::Locked, Kind::Busy, Kind::Unlock, Kind::End];
    assert_eq!(story.steps.kinds, kinds(&expected));
    let changes = |name: &str| {
        let word = story.words.iter().position(|word| word.name == name).unwrap();
        let changes = story.changes.iter().filter(move |change| change.1 == word);
        changes.map(|change| (change.0, change.2)).collect::<Vec<_>>()
    };
    let free = Value::Number(0);
    assert_eq!(changes("lock"), [(-1, free), (1, Value::Thread(0)), (3, free)]);
    assert_eq!(changes("count"), [(1, Value::Number(5)), (3, Value::Number(6))]);
    let held: Vec<_> = story.contents.iter().map(|held| (held.0, held.2.len())).collect();
    assert_eq!(held, [(2, 2)]);
}

#[test]
fn what_was_never_put_is_no_task() {
    let story = story(|| {
        let cell = Box::new(UnsafeCell::new(0_u64));
        trace::node(&*cell, "node");
        trace::part(&*cell, "task", Role::Task);
        // SAFETY: nobody else has it.
        operation("put 3", || cell.with_mut(|task| unsafe { *task = 99 }));
    });
    assert!(story.changes.iter().all(|change| change.2 == Value::None));
}

/// Slots in groups, each with its header, and an owner.
struct Chunk {
    owner: AtomicU64,
    headers: [AtomicU64; 2],
}

#[test]
fn a_chunk_has_its_slots_wherever_they_lie_and_words_that_say_more_than_a_number() {
    let story = story(|| {
        let chunk =
            Box::new(Chunk { owner: AtomicU64::new(0xfff_fff), headers: Default::default() });
        let slots = [const { UnsafeCell::new(0_u64) }; 5];
        operation("put 7", || {
            trace::node(&*chunk, "chunk");
            trace::part(&chunk.owner, "owner", Role::Owner { bits: 12 });
            trace::row(&*chunk, &chunk.headers, "header", Role::Count { bits: 16 });
            trace::row(&*chunk, &slots[..3], "slot", Role::Task);
            trace::row(&*chunk, &slots[3..], "slot", Role::Task);
            chunk.owner.store(1 << 33 | 1 << 24 | 2 << 12 | 3, SeqCst);
            // SAFETY: nobody else has it.
            slots[4].with_mut(|task| unsafe { *task = 7 });
            chunk.headers[1].store(5 << 16 | 2, SeqCst);
            trace::gone(&*chunk);
            chunk.owner.store(9, SeqCst);
        });
    });
    assert_eq!(story.objects[0].groups, [3, 2]);
    let nobody = Owner { owner: None, from: None, fresh: false, tag: 0 };
    let moving = Owner { owner: Some(2), from: Some(3), fresh: true, tag: 1 << 8 };
    let changes = |name: &str| {
        let word = story.words.iter().position(|word| word.name == name).unwrap();
        let changes = story.changes.iter().filter(move |change| change.1 == word);
        (story.words[word].number, changes.map(|change| change.2).collect::<Vec<_>>())
    };
    assert_eq!(changes("A.owner"), (None, vec![Value::Owner(nobody), Value::Owner(moving)]));
    assert_eq!(changes("A.slot 4"), (Some(4), vec![Value::Number(7)]));
    assert_eq!(changes("A.header 1"), (Some(1), vec![Value::Count { count: 2, lap: 5 }]));
    assert_eq!(
        story.words.len(),
        4,
        "only what was touched, and one that is the chunk's no longer"
    );
    assert_eq!((story.words[3].role, story.words[3].object), ('-', None));
    let json = serde_json::to_string(&story).unwrap();
    for part in ["\"o-1,-1,0,0\"", "\"o2,3,1,256\"", "\"c2,5\"", "\"groups\":[3,2]"] {
        assert!(json.contains(part), "{part}");
    }
}

#[test]
fn a_tree_has_its_leaves_and_words_with_bits() {
    let story = story(|| {
        let tree = Box::new(AtomicU64::new(0));
        let (mids, leaves) = ([const { AtomicU64::new(0) }; 2], [const { AtomicU64::new(0) }; 3]);
        operation("put 7", || {
            trace::node(&*tree, "tree");
            let root = std::slice::from_ref(&*tree);
            trace::row(&*tree, root, "root", Role::Presence { bits: 47, children: 2 });
            for (mid, children) in mids.iter().zip([2, 1]) {
                let role = Role::Presence { bits: 48, children };
                trace::row(&*tree, std::slice::from_ref(mid), "mid", role);
            }
            trace::row(&*tree, &leaves, "leaf", Role::Filled { bits: 32 });
            leaves[2].store(0b1 << 32 | 0b11, SeqCst);
            mids[1].store(3 << 48 | 1, SeqCst);
            tree.store(u64::MAX, SeqCst);
        });
    });
    assert_eq!(story.objects[0].fans, [2, 2, 1]);
    let values: Vec<_> = story.changes.iter().map(|change| change.2).collect();
    let leaf = Value::Filled { published: 0b11, closed: 0b1 };
    let all = Value::Present { children: (1 << 47) - 1, version: (1 << 17) - 1 };
    assert_eq!(values, [leaf, Value::Present { children: 1, version: 3 }, all]);
    let names: Vec<_> = story.words.iter().map(|word| word.name.as_str()).collect();
    assert_eq!(names, ["A.leaf 2", "A.mid 1", "A.root 0"]);
    let json = serde_json::to_string(&story).unwrap();
    for part in ["\"f3,1\"", "\"v1,3\"", "\"fans\":[2,2,1]"] {
        assert!(json.contains(part), "{part}");
    }
}

#[test]
fn a_program_that_describes_nothing_has_its_memory() {
    let story = story(|| {
        let words = [const { AtomicPtr::new(null_mut::<u8>()) }; 2];
        operation("it", || {
            words.iter().for_each(|word| word.store(null_mut(), Relaxed));
            fence::full();
        });
    });
    assert!(story.objects.is_empty());
    assert_eq!(story.words.len(), 2);
    assert!(story.words.iter().all(|word| word.name.starts_with('w') && word.role == '-'));
    let count = |kind: Kind| story.steps.kinds.matches(kind.letter()).count();
    assert_eq!([Kind::Buffered, Kind::Visible, Kind::Fence].map(count), [2, 2, 1]);
    assert_eq!(story.changes.len(), 2, "a buffered store changes nothing until it is visible");
}

#[test]
fn every_role_has_a_letter_of_its_own() {
    let roles = [
        Role::Link,
        Role::Guard,
        Role::Task,
        Role::Lock,
        Role::Number,
        Role::Place,
        Role::Spare,
        Role::Open,
        Role::Home,
        Role::Seat,
        Role::Owner { bits: 12 },
        Role::Index,
        Role::Count { bits: 16 },
        Role::Bits,
        Role::Presence { bits: 47, children: 2 },
        Role::Filled { bits: 32 },
        Role::Puts { children: 2 },
        Role::Block { bits: 16 },
    ];
    let mut letters = roles.map(|role| role_letter(Some(role))).to_vec();
    letters.push(role_letter(None));
    letters.sort_unstable();
    letters.dedup();
    assert_eq!(letters.len(), roles.len() + 1);
}

fn heading(failure: Option<&str>) -> Heading {
    Heading {
        pool: "a <b> pool".to_owned(),
        about: "it & more".to_owned(),
        machine: "2x2".to_owned(),
        timed: false,
        command: "cantina </script>".to_owned(),
        failure: failure.map(str::to_owned),
    }
}

#[test]
fn a_page_holds_everything_and_asks_for_nothing() {
    let page = page(&heading(None), &story(push_and_pop));
    for part in [
        "a &lt;b&gt; pool",
        "it &amp; more",
        "id=\"story\"",
        "\"A.task\"",
        "default-src &#39;none&#39;",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["http:", "https:", "src=", "@import", "url(", "It failed"] {
        assert!(!page.contains(part), "{part}");
    }
    assert_eq!(page.matches("</script>").count(), 3, "no text ends a script");
}

#[test]
fn a_run_that_fails_says_so_on_its_page() {
    let page = page(&heading(Some("deadlock <1>")), &Story::default());
    assert!(page.contains("<strong>It failed.</strong> deadlock &lt;1&gt;"));
}

#[test]
fn every_kind_of_step_has_its_words_and_its_mark() {
    let [_, _, _, _, _, words, lanes, ..] = SCRIPTS;
    for kind in [
        Kind::Begin,
        Kind::End,
        Kind::Load,
        Kind::Store,
        Kind::Buffered,
        Kind::Visible,
        Kind::Exchanged,
        Kind::Updated,
        Kind::Failed,
        Kind::Read,
        Kind::Write,
        Kind::Fence,
        Kind::LightFence,
        Kind::HeavyFence,
        Kind::Locked,
        Kind::Busy,
        Kind::Unlock,
        Kind::Park,
        Kind::Unpark,
        Kind::Wait,
    ] {
        let case = format!("case \"{}\":", kind.letter());
        let alike = format!("{}: \"", kind.letter());
        assert!(words.contains(&case), "{kind:?} has no words");
        assert!(lanes.contains(&case) || words.contains(&alike), "{kind:?} has no mark");
    }
}
