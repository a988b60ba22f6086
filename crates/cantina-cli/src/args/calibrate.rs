//! `cantina calibrate`.

use clap::Args;
use std::path::PathBuf;

/// `cantina calibrate`.
#[derive(Args, Debug)]
pub(crate) struct CalibrateArgs {
    /// Where the machine goes, for `cantina sim --machine`
    #[arg(long, value_name = "FILE.json", default_value = "calibrated.json", value_parser = json)]
    pub(crate) out: PathBuf,
    /// Whether that file may be replaced
    #[arg(long)]
    pub(crate) overwrite: bool,
}

/// A path that `--machine` takes for a file.
fn json(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(path);
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(path);
    }
    Err("allowed: a path that ends in .json".to_owned())
}
