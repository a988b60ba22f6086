//! The order of the tasks.

use crate::history::NEVER;
use crate::program::{Kind, Program, Step};
use std::collections::BTreeSet;

/// An order of the tasks of a program. Tasks that are put at once are side by side.
pub(super) struct Order<'a> {
    program: &'a Program,
    tasks: Vec<u32>,
    /// Where each task is; [`Self::NOWHERE`] if it is left out.
    places: Vec<usize>,
    /// Who gets each task.
    gets: Vec<Get>,
    /// The puts that are left out: they may not have happened, and nobody got what they put.
    left_out: Vec<&'a Step>,
    /// The first place with only tasks that nobody gets from there on.
    nobody_from: usize,
}

/// Who gets a task.
#[derive(Clone, Copy, Debug)]
enum Get {
    Nobody,
    Step(u32),
    /// A pending get that started then.
    Pending(u64),
}

/// The tasks of one put.
pub(super) struct Tasks {
    pub(super) count: usize,
    /// Whether it gave back a task after them.
    pub(super) then_full: bool,
}

/// Tasks that change places with those after them: `..first | first..middle | middle..last | last..`
#[derive(Clone, Copy, Debug)]
pub(super) struct Shift {
    pub(super) first: usize,
    middle: usize,
    last: usize,
}

impl Shift {
    /// What undoes it.
    pub(super) fn back(self) -> Self {
        Self { middle: self.first + (self.last - self.middle), ..self }
    }
}

/// More puts than this that cannot be separated are not moved.
const LONG: usize = 4;

/// Puts that cannot be separated: a get at once had the last task of one and the first of the next.
struct Block {
    /// The place after them.
    end: usize,
    rank: u128,
    times: Vec<Times>,
}

/// When a put and the gets of its tasks are: what decides between two of them.
struct Times {
    step: u32,
    put_start: u64,
    put_end: u64,
    /// When the last of its tasks begins to come out.
    get_start: u64,
    /// When the first of them is out.
    get_end: u64,
    /// Where the first one should be: by the middles of its put and its get, then as its get says.
    rank: (u128, u32, usize),
    /// Whether a get at once had the first one after a task of another put: there is no choice.
    follows: bool,
}

impl<'a> Order<'a> {
    const NOWHERE: usize = usize::MAX;

    /// A guess: by the middles of the puts and gets, as far as that does not let anybody overtake.
    pub(super) fn guess(program: &'a Program) -> Option<Self> {
        let places = vec![Self::NOWHERE; program.fates.len()];
        let mut order = Self {
            program,
            tasks: Vec::new(),
            places,
            gets: gets(program),
            left_out: Vec::new(),
            nobody_from: 0,
        };
        let puts: Vec<Times> = (0..program.steps.len() as u32)
            .filter(|&step| !order.is_left_out(step))
            .map(|step| order.times(step))
            .collect();
        let mut by_put_end: BTreeSet<(u64, usize)> =
            puts.iter().map(|it| it.put_end).zip(0..).collect();
        let mut by_get_end: BTreeSet<(u64, usize)> =
            puts.iter().map(|it| it.get_end).zip(0..).collect();
        let index_of = |step: u32| puts.binary_search_by_key(&step, |it| it.step).ok();
        let mut started = 0;
        let mut ready: Vec<usize> = Vec::new();
        let mut follower: Option<usize> = None;
        while let Some(&(first_end, _)) = by_put_end.first() {
            // The puts are in the order of their starts, as the steps are.
            while puts.get(started).is_some_and(|put| put.put_start <= first_end) {
                ready.push(started);
                started += 1;
            }
            let may_be_next = |index: usize| {
                let first_out = by_get_end.iter().find(|&&(_, other)| other != index);
                first_out.is_none_or(|&(get_end, _)| get_end >= puts[index].get_start)
                    && follower.map_or(!puts[index].follows, |follower| follower == index)
            };
            let next = (0..ready.len())
                .filter(|&at| may_be_next(ready[at]))
                .min_by_key(|&at| puts[ready[at]].rank)?;
            let index = ready.swap_remove(next);
            by_put_end.remove(&(puts[index].put_end, index));
            by_get_end.remove(&(puts[index].get_end, index));
            let tasks = program.steps[puts[index].step as usize].puts();
            order.tasks.extend_from_slice(tasks);
            follower = order
                .after(tasks[tasks.len() - 1])
                .and_then(|it| index_of(program.put_by[it as usize]));
        }
        for (place, &task) in order.tasks.iter().enumerate() {
            order.places[task as usize] = place;
            if order.is_got(task) {
                order.nobody_from = place + 1;
            }
        }
        let left_out = (0..program.steps.len() as u32).filter(|&step| order.is_left_out(step));
        let left_out = left_out.map(|step| &program.steps[step as usize]);
        order.left_out = left_out.filter(|step| !step.puts().is_empty()).collect();
        Some(order)
    }

