//! A guess for bounded queues: one order of the tasks, and every timing of it.
//!
//! The search decides which of two tasks went in first long before it is seen, and where many puts
//! are answered "full" a wrong decision shows when the tasks come out, hundreds of moves later. But
//! if the order of the tasks is given, little is left to decide: the next put is that of the next
//! task, and so is the next get. How far the puts and the gets have come, and which looks (empty,
//! full) have not been right yet, is all there is to a state. So all the states at a level, that is
//! when an operation is due, are found from those at the level before; there are few of them.
//!
//! The order begins as a guess. Where no state is left, the tasks that go in or come out there are
//! moved past their neighbours, if that is allowed, one after the other; the move with which the
//! most levels can be passed stays. If no move helps, the guess is given up.
//!
//! What is found is sure: an order that explains every answer. That nothing is found says nothing.

mod order;

use crate::program::{Kind, Program};
use crate::spec::Bound;
use order::{Order, Shift};

/// How many tasks around those that go in or come out are moved.
const AROUND: usize = 6;
/// How far.
const FAR: usize = 2;
/// How many levels beyond the bad one a move is followed to compare it with others.
const AHEAD: usize = 100;
/// More states at a level than this are too many.
const MANY: usize = 2_000;

/// The looks of each kind that can be under way at once: half the bits of a word.
const SLOTS: usize = 32;
const FULLS: u64 = (1 << SLOTS) - 1;
const EMPTIES: u64 = !FULLS;

/// Guesses an order that explains `program` as a queue, in at most `budget` steps. Returns how many
/// it took; `Err` if it did not find one.
pub(crate) fn guess(program: &Program, bound: Option<Bound>, budget: u64) -> Result<u64, u64> {
    let (Some(order), Some(slots)) = (Order::guess(program), slots(program)) else { return Err(0) };
    let bound = bound.unwrap_or(Bound { capacity: usize::MAX, full_slack: 0, under_way: false });
    let mut guess = Guess { program, bound, order, slots, budget };
    let found = guess.run();
    let steps = budget - guess.budget;
    if found { Ok(steps) } else { Err(steps) }
}

/// The bit of each look, so that no two that are under way at once have the same.
fn slots(program: &Program) -> Option<Vec<u64>> {
    let mut slots = vec![0; program.steps.len()];
    let mut until = [None; 2 * SLOTS];
    for (slot, step) in slots.iter_mut().zip(&program.steps) {
        let range = match step.kind {
            Kind::Full => 0..SLOTS,
            Kind::Empty => SLOTS..2 * SLOTS,
            _ => continue,
        };
        let free = range.into_iter().find(|&slot| until[slot] < Some(step.start))?;
        until[free] = Some(step.end);
        *slot = 1 << free;
    }
    Some(slots)
}

struct Guess<'a> {
    program: &'a Program,
    bound: Bound,
    order: Order<'a>,
    slots: Vec<u64>,
    budget: u64,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    /// So many tasks, in the order, are in,
    put: usize,
    /// so many are out again,
    got: usize,
    /// so many puts happened that nobody would miss,
    more_puts: usize,
    /// of so many tasks,
    more: usize,
    /// and these looks have not been right yet.
    looks: u64,
}

impl State {
    fn inside(&self) -> usize {
        self.put - self.got + self.more
    }
}

/// The states at each level that has been reached.
type Levels = Vec<Vec<State>>;

