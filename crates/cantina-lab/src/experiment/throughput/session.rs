//! Warming up, going round, throwing away, summing up.

use super::{Column, Plan};
use crate::experiment::regime::{self, Distance};
use crate::experiment::{
    Contestant, Event, Guard, Spread, Stopped, Watch, counted, fairness, per_thousand, rooms_stack,
    scheduling,
};
use crate::workload::{Assignment, Payload, Reading};
use cantina_record::Row;
use machine::thread;
use machine::time::Duration;

/// How often a repetition is tried again on a busy machine.
const RETRIES: usize = 3;
/// How long to wait for the machine to calm down before that.
const CALM_DOWN: Duration = Duration::from_millis(20);
/// How often in a row a repetition may come out in another regime than most, until that is how it is now.
const STRAYS: usize = 3;
/// How long consumers look for missing tasks.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first warm-up run.
const FIRST_TASKS: u64 = 4_096;
/// A warm-up run of this part of the target tells the speed well enough.
const WARM_UP_PART: f64 = 3.0;
/// How many times as many tasks the next warm-up run may have.
const WARM_UP_STEP: f64 = 32.0;
/// The most bytes of tasks in a calibrated run: they may all be in the pool at once.
const MOST_BYTES: u64 = 256 << 20;

/// The experiment while it runs.
pub(super) struct Session<'a, 'w> {
    plan: &'a Plan,
    guard: Option<Guard>,
    /// How much time may still be spent on repetitions that are thrown away.
    time_to_waste: Duration,
    watch: Watch<'w>,
    /// How far apart the cores were when last something was said of it.
    told: Option<Distance>,
    /// How far apart they were around each repetition.
    seen: Vec<Distance>,
}

/// A contestant in a column.
pub(super) struct Cell<'a> {
    contestant: &'a Contestant,
    assignment: Assignment,
    kept: Vec<Kept>,
    discarded: u64,
    /// Of those, how many were of another regime than most.
    strays: u64,
}

/// A repetition that counts.
struct Kept {
    reading: Reading,
    /// The worse of the guard's readings beside it.
    beside: Option<Duration>,
    /// How far apart the cores were just before and just after it.
    cores: Vec<Distance>,
}

impl Kept {
    /// Whether it was run on other cores than `usual`.
    fn is_stray(&self, usual: Distance) -> bool {
        self.cores.iter().any(|cores| cores.has_moved(usual))
    }
}

impl<'a, 'w> Session<'a, 'w> {
    pub(super) fn new(
        plan: &'a Plan,
        guard: Option<Guard>,
        steps: usize,
        watch: Watch<'w>,
    ) -> Self {
        // A busy machine may make it half as long again as planned, not more.
        let time_to_waste = plan.target.mul_f64(steps as f64 / 2.0);
        Self { plan, guard, time_to_waste, watch, told: None, seen: Vec::new() }
    }

