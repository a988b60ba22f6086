//! Random histories: right ones, and others.

use cantina_check::{Action, History, Item, Operation, Order, Spec};

/// A random number generator: xorshift.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// What kind of histories to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) spec: Spec,
    pub(crate) operations: usize,
    pub(crate) threads: usize,
    /// How far an operation reaches from the instant at which it takes effect.
    pub(crate) reach: usize,
    /// One operation in so many is pending; 0: none.
    pub(crate) pending: usize,
    /// One operation in so many is an atomic batch; 0: none.
    pub(crate) at_once: usize,
}

/// A history that some order explains: this one.
pub(crate) fn linearizable(shape: &Shape, random: &mut Random) -> History {
    let mut run = Run { shape, inside: Vec::new(), next: 1, operations: Vec::new(), now: 1_000 };
    while run.operations.len() < shape.operations {
        run.now += random.below(3) as u64;
        run.one(random);
    }
    History::new(run.operations).unwrap()
}

struct Run<'a> {
    shape: &'a Shape,
    inside: Vec<Item>,
    next: Item,
    operations: Vec<Operation>,
    now: u64,
}

impl Run<'_> {
    fn one(&mut self, random: &mut Random) {
        let at_once = self.shape.at_once > 0 && random.once_in(self.shape.at_once);
        let many = if at_once { 1 + random.below(3) } else { 1 };
        let dies = self.shape.pending > 0 && random.once_in(self.shape.pending);
        let happens = !dies || random.once_in(2);
        let action = if random.once_in(2) {
            self.put(many, at_once, happens, dies, random)
        } else {
            self.get(many, at_once, happens, dies, random)
        };
        let reach = self.shape.reach;
        let start = self.now - random.below(reach + 1) as u64;
        let end = self.now + random.below(reach + 1) as u64;
        self.operations.push(Operation {
            thread: random.below(self.shape.threads),
            start,
            end: (!dies).then_some(end),
            action,
        });
    }

    fn put(
        &mut self,
        many: usize,
        at_once: bool,
        happens: bool,
        dies: bool,
        random: &mut Random,
    ) -> Action {
        let mut items = Vec::new();
        let mut full = None;
        let mut inside = self.inside.clone();
        for _ in 0..many {
            let item = self.next;
            self.next += 1;
            if let Some(bound) = self.shape.spec.bound() {
                let may = inside.len() >= bound.full_from();
                if inside.len() >= bound.capacity || may && random.once_in(2) {
                    full = Some(item);
                    break;
                }
            }
            inside.push(item);
            items.push(item);
        }
        if dies {
            // It would not have come back, so nobody knows that it was full.
            items.extend(full.take());
            if happens {
                self.inside = inside;
            }
        } else {
            self.inside = inside;
        }
        match (at_once, &*items, full) {
            (false, &[item], _) => Action::Put(item),
            (false, _, full) => Action::Full(full.unwrap()),
            (true, ..) => Action::PutAtOnce { items: items.into(), full },
        }
    }

    fn get(
        &mut self,
        many: usize,
        at_once: bool,
        happens: bool,
        dies: bool,
        random: &mut Random,
    ) -> Action {
        let mut items = Vec::new();
        while happens && items.len() < many && !self.inside.is_empty() {
            let place = match self.shape.spec.order() {
                Order::Bag => random.below(self.inside.len()),
                Order::Queue => 0,
                Order::Stack => self.inside.len() - 1,
            };
            items.push(self.inside.remove(place));
        }
        match (dies, at_once, &*items) {
            (true, false, _) => Action::Getting { max: many },
            (true, true, _) => Action::GettingAtOnce { max: many },
            (false, _, []) => Action::Empty,
            (false, false, &[item]) => Action::Get(item),
            (false, ..) => Action::GetAtOnce(items.into()),
        }
    }
}

/// The same with something changed; it may be right or wrong now. `None`: it is no history.
pub(crate) fn mutated(history: &History, random: &mut Random) -> Option<History> {
    let mut operations = history.operations().to_vec();
    for _ in 0..1 + random.below(2) {
        let index = random.below(operations.len());
        let other = random.below(operations.len());
        match random.below(8) {
            0 => drop(operations.remove(index)),
            1 => operations[index].start += random.below(4) as u64,
            2 => operations[index].start -= random.below(4) as u64,
            3 => {
                operations[index].end =
                    operations[index].end.map(|end| end + random.below(4) as u64)
            }
            4 => {
                operations[index].end =
                    operations[index].end.map(|end| end - random.below(4) as u64)
            }
            5 => {
                let action = operations[index].action.clone();
                operations[index].action = operations[other].action.clone();
                operations[other].action = action;
            }
            6 => {
                operations[index].action = match operations[index].action {
                    Action::Get(_) => Action::Empty,
                    Action::Put(item) => Action::Full(item),
                    Action::Full(item) => Action::Put(item),
                    _ => return None,
                }
            }
            _ => {
                operations[index].end = None;
                if let Action::Get(_) | Action::Empty = operations[index].action {
                    operations[index].action = Action::Getting { max: 1 };
                }
            }
        }
        if operations.is_empty() {
            return None;
        }
    }
    History::new(operations).ok()
}
