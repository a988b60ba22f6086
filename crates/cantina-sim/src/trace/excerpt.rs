//! The part of a log that is about something: an interleaving to read.
//!
//! A log has every access of everybody. To see how threads got in each other's way one wants those
//! between the calls that came out wrong, and of these the ones where threads meet: accesses to
//! words that several of them touched and somebody changed. An excerpt has a lane for each thread:
//!
//! ```text
//!  step  thread 1 't1'                   thread 2 't2'
//!     8  begins get
//!     9  head (line 0) reads 0
//!    14                                  begins get
//!    15                                  head (line 0) reads 0
//!    17  head (line 0) changes 0 to 1
//!    18                                  head (line 0) stays 1: the exchange fails
//! ```

use super::{Event, Log, What, WordId};
use crate::engine::{Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// How many rows are shown, unless told otherwise.
const ROWS: usize = 200;

/// Some of what a [`Log`] has, with a lane for each thread. Displayed it is a text.
#[derive(Clone, Debug)]
#[must_use = "it is there to be shown"]
pub struct Excerpt<'a> {
    log: &'a Log,
    calls: Vec<Call>,
    most: usize,
}

/// A call that came out wrong.
#[derive(Clone, Debug)]
struct Call {
    thread: ThreadId,
    start: u64,
    end: u64,
    text: String,
}

/// What happened in one lane.
struct Row {
    step: u64,
    thread: ThreadId,
    text: String,
}

impl Log {
    /// What there is to read of it: all that happened where threads meet, unless
    /// [calls](Excerpt::call) are named.
    pub fn excerpt(&self) -> Excerpt<'_> {
        Excerpt { log: self, calls: Vec::new(), most: ROWS }
    }
}

