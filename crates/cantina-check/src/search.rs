//! The search: tries orders until one explains every answer, or none is left.
//!
//! Wing and Gong's search ("Testing and verifying concurrent objects", 1993) with Lowe's
//! improvements ("Testing for linearizability", 2017): an operation is only put in its place when
//! some operation has to be in its place by now because it ends, and what once led nowhere is not
//! tried again.
//!
//! # A node
//! The operations that ended are in their places, those that have not started are not, and of those
//! under way some are. The next one to end, `due`, is not. A move is to put an operation that is
//! under way in its place, which is after all the others: `due`, then those that may help it, by
//! their ends. What a node can still become depends on the operations not in their places and on
//! the state; both make the key under which a node that led nowhere is remembered.
//!
//! # What is not tried
//! * An answer that only looks (empty, full) and is right in the state of the node is given at
//!   once and no other move is tried: it changes nothing, and later it may be wrong.
//! * A put without a future: see [`Model::may_put`].
//! * Anything before a moment of silence, when the node there led nowhere: no operation is under
//!   way, none is pending, and the tasks inside could not be in another order. Every order of the
//!   operations before passes through that very node.

use crate::history::{History, NEVER};
use crate::program::{Kind, Program};
use crate::spec::bag::Bag;
use crate::spec::model::Model;
use crate::spec::queue::Queue;
use crate::spec::stack::Stack;
use crate::spec::{Bound, Order, Spec};
use std::collections::{HashMap, HashSet};

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// An order that explains every answer.
    Order,
    /// That there is none.
    NoOrder,
    /// Nothing: the budget was spent.
    Nothing,
}

/// Searches for an order that explains every answer of `history`, for about `budget` steps, and
/// tells how many it took.
///
/// This is the judge that [`check`](crate::check) goes to when nothing faster is sure, and the one
/// the faster ones are tested against. It is exact for every history and every spec; a step takes
/// time in the number of operations that overlap.
pub fn search(history: &History, spec: &Spec, budget: u64) -> (Found, u64) {
    let program = Program::new(history);
    match spec.order() {
        Order::Bag => Search::<Bag>::new(&program, spec.bound(), budget).run(),
        Order::Queue => Search::<Queue>::new(&program, spec.bound(), budget).run(),
        Order::Stack => Search::<Stack>::new(&program, spec.bound(), budget).run(),
    }
}

struct Search<'a, M> {
    program: &'a Program,
    bound: Option<Bound>,
    model: M,
    /// The steps not in their places, in the order of their starts: a ring through `steps.len()`.
    next: Vec<u32>,
    previous: Vec<u32>,
    placed: Vec<bool>,
    /// How many of the returns are in their places before the first that is not.
    level: usize,
    path: Vec<Node>,
    /// The moves of the nodes on the path, one node's after the other's.
    moves: Vec<u32>,
    /// What the pending gets on the path took, one after the other.
    taken: Vec<u32>,
    /// The keys of the nodes that led nowhere, by level.
    failed: HashMap<usize, HashSet<Box<[u32]>>>,
    steps: u64,
    budget: u64,
}

/// A node on the path, and which of its moves is being tried.
struct Node {
    level: usize,
    /// Where its moves begin.
    moves: usize,
    /// The move that is being tried, from there.
    current: usize,
    /// In how many ways it has been tried: a pending get of several has several.
    ways: usize,
    /// Whether all its moves are there, and not only the first.
    all_moves: bool,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(program: &'a Program, bound: Option<Bound>, budget: u64) -> Self {
        let ring = program.steps.len() as u32 + 1;
        Self {
            program,
            bound,
            model: M::new(&program.fates),
            next: (0..ring).map(|step| (step + 1) % ring).collect(),
            previous: (0..ring).map(|step| (step + ring - 1) % ring).collect(),
            placed: vec![false; program.steps.len()],
            level: 0,
            path: Vec::new(),
            moves: Vec::new(),
            taken: Vec::new(),
            failed: HashMap::new(),
            steps: 0,
            budget,
        }
    }

    fn run(mut self) -> (Found, u64) {
        let found = self.find();
        (found, self.steps)
    }

    fn find(&mut self) -> Found {
        let returns = &self.program.returns;
        let mut arrived = true;
        while self.steps < self.budget {
            if arrived {
                while self.level < returns.len() && self.placed[returns[self.level] as usize] {
                    self.level += 1;
                }
                if self.level == returns.len() {
                    return Found::Order;
                }
                if self.failed_before() {
                    self.undo_move();
                } else {
                    self.enter();
                }
            }
            arrived = self.make_move();
            if !arrived {
                if self.every_order_comes_here() {
                    return Found::NoOrder;
                }
                self.remember_failure();
                let node = self.path.pop().expect("the root is not left");
                self.moves.truncate(node.moves);
                self.undo_move();
            }
        }
        Found::Nothing
    }

