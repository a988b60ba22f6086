//! `cantina sim trace`: a page that plays a run.
//!
//! Each thread has a handle for both roles and puts and gets at random, which the seed decides. A run
//! that fails has its page too: that is when one wants to look.

use crate::allocator;
use crate::args::{MemoryChoice, ScheduleChoice, TraceArgs};
use crate::export::OneFile;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::typo::did_you_mean;
use crate::view::trace::{Heading, PUT, page, tell};
use cantina_on_sim::pool::{Consumer, Producer, TaskPool};
use cantina_on_sim::rooms::{EnterError, Rooms};
use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::Relaxed;
use cantina_sim::engine::{Memory, Simulation};
use cantina_sim::progress::operation;
use cantina_sim::random::Random;
use cantina_sim::trace::{Log, note};
use cantina_sim::{Arc, thread};
use lab_on_sim::registry::{Family, Visitor, facts, visit_all};

/// Cycles that somebody is inside a room, and that exit code takes.
const INSIDE: u64 = 400;
const CLOSING: u64 = 300;

/// Where the page goes of which nothing is said.
const PAGE: &str = "trace.html";

/// Steps after which a run hangs, for each of its operations.
const STEPS_PER_OPERATION: u64 = 100_000;

/// Rooms that are watched themselves: their names, what they are, how many they are, and how many of them have exit code.
const HOUSES: [(&str, &str, usize, usize); 2] = [
    ("rooms", "three rooms in one word, two of them with exit code", 3, 2),
    ("counted-rooms", "five rooms, counted one by one, two of them with exit code", 5, 2),
];

/// The pool to watch, and what came of it.
struct Watch<'a> {
    args: &'a TraceArgs,
    seen: Option<Seen>,
}

/// What was watched, and how it ended.
struct Seen {
    name: String,
    about: String,
    log: Log,
    failure: Option<String>,
}

/// Runs the pool, and writes the page.
pub(super) fn run(args: &TraceArgs) -> Result<(), Failure> {
    let mut names: Vec<String> = facts().into_iter().map(|facts| facts.name).collect();
    names.extend(HOUSES.map(|(name, ..)| name.to_owned()));
    if !names.contains(&args.pool) {
        return Err(Failure::BadInput(format!(
            "no pool `{}`{}; allowed: {}",
            args.pool,
            did_you_mean(&args.pool, &names),
            names.join(", ")
        )));
    }
    interrupt::install()?;
    let file = OneFile::of_run(args.out.as_deref(), PAGE, "--out", args.overwrite)?;
    allocator::simulate()?;
    let mut watch = Watch { args, seen: None };
    visit_all(&mut watch);
    for (name, about, rooms, with_exit_code) in HOUSES {
        if args.pool == name {
            watch.see(name, about, || visit_rooms(rooms, with_exit_code, args));
        }
    }
    let Some(Seen { name: pool, about, log, failure }) = watch.seen else {
        return Err(Failure::Failed("the simulation kept no log".to_owned()));
    };
    let story = tell(&log, args.threads as usize);
    let heading = Heading {
        pool,
        about,
        machine: match args.schedule {
            ScheduleChoice::Cost => "simulated, by cost".to_owned(),
            ScheduleChoice::Random => "simulated, at random".to_owned(),
        },
        timed: args.schedule == ScheduleChoice::Cost,
        command: format!("cantina {}", args.command_line()),
        failure: failure.clone(),
    };
    let written = file.write(&page(&heading, &story))?;
    if let Some(failure) = failure {
        return Err(Failure::Failed(format!("{failure}; its trace: {}", written.display())));
    }
    screen::show(&format!("Written: {} ({} steps)\n", written.display(), story.steps()))
}

impl Visitor for Watch<'_> {
    fn visit<F: Family>(&mut self, family: F) {
        let facts = family.facts();
        if facts.name != self.args.pool {
            return;
        }
        let args = self.args;
        let family = family.in_chunks_of(args.chunk_size as usize).in_trees_of(args.height);
        self.see(&facts.name, facts.about, || play(&family, args));
    }
}

