//! From what was typed to what will be measured.

use super::defaults;
use super::job::{Column, Job, LeftOut, contestants};
use crate::allocator::Allocator;
use crate::args::{self, AllocatorChoice, BenchArgs};
use crate::command::allowed::{check_pools, check_shapes, refuse_payloads, refuse_threads};
use crate::peer;
use cantina_lab::experiment::throughput::Pin;
use cantina_lab::experiment::{Contestant, capacity, density, placement, rooms_stack, throughput};
use cantina_lab::workload::{Payload, Shape};
use cantina_record::Kind;

/// How often a cell is measured, and how long a run takes.
const REPETITIONS: usize = 7;
const TARGET_MS: u64 = 200;
/// The same, quickly.
const QUICK_REPETITIONS: usize = 5;
const QUICK_TARGET_MS: u64 = 120;

/// How many trees of each kind are filled.
const TREES: usize = 200;
const QUICK_TREES: usize = 50;

/// What will be measured: a job for each allocator.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) jobs: Vec<Job>,
}

/// Turns the arguments into what will be run.
///
/// # Errors
/// One line that says what is allowed.
pub(crate) fn plan(args: &BenchArgs) -> Result<Plan, String> {
    let mut jobs = Vec::new();
    for experiment in &args.experiments {
        jobs.extend(jobs_of(args, experiment.name)?);
    }
    jobs.retain(|job| job.steps() > 0);
    Ok(Plan { jobs })
}

/// The jobs of one experiment: one for each allocator.
fn jobs_of(args: &BenchArgs, experiment: &str) -> Result<Vec<Job>, String> {
    if experiment == density::NAME {
        return Ok(vec![density_job(args)?]);
    }
    check_shapes(experiment, &args.shapes)?;
    refuse_payloads(experiment, &args.payloads)?;
    let parameters = defaults::parameters(experiment, args.quick);
    let all = contestants(experiment, &parameters);
    let chosen = choose(args, experiment, &all)?;
    let columns = columns(args, experiment);
    if !chosen.iter().any(|each| columns.iter().any(|column| each.shapes.admit(column.shape()))) {
        return Err(format!(
            "{} cannot run in these shapes; allowed: 1P/1C, or --pools that can",
            names(&chosen).join(", ")
        ));
    }
    let (repetitions, target_ms) = match args.quick {
        true => (QUICK_REPETITIONS, QUICK_TARGET_MS),
        false => (REPETITIONS, TARGET_MS),
    };
    let tasks = args.tasks.or_else(|| defaults::tasks(experiment, args.quick));
    let tasks = match experiment {
        rooms_stack::NAME => tasks.map(rooms_stack::nodes),
        _ => tasks,
    };
    let quick = left_out(args, experiment, &all, &chosen);
    let job = |allocator, chosen: &[&Contestant], left_out: Vec<LeftOut>| Job {
        experiment: experiment.to_owned(),
        allocator,
        pools: names(chosen),
        parameters: parameters.clone(),
        columns: columns.clone(),
        repetitions: args.repetitions.map_or(repetitions, |count| count as usize),
        target_ms,
        tasks,
        left_out,
    };
    // To the others the allocator makes no difference.
    let (allocating, others): (Vec<&Contestant>, Vec<&Contestant>) =
        chosen.iter().copied().partition(|each| each.allocates);
    Ok(match args.allocator {
        AllocatorChoice::System => vec![job(Allocator::System, &chosen, quick)],
        AllocatorChoice::Mimalloc => vec![job(Allocator::Mimalloc, &chosen, quick)],
        AllocatorChoice::Both => {
            let reason = "allocates nothing while tasks go through: see the system's allocator";
            let others = without(&others, reason).into_iter().chain(quick.clone()).collect();
            let system = job(Allocator::System, &chosen, quick);
            vec![system, job(Allocator::Mimalloc, &allocating, others)]
        }
    })
}

/// Who is not there of those who would take part, and whom `--quick` leaves out of them.
fn left_out(
    args: &BenchArgs,
    experiment: &str,
    all: &[Contestant],
    chosen: &[&Contestant],
) -> Vec<LeftOut> {
    if !args.pools.is_empty() {
        return Vec::new();
    }
    let absent = peer::scheduling::absent(experiment).into_iter();
    let absent = absent.map(|(pool, reason)| LeftOut {
        pool: pool.to_owned(),
        kind: Kind::Peer,
        reason: reason.to_owned(),
    });
    let absent: Vec<LeftOut> = absent.collect();
    if !args.quick {
        return absent;
    }
    let is_out = |each: &&Contestant| {
        let is_chosen = chosen.iter().any(|one| one.name == each.name);
        !is_chosen && !peer::scheduling::is_left_out(&each.name)
    };
    let mut out = without(&all.iter().filter(is_out).collect::<Vec<_>>(), "left out by --quick");
    out.extend(absent);
    out
}

