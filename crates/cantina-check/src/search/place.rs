//! Operations in their places: what is done so far, the state it led to, and what is under way.

use crate::history::NEVER;
use crate::program::{Kind, Program, Step};
use crate::spec::Bound;
use crate::spec::model::Model;

/// The steps that are in their places, and the state they led to.
pub(super) struct Places<'a, M> {
    pub(super) program: &'a Program,
    bound: Option<Bound>,
    pub(super) model: M,
    /// The steps not in their places, in the order of their starts: a ring through `steps.len()`.
    next: Vec<u32>,
    previous: Vec<u32>,
    placed: Vec<bool>,
    /// How many of the returns are in their places before the first that is not.
    pub(super) level: usize,
    /// What the pending gets took, one after the other.
    taken: Vec<u32>,
}

impl<'a, M: Model> Places<'a, M> {
    pub(super) fn new(program: &'a Program, bound: Option<Bound>) -> Self {
        let ring = program.steps.len() as u32 + 1;
        Self {
            program,
            bound,
            model: M::new(&program.fates),
            next: (0..ring).map(|step| (step + 1) % ring).collect(),
            previous: (0..ring).map(|step| (step + ring - 1) % ring).collect(),
            placed: vec![false; program.steps.len()],
            level: 0,
            taken: Vec::new(),
        }
    }

    /// Goes on to the first return that is not in its place; `false` if there is none.
    pub(super) fn go_on(&mut self) -> bool {
        let returns = &self.program.returns;
        while returns.get(self.level).is_some_and(|&step| self.placed[step as usize]) {
            self.level += 1;
        }
        self.level < returns.len()
    }

