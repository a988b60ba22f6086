//! Tasks of every size and alignment, and tasks that count how often they are dropped.

use super::finding::{Finding, ensure};
use super::maker::Kind;
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;

/// A task that carries a number, and shows whether it arrived whole.
pub(super) trait Numbered: Kind {
    /// The task with that number.
    fn numbered(number: u64) -> Self;
    /// Its number. `None`: it is damaged.
    fn number(&self) -> Option<u64>;
}

impl Numbered for u64 {
    fn numbered(number: u64) -> Self {
        number
    }

    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

/// Zero-sized: all of them have the number 0.
impl Numbered for () {
    fn numbered(_: u64) {}

    fn number(&self) -> Option<u64> {
        Some(0)
    }
}

/// Smaller than a word: numbers up to 255, then again from 0.
impl Numbered for u8 {
    fn numbered(number: u64) -> Self {
        number as u8
    }

    fn number(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Numbered for Box<u64> {
    fn numbered(number: u64) -> Self {
        Box::new(number)
    }

    fn number(&self) -> Option<u64> {
        Some(**self)
    }
}

impl Numbered for String {
    fn numbered(number: u64) -> Self {
        format!("task {number}")
    }

    fn number(&self) -> Option<u64> {
        self.strip_prefix("task ")?.parse().ok()
    }
}

/// Aligned to two cache lines.
#[repr(align(128))]
pub(super) struct Aligned(u64);

impl Numbered for Aligned {
    fn numbered(number: u64) -> Self {
        Self(number)
    }

    fn number(&self) -> Option<u64> {
        let aligned = std::ptr::from_ref(self).is_aligned();
        aligned.then_some(self.0)
    }
}

/// More than a kilobyte, every word of it the same.
pub(super) struct Large([u64; 160]);

impl Numbered for Large {
    fn numbered(number: u64) -> Self {
        Self([number; 160])
    }

    fn number(&self) -> Option<u64> {
        let whole = self.0.iter().all(|word| *word == self.0[0]);
        whole.then_some(self.0[0])
    }
}

/// The number of a task that came out of a pool.
pub(super) fn number<T: Numbered>(task: &T) -> Result<u64, Finding> {
    task.number().ok_or_else(|| {
        let size = size_of::<T>();
        Finding::new(format!("a task of {size} bytes to arrive as it was put"), "it was damaged")
    })
}

/// How often each of a number of tasks was dropped.
#[derive(Clone, Debug)]
pub(super) struct Tally(Arc<Vec<AtomicUsize>>);

/// A task that says so when it is dropped.
pub(super) struct Counted {
    number: usize,
    tally: Tally,
    panics: bool,
}

/// What a [`Counted`] says when it [panics](Tally::panicking_task). To be forgotten: dropped, it panics as well.
#[derive(Debug)]
pub(super) struct DropPanic;

impl Drop for DropPanic {
    fn drop(&mut self) {
        std::panic::resume_unwind(Box::new("dropped"));
    }
}

impl Tally {
    /// For the tasks `0..tasks`.
    pub(super) fn new(tasks: usize) -> Self {
        Self(Arc::new((0..tasks).map(|_| AtomicUsize::new(0)).collect()))
    }

    /// Task `number`, to be made once.
    pub(super) fn task(&self, number: usize) -> Counted {
        Counted { number, tally: self.clone(), panics: false }
    }

    /// Task `number`, which counts its drop and then panics.
    pub(super) fn panicking_task(&self, number: usize) -> Counted {
        Counted { number, tally: self.clone(), panics: true }
    }

    /// Whether each task was dropped `times` times. The droppers have been joined.
    pub(super) fn each_dropped(&self, times: usize, when: &str) -> Result<(), Finding> {
        self.each(|_| times, when)
    }

    /// Whether task `n` was dropped `times(n)` times. The droppers have been joined.
    pub(super) fn each(&self, times: impl Fn(usize) -> usize, when: &str) -> Result<(), Finding> {
        self.0.iter().enumerate().try_for_each(|(number, drops)| {
            // bare: whoever dropped has been joined.
            let (times, seen) = (times(number), drops.load(Relaxed));
            let expected = format!("{when}: task {number} dropped {times} times");
            ensure(seen == times, expected, format_args!("{seen} times"))
        })
    }
}

impl Counted {
    pub(super) fn number(&self) -> usize {
        self.number
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // bare: judged after joining.
        self.tally.0[self.number].fetch_add(1, Relaxed);
        if self.panics {
            // Not `panic!`: it is no news, and need not be printed.
            std::panic::resume_unwind(Box::new(DropPanic));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Aligned, Large, Numbered, Tally};

    #[test]
    fn tasks_carry_their_number() {
        fn carries<T: Numbered>(number: u64) -> bool {
            T::numbered(number).number() == Some(number)
        }
        assert!(carries::<u64>(7) && carries::<u8>(7) && carries::<()>(0));
        assert!(carries::<Box<u64>>(7) && carries::<String>(7));
        assert!(carries::<Aligned>(7) && carries::<Large>(7));
    }

    #[test]
    fn a_damaged_task_has_no_number() {
        let mut large = Large::numbered(7);
        large.0[159] = 8;
        assert_eq!(large.number(), None);
        assert_eq!("task".to_owned().number(), None);
    }

    #[test]
    fn drops_are_counted() {
        let tally = Tally::new(2);
        drop((tally.task(0), tally.task(1)));
        tally.each_dropped(1, "at the end").unwrap();
        drop(tally.task(1));
        let finding = tally.each_dropped(1, "at the end").unwrap_err().to_string();
        assert!(finding.contains("task 1 dropped 1 times") && finding.contains("2 times"));
    }
}