/// These, each once, take no part for that reason.
fn without(contestants: &[&Contestant], reason: &str) -> Vec<LeftOut> {
    let mut out: Vec<LeftOut> = Vec::new();
    for each in contestants {
        if out.iter().all(|known| known.pool != each.name) {
            let (pool, reason) = (each.name.clone(), reason.to_owned());
            out.push(LeftOut { pool, kind: each.kind, reason });
        }
    }
    out
}

/// The job of filling trees: no allocator and no size of tasks matters to it.
fn density_job(args: &BenchArgs) -> Result<Job, String> {
    refuse_threads(density::NAME, &args.shapes, args.tasks)?;
    check_pools(density::NAME, &args.pools, &[density::POOL.to_owned()])?;
    let trees = if args.quick { QUICK_TREES } else { TREES };
    Ok(Job {
        experiment: density::NAME.to_owned(),
        allocator: match args.allocator {
            AllocatorChoice::Mimalloc => Allocator::Mimalloc,
            AllocatorChoice::System | AllocatorChoice::Both => Allocator::System,
        },
        pools: vec![density::POOL.to_owned()],
        parameters: defaults::parameters(density::NAME, args.quick),
        columns: Vec::new(),
        repetitions: args.repetitions.map_or(trees, |count| count as usize),
        target_ms: 0,
        tasks: None,
        left_out: Vec::new(),
    })
}

/// The names of contestants, each once.
fn names(contestants: &[&Contestant]) -> Vec<String> {
    let mut names: Vec<String> = contestants.iter().map(|each| each.name.clone()).collect();
    names.dedup();
    names
}

/// Each column with threads bound to cores and without.
fn both_ways(columns: &[Column]) -> Vec<Column> {
    let both = |&column: &Column| [true, false].map(|pin| Column { pin, ..column });
    columns.iter().flat_map(both).collect()
}

/// Who takes part: whoever was named, or everybody who leaves nothing behind; quickly, our pools and a few peers.
fn choose<'a>(
    args: &BenchArgs,
    experiment: &str,
    all: &'a [Contestant],
) -> Result<Vec<&'a Contestant>, String> {
    if !args.pools.is_empty() {
        let known = names(&all.iter().collect::<Vec<_>>());
        check_pools(experiment, &args.pools, &known)?;
        let named = |name: &String| {
            all.iter().filter(|each| each.name == *name).collect::<Vec<&Contestant>>()
        };
        return Ok(args.pools.iter().flat_map(named).collect());
    }
    let is_quick = |each: &Contestant| match each.kind {
        Kind::Ours => true,
        Kind::Contender => !each.name.ends_with("-batch"),
        Kind::Peer if [rooms_stack::NAME, capacity::NAME].contains(&experiment) => true,
        Kind::Peer => peer::is_quick(experiment, &each.name),
    };
    let wanted = |each: &&Contestant| {
        !peer::scheduling::is_left_out(&each.name) && (!args.quick || is_quick(each))
    };
    Ok(all.iter().filter(wanted).collect())
}

/// Shapes and payloads as typed. Without a word about payloads it is a `u64`, and in a full run of
/// `throughput` and `placement` once, one to one, a cache line.
fn columns(args: &BenchArgs, experiment: &str) -> Vec<Column> {
    let shapes: Vec<Shape> = match args.shapes.as_slice() {
        [] => defaults::shapes(experiment, args.quick),
        typed => typed.to_vec(),
    };
    let pin = match args.pin {
        args::Pin::Auto => Pin::Auto,
        args::Pin::Always => Pin::Always,
        args::Pin::Never => Pin::Never,
    };
    let column = |shape: Shape, payload_bytes: u64| Column {
        producers: shape.producers,
        consumers: shape.consumers,
        long_tasks: payload_bytes == Payload::Line.bytes(),
        pin: pin.applies(shape),
    };
    let (word, line) = (Payload::Word.bytes(), Payload::Line.bytes());
    let payloads = if args.payloads.is_empty() { &[word] } else { args.payloads.as_slice() };
    let mut columns: Vec<Column> = payloads
        .iter()
        .flat_map(|&payload| shapes.iter().map(move |&shape| column(shape, payload)))
        .collect();
    let has_lines = [throughput::NAME, placement::NAME].contains(&experiment);
    if args.payloads.is_empty() && args.shapes.is_empty() && !args.quick && has_lines {
        columns.push(column(Shape::new(1, 1), line));
    }
    if experiment == placement::NAME { both_ways(&columns) } else { columns }
}

#[cfg(test)]
mod tests {
    use super::{Plan, plan};
    use crate::allocator::Allocator;
    use crate::args::{AllocatorChoice, BenchArgs, Out, Pin};
    use crate::command::experiments;
    use cantina_record::Shape;

