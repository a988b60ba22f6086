//! One binary tree, which is also a pool of its own.

use super::builder::TreeBuilder;
use super::node::{Node, Root, Seen};
use crate::cafe::metrics::Exchanges;
use crate::panics;
use crate::pool::Full;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::Relaxed;
use machine::random::Random;
use machine::{CachePadded, fence_after_rmw};
use std::fmt;

/// A node by its number: the root is 1, its children 2 and 3, theirs 4 to 7.
type Number = usize;

const ROOT: Number = 1;

/// So many ways of a get may lead to where somebody else is about to clear the bits, before it clears them itself.
pub(super) const WAYS: u32 = 2;

/// So many places are said to be gone when a tree is freed.
const TOLD: usize = 4;

/// What has happened to a node, of which those above are to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// We have put a task there.
    Put,
    /// We have got its task, or nobody tells that it is gone.
    Got,
    /// It has no task, and whoever got it tells, if he is still at it.
    Gone,
}

/// A pool with a fixed number of places, each of which is used **once**: the paper's `TreeContainer`.
///
/// [`put`](Self::put) tries some random places, and says [`Full`] when it finds none that is unused. A place
/// that was used stays so when its task has been got: take a new container then. That is what
/// [`Cafe`](crate::cafe::Cafe) does.
///
/// ```
/// use cantina::cafe::TreeContainer;
///
/// let tree = TreeContainer::builder().height(0).build()?;
/// tree.put("once")?;
/// assert_eq!(tree.get(), Some("once"));
/// assert!(tree.is_empty());
/// assert!(tree.put("again").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Progress
/// Puts and gets are wait-free.
///
/// # What `Full` claims
/// That as many random places as it tries were all used: one on each level, and
/// [`leaf_trials`](TreeBuilder::leaf_trials) on the last. It speaks of this put: there may be unused places, the
/// fewer the more trials there are, and a later put may find one. Only when all places are used does every put fail.
pub struct TreeContainer<T> {
    root: CachePadded<Root>,
    nodes: Box<[Node<T>]>,
    height: u32,
    leaf_trials: u32,
    seed: u64,
    /// How many calls have drawn random numbers.
    draws: CachePadded<AtomicU64>,
}

// SAFETY: I2, I3: a task has one user at a time, so it moves between threads and is never shared.
unsafe impl<T: Send> Sync for TreeContainer<T> {}

impl<T> TreeContainer<T> {
    /// An empty tree of the default height: 12, and less for large tasks.
    pub fn new() -> Self {
        Self::builder().build().expect("the defaults are allowed")
    }

    /// Settings to build one from.
    pub fn builder() -> TreeBuilder<T> {
        TreeBuilder::new()
    }

    pub(in crate::cafe) fn with(height: u32, leaf_trials: u32, seed: u64) -> Self {
        let nodes = (0..(2usize << height) - 1).map(|_| Node::new()).collect();
        Self {
            root: CachePadded::new(Root::new()),
            nodes,
            height,
            leaf_trials,
            seed,
            draws: CachePadded::new(AtomicU64::new(0)),
        }
    }

    /// Says what lies where in it, as a part of `whole`.
    pub(super) fn describe<W>(&self, whole: &W) {
        self.root.describe(whole);
        self.nodes.iter().for_each(|node| node.describe(whole));
    }

    /// How many places it has, each for one task, once.
    pub fn places(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it was empty a moment ago, by one load. It may say that it was not when its last task has just
    /// been got: the next [`get`](Self::get) finds out.
    pub fn is_empty(&self) -> bool {
        self.look().is_empty()
    }

    /// How many tasks it held a moment ago.
    pub fn len_hint(&self) -> usize {
        let own = usize::from(self.look().has_own());
        own + self.nodes.iter().filter(|node| node.is_full()).count()
    }

    /// Puts `task`.
    ///
    /// # Errors
    /// [`Full`] gives the task back when no unused place was found.
    pub fn put(&self, task: T) -> Result<(), Full<T>> {
        self.put_by(&mut self.random(), task)
    }

    /// Gets a task. `None`: at one instant there was none.
    pub fn get(&self) -> Option<T> {
        self.get_by(&mut self.random())
    }

    /// As [`put`](Self::put), with random numbers of the caller's. That is faster where many threads put:
    /// each has its own.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_by(&self, random: &mut Random, task: T) -> Result<(), Full<T>> {
        self.put_counted(random, &mut Exchanges::default(), task).map(|_| ())
    }

    /// As [`put_by`](Self::put_by), counting. The number of the place, from 0 on.
    pub(super) fn put_counted(
        &self,
        random: &mut Random,
        cas: &mut Exchanges,
        task: T,
    ) -> Result<usize, Full<T>> {
        let Some(place) = self.claim_place(random, cas) else { return Err(Full(task)) };
        // SAFETY: claimed, and published below.
        unsafe { self.node(place).write(task) };
        if place == ROOT {
            self.root.publish_own();
            cas.add(1);
        } else {
            self.node(place).publish();
            self.update(place, Change::Put, cas);
        }
        Ok(place - ROOT)
    }

    /// As [`get`](Self::get), with random numbers of the caller's.
    pub fn get_by(&self, random: &mut Random) -> Option<T> {
        let (cas, mut ways) = (&mut Exchanges::default(), WAYS);
        self.take(random, cas, &mut ways).ok().map(|(task, _)| task)
    }

