//! parking_lot: its mutex around a vector.

use super::Peer;
use cantina_lab::experiment::rooms_stack::{self, BATCH, Holding, SMALL_BATCH, Store};
use cantina_lab::experiment::{Contestant, Shapes, drive};
use cantina_lab::workload::{
    Chore, Ends, Get, Make, Parcel, Put, Room, Shape, Shared, Subject, Tally,
};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

pub(super) const STACK: Peer = Peer {
    name: "parking-lot-stack",
    about: "a vector under its mutex; push and pop",
    package: "parking_lot",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || drive(Locked),
};

/// As a stack that workers share, with each of these amounts of work, and with batches of two sizes.
pub(super) fn shared(percent: &[u64]) -> Vec<Contestant> {
    let of = |name: &str, about: &str, batch| {
        let contestant = || Contestant {
            name: name.to_owned(),
            about: about.to_owned(),
            allocates: false,
            ..STACK.contestant()
        };
        let chore = |percent| Chore { batch, percent };
        rooms_stack::each(percent, contestant, |percent| {
            rooms_stack::drive_shared(Locked, chore(percent))
        })
    };
    let about = "a vector under its mutex, locked once for each batch";
    let mut all = of(STACK.name, about, BATCH);
    let (name, about) =
        (format!("{}-by-{SMALL_BATCH}", STACK.name), format!("{about} of {SMALL_BATCH}"));
    all.extend(of(&name, &about, SMALL_BATCH));
    all
}

struct Locked;

/// Either end, and a hand on what is shared.
struct End<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for End<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl Subject for Locked {
    type Put<T: Parcel> = End<T>;
    type Get<T: Parcel> = End<T>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<End<T>, End<T>> {
        let stack = End(Arc::default());
        let ends = |count| (0..count).map(|_| stack.clone());
        Ends::made(ends(shape.producers), ends(shape.consumers))
    }
}

impl<T: Parcel> Put<T> for End<T> {
    fn put(&mut self, numbers: Range<u64>, _: &Room<'_>) {
        for number in numbers {
            self.0.lock().push(T::numbered(number));
        }
    }
}

impl<T: Parcel> Get<T> for End<T> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Some(task) = self.0.lock().pop() else { return false };
        tally.add(&task);
        true
    }
}

impl Shared for Locked {
    type Hand<T: Parcel> = Holding<End<T>, T>;

    fn hands<T: Parcel>(&self, workers: usize, first: Vec<T>) -> Vec<Make<Self::Hand<T>>> {
        rooms_stack::hands(workers, End(Arc::default()), first)
    }
}

impl<T> Store<T> for End<T> {
    fn take(&mut self, most: usize, into: &mut Vec<T>) {
        self.0.lock().take(most, into);
    }

    fn give(&mut self, from: &mut Vec<T>) {
        self.0.lock().append(from);
    }
}