    fn args() -> BenchArgs {
        BenchArgs {
            experiments: vec![&experiments()[0]],
            quick: true,
            out: Out { folder: None, overwrite: false },
            shapes: Vec::new(),
            pools: Vec::new(),
            payloads: Vec::new(),
            repetitions: None,
            tasks: None,
            pin: Pin::Auto,
            allocator: AllocatorChoice::Both,
        }
    }

    fn allocators(plan: &Plan) -> Vec<Allocator> {
        plan.jobs.iter().map(|job| job.allocator).collect()
    }

    #[test]
    fn who_is_not_built_in_is_named() {
        let named = |experiment: &str, quick: bool, pools: &[&str]| {
            let experiment = experiments().iter().find(|each| each.name == experiment).unwrap();
            let pools = pools.iter().map(|pool| (*pool).to_owned()).collect();
            let plan = plan(&BenchArgs { experiments: vec![experiment], quick, pools, ..args() });
            let all = plan.unwrap().jobs.remove(0).left_out;
            all.into_iter().map(|each| each.pool).collect::<Vec<String>>()
        };
        for quick in [true, false] {
            assert!(named("fib", quick, &[]).contains(&"forte".to_owned()));
            let is_there = named("ddb", quick, &[]).contains(&"kameo".to_owned());
            assert_eq!(is_there, !cfg!(feature = "actors"));
            assert!(named("ddb", quick, &["scheduler"]).is_empty(), "nobody has asked for them");
        }
    }

    #[test]
    fn a_quick_run_has_our_pools_and_the_telling_peers() {
        let quick = plan(&args()).unwrap();
        let full = plan(&BenchArgs { quick: false, ..args() }).unwrap();
        let (few, all) = (&quick.jobs[0], &full.jobs[0]);
        for stranger in ["crossfire", "std-mpsc"] {
            assert!(!few.pools.iter().any(|pool| pool == stranger), "{stranger}");
        }
        for name in ["locked", "locked-batch", "rtrb", "st3", "crossbeam-segqueue", "kanal"] {
            assert!(few.pools.iter().any(|pool| pool == name), "{name}");
        }
        for batch in ["st3-batch", "rtrb-batch", "kanal-batch"] {
            assert!(few.pools.iter().any(|pool| pool == batch), "to compare batches with: {batch}");
        }
        // Who is not there is named.
        let everybody = few.pools.len() + few.left_out.len();
        assert_eq!((everybody, full.jobs[0].left_out.len()), (all.pools.len(), 0));
        assert!(few.left_out.iter().any(|each| each.pool == "crossfire"), "{:?}", few.left_out);
        assert!(few.pools.len() < all.pools.len() && few.columns.len() < all.columns.len());
        assert!((few.repetitions, all.repetitions) == (5, 7) && few.target_ms < all.target_ms);
        assert!(few.columns.iter().all(|column| !column.long_tasks));
        let lines = all.columns.iter().filter(|column| column.long_tasks);
        assert!(lines.map(|line| (line.producers, line.consumers)).eq([(1, 1)]));
    }

    #[test]
    fn only_those_that_allocate_are_measured_with_both_allocators() {
        let both = plan(&args()).unwrap();
        assert_eq!(allocators(&both), [Allocator::System, Allocator::Mimalloc]);
        let pools = &both.jobs[1].pools;
        assert!(pools.iter().any(|pool| pool == "crossbeam-segqueue"), "{pools:?}");
        assert!(!pools.iter().any(|pool| pool == "rtrb"), "{pools:?}");
        let rtrb = both.jobs[1].left_out.iter().find(|each| each.pool == "rtrb").unwrap();
        assert!(rtrb.reason.starts_with("allocates nothing"), "{rtrb:?}");
        let ring = BenchArgs { pools: vec!["rtrb".to_owned()], ..args() };
        assert_eq!(allocators(&plan(&ring).unwrap()), [Allocator::System]);
        let asked = BenchArgs { allocator: AllocatorChoice::Mimalloc, ..ring };
        assert_eq!(allocators(&plan(&asked).unwrap()), [Allocator::Mimalloc]);
    }

    #[test]
    fn an_unknown_pool_is_refused_with_those_there_are() {
        let error = plan(&BenchArgs { pools: vec!["lockd".to_owned()], ..args() }).unwrap_err();
        assert!(
            error.starts_with(
                "no pool is called `lockd` (did you mean `locked`?); allowed: locked, "
            ),
            "{error}"
        );
        assert!(error.contains("rtrb"), "{error}");
    }

    #[test]
    fn a_pool_that_cannot_run_in_any_of_the_shapes_is_refused() {
        let shapes = vec![Shape { producers: 2, consumers: 2 }];
        let error =
            plan(&BenchArgs { pools: vec!["rtrb".to_owned()], shapes, ..args() }).unwrap_err();
        assert!(error.starts_with("rtrb cannot run in these shapes; allowed:"), "{error}");
    }

