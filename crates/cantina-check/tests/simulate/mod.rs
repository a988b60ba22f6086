//! Histories as threads make them: each thread does one thing after the other, and the operations of
//! different threads overlap at random. Right by construction.

use crate::generate::Random;
use cantina_check::{Action, History, Item, Operation, Order, Spec};
use std::collections::VecDeque;

/// A crowd of threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    pub(crate) spec: Spec,
    pub(crate) threads: usize,
    pub(crate) operations: usize,
    /// How many calls of ten are puts.
    pub(crate) puts_of_ten: usize,
    /// How many tasks go at once.
    pub(crate) at_once: usize,
    /// How many threads die on the way.
    pub(crate) dying: usize,
}

/// What a thread is doing.
enum Doing {
    Nothing,
    /// Since then, a put or a get, which has not taken effect.
    Calling(u64, bool),
    /// Since then, and this came of it.
    Returning(u64, Action),
}

/// What the crowd did.
pub(crate) fn history(crowd: &Crowd, seed: u64) -> History {
    let mut random = Random::new(seed);
    let mut store = Store { crowd, inside: VecDeque::new(), next: 0 };
    let mut threads: Vec<Doing> = (0..crowd.threads).map(|_| Doing::Nothing).collect();
    let mut operations = Vec::new();
    for now in 1.. {
        if operations.len() >= crowd.operations {
            break;
        }
        let thread = random.below(crowd.threads);
        if thread < crowd.dying && operations.len() > crowd.operations / 3 {
            continue;
        }
        let doing = &mut threads[thread];
        *doing = match std::mem::replace(doing, Doing::Nothing) {
            Doing::Nothing => Doing::Calling(now, random.below(10) < crowd.puts_of_ten),
            Doing::Calling(start, true) => Doing::Returning(start, store.put()),
            Doing::Calling(start, false) => Doing::Returning(start, store.get(&mut random)),
            Doing::Returning(start, action) => {
                operations.push(Operation { thread, start, end: Some(now), action });
                Doing::Nothing
            }
        };
    }
    for (thread, doing) in threads.into_iter().enumerate() {
        let (start, action) = match doing {
            Doing::Nothing => continue,
            Doing::Calling(start, true) => (start, Action::Put(Item::MAX - thread as Item)),
            Doing::Calling(start, false) => (start, Action::Getting { max: 1 }),
            Doing::Returning(start, action) => (start, action),
        };
        let (end, action) = match action {
            Action::Get(_) | Action::Empty => (None, Action::Getting { max: 1 }),
            Action::GetAtOnce(_) => (None, Action::GettingAtOnce { max: crowd.at_once }),
            Action::Full(_) | Action::PutAtOnce { full: Some(_), .. } => {
                (Some(u64::MAX - 1), action)
            }
            _ => (None, action),
        };
        operations.push(Operation { thread, start, end, action });
    }
    History::new(operations).unwrap()
}

/// What the threads share.
struct Store<'a> {
    crowd: &'a Crowd,
    inside: VecDeque<Item>,
    next: Item,
}

impl Store<'_> {
    fn put(&mut self) -> Action {
        let capacity = self.crowd.spec.bound().map_or(usize::MAX, |bound| bound.capacity);
        let room = self.crowd.at_once.min(capacity - self.inside.len());
        let items: Vec<Item> = (0..room as Item).map(|n| self.next + n).collect();
        let refused = self.next + room as Item;
        let full = (room < self.crowd.at_once).then_some(refused);
        self.next += self.crowd.at_once as Item;
        self.inside.extend(&items);
        match (&*items, full) {
            (_, Some(full)) if self.crowd.at_once == 1 => Action::Full(full),
            (&[item], None) => Action::Put(item),
            _ => Action::PutAtOnce { items: items.into(), full },
        }
    }

    fn get(&mut self, random: &mut Random) -> Action {
        let mut items = Vec::new();
        while items.len() < self.crowd.at_once && !self.inside.is_empty() {
            items.extend(match self.crowd.spec.order() {
                Order::Bag => self.inside.swap_remove_back(random.below(self.inside.len())),
                Order::Queue => self.inside.pop_front(),
                Order::Stack => self.inside.pop_back(),
            });
        }
        match &*items {
            [] => Action::Empty,
            &[item] => Action::Get(item),
            _ => Action::GetAtOnce(items.into()),
        }
    }
}
