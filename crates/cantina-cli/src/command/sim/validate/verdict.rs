//! Which ratios agree.

use super::{NAME, THREADS};
use crate::failure::Failure;
use crate::view::short;
use cantina_lab::experiment::{Spread, regime};
use cantina_lab::workload::BACKLOG;
use cantina_record::{Row, Value};
use std::fmt;

/// How far two ratios may be apart.
const FACTOR: f64 = 2.0;

/// What came out, for each number of threads.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    columns: Vec<Column>,
    /// The regime of the real rows of several threads, and the nanoseconds of a word between their cores.
    regime: Option<(String, f64)>,
    /// Whether the cores moved between what is compared: then nothing is.
    moved: bool,
}

#[derive(Debug, PartialEq)]
struct Column {
    threads: usize,
    /// In the order of the registry. The first is what the others are compared with in the table.
    pools: Vec<Pool>,
}

/// A pool on both machines.
#[derive(Clone, Debug, PartialEq)]
struct Pool {
    name: String,
    /// Million tasks per second.
    real: f64,
    simulated: f64,
    /// Whether it was simulated for long enough: what was not is not compared.
    converged: bool,
}

impl Pool {
    /// How much faster it is on the real machine than on the simulated one.
    fn quotient(&self) -> f64 {
        self.real / self.simulated
    }
}

impl Column {
    /// The two pools whose ratios are farthest apart.
    fn worst(&self) -> Option<(&Pool, &Pool)> {
        let by_quotient = |a: &&Pool, b: &&Pool| a.quotient().total_cmp(&b.quotient());
        Some((self.compared().max_by(by_quotient)?, self.compared().min_by(by_quotient)?))
    }

    /// Those that can be compared.
    fn compared(&self) -> impl Iterator<Item = &Pool> {
        self.pools.iter().filter(|pool| pool.converged)
    }

    /// Whether there is something to compare.
    fn is_conclusive(&self) -> bool {
        self.compared().count() > 1
    }

    /// The quotient of the pool in the middle.
    fn median(&self) -> f64 {
        let quotients = self.compared().map(Pool::quotient);
        Spread::of(quotients).map_or(1.0, |spread| spread.median)
    }

    /// How far their ratios are apart: 1 when they are the same.
    fn apart(&self) -> f64 {
        self.worst().map_or(1.0, |(high, low)| high.quotient() / low.quotient())
    }
}

impl Verdict {
    /// Compares the rows of both machines.
    pub(super) fn of(rows: &[Row], threads: &[usize], pools: &[String], moved: bool) -> Self {
        let together = |row: &&Row| row.number(THREADS) > Some(1.0) && row.machine == "real";
        let read =
            |row: &Row| Some((row.text(regime::FIELD)?.to_owned(), row.number(regime::PING_PONG)?));
        let regime = rows.iter().filter(together).find_map(read);
        let row = |pool: &str, threads: usize, real: bool| {
            let is_it = |row: &&Row| {
                row.pool == pool
                    && row.number(THREADS) == Some(threads as f64)
                    && (row.machine == "real") == real
            };
            rows.iter().find(is_it)
        };
        let pool = |name: &String, threads| {
            let (real, simulated) = (row(name, threads, true)?, row(name, threads, false)?);
            let rate = |row: &Row| row.number("mops_median");
            Some(Pool {
                name: name.clone(),
                real: rate(real)?,
                simulated: rate(simulated)?,
                converged: simulated.fields.get("converged") != Some(&Value::Flag(false)),
            })
        };
        let column = |&threads: &usize| Column {
            threads,
            pools: pools.iter().filter_map(|name| pool(name, threads)).collect(),
        };
        Self { columns: threads.iter().map(column).collect(), regime, moved }
    }

    /// `row` with the ratio to the first pool on its machine.
    pub(super) fn annotate(&self, row: Row) -> Row {
        let threads = row.number(THREADS);
        let column = self.columns.iter().find(|column| Some(column.threads as f64) == threads);
        let Some(first) = column.and_then(|column| column.pools.first()) else { return row };
        let base = if row.machine == "real" { first.real } else { first.simulated };
        match row.number("mops_median") {
            Some(rate) if base > 0.0 => row.with("ratio", rate / base),
            _ => row,
        }
    }

    /// # Errors
    /// When two pools do not agree, or it cannot be said whether they do.
    pub(crate) fn judge(&self) -> Result<(), Failure> {
        if self.moved {
            return Err(Failure::Failed(format!(
                "{NAME} is inconclusive: this machine's cores moved in every try"
            )));
        }
        let Some(column) = self.columns.iter().find(|column| column.apart() > FACTOR) else {
            return match self.columns.iter().all(Column::is_conclusive) {
                true => Ok(()),
                false => Err(Failure::Failed(format!(
                    "{NAME} is inconclusive: fewer than two pools have converged; more --tasks may do"
                ))),
            };
        };
        Err(Failure::Failed(format!(
            "{NAME}: with {} thread(s) two ratios differ by {}, more than a factor of {FACTOR}",
            column.threads,
            short(column.apart())
        )))
    }
}

