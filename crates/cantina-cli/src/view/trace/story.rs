//! What the page is told: steps, what they changed, and what things are.
//!
//! Everything has a number and stands in lists, and lists of numbers make a short page: a run of
//! 20,000 steps is half a megabyte. The script that reads this is in `script/`.

use cantina_sim::trace::Role;
use serde::{Serialize, Serializer};

/// A run, told for the page.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Story {
    /// The names of the threads.
    pub(super) threads: Vec<String>,
    pub(super) steps: Steps,
    pub(super) changes: Vec<Change>,
    pub(super) words: Vec<Word>,
    pub(super) objects: Vec<Object>,
    pub(super) contents: Vec<Contents>,
    pub(super) operations: Vec<Operation>,
}

/// When something was so: with the step of that number, or, -1, before the first.
pub(super) type Moment = i64;
/// A thread's place in [`Story::threads`].
pub(super) type Thread = usize;
/// A word's place in [`Story::words`].
pub(super) type WordNumber = usize;
/// An object's place in [`Story::objects`].
pub(super) type ObjectNumber = usize;

/// The steps, in order: a list for each thing to know of them.
#[derive(Debug, Default, Serialize)]
pub(super) struct Steps {
    /// What they are, a letter each; see [`Kind`].
    pub(super) kinds: String,
    pub(super) threads: Vec<Thread>,
    pub(super) words: Vec<Option<WordNumber>>,
    /// What was read, written, or there before.
    pub(super) values: Vec<Value>,
    /// What came of a read-modify-write.
    pub(super) after: Vec<Value>,
    pub(super) nanos: Vec<u64>,
    pub(super) cycles: Vec<u64>,
}

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Begin,
    End,
    Load,
    Store,
    Buffered,
    Visible,
    Exchanged,
    Updated,
    Failed,
    Read,
    Write,
    Fence,
    LightFence,
    HeavyFence,
    Locked,
    Busy,
    Unlock,
    Park,
    Unpark,
    Wait,
    Other,
}

impl Kind {
    /// Its letter, as the script knows it.
    pub(super) fn letter(self) -> char {
        match self {
            Self::Begin => '(',
            Self::End => ')',
            Self::Load => 'l',
            Self::Store => 's',
            Self::Buffered => 'b',
            Self::Visible => 'v',
            Self::Exchanged => 'c',
            Self::Updated => 'u',
            Self::Failed => 'x',
            Self::Read => 'r',
            Self::Write => 'w',
            Self::Fence => 'f',
            Self::LightFence => 'g',
            Self::HeavyFence => 'h',
            Self::Locked => 'k',
            Self::Busy => 'j',
            Self::Unlock => 'n',
            Self::Park => 'p',
            Self::Unpark => 'q',
            Self::Wait => 'y',
            Self::Other => 'o',
        }
    }
}

/// A word has another value for everybody.
#[derive(Debug, Serialize)]
pub(super) struct Change(
    pub(super) Moment,
    pub(super) WordNumber,
    pub(super) Value,
    /// Who wrote it.
    pub(super) Option<Thread>,
);

/// What a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing: it is not known, or was moved out.
    None,
    Number(u64),
    /// What others have taken too much of, for a moment.
    Negative(i64),
    /// A pointer to an object, written as `@` and its number.
    Object(ObjectNumber),
    /// A pointer to something else, written as `&` and a number of its own.
    Pointer(usize),
    /// Who may take from a node, written as `o` and what there is in an owner word.
    Owner(Owner),
    /// How many tasks can be seen, in which lap, written as `c` and both.
    Count {
        count: u64,
        lap: u64,
    },
    /// Which children have tasks, and the version, written as `v` and both.
    Present {
        children: u64,
        version: u64,
    },
    /// Which places are published and whether no more are, written as `f` and both.
    Filled {
        published: u64,
        closed: u64,
    },
    /// How many tickets there are for each room and how often it was opened, written as `m` and both of each, and behind a semicolon how
    /// many are inside and of which room.
    Tickets(Tickets),
    /// A thread that holds a lock, written as `t` and its number.
    Thread(Thread),
}

/// What a word says that counts the tickets of up to three rooms, and those inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tickets {
    rooms: usize,
    /// How many there are for each room.
    counts: [u64; 3],
    /// How often it was opened, modulo 4.
    opened: [u64; 3],
    inside: u64,
    /// The room that they are in.
    open: u64,
}

impl Tickets {
    /// A word with so many lanes of so many bits, and so many of them for the count.
    pub(super) fn read(word: u64, rooms: u32, lane: u32, bits: u32) -> Self {
        let of = |room: usize| word >> (room as u32 * lane) & ((1 << lane) - 1);
        let opened = |room| {
            let code = of(room) >> bits & 3;
            code ^ code >> 1
        };
        Self {
            rooms: (rooms as usize).min(3),
            counts: std::array::from_fn(|room| of(room) & ((1 << bits) - 1)),
            opened: std::array::from_fn(opened),
            inside: word >> (u64::BITS - lane) & ((1 << bits) - 1),
            open: word >> (u64::BITS - lane + bits),
        }
    }
}

/// What an owner word says. A number of all ones is nobody's, and written as -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) owner: Option<u64>,
    /// Whose index counts.
    pub(super) from: Option<u64>,
    /// It was never stolen.
    pub(super) fresh: bool,
    pub(super) tag: u64,
}

