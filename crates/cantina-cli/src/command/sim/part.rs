//! One experiment of a simulation: who runs in which shapes on which variants of the machine.

use super::cell::{Cell, Length};
use super::variant::{Variant, variants};
use crate::args::SimArgs;
use crate::command::allowed::{check_pools, check_shapes};
use cantina_record::{Kind, Row};
use cantina_sim::cost::Machine;
use lab_on_sim::experiment::scheduling::{ddb, fib, tell};
use lab_on_sim::experiment::{
    Contestant, capacity, chunk_size, fairness, pollers, ratios, registered, rooms_stack,
    scheduling, single_producer, throughput, tree_height,
};
use lab_on_sim::workload::Shape;

/// As many producers as consumers, from one processor each to half of the papers' machine.
const SHAPES: [usize; 5] = [1, 2, 4, 8, 16];
const QUICK_SHAPES: [usize; 3] = [1, 4, 16];
/// How often a cell gets twice as many tasks because it was too short.
const DOUBLINGS: u32 = 3;

/// Workers among pollers, and how many pollers.
const WORKERS: [usize; 2] = [4, 16];
const QUICK_WORKERS: [usize; 1] = [4];
const POLLERS: [u64; 6] = [0, 1, 2, 4, 8, 16];
const QUICK_POLLERS: [u64; 2] = [0, 4];

/// Workers who share a stack: the paper's.
const SHARING: [usize; 9] = [1, 2, 4, 8, 12, 16, 20, 25, 30];
const QUICK_SHARING: [usize; 4] = [1, 2, 8, 30];

/// One experiment of a simulation.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) experiment: &'static str,
    pools: Vec<Contestant>,
    shapes: Vec<Shape>,
    variants: Vec<Variant>,
    /// Tasks of each producer; of a scheduler, or of workers who share them, all there are.
    tasks: u64,
    /// Whether it was left to the experiment how many.
    free: bool,
    cores: usize,
    /// Shapes that an experiment has by itself, and the machine no room for.
    too_large: Vec<Shape>,
    /// Who takes no part in a quick run, and whose they are.
    hasty: Vec<(String, Kind)>,
}

impl Part {
    /// What `args` ask of an experiment.
    ///
    /// # Errors
    /// One line that says what is allowed.
    pub(super) fn new(
        experiment: &'static str,
        args: &SimArgs,
        machine: &Machine,
    ) -> Result<Self, String> {
        let cores = machine.core_count();
        check_shapes(experiment, &args.shapes)?;
        let shapes = match args.shapes.as_slice() {
            [] => default_shapes(experiment, args.quick, cores),
            typed => typed.to_vec(),
        };
        // A default that does not fit is left out; what was asked for is not.
        let (fitting, large): (Vec<_>, Vec<_>) =
            shapes.into_iter().partition(|shape| threads(experiment, *shape, 0) <= cores);
        if let Some(shape) = large.first().filter(|_| !args.shapes.is_empty() || fitting.is_empty())
        {
            return Err(format!(
                "{shape} does not fit on {}; allowed: at most {cores} threads",
                machine.name()
            ));
        }
        let (pools, hasty) = pools(experiment, args)?;
        Ok(Self {
            experiment,
            pools,
            hasty,
            too_large: large,
            shapes: fitting,
            variants: variants(experiment, machine),
            tasks: args.tasks.unwrap_or_else(|| tasks(experiment, args.quick)),
            free: args.tasks.is_none(),
            cores,
        })
    }

    /// Everything to run, in the order of the rows.
    pub(super) fn cells(&self) -> impl Iterator<Item = (&Contestant, Shape, &Variant)> {
        self.pools.iter().flat_map(move |pool| {
            let fits = move |shape: &Shape| self.obstacle(pool, *shape).is_none();
            let shapes = self.shapes.iter().copied().filter(fits);
            shapes.flat_map(move |shape| {
                self.variants.iter().map(move |variant| (pool, shape, variant))
            })
        })
    }