/// What so many threads do.
fn how(threads: usize) -> String {
    match threads {
        1 => ", which puts and gets in turn".to_owned(),
        _ => format!(
            ", a producer and a consumer between whom there are {} to {} tasks",
            BACKLOG.start, BACKLOG.end
        ),
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for column in &self.columns {
            let Some(first) = column.pools.first() else { continue };
            let width = column.pools.iter().map(|pool| pool.name.len() + 1).max().unwrap_or(0);
            let threads = column.threads;
            writeln!(f, "\nRatios to {} with {threads} thread(s){}:", first.name, how(threads))?;
            writeln!(
                f,
                "  {:width$}  {:>6}  {:>9}  {:>6}  {:>8}  {:>12}  simulated beside the median pool",
                "", "real", "simulated", "apart", "real ns", "simulated ns"
            )?;
            let median = column.median();
            for pool in &column.pools {
                let (real, simulated) = (pool.real / first.real, pool.simulated / first.simulated);
                let apart = (real / simulated).max(simulated / real);
                let nanos = |mops: f64| short(1e3 / mops);
                let (here, there) = (nanos(pool.real), nanos(pool.simulated));
                let (off, word) = match pool.quotient() / median {
                    slow if slow >= 1.0 => (slow, "slow"),
                    fast => (1.0 / fast, "fast"),
                };
                let name = match pool.converged {
                    true => pool.name.clone(),
                    false => format!("~{}", pool.name),
                };
                let [real, simulated, apart, off] = [real, simulated, apart, off].map(short);
                writeln!(
                    f,
                    "  {name:width$}  {real:>6}  {simulated:>9}  {apart:>6}  {here:>8}  {there:>12}  \
                     {off} times too {word}"
                )?;
            }
            if column.compared().count() < column.pools.len() {
                writeln!(f, "  ~ not converged on the simulated machine, and not compared")?;
            }
            let Some((high, low)) = column.worst().filter(|_| column.is_conclusive()) else {
                writeln!(f, "  inconclusive, since fewer than two pools have converged")?;
                continue;
            };
            let outcome = match (self.moved && column.threads > 1, column.apart() <= FACTOR) {
                (true, _) => "inconclusive, since the cores moved",
                (false, true) => "they agree",
                (false, false) => "they do not agree",
            };
            writeln!(
                f,
                "  farthest apart of all pairs: {} to {}, {} real and {} simulated, a factor \
                 of {}: {}",
                high.name,
                low.name,
                short(high.real / low.real),
                short(high.simulated / low.simulated),
                short(column.apart()),
                outcome
            )?;
        }
        if let Some((name, nanos)) = &self.regime {
            let nanos = short(*nanos);
            writeln!(f, "\nRegime: {name}, a word took {nanos} ns from one core to another.")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Pool, Verdict};
    use crate::failure::Failure;

    fn verdict(rates: &[(&str, f64, f64)]) -> Verdict {
        let pool = |&(name, real, simulated): &(&str, f64, f64)| Pool {
            name: name.to_owned(),
            real,
            simulated,
            converged: true,
        };
        let columns = vec![Column { threads: 2, pools: rates.iter().map(pool).collect() }];
        Verdict { columns, regime: Some(("far".to_owned(), 170.25)), moved: false }
    }

    #[test]
    fn ratios_within_a_factor_of_two_agree_whatever_the_speed() {
        let agreed = verdict(&[("a", 10.0, 100.0), ("b", 20.0, 101.0), ("c", 5.0, 50.0)]);
        assert_eq!(agreed.judge(), Ok(()));
        assert!(agreed.to_string().contains("they agree"), "{agreed}");
        assert!(
            agreed
                .to_string()
                .ends_with("Regime: far, a word took 170 ns from one core to another.\n")
        );
    }

    #[test]
    fn cores_that_moved_in_every_try_leave_it_open() {
        let same = verdict(&[("a", 10.0, 100.0), ("b", 20.0, 200.0)]);
        let moved = Verdict { moved: true, ..same };
        let failure = moved.judge().unwrap_err();
        assert!(failure.to_string().contains("inconclusive"), "{failure}");
        assert!(moved.to_string().contains("inconclusive") && !moved.to_string().contains("agree"));
    }

    #[test]
    fn what_has_not_converged_is_shown_and_not_compared() {
        let mut apart = verdict(&[("a", 10.0, 10.0), ("b", 19.0, 10.0), ("c", 10.0, 90.0)]);
        assert!(apart.judge().is_err());
        apart.columns[0].pools[2].converged = false;
        assert_eq!(apart.judge(), Ok(()));
        let text = apart.to_string();
        assert!(
            text.contains("  ~c ") && text.contains("~ not converged on the simulated"),
            "{text}"
        );
        assert!(text.contains("b to a, 1.90 real and 1.00 simulated"), "{text}");
        apart.columns[0].pools[1].converged = false;
        assert!(apart.judge().unwrap_err().to_string().contains("inconclusive"));
        let text = apart.to_string();
        assert!(text.contains("inconclusive") && !text.contains("agree"), "{text}");
    }

    #[test]
    fn every_pair_counts_and_not_only_those_with_the_first() {
        // Each within a factor of two of the first, but not of each other.
        let apart = verdict(&[("a", 10.0, 10.0), ("b", 19.0, 10.0), ("c", 10.0, 19.0)]);
        assert!(matches!(apart.judge(), Err(Failure::Failed(_))));
        assert!(apart.to_string().contains("b to c, 1.90 real and 0.526 simulated"), "{apart}");
        assert!(apart.to_string().contains("they do not agree"), "{apart}");
    }
}
