//! Logs: every access of a run, to look at and to draw.

use crate::cost::line::LINE_BITS;
use crate::engine::{Op, ThreadId};
use crate::memory::place::Place;
use crate::trace::Description;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;

/// Values from here on are taken for pointers when they are printed.
const POINTERS: u64 = 1 << 32;

/// What happened in a run, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    events: Vec<Event>,
    words: Vec<usize>,
    numbers: HashMap<usize, WordId>,
    lines: HashMap<usize, u32>,
    threads: HashMap<ThreadId, String>,
    names: Vec<(usize, usize, String)>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Steps taken before it.
    pub step: u64,
    /// The virtual time when it took effect.
    pub nanos: u64,
    /// Who did it.
    pub thread: ThreadId,
    /// To which word, if to one.
    pub word: Option<WordId>,
    /// What it was.
    pub what: What,
    /// The cycles it cost, in a timed run.
    pub cycles: u64,
    /// What the thread was doing.
    pub op: Op,
}

/// A word of memory, by the order in which they were first touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordId(pub u32);

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// An atomic load.
    Load {
        /// What was read.
        value: u64,
    },
    /// An atomic store that everybody sees at once.
    Store {
        /// What was written.
        value: u64,
    },
    /// An atomic store into the store buffer.
    Buffered {
        /// What was written.
        value: u64,
    },
    /// A store left the buffer: everybody sees it.
    Visible {
        /// What was written.
        value: u64,
    },
    /// An atomic read-modify-write.
    Update {
        /// What the word was.
        before: u64,
        /// What it is now; `None` when it was not changed.
        after: Option<u64>,
    },
    /// Something else.
    Did(Op),
    /// How an attempt to take a lock ended.
    Locked {
        /// Whether the thread has it now.
        taken: bool,
    },
    /// Plain data was written.
    Data {
        /// What it is now, as far as it fits into a word.
        value: u64,
    },
    /// The program said what lies there.
    Described(Description),
    /// An [operation](crate::progress::operation) began.
    Begin(String),
    /// It ended.
    End(String),
    /// A [note](crate::trace::note).
    Note(String),
}

impl Log {
    /// What happened, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many words were touched: their numbers go from 0 up.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Where `word` lay: to find out which words belong to a value, and what a pointer points to. It
    /// is another one in each process.
    pub fn address(&self, word: WordId) -> usize {
        self.words[word.0 as usize]
    }

    /// The line of 64 bytes that `word` lies on, by the order in which they were first touched.
    pub fn line(&self, word: WordId) -> u32 {
        self.lines[&(self.address(word) >> LINE_BITS)]
    }

    /// The word at `address`, if it was touched.
    pub fn word_at(&self, address: usize) -> Option<WordId> {
        self.numbers.get(&address).copied()
    }

    /// What to call `word`: the [name](crate::trace::name) of the value it is part of, or its number.
    pub fn name(&self, word: WordId) -> String {
        let address = self.address(word);
        let inside = |(start, end, _): &&(usize, usize, String)| (*start..*end).contains(&address);
        match self.names.iter().find(inside) {
            Some((start, _, name)) if *start == address => name.clone(),
            Some((start, _, name)) => format!("{name}+{}", address - start),
            None => format!("w{}", word.0),
        }
    }

    /// The thread's number and the name it was given.
    pub fn thread(&self, thread: ThreadId) -> String {
        match self.threads.get(&thread) {
            Some(name) => format!("{thread} '{name}'"),
            None => thread.to_string(),
        }
    }

    pub(crate) fn push(&mut self, address: usize, mut event: Event) {
        if address != 0 {
            let next = WordId(self.words.len() as u32);
            let word = *self.numbers.entry(address).or_insert(next);
            if word == next {
                self.words.push(address);
                let line = self.lines.len() as u32;
                self.lines.entry(address >> LINE_BITS).or_insert(line);
            }
            event.word = Some(word);
        }
        self.events.push(event);
    }

    pub(crate) fn name_thread(&mut self, thread: ThreadId, name: &str) {
        self.threads.insert(thread, name.to_owned());
    }

    pub(crate) fn name_place(&mut self, start: usize, bytes: usize, name: &str) {
        self.names.push((start, start + bytes, name.to_owned()));
    }

    /// A value as text: a number, or the word that it points to, or `p` and a number for a pointer to
    /// something else.
    pub(super) fn value(&self, value: u64, pointers: &mut HashMap<u64, usize>) -> String {
        if value < POINTERS {
            return value.to_string();
        }
        if let Some(word) = self.word_at(value as usize) {
            return format!("&{}", self.name(word));
        }
        let next = pointers.len();
        format!("p{}", pointers.entry(value).or_insert(next))
    }
}

/// One line for each event. Addresses do not show, so that the same run prints the same text.
impl fmt::Display for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut pointers = HashMap::new();
        for event in &self.events {
            let mut text = String::new();
            let mut show = |value| self.value(value, &mut pointers);
            match &event.what {
                What::Load { value } => write!(text, "load -> {}", show(*value))?,
                What::Store { value } => write!(text, "store {}", show(*value))?,
                What::Buffered { value } => write!(text, "store {}, buffered", show(*value))?,
                What::Visible { value } => write!(text, "store {} becomes visible", show(*value))?,
                What::Update { before, after: Some(after) } => {
                    write!(text, "update {} -> {}", show(*before), show(*after))?;
                }
                What::Update { before, after: None } => {
                    write!(text, "update fails: it is {}", show(*before))?;
                }
                What::Did(op) => write!(text, "{op}")?,
                What::Locked { taken: true } => text.push_str("has the lock"),
                What::Locked { taken: false } => text.push_str("does not get the lock"),
                What::Data { value } => write!(text, "data is {}", show(*value))?,
                What::Described(description) => write!(text, "{description}")?,
                What::Begin(name) => write!(text, "begins {name}")?,
                What::End(name) => write!(text, "ends {name}")?,
                What::Note(note) => text.push_str(note),
            }
            let word = event.word.map_or(String::new(), |word| self.name(word));
            let thread = self.thread(event.thread);
            writeln!(f, "{:>6} {:>8} ns  {thread:<20} {word:<12} {text}", event.step, event.nanos)?;
        }
        Ok(())
    }
}

impl fmt::Display for WordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "w{}", self.0)
    }
}

impl What {
    /// The outcome of a read-modify-write of a word that was `before`.
    pub(crate) fn update(result: Result<u64, u64>, place: Place) -> Self {
        match result {
            Ok(before) => Self::Update { before, after: Some(place.read()) },
            Err(before) => Self::Update { before, after: None },
        }
    }
}
