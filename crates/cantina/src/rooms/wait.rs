//! Waiting until a ticket is good: looking around for some tens of microseconds where there are processors for all, and once where there are
//! not; then sleep.

use super::EnterError;
use super::form::{Form, Taken};
use super::sleepers::Wake;
use machine::Backoff;
use machine::park::Parker;
use machine::time::{Duration, Instant};

/// How often who waits gives way and looks again, at most: some tens of microseconds, if nobody else wants the processor.
const MOST_LOOKS: usize = 128;

/// Goes inside `room`, and waits for it if need be. How it came there.
#[inline]
pub(crate) fn enter(form: &impl Form, room: usize) -> Result<Taken, EnterError> {
    let taken = form.take_in_time(room)?;
    if let Taken::Ticket(ticket) = taken {
        wait(form, room, ticket);
    }
    Ok(taken)
}

/// Returns inside `room`, or an error when it takes longer than `most`.
pub(super) fn arrive_within(
    form: &impl Form,
    room: usize,
    taken: Taken,
    most: Duration,
) -> Result<(), EnterError> {
    match taken {
        Taken::Ticket(ticket) if !wait_at_most(form, room, ticket, Some(most)) => {
            Err(EnterError::TimedOut)
        }
        Taken::Inside | Taken::Joined | Taken::Ticket(_) => Ok(()),
    }
}

/// Returns when `ticket` is good.
#[inline(never)]
pub(super) fn wait(form: &impl Form, room: usize, ticket: u64) {
    let until_it_is_good = wait_at_most(form, room, ticket, None);
    debug_assert!(until_it_is_good, "who has no deadline gives nothing up");
}

/// Returns when `ticket` is good, or when it is not for so long: then it is given up. Whether it is good.
fn wait_at_most(form: &impl Form, room: usize, ticket: u64, most: Option<Duration>) -> bool {
    let deadline = deadline(most);
    match look_around(form, room, ticket, deadline) {
        Looked::Good => return true,
        Looked::Late => {}
        Looked::InVain => sleep(form, room, ticket, deadline),
    }
    form.is_good(room, ticket) || !gives_up(form, room, ticket)
}

/// Sleeps until `ticket` is good, or it is too late.
fn sleep(form: &impl Form, room: usize, ticket: u64, deadline: Option<Instant>) {
    let parker = Parker::new();
    let (sleepers, mut sleeper) = (form.sleepers(room, ticket), form.sleeper(ticket));
    sleepers.add(&mut sleeper, Wake::Thread(parker.unparker()));
    while !form.is_good(room, ticket) {
        match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => parker.park(),
            Some(left) if parker.park_timeout(left) => {}
            Some(_) => break,
        }
    }
    sleepers.remove(sleeper, |ticket| form.is_good(room, ticket));
}

/// When so much time will be over.
fn deadline(most: Option<Duration>) -> Option<Instant> {
    // What is too far away to be told never comes.
    most.and_then(|most| Instant::now().checked_add(most))
}

/// Whether that never comes.
pub(super) fn is_for_ever(most: Option<Duration>) -> bool {
    deadline(most).is_none()
}

/// Gives `ticket` up, unless its room opens: then its holder is inside, when this returns.
pub(super) fn gives_up(form: &impl Form, room: usize, ticket: u64) -> bool {
    let given_up = form.give_up(room, ticket);
    if !given_up {
        // Whoever opens the room is about to say so.
        let backoff = Backoff::new();
        while !form.is_good(room, ticket) {
            backoff.snooze();
        }
    }
    given_up
}

/// What comes of looking around.
enum Looked {
    /// The ticket is good.
    Good,
    /// It was not when the time was over.
    Late,
    /// It was not, and to go on looking would take longer than to sleep.
    InVain,
}

/// Looks for a while whether `ticket` becomes good; only once if others need the processor for that. A room is open for some
/// microseconds, mostly, and to sleep and to be woken takes longer. Who gives way may come back late: so each time it asks the clock, if it has
/// a deadline.
fn look_around(form: &impl Form, room: usize, ticket: u64, deadline: Option<Instant>) -> Looked {
    let backoff = Backoff::new();
    let outstanding = form.outstanding();
    let many = outstanding > form.processors();
    // The more there are the longer a room is open; to sleep and to be woken takes longer still, and all wait for it.
    let looks = machine::looks() * outstanding.max(1) as usize;
    let mut looks = if many { 0 } else { looks.min(MOST_LOOKS) };
    loop {
        if form.is_good(room, ticket) {
            return Looked::Good;
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Looked::Late;
        }
        if many || backoff.is_completed() {
            let Some(left) = looks.checked_sub(1) else { return Looked::InVain };
            looks = left;
        }
        backoff.snooze();
    }
}
