//! How far a long run is: a bar on a terminal, nothing in a pipe.

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write};

/// A bar on stderr that disappears when it is dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
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
        Self { bar }
    }

    /// Says what is running now.
    pub(crate) fn doing(&self, what: &str) {
        self.bar.set_message(what.to_owned());
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
