//! Numbers as a reader wants them: three digits that mean something.

/// A value with three significant digits.
pub fn short(value: f64) -> String {
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

#[cfg(test)]
mod tests {
    use super::short;

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
}
