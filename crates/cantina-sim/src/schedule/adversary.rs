//! Schedules that want something to happen.

use crate::engine::table::Table;
use crate::engine::{Op, Slot, ThreadId};
use crate::schedule::Schedule;
use crate::schedule::chooser::Candidates;
use crate::trace::Choice;
use cantina_machine::random::Random;
use std::fmt;
use std::sync::Arc;

/// How often the adversaries here let something else happen than what they want: once in so many
/// choices. Without it a program that waits for what is held back would never go on.
const RELENT: usize = 16;

/// A function that decides what happens next.
#[derive(Clone)]
pub struct Adversary(Arc<Decide>);

type Decide = dyn Fn(&View<'_>, &mut Random) -> Option<Choice> + Send + Sync;

/// What an adversary sees.
pub struct View<'a> {
    pub(crate) candidates: &'a Candidates,
    pub(crate) table: &'a Table,
}

/// What a thread is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Which thread.
    pub thread: ThreadId,
    /// What.
    pub op: Op,
    /// To which word.
    pub word: Word,
}

/// A word of memory, to compare with others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word(usize);

impl Adversary {
    /// The adversary that decides by `decide`, which sees what can happen and may draw from the run's
    /// random numbers. `None` leaves it to chance.
    pub fn new(
        decide: impl Fn(&View<'_>, &mut Random) -> Option<Choice> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(decide))
    }

    pub(crate) fn choose(&self, view: &View<'_>, random: &mut Random) -> Option<Choice> {
        (self.0)(view, random)
    }
}

impl View<'_> {
    /// What can happen.
    pub fn choices(&self) -> impl Iterator<Item = Choice> {
        self.candidates.choices()
    }

    /// What the thread in `slot` is about to do, if there is one.
    pub fn about(&self, slot: Slot) -> Option<About> {
        let thread = self.table.threads().get(usize::from(slot))?.as_ref()?;
        let word = Word(thread.about.address);
        Some(About { thread: thread.id, op: thread.about.op, word })
    }

    /// The slot of the thread that took the last step, if it can go on.
    pub fn current(&self) -> Option<Slot> {
        self.candidates.current.map(|slot| slot as Slot)
    }

    /// The threads that can go on and do not spin in vain, with what they are about to do.
    pub fn ready(&self) -> impl Iterator<Item = (Slot, About)> {
        let about = |slot| Some((slot as Slot, self.about(slot as Slot)?));
        self.candidates.ready.iter().filter_map(about)
    }
}

/// Holds back whoever is about to do an atomic read-modify-write, for as long as others can go on:
/// what it read before is old when its turn comes.
pub fn delay_rmw() -> Schedule {
    Schedule::Adversary(Adversary::new(|view, random| {
        let others: Vec<Slot> =
            view.ready().filter(|(_, about)| !about.op.is_rmw()).map(|(slot, _)| slot).collect();
        pick(&others, random)
    }))
}

/// Holds back whoever is about to do an atomic read-modify-write until `size` threads are about to do
/// one to the same word; then lets all of them.
pub fn crowd(size: usize) -> Schedule {
    Schedule::Adversary(Adversary::new(move |view, random| {
        let ready: Vec<(Slot, About)> = view.ready().collect();
        let rivals = |about: &About| {
            ready.iter().filter(|(_, other)| other.op.is_rmw() && other.word == about.word).count()
        };
        let (rmws, others): (Vec<_>, Vec<_>) =
            ready.iter().partition(|(_, about)| about.op.is_rmw());
        let crowded: Vec<Slot> =
            rmws.iter().filter(|(_, about)| rivals(about) >= size).map(|&(slot, _)| slot).collect();
        let others: Vec<Slot> = others.into_iter().map(|(slot, _)| slot).collect();
        pick(&crowded, random).or_else(|| pick(&others, random))
    }))
}

/// Mostly one of `slots`.
fn pick(slots: &[Slot], random: &mut Random) -> Option<Choice> {
    if slots.is_empty() || random.one_in(RELENT) {
        return None;
    }
    Some(Choice::Run(slots[random.below(slots.len())]))
}

impl fmt::Debug for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Adversary")
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Word")
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.choices()).finish()
    }
}
