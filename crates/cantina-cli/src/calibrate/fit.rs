//! From readings to costs.
//!
//! One cost after the other is set so that the simulated program takes as long as the real one did.
//! Each program is almost only about its cost, given those before it in the order below.

use super::{Calibration, Line, NAME, Readings};
use crate::allocator;
use crate::failure::Failure;
use crate::interrupt;
use cantina_lab::probe::{Interrupted, Probe, lost};
use cantina_sim::cost::{Costs, Hops, Interruption, Machine};
use cantina_sim::engine::Simulation;
use lab_on_sim::probe::{self as twins, Probe as Twin};

/// How often a simulated program does what it does.
const TURNS: usize = 2_000;
/// The same where it takes long.
const FEW_TURNS: usize = 200;

/// Nanoseconds for which simulated threads look whether somebody interrupts them.
const WATCH: u64 = 50_000_000;

/// A cost, and the program that shows it.
struct Fit {
    cost: &'static str,
    probe: Probe,
    set: fn(&mut Costs, u64),
    /// The largest that it can be.
    most: u64,
}

/// The machine's costs are in parts of a cycle, so many of them: several things happen in one.
const UNITS: u64 = 4;

/// Cycles that are no longer a cost of a machine.
const LONG: u64 = 100_000_000;

const fn cost(cost: &'static str, probe: Probe, set: fn(&mut Costs, u64)) -> Fit {
    Fit { cost, probe, set, most: LONG }
}

/// What is fitted, in order. A line is held the shorter, the longer an addition takes.
const FITS: [Fit; 21] = [
    cost("instruction", Probe::Code, |costs, cycles| costs.instruction = cycles),
    cost("l1", Probe::Loads, |costs, cycles| costs.l1 = cycles),
    cost("memory", Probe::Fresh, |costs, cycles| costs.memory = [cycles; 4]),
    cost("store", Probe::Store, |costs, cycles| costs.store = cycles),
    cost("rmw", Probe::Add, |costs, cycles| costs.rmw = cycles),
    cost("fence", Probe::Fence, |costs, cycles| costs.fence = cycles),
    cost("pause", Probe::Pause, |costs, cycles| costs.pause = cycles),
    cost("give_up", Probe::Yield, |costs, cycles| costs.give_up = cycles),
    cost("clock", Probe::Clock, |costs, cycles| costs.clock = cycles),
    cost("malloc", Probe::Allocate, |costs, cycles| costs.malloc = cycles),
    cost("page", Probe::Page, |costs, cycles| costs.page = cycles),
    cost("transfers, near", Probe::PingPong, |costs, cycles| transfers(costs, cycles, 0)),
    cost("transfers, far", Probe::FarPingPong, |costs, cycles| transfers(costs, cycles, 1)),
    Fit {
        cost: "hold",
        probe: Probe::ContendedAdd(2),
        set: |costs, percent| costs.hold = 100 - percent.min(100),
        most: 100,
    },
    Fit {
        cost: "stream",
        probe: Probe::Pass,
        set: |costs, percent| costs.stream = percent,
        most: 100,
    },
    Fit {
        cost: "stream_rmw",
        probe: Probe::PassTaken,
        set: |costs, percent| costs.stream_rmw = percent,
        most: 100,
    },
    cost("malloc_shared", Probe::PassBlock, |costs, cycles| costs.malloc_shared = cycles),
    cost("unpark", Probe::Unpark, |costs, cycles| {
        costs.unpark = cycles;
        costs.park = cycles;
    }),
    cost("wake", Probe::Wake, |costs, cycles| costs.wake = cycles),
    // 0 would be a machine where nobody looks at a lock that is taken.
    cost("lock_watched", Probe::ContendedLock, |costs, cycles| costs.lock_watched = cycles.max(1)),
    cost("heavy", Probe::Heavy, |costs, cycles| {
        costs.heavy = cycles;
        costs.interrupt = cycles / 4;
    }),
];

/// Sets all that has to do with a line going from one core to another, from the distance `hops` on.
fn transfers(costs: &mut Costs, cycles: u64, hops: usize) {
    let mut exchange: Hops = costs.rmw_owned;
    exchange[hops..].fill(cycles);
    let derived = Costs::of_exchange(exchange, costs.memory);
    costs.load_owned = derived.load_owned;
    costs.load_shared = derived.load_shared;
    costs.store_owned = derived.store_owned;
    costs.store_shared = derived.store_shared;
    costs.rmw_owned = derived.rmw_owned;
    costs.rmw_shared = derived.rmw_shared;
    costs.read_hold = costs.load_owned[0] / 2;
}

