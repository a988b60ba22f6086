//! A number that only grows, as a tree of switches.

use super::MAX_VALUES;
use machine::atomic::AtomicU64;
use machine::atomic::Ordering::SeqCst;
use machine::fence_after_rmw;

/// The most binary digits of a value.
const DIGITS: usize = MAX_VALUES.ilog2() as usize;

/// The switches of up to 64 values, a bit for each: that of the root is 1, those below switch n are 2n and 2n + 1.
#[derive(Debug, Default)]
pub(super) struct Switches(AtomicU64);

/// Switches to turn on, from the root down.
#[derive(Default)]
pub(super) struct TurnOn {
    switches: [u64; DIGITS],
    count: usize,
}

impl TurnOn {
    pub(super) fn push(&mut self, switch: u64) {
        self.switches[self.count] = switch;
        self.count += 1;
    }
}

impl Switches {
    pub(super) fn is_on(&self, switch: u64) -> bool {
        // switch: what was turned on or looked at before, then this look.
        fence_after_rmw();
        // switch: what is below it. One step, as the paper counts.
        self.0.load(SeqCst) & 1 << switch != 0
    }

    /// The value, of so many binary digits.
    pub(super) fn read(&self, digits: u32) -> u64 {
        (0..digits).fold(1, |switch, _| 2 * switch + u64::from(self.is_on(switch))) - (1 << digits)
    }

    /// Raises the value, of so many binary digits.
    pub(super) fn raise(&self, digits: u32, value: u64) {
        let mut switch = 1;
        let mut to_turn_on = TurnOn::default();
        for digit in (0..digits).rev() {
            let right = value >> digit & 1;
            if right == 1 {
                to_turn_on.push(switch);
            } else if self.is_on(switch) {
                // What is on the right of it is larger.
                break;
            }
            switch = 2 * switch + right;
        }
        self.turn_on(&to_turn_on);
    }

    /// Turns switches on, from below (I1).
    pub(super) fn turn_on(&self, which: &TurnOn) {
        for switch in which.switches[..which.count].iter().rev() {
            // switch: what is below it.
            self.0.fetch_or(1 << switch, SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Switches;

    #[test]
    fn the_largest_value_stays() {
        for digits in 0..=6 {
            for (first, second) in
                (0..1 << digits).flat_map(|a| (0..1 << digits).map(move |b| (a, b)))
            {
                let number = Switches::default();
                assert_eq!(number.read(digits), 0);
                number.raise(digits, first);
                assert_eq!(number.read(digits), first);
                number.raise(digits, second);
                assert_eq!(number.read(digits), first.max(second), "{first} and {second}");
            }
        }
    }
}
