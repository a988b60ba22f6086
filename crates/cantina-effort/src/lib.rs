//! How much the tests try.
//!
//! Every test that searches reads it here, so that one variable decides for all of them: conformance, planted
//! bugs, simulated schedules, loom.
//!
//! | `CANTINA_EFFORT` | who sets it | what a test does |
//! |---|---|---|
//! | not set, or `1` | the gate | a little: each check runs, and finds what is plainly wrong |
//! | a number, `0.3` or `20` | a person, a step of `ci/deep.sh` | so many times as much |
//! | `deep` | `ci/deep.sh` | all that somebody would wait for; loom without a bound |
//!
//! `CANTINA_SEED` chooses the first seed: [`seed`]; `CANTINA_MEMORY` whether simulated processors buffer stores: [`store_buffers`]. What must come out right on every schedule is a [`scenario`].

pub mod scenario;
mod trial;

pub use trial::trial;

use std::fmt::Display;
use std::str::FromStr;

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effort {
    /// So many times what the gate does.
    Times(f64),
    /// As much as there is.
    Deep,
}

impl Effort {
    /// What `CANTINA_EFFORT` says.
    ///
    /// # Panics
    /// When it says something else.
    pub fn asked() -> Self {
        let asked = std::env::var("CANTINA_EFFORT");
        asked
            .map_or(Self::Times(1.0), |text| text.parse().unwrap_or_else(|wrong| panic!("{wrong}")))
    }

    /// How many rounds: `gate` of them, so many times as many, or `deep`. Never none.
    pub fn rounds(self, gate: u64, deep: u64) -> u64 {
        match self {
            Self::Times(times) => ((gate as f64 * times) as u64).max(1),
            Self::Deep => deep.max(1),
        }
    }

    /// How many times over, where `deep` stands for the whole.
    pub fn times(self, deep: f64) -> f64 {
        match self {
            Self::Times(times) => times,
            Self::Deep => deep,
        }
    }
}

impl FromStr for Effort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<f64>() {
            Ok(times) if times > 0.0 && times.is_finite() => Ok(Self::Times(times)),
            _ if text == "deep" => Ok(Self::Deep),
            _ => Err(format!("CANTINA_EFFORT is a number above 0, or deep, not {text:?}")),
        }
    }
}

/// How many rounds of something: `gate` of them in the gate, `deep` in the deep run. See [`Effort::rounds`].
pub fn rounds(gate: u64, deep: u64) -> u64 {
    Effort::asked().rounds(gate, deep)
}

/// The first seed: what `CANTINA_SEED` says, or `usually`.
///
/// # Panics
/// When it says no number.
pub fn seed(usually: u64) -> u64 {
    number("CANTINA_SEED").unwrap_or(usually)
}

/// Whether simulated machines are to have store buffers, if `CANTINA_MEMORY` says so: `tso` or `sequential`. What is found only with
/// them is a matter of fences.
///
/// # Panics
/// When it says something else.
pub fn store_buffers() -> Option<bool> {
    match std::env::var("CANTINA_MEMORY").as_deref() {
        Ok("sequential") => Some(false),
        Ok("tso") => Some(true),
        Err(_) => None,
        Ok(other) => panic!("CANTINA_MEMORY is sequential or tso, not {other}"),
    }
}

fn number<N: FromStr<Err: Display>>(variable: &str) -> Option<N> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|wrong| panic!("{variable} is {text:?}: {wrong}")))
}

#[cfg(test)]
mod tests {
    use super::Effort;

    #[test]
    fn an_effort_is_a_number_or_deep() {
        assert_eq!("0.3".parse(), Ok(Effort::Times(0.3)));
        assert_eq!("deep".parse(), Ok(Effort::Deep));
        for wrong in ["", "0", "-1", "inf", "nan", "much"] {
            assert!(wrong.parse::<Effort>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn something_is_always_tried() {
        assert_eq!(Effort::Times(0.01).rounds(10, 1000), 1);
        assert_eq!(Effort::Times(2.5).rounds(10, 1000), 25);
        assert_eq!(Effort::Deep.rounds(10, 1000), 1000);
    }
}