impl Owner {
    /// An owner word with numbers of so many bits.
    pub(super) fn read(word: u64, bits: u32) -> Self {
        let mask = (1 << bits) - 1;
        let number = |shift: u32| Some((word >> shift) & mask).filter(|number| *number != mask);
        Self {
            owner: number(bits),
            from: number(0),
            fresh: word >> (2 * bits) & 1 == 1,
            tag: word >> (2 * bits + 1),
        }
    }
}

/// The largest number that a script knows exactly.
const MOST: u64 = 1 << 53;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_none(),
            Self::Number(number) if *number <= MOST => serializer.serialize_u64(*number),
            Self::Number(number) => serializer.collect_str(&format_args!("{number:#x}")),
            Self::Negative(number) => serializer.serialize_i64(*number),
            Self::Object(number) => serializer.collect_str(&format_args!("@{number}")),
            Self::Pointer(number) => serializer.collect_str(&format_args!("&{number}")),
            Self::Owner(Owner { owner, from, fresh, tag }) => {
                let number = |id: &Option<u64>| id.map_or(-1, |id| id as i64);
                let (owner, from, fresh) = (number(owner), number(from), u8::from(*fresh));
                serializer.collect_str(&format_args!("o{owner},{from},{fresh},{tag}"))
            }
            Self::Count { count, lap } => serializer.collect_str(&format_args!("c{count},{lap}")),
            Self::Present { children, version } => {
                serializer.collect_str(&format_args!("v{children},{version}"))
            }
            Self::Filled { published, closed } => {
                serializer.collect_str(&format_args!("f{published},{closed}"))
            }
            Self::Tickets(Tickets { rooms, counts, opened, inside, open }) => {
                let both = counts.iter().zip(opened).take(*rooms);
                let both: Vec<String> =
                    both.map(|(count, opened)| format!("{count}.{opened}")).collect();
                serializer.collect_str(&format_args!("m{};{inside}.{open}", both.join(",")))
            }
            Self::Thread(number) => serializer.collect_str(&format_args!("t{number}")),
        }
    }
}

/// A word of memory, for as long as it is the same thing.
#[derive(Debug, Serialize)]
pub(super) struct Word {
    pub(super) name: String,
    /// See [`role_letter`].
    pub(super) role: char,
    pub(super) object: Option<ObjectNumber>,
    /// Its number, where there are several behind each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<usize>,
    pub(super) line: usize,
    /// Where on the line it is, in bytes.
    pub(super) offset: usize,
    pub(super) born: Moment,
    pub(super) gone: Option<Moment>,
}

/// A role, as the script knows it.
pub(super) fn role_letter(role: Option<Role>) -> char {
    match role {
        Some(Role::Link) => 'l',
        Some(Role::Guard) => 'g',
        Some(Role::Task) => 't',
        Some(Role::Lock) => 'k',
        Some(Role::Number) => 'n',
        Some(Role::Place) => 'p',
        Some(Role::Spare) => 'e',
        Some(Role::Open) => 'a',
        Some(Role::Home) => 'h',
        Some(Role::Seat) => 's',
        Some(Role::Owner { .. }) => 'o',
        Some(Role::Index) => 'i',
        Some(Role::Count { .. }) => 'c',
        Some(Role::Bits) => 'b',
        Some(Role::Presence { .. }) => 'v',
        Some(Role::Filled { .. }) => 'f',
        Some(Role::Tickets { .. }) => 'm',
        Some(Role::Puts { .. }) => 'y',
        Some(Role::Block { .. }) => 'q',
        _ => '-',
    }
}

/// A structure or a node.
#[derive(Debug, Serialize)]
pub(super) struct Object {
    pub(super) node: bool,
    pub(super) what: &'static str,
    pub(super) name: String,
    pub(super) born: Moment,
    pub(super) gone: Option<Moment>,
    /// When a structure first led to it.
    pub(super) linked: Option<Moment>,
    /// Since when none does any more.
    pub(super) unlinked: Option<Moment>,
    /// The structure that led to it last.
    pub(super) home: Option<ObjectNumber>,
    /// Who made it.
    pub(super) maker: Option<Thread>,
    /// How many tasks there is room for, in each group.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<usize>,
    /// How many children each word of a tree has, from the root down.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) fans: Vec<u32>,
}

/// What a container holds from a moment on.
#[derive(Debug, Serialize)]
pub(super) struct Contents(pub(super) Moment, pub(super) ObjectNumber, pub(super) Vec<Value>);

/// An operation of a thread.
#[derive(Debug, Serialize)]
pub(super) struct Operation {
    pub(super) thread: Thread,
    pub(super) name: String,
    pub(super) from: Moment,
    /// Its last step; none if it did not end.
    pub(super) to: Option<Moment>,
    pub(super) result: String,
}

impl Steps {
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    pub(super) fn kind_is(&self, step: usize, kind: Kind) -> bool {
        self.kinds.as_bytes()[step] == kind.letter() as u8
    }

    /// The step was of another kind after all.
    pub(super) fn set_kind(&mut self, step: usize, kind: Kind) {
        self.kinds.replace_range(step..=step, kind.letter().encode_utf8(&mut [0; 4]));
    }
}
