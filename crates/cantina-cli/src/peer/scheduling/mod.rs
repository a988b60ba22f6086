//! Other people's schedulers, in the experiments of schedulers: who they are, and how much processor time a run takes.

#[cfg(feature = "actors")]
mod actors;
mod database;
mod fork;
mod threads;
mod tokio;
mod xtra;

use super::version_of;
use cantina_lab::experiment::scheduling::{contestant, ddb, fib, tell};
use cantina_lab::experiment::{Contestant, Shapes};
use cantina_lab::workload::{Assignment, Fault, Reading};
use cantina_record::Kind;
use std::time::{Duration, Instant};

/// Somebody else's scheduler in one experiment, in one way of using it.
#[derive(Debug)]
pub(crate) struct Scheduler {
    /// Its name in records and on the command line.
    pub(crate) name: &'static str,
    /// What it is and how it is used, in one line without a full stop.
    pub(crate) about: &'static str,
    /// The crate's name, as of any [`Peer`](super::Peer).
    pub(super) package: &'static str,
    /// The experiment it takes part in.
    pub(crate) experiment: &'static str,
    shapes: Shapes,
    /// Runs it, with so much work in each operation where the experiment has that.
    run: fn(&Assignment, u64) -> Result<Reading, Fault>,
}

impl Scheduler {
    /// The version this program was built with, if it is known.
    pub(crate) fn version(&self) -> Option<&'static str> {
        version_of(self.package)
    }

    /// Whose it is.
    pub(crate) fn kind(&self) -> Kind {
        super::kind_of(self.package)
    }

    fn contestant(&'static self, work: u64) -> Contestant {
        let run = move |assignment: &Assignment| (self.run)(assignment, work);
        Contestant {
            version: self.version().map(str::to_owned),
            shapes: self.shapes,
            ..contestant(self.name, self.kind(), self.about, run)
        }
    }
}

static FIB: [Scheduler; 6] =
    [fork::SEQUENTIAL, tokio::FIB, fork::RAYON_SCOPE, fork::RAYON_JOIN, fork::CHILI, fork::FORTE];

#[cfg(not(feature = "actors"))]
static DDB: [Scheduler; 3] = [threads::DDB, tokio::DDB, xtra::DDB];
#[cfg(feature = "actors")]
static DDB: [Scheduler; 6] =
    [threads::DDB, tokio::DDB, xtra::DDB, actors::ACTIX, actors::KAMEO, actors::RACTOR];

static TELL: [Scheduler; 3] = [threads::MUTEX, threads::CHANNEL, tokio::TELL];

/// All of them, experiment by experiment.
pub(crate) fn all() -> impl Iterator<Item = &'static Scheduler> {
    FIB.iter().chain(&DDB).chain(&TELL)
}

/// Whether a peer takes part only where it was named: what it leaves running would be measured with the others.
pub(crate) fn is_left_out(name: &str) -> bool {
    name == fork::FORTE.name
}

/// Who would take part in an experiment and does not, and why.
pub(crate) fn absent(experiment: &str) -> Vec<(&'static str, &'static str)> {
    let named =
        "takes part if it is named with --pools: its threads stay beside what is measured after it";
    match experiment {
        fib::NAME => vec![(fork::FORTE.name, named)],
        #[cfg(not(feature = "actors"))]
        ddb::NAME => ["actix", "kameo", "ractor"]
            .map(|name| (name, "not built in: --features actors"))
            .to_vec(),
        _ => Vec::new(),
    }
}

/// Everybody who takes part in an experiment of schedulers, ours first, with each of its parameters.
pub(crate) fn contestants(experiment: &str, parameters: &[u64]) -> Vec<Contestant> {
    let ours = match experiment {
        fib::NAME => fib::contestants(parameters),
        ddb::NAME => ddb::contestants(),
        _ => tell::contestants(),
    };
    let theirs = all().filter(|each| each.experiment == experiment).flat_map(|each| {
        let with = |&work: &u64| {
            let parameter = Some((fib::FIELD, work));
            Contestant { parameter, ..each.contestant(work) }
        };
        match parameters {
            [] => vec![each.contestant(0)],
            work => work.iter().map(with).collect(),
        }
    });
    ours.into_iter().chain(theirs).map(clocked).collect()
}

/// The same, whose runs tell how much processor time they took, their beginning and end included.
fn clocked(contestant: Contestant) -> Contestant {
    let Contestant { drive, .. } = contestant;
    let drive = Box::new(move |payload, assignment: &Assignment| {
        let before = processor_time();
        let mut reading = drive(payload, assignment)?;
        let busy = processor_time().zip(before);
        let labour = reading.labour.get_or_insert_default();
        labour.busy = busy.map(|(after, before)| after.saturating_sub(before));
        Ok(reading)
    });
    Contestant { drive, ..contestant }
}

/// Processor time of this process so far, where it is known.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it is told where to write, and that lives long enough.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    (result == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

#[cfg(not(unix))]
fn processor_time() -> Option<Duration> {
    None
}

/// What `run` returns, and how long it took.
fn timed<R>(run: impl FnOnce() -> R) -> (R, Duration) {
    let begin = Instant::now();
    let result = run();
    (result, begin.elapsed())
}

#[cfg(test)]
mod tests {
    use super::{all, contestants, processor_time};
    use cantina_lab::experiment::scheduling::{NAMES, fib, shape};
    use cantina_lab::workload::{Assignment, Payload, Shape};
    use std::time::Duration;

    #[test]
    fn everybody_comes_to_the_right_result() {
        let patience = Duration::from_secs(60);
        for experiment in NAMES {
            let parameters: &[u64] = if experiment == fib::NAME { &[0, 10] } else { &[] };
            for contestant in contestants(experiment, parameters) {
                for shape in [shape(1), shape(2), Shape::new(2, 1)] {
                    let fits = experiment == "tell" || shape.producers == shape.consumers;
                    if !contestant.shapes.admit(shape) || !fits {
                        continue;
                    }
                    let assignment =
                        Assignment { shape, tasks: 1_001, pin: false, patience, watched: false };
                    let reading = (contestant.drive)(Payload::Word, &assignment);
                    let reading = reading.unwrap_or_else(|fault| panic!("{contestant:?}: {fault}"));
                    let labour = reading.labour.unwrap();
                    assert_eq!(labour.busy.is_some(), processor_time().is_some());
                }
            }
        }
    }

    #[test]
    fn descriptions_are_one_line_and_versions_are_known() {
        for scheduler in all() {
            let about = scheduler.about;
            assert!(!about.ends_with('.') && !about.contains('\n'), "{about}");
            let ours = scheduler.package == super::super::OWN;
            assert_eq!(scheduler.version().is_none(), ours, "{}", scheduler.name);
        }
    }
}
