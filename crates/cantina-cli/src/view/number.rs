//! Numbers as a reader wants them: three digits that mean something.

use super::grid::Reading;
use cantina_record::Value;

pub(crate) use cantina_record::short;

/// What a field holds: a measured number with three digits, anything else as it is.
pub(crate) fn field(value: &Value) -> String {
    match value {
        Value::Number(number) => short(*number),
        Value::Flag(_) | Value::Whole(_) | Value::Text(_) => value.to_string(),
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
            Reading {
                value,
                spread: Some((low, high)),
                whole: false,
                converged: true,
                strange: false,
                row,
            }
            .spread_text()
        };
        assert_eq!(text(10.0, 9.0, 12.0).as_deref(), Some("±20%"));
        assert_eq!(text(-10.0, -15.0, -9.0).as_deref(), Some("±50%"));
        assert_eq!(text(0.0, 0.0, 3.0), None, "there is no percentage of nothing");
    }

    #[test]
    fn counts_and_names_are_shown_whole() {
        let cases =
            [(123_456_u64.into(), "123456"), (0.333_333.into(), "0.333"), ("a".into(), "a")];
        for (value, expected) in cases {
            assert_eq!(field(&value), expected);
        }
    }
}