impl Excerpt<'_> {
    /// Looks at this call of `thread`, from one virtual time to another; without an end, one that
    /// never came back. Of the log only what happened between the first start and the last end is
    /// shown: what these threads did, and what others changed.
    pub fn call(mut self, thread: ThreadId, start: u64, end: Option<u64>, text: &str) -> Self {
        let end = end.unwrap_or(u64::MAX);
        self.calls.push(Call { thread, start, end, text: text.to_owned() });
        self
    }

    /// Shows so many rows at most. What is left out is in the middle; where no call is named, at the
    /// beginning.
    pub fn rows(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// What happened in the time that is looked at.
    fn events(&self) -> Vec<&Event> {
        let from = self.calls.iter().map(|call| call.start).min().unwrap_or(0);
        let until = self.calls.iter().map(|call| call.end).max().unwrap_or(u64::MAX);
        let within = |event: &&Event| {
            (from..=until).contains(&event.nanos) && !matches!(event.what, What::Described(_))
        };
        self.log.events().iter().filter(within).collect()
    }

    /// Whether `thread` is one of those that are looked at.
    fn is_about(&self, thread: ThreadId) -> bool {
        self.calls.is_empty() || self.calls.iter().any(|call| call.thread == thread)
    }

    /// The words that several threads touched, one of them at least looked at, and somebody changed.
    fn meeting_places(&self, events: &[&Event]) -> BTreeSet<WordId> {
        let mut words: BTreeMap<WordId, (BTreeSet<ThreadId>, bool)> = BTreeMap::new();
        for event in events {
            if let Some(word) = event.word {
                let (threads, changed) = words.entry(word).or_default();
                threads.insert(event.thread);
                *changed |= changes(&event.what);
            }
        }
        let meets = |(threads, changed): &(BTreeSet<ThreadId>, bool)| {
            *changed && threads.len() > 1 && threads.iter().any(|thread| self.is_about(*thread))
        };
        words.into_iter().filter(|(_, meeting)| meets(meeting)).map(|(word, _)| word).collect()
    }

    /// Whether `event` is shown.
    fn shows(&self, event: &Event, words: &BTreeSet<WordId>) -> bool {
        let about = self.is_about(event.thread);
        match (&event.what, event.word) {
            // Told by the step before it.
            (What::Locked { .. }, _) => false,
            (what, Some(word)) => words.contains(&word) && (about || changes(what)),
            (What::Begin(_) | What::End(_), None) => about && self.calls.is_empty(),
            (What::Note(_), None) => about,
            (What::Did(op), None) => {
                about && matches!(op, Op::Fence | Op::LightFence | Op::HeavyFence)
            }
            (_, None) => false,
        }
    }

    /// Who tried at which step to take a lock that was taken.
    fn refusals(&self) -> BTreeSet<(u64, ThreadId)> {
        let mut held: BTreeSet<WordId> = BTreeSet::new();
        let mut refused = BTreeSet::new();
        for event in self.log.events() {
            match (&event.what, event.word) {
                (What::Did(Op::Lock), Some(lock)) if !held.insert(lock) => {
                    refused.insert((event.step, event.thread));
                }
                (What::Did(Op::Unlock), Some(lock)) => _ = held.remove(&lock),
                _ => {}
            }
        }
        refused
    }

    /// All rows, in order.
    fn all_rows(&self) -> Vec<Row> {
        let events = self.events();
        let words = self.meeting_places(&events);
        let refusals = self.refusals();
        let mut pointers = HashMap::new();
        // What happened at the time of a start was before it, at the time of an end too.
        let mut rows: Vec<((u64, u8), Row)> = Vec::new();
        for event in &events {
            if self.shows(event, &words) {
                let refused = refusals.contains(&(event.step, event.thread));
                let text = self.text(event, refused, &mut pointers);
                let row = Row { step: event.step, thread: event.thread, text };
                rows.push(((event.nanos, 0), row));
            }
        }
        let step_at = |nanos: u64| {
            let later = events.partition_point(|event| event.nanos <= nanos);
            later.checked_sub(1).map_or(0, |last| events[last].step)
        };
        for Call { thread, start, end, text } in &self.calls {
            let row = |time: u64, text| Row { step: step_at(time), thread: *thread, text };
            rows.push(((*start, 2), row(*start, format!("begins {text}"))));
            if *end != u64::MAX {
                rows.push(((*end, 1), row(*end, format!("ends {text}"))));
            }
        }
        rows.sort_by_key(|(time, _)| *time);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// What `event` was; of a lock, whether it was `refused`.
    fn text(&self, event: &Event, refused: bool, pointers: &mut HashMap<u64, usize>) -> String {
        let mut show = |value: u64| self.log.value(value, pointers);
        let what = match &event.what {
            What::Load { value } => format!("reads {}", show(*value)),
            What::Store { value } => format!("becomes {}", show(*value)),
            What::Buffered { value } => format!("buffers {}", show(*value)),
            What::Visible { value } => format!("becomes {} from the buffer", show(*value)),
            What::Update { before, after: Some(after) } => {
                format!("changes {} to {}", show(*before), show(*after))
            }
            What::Update { before, after: None } => {
                format!("stays {}: the exchange fails", show(*before))
            }
            What::Did(Op::Read) => "is read".to_owned(),
            What::Did(Op::Write) => "is written".to_owned(),
            What::Did(Op::Lock) if refused => "is locked already".to_owned(),
            What::Did(Op::Lock) => "is locked".to_owned(),
            What::Did(Op::Unlock) => "is unlocked".to_owned(),
            What::Did(op) => op.to_string(),
            What::Locked { taken: true } => "is ours".to_owned(),
            What::Locked { taken: false } => "is somebody else's".to_owned(),
            What::Data { value } => format!("holds {}", show(*value)),
            What::Described(description) => description.to_string(),
            What::Begin(name) => format!("begins {name}"),
            What::End(name) => format!("ends {name}"),
            What::Note(note) => note.clone(),
        };
        match event.word {
            Some(word) => format!("{} (line {}) {what}", self.log.name(word), self.log.line(word)),
            None => what,
        }
    }
}

/// Whether somebody else may see something new after it.
fn changes(what: &What) -> bool {
    match what {
        What::Store { .. } | What::Visible { .. } | What::Update { after: Some(_), .. } => true,
        What::Did(op) => matches!(op, Op::Write | Op::Lock | Op::Unlock),
        // References that are counted are nobody's story: they are `Did(Rmw)`.
        _ => false,
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.all_rows();
        let mut lanes: BTreeMap<ThreadId, usize> = BTreeMap::new();
        for row in &rows {
            let least = self.log.thread(row.thread).chars().count();
            let width = lanes.entry(row.thread).or_insert(least);
            *width = (*width).max(row.text.chars().count());
        }
        let mut head = " step".to_owned();
        for (thread, &width) in &lanes {
            head.push_str(&format!("  {:<width$}", self.log.thread(*thread)));
        }
        writeln!(f, "{}", head.trim_end())?;
        let top = if self.calls.is_empty() { 0 } else { self.most.div_ceil(2) };
        let bottom = self.most - top;
        let left_out = rows.len().saturating_sub(self.most);
        for (index, row) in rows.iter().enumerate() {
            if left_out > 0 && index == top {
                writeln!(f, "  ...  {left_out} rows left out")?;
            }
            if left_out > 0 && index >= top && index < rows.len() - bottom {
                continue;
            }
            let indent: usize =
                lanes.range(..row.thread).map(|(_, width)| width + 2).sum::<usize>() + 2;
            writeln!(f, "{:>5}{:indent$}{}", row.step, "", row.text)?;
        }
        Ok(())
    }
}
