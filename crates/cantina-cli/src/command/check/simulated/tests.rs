use super::{Shown, keep, show, simulate, simulation, write};
use crate::export::OneFile;
use cantina_on_sim::pool::{Consumer, Full, Producer, TaskPool};
use cantina_record::Kind;
use cantina_sim::Arc;
use cantina_sim::lock::Mutex;
use cantina_sim::park::Parker;
use cantina_sim::schedule::Schedule;
use cantina_sim::thread;
use cantina_sim::trace::Trace;
use lab_on_sim::conformance::{Trial, trials_of};
use lab_on_sim::registry::{Facts, Family, Order};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A queue with a bug.
struct Hasty<T> {
    tasks: Arc<Mutex<VecDeque<T>>>,
    bug: Bug,
}

#[derive(Clone, Copy, Debug)]
enum Bug {
    /// It says that it is empty when somebody is inside.
    EmptyWhenContended,
    /// It keeps others out for ever.
    KeepsTheLock,
    /// It leaves a thread behind that waits for nothing.
    LeavesAThread,
    /// It comes out wrong in the first run of this process, and never again.
    Fickle,
}

/// Whether [`Bug::Fickle`] has shown.
static SHOWN: AtomicBool = AtomicBool::new(false);

impl<T> Clone for Hasty<T> {
    fn clone(&self) -> Self {
        Self { tasks: self.tasks.clone(), bug: self.bug }
    }
}

impl<T: Send> TaskPool<T> for Hasty<T> {
    type Producer = Self;
    type Consumer = Self;
    type Worker = Self;

    fn producer(&self) -> Self {
        self.clone()
    }

    fn consumer(&self) -> Self {
        self.clone()
    }

    fn worker(&self) -> Self {
        self.clone()
    }
}

impl<T: Send> Producer<T> for Hasty<T> {
    fn try_put(&mut self, task: T) -> Result<(), Full<T>> {
        self.tasks.lock().push_back(task);
        Ok(())
    }
}

impl<T: Send> Consumer<T> for Hasty<T> {
    fn get(&mut self) -> Option<T> {
        match self.bug {
            Bug::EmptyWhenContended => self.tasks.try_lock()?.pop_front(),
            Bug::KeepsTheLock => {
                let mut tasks = self.tasks.lock();
                let task = tasks.pop_front();
                if task.is_none() {
                    std::mem::forget(tasks);
                }
                task
            }
            Bug::LeavesAThread => self.tasks.lock().pop_front(),
            Bug::Fickle => {
                let task = self.tasks.lock().pop_front();
                task.filter(|_| SHOWN.swap(true, Relaxed))
            }
        }
    }
}

#[derive(Clone, Debug)]
struct HastyFamily(Bug);

impl Family for HastyFamily {
    type Pool<T: Send + 'static> = Hasty<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: "hasty".to_owned(),
            kind: Kind::Ours,
            about: "a queue with a bug",
            order: Order::Fifo,
            capacity: None,
            non_blocking: false,
        }
    }

    fn build<T: Send + 'static>(&self) -> Hasty<T> {
        if matches!(self.0, Bug::LeavesAThread) {
            drop(thread::spawn(|| Parker::new().park()));
        }
        Hasty { tasks: Arc::new(Mutex::new(VecDeque::new())), bug: self.0 }
    }
}

fn trial(bug: Bug) -> Trial {
    let mut trials = trials_of(&HastyFamily(bug)).into_iter();
    let check = "histories_of_small_programs_are_linearizable";
    trials.find(|trial| trial.check == check).unwrap()
}

#[test]
fn a_violation_is_shown_with_an_interleaving_of_the_threads_involved() {
    let trial = trial(Bug::EmptyWhenContended);
    let Shown { text, log, .. } = (1..50).find_map(|seed| simulate(&trial, seed)).unwrap();
    println!("{text}");
    let told = [
        "not a queue: \"empty\"",
        "\nschedule: ",
        "\nWhat happened meanwhile, where threads meet:",
    ];
    let places = told.map(|told| text.find(told).unwrap_or_else(|| panic!("{told}\n{text}")));
    assert!(places.is_sorted(), "{text}");
    let interleaving = &text[places[2]..];
    assert!(interleaving.contains(" 'thread "), "{text}");
    // The call that came out wrong, and the lock that it found taken.
    let empty = interleaving.find("begins get empty").unwrap();
    assert!(interleaving[empty..].contains("is locked already\n"), "{text}");
    assert!(interleaving[empty..].contains("ends get empty"), "{text}");
    assert!(interleaving.lines().count() <= super::ROWS_SHOWN + 3, "{text}");
    // All of it is more.
    let log = log.unwrap();
    assert!(log.to_string().lines().count() > interleaving.lines().count());
}

