//! The paper's queue, a counter beside a list, with its traps built in one at a time.

use cantina::owner_queue::OwnerQueue;
use machine::atomic::Ordering::SeqCst;
use machine::atomic::{AtomicBool, AtomicUsize};
use machine::lock::Mutex;
use machine::{Arc, thread};
use std::collections::VecDeque;
use std::panic::resume_unwind;

/// What is done in the wrong order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Nothing: link, count; unlink, work, uncount.
    Right,
    /// Unlink, uncount, work.
    WorkLast,
    /// Count, link.
    CountFirst,
    /// Uncount, unlink.
    UncountFirst,
    /// A place in the list is taken in one step and filled in another.
    Gap,
}

/// A counter and a list.
#[derive(Default)]
struct Counted {
    /// `None`: a place that is not filled yet.
    list: Mutex<VecDeque<Option<usize>>>,
    count: AtomicUsize,
    working: AtomicBool,
    worked: AtomicUsize,
}

impl Counted {
    fn link(&self, item: usize, way: Way) {
        if way == Way::Gap {
            let place = {
                let mut list = self.list.lock();
                list.push_back(None);
                self.worked.load(SeqCst) + list.len()
            };
            thread::yield_now();
            let mut list = self.list.lock();
            let gone = self.worked.load(SeqCst);
            list[place - gone - 1] = Some(item);
        } else {
            self.list.lock().push_back(Some(item));
        }
    }

    /// Whether the caller is the owner.
    fn enqueue(&self, item: usize, way: Way) -> bool {
        if way == Way::CountFirst {
            let first = self.count.fetch_add(1, SeqCst) == 0;
            self.link(item, way);
            first
        } else {
            self.link(item, way);
            self.count.fetch_add(1, SeqCst) == 0
        }
    }

    fn unlink(&self) {
        let mut list = self.list.lock();
        assert!(matches!(list.front(), Some(Some(_))), "the owner finds nothing");
        list.pop_front();
        self.worked.fetch_add(1, SeqCst);
    }

    fn work(&self) {
        assert!(!self.working.swap(true, SeqCst), "two at work");
        self.worked.load(SeqCst);
        self.working.store(false, SeqCst);
    }

    /// Whether that was the last.
    fn uncount(&self) -> bool {
        self.count.fetch_sub(1, SeqCst) == 1
    }

    fn own(&self, way: Way) {
        loop {
            let last = match way {
                Way::WorkLast => {
                    self.unlink();
                    let last = self.uncount();
                    self.work();
                    last
                }
                Way::UncountFirst => {
                    self.work();
                    let last = self.uncount();
                    self.exclusively_unlink();
                    last
                }
                _ => {
                    self.unlink();
                    self.work();
                    self.uncount()
                }
            };
            if last {
                return;
            }
        }
    }

    /// Unlinks, and finds out whether somebody else does at the same time.
    fn exclusively_unlink(&self) {
        assert!(!self.working.swap(true, SeqCst), "two at work");
        self.unlink();
        self.working.store(false, SeqCst);
    }
}