/// A machine on which the probes take as long as they did.
///
/// # Errors
/// Ctrl-C, or a machine too large to be simulated.
pub(crate) fn fit(readings: &Readings) -> Result<Calibration, Failure> {
    allocator::simulate()?;
    let shape = Machine::uniform(readings.nodes, readings.cores)
        .map_err(|error| Failure::Failed(format!("this machine cannot be simulated: {error}")))?;
    let mut costs = Costs::epyc();
    for cost in [&mut costs.l2, &mut costs.spawn, &mut costs.link, &mut costs.channel] {
        *cost *= UNITS;
    }
    // What no program shows by itself is as short as it can be: it is in what the programs show.
    costs.overhead = 1;
    costs.drain = 1;
    costs.jitter = 1;
    let megahertz = readings.megahertz * UNITS;
    let machine = |costs: &Costs| shape.clone().calibrated(NAME, megahertz, costs.clone());
    for fit in &FITS {
        let Some(target) = readings.of(fit.probe) else { continue };
        if interrupt::requested() {
            return Err(Failure::Interrupted);
        }
        let simulated = |value: u64| {
            let mut tried = costs.clone();
            (fit.set)(&mut tried, value);
            Ok(simulate(&machine(&tried), fit.probe)?.unwrap_or(0.0))
        };
        let best = nearest(fit.most, target, simulated)?;
        (fit.set)(&mut costs, best);
    }
    let machine = machine(&costs);
    let line = |&(probe, measured): &(Probe, f64)| {
        Ok(Line {
            name: probe.name(),
            measured,
            simulated: simulate(&machine, probe)?.unwrap_or(0.0),
            fitted: FITS.iter().find(|fit| fit.probe == probe).map(|fit| fit.cost),
        })
    };
    // The readings that count are those in between.
    let mut lines = readings.probes.iter().map(line).collect::<Result<Vec<_>, Failure>>()?;
    let machine = machine.interruptions(kinds(&readings.interruptions, megahertz));
    if !machine.interrupted().is_empty() {
        lines.push(Line {
            name: "interruptions, in 1 ms".to_owned(),
            measured: lost(&readings.interruptions),
            simulated: simulate_interruptions(&machine)?,
            fitted: Some("interruptions"),
        });
    }
    Ok(Calibration { machine, lines })
}

/// Interruptions in the units of a machine: these are what they are, and need no fitting.
fn kinds(measured: &[Interrupted], megahertz: u64) -> Vec<Interruption> {
    let cycles = |nanos: f64| (nanos * megahertz as f64 / 1e3) as u64;
    let kind = |each: &Interrupted| Interruption {
        every: cycles(each.every).max(1),
        lasts: cycles(each.lasts),
    };
    measured.iter().map(kind).collect()
}

/// Nanoseconds of a millisecond that they take on `machine`.
fn simulate_interruptions(machine: &Machine) -> Result<f64, Failure> {
    let cores = machine.core_count();
    let run = Simulation::new().machine(machine.clone()).seed(1).steps(u64::MAX);
    match run.run_timed(|| twins::lost(&twins::interruptions(cores, WATCH))) {
        Ok(outcome) => Ok(outcome.value),
        Err(failure) => Err(Failure::Failed(format!("interruptions: {failure}"))),
    }
}

/// The value up to `most` for which `f`, which grows on the whole, is nearest to `target`, of those that were tried.
fn nearest<E>(most: u64, target: f64, f: impl Fn(u64) -> Result<f64, E>) -> Result<u64, E> {
    let mut best = (f64::INFINITY, 0);
    let mut is_below = |value: u64| {
        let taken = f(value)?;
        let off = (target - taken).abs();
        if off < best.0 {
            best = (off, value);
        }
        Ok(taken < target)
    };
    is_below(0)?;
    // Below `above`, which is small where the target is.
    let (mut below, mut above) = (0, 1);
    while is_below(above)? && above < most {
        below = above;
        above = (above * 2).min(most);
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if is_below(middle)? {
            below = middle;
        } else {
            above = middle;
        }
    }
    Ok(best.1)
}

