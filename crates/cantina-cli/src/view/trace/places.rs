//! What lies where while a log is read: objects, their parts, and words that nobody has described.
//!
//! Addresses are used again. So a word is not an address but what lay there for a while: it is born
//! with its object and goes with it.

use super::rows::{Row, Rows};
use super::story::{
    Moment, Object, ObjectNumber, Owner, Thread, Tickets, Value, Word, WordNumber, role_letter,
};
use cantina_sim::trace::Role;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Bytes of a cache line.
const LINE: usize = 64;
/// Values from here on are taken for pointers.
const POINTERS: u64 = 1 << 32;
/// How far below 0 a number can be.
const SMALL: i64 = 1 << 32;

/// Everything that is or was somewhere.
#[derive(Default)]
pub(super) struct Places {
    pub(super) objects: Vec<Object>,
    pub(super) words: Vec<Word>,
    /// The objects that are there, by address, with their ends.
    living: BTreeMap<usize, (usize, ObjectNumber)>,
    /// The described words that are there, by address, the longer ones first.
    parts: BTreeMap<(usize, Reverse<usize>), WordNumber>,
    /// The described words that lie behind each other, touched or not.
    rows: Rows,
    /// The role of each word.
    roles: Vec<Option<Role>>,
    /// The words that are there and not described.
    loose: BTreeMap<usize, WordNumber>,
    /// Lines by their first address.
    lines: HashMap<usize, usize>,
    /// Pointers to what is no object.
    pointers: HashMap<u64, usize>,
    /// How many of a kind there are.
    counts: HashMap<&'static str, usize>,
    /// And how many each thread has.
    owned: HashMap<(&'static str, Thread), usize>,
}

impl Places {
    /// An object lies at `start` now, and nothing else.
    pub(super) fn put(&mut self, start: usize, bytes: usize, object: Object) -> ObjectNumber {
        let end = start + bytes;
        let buried: Vec<usize> = self
            .living
            .range(..end)
            .rev()
            .take(8)
            .filter(|(_, (until, _))| *until > start)
            .map(|(address, _)| *address)
            .collect();
        buried.into_iter().for_each(|address| self.bury(address, object.born));
        let number = self.objects.len();
        self.objects.push(object);
        self.living.insert(start, (end, number));
        self.loose.retain(|address, _| !(start..end).contains(address));
        number
    }

    /// The object of `bytes` bytes at `start` is gone at `when`; whether there was one.
    pub(super) fn remove(&mut self, start: usize, bytes: usize, when: Moment) -> bool {
        let there = self.living.get(&start).is_some_and(|(end, _)| *end == start + bytes);
        if there {
            self.bury(start, when);
        }
        there
    }

    fn bury(&mut self, start: usize, when: Moment) {
        let Some((end, number)) = self.living.remove(&start) else { return };
        self.objects[number].gone = Some(when);
        let words = &mut self.words;
        let mut keep = |address: usize, word: WordNumber| {
            let stays = !(start..end).contains(&address) && words[word].object != Some(number);
            if !stays {
                words[word].gone = Some(when);
            }
            stays
        };
        self.parts.retain(|(address, _), word| keep(*address, *word));
        self.loose.retain(|address, word| keep(*address, *word));
        self.rows.remove(number);
    }

    /// A part of `bytes` bytes lies at `start`. `None` if that is known.
    pub(super) fn describe(
        &mut self,
        (start, bytes): (usize, usize),
        name: &'static str,
        role: Role,
        (when, maker): (Moment, Option<Thread>),
    ) -> Option<WordNumber> {
        let key = (start, Reverse(bytes));
        let known = self.parts.get(&key).map(|word| &self.words[*word]);
        if known.is_some_and(|word| word.name.contains(name)) {
            return None;
        }
        let object = self.object_around(start);
        let full = match object {
            Some(number) => format!("{}.{name}", self.objects[number].name),
            // Whoever says it is whose it is.
            None => match maker {
                Some(maker) => format!("t{}.{name} {}", maker + 1, self.count_of(name, maker)),
                None => format!("{name} {}", self.count(name)),
            },
        };
        let word = self.add_word(start, full, Some(role), (object, None), when);
        self.parts.insert(key, word);
        Some(word)
    }

