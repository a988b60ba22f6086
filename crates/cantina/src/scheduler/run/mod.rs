//! What is to be done, who does it, and who sleeps.
//!
//! Something to do is a [`Task`], one word. Each worker has deques of its own that others steal from; what comes from
//! outside goes through a list that a worker takes whole.
//!
//! | file | what it holds |
//! |---|---|
//! | task | a free operation or the turn of a unit, in one word |
//! | injector | tasks from outside, until a worker takes them |
//! | queues | all of them, and in which order a worker looks |
//! | idle | who sleeps, who searches, and that no wake-up is lost |
//! | worker | what a worker does |
//!
//! # Invariants
//! * **I1** a task is in one queue, or in one worker's hands. To have it is the right to run it.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `outside` | who adds to the injector | the worker that takes all of it | what lies behind the tasks, and their links |
//! | `sleep` | who adds a task, then a fence | who is about to sleep, then a fence | of both, one sees the other: no task is left beside sleepers |

mod idle;
mod injector;
mod queues;
mod task;
mod worker;

pub(super) use idle::Idle;
pub(super) use queues::Queues;
pub use task::Left;
pub(super) use task::{Header, Kind, Run, Task, Turn};
pub(super) use worker::run;