    /// Why a pool is not run in a shape, if it is not.
    fn obstacle(&self, pool: &Contestant, shape: Shape) -> Option<String> {
        let pollers = pool.parameter.map_or(0, |(_, value)| value);
        if !pool.shapes.admit(shape) {
            return Some(format!("{} {shape}: {}", pool.name, pool.shapes.reason()));
        }
        let threads = threads(self.experiment, shape, pollers);
        (threads > self.cores).then(|| {
            let cores = self.cores;
            format!("{shape} beside {pollers} pollers: {threads} threads, and {cores} processors")
        })
    }

    /// What is not run though nobody has said so, and why, in a line each.
    pub(super) fn left_out(&self) -> Vec<String> {
        let Self { experiment, cores, .. } = self;
        let names = |names: Vec<String>| names.join(", ");
        let mut lines = Vec::new();
        if !self.hasty.is_empty() {
            let pools = names(self.hasty.iter().map(|(name, _)| name.clone()).collect());
            lines.push(format!("{experiment}: left out by --quick: {pools}"));
        }
        if !self.too_large.is_empty() {
            let shapes = names(self.too_large.iter().map(Shape::to_string).collect());
            lines.push(format!("{experiment}: more threads than {cores} processors: {shapes}"));
        }
        for pool in &self.pools {
            for shape in &self.shapes {
                let line = self.obstacle(pool, *shape).map(|why| format!("{experiment}: {why}"));
                lines.extend(line.filter(|line| !lines.contains(line)));
            }
        }
        lines
    }

    /// Rows without values of whom a quick run leaves out.
    pub(super) fn skipped(&self, machine: &Machine) -> Vec<Row> {
        let row = |(pool, kind): &(String, Kind), shape: &Shape| {
            let row = Row {
                experiment: self.experiment.to_owned(),
                machine: format!("sim:{}", machine.name()),
                pool: pool.clone(),
                kind: *kind,
                producers: shape.producers as u64,
                consumers: shape.consumers as u64,
                fields: Default::default(),
            };
            row.with("skipped", "left out by --quick")
        };
        let of = |pool| self.shapes.iter().map(move |shape| row(pool, shape));
        self.hasty.iter().flat_map(of).collect()
    }

    /// One of them.
    pub(super) fn cell<'a>(
        &self,
        pool: &'a Contestant,
        shape: Shape,
        variant: &'a Variant,
        seeds: u64,
        args: &SimArgs,
    ) -> Cell<'a> {
        let length = length(self.experiment, if self.free { DOUBLINGS } else { 0 });
        Cell {
            experiment: self.experiment,
            variant: variant.name(),
            machine: &variant.machine,
            pool,
            shape,
            tasks: match self.experiment {
                rooms_stack::NAME => rooms_stack::nodes(self.tasks),
                name if scheduling::NAMES.contains(&name) => self.tasks,
                // As many for each consumer, where those are more: of fewer, most of them would find nothing.
                _ if self.free => self.tasks * shape.producers.max(shape.consumers) as u64,
                _ => self.tasks * shape.producers as u64,
            },
            length,
            seeds,
            pin: variant.pin,
            memory_limit: args.memory_limit,
            most_steps: args.most_steps,
        }
    }
}

/// How many threads a shape has in an experiment, beside so many pollers if it has any.
fn threads(experiment: &str, shape: Shape, pollers: u64) -> usize {
    match experiment {
        pollers::NAME => pollers::threads(shape, pollers),
        name if scheduling::has_workers(name) => shape.consumers,
        rooms_stack::NAME => shape.producers,
        _ => shape.threads(),
    }
}

/// What of an experiment's runs counts.
fn length(experiment: &str, doublings: u32) -> Length {
    match experiment {
        // A job of one size, of which each part is its own.
        fib::NAME | rooms_stack::NAME => Length::Whole,
        // Consumers that lag behind, who overtakes whom, and requests under way: what is measured is a matter of how much there is.
        tree_height::NAME | fairness::NAME | ddb::NAME | tell::NAME => {
            Length::Doubled { doublings }
        }
        _ => Length::Window { doublings },
    }
}

