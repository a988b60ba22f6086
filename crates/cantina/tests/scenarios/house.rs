//! Rooms with something inside, and who goes there.
//!
//! What they do inside is plain data: those of room 0 write each their own, all others read all of it, exit code writes all.
//! So a model sees a missing edge between any two who must not meet.

use cantina::rooms::Rooms;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::cell::UnsafeCell;
use machine::park::{Parker, Unparker};
use machine::{Arc, thread};
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, RawWakerVTable, Wake, Waker};

/// Rooms, and what those inside do.
#[derive(Clone)]
pub(super) struct House {
    pub(super) rooms: Arc<Rooms>,
    pub(super) inside: Arc<Inside>,
}

pub(super) struct Inside {
    /// Written in room 0, by the user of that number.
    own: [UnsafeCell<u32>; 3],
    /// How often exit code was run.
    closed: UnsafeCell<u32>,
    /// Who is inside, a byte for each room.
    users: AtomicU64,
}

// SAFETY: who reaches what when is up to the rooms, and that they keep it is what is tested.
unsafe impl Send for Inside {}
// SAFETY: as above.
unsafe impl Sync for Inside {}

impl House {
    pub(super) fn new(counted: bool, rooms: usize) -> Self {
        Self::with_limit(counted, rooms, u64::MAX)
    }

    /// With so small a limit that tickets which were given up are adopted.
    pub(super) fn where_tickets_are_few(counted: bool) -> Self {
        Self::with_limit(counted, 2, 3)
    }

    fn with_limit(counted: bool, rooms: usize, limit: u64) -> Self {
        let inside = Arc::new(Inside::new());
        let builder = Rooms::builder(rooms).counted(counted).limit(limit);
        let mut builder = builder.start(u64::MAX - 1);
        for room in 0..rooms {
            let inside = inside.clone();
            builder = builder.on_last_exit(room, move || inside.close());
        }
        Self { rooms: Arc::new(builder.build().unwrap()), inside }
    }

    /// Rooms without exit code, which are joined while they are open.
    pub(super) fn joined(rooms: usize) -> Self {
        Self::joined_with_limit(rooms, u64::MAX)
    }

    /// The same with so small a limit that a ticket which was given up is adopted.
    pub(super) fn joined_where_tickets_are_few(rooms: usize) -> Self {
        Self::joined_with_limit(rooms, 3)
    }

    fn joined_with_limit(rooms: usize, limit: u64) -> Self {
        let rooms = Rooms::builder(rooms).joined(true).limit(limit).build().unwrap();
        Self { rooms: Arc::new(rooms), inside: Arc::new(Inside::new()) }
    }

    /// A user who does this.
    pub(super) fn user(&self, f: impl FnOnce(Self) + Send + 'static) -> thread::JoinHandle<()> {
        let house = self.clone();
        thread::spawn(move || f(house))
    }

    /// Enters, and leaves.
    pub(super) fn visit(&self, user: usize, room: usize) {
        let guard = self.rooms.enter(room).unwrap();
        self.inside.act(user, room);
        drop(guard);
    }

    /// Enters room 0 as one who finds room 1 open, so that it is of a generation, and leaves.
    pub(super) fn visit_as_one_who_waits(&self, user: usize) {
        let guard = self.rooms.enter(1).unwrap();
        let (mut entering, parker) = (pin!(self.rooms.enter_async(0)), Parker::new());
        assert!(poll(entering.as_mut(), &parker).is_pending());
        drop(guard);
        let guard = finish(entering, &parker);
        self.inside.act(user, 0);
        drop(guard);
    }

    /// In how many batches they came, at least and at most.
    pub(super) fn ends(self, fewest: u32, most: u32) {
        let guard = self.rooms.try_enter(0).expect("all have left");
        // SAFETY: nobody else is there.
        let closed = self.inside.closed.with(|closed| unsafe { *closed });
        assert!((fewest..=most).contains(&closed), "{closed} batches");
        drop(guard);
    }
}

impl Inside {
    pub(super) fn new() -> Self {
        Self {
            own: std::array::from_fn(|_| UnsafeCell::new(0)),
            closed: UnsafeCell::new(0),
            users: AtomicU64::new(0),
        }
    }

    /// How many have been closed before the batch that we are in.
    pub(super) fn batch(&self) -> u64 {
        // SAFETY: whoever writes it is alone, and we are inside.
        self.closed.with(|closed| unsafe { *closed }).into()
    }

    pub(super) fn act(&self, user: usize, room: usize) {
        let others = self.users.fetch_add(1 << (8 * room), Relaxed) & !(0xff << (8 * room));
        assert_eq!(others, 0, "two rooms are open");
        match room {
            // SAFETY: in room 0 each has its own.
            0 => self.own[user].with_mut(|own| unsafe { *own += 1 }),
            _ => {
                // SAFETY: in other rooms all only read.
                let sum: u32 = self.own.iter().map(|own| own.with(|own| unsafe { *own })).sum();
                assert!(sum <= 99);
            }
        }
        self.users.fetch_sub(1 << (8 * room), Relaxed);
    }

    fn close(&self) {
        assert_eq!(self.users.load(Relaxed), 0, "somebody is inside");
        // SAFETY: exit code is alone.
        self.own.iter().for_each(|own| own.with_mut(|own| unsafe { *own += 1 }));
        // SAFETY: as above.
        self.closed.with_mut(|closed| unsafe { *closed += 1 });
    }
}

/// A thread that sleeps until its future is woken.
struct Task(Unparker);

impl Wake for Task {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

/// A waker that panics when it is cloned.
pub(super) fn bursts() -> Waker {
    const NOTHING: RawWakerVTable =
        RawWakerVTable::new(|_| resume_unwind(Box::new("a waker's")), |_| (), |_| (), |_| ());
    // SAFETY: it does nothing with what it points to, on whichever thread.
    unsafe { Waker::new(std::ptr::null(), &NOTHING) }
}

pub(super) fn poll<F: Future>(future: Pin<&mut F>, parker: &Parker) -> Poll<F::Output> {
    let waker = Waker::from(std::sync::Arc::new(Task(parker.unparker())));
    future.poll(&mut Context::from_waker(&waker))
}

pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    finish(pin!(future), &Parker::new())
}

pub(super) fn finish<F: Future>(mut future: Pin<&mut F>, parker: &Parker) -> F::Output {
    loop {
        if let Poll::Ready(result) = poll(future.as_mut(), parker) {
            return result;
        }
        parker.park();
    }
}
