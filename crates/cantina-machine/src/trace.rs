//! What lies where, for whoever draws a run.
//!
//! A pool says once, when something has come to the place where it stays, what it is. The simulator
//! keeps that in its log beside the accesses, and `cantina sim trace` draws it. Here these are nothing:
//! they compile to no code, and what is passed must cost nothing to make.
//!
//! | a pool says | and what is drawn is |
//! |---|---|
//! | [`structure`]: a queue, a stack, a pool | a row of its own, with its parts |
//! | [`node`]: something that links lead to | a box in the row that leads to it; unlinked, it fades |
//! | [`part`]: a word of one of them | by its [`Role`]: an arrow, a task, a lock, a number |
//! | [`row`]: many of them behind each other | the same, by their numbers |
//! | [`contents`]: the tasks in a container of `std` | a list of them |
//! | [`gone`]: a task moved out, a node freed | no longer there |

/// What a part is, and so how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A pointer that leads to a node, or to none.
    Link,
    /// A pointer that keeps a node from being freed and leads nowhere.
    Guard,
    /// The place of a task.
    Task,
    /// A lock.
    Lock,
    /// A number.
    Number,
    /// A pointer to a node that the structure has, as one among others.
    Place,
    /// A pointer to a node that is kept to be used again.
    Spare,
    /// A pointer to a node that a thread has left half filled.
    Open,
    /// A pointer to a structure, whose number is its place in the row.
    Home,
    /// A word that says whether a thread has the structure: whoever changed it last.
    Seat,
    /// Who may take from a node. From the lowest bit: the number of the structure whose index counts, that
    /// of the owner, both of so many bits and all ones for nobody; a bit for what was never stolen; a tag.
    Owner {
        /// Bits of a number.
        bits: u32,
    },
    /// How far the structure of that number has come in a node.
    Index,
    /// How many tasks of a group can be seen: the count in so many low bits, above them the lap.
    Count {
        /// Bits of the count.
        bits: u32,
    },
    /// A bit for each task of a node, set when somebody has won it.
    Bits,
    /// Which children of a tree's word have tasks, in so many low bits, and above them a version.
    Presence {
        /// Bits of children.
        bits: u32,
        /// How many there are.
        children: u32,
    },
    /// Tickets of rooms, lane by lane from the lowest bits: how many wait, and above that how often the room was
    /// opened, as a Gray code of two bits. The uppermost lane says how many are inside, a batch being one, and of which room.
    Tickets {
        /// How many rooms there are.
        rooms: u32,
        /// Bits of a lane.
        lane: u32,
        /// Bits of its count.
        bits: u32,
    },
    /// How many tasks were ever put below a node of a tree that has so many children.
    Puts {
        /// Children.
        children: u32,
    },
    /// A bit for each place of a block, in so many low bits, and above them a count.
    Block {
        /// Bits of places.
        bits: u32,
    },
    /// Which places of a tree's leaf are published, in so many low bits, and above them whether it is closed.
    Filled {
        /// Bits of places.
        bits: u32,
    },
}

/// Says that `value` is a structure, called `what`, and stays where it is.
#[inline(always)]
pub fn structure<T>(value: &T, what: &'static str) {
    let _ = (value, what);
}

/// Says that `value` is a node, called `what`, and stays where it is.
#[inline(always)]
pub fn node<T>(value: &T, what: &'static str) {
    let _ = (value, what);
}

/// Says that `value` is a part, called `name`, of the structure or node that it lies in, or of none.
#[inline(always)]
pub fn part<T>(value: &T, name: &'static str, role: Role) {
    let _ = (value, name, role);
}

/// Says that `values` are parts, called `name` and numbered on, of the structure or node that `whole` is or
/// lies in, or of none.
#[inline(always)]
pub fn row<W, T>(whole: &W, values: &[T], name: &'static str, role: Role) {
    let _ = (whole, values, name, role);
}

/// Says that `container`, which is part of a structure, now holds these tasks, the next one first.
#[inline(always)]
pub fn contents<'a, C, T: 'a>(container: &C, tasks: impl Iterator<Item = &'a T>) {
    let _ = (container, tasks);
}

/// Says that what lies at `value` is gone: a node, a structure, the task of a part.
#[inline(always)]
pub fn gone<T>(value: &T) {
    let _ = value;
}