/// What it panics with is what goes wrong.
fn joined(thread: thread::JoinHandle<()>) {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// Three threads that add two items each, and work off what they own.
pub(crate) fn counted(way: Way) {
    let queue = Arc::new(Counted::default());
    let add = move |queue: &Counted| {
        for item in 0..2 {
            if queue.enqueue(item, way) {
                queue.own(way);
            }
        }
    };
    let others = [0, 1].map(|_| {
        let theirs = queue.clone();
        thread::spawn(move || add(&theirs))
    });
    add(&queue);
    others.into_iter().for_each(joined);
    assert_eq!(queue.worked.load(SeqCst), 6);
    assert_eq!(queue.count.load(SeqCst), 0);
}

/// Two add to the counter and the list: when an enqueue and what its caller owns are done, its item has been worked
/// on or somebody owns it.
pub(crate) fn an_item_is_owned_when_its_enqueue_returns() {
    let queue = Arc::new(Counted::default());
    let theirs = queue.clone();
    let add = |queue: &Counted, item| {
        if queue.enqueue(item, Way::Right) {
            queue.own(Way::Right);
        }
        let list = queue.list.lock();
        let is_there = list.contains(&Some(item));
        assert!(!is_there || queue.count.load(SeqCst) > 0, "nobody owns it");
    };
    let other = thread::spawn(move || add(&theirs, 2));
    add(&queue, 1);
    joined(other);
}

/// The same of a queue whose link and count are one exchange.
pub(crate) fn an_item_of_ours_is_owned_when_its_enqueue_returns() {
    let queue = OwnerQueue::new();
    let worked = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let add = |queue: &OwnerQueue<usize>, worked: &[AtomicBool; 2], item: usize| {
        if let Some(owner) = queue.enqueue(item) {
            owner.run(|item| worked[item].store(true, SeqCst));
        }
        let is_owned = format!("{queue:?}").contains("owned");
        assert!(is_owned || worked[item].load(SeqCst), "nobody owns it");
    };
    let theirs = (queue.clone(), worked.clone());
    let other = thread::spawn(move || add(&theirs.0, &theirs.1, 1));
    add(&queue, &worked, 0);
    joined(other);
}

/// Two wait for a value whose waiters are in a counter and a list, and one fills it. As it should be, the value counts as
/// one that waits until it is there, so that nobody owns the list before.
pub(crate) fn a_value_wakes_its_waiters(counts_itself: bool) {
    let waiters = Arc::new(Counted::default());
    waiters.count.store(usize::from(counts_itself), SeqCst);
    let is_there = Arc::new(AtomicBool::new(false));
    let others = [0, 1].map(|waiter| {
        let (waiters, is_there) = (waiters.clone(), is_there.clone());
        thread::spawn(move || {
            if waiters.enqueue(waiter, Way::Right) {
                assert!(is_there.load(SeqCst), "woken before the value is there");
                waiters.own(Way::Right);
            }
        })
    });
    is_there.store(true, SeqCst);
    let some_wait = if counts_itself { !waiters.uncount() } else { waiters.count.load(SeqCst) > 0 };
    if some_wait {
        waiters.own(Way::Right);
    }
    others.into_iter().for_each(joined);
    assert_eq!(waiters.worked.load(SeqCst), 2);
}

/// An argument that somebody brings, and that an operation may wait for.
#[derive(Default)]
struct Brought {
    is_waited_for: AtomicBool,
    is_there: AtomicBool,
    is_told: AtomicBool,
}

/// An operation that waits for two arguments, one told behind the other.
#[derive(Default)]
struct Joined {
    arguments: [Brought; 2],
    missing: AtomicUsize,
    begun: AtomicUsize,
}

impl Joined {
    fn one_less(&self) {
        if self.missing.fetch_sub(1, SeqCst) == 1 {
            let are_there = self.arguments.iter().all(|each| each.is_there.load(SeqCst));
            assert!(are_there, "begun before its arguments are there");
            self.begun.fetch_add(1, SeqCst);
        }
    }

    /// Whoever comes second, the one that waits or the one that brings, tells the operation.
    fn tell(&self, argument: &Brought) {
        let both = argument.is_waited_for.load(SeqCst) && argument.is_there.load(SeqCst);
        if both && !argument.is_told.swap(true, SeqCst) {
            self.one_less();
        }
    }

    fn wait_for(&self, argument: &Brought) {
        self.missing.fetch_add(1, SeqCst);
        argument.is_waited_for.store(true, SeqCst);
        self.tell(argument);
    }

    fn bring(&self, argument: &Brought) {
        argument.is_there.store(true, SeqCst);
        self.tell(argument);
    }
}

/// An operation is told of its arguments while they are brought, with a guard on its count or without.
pub(crate) fn an_operation_begins_once(is_guarded: bool) {
    let operation = Arc::new(Joined::default());
    operation.missing.store(usize::from(is_guarded), SeqCst);
    let theirs = operation.clone();
    let brings = thread::spawn(move || theirs.arguments.iter().for_each(|each| theirs.bring(each)));
    operation.arguments.iter().for_each(|each| operation.wait_for(each));
    if is_guarded {
        operation.one_less();
    }
    joined(brings);
    assert_eq!(operation.begun.load(SeqCst), 1, "not begun once");
}
