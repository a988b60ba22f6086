//! A unit's messages: an owner queue in one word, whose nodes are the messages.
//!
//! Who posts to a mailbox that nobody owns owns it; who finds nothing more gives it up. Ownership is the unit's
//! [task](super::run::Task). It is the public [owner queue](crate::owner_queue) without owners that leave early, and
//! without nodes beside the messages.

use super::error::WaitError;
use super::unheard::Whose;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

/// Nobody owns it, and nothing is in it.
const IDLE: usize = 0;
/// Somebody owns it, and nothing new is in it. No address of a message.
const BUSY: usize = 1;

/// Runs the message of that unit on the state, or fails it with the error. It is used up. Whether it panicked.
///
/// # Safety
/// A message that is the caller's, in no list.
pub(super) type Run<S> = unsafe fn(NonNull<Message<S>>, Result<&mut S, WaitError>, &Whose) -> bool;

/// The beginning of a message, or a part of it.
pub(super) struct Message<S> {
    /// The one before it; in `rest` the one behind it.
    next: UnsafeCell<usize>,
    /// `None`: the last handle is gone, and so is the state.
    pub(super) run: Option<Run<S>>,
}

/// Where senders meet. What its owner writes with each message is to be elsewhere.
pub(super) struct Mailbox<S> {
    /// `IDLE`, `BUSY`, or the newest message's address.
    head: AtomicUsize,
    messages: PhantomData<fn(S)>,
}

/// What the owner has taken off a mailbox, oldest first.
pub(super) struct Rest(UnsafeCell<usize>);

impl<S> Message<S> {
    pub(super) fn new(run: Option<Run<S>>) -> Self {
        Self { next: UnsafeCell::new(IDLE), run }
    }
}

impl Rest {
    pub(super) fn new() -> Self {
        Self(UnsafeCell::new(IDLE))
    }
}

impl<S> Mailbox<S> {
    pub(super) fn new() -> Self {
        Self { head: AtomicUsize::new(IDLE), messages: PhantomData }
    }

    /// Adds `message`. Whether the caller owns the mailbox now: then the message is what is left in `rest`, and no exchange
    /// is needed to take it.
    ///
    /// # Safety
    /// The message is the caller's, and stays until it is run. `rest` is the mailbox's.
    #[inline]
    pub(super) unsafe fn post(&self, rest: &Rest, message: NonNull<Message<S>>) -> bool {
        let address = message.as_ptr().expose_provenance();
        // hint: only named; the exchange decides.
        let mut seen = self.head.load(Relaxed);
        loop {
            let (before, after) = match seen {
                IDLE => (IDLE, BUSY),
                BUSY => (IDLE, address),
                newest => (newest, address),
            };
            // SAFETY: ours until the exchange succeeds.
            unsafe { message.as_ref().next.with_mut(|next| *next = before) };
            // message: it and its link, for the owner.
            // owner: if nobody owned it we do, and `rest` and the state are as the last owner left them.
            match self.head.compare_exchange_weak(seen, after, AcqRel, Relaxed) {
                Ok(IDLE) => {
                    // SAFETY: we own it, and who gives it up leaves nothing there.
                    rest.0.with_mut(|rest| unsafe { *rest = address });
                    return true;
                }
                Ok(_) => return false,
                Err(now) => seen = now,
            }
        }
    }

    /// The oldest message. `None`: there is none, and the caller owns it no longer.
    ///
    /// # Safety
    /// The caller owns it, and `rest` is its rest.
    pub(super) unsafe fn next(&self, rest: &Rest) -> Option<NonNull<Message<S>>> {
        // SAFETY: the owner's.
        let mut first = rest.0.with(|rest| unsafe { *rest });
        if first == IDLE {
            // hint: only named: what is new stays until it is taken below.
            let is_done = self.head.load(Relaxed) == BUSY;
            // owner: `rest`, the state and all we did. On failure there is something new.
            if is_done && self.head.compare_exchange(BUSY, IDLE, Release, Relaxed).is_ok() {
                return None;
            }
            // SAFETY: taken off `head`, so the owner's.
            // message: everything new.
            first = unsafe { Self::reversed(self.head.swap(BUSY, Acquire)) };
        }
        let message = NonNull::new(ptr::with_exposed_provenance_mut::<Message<S>>(first))?;
        // SAFETY: the owner's.
        let next = unsafe { message.as_ref().next.with(|next| *next) };
        // SAFETY: as above.
        rest.0.with_mut(|rest| unsafe { *rest = next });
        Some(message)
    }

    /// # Safety
    /// A list that is the caller's.
    unsafe fn reversed(mut list: usize) -> usize {
        let mut done = IDLE;
        while list != IDLE {
            // SAFETY: the caller's.
            let message = unsafe { &*ptr::with_exposed_provenance::<Message<S>>(list) };
            // SAFETY: as above.
            let next = message.next.with_mut(|next| unsafe { std::mem::replace(&mut *next, done) });
            done = list;
            list = next;
        }
        done
    }
}
