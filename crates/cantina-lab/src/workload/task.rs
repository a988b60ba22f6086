//! What travels through a pool, and how to tell that it arrived.

use super::Fault;

/// A task of a run: a number, and perhaps more bytes that follow from it.
pub trait Parcel: Send + 'static {
    /// The task of that number.
    fn numbered(number: u64) -> Self;

    /// The number of this task; another one, which no task has, if its bytes do not fit together.
    fn number(&self) -> u64;
}

/// How large a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A `u64`.
    Word,
    /// A [`Line`].
    Line,
}

/// A task as long as a cache line: the number in its first word, and one more in each that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line([u64; 8]);

/// What one or more consumers got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    count: u64,
    sum: u64,
    xor: u64,
}

impl Payload {
    /// Its size.
    pub fn bytes(self) -> u64 {
        match self {
            Self::Word => size_of::<u64>() as u64,
            Self::Line => size_of::<Line>() as u64,
        }
    }

    /// The payload of that size, if there is one.
    pub fn of_bytes(bytes: u64) -> Option<Self> {
        [Self::Word, Self::Line].into_iter().find(|payload| payload.bytes() == bytes)
    }
}

impl Parcel for u64 {
    #[inline(always)]
    fn numbered(number: u64) -> Self {
        number
    }

    #[inline(always)]
    fn number(&self) -> u64 {
        *self
    }
}

impl Parcel for Line {
    #[inline(always)]
    fn numbered(number: u64) -> Self {
        Self(std::array::from_fn(|word| number.wrapping_add(word as u64)))
    }

    #[inline(always)]
    fn number(&self) -> u64 {
        let mut wrong = 0;
        for (word, found) in self.0.iter().enumerate() {
            wrong |= found ^ self.0[0].wrapping_add(word as u64);
        }
        if wrong == 0 { self.0[0] } else { u64::MAX }
    }
}

impl Tally {
    /// The tally of all tasks from 1 to `tasks`.
    pub fn of_all(tasks: u64) -> Self {
        let sum = (u128::from(tasks) * (u128::from(tasks) + 1) / 2) as u64;
        let xor = match tasks % 4 {
            0 => tasks,
            1 => 1,
            2 => tasks.wrapping_add(1),
            _ => 0,
        };
        Self { count: tasks, sum, xor }
    }

    /// Adds a task that was got.
    #[inline(always)]
    pub fn add(&mut self, task: &impl Parcel) {
        let number = task.number();
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
        self.xor ^= number;
    }

    /// How many tasks were got.
    #[inline(always)]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of the task that was got, if it was one.
    #[inline(always)]
    pub fn only(&self) -> Option<u64> {
        (self.count == 1).then_some(self.sum)
    }

    /// Both tallies together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
            xor: self.xor ^ other.xor,
        }
    }

    /// Whether it is the tally of all tasks from 1 to `tasks`, each got once.
    ///
    /// # Errors
    /// The [`Fault`] it shows otherwise.
    pub fn judge(self, tasks: u64) -> Result<(), Fault> {
        if self == Self::of_all(tasks) {
            Ok(())
        } else if self.count < tasks {
            Err(Fault::Lost { tasks, missing: tasks - self.count })
        } else if self.count > tasks {
            Err(Fault::Repeated { tasks })
        } else {
            Err(Fault::Changed { tasks })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Parcel, Payload, Tally};
    use crate::workload::Fault;

    fn tally<T: Parcel>(numbers: impl IntoIterator<Item = u64>) -> Tally {
        let mut tally = Tally::default();
        numbers.into_iter().for_each(|number| tally.add(&T::numbered(number)));
        tally
    }

    #[test]
    fn everything_got_once_in_any_order_and_by_anybody_is_right() {
        for tasks in 0..70 {
            assert_eq!(tally::<u64>((1..=tasks).rev()).judge(tasks), Ok(()));
            assert_eq!(tally::<Line>(1..=tasks).judge(tasks), Ok(()));
            let half = tasks / 2;
            let merged = tally::<u64>(1..=half).and(tally::<u64>(half + 1..=tasks));
            assert_eq!(merged.judge(tasks), Ok(()));
        }
        let many = Tally::of_all(u64::MAX);
        assert_eq!((many.count, many.sum), (u64::MAX, (u64::MAX).wrapping_mul(1 << 63)));
    }

    #[test]
    fn whatever_goes_wrong_shows() {
        let judge = |numbers: &[u64]| tally::<u64>(numbers.iter().copied()).judge(4);
        assert_eq!(judge(&[1, 2, 4]), Err(Fault::Lost { tasks: 4, missing: 1 }));
        assert_eq!(judge(&[1, 2, 3, 4, 4]), Err(Fault::Repeated { tasks: 4 }));
        assert_eq!(judge(&[1, 2, 3, 3]), Err(Fault::Changed { tasks: 4 }));
        assert_eq!(judge(&[2, 3, 2, 3]), Err(Fault::Changed { tasks: 4 }), "the same sum");
        assert_eq!(judge(&[1, 2, 3, 5]), Err(Fault::Changed { tasks: 4 }));
    }

    #[test]
    fn a_change_in_any_byte_of_a_line_changes_its_number() {
        assert_eq!(size_of::<Line>(), 64);
        for word in 0..8 {
            for bit in 0..64 {
                let mut line = Line::numbered(41);
                line.0[word] ^= 1 << bit;
                assert_ne!(line.number(), 41, "word {word}, bit {bit}");
            }
        }
        assert_eq!(Line::numbered(1 << 60).number(), 1 << 60);
    }

    #[test]
    fn a_payload_is_known_by_its_size() {
        assert_eq!(Payload::of_bytes(8), Some(Payload::Word));
        assert_eq!(Payload::of_bytes(64), Some(Payload::Line));
        assert_eq!(Payload::of_bytes(16), None);
    }
}