impl Watch<'_> {
    /// Runs `scenario`, and keeps what happens.
    fn see(&mut self, name: &str, about: &str, scenario: impl FnOnce()) {
        let args = self.args;
        let simulation = Simulation::new()
            .seed(args.seed)
            .machine(args.machine.machine.clone())
            .memory(match args.memory {
                MemoryChoice::Tso => Memory::Tso,
                MemoryChoice::Sequential => Memory::Sequential,
            })
            .steps(u64::from(args.ops).saturating_mul(STEPS_PER_OPERATION))
            .log(true);
        let outcome = match args.schedule {
            ScheduleChoice::Cost => simulation.run_timed(scenario),
            ScheduleChoice::Random => simulation.run(scenario),
        };
        let (log, failure) = match outcome {
            Ok(outcome) => (outcome.log, None),
            Err(failure) => (failure.report().log.clone(), Some(told(&failure.to_string()))),
        };
        let (name, about) = (name.to_owned(), about.to_owned());
        self.seen = log.map(|log| Seen { name, about, log: *log, failure });
    }
}

/// A failure in one line.
fn told(failure: &str) -> String {
    failure.lines().map(str::trim).collect::<Vec<_>>().join("; ")
}

/// The program: threads that put and get at random, each its part of the operations.
fn play<F: Family>(family: &F, args: &TraceArgs) {
    let pool = family.build::<u64>();
    together(args, |part, begin| {
        let pool = pool.clone();
        Box::new(move || {
            let worker = pool.worker();
            begin();
            part.work(worker);
        })
    });
}

/// The program of rooms: threads that visit them at random, and some of which change to another one.
fn visit_rooms(rooms: usize, with_exit_code: usize, args: &TraceArgs) {
    let house = (0..with_exit_code).fold(Rooms::builder(rooms), |builder, room| {
        // Something to see.
        builder.on_last_exit(room, || cantina_sim::work(CLOSING))
    });
    let house = Arc::new(house.build().expect("rooms that there are"));
    together(args, |part, begin| {
        let house = house.clone();
        Box::new(move || {
            begin();
            part.visit(&house);
        })
    });
}

/// What a thread is about to do; it calls what it is given, and they begin together.
type Role = Box<dyn FnOnce() + Send>;

/// Threads that each do their part, and begin together.
fn together(args: &TraceArgs, role: impl Fn(Part, Role) -> Role) {
    let threads = args.threads as usize;
    let ready = Arc::new(AtomicUsize::new(0));
    let mut started = Vec::new();
    for number in 1..=threads {
        let ready = ready.clone();
        let begin = Box::new(move || {
            ready.fetch_add(1, Relaxed);
            while ready.load(Relaxed) < threads {
                thread::spin_loop();
            }
        });
        started.push(thread::spawn(role(Part::of(args, number), begin)));
    }
    for thread in started {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// One thread's part of the program.
struct Part {
    operations: usize,
    /// The task that is put next. Those of different threads differ in their first digits.
    next: u64,
    random: Random,
}

impl Part {
    fn of(args: &TraceArgs, thread: usize) -> Self {
        let (threads, ops) = (args.threads as usize, args.ops as usize);
        // Those with a smaller number have one more, if need be.
        let operations = ops / threads + usize::from(thread <= ops % threads);
        let stride = 10u64.pow((ops / threads + 1).ilog10() + 1);
        let random = Random::seeded(args.seed.wrapping_mul(1_000).wrapping_add(thread as u64));
        Self { operations, next: thread as u64 * stride + 1, random }
    }

    /// Visits rooms at random, and changes to another one at times.
    fn visit(mut self, house: &Rooms) {
        let rooms = house.rooms();
        for _ in 0..self.operations {
            let (first, then) = (self.random.below(rooms), self.random.below(rooms));
            let changes = self.random.one_in(4);
            let name =
                if changes { format!("visit {first}, {then}") } else { format!("visit {first}") };
            let visited = operation(&name, || {
                let mut guard = house.enter(first)?;
                cantina_sim::work(INSIDE);
                if changes {
                    guard.change_to(then)?;
                    cantina_sim::work(INSIDE);
                }
                drop(guard);
                Ok::<(), EnterError>(())
            });
            note(&visited.map_or_else(|error| error.to_string(), |()| String::new()));
        }
    }

    fn work(mut self, mut worker: impl Producer<u64> + Consumer<u64>) {
        for _ in 0..self.operations {
            if self.random.one_in(2) {
                let task = self.next;
                self.next += 1;
                let put = operation(&format!("{PUT}{task}"), || worker.try_put(task));
                note(if put.is_ok() { "" } else { "full" });
            } else {
                let got = operation("get", || worker.get());
                note(&got.map_or_else(|| "none".to_owned(), |task| task.to_string()));
            }
        }
    }
}
