//! Chunks, and the nodes that refer to them.

use super::lasting::{Growing, Lasting};
use super::word::{MAX_NODES, Word};
use machine::CachePadded;
use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use machine::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use machine::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// The paper's chunk: tasks, and who owns them.
pub(super) struct Chunk<T> {
    /// A [`Word`].
    owner: CachePadded<AtomicU64>,
    slots: Box<[Slot<T>]>,
    /// The nodes that were made for it.
    nodes: Growing<CachePadded<Node<T>>>,
    /// How many of them were made in this life.
    made: AtomicUsize,
    /// The next older chunk of the pool; written before others know this one.
    older: UnsafeCell<*mut Chunk<T>>,
}

/// The paper's node: refers to a chunk, and says how many of its tasks are taken.
pub(super) struct Node<T> {
    /// The chunk that it was made for.
    pub(super) chunk: Lasting<Chunk<T>>,
    /// Its number among the nodes of that chunk.
    pub(super) number: usize,
    /// How many slots are taken or announced: the paper's `idx`, and one more.
    index: AtomicUsize,
    /// hint: whether it refers to the chunk, or did a moment ago: the paper's `c` is not ⊥. The owner
    /// word decides.
    refers: AtomicBool,
}

/// A place for a task. See I2.
pub(super) struct Slot<T> {
    state: AtomicU8,
    task: UnsafeCell<MaybeUninit<T>>,
}

/// What is in a slot: the paper's ⊥, a task, and TAKEN.
pub(super) const EMPTY: u8 = 0;
pub(super) const FULL: u8 = 1;
pub(super) const TAKEN: u8 = 2;

// SAFETY: I2: a task has one user at a time, so it moves between threads and is never shared; all else
// that is shared is atomic, or written before it is.
unsafe impl<T: Send> Send for Chunk<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Chunk<T> {}

impl<T> Slot<T> {
    /// What is in it.
    pub(super) fn look(&self) -> u8 {
        // task: the task, if there is one.
        // taken: what whoever took it did before.
        self.state.load(Acquire)
    }

    /// Puts `task`.
    ///
    /// # Safety
    /// The caller is the producer of the chunk, and the slot is empty. The chunk may be used again
    /// as soon as its last slot is full.
    pub(super) unsafe fn fill(&self, task: T) {
        // SAFETY: I2: empty, so the producer's.
        self.task.with_mut(|cell| unsafe { (*cell).write(task) });
        // task: the write above.
        self.state.store(FULL, Release);
    }

    /// Says that its task is taken: by the owner, that announced it and was the owner afterwards.
    pub(super) fn set_taken(&self) {
        // taken: what we did before.
        self.state.store(TAKEN, Release);
    }

    /// The same by exchange: whether it was we.
    pub(super) fn win(&self) -> bool {
        // taken: what we did before; and what whoever was faster did.
        self.state.compare_exchange(FULL, TAKEN, AcqRel, Acquire).is_ok()
    }

    /// Moves its task out.
    ///
    /// # Safety
    /// I2: it is the caller's.
    pub(super) unsafe fn take(&self) -> T {
        // SAFETY: the caller's.
        self.task.with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }
}

impl<T> Node<T> {
    /// How many slots are taken or announced.
    pub(super) fn index(&self) -> usize {
        // index: those are taken, with what their taker did before.
        self.index.load(Acquire)
    }

    /// The same, for the consumer whose node it is.
    pub(super) fn own_index(&self) -> usize {
        // own: only the node's maker moves it.
        self.index.load(Relaxed)
    }

    /// Announces that the slots before `index` are taken.
    pub(super) fn announce(&self, index: usize) {
        // index: they are, and what else we did before.
        self.index.store(index, Release);
    }

    /// Whether it refers to its chunk, at a glance.
    pub(super) fn refers(&self) -> bool {
        // hint: a hint; the owner word decides.
        self.refers.load(Relaxed)
    }

    /// It does no longer. The caller has announced the chunk, so this is not said of a later life.
    pub(super) fn end(&self) {
        // hint: as above.
        self.refers.store(false, Relaxed);
    }

    fn begin(&self, index: usize) {
        // own: not in the owner word, so nobody asks for it before it is published.
        self.index.store(index, Relaxed);
        // hint: as above.
        self.refers.store(true, Relaxed);
    }
}

