//! What things cost on the real machine.

use crate::failure::Failure;
use crate::interrupt;
use crate::view::Progress;
use cantina_lab::probe::{self, Interrupted, Probe};
use cantina_machine::time::nanos;
use cantina_machine::topology::Topology;
use std::hint::black_box;

/// Readings of each, of which the one at a quarter of the way up counts: who is interrupted is never
/// faster for it.
const READINGS: usize = 41;
/// Of what takes long.
const FEW_READINGS: usize = 3;
/// Of the clock.
const CLOCK_READINGS: usize = 9;
/// How often a reading is tried that needs threads to run at the same time.
const TRIES: usize = 50;
/// Turns of a loop that tells the clock.
const TURNS: u64 = 1_000_000;
/// Cycles of a turn: a multiplication takes 3 and an exclusive or 1, on every 64-bit processor of the last
/// fifteen years.
const CYCLES: u64 = 4;

/// Nanoseconds for which threads look whether somebody interrupts them.
const WATCH: u64 = 1_500_000_000;
/// Nanoseconds of a millisecond that may be lost so: more means that others use this machine.
const MOST_LOST: f64 = 250_000.0;

/// What was measured.
#[derive(Debug)]
pub(crate) struct Readings {
    /// Memory nodes.
    pub(crate) nodes: usize,
    /// Cores of a node, of the largest if they differ.
    pub(crate) cores: usize,
    /// Cycles in a microsecond.
    pub(crate) megahertz: u64,
    /// Nanoseconds of each.
    pub(crate) probes: Vec<(Probe, f64)>,
    /// What interrupts threads.
    pub(crate) interruptions: Vec<Interrupted>,
}

impl Readings {
    /// Nanoseconds of `probe`, if it could be measured.
    pub(crate) fn of(&self, probe: Probe) -> Option<f64> {
        self.probes.iter().find(|(measured, _)| *measured == probe).map(|&(_, nanos)| nanos)
    }
}

/// Measures this machine.
pub(crate) fn measure(progress: &Progress) -> Result<Readings, Failure> {
    let topology = Topology::detect();
    let nodes = topology.nodes().len().max(1);
    let largest = topology.nodes().map(|node| topology.cores_of(node).len()).max();
    let mut probes = Vec::new();
    for probe in Probe::all(nodes, topology.core_count()) {
        progress.doing(&format!("measuring: {}", probe.name()));
        let readings = match probe {
            Probe::Memory | Probe::Page => FEW_READINGS,
            _ => READINGS,
        };
        let mut nanos = Vec::new();
        for _ in 0..readings {
            if interrupt::requested() {
                return Err(Failure::Interrupted);
            }
            nanos.extend((0..TRIES).find_map(|_| probe.measure(probe.turns())));
        }
        progress.advance(1);
        nanos.sort_by(f64::total_cmp);
        match nanos.get(nanos.len() / 4) {
            Some(&quarter) => probes.push((probe, quarter)),
            None => progress
                .note(&format!("warning: the machine is too busy to measure: {}", probe.name())),
        }
    }
    progress.doing("measuring: interruptions");
    let mut interruptions = probe::interruptions(topology.core_count().max(1), WATCH);
    if probe::lost(&interruptions) > MOST_LOST {
        progress.note("warning: the machine is too busy to measure: interruptions");
        interruptions.clear();
    }
    Ok(Readings {
        interruptions,
        nodes,
        cores: largest.unwrap_or(1).max(1),
        megahertz: megahertz(),
        probes,
    })
}

/// The clock under load.
fn megahertz() -> u64 {
    let reading = || {
        let factor: u64 = black_box(0x9e37_79b9_7f4a_7c15);
        let start = nanos();
        // Each turn waits for the one before, and none can be joined with another.
        black_box((0..TURNS).fold(1, |state: u64, turn| (state ^ turn).wrapping_mul(factor)));
        nanos().saturating_sub(start).max(1)
    };
    let best = (0..CLOCK_READINGS).map(|_| reading()).min().unwrap_or(1);
    (TURNS * CYCLES * 1_000 / best).max(1)
}

#[cfg(test)]
mod tests {
    use super::megahertz;

    #[test]
    fn a_clock_is_a_clock() {
        assert!((100..20_000).contains(&megahertz()) || cfg!(debug_assertions));
    }
}
