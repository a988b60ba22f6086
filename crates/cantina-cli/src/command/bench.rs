//! `cantina bench`: the experiments on this machine, with one allocator after the other.
//!
//! A process has one allocator. What is to be measured with the allocator of this one runs here; for
//! the other the program runs itself again (`worker`), and its rows come back through a pipe.

mod job;
mod plan;
mod worker;

pub(crate) use plan::{Plan, plan};
pub(crate) use worker::worker;

use crate::allocator::Allocator;
use crate::failure::Failure;
use crate::interrupt;
use crate::view::{Axis, Better, Experiment, Measure, Progress};
use cantina_lab::experiment::{Event, Stopped, throughput};
use cantina_record::Row;
use job::Job;
use std::ops::ControlFlow;

static EXPERIMENTS: [Experiment; 1] = [Experiment {
    name: throughput::NAME,
    title: "Throughput",
    about: "how many tasks per second go from producers to consumers",
    axis: Axis::Shape,
    split: &["payload_bytes", "allocator"],
    measures: &[Measure {
        title: "Throughput",
        unit: "M tasks/s",
        value: "mops_median",
        spread: Some(("mops_min", "mops_max")),
        better: Better::Higher,
    }],
    notes: &[
        "Producers put as fast as they can, consumers get until everything is got; the clock runs \
         from a common start until the last task is got.",
        "Every run is checked: the number of tasks got, their sum and their exclusive or.",
        "Each value is the median of repetitions that take turns with those of the other rows, \
         beginning with another row each time.",
        "Threads stay on their cores at 1P/1C; in the other shapes the operating system places \
         them.",
        "Whoever finds nothing to get, or no room to put, spins briefly and then yields.",
        "Rows named -batch move 64 tasks at a time, or as many as the crate hands out at once.",
        "Producers of an unbounded pool run ahead of its consumers: it is filled, then drained.",
        "Compare within a table. With mimalloc only those are measured that allocate while tasks \
         go through them.",
    ],
    simulated_notes: &[
        "Simulated: the same source, on a model of the machine's caches, links and store buffers. \
         Each value is the median over seeds.",
        "Every run is checked: the number of tasks got, their sum and their exclusive or.",
        "Each thread has a processor of its own: first the producers, then the consumers, node by \
         node.",
        "What is not modelled: capacity misses beyond the tags, address translation, prefetching, \
         overlapping loads, hardware threads, preemption.",
    ],
}];

/// The experiments there are, the default one first.
pub(crate) fn experiments() -> &'static [Experiment] {
    &EXPERIMENTS
}

/// Measures everything that was planned.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Row>, Failure> {
    let progress = Progress::new(plan.jobs.iter().map(|job| job.steps() as u64).sum());
    let mut rows = Vec::new();
    for job in &plan.jobs {
        rows.extend(match job.allocator {
            here if here == Allocator::chosen() => measure_here(job, &progress)?,
            _ => worker::measure(job, &progress)?,
        });
    }
    Ok(rows)
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
