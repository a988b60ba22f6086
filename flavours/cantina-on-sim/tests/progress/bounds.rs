//! How many own steps a call may take: the paper's lemmas with their constants.
//!
//! A step is one access to something shared. Lemma 8: a put to a tree takes O(h^2); lemma 10: a get O(h) for
//! each way down the tree, and it goes down again only when somebody else was faster. A get from the list is a
//! number of walks, and it is each of those that is bounded.

/// What a run has of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) height: u64,
    /// The paper's k.
    pub(crate) leaf_trials: u64,
    /// Threads; a worker is two ends.
    pub(crate) threads: u64,
    /// Puts of other threads while the call may be under way, and gets.
    pub(crate) others: u64,
}

/// The most looks at words and states that tell whether there is anything at or below a node.
const HAS_TASKS: u64 = 3;
/// What is counted as pending, the look at the father, what is below, the exchange, the end.
const TELL: u64 = 4 + HAS_TASKS;
/// Two trials: what is below, who is pending, the father's bit, what is below, the change.
const FATHER: u64 = 2 * (HAS_TASKS + 2 + HAS_TASKS + TELL);
/// Who is pending, the root, a new version, the bit.
const SHOW: u64 = 4;
/// A look, and so many tries to announce the head before it is held.
const TRY_HEAD: u64 = 1 + 2 * PROTECT;
/// An announcement, its fence, and the second look.
const PROTECT: u64 = 3;
/// A reference to the list and the count of those who hold the head, there and back, and a look.
const HOLD: u64 = 5;
/// A look, the exchange, the end of the announcement, retiring the spot.
const MOVE_HEAD: u64 = 4;
/// The tail, the link, a tree that somebody else appended faster, the tail and its number, each with a look first.
const GROW: u64 = 10;
/// The numbers of an end, added to those of all.
const REPORT: u64 = 12;
/// Ways down a tree that lead to where somebody else is about to clear bits.
const WAYS: u64 = 2;

impl Size {
    /// One random node of a level: a look at it, a search on its way to the root, and a look and an exchange for each
    /// node of that way, each of which somebody else may take first; for the first one no look.
    fn trial(level: u64) -> u64 {
        1 + u64::from((level + 1).next_power_of_two().ilog2()) + 2 * level + 1
    }

    /// One trial on each level, and k on the last.
    fn find_place(self) -> u64 {
        (0..self.height).map(Self::trial).sum::<u64>() + self.leaf_trials * Self::trial(self.height)
    }

    /// The way up to the child of the root.
    fn fathers(self) -> u64 {
        FATHER * self.height.saturating_sub(1)
    }

    /// A put to a tree, also when that is full: O(h^2 + k h).
    pub(crate) fn tree_put(self) -> u64 {
        self.find_place() + 2 + self.fathers() + SHOW
    }

    /// One way down a tree and up again: O(h).
    fn round(self) -> u64 {
        1 + self.height * HAS_TASKS + 3 + self.fathers() + TELL
    }

    /// Ways down: one, one for each task that somebody else takes first, and one for each bit that could not
    /// be cleared because somebody else changed the word.
    fn rounds(self) -> u64 {
        1 + self.others
    }

    /// A way down and up again to where somebody else is about to change a bit: nothing is changed.
    fn in_vain(self) -> u64 {
        1 + self.height * HAS_TASKS + 3 + self.height * (2 * HAS_TASKS + 2)
    }

    /// A get from a tree.
    pub(crate) fn tree_get(self) -> u64 {
        self.rounds() * self.round() + WAYS * self.in_vain()
    }

    /// Trees that a put may find full: who finds one full has found a used node on each level, so all but
    /// the first have been filled with at least h + 1 tasks meanwhile.
    fn full_trees(self) -> u64 {
        1 + self.others / (self.height + 1)
    }

    /// Reading the announcements of all ends: when spots are retired, once in sixteen times, and when trees
    /// are freed.
    fn ends(self) -> u64 {
        2 + 2 * (2 * self.threads + 2)
    }

    /// The head while it is held: those who were about to move it do, each once, and who else holds it may
    /// move it back once.
    fn held(self) -> u64 {
        let changes = 2 * (self.threads - 1);
        HOLD + changes * (PROTECT + 2)
    }

    /// The end of a call: nothing is announced, and trees are freed that were passed.
    fn finish(self) -> u64 {
        1 + 2 + 6 + self.ends() + 4 * (self.full_trees() + 1)
    }

    /// A put to the list.
    pub(crate) fn put(self) -> u64 {
        let reach = TRY_HEAD + self.held() + MOVE_HEAD + self.ends();
        let full = self.full_trees() * (1 + self.find_place() + GROW);
        3 + full + 1 + self.tree_put() + reach + self.finish()
    }

    /// A get from the list that finds a task in its first walk: that goes on when others have emptied a tree, as it is
    /// with puts that fill them. The head is held once, and each tree is passed once.
    pub(crate) fn get(self) -> u64 {
        self.get_through(self.full_trees() + 1)
    }

    fn get_through(self, trees: u64) -> u64 {
        let acquire = TRY_HEAD + 2;
        let pass = 1 + 3 + MOVE_HEAD + acquire + HOLD;
        2 * acquire + self.held() + trees * pass + self.tree_get() + self.ends() + self.finish()
    }

    /// A walk of a get from the list, whatever it finds, where the thread itself has put so many before: one that finds
    /// nothing looks at all trees again, at head and tail, and one that finds that there is nothing reports.
    pub(crate) fn walk(self, puts: u64) -> u64 {
        let trees = self.full_trees() + 1 + puts / (self.height + 1);
        self.get_through(trees) + trees + 2 + REPORT
    }
}