    /// A task and the number of its place, from 0 on; or the root's word that showed none. So many more `ways` of the call
    /// may lead to where somebody else is about to clear the bits, before it clears them itself.
    pub(super) fn take(
        &self,
        random: &mut Random,
        cas: &mut Exchanges,
        ways: &mut u32,
    ) -> Result<(T, usize), Seen> {
        loop {
            let seen = self.look();
            if seen.is_empty() {
                return Err(seen);
            }
            let number = self.follow_bits(seen, random);
            if number == ROOT {
                if cas.note(self.root.take_own()) {
                    // SAFETY: taken.
                    return Ok((unsafe { self.node(ROOT).read() }, 0));
                }
                continue;
            }
            let node = self.node(number);
            let is_full = node.is_full();
            if is_full && !cas.note(node.take()) {
                continue;
            }
            // SAFETY: taken.
            let task = is_full.then(|| unsafe { node.read() });
            if let Some(task) = task {
                self.update(number, Change::Got, cas);
                return Ok((task, number - ROOT));
            }
            // Whoever got it is on his way up. He may have stopped.
            self.update(number, if *ways > 0 { Change::Gone } else { Change::Got }, cas);
            *ways = ways.saturating_sub(1);
        }
    }

    /// The root's word.
    pub(super) fn look(&self) -> Seen {
        self.root.look()
    }

    fn node(&self, number: Number) -> &Node<T> {
        &self.nodes[number - 1]
    }

    fn random(&self) -> Random {
        // bare: so that calls draw different numbers.
        let draw = self.draws.fetch_add(1, Relaxed);
        Random::seeded(self.seed.wrapping_add(Random::seeded(draw).next_u64()))
    }

    /// An unused node: a random one of each level is tried, and of the last level several.
    fn claim_place(&self, random: &mut Random, cas: &mut Exchanges) -> Option<Number> {
        (0..=self.height).find_map(|level| {
            let trials = if level < self.height { 1 } else { self.leaf_trials };
            (0..trials).find_map(|_| {
                let first = 1usize << level;
                self.claim_above(first + random.below(first), level, cas)
            })
        })
    }

    /// The highest unused node on the way from the root to `number`, or the next one below that if
    /// somebody is faster.
    fn claim_above(&self, number: Number, level: u32, cas: &mut Exchanges) -> Option<Number> {
        let at = |depth: u32| number >> (level - depth);
        if self.node(number).is_dirty() {
            return None;
        }
        // I1: all above some depth are used, and none below.
        let (mut used, mut unused) = (0, level);
        while used < unused {
            let middle = (used + unused) / 2;
            if self.node(at(middle)).is_dirty() {
                used = middle + 1;
            } else {
                unused = middle;
            }
        }
        (unused..=level)
            .map(|depth| self.node(at(depth)))
            .zip(unused..=level)
            .find(|(node, depth)| (*depth == unused || !node.is_dirty()) && cas.note(node.claim()))
            .map(|(_, depth)| at(depth))
    }

    /// A node with a task, or without tasks below, by a random way that the bits show.
    fn follow_bits(&self, seen: Seen, random: &mut Random) -> Number {
        if seen.has_own() {
            return ROOT;
        }
        let mut number = ROOT;
        let mut bits = seen.bits();
        loop {
            let side = match bits {
                [false, false] => return number,
                [true, true] => random.below(2),
                [_, right] => usize::from(right),
            };
            number = 2 * number + side;
            let node = self.node(number);
            if node.is_full() {
                return number;
            }
            bits = node.bits();
        }
    }

    /// Tells the nodes above `number`, all the way up: to stop where the bit is right already is wrong,
    /// for whoever set it may not have come further.
    fn update(&self, mut number: Number, change: Change, cas: &mut Exchanges) {
        let (put, mut trials) = (change == Change::Put, 0);
        while number / 2 > ROOT {
            let (node, father, side) = (self.node(number), self.node(number / 2), number % 2);
            if node.has_tasks() != put {
                // Somebody else has taken it, or put something: what is above is theirs to tell.
                return;
            }
            // Pending first, or a clearer could come to its end between the two (K1).
            let pending = node.is_pending();
            if pending && change == Change::Gone {
                return;
            }
            let shown = father.word(side) & 1 == 1;
            if shown != node.has_tasks() || pending {
                trials += 1;
                cas.add(2);
                if !cas.note(Self::tell(node, father, side)) && trials < 2 {
                    continue;
                }
            }
            // pending: the bit, ours or another's, then the look at who is pending above.
            fence_after_rmw();
            (number, trials) = (number / 2, 0);
        }
        if number > ROOT {
            let (node, side) = (self.node(number), number % 2);
            if change == Change::Gone && node.is_pending() {
                return;
            }
            let tell = if put { Root::show } else { Root::clear };
            tell(&self.root, node, side, cas);
        }
    }

    /// Tells `father` what is at and below `node`. Whether nobody was faster.
    fn tell(node: &Node<T>, father: &Node<T>, side: usize) -> bool {
        node.while_pending(|| {
            let old = father.word(side);
            // After the father's word (K2).
            let has_tasks = node.has_tasks();
            father.change(side, old, has_tasks)
        })
    }
}

impl<T> Drop for TreeContainer<T> {
    fn drop(&mut self) {
        let mut first_panic = None;
        // Nobody is left: what was put shows at the root (I4).
        let mut random = Random::seeded(self.seed);
        while let Some(task) = self.get_by(&mut random) {
            panics::catch(&mut first_panic, || drop(task));
        }
        // To who watches accesses, memory that goes is written. The first places tell: they are used before others.
        self.nodes.iter_mut().take(TOLD).for_each(Node::end);
        panics::go_on(first_panic);
    }
}

impl<T> Default for TreeContainer<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for TreeContainer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { height, leaf_trials, .. } = self;
        f.debug_struct("TreeContainer")
            .field("height", height)
            .field("leaf_trials", leaf_trials)
            .field("is_empty", &self.is_empty())
            .finish_non_exhaustive()
    }
}
