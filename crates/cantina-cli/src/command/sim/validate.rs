//! `cantina sim validate`: do ratios between pools on the simulated machine agree with the real ones?
//!
//! Every registered pool runs on this machine, alone (one thread that puts and gets in turn) and between
//! a producer and a consumer that keep a [backlog](cantina_lab::workload::run_backlogged). Then the same programs run on a simulated
//! machine that was calibrated from micro-benchmarks. Two pools agree when the ratio of their throughputs is, within a
//! factor of two, the same on both.
//!
//! A backlog, since without one two threads that are nearly as fast as each other end in one of two states, all tasks in the pool or
//! none, and which one it is hangs on a few per cent.
//!
//! The cores of a virtual machine are now nearer to each other, now farther apart. So what two threads do is measured right
//! after the micro-benchmarks, with a word that goes to and fro beside every repetition; where the cores have moved meanwhile, both
//! are measured again, a few times at most. Of all repetitions the median counts.

mod verdict;

pub(crate) use verdict::Verdict;

use super::cell::{Cell, Length};
use super::size::Size;
use crate::allocator;
use crate::args::SimArgs;
use crate::calibrate::{self, Readings};
use crate::command::calibrate as calibration;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::surroundings;
use crate::typo::did_you_mean;
use crate::view::{Progress, short};
use cantina_lab::experiment::throughput::{self, Column};
use cantina_lab::experiment::{Contestant as Real, Event, Guard, Stopped};
use cantina_lab::probe::Probe;
use cantina_lab::workload::{Payload, Shape};
use cantina_machine::thread::available_parallelism;
use cantina_record::{Record, Row};
use cantina_sim::cost::Machine;
use lab_on_sim::experiment::Contestant as Simulated;
use std::ops::ControlFlow;
use std::time::Duration;

/// The experiment's name in records and on the command line.
pub(crate) const NAME: &str = "validate";
/// The field of a row that says how many threads there were.
pub(crate) const THREADS: &str = "threads";

/// How often a pool is measured, and how long.
const REPETITIONS: usize = 7;
const QUICK_REPETITIONS: usize = 5;
const TARGET: Duration = Duration::from_millis(120);
const QUICK_TARGET: Duration = Duration::from_millis(40);
/// How often it is simulated, with how many tasks: most of them take long enough to be interrupted several times.
const SEEDS: u64 = 3;
const QUICK_SEEDS: u64 = 3;
const TASKS: u64 = 100_000;
const QUICK_TASKS: u64 = 40_000;
/// How often a simulated cell gets twice as many because it was too short.
const DOUBLINGS: u32 = 3;

/// Cores that are so many times as far apart as before are others: what was measured before and what
/// was measured after belong to two machines.
const MOVED: f64 = 1.5;
/// How often both are measured, at most.
const TRIES: usize = 3;

/// What will be run.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    args: &'a SimArgs,
    pools: Vec<String>,
    threads: Vec<usize>,
}

/// The pools as they run with so many threads, on both machines.
struct Both {
    threads: usize,
    real: Vec<Real>,
    simulated: Vec<Simulated>,
}

/// Turns the arguments into what will be run.
pub(crate) fn plan(args: &SimArgs) -> Result<Plan<'_>, Failure> {
    let bad = |line: String| Err(Failure::BadInput(line));
    if args.experiments.len() > 1 {
        return bad(format!("{NAME} runs alone; allowed: no other experiment beside it"));
    }
    if !args.shapes.is_empty() {
        return bad(format!("{NAME} has its own threads; allowed: neither --shape nor --threads"));
    }
    let all: Vec<String> =
        cantina_lab::experiment::registered_alone().into_iter().map(|each| each.name).collect();
    if let Some(unknown) = args.pools.iter().find(|name| !all.contains(name)) {
        let suggestion = did_you_mean(unknown, &all);
        return bad(format!(
            "no pool is called `{unknown}`{suggestion}; allowed: {}",
            all.join(", ")
        ));
    }
    let is_wanted = |name: &String| args.pools.is_empty() || args.pools.contains(name);
    let pools: Vec<String> = all.into_iter().filter(is_wanted).collect();
    if pools.len() < 2 {
        return bad(format!("{NAME} compares pools; allowed: at least two"));
    }
    // Two threads on one core tell nothing.
    let simulated = args.machine.as_ref().map_or(2, |chosen| chosen.machine.core_count());
    let most = available_parallelism().min(simulated).min(2);
    Ok(Plan { args, pools, threads: (1..=most).collect() })
}

