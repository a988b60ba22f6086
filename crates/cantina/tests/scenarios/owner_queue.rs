//! Ownership of a queue.

use cantina::owner_queue::{Owner, OwnerQueue};
use cantina_effort::scenario::Scenario;
use machine::atomic::{AtomicUsize, Ordering::Relaxed};
use machine::cell::UnsafeCell;
use machine::{Arc, thread};

/// Those that come out right.
pub(crate) const ALL: [Scenario; 8] = [
    ("work on two items never overlaps", work_on_two_items_never_overlaps),
    ("an emptied node is used again", an_emptied_node_is_used_again),
    ("an item meets the last of the queue", an_item_meets_the_last_of_the_queue),
    ("an owner goes and an item comes", an_owner_goes_and_an_item_comes),
    ("an owner of nothing goes and an item comes", an_owner_of_nothing_goes_and_an_item_comes),
    ("one of two adopts what was left", one_of_two_adopts_what_was_left),
    ("an owner moves", an_owner_moves),
    ("items that are left are dropped once", items_that_are_left_are_dropped_once),
];

/// What only an owner touches: a model reports two at a time, and one that does not see what the last one did.
#[derive(Default)]
struct State(UnsafeCell<Vec<usize>>);

// SAFETY: what the queue promises, and what is tried here.
unsafe impl Sync for State {}

impl State {
    fn note(&self, item: usize) {
        // SAFETY: the caller owns the queue.
        self.0.with_mut(|seen| unsafe { (*seen).push(item) });
    }

    fn seen(&self) -> Vec<usize> {
        // SAFETY: as above.
        self.0.with(|seen| unsafe { (*seen).clone() })
    }
}

fn work_off(owner: Option<Owner<usize>>, state: &State) {
    owner.into_iter().for_each(|owner| owner.run(|item| state.note(item)));
}

/// The queue is empty and nobody's.
fn is_idle(queue: &OwnerQueue<usize>) {
    assert!(queue.try_own().is_none());
    let (last, owner) = queue.enqueue(9).expect("nobody owns it").next().expect("one item");
    assert_eq!(last, 9);
    assert!(owner.next().is_none());
}

/// Two threads that each add items and work off what they own.
fn two_add(items: [&'static [usize]; 2]) {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let mut producer = theirs.0.producer();
        items[1].iter().for_each(|&item| work_off(producer.enqueue(item), &theirs.1));
    });
    let mut producer = shared.0.producer();
    items[0].iter().for_each(|&item| work_off(producer.enqueue(item), &shared.1));
    other.join().unwrap();
    is_idle(&shared.0);
    let seen = shared.1.seen();
    for items in items {
        let of_one: Vec<usize> = seen.iter().copied().filter(|item| items.contains(item)).collect();
        assert_eq!(of_one, items, "first in, first out: {seen:?}");
    }
    assert_eq!(seen.len(), items[0].len() + items[1].len());
}

/// Ownership goes to and fro.
pub(crate) fn work_on_two_items_never_overlaps() {
    two_add([&[1, 2], &[11]]);
}

/// An owner gives a node back, and a producer fills it.
pub(crate) fn an_emptied_node_is_used_again() {
    let shared = Arc::new((OwnerQueue::recycling(1), State::default()));
    let owner = shared.0.enqueue(1);
    let theirs = shared.clone();
    let other = thread::spawn(move || {
        let mut producer = theirs.0.producer();
        work_off(producer.enqueue(2), &theirs.1);
    });
    work_off(owner, &shared.1);
    other.join().unwrap();
    assert_eq!(shared.1.seen(), [1, 2]);
}

/// An owner comes to the end while another item comes.
pub(crate) fn an_item_meets_the_last_of_the_queue() {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let owner = shared.0.enqueue(1);
    let theirs = shared.clone();
    let other = thread::spawn(move || work_off(theirs.0.enqueue(2), &theirs.1));
    work_off(owner, &shared.1);
    other.join().unwrap();
    is_idle(&shared.0);
    assert_eq!(shared.1.seen(), [1, 2]);
}