    /// Parts lie behind each other from `start` on; they belong to what lies at `whole`.
    pub(super) fn describe_row(&mut self, start: usize, whole: usize, row: Row, when: Moment) {
        let object = self.object_around(whole);
        if !self.rows.put(start, Row { object, ..row }) {
            return;
        }
        if let Some(object) = object.map(|number| &mut self.objects[number]) {
            match row.role {
                Role::Task => object.groups.push(row.count),
                Role::Presence { children, .. } | Role::Puts { children } => {
                    object.fans.push(children);
                }
                _ => {}
            }
        }
        let (words, end) = (&mut self.words, start + row.bytes * row.count);
        self.loose.retain(|address, word| {
            let stays = !(start..end).contains(address);
            if !stays {
                words[*word].gone = Some(when);
            }
            stays
        });
    }

    /// The word at `address`; the part that is a lock if that is wanted, and else the innermost.
    pub(super) fn word_at(&mut self, address: usize, lock: bool, when: Moment) -> WordNumber {
        let before = self.parts.range(..=(address, Reverse(0))).rev().take(8);
        let around = before.filter(|((start, bytes), _)| address < start + bytes.0);
        let mut words = around.map(|(_, word)| *word);
        let wanted = |word: &WordNumber| (self.words[*word].role == 'k') == lock;
        if let Some(word) = words.clone().find(wanted).or_else(|| words.next()) {
            return word;
        }
        if let Some(word) = self.loose.get(&address) {
            return *word;
        }
        if let Some(member) = self.rows.at(address) {
            let Row { name, role, object, bytes, .. } = member.row;
            let surname =
                object.map_or(String::new(), |object| self.objects[object].name.clone() + ".");
            let name = format!("{surname}{name} {}", member.number);
            let number = Some(member.number);
            let word = self.add_word(member.start, name, Some(role), (object, number), when);
            self.parts.insert((member.start, Reverse(bytes)), word);
            return word;
        }
        let object = self.object_around(address);
        let name = match object {
            Some(number) => format!("{}+{}", self.objects[number].name, address % LINE),
            None => format!("w{}", self.count("word")),
        };
        let word = self.add_word(address, name, None, (object, None), when);
        self.loose.insert(address, word);
        word
    }

    fn add_word(
        &mut self,
        address: usize,
        name: String,
        role: Option<Role>,
        (object, number): (Option<ObjectNumber>, Option<usize>),
        born: Moment,
    ) -> WordNumber {
        let next = self.lines.len();
        let line = *self.lines.entry(address / LINE).or_insert(next);
        self.roles.push(role);
        let (role, offset) = (role_letter(role), address % LINE);
        self.words.push(Word { name, role, object, number, line, offset, born, gone: None });
        self.words.len() - 1
    }

    /// The object that `address` lies in.
    pub(super) fn object_around(&self, address: usize) -> Option<ObjectNumber> {
        let (_, (end, number)) = self.living.range(..=address).next_back()?;
        (address < *end).then_some(*number)
    }

    /// How many of this kind the thread has, this one included.
    fn count_of(&mut self, kind: &'static str, thread: Thread) -> usize {
        let count = self.owned.entry((kind, thread)).or_default();
        *count += 1;
        *count
    }

    /// How many of this kind there are, this one included.
    pub(super) fn count(&mut self, kind: &'static str) -> usize {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        *count
    }