impl Guess<'_> {
    fn run(&mut self) -> bool {
        let mut levels = vec![vec![State { put: 0, got: 0, more_puts: 0, more: 0, looks: 0 }]];
        loop {
            self.go_on(&mut levels, 0, usize::MAX);
            if levels.len() > self.program.returns.len() {
                return true;
            }
            if self.budget == 0 || !self.improve(&mut levels) {
                return false;
            }
        }
    }

    /// Goes on until no state is left, or to the level `limit`. The first of `levels` is `first`.
    fn go_on(&mut self, levels: &mut Levels, first: usize, limit: usize) {
        let limit = limit.min(self.program.returns.len());
        for level in first + levels.len() - 1..limit {
            let mut states = self.reachable(level, &levels[level - first]);
            self.budget = self.budget.saturating_sub(1 + states.len() as u64);
            if states.len() > MANY || self.budget == 0 {
                return;
            }
            states.retain(|state| self.is_due_done(level, state));
            if states.is_empty() {
                return;
            }
            levels.push(states);
        }
    }

    /// All the states that can be reached from `before` with what is under way at `level`.
    fn reachable(&self, level: usize, before: &[State]) -> Vec<State> {
        let now = self.end_of(level);
        let opening = self.opening(level);
        let mut states: Vec<State> = Vec::with_capacity(2 * before.len());
        for state in before {
            self.add(State { looks: state.looks | opening, ..*state }, &mut states);
        }
        let mut next = 0;
        while let Some(&state) = states.get(next)
            && states.len() <= MANY
        {
            next += 1;
            if let Some(tasks) = self.order.put_at(state.put, now) {
                let after = State { put: state.put + tasks.count, ..state };
                let inside = after.inside();
                let full = !tasks.then_full || inside >= self.bound.full_in_order_from();
                if inside <= self.bound.capacity && full {
                    self.add(after, &mut states);
                }
            }
            if let Some(count) = self.order.get_at(state.got, now)
                && state.got + count <= state.put
            {
                self.add(State { got: state.got + count, ..state }, &mut states);
            }
            if let Some(tasks) = self.order.one_more_at(state.put, state.more_puts, now)
                && state.inside() + tasks <= self.bound.capacity
            {
                let (more_puts, more) = (state.more_puts + 1, state.more + tasks);
                self.add(State { more_puts, more, ..state }, &mut states);
            }
        }
        states
    }

    /// Adds a state, without the looks that are right in it, unless there is a better one.
    fn add(&self, mut state: State, states: &mut Vec<State>) {
        let inside = state.inside();
        if inside == 0 {
            state.looks &= !EMPTIES;
        }
        if inside >= self.bound.full_in_order_from() {
            state.looks &= !FULLS;
        }
        let better = |other: &State| {
            let same = State { looks: state.looks, ..*other } == state;
            same && other.looks & !state.looks == 0
        };
        if !states.iter().any(better) {
            states.push(state);
        }
    }

    fn end_of(&self, level: usize) -> u64 {
        self.program.steps[self.program.returns[level] as usize].end
    }

    /// The looks that start after the level before, and not after this one.
    fn opening(&self, level: usize) -> u64 {
        let steps = &self.program.steps;
        let started = |time| steps.partition_point(|step| step.start <= time);
        let before = level.checked_sub(1).map_or(0, |before| started(self.end_of(before)));
        let now = started(self.end_of(level));
        self.slots[before..now.max(before)].iter().fold(0, |bits, slot| bits | slot)
    }

    fn is_due_done(&self, level: usize, state: &State) -> bool {
        let due = self.program.returns[level];
        let step = &self.program.steps[due as usize];
        match (step.puts().last(), step.items_got().last()) {
            (Some(&item), _) => self.order.place_of(item) < state.put,
            (_, Some(&item)) => self.order.place_of(item) < state.got,
            _ => state.looks & self.slots[due as usize] == 0,
        }
    }

    /// Makes one shift, or two, so that the level at which no state is left can be passed.
    fn improve(&mut self, levels: &mut Levels) -> bool {
        let Err(promising) = self.improve_once(levels) else { return true };
        for shift in promising {
            self.order.shift(shift);
            let (from, mut states) = self.again(levels, shift, levels.len() - 1);
            let mut tail = levels.split_off(from);
            levels.append(&mut states);
            if self.improve_once(levels).is_ok() {
                return true;
            }
            levels.truncate(from);
            levels.append(&mut tail);
            self.order.shift(shift.back());
        }
        false
    }

    /// Makes the shift with which the most levels can be passed. If there is none, says with which
    /// ones there are other states at the last level, at least.
    fn improve_once(&mut self, levels: &mut Levels) -> Result<(), Vec<Shift>> {
        let bad = levels.len() - 1;
        let mut best: Option<(usize, Shift, usize, Levels)> = None;
        let mut promising = Vec::new();
        for shift in self.order.shifts(&self.suspects(levels), FAR) {
            self.order.shift(shift);
            let (from, states) = self.again(levels, shift, bad + AHEAD);
            self.order.shift(shift.back());
            let reached = from + states.len() - 1;
            if reached == bad && states.last() != levels.last() {
                promising.push(shift);
            }
            if reached > best.as_ref().map_or(bad, |(reached, ..)| *reached) {
                best = Some((reached, shift, from, states));
                if reached == bad + AHEAD {
                    break;
                }
            }
        }
        let Some((_, shift, from, mut states)) = best else { return Err(promising) };
        self.order.shift(shift);
        levels.truncate(from);
        levels.append(&mut states);
        Ok(())
    }

    /// The levels after a shift, up to `limit`, and from which one on they are.
    fn again(&mut self, levels: &Levels, shift: Shift, limit: usize) -> (usize, Levels) {
        let untouched = |states: &Vec<State>| states.iter().all(|it| it.put <= shift.first);
        let from = levels.partition_point(untouched).max(1) - 1;
        let mut states = vec![levels[from].clone()];
        self.go_on(&mut states, from, limit);
        (from, states)
    }

    /// The places of the tasks that go in or come out while the operation at the last level is under
    /// way, and some around them.
    fn suspects(&self, levels: &Levels) -> Vec<usize> {
        let bad = levels.len() - 1;
        let start = self.program.steps[self.program.returns[bad] as usize].start;
        let first = self.program.returns[..bad]
            .partition_point(|&step| self.program.steps[step as usize].end < start);
        let last = self.reachable(bad, &levels[bad]);
        let range = |place: fn(&State) -> usize| {
            let least = levels[first].iter().map(place).min().unwrap_or(0);
            let most = last.iter().map(place).max().unwrap_or(0);
            least.saturating_sub(AROUND)..most + AROUND
        };
        let mut places: Vec<usize> =
            range(|state| state.got).chain(range(|state| state.put)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}
