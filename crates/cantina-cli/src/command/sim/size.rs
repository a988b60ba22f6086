//! How long a simulation will take, before it begins: as far as a small part of each cell tells.

use crate::failure::Failure;
use crate::view::short;
use cantina_sim::engine::Failure as Ended;
use std::time::{Duration, Instant};

/// From so many tasks times threads on, of all seeds, it is tried how many steps a cell will take.
const LARGE: u64 = 1_000_000;
/// What takes longer is announced.
const LONG: Duration = Duration::from_secs(60);

/// A cell, and the part of it that is tried.
pub(super) struct Pilot<'a> {
    /// What the cell is called.
    pub(super) place: &'a str,
    /// How many times as much the whole is, from all seeds.
    pub(super) times: f64,
    /// Steps that the whole may take.
    pub(super) most_steps: u64,
    /// What makes it shorter.
    pub(super) allowed: &'static str,
}

/// What is known of all cells.
#[derive(Debug, Default)]
pub(super) struct Size {
    cells: usize,
    time: Duration,
}

/// Whether so many tasks, or places, are worth a try.
pub(super) fn is_large(tasks: u64, threads: u64, seeds: u64) -> bool {
    tasks.saturating_mul(threads).saturating_mul(seeds) >= LARGE
}

/// What to say of a cell that takes more steps than it may.
pub(super) fn refuse(place: &str, steps: &str, allowed: &str, most_steps: u64) -> Failure {
    Failure::BadInput(format!(
        "{place} {steps} steps; allowed: {allowed}, or a larger --most-steps than {most_steps}"
    ))
}

impl Size {
    /// Runs a part, which may take so many steps and tells how many it took. How it ended, where that is not how the whole would.
    ///
    /// # Errors
    /// Where the whole would take too many steps.
    pub(super) fn try_out(
        &mut self,
        pilot: &Pilot<'_>,
        run: impl FnOnce(u64) -> Result<u64, Ended>,
    ) -> Result<Option<Ended>, Failure> {
        let Pilot { place, times, most_steps, allowed } = *pilot;
        let most = (most_steps as f64 / times).ceil() as u64;
        let refuse = |steps: u64, about: &str| {
            let steps = format!("would take {about} {}", short(steps as f64 * times));
            Err(refuse(place, &steps, allowed, most_steps))
        };
        let begun = Instant::now();
        match run(most) {
            Ok(steps) if steps as f64 * times > most_steps as f64 => refuse(steps, "about"),
            Ok(_) => {
                self.cells += 1;
                self.time += begun.elapsed().mul_f64(times);
                Ok(None)
            }
            Err(Ended::Budget(_)) => refuse(most, "more than"),
            Err(ended) => Ok(Some(ended)),
        }
    }

    /// About how long the large cells will take on this machine, if that is long.
    pub(super) fn announcement(&self) -> Option<String> {
        let Self { cells, time } = *self;
        let minutes = short(time.as_secs_f64() / 60.0);
        (time >= LONG).then(|| {
            format!(
                "{cells} large cell(s) will take about {minutes} minutes here, and longer where they do not converge at once"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Pilot, Size, is_large};
    use std::time::Duration;

    #[test]
    fn what_takes_a_minute_or_more_is_announced() {
        let of = |seconds| Size { cells: 3, time: Duration::from_secs(seconds) }.announcement();
        assert_eq!(of(59), None);
        let expected = "3 large cell(s) will take about 12.5 minutes here, and longer where they do not converge at once";
        assert_eq!(of(750).as_deref(), Some(expected));
    }

    #[test]
    fn a_part_tells_what_the_whole_takes() {
        let pilot = Pilot { place: "it", times: 200.0, most_steps: 1_000, allowed: "less" };
        let mut size = Size::default();
        let mut budget = 0;
        let tried = size.try_out(&pilot, |most| {
            budget = most;
            Ok(5)
        });
        assert!(matches!(tried, Ok(None)));
        assert_eq!((budget, size.cells), (5, 1));
        let refused = size.try_out(&pilot, |_| Ok(6)).map(|_| ()).unwrap_err();
        let expected =
            "it would take about 1200 steps; allowed: less, or a larger --most-steps than 1000";
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn seeds_make_a_cell_large() {
        assert!(is_large(1_000_000, 1, 1) && is_large(1_000, 100, 10) && !is_large(1_000, 100, 9));
        assert!(is_large(u64::MAX, u64::MAX, 2));
    }
}