#[test]
fn a_hang_is_shown_with_what_happened_last() {
    let Shown { text, .. } = simulate(&trial(Bug::KeepsTheLock), 1).unwrap();
    assert!(text.contains("\nWhat happened last, where threads meet:\n"), "{text}");
    assert!(text.contains("is locked already\n"), "{text}");
}

#[test]
fn threads_that_never_end_are_found() {
    let Shown { text, .. } = simulate(&trial(Bug::LeavesAThread), 2).unwrap();
    assert!(text.contains("threads that never ended: [Standing"), "{text}");
}

#[test]
fn what_does_not_come_again_is_shown_without_an_interleaving() {
    let trial = trial(Bug::Fickle);
    let Shown { text, log, .. } = (1..50).find_map(|seed| simulate(&trial, seed)).unwrap();
    assert!(text.contains("not a queue: "), "{text}");
    let note = "Run again it came out otherwise: it depends on where memory lies.\n";
    assert!(text.ends_with(note) && log.is_none(), "{text}");
}

#[test]
fn the_same_seed_finds_the_same() {
    let trial = trial(Bug::EmptyWhenContended);
    let [first, second] = [(); 2].map(|()| simulate(&trial, 5).unwrap().text);
    // The numbers of words depend on where memory lies, and it is the system's.
    let finding = |text: &str| text.split_once("\nWhat happened meanwhile").unwrap().0.to_owned();
    assert_eq!(finding(&first), finding(&second));
}

#[test]
fn a_printed_schedule_is_the_same_run_again() {
    let trial = trial(Bug::EmptyWhenContended);
    let mut seen = 0;
    // By chance, by priorities, and with stalls.
    for seed in 1..50 {
        let Some(first) = simulate(&trial, seed) else { continue };
        let printed: Trace = first.schedule.to_string().parse().unwrap();
        let again = simulation(seed).schedule(Schedule::Replay(printed));
        let second = show(&again, &trial, seed).expect("it is found again");
        let finding = |shown: &Shown| shown.text.split_once("\nschedule: ").unwrap().0.to_owned();
        assert_eq!(finding(&first), finding(&second), "seed {seed}");
        assert_eq!(first.schedule, second.schedule);
        seen += 1;
    }
    assert!(seen > 3, "{seen}");
}

#[test]
fn every_access_is_written_where_it_was_asked_for() {
    let trial = trial(Bug::EmptyWhenContended);
    let log = (1..50).find_map(|seed| simulate(&trial, seed)).unwrap().log;
    assert_eq!(write(log.clone(), None), "\nWith --log FILE: every access of that run.\n");
    let path = std::env::temp_dir().join(format!("cantina-check-{}.log", std::process::id()));
    let file = OneFile::open(&path, "--log", false).unwrap();
    let said = write(log.clone(), Some(&file));
    let written = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(said, format!("\nEvery access of that run: {}\n", path.display()));
    assert!(log.as_ref().is_some_and(|log| log.to_string() == written));
    // Its folder has gone meanwhile.
    let folder = std::env::temp_dir().join(format!("cantina-check-{}", std::process::id()));
    let file = OneFile::open(&folder.join("log"), "--log", false).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    assert!(write(log, Some(&file)).starts_with("\ncannot write to "));
}

#[test]
fn a_schedule_that_is_kept_replaces_no_other_one() {
    let folder = std::env::temp_dir().join(format!("cantina-schedules-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    for (schedule, expected) in
        [("1 2", "s.txt"), ("3", "s-2.txt"), ("1 2", "s.txt"), ("4", "s-3.txt")]
    {
        let path = keep(&folder, "s", schedule).unwrap();
        assert_eq!(path, folder.join(expected));
        assert_eq!(std::fs::read_to_string(path).unwrap(), schedule);
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(keep(&folder, "s", "1").is_err());
}
