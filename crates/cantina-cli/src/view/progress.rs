//! How far a long run is: a bar on a terminal; in a pipe a line for each thing that is run, or nothing.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// A bar on stderr that disappears when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// What has been told, where there is no bar and it is told.
    told: Option<RefCell<BTreeSet<String>>>,
}

impl Progress {
    /// A bar of so many steps. Hidden where stderr is no terminal.
    pub(crate) fn new(steps: u64) -> Self {
        let target = if Term::stderr().is_term() {
            // Ten times a second: drawing must not show in what is measured.
            ProgressDrawTarget::stderr_with_hz(10)
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{bar:30} {percent:>3}%  {eta} left  {wide_msg}")
            .expect("the template is well-formed")
            .progress_chars("━╸─");
        let bar = ProgressBar::with_draw_target(Some(steps), target).with_style(style);
        Self { bar, told: None }
    }

    /// The same, and where stderr is no terminal each thing that is run gets a line, once.
    pub(crate) fn telling(steps: u64) -> Self {
        let mut progress = Self::new(steps);
        progress.told = progress.bar.is_hidden().then(RefCell::default);
        progress
    }

    /// Says what is running now.
    pub(crate) fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        if let Some(told) = &self.told
            && told.borrow_mut().insert(what.to_owned())
        {
            let _ = writeln!(io::stderr(), "running: {what}");
        }
    }

    /// So many steps are done.
    pub(crate) fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// A line on stderr, above the bar where there is one.
    pub(crate) fn note(&self, line: &str) {
        if self.bar.is_hidden() {
            // Nobody to tell is no reason to stop.
            let _ = writeln!(io::stderr(), "{line}");
        } else {
            self.bar.println(line);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
