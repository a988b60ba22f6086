//! Hazard pointers.

use cantina::reclaim::{Domain, Participant};
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicPtr;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use machine::{Arc, thread};
use std::ptr::{self, NonNull};

/// All of them.
pub(crate) const ALL: [Scenario; 5] = [
    ("a node is freed after the last look", a_node_is_freed_after_the_last_look),
    ("an announcement ends the one before", an_announcement_ends_the_one_before),
    ("a seat is handed on with its nodes", a_seat_is_handed_on_with_its_nodes),
    ("a seat is for one", a_seat_is_for_one),
    ("a node that came back is seen whole", a_node_that_came_back_is_seen_whole),
];

/// A node whose contents a model watches: freeing it is a write.
struct Node(UnsafeCell<u64>);

type Source = (AtomicPtr<Node>, Domain<Node, 1>);

fn node(value: u64) -> *mut Node {
    let node = Box::new(Node(UnsafeCell::new(0)));
    // SAFETY: nobody else knows it. A model counts it as a write, which a new cell is not.
    node.0.with_mut(|cell| unsafe { *cell = value });
    Box::into_raw(node)
}

/// # Safety
/// The node came from [`node`], and nobody looks at it.
unsafe fn free(node: NonNull<Node>) {
    // SAFETY: the caller's.
    let node = unsafe { Box::from_raw(node.as_ptr()) };
    // SAFETY: as above.
    node.0.with_mut(|value| unsafe { *value = 0 });
}

fn source(value: u64, batch: usize) -> Arc<Source> {
    // SAFETY: nodes are boxes and may be freed anywhere.
    Arc::new((AtomicPtr::new(node(value)), unsafe { Domain::new(batch, free) }))
}

fn join(source: &Source) -> Participant<Node, 1> {
    // SAFETY: every participant here ends before the source does.
    unsafe { source.1.join() }
}

/// What the node holds that `source` names, if it names one.
fn look(source: &Source, participant: &mut Participant<Node, 1>) -> Option<u64> {
    let node = NonNull::new(participant.protect(0, &source.0))?;
    // SAFETY: protected.
    Some(unsafe { node.as_ref() }.0.with(|value| unsafe { *value }))
}

/// Puts `new` in the place of the node that `source` names, and retires that.
fn replace(source: &Source, participant: &mut Participant<Node, 1>, new: *mut Node) {
    let old = NonNull::new(source.0.swap(new, AcqRel));
    // SAFETY: the swap has unlinked it, and only here are nodes unlinked.
    old.into_iter().for_each(|old| unsafe { participant.retire(&source.1, old) });
}

fn end(source: Arc<Source>) {
    // SAFETY: unlinked nowhere, and nobody is left to look.
    NonNull::new(source.0.load(Relaxed)).into_iter().for_each(|node| unsafe { free(node) });
}

/// One looks and takes the announcement back, while another unlinks the node and retires it.
pub(crate) fn a_node_is_freed_after_the_last_look() {
    let source = source(7, 1);
    let theirs = source.clone();
    let looks = thread::spawn(move || {
        let mut participant = join(&theirs);
        let seen = look(&theirs, &mut participant);
        participant.clear(0);
        seen
    });
    let mut participant = join(&source);
    replace(&source, &mut participant, ptr::null_mut());
    // SAFETY: the domain it joined.
    unsafe { participant.leave(&source.1) };
    assert!(looks.join().unwrap().is_none_or(|value| value == 7));
    end(source);
}

/// One looks at a node and at the one that takes its place, in the same slot.
pub(crate) fn an_announcement_ends_the_one_before() {
    let source = source(7, 1);
    let theirs = source.clone();
    let mut participant = join(&theirs);
    let looks = thread::spawn(move || {
        let seen = [look(&theirs, &mut participant), look(&theirs, &mut participant)];
        assert!(seen == [Some(7); 2] || seen == [Some(7), Some(8)] || seen == [Some(8); 2]);
        // The participant goes first: it must not outlive the domain.
        drop(participant);
    });
    let mut participant = join(&source);
    replace(&source, &mut participant, node(8));
    // A second scan, after the announcement may have moved on.
    // SAFETY: the domain it joined.
    unsafe { participant.leave(&source.1) };
    looks.join().unwrap();
    end(source);
}

/// Two that come and go at once, one perhaps in the other's seat, with nodes left to free.
pub(crate) fn a_seat_is_handed_on_with_its_nodes() {
    let source = source(1, 8);
    let theirs = source.clone();
    let other = thread::spawn(move || {
        let mut participant = join(&theirs);
        replace(&theirs, &mut participant, node(2));
    });
    let mut participant = join(&source);
    replace(&source, &mut participant, node(3));
    // SAFETY: the domain it joined.
    unsafe { participant.leave(&source.1) };
    other.join().unwrap();
    end(source);
}

/// Two that come at once find the same seat free.
pub(crate) fn a_seat_is_for_one() {
    let source = source(1, 8);
    drop(join(&source));
    let theirs = source.clone();
    let other = thread::spawn(move || {
        let mut participant = join(&theirs);
        replace(&theirs, &mut participant, node(2));
    });
    let mut participant = join(&source);
    replace(&source, &mut participant, node(3));
    other.join().unwrap();
    drop(participant);
    end(source);
}

/// A node that is not freed but used again.
struct Reused {
    value: UnsafeCell<u64>,
    spare: Arc<AtomicPtr<Reused>>,
}

/// # Safety
/// Nobody looks at the node.
unsafe fn set_aside(node: NonNull<Reused>) {
    // SAFETY: it is a node.
    unsafe { node.as_ref() }.spare.store(node.as_ptr(), Release);
}

/// One is about to announce a node while it is unlinked, retired, changed and linked again.
pub(crate) fn a_node_that_came_back_is_seen_whole() {
    let spare = Arc::new(AtomicPtr::new(ptr::null_mut()));
    let node = Box::into_raw(Box::new(Reused { value: UnsafeCell::new(7), spare: spare.clone() }));
    // SAFETY: nodes may be set aside anywhere.
    let domain: Domain<Reused, 1> = unsafe { Domain::new(1, set_aside) };
    let source = Arc::new((AtomicPtr::new(node), domain));
    let theirs = source.clone();
    let looks = thread::spawn(move || {
        // SAFETY: it goes before the domain does.
        let mut participant = unsafe { theirs.1.join() };
        if let Some(node) = NonNull::new(participant.protect(0, &theirs.0)) {
            // SAFETY: protected.
            let value = unsafe { node.as_ref() }.value.with(|value| unsafe { *value });
            assert!(value == 7 || value == 8);
        }
    });
    // SAFETY: it goes before the domain does.
    let mut participant = unsafe { source.1.join() };
    let old = NonNull::new(source.0.swap(ptr::null_mut(), AcqRel)).unwrap();
    // SAFETY: just unlinked.
    unsafe { participant.retire(&source.1, old) };
    if let Some(node) = NonNull::new(spare.swap(ptr::null_mut(), Acquire)) {
        // SAFETY: set aside: nobody looks at it.
        unsafe { node.as_ref() }.value.with_mut(|value| unsafe { *value = 8 });
        source.0.store(node.as_ptr(), Release);
    }
    looks.join().unwrap();
    // SAFETY: the domain it joined.
    unsafe { participant.leave(&source.1) };
    // SAFETY: the one node, linked or set aside, and nobody is left to look.
    drop(unsafe { Box::from_raw(node) });
}