    #[test]
    fn each_experiment_has_its_own_shapes_parameters_and_contestants() {
        let job = |name: &str| {
            let experiments = experiments().iter().filter(|each| each.name == name).collect();
            plan(&BenchArgs { experiments, ..args() }).unwrap().jobs.remove(0)
        };
        let shapes = |name: &str| {
            let columns = job(name).columns;
            columns.iter().map(|each| each.shape().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(shapes("ratios"), ["1P/7C", "4P/4C", "7P/1C"]);
        assert_eq!(shapes("single-producer"), ["1P/1C", "1P/4C"]);
        assert_eq!(shapes("chunk-size"), ["2P/2C"]);
        assert_eq!(shapes("pollers"), ["1P/1C"]);
        assert_eq!(shapes("tree-height"), ["4P/4C"]);
        assert_eq!(shapes("fairness"), ["2P/2C"]);
        assert_eq!((job("fairness").tasks, job("tree-height").tasks), (Some(50_000), None));
        let trees = job("density");
        assert_eq!((trees.parameters.len(), trees.steps()), (3, 2 * 4 * 3));
        let heights = job("tree-height");
        assert_eq!(heights.pools, ["cafe", "cafe-wait-free", "ms-queue"]);
        assert_eq!(heights.parameters, [0, 2, 4, 8, 12]);
        let chunks = job("chunk-size");
        assert!(chunks.pools.starts_with(&["salsa".to_owned()]), "{:?}", chunks.pools);
        assert!(!chunks.pools.contains(&"locked".to_owned()), "{:?}", chunks.pools);
        assert_eq!(chunks.parameters, [8, 125, 1000]);
        let pollers = job("pollers");
        assert_eq!(pollers.parameters, [0, 2]);
        assert!(pollers.pools.contains(&"locked".to_owned()), "{:?}", pollers.pools);
        assert!(job("ratios").parameters.is_empty());
        let (fib, ddb, tell) = (job("fib"), job("ddb"), job("tell"));
        assert_eq!(shapes("fib"), ["1P/1C", "2P/2C"]);
        assert_eq!((shapes("ddb"), shapes("tell")), (shapes("fib"), vec!["2P/1C".to_owned()]));
        assert!(!fib.pools.contains(&"forte".to_owned()), "{:?}", fib.pools);
        assert_eq!((fib.parameters, ddb.parameters.len()), (vec![0, 10_000], 0));
        for (pools, name) in
            [(&fib.pools, "rayon-scope"), (&ddb.pools, "xtra"), (&tell.pools, "std-mpsc")]
        {
            assert!(pools[0] == "scheduler" && pools.iter().any(|pool| pool == name), "{pools:?}");
        }
        let sharing = job("rooms-stack");
        assert_eq!((sharing.parameters, sharing.tasks), (vec![40, 600], Some(1_008_000)));
        for name in ["room-stack", "locked-stack-by-64", "parking-lot-stack", "crossbeam-segqueue"]
        {
            assert!(sharing.pools.iter().any(|pool| pool == name), "{name}");
        }
    }

    #[test]
    fn the_limit_runs_one_to_one() {
        let quick = plan(&args()).unwrap();
        assert!(quick.jobs[0].pools.contains(&"stream".to_owned()));
        let stream = plan(&BenchArgs { pools: vec!["stream".to_owned()], ..args() }).unwrap();
        // A warm-up and the repetitions of one cell, and no run with the other allocator.
        assert_eq!((stream.jobs.len(), stream.jobs[0].steps()), (1, 6));
    }

    #[test]
    fn what_was_typed_is_what_is_measured() {
        let typed = BenchArgs {
            shapes: vec![
                Shape { producers: 3, consumers: 1 },
                Shape { producers: 1, consumers: 1 },
            ],
            pools: vec!["kanal".to_owned(), "locked".to_owned()],
            payloads: vec![64, 8],
            repetitions: Some(2),
            tasks: Some(500),
            allocator: AllocatorChoice::System,
            ..args()
        };
        let plan = plan(&typed).unwrap();
        let job = &plan.jobs[0];
        assert_eq!(
            (job.pools.as_slice(), job.repetitions, job.tasks),
            (["kanal".to_owned(), "locked".to_owned()].as_slice(), 2, Some(500))
        );
        let columns = job.columns.iter();
        let columns: Vec<_> = columns
            .map(|each| (each.shape().to_string(), each.payload().bytes(), each.pin))
            .collect();
        let expected =
            [("3P/1C", 64, false), ("1P/1C", 64, true), ("3P/1C", 8, false), ("1P/1C", 8, true)];
        assert_eq!(columns, expected.map(|(shape, bytes, pin)| (shape.to_owned(), bytes, pin)));
    }
}
