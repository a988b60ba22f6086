//! A queue that somebody owns: whoever adds to it while nobody does, and until it is empty.
//!
//! Many threads add items, one at a time works them off, and no thread waits for another: adding to an idle
//! queue makes the adder its [`Owner`], adding to an owned one leaves the item to whoever that is. The owner
//! gets items one by one and is still the owner while it works on the last of them, so the work on two items
//! never overlaps. This is what a writer of a log or of a connection, a cache that refills itself and the units
//! of a scheduler have in common.
//!
//! ```
//! use cantina::owner_queue::OwnerQueue;
//!
//! let queue = OwnerQueue::new();
//! let mut sum = 0;
//! if let Some(mut owner) = queue.enqueue(1) {     // nobody owned it: we do
//!     assert!(queue.enqueue(2).is_none());        // somebody does
//!     while let Some((item, still)) = owner.next() {
//!         owner = still;
//!         sum += item;
//!     }                                           // it was empty, and nobody owns it any longer
//! }
//! assert_eq!(sum, 3);
//! ```
//!
//! # The contract
//! There is at most one [`Owner`] at a time, every item of a completed enqueue has one or is left, and only the
//! owner gets items. What would break it does not compile:
//!
//! ```compile_fail,E0599
//! let queue = cantina::owner_queue::OwnerQueue::new();
//! let second = queue.enqueue(1).unwrap().clone();    // one owner at a time
//! ```
//!
//! ```compile_fail,E0382
//! let queue = cantina::owner_queue::OwnerQueue::new();
//! let owner = queue.enqueue(1).unwrap();
//! let next = owner.next();
//! let again = owner.next();                          // the owner is what `next` gave back, if it did
//! ```
//!
//! ```compile_fail,E0599
//! let queue = cantina::owner_queue::OwnerQueue::<u8>::new();
//! let item = queue.next();                           // only the owner gets items
//! ```
//!
//! ```compile_fail,E0277
//! let queue = cantina::owner_queue::OwnerQueue::<std::rc::Rc<u8>>::new();
//! std::thread::spawn(move || queue.try_own());       // items that may not leave their thread
//! ```
//!
//! ```compile_fail,E0597
//! let queue = cantina::owner_queue::OwnerQueue::<&'static String>::new();
//! let text = String::from("gone");
//! let shorter: &cantina::owner_queue::OwnerQueue<&String> = &queue;
//! drop(shorter.enqueue(&text));                      // items that go before the queue does
//! ```
//!
//! ```compile_fail,E0597
//! let queue = cantina::owner_queue::OwnerQueue::<&'static String>::new();
//! let text = String::from("gone");
//! let mut shorter: cantina::owner_queue::Producer<&String> = queue.producer();
//! drop(shorter.enqueue(&text));                      // nor from a producer
//! ```
//!
//! # Leaving
//! An owner may move to another thread, and may go before the queue is empty: an [`Owner`] that is dropped, also
//! by a panic, leaves what is in the queue to the next [`enqueue`](OwnerQueue::enqueue) or
//! [`try_own`](OwnerQueue::try_own). One that is leaked (`mem::forget`) keeps the queue for ever.
//!
//! # Progress
//! [`enqueue`](OwnerQueue::enqueue), [`try_own`](OwnerQueue::try_own), [`Owner::next`] and the drop of an owner
//! are lock-free: one exchange each that fails only when another one succeeds, but for allocation.
//!
//! # Linearization
//! First in, first out, each operation at the exchange of `head` that succeeds: ownership begins and ends there,
//! too. A `next` that finds an item taken off `head` before: at any instant of the call. A `try_own` that gives
//! `None`: at its last load.
//!
//! # Invariants
//! * **I1** `head` is one of `IDLE` (nobody owns it, nothing is in it), `BUSY` (owned, nothing new), the address of
//!   the newest node (owned), or `BUSY` or such an address with the bit `LEFT` (there are items, nobody owns it).
//! * **I2** an [`Owner`] exists if and only if `head` is `BUSY` or an address without `LEFT`: only the exchange
//!   that leaves another state makes one, and only the owner's exchange that enters one ends it.
//! * **I3** `hold` (what was taken off `head`, oldest first, and empty nodes) is the owner's. In `IDLE` no item is in it.
//! * **I4** what is in `hold` is older than what `head` leads to.
//! * **I5** a node that `head` leads to, or `rest`, has an item; an empty one, or a spare one, has none. A node is in
//!   one list.
//!
//! The steps, and why these hold: `README.md` beside this file.
//!
//! That an address is found again in `head` after its node was emptied and used anew does no harm: an enqueue links
//! to whatever is newest, and nothing is ever taken off but everything. So words hold exposed addresses, not pointers.
//!
//! # Orderings
//! | edge | release side | acquire side | carries |
//! |---|---|---|---|
//! | `item` | [`OwnerQueue::enqueue`] | [`Owner::next`], what takes all off `head` | the node's item and link |
//! | `hand` | [`Owner::next`] that gives `None`, the drop of an owner | [`OwnerQueue::enqueue`], [`OwnerQueue::try_own`] that give an owner | `hold`, and all that the last owner did |
//! | `spare` | who gives empty nodes back | who takes them | their links, and that their items are gone |
//!
//! # Memory
//! An item lies in a node of its own. The owner keeps empty nodes and hands them back in chains; a [`Producer`]
//! takes them from there, so that where one producer and owners go on nothing is allocated. Of several producers one takes all that is
//! there, keeps two chains, and puts the others back: another one that comes in between finds none, and allocates a node for each item that it adds
//! until then. [`OwnerQueue::enqueue`]
//! has no place to keep nodes and allocates one. Up to [`SPARE_CHAINS`] chains are kept, two with each
//! producer, and one with the queue. The last handle drops the items that are left, each of them even when the drop of
//! another one panics.

