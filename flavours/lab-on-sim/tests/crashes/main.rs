//! Threads that die or stall in the middle of everything.
//!
//! A small program is run once for each thread and each of its steps, on some schedules, with that
//! thread stopped there. Around a pool that does not block the others go on, and what all of them
//! saw is explained with the call of the dead one pending. Around a lock they wait, and the report
//! names the one that holds it.

#[path = "../recorded/mod.rs"]
mod recorded;

use cantina::pool::TaskPool;
use cantina_check::{BUDGET, History, Spec, check};
use cantina_lab::registry::{Facts, Family, Order, Visitor, visit_all, visit_variants};
use lab_on_sim as cantina_lab;
use machine::engine::{Doing, Failure, Outcome, Report, Simulation, Standing, ThreadId};
use recorded::Call::{Get, GetMany, Put, PutAll, Renew};
use recorded::{Program, play};
use std::iter::StepBy;
use std::ops::Range;

/// Schedules of each crash, at most,
const SEEDS: u64 = 12;
/// and crashes of each thread after which no further schedule is tried.
const ENOUGH: u64 = 200;
/// Steps that all crashes of a thread on one schedule may take. Where waiting makes runs so long that
/// they take more, only every so-manieth step is one to die at.
const BUDGET_STEPS: u64 = 500_000;
/// Steps after which a run hangs.
const STEPS: u64 = 4_000_000;
/// Steps of all threads until one of them finishes what it does: far more than it takes, also if it
/// is patient first.
const SOON: u64 = 100_000;
/// How long a stall is: the others are done by then.
const LONG: u64 = 2_000_000;
/// The same in virtual time.
const LONG_NANOS: u64 = LONG * 10;

/// What is inside before.
const FIRST: [u64; 1] = [1];
/// Everybody meets at both ends; the last comes to an empty pool, sometimes.
const PROGRAM: &Program = &[&[Put(10), Get], &[Get, Put(20)], &[Put(30), Get, Get]];

/// The same with batches, and ends that come and go.
const BATCHES: &Program = &[
    &[PutAll(&[10, 11, 12]), Get, Renew],
    &[GetMany(2), Renew, Put(20)],
    &[PutAll(&[30, 31]), GetMany(3)],
];

/// The threads of a program, all of which have three.
fn threads() -> impl Iterator<Item = ThreadId> {
    (1..=PROGRAM.len() as u32).map(ThreadId)
}

/// So many seeds, or as many as are asked for.
fn seeds(usually: u64) -> Range<u64> {
    let first = cantina_effort::seed(0);
    first..first.saturating_add(usually.saturating_mul(effort()))
}

fn effort() -> u64 {
    cantina_effort::rounds(1, 20)
}

fn simulation(seed: u64) -> Simulation {
    Simulation::new().seed(seed).steps(STEPS)
}

/// Every step of a thread to stop it at; see [`BUDGET_STEPS`].
fn steps_to_stop_at(
    family: &impl Family,
    program: &'static Program,
    seed: u64,
) -> StepBy<Range<u64>> {
    let steps = run(family, program, &simulation(seed)).map_or(STEPS, |outcome| outcome.steps);
    let all = steps.saturating_mul(steps) / PROGRAM.len() as u64;
    (0..steps).step_by(1 + (all / BUDGET_STEPS.saturating_mul(effort())) as usize)
}

fn run(
    family: &impl Family,
    program: &'static Program,
    simulation: &Simulation,
) -> Result<Outcome<History>, Failure> {
    simulation.run(|| play(&family.build::<u64>(), &FIRST, program))
}

/// What the pool promises to be.
fn spec(family: &impl Family) -> Spec {
    let facts = family.facts();
    let spec = match facts.order {
        Order::Bag => Spec::bag(),
        Order::Fifo => Spec::queue(),
        Order::Lifo => Spec::stack(),
    };
    let Some(capacity) = facts.capacity else { return spec };
    let pool = family.build::<u64>();
    let spec = spec.bounded(capacity, pool.full_slack());
    if pool.full_counts_under_way() { spec.counting_under_way() } else { spec }
}

fn is_explained(spec: &Spec, history: &History) {
    let verdict = check(history, spec, BUDGET);
    assert!(verdict.is_linearizable(), "{verdict}\n{history}");
}

