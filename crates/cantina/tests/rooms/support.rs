//! Rooms that are watched.

use cantina::rooms::{Builder, Rooms};
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::SeqCst;
use machine::{Arc, thread};

/// How far counted tickets are from coming round when a test begins.
const NEAR_THE_WRAP: u64 = 20;

/// Settings for so many rooms, in either form.
pub(crate) fn both(rooms: usize) -> [Builder; 2] {
    let start = u64::MAX - NEAR_THE_WRAP;
    [false, true].map(|counted| Rooms::builder(rooms).counted(counted).start(start))
}

/// Rooms that know who is inside.
#[derive(Clone)]
pub(crate) struct House {
    pub(crate) rooms: Arc<Rooms>,
    inside: Arc<Vec<AtomicUsize>>,
    /// How often exit code was run.
    pub(crate) closed: Arc<AtomicUsize>,
}

impl House {
    pub(crate) fn new(builder: Builder, rooms: usize) -> Self {
        Self::closing(builder, rooms, true)
    }

    /// Rooms without exit code, which are joined while they are open.
    pub(crate) fn joined(builder: Builder, rooms: usize) -> Self {
        Self::closing(builder.joined(true), rooms, false)
    }

    fn closing(mut builder: Builder, rooms: usize, has_exit_code: bool) -> Self {
        let inside: Arc<Vec<_>> = Arc::new((0..rooms).map(|_| AtomicUsize::new(0)).collect());
        let closed = Arc::new(AtomicUsize::new(0));
        for room in (0..rooms).filter(|_| has_exit_code) {
            let (inside, closed) = (inside.clone(), closed.clone());
            builder = builder.on_last_exit(room, move || {
                let alone = inside.iter().all(|inside| inside.load(SeqCst) == 0);
                assert!(alone, "somebody is inside while exit code runs");
                closed.fetch_add(1, SeqCst);
            });
        }
        Self { rooms: Arc::new(builder.build().unwrap()), inside, closed }
    }

    /// Is inside `room`, where nobody of another one is. How many were there.
    pub(crate) fn visit(&self, room: usize) -> usize {
        let here = self.inside[room].fetch_add(1, SeqCst) + 1;
        thread::yield_now();
        for (other, inside) in self.inside.iter().enumerate() {
            assert!(other == room || inside.load(SeqCst) == 0, "two rooms are open");
        }
        self.inside[room].fetch_sub(1, SeqCst);
        here
    }
}

/// So many threads that do the same, by their numbers.
pub(crate) fn threads(many: usize, f: impl Fn(usize) + Clone + Send + 'static) {
    let started: Vec<_> = (0..many)
        .map(|number| {
            let f = f.clone();
            thread::spawn(move || f(number))
        })
        .collect();
    started.into_iter().for_each(|thread| thread.join().unwrap());
}