/// Measures, calibrates, simulates and compares.
pub(crate) fn run(plan: &Plan<'_>) -> Result<(Record, Verdict), Failure> {
    let args = plan.args;
    let all: Vec<Both> = plan.threads.iter().map(|&threads| plan.both(threads)).collect();
    // The real machine first: it has the plain allocator.
    let Measured { mut rows, readings, moved } = measure_all(plan, &all)?;
    let machine = match (&args.machine, readings) {
        (Some(chosen), _) => chosen.machine.clone(),
        (None, None) => unreachable!("what was not chosen was measured"),
        (None, Some(readings)) => {
            let calibrated = calibrate::fit(&readings)?;
            screen::show(&calibration::table(&calibrated))?;
            calibrated.machine
        }
    };
    allocator::simulate()?;
    rows.extend(simulate(plan, &all, &machine)?);
    let count = |field: &str| rows.iter().filter_map(|row: &Row| row.number(field)).sum::<f64>();
    let (busy, all) = (count("disturbed"), count("repetitions"));
    if busy * 4.0 > all {
        screen::warn(&format!(
            "this machine was busy during {busy} of {all} repetitions: run it again when it is not"
        ));
    }
    let verdict = Verdict::of(&rows, &plan.threads, &plan.pools, moved);
    let rows = rows.into_iter().map(|row| verdict.annotate(row)).collect();
    let mut machine_facts = surroundings::facts()
        .with("simulated", machine.name())
        .with(surroundings::COSTS, surroundings::costs(&machine));
    if args.machine.is_none() {
        machine_facts = machine_facts.with("cost_units_per_microsecond", machine.megahertz());
    }
    let record = Record {
        machine: machine_facts.with("command", plan.command_line()),
        commit: surroundings::commit().to_owned(),
        rows,
    };
    Ok((record, verdict))
}

impl Plan<'_> {
    fn both(&self, threads: usize) -> Both {
        use cantina_lab::experiment as real;
        use lab_on_sim::experiment as simulated;
        let (mut here, mut there) = match threads {
            1 => (real::registered_alone(), simulated::registered_alone()),
            _ => (real::registered_backlogged(), simulated::registered_backlogged()),
        };
        here.retain(|each| self.pools.contains(&each.name));
        there.retain(|each| self.pools.contains(&each.name));
        Both { threads, real: here, simulated: there }
    }

    /// What to type for the same run again.
    fn command_line(&self) -> String {
        let line = self.args.command_line();
        match self.args.machine {
            Some(_) => line,
            None => line.replace(&format!(" --machine {}", self.args.machine()), ""),
        }
    }
}

/// What was measured of the real machine.
struct Measured {
    rows: Vec<Row>,
    /// Of the micro-benchmarks, if there is no machine to take instead.
    readings: Option<Readings>,
    /// Whether its cores moved until the last try.
    moved: bool,
}

/// Measures the real machine.
fn measure_all(plan: &Plan<'_>, all: &[Both]) -> Result<Measured, Failure> {
    let (alone, together): (Vec<&Both>, Vec<&Both>) =
        all.iter().partition(|both| both.threads == 1);
    let mut rows = Vec::new();
    for both in alone {
        rows.extend(measure(plan, both)?);
    }
    let mut tries = TRIES;
    let (measured, readings, moved) = loop {
        let readings = match plan.args.machine {
            Some(_) => None,
            None => Some(calibrate::measure(&Progress::new(0))?),
        };
        let mut measured = Vec::new();
        for both in &together {
            measured.extend(measure(plan, both)?);
        }
        tries -= 1;
        let Some((near, far)) = moved(readings.as_ref(), &measured) else {
            break (measured, readings, false);
        };
        let so = if tries > 0 { "once more" } else { "what follows is of two machines" };
        screen::warn(&format!(
            "this machine's cores moved, from {} to {} ns apart: {so}",
            short(near),
            short(far)
        ));
        if tries == 0 {
            break (measured, readings, true);
        }
    };
    rows.extend(measured);
    Ok(Measured { rows, readings, moved })
}

/// How near and how far apart cores were, where they moved between these readings and rows.
fn moved(readings: Option<&Readings>, rows: &[Row]) -> Option<(f64, f64)> {
    let calibrated = readings.and_then(|readings| readings.of(Probe::PingPong));
    let of = |name: &'static str| {
        rows.iter().filter_map(move |row| row.number(name).or(row.number("ping_pong_ns")))
    };
    let beside = of("ping_pong_ns_min").chain(of("ping_pong_ns_max"));
    let ways = || beside.clone().chain(calibrated);
    let (near, far) = (ways().fold(f64::MAX, f64::min), ways().fold(0.0, f64::max));
    (far > near * MOVED).then_some((near, far))
}

