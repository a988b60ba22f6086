//! `cantina sim`: an experiment on the simulated machine, with the same code, tables and page.
//!
//! The seed decides everything: two runs of the same program with the same arguments write the same
//! bytes. So nothing of this machine or this moment goes into the record.

use crate::args::SimArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::surroundings;
use crate::view::Progress;
use cantina_record::{Facts, Record, Row};
use cantina_sim::cost::Machine;
use cantina_sim::engine::Simulation;
use cantina_sim::time::Duration;
use lab_on_sim::experiment::{Contestant, Spread, registered};
use lab_on_sim::workload::{Assignment, Payload, Reading, Shape};

/// Square shapes, from one processor each to half of the papers' machine.
const SHAPES: [usize; 5] = [1, 2, 4, 8, 16];
const QUICK_SHAPES: [usize; 3] = [1, 4, 16];
/// Tasks of each producer.
const TASKS: u64 = 1_000;
const QUICK_TASKS: u64 = 250;
/// How often a cell is run, each time from another seed.
const SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 3;
/// Steps after which a run hangs, for each of its tasks.
const STEPS_PER_TASK: u64 = 100_000;
/// Virtual time in which nothing comes before tasks are called lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// What will be run.
pub(super) struct Plan<'a> {
    args: &'a SimArgs,
    machine: Machine,
    pools: Vec<Contestant>,
    shapes: Vec<Shape>,
    seeds: u64,
    tasks: u64,
}

/// Turns the arguments into what will be run.
pub(super) fn plan(args: &SimArgs) -> Result<Plan<'_>, Failure> {
    let machine = args.machine.clone();
    let shapes: Vec<Shape> = match (args.shapes.as_slice(), args.quick) {
        ([], true) => QUICK_SHAPES.map(|threads| Shape::new(threads, threads)).to_vec(),
        ([], false) => SHAPES.map(|threads| Shape::new(threads, threads)).to_vec(),
        (typed, _) => typed
            .iter()
            .map(|shape| Shape::new(shape.producers as usize, shape.consumers as usize))
            .collect(),
    };
    // A default that does not fit is left out; what was asked for is not.
    let cores = machine.core_count();
    let (fitting, large): (Vec<_>, Vec<_>) =
        shapes.into_iter().partition(|shape| shape.threads() <= cores);
    if let Some(shape) = large.first().filter(|_| !args.shapes.is_empty() || fitting.is_empty()) {
        return Err(Failure::BadInput(format!(
            "{shape} does not fit on {}; allowed: at most {cores} threads",
            machine.name()
        )));
    }
    Ok(Plan {
        args,
        machine,
        pools: pools(args)?,
        shapes: fitting,
        seeds: args.seeds.unwrap_or(if args.quick { QUICK_SEEDS } else { SEEDS }),
        tasks: args.tasks.unwrap_or(if args.quick { QUICK_TASKS } else { TASKS }),
    })
}

fn pools(args: &SimArgs) -> Result<Vec<Contestant>, Failure> {
    let all = registered();
    let names: Vec<String> = all.iter().map(|each| each.name.clone()).collect();
    if let Some(unknown) = args.pools.iter().find(|name| !names.contains(name)) {
        let allowed = names.join(", ");
        return Err(Failure::BadInput(format!(
            "no pool is called `{unknown}`; allowed: {allowed}"
        )));
    }
    let wanted = |each: &Contestant| match args.pools.as_slice() {
        [] => !(args.quick && each.name.ends_with("-batch")),
        typed => typed.contains(&each.name),
    };
    Ok(all.into_iter().filter(wanted).collect())
}

/// Runs everything that was planned.
pub(super) fn run(plan: &Plan<'_>) -> Result<Record, Failure> {
    let cells = plan.pools.len() as u64 * plan.shapes.len() as u64;
    let progress = Progress::new(cells * plan.seeds);
    let mut rows = Vec::new();
    for experiment in &plan.args.experiments {
        for pool in &plan.pools {
            for &shape in plan.shapes.iter().filter(|shape| pool.shapes.admit(**shape)) {
                progress.doing(&format!("{} {shape} {}", experiment.name, pool.name));
                rows.push(cell(plan, experiment.name, pool, shape, &progress)?);
            }
        }
    }
    let machine = &plan.machine;
    Ok(Record {
        machine: Facts::new()
            .with("simulated", machine.name())
            .with("cores", machine.core_count() as u64)
            .with("nodes", machine.nodes() as u64)
            .with("megahertz", machine.megahertz())
            .with("command", plan.args.command_line()),
        commit: surroundings::commit().to_owned(),
        rows,
    })
}

fn cell(
    plan: &Plan<'_>,
    experiment: &str,
    pool: &Contestant,
    shape: Shape,
    progress: &Progress,
) -> Result<Row, Failure> {
    let tasks = plan.tasks * shape.producers as u64;
    let mut got = Vec::new();
    let mut put = Vec::new();
    for seed in 1..=plan.seeds {
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        let reading = simulate(plan, pool, shape, tasks, seed)?;
        let rate = |time: Duration| tasks as f64 * 1e3 / (time.as_nanos() as f64).max(1.0);
        got.push(rate(reading.elapsed));
        put.push(rate(reading.put_elapsed));
        progress.advance(1);
    }
    let spread = |rates: Vec<f64>| Spread::of(rates).expect("there is at least one seed");
    let (got, put) = (spread(got), spread(put));
    Ok(Row {
        experiment: experiment.to_owned(),
        machine: format!("sim:{}", plan.machine.name()),
        pool: pool.name.clone(),
        kind: pool.kind,
        producers: shape.producers as u64,
        consumers: shape.consumers as u64,
        fields: Default::default(),
    }
    .with("mops_median", got.median)
    .with("mops_min", got.min)
    .with("mops_max", got.max)
    .with("put_mops_median", put.median)
    .with("payload_bytes", Payload::Word.bytes())
    .with("tasks", tasks)
    .with("seeds", plan.seeds))
}

fn simulate(
    plan: &Plan<'_>,
    pool: &Contestant,
    shape: Shape,
    tasks: u64,
    seed: u64,
) -> Result<Reading, Failure> {
    let assignment = Assignment { shape, tasks, pin: true, patience: PATIENCE };
    let outcome = Simulation::new()
        .machine(plan.machine.clone())
        .seed(seed)
        .steps(tasks.saturating_mul(STEPS_PER_TASK))
        .run_timed(|| (pool.drive)(Payload::Word, &assignment));
    let place = format!("{} at {shape} with seed {seed}", pool.name);
    match outcome {
        Ok(outcome) => outcome.value.map_err(|fault| Failure::Failed(format!("{place}: {fault}"))),
        Err(failure) => Err(Failure::Failed(format!("{place}: {failure}"))),
    }
}