/// An owner goes, with an item left that it has taken off the word, while another item comes.
pub(crate) fn an_owner_goes_and_an_item_comes() {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let owner = shared.0.enqueue(1).expect("nobody owns it");
    assert!(shared.0.enqueue(2).is_none());
    let (first, owner) = owner.next().expect("two items");
    shared.1.note(first);
    let theirs = shared.clone();
    let other = thread::spawn(move || work_off(theirs.0.enqueue(3), &theirs.1));
    drop(owner);
    other.join().unwrap();
    work_off(shared.0.try_own(), &shared.1);
    is_idle(&shared.0);
    assert_eq!(shared.1.seen(), [1, 2, 3]);
}

/// An owner that has found the last item goes, while another item comes: it is not left alone in an idle queue.
pub(crate) fn an_owner_of_nothing_goes_and_an_item_comes() {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let (first, owner) = shared.0.enqueue(1).expect("nobody owns it").next().expect("one item");
    shared.1.note(first);
    let theirs = shared.clone();
    let other = thread::spawn(move || work_off(theirs.0.enqueue(2), &theirs.1));
    drop(owner);
    other.join().unwrap();
    work_off(shared.0.try_own(), &shared.1);
    is_idle(&shared.0);
    assert_eq!(shared.1.seen(), [1, 2]);
}

/// Two want what an owner has left, and is leaving.
pub(crate) fn one_of_two_adopts_what_was_left() {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let owner = shared.0.enqueue(1).expect("nobody owns it");
    assert!(shared.0.enqueue(2).is_none());
    let (first, owner) = owner.next().expect("two items");
    shared.1.note(first);
    let theirs = shared.clone();
    let other = thread::spawn(move || work_off(theirs.0.try_own(), &theirs.1));
    drop(owner);
    work_off(shared.0.try_own(), &shared.1);
    other.join().unwrap();
    is_idle(&shared.0);
    assert_eq!(shared.1.seen(), [1, 2]);
}

/// The owner moves to another thread, which is seen to have done its work by the next owner.
pub(crate) fn an_owner_moves() {
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let owner = shared.0.enqueue(1).expect("nobody owns it");
    shared.1.note(0);
    let theirs = shared.clone();
    let other = thread::spawn(move || work_off(Some(owner), &theirs.1));
    work_off(shared.0.enqueue(2), &shared.1);
    other.join().unwrap();
    is_idle(&shared.0);
    assert_eq!(shared.1.seen(), [0, 1, 2]);
}

/// Two handles go at once, one of them after adding an item, and another item is left.
pub(crate) fn items_that_are_left_are_dropped_once() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let drops = Arc::new(AtomicUsize::new(0));
    let queue = OwnerQueue::new();
    drop(queue.enqueue(Counted(drops.clone())));
    let (theirs, item) = (queue.clone(), Counted(drops.clone()));
    let other = thread::spawn(move || drop(theirs.enqueue(item)));
    drop(queue);
    other.join().unwrap();
    assert_eq!(drops.load(Relaxed), 2);
}

/// The paper's `deq_and_is_empty`: ownership ends when the last item is taken, and that one is worked on after it.
#[allow(dead_code, reason = "a trap, for those who show that they find it")]
pub(crate) fn the_last_item_is_worked_on_after_the_end() {
    fn literally(owner: Option<Owner<usize>>, state: &State) {
        let mut next = owner.and_then(Owner::next);
        while let Some((item, owner)) = next {
            next = owner.next();
            state.note(item);
        }
    }
    let shared = Arc::new((OwnerQueue::new(), State::default()));
    let theirs = shared.clone();
    let other = thread::spawn(move || literally(theirs.0.enqueue(2), &theirs.1));
    literally(shared.0.enqueue(1), &shared.1);
    other.join().unwrap();
    assert_eq!(shared.1.seen().len(), 2);
}
