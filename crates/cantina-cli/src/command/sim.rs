//! `cantina sim`: an experiment on the simulated machine, with the same code, tables and page.
//!
//! The seed decides everything: two runs of the same program with the same arguments write the same
//! bytes. So nothing of this machine or this moment goes into the record.

mod cell;
mod lemma;
mod part;
mod size;
pub(crate) mod validate;
mod variant;

use crate::allocator;
use crate::args::SimArgs;
use crate::failure::Failure;
use crate::surroundings;
use crate::view::Progress;
use cantina_record::{Facts, Record};
use cantina_sim::cost::Machine;
use lab_on_sim::experiment::scheduling;
use lemma::{Lemma, Runs};
use part::Part;
use size::Size;

/// How often a cell is run, each time from another seed.
const SEEDS: u64 = 5;
const QUICK_SEEDS: u64 = 2;

/// What will be run.
pub(super) struct Plan<'a> {
    args: &'a SimArgs,
    machine: Machine,
    parts: Vec<Part>,
    lemmas: Vec<Lemma>,
    seeds: u64,
}

impl Plan<'_> {
    fn runs<'a>(&'a self, progress: &'a Progress) -> Runs<'a> {
        let SimArgs { memory_limit, most_steps, .. } = *self.args;
        Runs { machine: &self.machine, seeds: self.seeds, memory_limit, most_steps, progress }
    }
}

/// Turns the arguments into what will be run.
pub(super) fn plan(args: &SimArgs) -> Result<Plan<'_>, Failure> {
    allocator::simulate()?;
    let machine = args.machine();
    let names = || args.experiments.iter().map(|experiment| experiment.name);
    let lemmas = names().filter_map(|name| Lemma::new(name, args, &machine).transpose());
    let lemmas = lemmas.collect::<Result<_, String>>().map_err(Failure::BadInput)?;
    let parts = names().filter(|name| !lemma::NAMES.contains(name));
    let parts = parts.map(|name| Part::new(name, args, &machine));
    let parts = parts.collect::<Result<_, String>>().map_err(Failure::BadInput)?;
    let seeds = args.seeds.unwrap_or(if args.quick { QUICK_SEEDS } else { SEEDS });
    Ok(Plan { args, machine, parts, lemmas, seeds })
}

/// Runs everything that was planned.
pub(super) fn run(plan: &Plan<'_>) -> Result<Record, Failure> {
    let cells: usize = plan.parts.iter().map(|part| part.cells().count()).sum();
    let cells = cells + plan.lemmas.iter().map(Lemma::cells).sum::<usize>();
    let mut size = Size::default();
    for part in &plan.parts {
        for (pool, shape, variant) in part.cells() {
            part.cell(pool, shape, variant, plan.seeds, plan.args).check_size(&mut size)?;
        }
    }
    for lemma in &plan.lemmas {
        lemma.check_size(&plan.runs(&Progress::new(0)), &mut size)?;
    }
    let progress = Progress::telling(cells as u64 * plan.seeds);
    let left_out = plan.parts.iter().flat_map(Part::left_out);
    let left_out = left_out.chain(plan.lemmas.iter().flat_map(Lemma::left_out));
    for line in left_out.chain(size.announcement()) {
        progress.note(&format!("note: {line}"));
    }
    let mut rows = Vec::new();
    for part in &plan.parts {
        let mut cells = Vec::new();
        for (pool, shape, variant) in part.cells() {
            let cell = part.cell(pool, shape, variant, plan.seeds, plan.args);
            cells.push(variant.label(cell.run(&progress)?));
        }
        cells.extend(part.skipped(&plan.machine));
        rows.extend(match scheduling::NAMES.contains(&part.experiment) {
            true => scheduling::finish(cells),
            false => cells,
        });
    }
    for lemma in &plan.lemmas {
        rows.extend(lemma.run(&plan.runs(&progress))?);
    }
    let machine = &plan.machine;
    Ok(Record {
        machine: Facts::new()
            .with("simulated", machine.name())
            .with("cores", machine.core_count() as u64)
            .with("nodes", machine.nodes() as u64)
            .with("megahertz", machine.megahertz())
            .with(surroundings::COSTS, surroundings::costs(machine))
            .with("command", plan.args.command_line()),
        commit: surroundings::commit().to_owned(),
        rows,
    })
}
