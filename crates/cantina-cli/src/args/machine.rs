//! `--machine`: a name, a size, or a file.

use cantina_sim::cost::{InvalidMachine, Machine};
use std::fs;
use std::path::Path;
use std::str::FromStr;

/// The longest file that may be a machine.
const MOST_BYTES: u64 = 1 << 20;

/// A machine to simulate, and how it was named.
#[derive(Clone, Debug)]
pub(crate) struct ChosenMachine {
    /// What was typed.
    pub(crate) typed: String,
    /// What it means.
    pub(crate) machine: Machine,
}

impl FromStr for ChosenMachine {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        let machine = match Path::new(typed).extension() {
            Some(extension) if extension == "json" => read(Path::new(typed))?,
            _ => typed.parse().map_err(|error: InvalidMachine| refuse(&error.to_string()))?,
        };
        Ok(Self { typed: typed.to_owned(), machine })
    }
}

/// Why it is none, and what is.
fn refuse(error: &str) -> String {
    match error.starts_with("no machine is called") {
        // It goes on with the names of those there are.
        true => format!("{error}, and FILE.json of `cantina calibrate`"),
        false => format!("{error}; allowed: NODESxCORES such as 4x8"),
    }
}

/// The machine in a file.
fn read(path: &Path) -> Result<Machine, String> {
    let refuse = |what: String| format!("{what}; allowed: what `cantina calibrate` writes");
    let length = fs::metadata(path).map_err(|error| refuse(error.to_string()))?.len();
    if length > MOST_BYTES {
        return Err(refuse(format!("{length} bytes are too many for a machine")));
    }
    let text = fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))
}
