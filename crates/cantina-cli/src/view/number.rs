//! Numbers as a reader wants them: three digits that mean something.

use super::grid::Reading;

/// A value with about three significant digits.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        "0".to_owned()
    } else if !(0.001..1e7).contains(&size) {
        format!("{value:.2e}")
    } else if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size >= 0.9995 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

impl Reading<'_> {
    /// The value: a count as it is, anything else with three digits.
    pub(crate) fn value_text(&self) -> String {
        if self.whole { format!("{:.0}", self.value) } else { short(self.value) }
    }

    /// The larger distance from the value to the smallest or the largest reading, in percent.
    pub(crate) fn spread_text(&self) -> Option<String> {
        let (low, high) = self.spread?;
        let distance = (high - self.value).max(self.value - low);
        (self.value != 0.0).then(|| format!("±{:.0}%", 100.0 * distance / self.value.abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::samples::speeds;

    #[test]
    fn a_spread_is_relative_to_the_value() {
        let row = &speeds()[0];
        let text = |value: f64, low: f64, high: f64| {
            Reading { value, spread: Some((low, high)), whole: false, row }.spread_text()
        };
        assert_eq!(text(10.0, 9.0, 12.0).as_deref(), Some("±20%"));
        assert_eq!(text(-10.0, -15.0, -9.0).as_deref(), Some("±50%"));
        assert_eq!(text(0.0, 0.0, 3.0), None, "there is no percentage of nothing");
    }

    #[test]
    fn three_digits_are_kept() {
        let cases = [
            (0.0, "0"),
            (0.00012, "1.20e-4"),
            (0.0123, "0.012"),
            (0.9996, "1.00"),
            (1.2345, "1.23"),
            (9.996, "10.0"),
            (61.54, "61.5"),
            (99.96, "100"),
            (210.4, "210"),
            (123_456.0, "123456"),
            (-4.3219, "-4.32"),
            (2.5e9, "2.50e9"),
        ];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
    }
}
