//! Workers that share work which makes more work, and come to an end.

use cantina::rooms::WorkStack;
use cantina_effort::scenario::Scenario;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::park::Parker;
use machine::{Arc, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// All of them.
pub(crate) const ALL: [Scenario; 8] = [
    ("nothing is the end", nothing_is_the_end),
    ("two share one task", two_share_one_task),
    ("two share what becomes more", two_share_what_becomes_more),
    ("one worker panics", one_worker_panics),
    ("the last one goes", || the_last_one_goes(false)),
    ("the last one goes by a panic", || the_last_one_goes(true)),
    ("work comes while one waits", work_comes_while_one_waits),
    ("one who waits is woken for a task", one_who_waits_is_woken_for_a_task),
];

/// With more threads: too long for every schedule.
#[allow(dead_code, reason = "loom does not run them")]
pub(crate) const CROWDS: [Scenario; 4] = [
    ("three share what becomes more", three_share_what_becomes_more),
    ("three share what one returns", three_share_what_one_returns),
    ("two who wait have batches together", two_who_wait_have_batches_together),
    ("two take all of many chunks", two_take_all_of_many_chunks),
];

/// Work, and what is done of it.
#[derive(Clone)]
struct Job {
    work: WorkStack<usize>,
    done: Arc<AtomicUsize>,
}

impl Job {
    fn new(tasks: impl IntoIterator<Item = usize>) -> Self {
        let work = WorkStack::new();
        work.push_all(tasks);
        Self { work, done: Arc::new(AtomicUsize::new(0)) }
    }

    /// Works until the end, one task of each batch, of which each becomes two that are less, and finds then that so many are done.
    fn work(&self, max: usize, all: usize) {
        while let Some(mut batch) = self.work.borrow(max) {
            let task = batch.pop().expect("a batch has tasks");
            if task > 0 {
                batch.extend([task - 1; 2]);
            }
            self.done.fetch_add(1, SeqCst);
        }
        assert_eq!(self.done.load(SeqCst), all, "it is not the end");
    }

    /// So many workers, us included.
    fn share(self, workers: usize, max: usize, all: usize) {
        let others: Vec<_> = (1..workers)
            .map(|_| {
                let job = self.clone();
                thread::spawn(move || job.work(max, all))
            })
            .collect();
        self.work(max, all);
        others.into_iter().for_each(|other| other.join().unwrap());
        assert_eq!((self.work.len_hint(), self.work.lent(), self.work.waiting()), (0, 0, 0));
    }
}

fn nothing_is_the_end() {
    Job::new([]).share(2, 1, 0);
}

fn two_share_one_task() {
    Job::new([0]).share(2, 1, 1);
}

fn two_share_what_becomes_more() {
    Job::new([1]).share(2, 2, 3);
}

fn three_share_what_becomes_more() {
    Job::new([1]).share(3, 1, 3);
}

/// Two sleep, and both have something to do when the batch comes back: one is woken by who returns it, and one after the other.
fn three_share_what_one_returns() {
    let job = Job::new([0, 0, 0]);
    let batch = job.work.borrow(3).unwrap();
    let others = [(); 2].map(|()| {
        let job = job.clone();
        thread::spawn(move || job.work(1, 3))
    });
    drop(batch);
    job.work(1, 3);
    others.into_iter().for_each(|other| other.join().unwrap());
}

/// The task that it has at hand is lost, the others are not.
fn one_worker_panics() {
    let job = Job::new([0, 0, 0]);
    let theirs = job.clone();
    let other = thread::spawn(move || {
        let panic = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut batch) = theirs.work.borrow(2) else { return };
            batch.pop();
            theirs.done.fetch_add(1, SeqCst);
            std::panic::resume_unwind(Box::new("a worker's"));
        }));
        drop(panic);
    });
    job.work(1, 3);
    other.join().unwrap();
    assert_eq!(job.work.lent(), 0);
}

/// Who returns the last batch, with nothing in it, does not come again.
fn the_last_one_goes(panics: bool) {
    let job = Job::new([5]);
    let mut batch = job.work.borrow(1).unwrap();
    let theirs = job.clone();
    let other = thread::spawn(move || theirs.work(1, 1));
    batch.clear();
    job.done.fetch_add(1, SeqCst);
    let goes = AssertUnwindSafe(move || {
        let _batch = batch;
        if panics {
            std::panic::resume_unwind(Box::new("a worker's"));
        }
    });
    assert_eq!(catch_unwind(goes).is_err(), panics);
    other.join().unwrap();
}

/// Somebody who has a batch shares it before it returns it.
fn work_comes_while_one_waits() {
    let job = Job::new([5]);
    let batch = job.work.borrow(1).unwrap();
    let theirs = job.clone();
    let other = thread::spawn(move || theirs.work(1, 2));
    job.work.push(0);
    job.work.push(0);
    let mut batch = batch;
    batch.clear();
    drop(batch);
    job.work(1, 2);
    other.join().unwrap();
}

fn one_who_waits_is_woken_for_a_task() {
    have_batches_together(1);
}

fn two_who_wait_have_batches_together() {
    have_batches_together(2);
}

/// So many wait, and are woken for a task each while we have a batch: each keeps its own until all have one.
fn have_batches_together(workers: usize) {
    let job = Job::new([5]);
    let mut batch = job.work.borrow(1).unwrap();
    let all_have_one = Parker::new();
    let (others, go_on): (Vec<_>, Vec<_>) = (0..workers)
        .map(|_| {
            let (job, has_one, go_on) = (job.clone(), all_have_one.unparker(), Parker::new());
            let tell = go_on.unparker();
            let other = thread::spawn(move || {
                let mut batch = job.work.borrow(1).expect("somebody has a batch");
                job.done.fetch_add(1, SeqCst);
                has_one.unpark();
                go_on.park();
                batch.clear();
            });
            (other, tell)
        })
        .unzip();
    job.work.push_all((0..workers).map(|_| 0));
    while job.done.load(SeqCst) < workers {
        all_have_one.park();
    }
    go_on.into_iter().for_each(|other| other.unpark());
    batch.clear();
    drop(batch);
    others.into_iter().for_each(|other| other.join().unwrap());
    job.work(1, workers);
}

/// So large that the first chunk has room for one: who takes tasks has chunks to free.
fn two_take_all_of_many_chunks() {
    const TASKS: usize = 8;
    let work = WorkStack::<[usize; 256]>::new();
    work.push_all((0..TASKS).map(|task| [task; 256]));
    let take_half = |work: &WorkStack<[usize; 256]>| -> usize {
        let mut batch = work.borrow(TASKS / 2).expect("half of them");
        batch.drain(..).map(|task| task[255]).sum()
    };
    let theirs = work.clone();
    let other = thread::spawn(move || take_half(&theirs));
    let sum = take_half(&work) + other.join().unwrap();
    assert_eq!(sum, TASKS * (TASKS - 1) / 2);
}
