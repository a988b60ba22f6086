//! Fire and forget: messages to one unit from several threads that are no workers.

use super::{contestant, labour, runtime};
use crate::experiment::Contestant;
use crate::experiment::together::together;
use crate::workload::{Assignment, Fault, Reading, Shape};
use cantina::scheduler::Unit;
use cantina_record::Kind;
use machine::time::{Duration, nanos};

/// The experiment's name in records and on the command line.
pub const NAME: &str = "tell";

/// Senders and workers.
pub const SHAPES: [Shape; 2] = [Shape::new(1, 1), Shape::new(2, 1)];
/// The same of a quick run.
pub const QUICK_SHAPES: [Shape; 1] = [Shape::new(2, 1)];

/// What one receiver counts: how many numbers it was told, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tellings {
    count: u64,
    sum: u64,
}

impl Tellings {
    /// One more.
    #[inline]
    pub fn hear(&mut self, number: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether each of `tasks` numbers came once.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn judge(self, tasks: u64) -> Result<(), Fault> {
        let sum = (0..tasks).fold(0, u64::wrapping_add);
        match self.count {
            fewer if fewer < tasks => Err(Fault::Lost { tasks, missing: tasks - fewer }),
            more if more > tasks => Err(Fault::Repeated { tasks }),
            _ if self.sum != sum => Err(Fault::Changed { tasks }),
            _ => Ok(()),
        }
    }
}

/// Lets every sender of `assignment` send its part of the numbers, which begin with 0. When the first began.
pub fn send_all<S: FnMut(u64) + 'static>(
    assignment: &Assignment,
    sender: impl Fn() -> S + Clone + Send + 'static,
) -> u64 {
    let (tasks, senders) = (assignment.tasks, assignment.shape.producers);
    let begun = together(senders, move |number| {
        let mut send = sender();
        let begun = nanos();
        (number as u64..tasks).step_by(senders).for_each(&mut send);
        begun
    });
    begun.into_iter().min().unwrap_or_else(nanos)
}

/// The scheduler, with handles of both kinds.
pub fn contestants() -> Vec<Contestant> {
    let tells = |assignment: &Assignment| {
        run(assignment, |unit| {
            let unit = unit.clone();
            move |number| unit.tell(move |state| state.hear(number))
        })
    };
    let senders = |assignment: &Assignment| {
        run(assignment, |unit| {
            let sender = unit.sender();
            move |number| sender.tell(move |state| state.hear(number))
        })
    };
    vec![
        contestant("scheduler", Kind::Ours, "a unit that is told", tells),
        contestant("scheduler-sender", Kind::Ours, "a unit that is told by senders", senders),
    ]
}

fn run<S: FnMut(u64) + 'static>(
    assignment: &Assignment,
    sender: impl Fn(&Unit<Tellings>) -> S + Clone + Send + 'static,
) -> Result<Reading, Fault> {
    let tasks = assignment.tasks;
    let runtime = runtime(assignment.shape.consumers);
    let handle = runtime.handle();
    let unit = runtime.unit(Tellings::default());
    let told = unit.clone();
    let begin = send_all(assignment, move || sender(&told));
    // Behind all others: their senders are done.
    let tellings = match unit.send(|state| *state).wait_timeout(assignment.patience) {
        Some(Ok(tellings)) => tellings,
        Some(Err(error)) => return Err(Fault::Panicked { message: error.to_string() }),
        None => return Err(Fault::Lost { tasks, missing: tasks }),
    };
    let elapsed = Duration::from_nanos(nanos() - begin);
    tellings.judge(tasks)?;
    let labour = labour(runtime, &handle);
    Ok(Reading { labour: Some(labour), ..Reading::took(elapsed) })
}

#[cfg(test)]
mod tests {
    use super::{SHAPES, Tellings, contestants};
    use crate::workload::{Assignment, Fault, Payload, Shape};
    use machine::time::Duration;

    #[test]
    fn a_unit_is_told_everything_once() {
        let patience = Duration::from_secs(60);
        for contestant in contestants() {
            for shape in SHAPES.into_iter().chain([Shape::new(3, 2)]) {
                let assignment =
                    Assignment { shape, tasks: 1_001, pin: false, patience, watched: false };
                let reading = (contestant.drive)(Payload::Word, &assignment);
                assert!(reading.is_ok(), "{contestant:?}: {reading:?}");
            }
        }
    }

    #[test]
    fn what_is_lost_repeated_or_changed_is_noticed() {
        let heard = |numbers: &[u64]| {
            let mut tellings = Tellings::default();
            numbers.iter().for_each(|&number| tellings.hear(number));
            tellings.judge(3)
        };
        assert_eq!(heard(&[2, 0, 1]), Ok(()));
        assert_eq!(heard(&[2, 0]), Err(Fault::Lost { tasks: 3, missing: 1 }));
        assert_eq!(heard(&[2, 0, 1, 1]), Err(Fault::Repeated { tasks: 3 }));
        assert_eq!(heard(&[2, 0, 2]), Err(Fault::Changed { tasks: 3 }));
    }
}
