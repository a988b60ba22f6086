//! Numbers as a reader wants them: three digits that mean something.

use super::grid::Reading;
use cantina_record::Value;

/// A value with three significant digits.
pub(crate) fn short(value: f64) -> String {
    let scientific = format!("{value:.2e}");
    let exponent = scientific.split_once('e').and_then(|(_, digits)| digits.parse::<i32>().ok());
    // The exponent is that of the rounded value: 9.996 has become 10.0.
    match exponent {
        _ if value == 0.0 => "0".to_owned(),
        Some(decimals @ -3..=1) => format!("{value:.*}", (2 - decimals) as usize),
        Some(whole @ 2..=6) => {
            let unit = 10_f64.powi(whole - 2);
            format!("{:.0}", (value / unit).round() * unit)
        }
        Some(_) | None => scientific,
    }
}

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
            Reading { value, spread: Some((low, high)), whole: false, converged: true, row }
                .spread_text()
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
            (0.0123, "0.0123"),
            (0.001_234, "0.00123"),
            (0.000_999_6, "0.00100"),
            (0.4567, "0.457"),
            (0.9996, "1.00"),
            (1.2345, "1.23"),
            (9.996, "10.0"),
            (61.54, "61.5"),
            (99.96, "100"),
            (210.4, "210"),
            (1_234.0, "1230"),
            (999.6, "1000"),
            (123_456.0, "123000"),
            (9_999_999.0, "1.00e7"),
            (-4.3219, "-4.32"),
            (2.5e9, "2.50e9"),
        ];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
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
