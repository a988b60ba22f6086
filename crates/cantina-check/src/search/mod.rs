//! The search: tries orders until one explains every answer, or none is left.
//!
//! Wing and Gong's search ("Testing and verifying concurrent objects", 1993) with Lowe's
//! improvements ("Testing for linearizability", 2017): an operation is only put in its place when
//! some operation has to be in its place by now because it ends, and what once led nowhere is not
//! tried again.
//!
//! # A node
//! The operations that ended are in their places, those that have not started are not, and of those
//! under way some are. The next one to end, the one that is *due*, is not. A move puts an operation
//! that is under way in its place, which is after all the others. What a node can still become
//! depends on the operations not in their places and on the state; both make the key under which a
//! node that led nowhere is remembered.
//!
//! # What is not tried
//! * An answer that only looks (empty, full) and is right in the state of the node is given at
//!   once and no other move is tried: it changes nothing, and later it may be wrong.
//! * A put without a future: of a task that would have to overtake another in a queue, or that would
//!   lie on another in a stack and come out later.
//! * Anything before a moment of silence, when the node there led nowhere: no operation is under
//!   way, none is pending, and the tasks inside could not be in another order. Every order of the
//!   operations before passes through that very node.
//!
//! # What is tried first
//! Guesses decide how long the search takes, and nothing else. The order in which tasks go into a
//! queue or a stack is not to be seen before they come out, when thousands of moves may lie between.
//! So tasks that can go in in either order go in as the gets of them suggest, by their middles.

mod moves;
mod place;
mod walk;

use crate::history::History;
use crate::program::Program;
use crate::spec::bag::Bag;
use crate::spec::queue::Queue;
use crate::spec::stack::Stack;
use crate::spec::{Order, Spec};
use walk::Walk;

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
    search_program(&Program::new(history), spec, budget)
}

/// [`search`], prepared.
pub(crate) fn search_program(program: &Program, spec: &Spec, budget: u64) -> (Found, u64) {
    match spec.order() {
        Order::Bag => Walk::<Bag>::new(program, spec.bound(), budget).run(),
        Order::Queue => Walk::<Queue>::new(program, spec.bound(), budget).run(),
        Order::Stack => Walk::<Stack>::new(program, spec.bound(), budget).run(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, search};
    use crate::spec::Spec;
    use std::fmt::Write as _;

    /// So many puts at once, and a pending get, so that there is never silence.
    fn crowd(puts: usize) -> String {
        let mut text = String::from("t0 1.. get\n");
        for put in 1..=puts {
            writeln!(text, "t{put} 1..100 put {put}").unwrap();
        }
        text
    }

    #[test]
    fn what_led_nowhere_is_not_tried_again() {
        // There are 2^10 sets of puts, and 10! orders of them.
        let history = (crowd(10) + "t0 200..201 get 99").parse().unwrap();
        assert_eq!(search(&history, &Spec::bag(), 200_000).0, Found::NoOrder);
    }

    #[test]
    fn what_comes_before_a_silence_is_not_tried_again() {
        // Without the pending get there is a silence after each crowd.
        let mut text = crowd(10).replace("t0 1.. get\n", "");
        for start in (300..400).step_by(4) {
            let (end, get) = (start + 1, start + 2);
            writeln!(text, "t0 {start}..{end} put {start}\nt0 {get}..{get} get {start}").unwrap();
        }
        text += "t0 500..501 get 99";
        let (found, steps) = search(&text.parse().unwrap(), &Spec::bag(), 1_000);
        assert_eq!(found, Found::NoOrder);
        assert!(steps < 100, "{steps} steps");
    }

    #[test]
    fn a_budget_is_kept() {
        let history = (crowd(10) + "t0 200..201 get 99").parse().unwrap();
        let (found, steps) = search(&history, &Spec::bag(), 1_000);
        assert_eq!(found, Found::Nothing);
        assert!((1_000..1_100).contains(&steps), "{steps} steps");
    }
}
