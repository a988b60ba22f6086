//! This program again, with another allocator: both sides of the pipe.
//!
//! The job goes in as one line of JSON, and messages come out, one per line: what is happening, and
//! in the end the rows, or why there are none. A worker that is interrupted ends without a word, and so does one whose other side is
//! gone, however that came to its end: nothing else holds the pipe open that its job came through.

use super::job::Job;
use super::show;
use crate::allocator::{Allocator, VARIABLE};
use crate::args::WORKER;
use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
use cantina_lab::experiment::{Event, Stopped};
use cantina_record::Row;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::process::{self, Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Message {
    /// This is run next.
    Running(String),
    /// One more step is done.
    Ran,
    /// Something the reader of the numbers should know.
    Note(String),
    /// The rows: the last message.
    Rows(Vec<Row>),
    /// Why there are none: the last message.
    Failed(String),
}

/// A worker that does not outlive its job.
struct Worker {
    child: Child,
    /// Closed with this process: that ends the worker.
    _input: ChildStdin,
    output: BufReader<ChildStdout>,
    allocator: Allocator,
}

/// Lets a worker measure `job`.
pub(super) fn measure(job: &Job, progress: &Progress) -> Result<Vec<Row>, Failure> {
    let mut worker = Worker::start(job)?;
    while let Some(message) = worker.listen()? {
        match message {
            Message::Running(what) => show(Event::Running(&what), job.allocator, progress),
            Message::Ran => show(Event::Ran, job.allocator, progress),
            Message::Note(line) => show(Event::Note(&line), job.allocator, progress),
            Message::Rows(rows) => return Ok(rows),
            Message::Failed(line) => return Err(worker.failure(&line)),
        }
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
    }
    if interrupt::requested() {
        return Err(Failure::Interrupted);
    }
    let ended = worker.child.wait().map_or_else(|error| error.to_string(), |s| s.to_string());
    Err(worker.failure(&format!("the worker ended without a result ({ended})")))
}

/// The other side: reads a job from standard input, measures it, tells on standard output.
pub(crate) fn worker() -> Result<(), Failure> {
    let job = read_job()?;
    if job.allocator != Allocator::chosen() {
        let (wanted, have) = (job.allocator.name(), Allocator::chosen().name());
        return Err(Failure::BadInput(format!(
            "the job is for {wanted} and this process has {have}; set {VARIABLE}={wanted}"
        )));
    }
    end_with_the_other_side();
    // Where nobody listens any more there is nothing left to do.
    let mut heard = true;
    let measured = job.measure(&mut |event| {
        heard &= tell(&match event {
            Event::Running(what) => Message::Running(what.to_owned()),
            Event::Ran => Message::Ran,
            Event::Note(line) => Message::Note(line.to_owned()),
        });
        let go_on = heard && !interrupt::requested();
        if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match measured {
        Ok(rows) => heard &= tell(&Message::Rows(rows)),
        Err(Stopped::OnRequest) => {}
        Err(fault @ Stopped::ByFault { .. }) => heard &= tell(&Message::Failed(fault.to_string())),
    }
    // Interrupted, the other side may be gone already, and has said why.
    if heard || interrupt::requested() {
        Ok(())
    } else {
        Err(Failure::Failed("nobody listens to the worker".to_owned()))
    }
}

/// From here on this process ends with the one that has started it, also in the middle of a run.
fn end_with_the_other_side() {
    thread::spawn(|| {
        // Nothing comes behind the job but the end.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        process::exit(i32::from(Failure::INTERRUPTED));
    });
}

fn read_job() -> Result<Job, Failure> {
    let mut line = String::new();
    io::stdin()
        .read_line(&mut line)
        .map_err(|error| Failure::Failed(format!("cannot read the job: {error}")))?;
    serde_json::from_str(&line).map_err(|error| {
        Failure::BadInput(format!(
            "not a job: {error}; allowed: what `cantina bench` writes to its worker"
        ))
    })
}

/// Whether the message was heard.
fn tell(message: &Message) -> bool {
    let Ok(line) = serde_json::to_string(message) else { return false };
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}

impl Worker {
    fn start(job: &Job) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            let with = job.allocator.name();
            Failure::Failed(format!("cannot run this program again with {with}: {error}"))
        };
        let mut child = Command::new(std::env::current_exe().map_err(failed)?)
            .arg(WORKER)
            .env(VARIABLE, job.allocator.name())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = child.stdout.take().expect("it was asked for");
        let mut input = child.stdin.take().expect("it was asked for");
        let line = serde_json::to_string(job).map_err(|error| failed(error.into()))?;
        let written = writeln!(input, "{line}");
        let output = BufReader::new(output);
        let worker = Self { child, _input: input, output, allocator: job.allocator };
        written.map_err(failed)?;
        Ok(worker)
    }

    /// The next message; none when it has ended.
    fn listen(&mut self) -> Result<Option<Message>, Failure> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Ok(None),
            Ok(_) => serde_json::from_str(&line)
                .map(Some)
                .map_err(|error| self.failure(&format!("the worker says {line:?}: {error}"))),
            Err(error) => Err(self.failure(&format!("cannot hear the worker: {error}"))),
        }
    }

    fn failure(&self, line: &str) -> Failure {
        Failure::Failed(format!("with {}: {line}", self.allocator.name()))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