    pub(super) fn step(&self, step: u32) -> &'a Step {
        &self.program.steps[step as usize]
    }

    /// The step that has to be in its place next.
    pub(super) fn due(&self) -> u32 {
        self.program.returns[self.level]
    }

    /// The first step that is not in its place, if there is one.
    pub(super) fn first_open(&self) -> Option<u32> {
        let ring = self.placed.len();
        (self.next[ring] as usize != ring).then_some(self.next[ring])
    }

    /// The steps under way and not in their places, in the order of their starts.
    pub(super) fn open(&self) -> impl Iterator<Item = u32> + '_ {
        let limit = self.step(self.due()).end;
        let ring = self.placed.len() as u32;
        let after = |&step: &u32| Some(self.next[step as usize]);
        std::iter::successors(Some(self.next[ring as usize]), after)
            .take_while(move |&step| step != ring && self.step(step).start <= limit)
    }

    /// Whether "full" is right now.
    pub(super) fn is_full(&self) -> bool {
        self.may_be_full_with(0)
    }

    /// Whether "full" would be right with so many tasks more.
    pub(super) fn may_be_full_with(&self, more: usize) -> bool {
        self.bound.is_some_and(|bound| self.model.len() + more >= bound.full_in_order_from())
    }

    /// In how many ways a step can be in its place: a pending get may take several tasks, or fewer, and a pending put of several
    /// may have found room for some.
    fn ways(&self, step: u32) -> usize {
        match &self.step(step).kind {
            Kind::TakeAtOnce(max) => *max,
            Kind::PutAtOnce { items, least, .. } if self.bound.is_some() => 1 + items.len() - least,
            _ => 1,
        }
    }

    /// Whether a step that cannot be in its place in the given way perhaps can in the next: fewer tasks may find room where more do
    /// not, but where a get finds too few for it, it does not find more.
    pub(super) fn may_go_on(&self, step: u32, way: usize) -> bool {
        way < self.ways(step) && !self.step(step).gets()
    }

    /// The tasks that a put puts in one of its ways: the fewer, the later it is.
    fn puts(&self, step: u32, way: usize) -> &'a [u32] {
        let items = self.step(step).puts();
        &items[..items.len() + 1 - way]
    }

    /// Puts `step` in its place in the given way, from 1 on, if that is legal.
    pub(super) fn place(&mut self, step: u32, way: usize) -> bool {
        let legal = way <= self.ways(step)
            && match &self.step(step).kind {
                Kind::Full => self.is_full(),
                Kind::Empty => self.model.len() == 0,
                Kind::Put(_) => self.put(step, way, false),
                Kind::PutAtOnce { full, .. } => self.put(step, way, *full || way > 1),
                Kind::Get(item) => self.get(std::slice::from_ref(item)),
                Kind::GetAtOnce(items) => self.get(items),
                Kind::Take | Kind::TakeAtOnce(_) => self.take(way),
            };
        if legal {
            let (before, after) = (self.previous[step as usize], self.next[step as usize]);
            self.next[before as usize] = after;
            self.previous[after as usize] = before;
            self.placed[step as usize] = true;
        }
        legal
    }

    /// Takes `step` out of its place again: it was the last one, placed in the given way when the
    /// level was `level`.
    pub(super) fn take_back(&mut self, step: u32, way: usize, level: usize) {
        self.level = level;
        match &self.step(step).kind {
            Kind::Full | Kind::Empty => {}
            Kind::Put(_) | Kind::PutAtOnce { .. } => self.undo_put(self.puts(step, way)),
            Kind::Get(item) => self.undo_get(std::slice::from_ref(item)),
            Kind::GetAtOnce(items) => self.undo_get(items),
            Kind::Take | Kind::TakeAtOnce(_) => self.undo_take(way),
        }
        let (before, after) = (self.previous[step as usize], self.next[step as usize]);
        self.next[before as usize] = step;
        self.previous[after as usize] = step;
        self.placed[step as usize] = false;
    }

    fn put(&mut self, step: u32, way: usize, full: bool) -> bool {
        let fates = &self.program.fates;
        let items = self.puts(step, way);
        if self.bound.is_some_and(|bound| self.model.len() + items.len() > bound.capacity) {
            return false;
        }
        for (done, &item) in items.iter().enumerate() {
            if !self.model.may_put(item, fates, || self.still_to_put(step)) {
                self.undo_put(&items[..done]);
                return false;
            }
            self.model.put(item, fates);
        }
        let legal = !full || self.is_full();
        if !legal {
            self.undo_put(items);
        }
        legal
    }

    fn undo_put(&mut self, items: &[u32]) {
        items.iter().rev().for_each(|&item| self.model.undo_put(item, &self.program.fates));
    }

    fn get(&mut self, items: &[u32]) -> bool {
        for (done, &item) in items.iter().enumerate() {
            if !self.model.gives(item) {
                self.undo_get(&items[..done]);
                return false;
            }
            self.model.get(item, &self.program.fates);
        }
        true
    }

    fn undo_get(&mut self, items: &[u32]) {
        items.iter().rev().for_each(|&item| self.model.undo_get(item, &self.program.fates));
    }

    fn take(&mut self, tasks: usize) -> bool {
        for done in 0..tasks {
            let Some(item) = self.model.next_untaken(&self.program.fates) else {
                self.undo_take(done);
                return false;
            };
            self.model.get(item, &self.program.fates);
            self.taken.push(item);
        }
        true
    }

    fn undo_take(&mut self, tasks: usize) {
        for item in self.taken.drain(self.taken.len() - tasks..).rev() {
            self.model.undo_get(item, &self.program.fates);
        }
    }

    /// By when the first of the tasks still to be put, other than by `but`, is certainly out.
    fn still_to_put(&self, but: u32) -> u64 {
        let mut out = NEVER;
        let mut last = self.placed.len() as u32;
        for step in self.open() {
            last = step;
            if step != but {
                let puts = self.step(step).puts().iter();
                out = puts.fold(out, |out, &item| out.min(self.program.fates[item].until));
            }
        }
        // Whatever has not started is not in its place either.
        out.min(self.program.out_after[self.next[last as usize] as usize])
    }

    /// What can still become of this: the same key, the same future at the same level.
    pub(super) fn key(&self) -> Box<[u32]> {
        let mut key: Vec<u32> = self.open().collect();
        // No step has this number, so it tells the two parts apart.
        key.push(self.placed.len() as u32);
        self.model.describe(&self.program.fates, &mut key);
        key.into()
    }
}