/// Runs with `thread` stopped after each number of its steps, on each schedule, until it takes no
/// more; what came of each.
fn crash_everywhere(
    family: &impl Family,
    (program, most_seeds): (&'static Program, u64),
    thread: ThreadId,
    mut each: impl FnMut(Result<Outcome<History>, Failure>),
) -> u64 {
    let mut crashes = 0;
    for seed in seeds(most_seeds) {
        if crashes > ENOUGH.saturating_mul(effort()) {
            break;
        }
        for steps in steps_to_stop_at(family, program, seed) {
            let bounded = simulation(seed).crash(thread, steps).lock_free_within(SOON);
            let result = run(family, program, &bounded);
            if result.as_ref().is_ok_and(|outcome| outcome.crashed.is_empty()) {
                break;
            }
            crashes += 1;
            each(result);
        }
    }
    crashes
}

/// Does something with each registered pool that blocks, or that does not.
struct Each<F> {
    non_blocking: bool,
    names: Vec<String>,
    check: F,
}

/// What to do with a pool.
trait Check {
    fn check<F: Family>(&self, family: &F);
}

impl<C: Check> Visitor for Each<C> {
    fn visit<F: Family>(&mut self, family: F) {
        let facts = family.facts();
        if facts.non_blocking == self.non_blocking {
            self.check.check(&family);
            self.names.push(facts.name);
        }
    }
}

/// Checks each of them; their names.
fn each(non_blocking: bool, check: impl Check) -> Vec<String> {
    let mut each = Each { non_blocking, names: Vec::new(), check };
    visit_all(&mut each);
    visit_variants(&mut each);
    each.names
}

/// Any thread dies at any step: the others finish soon.
struct SurvivesCrashes {
    program: &'static Program,
    /// Schedules, at most.
    seeds: u64,
    /// Crashes in a call, at least.
    least: usize,
}

impl SurvivesCrashes {
    const ONE_BY_ONE: Self = Self { program: PROGRAM, seeds: SEEDS, least: 50 };
}

impl Check for SurvivesCrashes {
    fn check<F: Family>(&self, family: &F) {
        let (facts, spec) = (family.facts(), spec(family));
        let mut pending = 0;
        let mut crashes = 0;
        for thread in threads() {
            crashes += crash_everywhere(family, (self.program, self.seeds), thread, |result| {
                let outcome = result.unwrap_or_else(|failure| panic!("{}: {failure}", facts.name));
                let left: Vec<ThreadId> =
                    outcome.abandoned.iter().map(|standing| standing.thread).collect();
                assert_eq!(left, [thread], "{}: only the dead one is left", facts.name);
                is_explained(&spec, &outcome.value);
                pending +=
                    usize::from(outcome.value.operations().iter().any(|it| it.end.is_none()));
            });
        }
        println!("{}: {crashes} crashes, {pending} in a call", facts.name);
        assert!(pending > self.least, "{}: {pending} of {crashes}", facts.name);
    }
}

#[test]
fn what_does_not_block_survives_any_crash_at_any_step() {
    let names = each(true, SurvivesCrashes::ONE_BY_ONE);
    for wanted in ["ms-queue", "treiber", "ws-msq", "ws-lifo", "concurrent-bags", "ed-pool"] {
        assert!(names.iter().any(|name| name == wanted), "{names:?}");
    }
}

#[test]
fn batches_and_ends_that_come_and_go_survive_any_crash_at_any_step() {
    each(true, SurvivesCrashes { program: BATCHES, seeds: 1, least: 20 });
}

/// A pool that says it does not block, whatever it does.
#[derive(Clone)]
struct Boaster<F>(F);

impl<F: Family> Family for Boaster<F> {
    type Pool<T: Send + 'static> = F::Pool<T>;

    fn facts(&self) -> Facts {
        Facts { non_blocking: true, ..self.0.facts() }
    }

    fn build<T: Send + 'static>(&self) -> F::Pool<T> {
        self.0.build()
    }
}

