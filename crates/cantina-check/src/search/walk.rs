//! The walk from node to node, on and back.

use super::Found;
use super::moves::Ranks;
use super::place::Places;
use crate::program::Program;
use crate::spec::Bound;
use crate::spec::model::Model;
use std::collections::{HashMap, HashSet};

/// A walk: the path from the root to where it is.
pub(super) struct Walk<'a, M> {
    places: Places<'a, M>,
    path: Vec<Node>,
    /// The moves of the nodes on the path, one node's after the other's.
    moves: Vec<u32>,
    ranks: Ranks,
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
    /// The way in which it is being tried; 0: not yet.
    way: usize,
    /// Whether all its moves are there, and not only the first.
    all_moves: bool,
}

impl<'a, M: Model> Walk<'a, M> {
    pub(super) fn new(program: &'a Program, bound: Option<Bound>, budget: u64) -> Self {
        Self {
            places: Places::new(program, bound),
            path: Vec::new(),
            moves: Vec::new(),
            ranks: Ranks::new::<M>(program),
            failed: HashMap::new(),
            steps: 0,
            budget,
        }
    }

    /// Walks until something is found, and tells how many steps it took.
    pub(super) fn run(mut self) -> (Found, u64) {
        let found = self.find();
        (found, self.steps)
    }

    fn find(&mut self) -> Found {
        if !self.places.go_on() {
            return Found::Order;
        }
        self.enter();
        while self.steps < self.budget {
            if self.make_move() {
                if !self.places.go_on() {
                    return Found::Order;
                }
                if self.failed_before() {
                    self.undo_move();
                } else {
                    self.enter();
                }
            } else {
                if self.every_order_comes_here() {
                    return Found::NoOrder;
                }
                self.remember_failure();
                self.leave();
            }
        }
        Found::Nothing
    }

    fn enter(&mut self) {
        let places = &self.places;
        let look = places.right_look();
        let sooner = if look.is_none() { places.sooner(&self.ranks) } else { None };
        self.path.push(Node {
            level: places.level,
            moves: self.moves.len(),
            current: 0,
            way: 0,
            all_moves: look.is_some(),
        });
        self.moves.extend(sooner);
        self.moves.push(look.unwrap_or(places.due()));
    }

    /// Makes the next move from the last node of the path, if there is one.
    fn make_move(&mut self) -> bool {
        let node = self.path.last_mut().expect("the path begins at the root");
        loop {
            let Some(&step) = self.moves.get(node.moves + node.current) else {
                if node.all_moves {
                    return false;
                }
                node.all_moves = true;
                let mut others = self.places.other_moves(&self.moves[node.moves..], &self.ranks);
                self.moves.append(&mut others);
                continue;
            };
            node.way += 1;
            if self.places.place(step, node.way) {
                self.steps += 1;
                return true;
            }
            if self.places.may_go_on(step, node.way) {
                continue;
            }
            node.current += 1;
            node.way = 0;
        }
    }

    /// The step that the last node put in its place.
    fn last_move(node: &Node, moves: &[u32]) -> u32 {
        moves[node.moves + node.current]
    }

    /// Takes the move of the last node back.
    fn undo_move(&mut self) {
        let node = self.path.last().expect("the path begins at the root");
        self.places.take_back(Self::last_move(node, &self.moves), node.way, node.level);
    }

    /// Leaves the last node, and takes the move that led there back.
    fn leave(&mut self) {
        let node = self.path.pop().expect("the path begins at the root");
        self.moves.truncate(node.moves);
        self.undo_move();
    }

    fn failed_before(&self) -> bool {
        let keys = self.failed.get(&self.places.level);
        keys.is_some_and(|keys| keys.contains(&self.places.key()))
    }

    fn remember_failure(&mut self) {
        let key = self.places.key();
        // Memory is part of the budget.
        self.steps += key.len() as u64 / 8;
        self.failed.entry(self.places.level).or_default().insert(key);
    }

    /// Whether this is the root, or a moment of silence lies just before the last node.
    fn every_order_comes_here(&self) -> bool {
        let Places { program, level, model, .. } = &self.places;
        if self.path.len() == 1 {
            return true;
        }
        let Some(first_open) = self.places.first_open() else { return false };
        let last_end = level.checked_sub(1).map(|last| self.places.step(program.returns[last]).end);
        // Each node but the last has put one step in its place.
        self.path.len() == level + 1
            && last_end < Some(self.places.step(first_open).start)
            && !model.order_matters(&program.fates)
    }
}
