//! The vertical axis: from a value to a height, and which heights are labelled.

use crate::view::number::short;

/// Beyond this ratio of the largest to the smallest value a linear axis hides the small ones.
const LINEAR_UP_TO: f64 = 12.0;
/// Larger values do not leave room for what is calculated with them.
const LARGEST: f64 = 1e300;

/// A vertical axis.
#[derive(Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// Equal ratios are equal distances.
    pub(super) logarithmic: bool,
    /// Which values are labelled, and how.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Scale {
    /// An axis with room for all values. It starts at zero unless it is logarithmic.
    pub(super) fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = values
            .into_iter()
            .filter(|value| value.is_finite())
            .map(|value| value.clamp(-LARGEST, LARGEST))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        if low > 0.0 && high / low > LINEAR_UP_TO {
            Self::logarithmic(low, high)
        } else {
            Self::linear(low.min(0.0), high.max(0.0))
        }
    }

    fn linear(low: f64, high: f64) -> Self {
        let range = if high > low { high - low } else { 1.0 };
        let step = round_up(range / 5.0);
        let (first, last) = ((low / step).floor(), ((low + range) / step).ceil());
        let count = (last - first) as usize;
        let ticks = (0..=count).map(|at| (first + at as f64) * step);
        let ticks = ticks.map(|tick| (tick, plain(tick, step))).collect();
        Self { low: first * step, high: last * step, logarithmic: false, ticks }
    }

    fn logarithmic(low: f64, high: f64) -> Self {
        let (low, high) = (low * 0.93, high * 1.07);
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let round = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|of| of * 10f64.powi(decade)));
        let inside: Vec<f64> = round.filter(|tick| (low..=high).contains(tick)).collect();
        // Over many decades only the powers of ten are labelled, and not all over very many.
        let power = |tick: f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
        let labelled: Vec<f64> = if inside.len() > 13 {
            inside.into_iter().filter(|&tick| power(tick)).collect()
        } else {
            inside
        };
        let every = labelled.len().div_ceil(13).max(1);
        let ticks = labelled.iter().step_by(every).map(|&tick| (tick, plain(tick, tick))).collect();
        Self { low, high, logarithmic: true, ticks }
    }

    /// Where a value lies between the bottom, 0, and the top, 1.
    pub(super) fn at(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

/// The next of 1, 2, 2.5, 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let candidates = [1.0, 2.0, 2.5, 5.0, 10.0].map(|of| of * power);
    candidates.into_iter().find(|&candidate| candidate >= value * 0.999_999).unwrap_or(value)
}

/// A tick's label: as many decimals as the step between ticks needs.
fn plain(tick: f64, step: f64) -> String {
    if tick == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&tick.abs()) {
        return short(tick);
    }
    let decimals = (0..6).find(|&decimals| {
        let scaled = step * 10f64.powi(decimals);
        (scaled - scaled.round()).abs() < 1e-6 * scaled
    });
    format!("{tick:.0$}", decimals.unwrap_or(6) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn close_values_share_a_linear_axis_from_zero() {
        let scale = Scale::new([14.0, 62.0, 33.0]);
        assert_eq!(labels(&scale), ["0", "20", "40", "60", "80"]);
        assert_eq!((scale.at(0.0), scale.at(40.0), scale.at(80.0)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn values_far_apart_get_a_logarithmic_axis() {
        let scale = Scale::new([14.0, 210.0]);
        assert!(scale.logarithmic);
        assert_eq!(labels(&scale), ["20", "50", "100", "200"]);
        assert!(
            (scale.at(50.0) - scale.at(10.0) - (scale.at(250.0) - scale.at(50.0))).abs() < 1e-9
        );
    }

    #[test]
    fn many_decades_are_labelled_by_powers_of_ten() {
        let scale = Scale::new([0.002, 9_000.0]);
        assert_eq!(labels(&scale), ["0.01", "0.1", "1", "10", "100", "1000"]);
    }

    #[test]
    fn every_value_lies_on_its_axis() {
        let cases: [&[f64]; 10] = [
            &[],
            &[0.0],
            &[0.0, 0.0],
            &[5.0],
            &[-3.0, 4.0],
            &[1e-300, 1e300],
            &[-f64::MAX, f64::MAX],
            &[0.3, 0.31],
            &[0.0, 7.0, 1e9],
            &[f64::NAN, 3.0],
        ];
        for values in cases {
            let scale = Scale::new(values.iter().copied());
            for &value in values.iter().filter(|value| value.is_finite()) {
                let at = scale.at(value);
                let inside = (-1e-6..=1.000_001).contains(&at) || value.abs() > LARGEST;
                assert!(inside && !at.is_nan(), "{value} of {values:?} is at {at}");
            }
            assert!(!scale.ticks.is_empty(), "{values:?}");
            assert!(scale.ticks.len() <= 13, "{values:?}");
        }
    }
}