fn default_shapes(experiment: &str, quick: bool, cores: usize) -> Vec<Shape> {
    let square = |counts: &[usize]| counts.iter().map(|&count| Shape::new(count, count)).collect();
    match (experiment, quick) {
        (ratios::NAME, _) => ratios::shapes(cores, quick),
        (single_producer::NAME, _) => single_producer::shapes(cores.saturating_sub(1), quick),
        // The papers' shape: half of the processors each.
        (chunk_size::NAME | capacity::NAME | tree_height::NAME | fairness::NAME, _) => {
            square(&[(cores / 2).max(1)])
        }
        (fib::NAME | ddb::NAME, false) => square(&scheduling::SIMULATED_WORKERS),
        (fib::NAME | ddb::NAME, true) => square(&scheduling::QUICK_SIMULATED_WORKERS),
        (tell::NAME, false) => tell::SHAPES.to_vec(),
        (tell::NAME, true) => tell::QUICK_SHAPES.to_vec(),
        (rooms_stack::NAME, false) => square(&SHARING),
        (rooms_stack::NAME, true) => square(&QUICK_SHARING),
        (pollers::NAME, false) => square(&WORKERS),
        (pollers::NAME, true) => square(&QUICK_WORKERS),
        (_, false) => square(&SHAPES),
        (_, true) => square(&QUICK_SHAPES),
    }
}

/// Tasks of each producer, or all calls or messages of a scheduler, or nodes of workers who share them: enough to fill some chunks where
/// chunks are what it is about.
fn tasks(experiment: &str, quick: bool) -> u64 {
    match (experiment, quick) {
        // For each consumer: of four times as many, the slowest stack takes more steps with 31 than a cell may.
        (single_producer::NAME, false) => 5_000,
        // Those of one number: 22, or 20. Of less, its beginning and end, where not all workers have something, are
        // the larger part.
        (fib::NAME, false) => fib::calls(22),
        (fib::NAME, true) => fib::calls(20),
        // The upper levels of the paper's trees.
        (rooms_stack::NAME, false) => 240_000,
        (rooms_stack::NAME, true) => 48_000,
        // The end is a small part of it: of half as many, SALSA+CAS would lose a tenth of what it has.
        (throughput::NAME, false) => 40_000,
        (_, false) => 20_000,
        (throughput::NAME, true) => 16_000,
        (_, true) => 4_000,
    }
}

/// Who takes part, and whom a quick run leaves out.
#[expect(clippy::type_complexity, reason = "two lists")]
fn pools(
    experiment: &str,
    args: &SimArgs,
) -> Result<(Vec<Contestant>, Vec<(String, Kind)>), String> {
    let all = match (experiment, args.quick) {
        (chunk_size::NAME, false) => chunk_size::contestants(&chunk_size::SIZES),
        (chunk_size::NAME, true) => chunk_size::contestants(&chunk_size::QUICK_SIZES),
        (capacity::NAME, false) => capacity::contestants(&capacity::CAPACITIES),
        (capacity::NAME, true) => capacity::contestants(&capacity::QUICK_CAPACITIES),
        (tree_height::NAME, false) => tree_height::contestants(&tree_height::HEIGHTS),
        (tree_height::NAME, true) => tree_height::contestants(&tree_height::QUICK_HEIGHTS),
        (fairness::NAME, false) => fairness::contestants(&fairness::HEIGHTS),
        (fairness::NAME, true) => fairness::contestants(&fairness::QUICK_HEIGHTS),
        (rooms_stack::NAME, false) => rooms_stack::contestants(&rooms_stack::SIMULATED_PERCENT),
        (rooms_stack::NAME, true) => rooms_stack::contestants(&rooms_stack::QUICK_PERCENT),
        (pollers::NAME, false) => pollers::contestants(&POLLERS),
        (pollers::NAME, true) => pollers::contestants(&QUICK_POLLERS),
        (fib::NAME, false) => fib::contestants(&fib::WORK),
        (fib::NAME, true) => fib::contestants(&fib::QUICK_WORK),
        (ddb::NAME, false) => ddb::contestants_with(&ddb::WORK),
        (ddb::NAME, true) => ddb::contestants_with(&ddb::QUICK_WORK),
        (tell::NAME, _) => tell::contestants(),
        _ => registered(),
    };
    let mut names: Vec<String> = all.iter().map(|each| each.name.clone()).collect();
    names.dedup();
    check_pools(experiment, &args.pools, &names)?;
    let wanted = |each: &Contestant| match args.pools.as_slice() {
        [] => !(args.quick && each.name.ends_with("-batch")),
        typed => typed.contains(&each.name),
    };
    let (chosen, others): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
    let mut hasty: Vec<(String, Kind)> = Vec::new();
    for each in others.into_iter().filter(|_| args.pools.is_empty()) {
        if hasty.iter().all(|(name, _)| *name != each.name) {
            hasty.push((each.name, each.kind));
        }
    }
    Ok((chosen, hasty))
}