    fn due(&self) -> u32 {
        self.program.returns[self.level]
    }

    /// The steps under way and not in their places, in the order of their starts.
    fn open(&self) -> impl Iterator<Item = u32> {
        let limit = self.program.steps[self.due() as usize].end;
        let ring = self.placed.len() as u32;
        std::iter::successors(Some(self.next[ring as usize]), |&step| {
            Some(self.next[step as usize])
        })
        .take_while(move |&step| step != ring && self.program.steps[step as usize].start <= limit)
    }

    /// By when the first of the tasks still to be put, other than by `but`, is certainly out.
    fn still_to_put(&self, but: u32) -> u64 {
        let mut out = NEVER;
        let mut last = self.placed.len() as u32;
        for step in self.open() {
            last = step;
            if step != but {
                let puts = self.program.steps[step as usize].puts();
                out = puts.iter().fold(out, |out, &item| out.min(self.program.fates[item].until));
            }
        }
        // Whatever has not started is not in its place either.
        out.min(self.program.out_after[self.next[last as usize] as usize])
    }

    fn enter(&mut self) {
        let right = |&step: &u32| match self.program.steps[step as usize].kind {
            Kind::Empty => self.model.len() == 0,
            Kind::Full => self.is_full(),
            _ => false,
        };
        let look = if self.program.has_looks { self.open().find(right) } else { None };
        let due = self.due();
        let sooner = if look.is_none() { self.sooner(due) } else { None };
        let first = self.moves.len();
        self.path.push(Node {
            level: self.level,
            moves: first,
            current: 0,
            ways: 0,
            all_moves: look.is_some(),
        });
        self.moves.extend(sooner);
        self.moves.push(look.unwrap_or(due));
    }

    /// When tasks that `step` puts should go in, compared to those of others; a guess.
    fn rank(&self, step: u32) -> Option<u64> {
        let puts = self.program.steps[step as usize].puts();
        puts.iter().map(|&item| M::rank(self.program.fates[item].from)).min()
    }

    /// A step that should rather go before `due`; a guess.
    fn sooner(&self, due: u32) -> Option<u32> {
        let steps = &self.program.steps;
        let is_open = |look: fn(&Kind) -> bool| self.open().any(|step| look(&steps[step as usize].kind));
        if self.program.has_looks && steps[due as usize].gets() {
            // While it can still become as full as somebody says it was.
            let puts: usize = self.open().map(|step| steps[step as usize].puts().len()).sum();
            let can_be_full = self.bound.is_some_and(|bound| self.model.len() + puts >= bound.full_from());
            if can_be_full && is_open(|kind| matches!(kind, Kind::Full)) {
                return self.first_put().map(|(_, step)| step);
            }
        }
        let due_rank = self.rank(due)?;
        if self.program.has_looks && is_open(|kind| matches!(kind, Kind::Empty)) {
            // While it can still become empty.
            let next = |&step: &u32| match &steps[step as usize].kind {
                Kind::Get(item) => self.model.gives(*item),
                Kind::GetAtOnce(items) => items.first().is_some_and(|&item| self.model.gives(item)),
                _ => false,
            };
            let gets = self.open().filter(|&step| steps[step as usize].gets()).count();
            if self.model.len() <= gets && let Some(get) = self.open().find(next) {
                return Some(get);
            }
        }
        self.first_put().filter(|&(rank, _)| rank < due_rank).map(|(_, step)| step)
    }

    /// The put that should rather go first.
    fn first_put(&self) -> Option<(u64, u32)> {
        self.open().filter_map(|step| Some((self.rank(step)?, step))).min()
    }

    /// Makes the next move from the last node of the path, if there is one.
    fn make_move(&mut self) -> bool {
        loop {
            let node = self.path.last().expect("a node that was entered");
            let Some(&step) = self.moves.get(node.moves + node.current) else {
                if node.all_moves {
                    return false;
                }
                self.add_moves();
                continue;
            };
            let ways = node.ways + 1;
            let made = self.place(step, ways);
            let node = self.path.last_mut().expect("the same node");
            if made {
                node.ways = ways;
                return true;
            }
            node.current += 1;
            node.ways = 0;
        }
    }

    /// Adds the moves beside the one that is due: first those that may help it, then by their ends.
    fn add_moves(&mut self) {
        let steps = &self.program.steps;
        let due = self.due();
        let helps = |step: u32| match &steps[due as usize].kind {
            Kind::Put(_) | Kind::Empty => steps[step as usize].gets(),
            Kind::Full => !steps[step as usize].gets(),
            Kind::Get(item) => steps[step as usize].puts().contains(item),
            _ => false,
        };
        let node = self.path.last().expect("a node that was entered");
        let tried = &self.moves[node.moves..];
        let mut moves: Vec<u32> = self.open().filter(|step| !tried.contains(step)).collect();
        moves.sort_by_key(|&step| (!helps(step), self.rank(step), steps[step as usize].end));
        self.moves.append(&mut moves);
        self.path.last_mut().expect("a node that was entered").all_moves = true;
    }

