//! `cantina calibrate`: this machine, measured and written down for the simulator.

use crate::args::CalibrateArgs;
use crate::calibrate::{self, Calibration};
use crate::export::OneFile;
use crate::failure::Failure;
use crate::interrupt;
use crate::screen;
use crate::view::{Progress, short};
use std::fmt::Write;

/// Steps of the progress bar: about as many as there are things to measure.
const STEPS: u64 = 20;

/// Measures, fits, shows both side by side, and writes the machine.
pub(super) fn run(args: &CalibrateArgs) -> Result<(), Failure> {
    interrupt::install()?;
    let file = OneFile::open(&args.out, "--out", args.overwrite)?;
    if cfg!(debug_assertions) {
        screen::warn("a debug build: its numbers say nothing, run it with --release");
    }
    let calibration = calibrate(&Progress::new(STEPS))?;
    screen::show(&table(&calibration))?;
    let json = serde_json::to_string_pretty(&calibration.machine)
        .map_err(|error| Failure::Failed(error.to_string()))?;
    let written = file.write(&json)?;
    screen::show(&format!("Written: {0}; use it with --machine {0}\n", written.display()))
}

/// This machine, calibrated.
pub(super) fn calibrate(progress: &Progress) -> Result<Calibration, Failure> {
    let readings = calibrate::measure(progress)?;
    progress.doing("fitting");
    calibrate::fit(&readings)
}

/// What was measured beside what is simulated.
pub(super) fn table(calibration: &Calibration) -> String {
    let Calibration { machine, lines } = calibration;
    let mut text = format!(
        "Calibrated: {} core(s) on {} memory node(s). Nanoseconds each:\n",
        machine.core_count(),
        machine.nodes()
    );
    let width = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    let _ = writeln!(text, "  {:width$}  {:>9}  {:>9}  fitted cost", "", "measured", "simulated");
    for line in lines {
        let fitted = line.fitted.unwrap_or("");
        let (measured, simulated) = (short(line.measured), short(line.simulated));
        let row = format!("  {:width$}  {measured:>9}  {simulated:>9}  {fitted}", line.name);
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text.push('\n');
    text
}
