//! `cantina check`: random programs on real threads and on simulated schedules, judged.
//!
//! Both machines run the conformance suite, each with seeds of its own, and get the same time. On the
//! simulated machine the seed decides everything, so a failure replays; on real threads it decides the
//! program, and the machine the rest.

mod simulated;

use crate::args::{CheckArgs, On};
use crate::export::OneFile;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::typo::did_you_mean;
use crate::view::{Progress, short};
use cantina_lab::conformance::{Effort, trials};
use cantina_sim::trace::Trace;
use simulated::Replayed;
use std::fmt::Write;
use std::panic;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// One check of one pool, on one machine.
struct Trial {
    pool: String,
    check: &'static str,
    run: Box<dyn Fn(u64) -> Result<(), String>>,
}

/// A machine's trials, and how far it is.
struct Lane {
    on: On,
    trials: Vec<Trial>,
    /// How many trials have been run.
    ran: u64,
    spent: Duration,
}

/// Runs until the time is up, or something is found.
pub(super) fn run(args: &CheckArgs) -> Result<(), Failure> {
    if let Some(schedule) = &args.schedule {
        return replay(args, schedule);
    }
    let log = log(args)?;
    let mut lanes: Vec<Lane> = [On::Real, On::Sim]
        .into_iter()
        .filter(|on| args.on.is_none_or(|wanted| wanted == *on))
        .map(|on| Lane::new(on, args, log.as_ref()))
        .collect::<Result<_, _>>()?;
    interrupt::install()?;
    let seed = args.seed.unwrap_or_else(cantina_machine::random::seed);
    let start = Instant::now();
    let time = Duration::from_secs(args.seconds);
    let progress = Progress::new(time.as_millis() as u64);
    let mut shown = Duration::ZERO;
    let _quiet = Quiet::new();
    while start.elapsed() < time {
        let open =
            lanes.iter_mut().filter(|lane| args.rounds.is_none_or(|most| lane.rounds() < most));
        let Some(lane) = open.min_by_key(|lane| lane.spent) else { break };
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        progress.doing(&lane.next().name());
        if let Err(witness) = lane.step(seed) {
            drop(progress);
            return told(&witness);
        }
        let now = start.elapsed();
        progress.advance((now - shown).as_millis() as u64);
        shown = now;
    }
    drop(progress);
    screen::show(&summary(&lanes, seed))
}

/// Where every access goes of a run in which something is found.
fn log(args: &CheckArgs) -> Result<Option<OneFile>, Failure> {
    let open = |path: &PathBuf| OneFile::open(path, "--log", args.overwrite);
    args.log.as_ref().map(open).transpose()
}

/// Runs one check of one pool on a schedule that was found earlier.
fn replay(args: &CheckArgs, schedule: &Trace) -> Result<(), Failure> {
    if args.pools.len() > 1 || args.on == Some(On::Real) {
        let line =
            "a schedule is one of one pool on the simulated machine; allowed: one POOL, --on sim";
        return Err(Failure::BadInput(line.to_owned()));
    }
    let log = log(args)?;
    let lane = Lane::new(On::Sim, args, None)?;
    let (trial, seed) = (lane.next(), args.seed.unwrap_or_default());
    interrupt::install()?;
    let _quiet = Quiet::new();
    let (pool, check) = (&trial.pool, trial.check);
    match simulated::replay(pool, check, seed, schedule, log.as_ref()) {
        Replayed::Sound => {
            screen::show(&format!("Nothing found: {pool} passes {check} on that schedule.\n"))
        }
        Replayed::Found(text) => told(&trial.witness(On::Sim, seed, &text)),
        Replayed::Diverged => Err(Failure::BadInput(format!(
            "the schedule is not one of {pool}, {check} and seed {seed}; allowed: the three that it was \
             printed with, by the same program"
        ))),
    }
}

/// What was found, and how to see it again.
struct Witness {
    line: String,
    text: String,
}

fn told(witness: &Witness) -> Result<(), Failure> {
    screen::show(&witness.text)?;
    Err(Failure::Failed(witness.line.clone()))
}

fn summary(lanes: &[Lane], seed: u64) -> String {
    let mut text = String::new();
    for lane in lanes {
        let (on, ran, checks) = (lane.on.name(), lane.ran, lane.trials.len());
        let seconds = short(lane.spent.as_secs_f64());
        let _ = writeln!(text, "{on}: {ran} runs of {checks} checks in {seconds} s");
    }
    let _ = writeln!(text, "Nothing found, from seed {seed} on.");
    text
}

