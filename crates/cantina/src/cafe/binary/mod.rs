//! The paper's binary trees, corrected.
//!
//! A tree is complete and has one place for a task in each node, which is used once. A put takes the
//! highest unused node above a random one, and then goes the whole way up: for each node it passes, the
//! father has a bit that says whether there are tasks below. A get follows the bits down. Bits that
//! several want to change carry versions, and `pending` counts those who are about to change one.
//!
//! The root is one word: both bits, whether its own task is there, and a version. So one load tells
//! whether the tree is empty.
//!
//! Trees are linked to a list. Producers put to the *tail*'s tree; consumers look into the *head*'s and, if
//! the head was moved on from it, the one before. A slow producer that has put to a tree which consumers
//! have passed moves the head back to it. So a tree can be freed only when nobody works there who began
//! before it was passed: each end announces the number of the first tree that it may look at.
//!
//! # Progress
//! In a tree by itself puts and gets are wait-free: a node is used once, so whoever is in the way is so a bounded
//! number of times. In the list:
//!
//! | call | |
//! |---|---|
//! | put | wait-free with probability 1, but for allocation: a tree that is new to others has room unless all random nodes are used, and while somebody wants to move the head back nobody begins to move it on. With height 0 lock-free |
//! | walk of a get | wait-free: it looks into the trees up to the tail as it was when the walk began. It finds a task, or that there is none, or that somebody has put or taken something, or moved head or tail |
//! | get | lock-free: in the last case it walks again, also if the pool was never empty. A get whose first walk finds a task is wait-free |
//!
//! # Linearization
//! A put when its node's bits have reached the root and the head is not behind its tree; a get when it takes
//! the node's task. `None` of a tree at the load of a root that shows nothing; `None` of the list at the
//! second look at the head, if all that was looked at before has not changed.
//!
//! # Invariants
//! * **I1** a node is dirty only if its father is, and stays so.
//! * **I2** whoever makes a node dirty writes its task, and then makes it full, once.
//! * **I3** whoever changes a node from full to taken has its task.
//! * **I4** after an update for a put has passed a node, the father's bit is set until somebody who looked
//!   later finds nothing below.
//! * **I5** a spot is the head's once; whoever moves the head from it protects it, and retires it.
//! * **I6** a tree is not freed as long as somebody has announced it or one before it, and has found the head
//!   or the tail not before that afterwards. An announcement only goes down in a call, and the head goes
//!   back only to a tree that somebody has announced.
//! * **I7** the oldest tree belongs to whoever set `freeing`.
//!
//! # Orderings
//! All accesses are SeqCst; what they need of it is in the table.
//!
//! | edge | release or fence side | acquire or fence side | carries |
//! |---|---|---|---|
//! | `task` | a put makes its node full | a get takes it | the task |
//! | `place` | a put makes a node dirty | the puts that look for an unused node | that it is used |
//! | `below` | changing a bit, or the root | looking at one | what was below when it was set |
//! | `pending` | a put: task or bits below, then `pending` and the father's bit | a clearer: `pending`, then the father's bit and what is below | one of them sees the other |
//! | `reach` | a put: its task is in the tree, then it looks at the head | a get: the trees were empty, then it looks at head, trees and tail again | a task in a tree that was passed is seen, or the head is moved back |
//! | `head` | moving the head | looking at it | the spot, its trees |
//! | `tail` | moving the tail, then its number | looking at them | the tree; that those before were full |
//! | `next` | linking a tree | following the link | the tree |
//! | `held` | who wants the head to stay counts himself | who is about to move it on | how many there are |
//! | `low` | an end: announces, light fence, looks at head or tail | who frees: reads the head, heavy fence, reads what is announced | one of them sees the other |
//! | `done` | an announcement, or its end | who frees | all that was looked at before |
//! | `oldest` | who has freed | the next one | which trees are left |
//! | `record` | an end is new | who frees, later ends | its record |
//! | `seat` | an end goes | an end comes | its record |
//!
//! Weaker than SeqCst: `next`, `oldest`, `seat`, `record`, `done`.
//!
//! # Memory
//! A tree has all its nodes from the start. All trees stay from the first that anybody has announced: a
//! thread that stalls **inside** a call keeps all that are appended from then on, one that stalls between
//! calls keeps none. Who stalls while it frees trees keeps the others from freeing any. Passed trees are freed
//! when there are some.

mod builder;
mod ends;
mod list;
mod low;
mod node;
mod tree;

pub use builder::TreeBuilder;
pub(super) use ends::{Getter, Putter};
pub(super) use list::List;
pub use tree::TreeContainer;

/// Places of a tree of that height.
pub(super) fn places(height: u32) -> u32 {
    (2 << height) - 1
}