    /// Whether a step puts nothing, or may not have happened without anybody noticing.
    fn is_left_out(&self, step: u32) -> bool {
        let step = &self.program.steps[step as usize];
        step.end == NEVER && !step.puts().iter().any(|&item| self.is_got(item))
            || step.puts().is_empty()
    }

    fn times(&self, step: u32) -> Times {
        let put = &self.program.steps[step as usize];
        let of = |item: u32| match self.gets[item as usize] {
            Get::Nobody => (NEVER, NEVER),
            Get::Pending(start) => (start, NEVER),
            Get::Step(get) => {
                let get = &self.program.steps[get as usize];
                (get.start, get.end)
            }
        };
        let first = put.puts()[0];
        let follows = match self.gets[first as usize] {
            Get::Step(get) => self.program.steps[get as usize].items_got()[0] != first,
            _ => false,
        };
        let put_middle = put.start.midpoint(put.end.min(of(first).1));
        let rank = match self.gets[first as usize] {
            Get::Step(get) => {
                let (start, end) = of(first);
                let items = self.program.steps[get as usize].items_got();
                let place = items.iter().position(|&item| item == first).unwrap_or(0);
                (u128::from(put_middle) + u128::from(start.midpoint(end)), get, place)
            }
            _ => (u128::from(put_middle) + u128::from(of(first).0), 0, 0),
        };
        Times {
            step,
            put_start: put.start,
            put_end: put.end,
            get_start: put.puts().iter().map(|&item| of(item).0).max().unwrap_or(NEVER),
            get_end: put.puts().iter().map(|&item| of(item).1).min().unwrap_or(NEVER),
            rank,
            follows,
        }
    }

    /// The task that a get at once had after this one, if that went in with another put.
    fn after(&self, task: u32) -> Option<u32> {
        let Get::Step(get) = self.gets[task as usize] else { return None };
        let items = self.program.steps[get as usize].items_got();
        let place = items.iter().position(|&item| item == task)?;
        let after = *items.get(place + 1)?;
        (self.program.put_by[after as usize] != self.program.put_by[task as usize]).then_some(after)
    }

    /// Where a task is.
    pub(super) fn place_of(&self, task: u32) -> usize {
        self.places[task as usize]
    }

    /// The tasks from `place` on that can go in by `now`.
    pub(super) fn put_at(&self, place: usize, now: u64) -> Option<Tasks> {
        let put =
            &self.program.steps[self.program.put_by[*self.tasks.get(place)? as usize] as usize];
        let then_full = matches!(put.kind, Kind::PutAtOnce { full: true, .. });
        (put.start <= now).then(|| Tasks { count: put.puts().len(), then_full })
    }

    /// How many tasks from `place` on can come out by `now`.
    pub(super) fn get_at(&self, place: usize, now: u64) -> Option<usize> {
        match self.gets[*self.tasks.get(place)? as usize] {
            Get::Nobody => None,
            Get::Pending(start) => (start <= now).then_some(1),
            Get::Step(get) => {
                let get = &self.program.steps[get as usize];
                let items = get.items_got();
                let next = self.tasks.get(place..place + items.len())?;
                (get.start <= now && next == items).then_some(items.len())
            }
        }
    }

    /// How many tasks went in with one more of the puts that are left out, beside so many, if it may
    /// have happened by `now`, when the tasks before `place` are in: it would be in the way of all
    /// that somebody gets.
    pub(super) fn one_more_at(&self, place: usize, beside: usize, now: u64) -> Option<usize> {
        let put = self.left_out.get(beside)?;
        (place >= self.nobody_from && put.start <= now).then_some(put.puts().len())
    }