/// Nanoseconds of `probe` on `machine`, unless its threads should run together and do not.
fn simulate(machine: &Machine, probe: Probe) -> Result<Option<f64>, Failure> {
    let (probe, turns) = twin(probe);
    let run = Simulation::new().machine(machine.clone()).seed(1).steps(u64::MAX);
    match run.run_timed(|| probe.measure(turns)) {
        Ok(outcome) => Ok(outcome.value),
        Err(failure) => Err(Failure::Failed(format!("{}: {failure}", probe.name()))),
    }
}

/// The same program for the simulated machine, and how often it does what it does.
fn twin(probe: Probe) -> (Twin, usize) {
    match probe {
        Probe::Code => (Twin::Code, TURNS),
        Probe::Loads => (Twin::Loads, TURNS),
        Probe::Chase => (Twin::Chase, TURNS),
        Probe::Memory => (Twin::Memory, TURNS),
        Probe::Store => (Twin::Store, TURNS),
        Probe::Add => (Twin::Add, TURNS),
        Probe::Fence => (Twin::Fence, TURNS),
        Probe::Pause => (Twin::Pause, TURNS),
        Probe::Yield => (Twin::Yield, TURNS),
        Probe::Clock => (Twin::Clock, TURNS),
        Probe::Allocate => (Twin::Allocate, TURNS),
        Probe::Page => (Twin::Page, FEW_TURNS),
        Probe::Fresh => (Twin::Fresh, TURNS),
        Probe::Lock => (Twin::Lock, TURNS),
        Probe::PingPong => (Twin::PingPong, TURNS),
        Probe::FarPingPong => (Twin::FarPingPong, TURNS),
        Probe::ContendedAdd(threads) => (Twin::ContendedAdd(threads), TURNS),
        Probe::ContendedLock => (Twin::ContendedLock, TURNS),
        Probe::Pass => (Twin::Pass, TURNS),
        Probe::PassFenced => (Twin::PassFenced, TURNS),
        Probe::PassTaken => (Twin::PassTaken, TURNS),
        Probe::PassBlock => (Twin::PassBlock, TURNS),
        Probe::Wake => (Twin::Wake, FEW_TURNS),
        Probe::Unpark => (Twin::Unpark, FEW_TURNS),
        Probe::Heavy => (Twin::Heavy, FEW_TURNS),
    }
}

#[cfg(test)]
mod tests {
    use super::{FITS, fit, nearest};
    use crate::calibrate::Readings;
    use cantina_lab::probe::{Interrupted, Probe};

    #[test]
    fn the_nearest_value_is_found() {
        let f = |value: u64| Ok::<_, ()>(3.0 * value as f64 + 1.0);
        let found = |most, target| nearest(most, target, f).unwrap();
        assert_eq!([found(100, 0.0), found(100, 10.0), found(100, 11.0)], [0, 3, 3]);
        assert_eq!([found(100, 12.0), found(100, 301.0), found(100, 9_999.0)], [4, 100, 100]);
    }

    #[test]
    fn a_machine_is_found_on_which_everything_takes_as_long_as_it_did() {
        let nanos = |probe| match probe {
            Probe::Code => 2.0,
            Probe::Loads => 1.0,
            Probe::Pass => 20.0,
            Probe::PassFenced => 30.0,
            Probe::PassTaken => 35.0,
            Probe::Chase => 2.0,
            Probe::Fresh => 8.0,
            Probe::Memory => 100.0,
            Probe::Store => 1.5,
            Probe::Add | Probe::Fence => 6.0,
            Probe::PingPong => 50.0,
            Probe::ContendedAdd(2) => 14.0,
            Probe::PassBlock => 300.0,
            Probe::ContendedLock => 120.0,
            Probe::Wake => 5_000.0,
            Probe::Page | Probe::Unpark | Probe::Heavy => 1_000.0,
            _ => 40.0,
        };
        let probes = Probe::all(1, 2).into_iter().map(|probe| (probe, nanos(probe))).collect();
        let interruptions =
            vec![Interrupted { every: 1e6, lasts: 1e4 }, Interrupted { every: 1e7, lasts: 4e5 }];
        let readings = Readings { nodes: 1, cores: 2, megahertz: 3_000, probes, interruptions };
        let found = fit(&readings).unwrap();
        let fitted = found.lines.iter().filter(|line| line.fitted.is_some());
        assert_eq!(fitted.clone().count(), FITS.len(), "nothing far, and interruptions");
        for line in fitted {
            let off = (line.simulated / line.measured - 1.0).abs();
            let is_rare = line.fitted == Some("interruptions");
            assert!(off < if is_rare { 0.5 } else { 0.1 }, "{line:?}");
        }
    }
}