    /// What `bits` mean in `word`.
    pub(super) fn value_in(&mut self, word: Option<WordNumber>, bits: u64) -> Value {
        match word.and_then(|word| self.roles[word]) {
            Some(Role::Owner { bits: width }) => Value::Owner(Owner::read(bits, width)),
            Some(Role::Count { bits: width }) => {
                Value::Count { count: bits & ((1 << width) - 1), lap: bits >> width }
            }
            Some(Role::Presence { bits: width, .. }) => {
                Value::Present { children: bits & ((1 << width) - 1), version: bits >> width }
            }
            Some(Role::Filled { bits: width }) => {
                Value::Filled { published: bits & ((1 << width) - 1), closed: bits >> width }
            }
            Some(Role::Tickets { rooms, lane, bits: width }) => {
                Value::Tickets(Tickets::read(bits, rooms, lane, width))
            }
            Some(Role::Index | Role::Bits) => Value::Number(bits),
            Some(Role::Number) if (bits as i64) < 0 && bits as i64 > -SMALL => {
                Value::Negative(bits as i64)
            }
            _ => self.value(bits),
        }
    }

    /// What `bits` mean.
    pub(super) fn value(&mut self, bits: u64) -> Value {
        if bits < POINTERS {
            return Value::Number(bits);
        }
        match self.living.get(&(bits as usize)) {
            Some((_, number)) => Value::Object(*number),
            None => {
                let next = self.pointers.len() + 1;
                Value::Pointer(*self.pointers.entry(bits).or_insert(next))
            }
        }
    }
}

/// The name of the node of that number: A to Z, then AA and so on.
pub(super) fn letters(mut number: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.push(b'A' + (number % 26) as u8);
        if number < 26 {
            break;
        }
        number = number / 26 - 1;
    }
    name.iter().rev().map(|letter| char::from(*letter)).collect()
}

/// An object that has just come.
pub(super) fn fresh(
    node: bool,
    what: &'static str,
    name: String,
    born: Moment,
    maker: Option<Thread>,
) -> Object {
    let (gone, linked, unlinked, home) = (None, None, None, None);
    let (groups, fans) = (Vec::new(), Vec::new());
    Object { node, what, name, born, gone, linked, unlinked, home, maker, groups, fans }
}

#[cfg(test)]
mod tests {
    use super::{Places, fresh, letters};
    use crate::view::trace::story::Value;
    use cantina_sim::trace::Role;

    #[test]
    fn nodes_are_named_as_columns_are() {
        let names = [0, 25, 26, 51, 52, 701, 702].map(letters);
        assert_eq!(names, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }

    #[test]
    fn pointers_are_objects_where_there_is_one() {
        let mut places = Places::default();
        let start = 1 << 40;
        places.put(start, 64, fresh(true, "node", letters(0), 0, None));
        assert_eq!(places.value(start as u64), Value::Object(0));
        assert_eq!(places.value(start as u64 + 8), Value::Pointer(1));
        assert_eq!(places.value(3), Value::Number(3));
        assert!(!places.remove(start, 8, 1), "only its first part");
        assert!(places.remove(start, 64, 1));
        assert_eq!(places.value(start as u64), Value::Pointer(2));
    }

    #[test]
    fn the_innermost_part_is_meant_unless_it_is_about_a_lock() {
        let mut places = Places::default();
        places.put(64, 64, fresh(false, "pool", "pool".to_owned(), 0, None));
        let lock = places.describe((64, 32), "lock", Role::Lock, (0, None)).unwrap();
        let link = places.describe((64, 8), "head", Role::Link, (0, None)).unwrap();
        assert_eq!(places.describe((64, 8), "head", Role::Link, (0, None)), None, "said before");
        assert_eq!(places.word_at(64, false, 0), link);
        assert_eq!(places.word_at(64, true, 0), lock);
        assert_eq!(places.word_at(72, false, 0), lock, "nothing else is there");
        let beside = places.word_at(96, false, 0);
        assert_eq!(places.words[beside].name, "pool+32");
        assert_eq!(places.word_at(96, false, 5), beside);
    }
}