#[cfg(test)]
mod tests {
    use super::Part;
    use crate::args::SimArgs;
    use crate::command::sim::lemma::Lemma;
    use cantina_sim::cost::Machine;
    use std::collections::BTreeSet;

    fn part(words: &str) -> Part {
        let args = SimArgs::of_words(words);
        Part::new(args.experiments[0].name, &args, &args.machine()).unwrap()
    }

    fn names(words: &str) -> Vec<String> {
        let args = SimArgs::of_words(words);
        let part = part(words);
        let cells = part.cells();
        cells
            .map(|(pool, shape, variant)| part.cell(pool, shape, variant, 1, &args).name())
            .collect()
    }

    #[test]
    fn every_cell_has_a_name_of_its_own() {
        let parts = ["placement", "chunk-size", "capacity", "pollers", "rooms-stack", "fib", "ddb"];
        let parts = parts.iter().chain(&["throughput", "tree-height", "fairness", "tell"]);
        for experiment in parts {
            for quick in ["", " --quick"] {
                let names = names(&format!("{experiment}{quick}"));
                let distinct: BTreeSet<&String> = names.iter().collect();
                assert!(names.len() > 1 && distinct.len() == names.len(), "{names:?}");
            }
        }
        for experiment in ["density", "steps", "write-all"] {
            let args = SimArgs::of_words(experiment);
            let lemma = Lemma::new(experiment, &args, &Machine::default()).unwrap().unwrap();
            let distinct: BTreeSet<String> = lemma.places().into_iter().collect();
            assert_eq!(distinct.len(), lemma.cells(), "{experiment}");
        }
        let placed = names("placement --pools locked --threads 4");
        assert_eq!(placed[0], "placement 4P/4C locked, local");
        let chunks = names("chunk-size --pools salsa");
        assert!(chunks[0].starts_with("chunk-size 16P/16C salsa, chunk size "), "{chunks:?}");
    }

    #[test]
    fn tasks_grow_with_the_larger_number_of_threads_unless_they_were_counted() {
        let tasks = |words: &str| {
            let args = SimArgs::of_words(words);
            let part = part(words);
            part.cells()
                .map(|(pool, shape, it)| part.cell(pool, shape, it, 1, &args).tasks)
                .collect()
        };
        for experiment in ["throughput", "ratios", "single-producer", "placement", "fairness"] {
            let one: Vec<u64> = tasks(&format!("{experiment} --pools ms-queue --shape 1P/1C"));
            let many: Vec<u64> = tasks(&format!("{experiment} --pools ms-queue --shape 1P/8C"));
            assert_eq!(many[0], 8 * one[0], "{experiment}");
            let counted = format!("{experiment} --pools ms-queue --tasks 50 --shape");
            assert_eq!(tasks(&format!("{counted} 1P/8C"))[0], 50, "{experiment}");
        }
        assert_eq!(tasks("throughput --pools locked --tasks 50 --shape 4P/2C"), [200]);
    }

    #[test]
    fn what_is_left_out_is_named() {
        let lines = part("throughput --quick --machine 2x4").left_out();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("throughput: left out by --quick: "), "{lines:?}");
        assert!(lines[0].contains("salsa-batch"), "{lines:?}");
        assert_eq!(lines[1], "throughput: more threads than 8 processors: 16P/16C");
        let lines = part("pollers --quick --machine 1x6 --pools salsa").left_out();
        assert_eq!(lines, ["pollers: 4P/4C beside 4 pollers: 8 threads, and 6 processors"]);
        assert_eq!(part("throughput --pools locked").left_out(), [""; 0]);
        let quick = part("throughput --quick --machine 2x4");
        let rows = quick.skipped(&Machine::default());
        assert!(rows.iter().all(|row| row.check().is_ok() && row.text("skipped").is_some()));
        assert!(rows.len() > 1 && part("throughput").skipped(&Machine::default()).is_empty());
    }
}