    fn is_full(&self) -> bool {
        self.bound.is_some_and(|bound| self.model.len() >= bound.full_from())
    }

    fn has_room(&self, tasks: usize) -> bool {
        self.bound.is_none_or(|bound| self.model.len() + tasks <= bound.capacity)
    }

    /// Puts `step` in its place, in the given way, if that is legal.
    fn place(&mut self, step: u32, way: usize) -> bool {
        let program = self.program;
        let fates = &program.fates;
        let kind = &program.steps[step as usize].kind;
        let ways = if let Kind::TakeAtOnce(max) = kind { *max } else { 1 };
        if way > ways {
            return false;
        }
        let legal = match kind {
            Kind::Full => self.is_full(),
            Kind::Empty => self.model.len() == 0,
            Kind::Put(_) | Kind::PutAtOnce { .. } => self.put(step),
            Kind::Get(item) => self.get(std::slice::from_ref(item)),
            Kind::GetAtOnce(items) => self.get(items),
            Kind::Take | Kind::TakeAtOnce(_) => {
                let before = self.taken.len();
                while self.taken.len() < before + way
                    && let Some(item) = self.model.next_untaken(fates)
                {
                    self.model.get(item, fates);
                    self.taken.push(item);
                }
                let enough = self.taken.len() == before + way;
                if !enough {
                    self.give_back(self.taken.len() - before);
                }
                enough
            }
        };
        if legal {
            let (before, after) = (self.previous[step as usize], self.next[step as usize]);
            self.next[before as usize] = after;
            self.previous[after as usize] = before;
            self.placed[step as usize] = true;
            self.steps += 1;
        }
        legal
    }

    /// Takes the last move of the last node back.
    fn undo_move(&mut self) {
        let node = self.path.last().expect("the root is not left");
        let (step, ways) = (self.moves[node.moves + node.current], node.ways);
        self.level = node.level;
        let program = self.program;
        match &program.steps[step as usize].kind {
            Kind::Full | Kind::Empty => {}
            Kind::Put(item) => self.model.undo_put(*item, &program.fates),
            Kind::PutAtOnce { items, .. } => self.undo_put(items),
            Kind::Get(item) => self.model.undo_get(*item, &program.fates),
            Kind::GetAtOnce(items) => self.undo_get(items),
            Kind::Take | Kind::TakeAtOnce(_) => self.give_back(ways),
        }
        let (before, after) = (self.previous[step as usize], self.next[step as usize]);
        self.next[before as usize] = step;
        self.previous[after as usize] = step;
        self.placed[step as usize] = false;
    }

    fn put(&mut self, step: u32) -> bool {
        let fates = &self.program.fates;
        let items = self.program.steps[step as usize].puts();
        if !self.has_room(items.len()) {
            return false;
        }
        for (done, &item) in items.iter().enumerate() {
            if !self.model.may_put(item, fates, || self.still_to_put(step)) {
                self.undo_put(&items[..done]);
                return false;
            }
            self.model.put(item, fates);
        }
        let full =
            matches!(self.program.steps[step as usize].kind, Kind::PutAtOnce { full: true, .. });
        if full && !self.is_full() {
            self.undo_put(items);
            return false;
        }
        true
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

    fn give_back(&mut self, tasks: usize) {
        for _ in 0..tasks {
            let item = self.taken.pop().expect("what was taken");
            self.model.undo_get(item, &self.program.fates);
        }
    }

    fn key(&self) -> Box<[u32]> {
        let mut key: Vec<u32> = self.open().collect();
        // No step has this number, so it tells the two parts apart.
        key.push(self.placed.len() as u32);
        self.model.describe(&self.program.fates, &mut key);
        key.into()
    }

    fn failed_before(&self) -> bool {
        self.failed.get(&self.level).is_some_and(|keys| keys.contains(&self.key()))
    }

    fn remember_failure(&mut self) {
        let key = self.key();
        // Memory is part of the budget.
        self.steps += key.len() as u64 / 8;
        self.failed.entry(self.level).or_default().insert(key);
    }

    /// Whether nothing has been tried yet, or a moment of silence lies just before the last node.
    fn every_order_comes_here(&self) -> bool {
        if self.path.len() == 1 {
            return true;
        }
        let steps = &self.program.steps;
        let first_open = &steps[self.next[self.placed.len()] as usize];
        let last_end =
            self.level.checked_sub(1).map(|last| steps[self.program.returns[last] as usize].end);
        // The path has one step in its place for each node but the last.
        self.path.len() == self.level + 1
            && last_end < Some(first_open.start)
            && !self.model.order_matters(&self.program.fates)
    }
}
