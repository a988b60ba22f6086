//! From what was typed to what will be measured.

use super::job::{Column, Job, contestants};
use crate::allocator::Allocator;
use crate::args::{self, AllocatorChoice, BenchArgs};
use crate::peer;
use cantina_lab::experiment::Contestant;
use cantina_lab::experiment::throughput::{Pin, QUICK_SHAPES, SHAPES};
use cantina_lab::workload::{Payload, Shape};
use cantina_record::Kind;

/// How often a cell is measured, and how long a run takes.
const REPETITIONS: usize = 7;
const TARGET_MS: u64 = 200;
/// The same, quickly.
const QUICK_REPETITIONS: usize = 5;
const QUICK_TARGET_MS: u64 = 120;

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
    let all = contestants();
    let chosen = choose(args, &all)?;
    let columns = columns(args);
    if !chosen.iter().any(|each| columns.iter().any(|column| each.shapes.admit(column.shape()))) {
        let names: Vec<&str> = chosen.iter().map(|each| each.name.as_str()).collect();
        return Err(format!(
            "{} cannot run in these shapes; allowed: 1P/1C, or --pools that can",
            names.join(", ")
        ));
    }
    let (repetitions, target_ms) = match args.quick {
        true => (QUICK_REPETITIONS, QUICK_TARGET_MS),
        false => (REPETITIONS, TARGET_MS),
    };
    let job = |allocator, chosen: &[&Contestant]| Job {
        allocator,
        pools: chosen.iter().map(|each| each.name.clone()).collect(),
        columns: columns.clone(),
        repetitions: args.repetitions.map_or(repetitions, |count| count as usize),
        target_ms,
        tasks: args.tasks,
    };
    let mut jobs = match args.allocator {
        AllocatorChoice::System => vec![job(Allocator::System, &chosen)],
        AllocatorChoice::Mimalloc => vec![job(Allocator::Mimalloc, &chosen)],
        AllocatorChoice::Both => {
            // To the others the allocator makes no difference.
            let allocating: Vec<_> = chosen.iter().copied().filter(|each| each.allocates).collect();
            vec![job(Allocator::System, &chosen), job(Allocator::Mimalloc, &allocating)]
        }
    };
    jobs.retain(|job| job.steps() > 0);
    Ok(Plan { jobs })
}

/// Who takes part: whoever was named, or everybody; quickly, our pools and a few peers.
fn choose<'a>(args: &BenchArgs, all: &'a [Contestant]) -> Result<Vec<&'a Contestant>, String> {
    if !args.pools.is_empty() {
        let find = |name: &String| {
            all.iter().find(|each| each.name == *name).ok_or_else(|| {
                let names: Vec<&str> = all.iter().map(|each| each.name.as_str()).collect();
                format!("no pool is called `{name}`; allowed: {}", names.join(", "))
            })
        };
        return args.pools.iter().map(find).collect();
    }
    let is_quick = |each: &Contestant| match each.kind {
        Kind::Ours => true,
        Kind::Contender => !each.name.ends_with("-batch"),
        Kind::Peer => peer::all().iter().any(|peer| peer.name() == each.name && peer.is_quick()),
    };
    Ok(all.iter().filter(|each| !args.quick || is_quick(each)).collect())
}

/// Shapes and payloads as typed. Without a word about payloads it is a `u64`, and in a full run
/// once, one to one, a cache line.
fn columns(args: &BenchArgs) -> Vec<Column> {
    let shapes: Vec<Shape> = match (args.shapes.as_slice(), args.quick) {
        ([], true) => QUICK_SHAPES.to_vec(),
        ([], false) => SHAPES.to_vec(),
        (typed, _) => typed
            .iter()
            .map(|shape| Shape::new(shape.producers as usize, shape.consumers as usize))
            .collect(),
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
    if args.payloads.is_empty() && args.shapes.is_empty() && !args.quick {
        columns.push(column(Shape::new(1, 1), line));
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::{Plan, plan};
    use crate::allocator::Allocator;
    use crate::args::{AllocatorChoice, BenchArgs, Pin, Shape};
    use crate::command::bench::experiments;
    use std::path::PathBuf;

    fn args() -> BenchArgs {
        BenchArgs {
            experiments: vec![&experiments()[0]],
            quick: true,
            out: PathBuf::new(),
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
    fn a_quick_run_has_our_pools_and_the_telling_peers() {
        let quick = plan(&args()).unwrap();
        let full = plan(&BenchArgs { quick: false, ..args() }).unwrap();
        let (few, all) = (&quick.jobs[0], &full.jobs[0]);
        for name in ["locked", "locked-batch", "rtrb", "st3", "crossbeam-segqueue", "kanal"] {
            assert!(few.pools.iter().any(|pool| pool == name), "{name}");
        }
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
        let ring = BenchArgs { pools: vec!["rtrb".to_owned()], ..args() };
        assert_eq!(allocators(&plan(&ring).unwrap()), [Allocator::System]);
        let asked = BenchArgs { allocator: AllocatorChoice::Mimalloc, ..ring };
        assert_eq!(allocators(&plan(&asked).unwrap()), [Allocator::Mimalloc]);
    }

    #[test]
    fn an_unknown_pool_is_refused_with_those_there_are() {
        let error = plan(&BenchArgs { pools: vec!["lockd".to_owned()], ..args() }).unwrap_err();
        assert!(error.starts_with("no pool is called `lockd`; allowed: locked, "), "{error}");
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
