//! What a pool says of a run.

/// What a pool has counted while tasks went through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Tasks got.
    pub gets: u64,
    /// Atomic read-modify-writes by those who got them.
    pub cas: u64,
    /// Times that somebody took tasks over from another consumer, where that happens.
    pub steals: Option<u64>,
    /// Read-modify-writes of both ends that came too late, where they are counted.
    pub failed_cas: Option<u64>,
    /// By how many others a task is overtaken at most, where that is promised.
    pub fair_within: Option<u64>,
}

impl Counters {
    /// Read-modify-writes per task got; nothing before the first.
    pub fn cas_per_get(&self) -> Option<f64> {
        (self.gets > 0).then(|| self.cas as f64 / self.gets as f64)
    }

    /// Read-modify-writes that came too late, per put or get: in a run each task is put and got. Nothing where
    /// they are not counted, or before the first.
    pub fn cas_failures_per_operation(&self) -> Option<f64> {
        let operations = 2 * self.gets;
        self.failed_cas.filter(|_| operations > 0).map(|failed| failed as f64 / operations as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Counters;
    use crate::registry::{self, Family, Visitor};
    use crate::workload::{Assignment, Batch, Shape, Single, run};
    use machine::time::Duration;

    #[test]
    fn who_counts_counts_every_task() {
        struct Run(Vec<String>);
        impl Visitor for Run {
            fn visit<F: Family>(&mut self, family: F) {
                let patience = Duration::from_secs(60);
                let shape = Shape::new(1, 2);
                let assignment =
                    Assignment { shape, tasks: 3_000, pin: false, patience, watched: false };
                let single = run::<u64, _>(&Single(family.clone()), &assignment).unwrap();
                let batch = run::<u64, _>(&Batch(family.clone()), &assignment).unwrap();
                for counters in [single.counters, batch.counters].into_iter().flatten() {
                    self.0.push(family.facts().name);
                    assert_eq!(counters.gets, 3_000, "{}", family.facts().name);
                }
            }
        }
        let mut run = Run(Vec::new());
        registry::visit_all(&mut run);
        for name in ["cafe", "cafe-wait-free", "salsa", "salsa-bounded", "salsa-cas"] {
            assert_eq!(run.0.iter().filter(|each| *each == name).count(), 2, "{name}");
        }
    }

    #[test]
    fn a_rate_needs_a_task() {
        assert_eq!(Counters::default().cas_per_get(), None);
        let counters =
            Counters { gets: 4, cas: 1, steals: None, failed_cas: Some(2), fair_within: None };
        assert_eq!(counters.cas_per_get(), Some(0.25));
        assert_eq!(counters.cas_failures_per_operation(), Some(0.25));
        assert_eq!(Counters { gets: 0, ..counters }.cas_failures_per_operation(), None);
        assert_eq!(Counters { failed_cas: None, ..counters }.cas_failures_per_operation(), None);
    }
}
