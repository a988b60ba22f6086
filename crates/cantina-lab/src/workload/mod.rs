//! Tasks from producers to consumers, as fast as they go.
//!
//! P threads put N tasks in all, C threads get until all have been got. A task is a unique number;
//! every thread that gets adds up what it got, and a run whose sums are wrong is a [`Fault`], never
//! a reading.
//!
//! What is driven is a [`Subject`]: a pool of ours, one task at a time ([`Single`]) or in batches
//! ([`Batch`]), or anything else that can be cut into putting and getting ends. An end owns its
//! inner loop, so the compiler sees it whole; nothing is dispatched per task.
//!
//! # How a run goes
//! A run that is watched tells what was got while everybody was at work, without its beginning and its end: a [`Window`].
//!
//! Each end is made on the thread that uses it, so its memory and its place in the pool are that
//! thread's. All threads meet at a start line. The clock runs from there until one of the consumers
//! finds that together they have got everything. Consumers that find nothing, and producers that
//! find no room, spin briefly and then yield.
//!
//! Producers of an unbounded pool run ahead of its consumers: what is measured is then filling a
//! pool and draining it. [`Reading::put_elapsed`] tells how far ahead they ran.

mod ahead;
mod alone;
mod backlog;
mod beside;
#[cfg(test)]
mod broken;
mod counters;
mod ends;
mod family;
mod fault;
mod forest;
mod labour;
mod overtaking;
mod race;
mod stamps;
mod task;
mod window;

pub use cantina_record::Shape;

pub use ahead::run_ahead;
pub use alone::{call_in_bursts, call_in_turn, run_alone};
pub use backlog::{BACKLOG, run_backlogged};
pub use beside::{BURST, run_beside};
pub use counters::Counters;
pub use ends::{Count, Ends, Get, Make, Put, Room, Subject};
pub use family::{BATCH, Backlogged, Batch, Single};
pub use fault::Fault;
pub use forest::{Chore, Forest, Hand, Shared, run_forest};
pub use labour::{Labour, Units, Workers};
pub use overtaking::{Overtaking, Passage};
pub use race::{Assignment, Reading, run};
pub use stamps::run_stamped;
pub use task::{Line, Parcel, Payload, Tally};
pub use window::Window;
use window::{Mark, Marks};