/// Lets the pool of that name boast, and leaves the others out.
struct Boasting<V>(&'static str, V);

impl<V: Visitor> Visitor for Boasting<V> {
    fn visit<F: Family>(&mut self, family: F) {
        if family.facts().name == self.0 {
            self.1.visit(Boaster(family));
        }
    }
}

#[test]
#[should_panic = "which has crashed"]
fn a_lock_in_a_pool_that_says_it_does_not_block_is_found() {
    let each = Each { non_blocking: true, names: Vec::new(), check: SurvivesCrashes::ONE_BY_ONE };
    visit_all(&mut Boasting("locked", each));
}

/// A thread that dies with a lock has the others wait for it, and otherwise is missed by nobody.
struct IsBlockedByTheDead;

/// The threads that wait for `dead`, for its lock or for the end of one that does.
fn waiting_for(report: &Report, dead: ThreadId) -> Vec<ThreadId> {
    let waits = |thread: ThreadId| {
        let mut chain = std::iter::successors(Some(thread), |&it| report.blocked_by(it));
        chain.by_ref().skip(1).take(report.threads.len()).any(|it| it == dead)
    };
    let all = report.threads.iter().map(|standing| standing.thread);
    all.filter(|&thread| thread != dead && waits(thread)).collect()
}

/// Whether all threads but `dead` sleep, or wait for it, or for one that sleeps: a room is held by no thread that a report
/// could name.
fn all_sleep_but(report: &Report, dead: ThreadId) -> bool {
    let sleeps = |thread: ThreadId| {
        let last = std::iter::successors(Some(thread), |&it| report.blocked_by(it)).last();
        let is_last = |it: &&Standing| Some(it.thread) == last;
        let standing = report.threads.iter().find(is_last);
        standing.is_some_and(|it| it.thread == dead || it.doing == Doing::Parked)
    };
    report.threads.iter().all(|it| it.thread == dead || sleeps(it.thread))
}

impl Check for IsBlockedByTheDead {
    fn check<F: Family>(&self, family: &F) {
        let (facts, spec) = (family.facts(), spec(family));
        let (mut crashes, mut blocked) = (0, 0);
        for dead in threads() {
            crashes += crash_everywhere(family, (PROGRAM, SEEDS), dead, |result| match result {
                Ok(outcome) => is_explained(&spec, &outcome.value),
                Err(Failure::Deadlock(report)) => {
                    blocked += 1;
                    let text = report.to_string();
                    let standing = report.threads.iter().find(|it| it.thread == dead).unwrap();
                    assert!(matches!(standing.doing, Doing::Crashed(_)), "{text}");
                    if ["room-", "figure4-"].iter().any(|rooms| facts.name.starts_with(rooms)) {
                        return assert!(all_sleep_but(&report, dead), "{text}");
                    }
                    // Everybody who is left, the scenario too.
                    let waiting = waiting_for(&report, dead);
                    assert_eq!(waiting.len() + 1, report.threads.len(), "{text}");
                    let culprit = format!("held by {dead} 't{}', which has crashed", dead.0);
                    assert!(text.contains(&culprit), "{text}");
                }
                Err(failure) => panic!("{}: {failure}", facts.name),
            });
        }
        println!("{}: {crashes} crashes, {blocked} with a lock", facts.name);
        assert!(blocked > 10 && blocked < crashes, "{}: {blocked} of {crashes}", facts.name);
    }
}

#[test]
fn what_blocks_is_reported_with_those_who_wait_and_the_dead_one_they_wait_for() {
    let names = each(false, IsBlockedByTheDead);
    for wanted in ["locked", "lbq", "locked-stack"] {
        assert!(names.iter().any(|name| name == wanted), "{names:?}");
    }
}

/// Several threads die at random steps.
struct SurvivesManyCrashes;

impl Check for SurvivesManyCrashes {
    fn check<F: Family>(&self, family: &F) {
        let (facts, spec) = (family.facts(), spec(family));
        let mut most = 0;
        for seed in seeds(200) {
            let simulation = simulation(seed).random_crashes(3, 40).lock_free_within(SOON);
            let outcome = run(family, PROGRAM, &simulation)
                .unwrap_or_else(|failure| panic!("{}: {failure}", facts.name));
            most = most.max(outcome.crashed.len());
            is_explained(&spec, &outcome.value);
        }
        assert_eq!(most, 3, "{}", facts.name);
    }
}

#[test]
fn what_does_not_block_survives_the_death_of_all_but_one() {
    each(true, SurvivesManyCrashes);
}

/// A thread stops for a long time at any step: the others are done before it goes on, if nothing
/// blocks, and all are done in the end.
struct SurvivesStalls {
    non_blocking: bool,
}

impl Check for SurvivesStalls {
    fn check<F: Family>(&self, family: &F) {
        let (facts, spec) = (family.facts(), spec(family));
        let (mut stalls, mut waited) = (0, 0);
        let runs = threads().flat_map(|thread| seeds(2).map(move |seed| (thread, seed)));
        for (thread, seed) in runs {
            for steps in steps_to_stop_at(family, PROGRAM, seed) {
                let mut stalled = simulation(seed).stall(thread, steps, LONG);
                if self.non_blocking {
                    stalled = stalled.lock_free_within(SOON);
                }
                let outcome = run(family, PROGRAM, &stalled)
                    .unwrap_or_else(|failure| panic!("{}: {failure}", facts.name));
                assert!(outcome.abandoned.is_empty(), "{}", facts.name);
                is_explained(&spec, &outcome.value);
                if outcome.nanos < LONG_NANOS {
                    // It had ended before.
                    break;
                }
                stalls += 1;
                let others = outcome
                    .value
                    .operations()
                    .iter()
                    .filter(|it| it.thread != 0 && it.thread != thread.0 as usize);
                waited += usize::from(others.into_iter().any(|it| it.end >= Some(LONG_NANOS)));
            }
        }
        println!("{}: {stalls} stalls, {waited} of them delay others", facts.name);
        assert!(stalls > 30, "{}: {stalls}", facts.name);
        // One that is patient may be among them: while it looks at words that nobody changes, the
        // clock moves on to the end of the stall. Dead ones, above, nobody can wait for.
        let free = waited * 20 < stalls;
        assert_eq!(free, self.non_blocking, "{}: {waited} of {stalls}", facts.name);
    }
}

#[test]
fn nobody_waits_for_a_stalled_thread_where_nothing_blocks() {
    each(true, SurvivesStalls { non_blocking: true });
}

#[test]
fn a_stalled_thread_that_holds_a_lock_delays_the_others_and_no_more() {
    each(false, SurvivesStalls { non_blocking: false });
}