    /// Measures everybody who can run in `column`.
    pub(super) fn measure<'c>(
        &mut self,
        column: Column,
        contestants: &[&'c Contestant],
    ) -> Result<Vec<Cell<'c>>, Stopped> {
        let mut cells = Vec::new();
        for contestant in contestants.iter().filter(|each| each.shapes.admit(column.shape)) {
            cells.push(self.warm_up(column, contestant)?);
        }
        if let Some(guard) = &mut self.guard {
            guard.look();
        }
        self.tell_moves()?;
        for round in 0..self.plan.repetitions {
            for index in order(round, cells.len()) {
                self.repeat(column, &mut cells[index])?;
            }
        }
        self.make_up(column, &mut cells)?;
        Ok(cells)
    }

    /// Says so if the cores are others than when last something was said of them.
    fn tell_moves(&mut self) -> Result<(), Stopped> {
        let Some(now) = self.guard.as_ref().and_then(Guard::distance) else { return Ok(()) };
        match self.told.replace(now) {
            Some(then) if now.has_moved(then) => {
                let line = format!("the cores moved: they were {then}, and are {now}");
                tell(&mut self.watch, Event::Note(&line))
            }
            Some(then) => {
                self.told = Some(then);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Runs again what was run on other cores than most, while there is time for it and it is not how things are now.
    fn make_up(&mut self, column: Column, cells: &mut [Cell<'_>]) -> Result<(), Stopped> {
        let Some(usual) = Distance::usual(self.seen.iter().copied()) else { return Ok(()) };
        let mut misses = 0;
        for cell in cells {
            while let Some(at) = cell.kept.iter().position(|kept| kept.is_stray(usual)) {
                if misses == STRAYS || self.time_to_waste.is_zero() {
                    return Ok(());
                }
                let Some(kept) = self.run_guarded(column, cell)? else { return Ok(()) };
                self.time_to_waste = self.time_to_waste.saturating_sub(kept.reading.elapsed);
                cell.discarded += 1;
                cell.strays += 1;
                if kept.is_stray(usual) {
                    misses += 1;
                } else {
                    misses = 0;
                    cell.kept[at] = kept;
                }
            }
        }
        Ok(())
    }

    /// A repetition with the guard's readings around it, if there is a guard.
    fn run_guarded(&mut self, column: Column, cell: &Cell<'_>) -> Result<Option<Kept>, Stopped> {
        let Some(guard) = &mut self.guard else { return Ok(None) };
        let before = guard.distance();
        let (reading, beside) = guard.around(|| run(&mut self.watch, self.plan, column, cell));
        let cores: Vec<Distance> = before.into_iter().chain(guard.distance()).collect();
        self.seen.extend(&cores);
        self.tell_moves()?;
        Ok(Some(Kept { reading: reading?, beside: Some(beside), cores }))
    }

    /// A cell whose runs have the right number of tasks.
    fn warm_up<'c>(
        &mut self,
        column: Column,
        contestant: &'c Contestant,
    ) -> Result<Cell<'c>, Stopped> {
        let assignment = Assignment {
            shape: column.shape,
            tasks: self.plan.tasks.unwrap_or(FIRST_TASKS),
            pin: column.pin,
            patience: PATIENCE,
            watched: false,
        };
        let mut cell = Cell { contestant, assignment, kept: Vec::new(), discarded: 0, strays: 0 };
        let most = MOST_BYTES / column.payload.bytes();
        let mut known = false;
        loop {
            let elapsed = run(&mut self.watch, self.plan, column, &cell)?.elapsed;
            if self.plan.tasks.is_some() {
                break;
            }
            let (next, enough) = calibrate(cell.assignment.tasks, elapsed, self.plan.target, most);
            cell.assignment.tasks = next;
            // Twice in a row: one run may have been held up.
            if known && enough {
                break;
            }
            known = enough;
        }
        tell(&mut self.watch, Event::Ran)?;
        Ok(cell)
    }

    /// Adds a repetition to `cell`.
    fn repeat(&mut self, column: Column, cell: &mut Cell<'_>) -> Result<(), Stopped> {
        for attempt in 0..=RETRIES {
            let Some(kept) = self.run_guarded(column, cell)? else {
                let reading = run(&mut self.watch, self.plan, column, cell)?;
                cell.kept.push(Kept { reading, beside: None, cores: Vec::new() });
                break;
            };
            if self.is_calm(&kept) || attempt == RETRIES || self.time_to_waste.is_zero() {
                cell.kept.push(kept);
                break;
            }
            cell.discarded += 1;
            let wasted = kept.reading.elapsed + CALM_DOWN;
            self.time_to_waste = self.time_to_waste.saturating_sub(wasted);
            if self.time_to_waste.is_zero() {
                let line = "the machine stays busy: from here on disturbed repetitions are kept, \
                            and counted in their rows";
                tell(&mut self.watch, Event::Note(line))?;
            }
            thread::sleep(CALM_DOWN);
            if let Some(guard) = &mut self.guard {
                guard.look();
            }
        }
        tell(&mut self.watch, Event::Ran)
    }

    /// Whether the machine was calm beside a repetition, as far as is known by now.
    fn is_calm(&self, kept: &Kept) -> bool {
        let guarded = self.guard.as_ref().zip(kept.beside);
        guarded.is_none_or(|(guard, beside)| guard.is_calm(beside))
    }

    /// What a cell says, if it was measured at all.
    pub(super) fn row(&self, column: Column, cell: &Cell<'_>) -> Option<Row> {
        let rate = |elapsed: Duration| {
            cell.assignment.tasks as f64 / elapsed.as_secs_f64().max(1e-9) / 1e6
        };
        let got = Spread::of(cell.kept.iter().map(|kept| rate(kept.reading.elapsed)))?;
        let put = Spread::of(cell.kept.iter().map(|kept| rate(kept.reading.put_elapsed)))?;
        // Judged at the end, when the machine's best is known.
        let disturbed = cell.kept.iter().filter(|kept| !self.is_calm(kept));
        let row = Row {
            experiment: self.plan.experiment.clone(),
            machine: self.plan.machine.clone(),
            pool: cell.contestant.name.clone(),
            kind: cell.contestant.kind,
            producers: column.shape.producers as u64,
            consumers: column.shape.consumers as u64,
            fields: Default::default(),
        };
        let row = row
            .with("payload_bytes", column.payload.bytes())
            .with("tasks", cell.assignment.tasks)
            .with("repetitions", cell.kept.len() as u64)
            .with("pinned", cell.kept.iter().all(|kept| kept.reading.pinned))
            .with("discarded", cell.discarded)
            .with("disturbed", disturbed.count() as u64)
            .with("mops_median", got.median)
            .with("mops_min", got.min)
            .with("mops_max", got.max)
            .with("put_mops_median", put.median);
        let counters = cell.kept.iter().filter_map(|kept| kept.reading.counters);
        let readings = cell.kept.iter().map(|kept| &kept.reading);
        let row = fairness::ordered(row, readings.clone());
        let row = scheduling::worked(row, readings.clone(), cell.assignment.tasks);
        let row = rooms_stack::spent(row, readings, cell.assignment.tasks);
        let row = per_thousand(cell.contestant.label(counted(row, counters)));
        let cores: Vec<Distance> = cell.kept.iter().flat_map(|kept| kept.cores.clone()).collect();
        let row = regime::label(row, &cores);
        let row = if cell.strays > 0 { row.with("strays", cell.strays) } else { row };
        Some(match &cell.contestant.version {
            Some(version) => row.with("version", version.as_str()),
            None => row,
        })
    }
}

fn run(
    watch: &mut Watch<'_>,
    plan: &Plan,
    column: Column,
    cell: &Cell<'_>,
) -> Result<Reading, Stopped> {
    let Column { shape, payload, .. } = column;
    let Contestant { name, parameter, .. } = cell.contestant;
    let parameter = parameter
        .map_or_else(String::new, |(name, value)| format!(", {} {value}", name.replace('_', " ")));
    let size = match payload {
        Payload::Word => "",
        Payload::Line => ", 64-byte tasks",
    };
    // What is run both ways.
    let free = Column { pin: false, ..column };
    let pin = if column.pin && plan.columns.contains(&free) { ", bound to cores" } else { "" };
    let experiment = &plan.experiment;
    tell(watch, Event::Running(&format!("{experiment} {shape} {name}{parameter}{size}{pin}")))?;
    let reading = (cell.contestant.drive)(payload, &cell.assignment);
    reading.map_err(|fault| Stopped::ByFault { pool: name.clone(), shape, payload, fault })
}

fn tell(watch: &mut Watch<'_>, event: Event<'_>) -> Result<(), Stopped> {
    if watch(event).is_break() { Err(Stopped::OnRequest) } else { Ok(()) }
}

/// The order of a round: everybody, beginning with the next one each time.
pub(super) fn order(round: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |step| (round + step) % count)
}

/// After a warm-up run: how many tasks the next one should have, and whether this one was long
/// enough to tell.
pub(super) fn calibrate(tasks: u64, elapsed: Duration, target: Duration, most: u64) -> (u64, bool) {
    let times = target.as_secs_f64() / elapsed.as_secs_f64().max(1e-9);
    let next = (tasks as f64 * times.min(WARM_UP_STEP)) as u64;
    (next.clamp(1, most), times <= WARM_UP_PART || tasks >= most)
}