impl Lane {
    fn new(on: On, args: &CheckArgs, log: Option<&OneFile>) -> Result<Self, Failure> {
        let mut trials = match on {
            On::Real => real_trials(),
            On::Sim => simulated::trials(log),
        };
        let known = |name: fn(&Trial) -> &str, wanted: &str, what: &str, trials: &[Trial]| {
            if trials.iter().any(|trial| name(trial) == wanted) {
                return Ok(());
            }
            let mut names: Vec<&str> = trials.iter().map(name).collect();
            names.sort_unstable();
            names.dedup();
            let (suggestion, allowed) = (did_you_mean(wanted, &names), names.join(", "));
            Err(Failure::BadInput(format!("no {what} `{wanted}`{suggestion}; allowed: {allowed}")))
        };
        for pool in &args.pools {
            known(|trial| &trial.pool, pool, "pool", &trials)?;
        }
        if let Some(check) = &args.only {
            known(|trial| trial.check, check, "check", &trials)?;
        }
        trials.retain(|trial| {
            (args.pools.is_empty() || args.pools.contains(&trial.pool))
                && args.only.as_ref().is_none_or(|check| trial.check == check)
        });
        if trials.is_empty() {
            return Err(Failure::BadInput("none of these pools has that check".to_owned()));
        }
        Ok(Self { on, trials, ran: 0, spent: Duration::ZERO })
    }

    /// How often every trial has been run.
    fn rounds(&self) -> u64 {
        self.ran / self.trials.len() as u64
    }

    fn next(&self) -> &Trial {
        &self.trials[(self.ran % self.trials.len() as u64) as usize]
    }

    /// Runs the next trial; each round has a seed of its own.
    fn step(&mut self, first: u64) -> Result<(), Witness> {
        let seed = first.wrapping_add(self.rounds());
        let start = Instant::now();
        let trial = self.next();
        let found = (trial.run)(seed).map_err(|found| trial.witness(self.on, seed, &found));
        self.spent += start.elapsed();
        self.ran += 1;
        found
    }
}

impl Trial {
    fn name(&self) -> String {
        format!("{}: {}", self.pool, self.check)
    }

    fn witness(&self, on: On, seed: u64, found: &str) -> Witness {
        let (pool, check, on) = (&self.pool, self.check, on.name());
        let again =
            format!("cantina check {pool} --only {check} --on {on} --seed {seed} --rounds 1");
        Witness {
            line: format!("{pool} fails {check} on {on} with seed {seed}"),
            text: format!("{}\n\nAgain: {again}\n", found.trim_end()),
        }
    }
}

fn real_trials() -> Vec<Trial> {
    // Short runs: the seeds make the difference.
    let effort = Effort { tasks: 400, rounds: 1, handles: 100, ..Effort::real() };
    let each = |trial: cantina_lab::conformance::Trial| {
        let effort = effort.clone();
        Trial {
            pool: trial.pool.clone(),
            check: trial.check,
            run: Box::new(move |seed| {
                trial.run(&effort, seed).map_err(|failure| failure.to_string())
            }),
        }
    };
    trials().into_iter().map(each).collect()
}

/// No messages of panics that the checks plant, for as long as it lives.
struct Quiet;

impl Quiet {
    fn new() -> Self {
        panic::set_hook(Box::new(|_| ()));
        Self
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = panic::take_hook();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Lane, Trial};
    use crate::args::On;
    use std::time::Duration;

    /// A lane of two trials, the second of which fails with one seed.
    fn lane(bad_seed: u64) -> Lane {
        let trial = |check: &'static str, bad: u64| Trial {
            pool: "leaky".to_owned(),
            check,
            run: Box::new(move |seed| {
                if seed == bad { Err("expected 1\nsaw      2".to_owned()) } else { Ok(()) }
            }),
        };
        let trials = vec![trial("nothing_leaks", u64::MAX), trial("nothing_is_lost", bad_seed)];
        Lane { on: On::Sim, trials, ran: 0, spent: Duration::ZERO }
    }

    #[test]
    fn each_round_has_a_seed_of_its_own() {
        let mut lane = lane(42);
        let steps: Vec<bool> = (0..6).map(|_| lane.step(40).is_ok()).collect();
        assert_eq!(steps, [true, true, true, true, true, false]);
        assert_eq!(lane.rounds(), 3);
    }

    #[test]
    fn a_finding_says_how_to_see_it_again() {
        let mut lane = lane(9);
        assert!(lane.step(9).is_ok());
        let witness = lane.step(9).unwrap_err();
        assert_eq!(witness.line, "leaky fails nothing_is_lost on sim with seed 9");
        assert_eq!(
            witness.text,
            "expected 1\nsaw      2\n\n\
             Again: cantina check leaky --only nothing_is_lost --on sim --seed 9 --rounds 1\n"
        );
    }
}