mod node;
mod producer;
mod shared;
mod spare;

pub use producer::Producer;

use machine::Arc;
use node::Node;
use shared::Shared;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;

/// How many empty nodes are handed on at a time, unless [`OwnerQueue::recycling`] says otherwise.
pub const CHAIN: usize = 64;

/// How many chains of empty nodes a queue keeps, about.
pub const SPARE_CHAINS: usize = 16;

/// A queue with at most one owner; see the [module](self). A handle to it: clone it freely.
pub struct OwnerQueue<T> {
    shared: Arc<Shared<T>>,
}

/// The right, and the duty, to work off an [`OwnerQueue`]. It may move to another thread. Several threads may look at it, as it is
/// `Sync` where items are `Send`, but a reference to it can do nothing: [`next`](Self::next) takes the owner itself.
#[must_use = "an owner dropped before the queue is empty leaves the items to the next one"]
pub struct Owner<T> {
    shared: Arc<Shared<T>>,
}

impl<T> OwnerQueue<T> {
    /// An empty queue that nobody owns.
    pub fn new() -> Self {
        Self::recycling(CHAIN)
    }

    /// An empty queue that nobody owns, in which empty nodes are handed on `nodes` at a time, or one by one if that is 0.
    pub fn recycling(nodes: usize) -> Self {
        Self { shared: Arc::new(Shared::idle(nodes.max(1))) }
    }

    /// An empty queue, and its owner: what is added waits until that one has come to its
    /// [`next`](Owner::next) `None`, or is gone.
    ///
    /// ```
    /// let (queue, owner) = cantina::owner_queue::OwnerQueue::owned();
    /// assert!(queue.enqueue("to whom it may concern").is_none());
    /// assert_eq!(owner.next().unwrap().0, "to whom it may concern");
    /// ```
    pub fn owned() -> (Self, Owner<T>) {
        let shared = Arc::new(Shared::busy(CHAIN));
        (Self { shared: shared.clone() }, Owner { shared })
    }

    /// Adds `item`. `Some`: nobody owned the queue, now the caller does.
    #[must_use = "an owner works the queue off: dropped, it leaves the items to the next one"]
    pub fn enqueue(&self, item: T) -> Option<Owner<T>> {
        self.shared.enqueue(Node::boxed(item)).then(|| self.owner())
    }

    /// Becomes the owner of what a dropped one has left. `None`: there is nothing in it, or somebody owns it.
    ///
    /// ```
    /// let queue = cantina::owner_queue::OwnerQueue::new();
    /// drop(queue.enqueue(1));
    /// let (item, owner) = queue.try_own().unwrap().next().unwrap();
    /// assert_eq!(item, 1);
    /// assert!(queue.try_own().is_none());
    /// assert!(owner.next().is_none());
    /// ```
    #[must_use = "an owner works the queue off: dropped, it leaves the items to the next one"]
    pub fn try_own(&self) -> Option<Owner<T>> {
        self.shared.adopt().then(|| self.owner())
    }

    /// An adding end that uses nodes again.
    pub fn producer(&self) -> Producer<T> {
        Producer::new(self.shared.clone())
    }

    /// Only for whoever has just made the queue owned (I2).
    fn owner(&self) -> Owner<T> {
        Owner { shared: self.shared.clone() }
    }
}

impl<T> Owner<T> {
    /// The oldest item, and the owner again. `None`: the queue was empty, and nobody owns it any longer.
    #[must_use = "what it returns is the item and the ownership"]
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator could be asked again after its end"
    )]
    pub fn next(self) -> Option<(T, Self)> {
        // SAFETY: `self` is the owner.
        if let Some(item) = unsafe { self.shared.next_or_release() } {
            return Some((item, self));
        }
        let released = ManuallyDrop::new(self);
        // SAFETY: `released` is not used again, nor dropped: its drop would give up what it no longer has.
        drop(unsafe { ptr::read(&released.shared) });
        None
    }

    /// Hands each item to `work` until the queue is empty. When `work` panics, the items behind are left.
    ///
    /// ```
    /// let queue = cantina::owner_queue::OwnerQueue::new();
    /// let mut seen = Vec::new();
    /// if let Some(owner) = queue.enqueue(1) {
    ///     let _ = queue.enqueue(2);
    ///     owner.run(|item| seen.push(item));
    /// }
    /// assert_eq!(seen, [1, 2]);
    /// ```
    pub fn run(mut self, mut work: impl FnMut(T)) {
        while let Some((item, owner)) = self.next() {
            self = owner;
            work(item);
        }
    }
}

impl<T> Drop for Owner<T> {
    fn drop(&mut self) {
        // SAFETY: it is the owner, and is not used again.
        unsafe { self.shared.leave() };
    }
}

impl<T> Clone for OwnerQueue<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T> Default for OwnerQueue<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for OwnerQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnerQueue").field(&*self.shared).finish()
    }
}

impl<T> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Owner").field(&*self.shared).finish()
    }
}
