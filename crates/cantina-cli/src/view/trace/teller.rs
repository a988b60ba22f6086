//! From a log to a story.
//!
//! A step of the story is an access inside an operation, or the beginning or the end of one, or a
//! store that becomes visible. What else is in the log (threads that start, handles that come and
//! go, descriptions) is no step, but what it changes counts.

use super::places::{Places, fresh, letters};
use super::reach::Reach;
use super::rows::Row;
use super::story::{Change, Contents, Kind, Moment, Operation, Story, Thread, Value, WordNumber};
use cantina_sim::engine::{Op, ThreadId};
use cantina_sim::trace::{Description, Event, Log, What};
use std::collections::{HashMap, HashSet};

/// How the operations are called that put a task, whose number follows.
pub(crate) const PUT: &str = "put ";

/// Tells what the threads 1 to `threads` did.
pub(crate) fn tell(log: &Log, threads: usize) -> Story {
    let mut teller = Teller {
        log,
        threads,
        story: Story::default(),
        places: Places::default(),
        reach: Reach::default(),
        tasks: HashSet::new(),
        running: vec![None; threads],
        last: vec![None; threads],
    };
    teller.story.threads = (1..=threads).map(|number| format!("t{number}")).collect();
    let is_end = |event: &Event| matches!(event.what, What::End(_) | What::Note(_));
    let ends = log.events().iter().rposition(is_end);
    // Where nothing ended something went wrong, and everything may matter.
    let shown = ends.map_or(log.events(), |last| &log.events()[..=last]);
    shown.iter().for_each(|event| teller.hear(event));
    teller.finish()
}

struct Teller<'a> {
    log: &'a Log,
    threads: usize,
    story: Story,
    places: Places,
    reach: Reach,
    /// The tasks that were put so far: what else is found in the place of a task is none.
    tasks: HashSet<u64>,
    /// The operation that each thread is in.
    running: Vec<Option<usize>>,
    /// The last operation of each thread.
    last: Vec<Option<usize>>,
}

