//! Twins of a mutex and a deque, each broken in one way, and the runs that must notice.

use super::{
    Assignment, Batch, Ends, Fault, Get, Line, Make, Parcel, Put, Room, Shape, Single, Subject,
    Tally, run,
};
use crate::registry::{self, Family, Visitor};
use machine::Arc;
use machine::lock::Mutex;
use machine::time::Duration;
use std::collections::VecDeque;
use std::ops::Range;

/// What the pool does to task 77.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// It is not put.
    Lose,
    /// It is put twice.
    Repeat,
    /// It is got again and again.
    RepeatForever,
    /// It is got once more when everything is got and the pool has said that it is empty.
    RepeatLate,
    /// It is put as another task.
    Change,
    /// Task 78 is put twice instead.
    Swap,
    /// Nothing is put from there on: the producer waits for room that never comes.
    Jam,
    /// Putting it panics.
    PanicInPut,
    /// Getting it panics.
    PanicInGet,
    /// Consumers cannot be made.
    PanicInMake,
}

const CHOSEN: u64 = 77;
const TASKS: u64 = 2_000;

struct Twin(Bug);
struct TwinEnd<T> {
    tasks: Arc<Mutex<VecDeque<T>>>,
    bug: Bug,
    said_empty: bool,
}

impl Subject for Twin {
    type Put<T: Parcel> = TwinEnd<T>;
    type Get<T: Parcel> = TwinEnd<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<TwinEnd<T>, TwinEnd<T>> {
        let tasks = Arc::new(Mutex::new(VecDeque::new()));
        let bug = self.0;
        let make = |panics: bool| -> Make<TwinEnd<T>> {
            let tasks = tasks.clone();
            Box::new(move || {
                assert!(!panics, "no more consumers");
                TwinEnd { tasks, bug, said_empty: false }
            })
        };
        Ends {
            put: (0..shape.producers).map(|_| make(false)).collect(),
            get: (0..shape.consumers).map(|_| make(bug == Bug::PanicInMake)).collect(),
            count: Box::new(|| None),
        }
    }
}

impl<T: Parcel> Put<T> for TwinEnd<T> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let put = |number| self.tasks.lock().push_back(T::numbered(number));
            match self.bug {
                _ if number != CHOSEN => put(number),
                Bug::None | Bug::PanicInGet | Bug::PanicInMake => put(number),
                Bug::RepeatForever | Bug::RepeatLate => put(number),
                Bug::Lose => {}
                Bug::Repeat => [number; 2].into_iter().for_each(put),
                Bug::Change => put(1 << 40),
                Bug::Swap => put(number + 1),
                Bug::PanicInPut => panic!("cannot put {number}"),
                Bug::Jam => {
                    if !room.put((), Err) {
                        return;
                    }
                }
            }
        }
    }
}

impl<T: Parcel> Get<T> for TwinEnd<T> {
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.tasks.lock().pop_front() else {
            if self.bug != Bug::RepeatLate || tally.count() != TASKS {
                return false;
            }
            if self.said_empty {
                tally.add(&CHOSEN);
            }
            return std::mem::replace(&mut self.said_empty, true);
        };
        tally.add(&task);
        let chosen = task.number() == CHOSEN;
        assert!(!(chosen && self.bug == Bug::PanicInGet), "cannot get it");
        if chosen && self.bug == Bug::RepeatForever {
            self.tasks.lock().push_front(task);
        }
        true
    }
}

fn assignment(producers: usize, consumers: usize) -> Assignment {
    Assignment {
        shape: Shape { producers, consumers },
        tasks: TASKS,
        pin: false,
        patience: Duration::from_secs(30),
        watched: false,
    }
}

fn fault_of(bug: Bug) -> Vec<Option<Fault>> {
    // Tasks that never come are waited for; the others are not held up on a busy machine.
    let patience = match bug {
        Bug::Lose | Bug::Jam => Duration::from_millis(300),
        _ => Duration::from_secs(30),
    };
    let shapes = [(1, 1), (2, 2), (1, 3), (3, 1)];
    let runs = shapes.map(|(producers, consumers)| {
        let assignment = Assignment { patience, ..assignment(producers, consumers) };
        run::<u64, _>(&Twin(bug), &assignment)
    });
    runs.map(Result::err).to_vec()
}

#[test]
fn a_right_pool_gives_a_reading() {
    assert_eq!(fault_of(Bug::None), [None, None, None, None]);
    let reading = run::<Line, _>(&Twin(Bug::None), &assignment(2, 2)).unwrap();
    assert!(reading.elapsed > Duration::ZERO && reading.put_elapsed > Duration::ZERO);
    assert!(!reading.pinned);
}

#[test]
fn a_lost_task_is_reported() {
    let fault = Some(Fault::Lost { tasks: TASKS, missing: 1 });
    assert_eq!(fault_of(Bug::Lose), vec![fault; 4]);
}

#[test]
fn a_task_that_comes_twice_is_reported() {
    assert_eq!(fault_of(Bug::Repeat), vec![Some(Fault::Repeated { tasks: TASKS }); 4]);
    assert_eq!(fault_of(Bug::RepeatForever), vec![Some(Fault::Repeated { tasks: TASKS }); 4]);
}

#[test]
fn a_task_that_comes_again_after_all_were_got_is_reported() {
    let faults = fault_of(Bug::RepeatLate);
    assert_eq!(faults[0], Some(Fault::Repeated { tasks: TASKS }));
}

#[test]
fn a_changed_task_is_reported() {
    assert_eq!(fault_of(Bug::Change), vec![Some(Fault::Changed { tasks: TASKS }); 4]);
    assert_eq!(fault_of(Bug::Swap), vec![Some(Fault::Changed { tasks: TASKS }); 4]);
}

#[test]
fn a_producer_that_never_finds_room_is_told_to_stop() {
    let faults = fault_of(Bug::Jam);
    assert!(faults.iter().all(|fault| matches!(fault, Some(Fault::Lost { .. }))), "{faults:?}");
}

#[test]
fn a_panic_ends_the_run_and_is_told() {
    for (bug, expected) in [
        (Bug::PanicInPut, "cannot put 77"),
        (Bug::PanicInGet, "cannot get it"),
        (Bug::PanicInMake, "no more consumers"),
    ] {
        let message = Fault::Panicked { message: expected.to_owned() };
        assert_eq!(fault_of(bug), vec![Some(message); 4]);
    }
}

#[test]
fn pinned_threads_are_said_to_be_pinned() {
    let pinned = Assignment { pin: true, ..assignment(2, 1) };
    let reading = run::<u64, _>(&Twin(Bug::None), &pinned).unwrap();
    let possible = machine::thread::spawn(|| {
        let core = machine::Topology::detect().cores().next();
        core.is_some_and(|core| machine::thread::pin_to(core).is_ok())
    });
    assert_eq!(reading.pinned, possible.join().unwrap());
}

#[test]
fn every_registered_pool_runs_one_by_one_and_in_batches() {
    struct Run;
    impl Visitor for Run {
        fn visit<F: Family>(&mut self, family: F) {
            for (producers, consumers) in [(1, 1), (2, 2), (1, 3), (3, 1)] {
                let assignment = &assignment(producers, consumers);
                run::<u64, _>(&Single(family.clone()), assignment).unwrap();
                run::<Line, _>(&Single(family.clone()), assignment).unwrap();
                run::<u64, _>(&Batch(family.clone()), assignment).unwrap();
                run::<Line, _>(&Batch(family.clone()), assignment).unwrap();
            }
        }
    }
    registry::visit_all(&mut Run);
}
