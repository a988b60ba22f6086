//! Every registered pool, one after the other, by one thread that puts and gets in turn: `ci/deep.sh instructions` counts the
//! instructions.
//!
//! `pairs HOW TASKS` takes so many tasks each: `alone`, as the experiments do it; `calls`, each put and each get a call of its
//! own; `batches`, the same for batches; `backlogs`, such calls in bursts, of a pool that is never empty. It prints the name of each pool and what it is said to take. `pairs PROBE TURNS` is so many
//! turns of the small program of this name.

use cantina_lab::probe::Probe;
use cantina_lab::registry::{self, Family, Instructions, Visitor};
use cantina_lab::workload::{
    Assignment, BATCH, Batch, Shape, Single, call_in_bursts, call_in_turn, run_alone,
};
use std::env;
use std::hint::black_box;
use std::time::Duration;

struct Run {
    how: String,
    tasks: u64,
}

impl Visitor for Run {
    fn visit<F: Family>(&mut self, family: F) {
        let tasks = self.tasks;
        let mut said = Instructions::of(&family);
        match self.how.as_str() {
            "calls" => call_in_turn(&Single(family.clone()), tasks, 1),
            "batches" => {
                call_in_turn(&Batch(family.clone()), tasks, BATCH);
                said = Instructions::of_batches(&family);
            }
            "backlogs" => {
                call_in_bursts(&Single(family.clone()), tasks);
                said = Instructions::of_backlogs(&family);
            }
            _ => {
                let (shape, patience) = (Shape::new(1, 1), Duration::from_secs(1));
                let assignment = Assignment { shape, tasks, pin: false, patience, watched: false };
                let reading = run_alone::<u64, _>(&Single(family.clone()), &assignment);
                reading.expect("what was put is what was got");
            }
        }
        pool_is_done(&family.facts().name, said);
    }
}

/// Where the counts of a pool end.
#[unsafe(no_mangle)]
#[inline(never)]
fn pool_is_done(name: &str, said: Instructions) {
    println!("{} {} {}", black_box(name), said.put, said.get);
}

fn main() {
    let mut arguments = env::args().skip(1);
    let how = arguments.next().unwrap_or_else(|| "alone".to_owned());
    let tasks = arguments.next().map_or(Ok(10_000), |tasks| tasks.parse());
    let tasks: u64 = tasks.expect("the number of tasks is a number");
    match Probe::all(1, 1).into_iter().find(|probe| probe.name() == how) {
        Some(probe) => _ = probe.measure(tasks as usize),
        None => registry::visit_all(&mut Run { how, tasks }),
    }
}