impl Teller<'_> {
    fn hear(&mut self, event: &Event) {
        let thread = self.thread(event.thread);
        let address = event.word.map(|word| self.log.address(word)).unwrap_or_default();
        match &event.what {
            What::Described(description) => return self.described(address, description, thread),
            What::Data { value } => return self.wrote_data(address, *value, thread),
            What::Locked { taken } => return self.locked(address, *taken, thread),
            What::Note(text) => {
                if let Some(operation) = thread.and_then(|thread| self.last[thread]) {
                    self.story.operations[operation].result.clone_from(text);
                }
                return;
            }
            _ => {}
        }
        if let (What::Begin(name), Some(thread)) = (&event.what, thread) {
            self.running[thread] = Some(self.story.operations.len());
            self.last[thread] = self.running[thread];
            self.tasks.extend(name.strip_prefix(PUT).and_then(|task| task.parse::<u64>().ok()));
            self.story.operations.push(Operation {
                thread,
                name: name.clone(),
                from: self.story.steps.len() as Moment,
                to: None,
                result: String::new(),
            });
        }
        let late = matches!(event.what, What::Visible { .. }) && !self.story.operations.is_empty();
        let shown = thread.filter(|thread| late || self.running[*thread].is_some());
        let word = event.word.map(|_| {
            let lock = matches!(event.op, Op::Lock | Op::Unlock);
            self.places.word_at(address, lock, self.now())
        });
        self.take(event, shown, word);
        if let (What::End(_), Some(thread)) = (&event.what, thread)
            && let Some(operation) = self.running[thread].take()
        {
            self.story.operations[operation].to = Some(self.now());
        }
    }

    /// Takes `event` for a step, if there is a thread to show it with, and notes what it changes.
    fn take(&mut self, event: &Event, shown: Option<Thread>, word: Option<WordNumber>) {
        let mut value = |bits: u64| self.places.value_in(word, bits);
        let none = Value::None;
        let (kind, was, after) = match event.what {
            What::Begin(_) => (Kind::Begin, none, none),
            What::End(_) => (Kind::End, none, none),
            What::Load { value: bits } => (Kind::Load, value(bits), none),
            What::Store { value: bits } => (Kind::Store, value(bits), none),
            What::Buffered { value: bits } => (Kind::Buffered, value(bits), none),
            What::Visible { value: bits } => (Kind::Visible, value(bits), none),
            What::Update { before, after: None } => (Kind::Failed, value(before), none),
            What::Update { before, after: Some(after) } => {
                let kind = if event.op == Op::Cas { Kind::Exchanged } else { Kind::Updated };
                (kind, value(before), value(after))
            }
            What::Did(op) => (kind_of(op), none, none),
            _ => return,
        };
        if let Some(thread) = shown {
            let steps = &mut self.story.steps;
            steps.kinds.push(kind.letter());
            steps.threads.push(thread);
            steps.words.push(word);
            steps.values.push(was);
            steps.after.push(after);
            steps.nanos.push(event.nanos);
            steps.cycles.push(event.cycles);
        }
        let thread = self.thread(event.thread);
        match (kind, word) {
            (Kind::Store | Kind::Visible, Some(word)) => self.change(word, was, thread),
            (Kind::Exchanged | Kind::Updated, Some(word)) if after != none => {
                self.change(word, after, thread);
            }
            (Kind::Unlock, Some(word)) => self.change(word, Value::Number(0), thread),
            _ => {}
        }
    }

    fn described(&mut self, address: usize, said: &Description, thread: Option<Thread>) {
        let now = self.now();
        match said {
            Description::Structure { what, bytes } => {
                // Where there is one of a kind its name is enough: see `finish`.
                let name = format!("{what} {}", self.places.count(what));
                let number =
                    self.places.put(address, *bytes, fresh(false, what, name, now, thread));
                self.reach.structure(number);
            }
            Description::Node { what, bytes } => {
                let name = letters(self.places.count("any node") - 1);
                self.places.put(address, *bytes, fresh(true, what, name, now, thread));
            }
            Description::Part { name, role, bytes, value } => {
                let described = self.places.describe((address, *bytes), name, *role, (now, thread));
                let Some(word) = described else { return };
                let value = match self.places.words[word].role {
                    // A lock is free, and a place for a task is empty, until something else is said.
                    'k' => Value::Number(0),
                    't' => Value::None,
                    _ => self.places.value_in(Some(word), *value),
                };
                self.change(word, value, thread);
            }
            Description::Row { name, role, bytes, count, whole } => {
                let (name, role, bytes, count) = (*name, *role, *bytes, *count);
                let row = Row { name, role, object: None, bytes, count, first: 0 };
                self.places.describe_row(address, *whole, row, now);
            }
            Description::Contents(tasks) => {
                if let Some(object) = self.places.object_around(address) {
                    let tasks = tasks.iter().map(|task| self.places.value(*task)).collect();
                    self.story.contents.push(Contents(now, object, tasks));
                }
            }
            Description::Gone { bytes } => {
                let object = self.places.object_around(address);
                if self.places.remove(address, *bytes, now) {
                    self.reach.gone(object);
                } else {
                    let word = self.places.word_at(address, false, now);
                    self.change(word, Value::None, thread);
                }
            }
            _ => {}
        }
    }

    fn wrote_data(&mut self, address: usize, bits: u64, thread: Option<Thread>) {
        let now = self.now();
        let word = self.places.word_at(address, false, now);
        let empty = self.places.words[word].role == 't' && !self.tasks.contains(&bits);
        let value = if empty { Value::None } else { self.places.value_in(Some(word), bits) };
        if let Ok(step) = usize::try_from(now)
            && self.story.steps.kind_is(step, Kind::Write)
            && self.story.steps.words[step] == Some(word)
            && Some(self.story.steps.threads[step]) == thread
        {
            self.story.steps.values[step] = value;
        }
        // What lies inside a lock is told where it is released.
        if self.places.words[word].role != 'k' {
            self.change(word, value, thread);
        }
    }

    fn locked(&mut self, address: usize, taken: bool, thread: Option<Thread>) {
        let (true, Some(thread)) = (taken, thread) else { return };
        let word = self.places.word_at(address, true, self.now());
        let mine = |step: &usize| self.story.steps.threads[*step] == thread;
        if let Some(step) = (0..self.story.steps.len()).rev().find(mine)
            && self.story.steps.kind_is(step, Kind::Busy)
        {
            self.story.steps.set_kind(step, Kind::Locked);
        }
        self.change(word, Value::Thread(thread), Some(thread));
    }

    fn change(&mut self, word: WordNumber, value: Value, thread: Option<Thread>) {
        let now = self.now();
        self.story.changes.push(Change(now, word, value, thread));
        let Places { objects, words, .. } = &mut self.places;
        if words[word].role == 'l' {
            self.reach.follow(objects, word, words[word].object, value, now);
        }
    }

    /// The number of the last step.
    fn now(&self) -> Moment {
        self.story.steps.len() as Moment - 1
    }

    /// Which of the threads that are shown it is.
    fn thread(&self, id: ThreadId) -> Option<Thread> {
        (id.0 as usize).checked_sub(1).filter(|number| *number < self.threads)
    }

    fn finish(self) -> Story {
        let Self { mut story, places: Places { mut objects, mut words, .. }, .. } = self;
        let mut structures: HashMap<&str, usize> = HashMap::new();
        for object in objects.iter().filter(|object| !object.node) {
            *structures.entry(object.what).or_default() += 1;
        }
        // The parts of the only structure need no surname.
        let alone = structures.values().sum::<usize>() == 1;
        for word in &mut words {
            let owner = word.object.map(|number| &objects[number]);
            if alone
                && let Some(owner) = owner.filter(|owner| !owner.node)
                && let Some(first) = word.name.strip_prefix(&format!("{}.", owner.name))
            {
                word.name = first.to_owned();
            }
        }
        for object in objects.iter_mut().filter(|object| !object.node) {
            if structures[object.what] == 1 {
                object.name = object.what.to_owned();
            }
        }
        story.objects = objects;
        story.words = words;
        story
    }
}

fn kind_of(op: Op) -> Kind {
    match op {
        Op::Load => Kind::Load,
        Op::Rmw | Op::Cas => Kind::Updated,
        Op::Fence => Kind::Fence,
        Op::LightFence => Kind::LightFence,
        Op::HeavyFence => Kind::HeavyFence,
        // Until it is known that it was taken.
        Op::Lock => Kind::Busy,
        Op::Unlock => Kind::Unlock,
        Op::Park => Kind::Park,
        Op::Unpark => Kind::Unpark,
        Op::Spin | Op::Yield | Op::Sleep | Op::Join => Kind::Wait,
        Op::Read => Kind::Read,
        Op::Write => Kind::Write,
        _ => Kind::Other,
    }
}