/// The rows of the real machine with so many threads.
fn measure(plan: &Plan<'_>, both: &Both) -> Result<Vec<Row>, Failure> {
    let quick = plan.args.quick;
    let shape = Shape::new(1, 1);
    let real = throughput::Plan {
        experiment: NAME.to_owned(),
        machine: "real".to_owned(),
        columns: vec![Column { shape, payload: Payload::Word, pin: true }],
        repetitions: if quick { QUICK_REPETITIONS } else { REPETITIONS },
        target: if quick { QUICK_TARGET } else { TARGET },
        tasks: None,
    };
    let contestants: Vec<&Real> = both.real.iter().collect();
    let progress = Progress::telling(real.steps(&contestants) as u64);
    let guard = Guard::spinning(both.threads);
    let measured = throughput::measure(&real, &contestants, Some(guard), &mut |event| {
        match event {
            Event::Running(what) => progress.doing(what),
            Event::Ran => progress.advance(1),
            Event::Note(line) => progress.note(&format!("warning: {line}")),
        }
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let rows = measured.map_err(|stopped| match stopped {
        Stopped::OnRequest => Failure::Interrupted,
        fault @ Stopped::ByFault { .. } => Failure::Failed(fault.to_string()),
    })?;
    Ok(rows.into_iter().map(|row| row.with(THREADS, both.threads as u64)).collect())
}

/// The rows of the simulated machine.
fn simulate(plan: &Plan<'_>, all: &[Both], machine: &Machine) -> Result<Vec<Row>, Failure> {
    let args = plan.args;
    let seeds = args.seeds.unwrap_or(if args.quick { QUICK_SEEDS } else { SEEDS });
    let cell = |both: &Both, pool| Cell {
        experiment: NAME,
        variant: Some(if both.threads == 1 { "one thread" } else { "two threads" }),
        machine,
        pool,
        shape: Shape::new(1, 1),
        tasks: args.tasks.unwrap_or(if args.quick { QUICK_TASKS } else { TASKS }),
        seeds,
        pin: true,
        memory_limit: args.memory_limit,
        most_steps: args.most_steps,
        // All of a run counts, on the real machine too.
        length: Length::Doubled { doublings: if args.tasks.is_none() { DOUBLINGS } else { 0 } },
    };
    let pools = || all.iter().flat_map(|both| both.simulated.iter().map(move |it| (both, it)));
    let mut size = Size::default();
    for (both, pool) in pools() {
        cell(both, pool).check_size(&mut size)?;
    }
    let progress = Progress::telling(seeds * pools().count() as u64);
    if let Some(line) = size.announcement() {
        progress.note(&format!("note: {line}"));
    }
    let row = |(both, pool): (&Both, _)| {
        let row = cell(both, pool).run(&progress)?;
        Ok(row.with(THREADS, both.threads as u64))
    };
    pools().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::moved;
    use crate::calibrate::Readings;
    use cantina_lab::probe::Probe;
    use cantina_record::{Kind, Row};

    /// Rows beside which a word took so many nanoseconds.
    fn rows(ways: &[f64]) -> Vec<Row> {
        let row = |&nanos: &f64| {
            Row {
                experiment: "validate".to_owned(),
                machine: "real".to_owned(),
                pool: "locked".to_owned(),
                kind: Kind::Ours,
                producers: 1,
                consumers: 1,
                fields: Default::default(),
            }
            .with("ping_pong_ns", nanos)
        };
        ways.iter().map(row).collect()
    }

    #[test]
    fn cores_that_moved_are_noticed_between_rows_and_since_the_probes() {
        let readings = |nanos| Readings {
            nodes: 1,
            cores: 2,
            megahertz: 1,
            probes: vec![(Probe::PingPong, nanos)],
            interruptions: Vec::new(),
        };
        assert_eq!(moved(None, &[]), None);
        assert_eq!(moved(None, &rows(&[30.0, 44.0])), None);
        assert_eq!(moved(None, &rows(&[30.0, 46.0])), Some((30.0, 46.0)));
        assert_eq!(moved(Some(&readings(32.0)), &rows(&[30.0, 44.0])), None);
        assert_eq!(moved(Some(&readings(160.0)), &rows(&[30.0])), Some((30.0, 160.0)));
    }
}