    /// The shifts that let nobody overtake, and leave together what came out together: of the tasks
    /// at one of `places` past up to `far` others, or of the last of these to the place of the
    /// first. Those come first that go against the guess the least.
    pub(super) fn shifts(&self, places: &[usize], far: usize) -> Vec<Shift> {
        let mut shifts = Vec::new();
        for &first in places {
            let mut blocks: Vec<Block> = Vec::new();
            for distance in 0..=far {
                let start = blocks.last().map_or(first, |block| block.end);
                let Some(next) = self.block(start) else { break };
                let Some(moving) = blocks.first() else {
                    blocks.push(next);
                    continue;
                };
                let Block { end: middle, rank, .. } = *moving;
                let (last, against) = (next.end, next.rank.abs_diff(rank));
                if distance > 1 && blocks.iter().all(|block| !block.precedes(&next)) {
                    shifts.push((against, Shift { first, middle: start, last }));
                }
                blocks.push(next);
                if blocks[1..].iter().all(|other| !blocks[0].precedes(other)) {
                    shifts.push((against, Shift { first, middle, last }));
                }
            }
        }
        shifts.sort_by_key(|&(against, _)| against);
        shifts.into_iter().map(|(_, shift)| shift).collect()
    }

    /// The puts from `first` on that cannot be separated. `None`: none begins there, or too many.
    fn block(&self, first: usize) -> Option<Block> {
        let mut times: Vec<Times> = Vec::new();
        let mut end = first;
        while let Some(&task) = self.tasks.get(end) {
            let next = self.times(self.program.put_by[task as usize]);
            let tasks = self.program.steps[next.step as usize].puts();
            if !times.is_empty() && !next.follows {
                break;
            }
            if times.is_empty() && next.follows || tasks[0] != task || times.len() == LONG {
                return None;
            }
            end += tasks.len();
            times.push(next);
        }
        let rank = times.first()?.rank.0;
        Some(Block { end, rank, times })
    }

    /// Changes the places of some tasks.
    pub(super) fn shift(&mut self, shift: Shift) {
        let Shift { first, middle, last } = shift;
        self.tasks[first..last].rotate_left(middle - first);
        for place in first..last {
            self.places[self.tasks[place] as usize] = place;
        }
        if last >= self.nobody_from {
            let got = (first..last).rev().find(|&place| self.is_got(self.tasks[place]));
            self.nobody_from = got.map_or(self.nobody_from, |place| place + 1);
        }
    }

    fn is_got(&self, task: u32) -> bool {
        !matches!(self.gets[task as usize], Get::Nobody)
    }
}

impl Block {
    /// Whether one of them has to go in before one of `other`.
    fn precedes(&self, other: &Self) -> bool {
        self.times.iter().any(|one| other.times.iter().any(|other| one.precedes(other)))
    }
}

impl Times {
    /// Whether it has to go in before `other`.
    fn precedes(&self, other: &Self) -> bool {
        self.put_end < other.put_start || self.get_end < other.get_start
    }
}

/// Who gets each task. Those that nobody is known to have got are dealt out to the pending gets in
/// order, one to each.
fn gets(program: &Program) -> Vec<Get> {
    let mut gets = vec![Get::Nobody; program.fates.len()];
    for (index, step) in program.steps.iter().enumerate() {
        step.items_got().iter().for_each(|&item| gets[item as usize] = Get::Step(index as u32));
    }
    let mut left: Vec<(u64, u32)> = program
        .steps
        .iter()
        .filter(|step| step.end != NEVER)
        .flat_map(|step| step.puts().iter().map(|&item| (step.end, item)))
        .filter(|&(_, item)| program.fates[item].untaken)
        .collect();
    left.sort_unstable();
    let takes =
        program.steps.iter().filter(|it| matches!(it.kind, Kind::Take | Kind::TakeAtOnce(_)));
    for ((_, item), take) in left.into_iter().zip(takes) {
        gets[item as usize] = Get::Pending(take.start);
    }
    gets
}