impl<T> Chunk<T> {
    /// A new chunk for `tasks` tasks, that is nobody's. To be [freed](Self::free) with the pool.
    pub(super) fn new(tasks: usize) -> Lasting<Self> {
        let slot =
            |_| Slot { state: AtomicU8::new(EMPTY), task: UnsafeCell::new(MaybeUninit::uninit()) };
        let chunk = Box::new(Self {
            owner: CachePadded::new(AtomicU64::new(Word::UNUSED.bits())),
            slots: (0..tasks).map(slot).collect(),
            nodes: Growing::new(),
            made: AtomicUsize::new(0),
            older: UnsafeCell::new(ptr::null_mut()),
        });
        // SAFETY: freed when the pool goes.
        unsafe { Lasting::new(NonNull::from(Box::leak(chunk))) }
    }

    /// # Safety
    /// It came from `new`, and nobody is left to look at it. Its tasks are gone.
    pub(super) unsafe fn free(chunk: NonNull<Self>) {
        // SAFETY: from a box.
        drop(unsafe { Box::from_raw(chunk.as_ptr()) });
    }

    /// Links it before `older`.
    ///
    /// # Safety
    /// Nobody else knows it yet.
    pub(super) unsafe fn set_older(&self, older: *mut Self) {
        // SAFETY: the caller's.
        self.older.with_mut(|cell| unsafe { *cell = older });
    }

    /// The next older chunk of the pool.
    pub(super) fn older(&self) -> *mut Self {
        // SAFETY: written before others knew this one.
        self.older.with(|cell| unsafe { *cell })
    }

    /// The slot with this number, if there are so many.
    pub(super) fn slot(&self, number: usize) -> Option<&Slot<T>> {
        self.slots.get(number)
    }

    /// How many slots it has.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The owner word.
    pub(super) fn word(&self) -> Word {
        // owner: the node and its index, and that of a chunk that is nobody's all is taken.
        Word::from_bits(self.owner.load(Acquire))
    }

    /// Whether the owner word is still `word`.
    pub(super) fn is_still(&self, word: Word) -> bool {
        // steal: after a fence. It carries nothing else.
        self.owner.load(Relaxed) == word.bits()
    }

    /// Changes the owner word, if it is still `old`.
    pub(super) fn change(&self, old: Word, new: Word) -> bool {
        // owner: the node that the new word names, and what we know to be taken. On failure nothing is
        // read.
        self.owner.compare_exchange(old.bits(), new.bits(), AcqRel, Relaxed).is_ok()
    }

    /// The node with this number, which a word has named.
    pub(super) fn node(&self, number: usize) -> &Node<T> {
        self.nodes.get(number).expect("a word names nodes that are there")
    }

    /// The same, to be kept.
    pub(super) fn lasting_node(&self, number: usize) -> Lasting<Node<T>> {
        // SAFETY: it stays as long as its chunk.
        unsafe { Lasting::new(NonNull::from(self.node(number))) }
    }

    /// Begins another life at the consumer `id`. Its first node, to be put into a list.
    ///
    /// # Safety
    /// The caller has taken it out of a chunk pool, or it is new: nobody else looks at it.
    pub(super) unsafe fn begin(this: Lasting<Self>, id: usize) -> Lasting<Node<T>> {
        let word = this.word();
        for slot in &this.slots {
            // own: nobody else looks.
            slot.state.store(EMPTY, Relaxed);
        }
        // own: as above.
        this.made.store(0, Relaxed);
        let node = Self::make_node(this, 0);
        // owner: the life as it begins.
        this.owner.store(word.begun_at(id).bits(), Release);
        node
    }

    /// A node of this life that nobody knows yet.
    ///
    /// # Panics
    /// When there were [`MAX_NODES`] in this life.
    pub(super) fn make_node(this: Lasting<Self>, index: usize) -> Lasting<Node<T>> {
        // bare: each gets another.
        let number = this.made.fetch_add(1, Relaxed);
        assert!(number < MAX_NODES, "a chunk was stolen more than {MAX_NODES} times");
        let make = |number| {
            let (index, refers) = (AtomicUsize::new(0), AtomicBool::new(false));
            CachePadded::new(Node { chunk: this, number, index, refers })
        };
        let node: &Node<T> = this.nodes.get_or_grow(number, make);
        node.begin(index);
        // SAFETY: it stays as long as its chunk.
        unsafe { Lasting::new(NonNull::from(node)) }
    }
}
