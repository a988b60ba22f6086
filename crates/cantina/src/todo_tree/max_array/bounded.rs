//! Two numbers with a largest value each.

use super::MAX_VALUES;
use super::switches::{Switches, TurnOn};

/// Two numbers below a bound that only grow; see the [module](super).
///
/// ```
/// use cantina::todo_tree::max_array::BoundedMaxArray;
///
/// let pair = BoundedMaxArray::new(8, 16);
/// pair.raise_first(5);
/// pair.raise_second(11);
/// pair.raise_first(3);
/// assert_eq!(pair.scan(), (5, 11));
/// ```
#[derive(Debug)]
pub struct BoundedMaxArray {
    /// Binary digits of the numbers.
    digits: (u32, u32),
    first: Switches,
    /// The second number: at each switch of the first, and at each of its values.
    second: Box<[Switches]>,
}

impl BoundedMaxArray {
    /// Two zeros, the first of which can have so many values, and the second. Both are rounded up to powers of two.
    ///
    /// # Panics
    /// When one of them is 0 or above 64.
    pub fn new(first: u64, second: u64) -> Self {
        let digits = |values: u64| {
            assert!((1..=MAX_VALUES).contains(&values), "1 to {MAX_VALUES} values, not {values}");
            values.next_power_of_two().ilog2()
        };
        let (first, second) = (digits(first), digits(second));
        let copies = (0..2 << first).map(|_| Switches::default()).collect();
        Self { digits: (first, second), first: Switches::default(), second: copies }
    }

    /// How many values the numbers can have.
    pub fn values(&self) -> (u64, u64) {
        (1 << self.digits.0, 1 << self.digits.1)
    }

    /// Raises the first number to `value`, if it is smaller.
    ///
    /// # Panics
    /// When it cannot have that value.
    pub fn raise_first(&self, value: u64) {
        assert!(value < self.values().0, "{value} is not below {}", self.values().0);
        let mut switch = 1;
        let mut to_turn_on = TurnOn::default();
        for digit in (0..self.digits.0).rev() {
            // Before the look at the switch, as in a scan that goes left (I2).
            let along = self.second_at(switch).read(self.digits.1);
            let right = value >> digit & 1;
            if right == 1 {
                to_turn_on.push(switch);
            } else if self.first.is_on(switch) {
                break;
            }
            switch = 2 * switch + right;
            self.second_at(switch).raise(self.digits.1, along);
        }
        self.first.turn_on(&to_turn_on);
    }

    /// Raises the second number to `value`, if it is smaller.
    ///
    /// # Panics
    /// When it cannot have that value.
    pub fn raise_second(&self, value: u64) {
        assert!(value < self.values().1, "{value} is not below {}", self.values().1);
        self.second_at(1).raise(self.digits.1, value);
    }

    /// The second number, as it is known at a switch of the first.
    fn second_at(&self, switch: u64) -> &Switches {
        &self.second[switch as usize]
    }

    /// Both, as they were at one instant.
    pub fn scan(&self) -> (u64, u64) {
        let digits = self.digits.1;
        let mut switch = 1;
        for _ in 0..self.digits.0 {
            let mut along = self.second_at(switch).read(digits);
            let on = self.first.is_on(switch);
            if on {
                // At least what those had found who went left, and what was there before the switch was turned on (I2).
                along = self.second_at(switch).read(digits);
            }
            switch = 2 * switch + u64::from(on);
            self.second_at(switch).raise(digits, along);
        }
        (switch - (1 << self.digits.0), self.second_at(switch).read(digits))
    }
}

#[cfg(test)]
mod tests {
    use super::BoundedMaxArray;

    #[test]
    fn each_number_is_the_largest_it_was_raised_to() {
        for (first, second) in [(1, 1), (1, 64), (64, 1), (3, 5), (64, 64)] {
            let pair = BoundedMaxArray::new(first, second);
            assert_eq!(pair.scan(), (0, 0));
            let mut largest = (0, 0);
            for turn in 0..200 {
                let (a, b) = (turn * 7 % first, turn * 5 % second);
                pair.raise_first(a);
                largest.0 = largest.0.max(a);
                assert_eq!(pair.scan(), largest);
                pair.raise_second(b);
                largest.1 = largest.1.max(b);
                assert_eq!(pair.scan(), largest);
            }
        }
        assert_eq!(BoundedMaxArray::new(3, 5).values(), (4, 8));
    }

    #[test]
    #[should_panic(expected = "4 is not below 4")]
    fn a_number_that_is_too_large_is_refused() {
        BoundedMaxArray::new(3, 8).raise_first(4);
    }

    #[test]
    #[should_panic(expected = "8 is not below 8")]
    fn so_is_a_second_one() {
        BoundedMaxArray::new(3, 8).raise_second(8);
    }

    #[test]
    #[should_panic(expected = "1 to 64 values, not 65")]
    fn and_an_array_that_is() {
        let _ = BoundedMaxArray::new(64, 65);
    }
}
