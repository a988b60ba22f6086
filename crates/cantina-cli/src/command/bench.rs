//! `cantina bench`: the experiments on this machine, with one allocator after the other.
//!
//! A process has one allocator. What is to be measured with the allocator of this one runs here; for
//! the other the program runs itself again (`worker`), and its rows come back through a pipe.

mod defaults;
mod job;
mod plan;
mod worker;

pub(crate) use plan::{Plan, plan};
pub(crate) use worker::worker;

use crate::allocator::Allocator;
use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
use cantina_lab::experiment::{Event, Stopped, regime};
use cantina_record::Row;
use job::Job;
use std::ops::ControlFlow;

/// Measures everything that was planned.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Row>, Failure> {
    let progress = Progress::telling(plan.jobs.iter().map(|job| job.steps() as u64).sum());
    let mut rows = Vec::new();
    for job in &plan.jobs {
        rows.extend(match job.allocator {
            here if here == Allocator::chosen() => measure_here(job, &progress)?,
            _ => worker::measure(job, &progress)?,
        });
    }
    // Each process has looked at its own rows only.
    Ok(regime::against_the_run(rows))
}

fn measure_here(job: &Job, progress: &Progress) -> Result<Vec<Row>, Failure> {
    let measured = job.measure(&mut |event| {
        show(event, job.allocator, progress);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    measured.map_err(|stopped| match stopped {
        Stopped::OnRequest => Failure::Interrupted,
        fault @ Stopped::ByFault { .. } => Failure::Failed(fault.to_string()),
    })
}

fn show(event: Event<'_>, allocator: Allocator, progress: &Progress) {
    match event {
        Event::Running(what) => progress.doing(&format!("{what} ({})", allocator.name())),
        Event::Ran => progress.advance(1),
        Event::Note(line) => {
            progress.note(&format!("warning: with {}: {line}", allocator.name()));
        }
    }
}
