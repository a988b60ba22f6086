//! When a consumer that has caught up with the producers waits for a moment.
//!
//! Every look at a leaf or block that is being filled takes its cache line from whoever fills it. A consumer takes tasks
//! faster than they come, so in a steady flow it would look after every few of them, and both would wait for
//! lines all the time. Where a short wait brings many tasks it waits.

use machine::Backoff;

/// Tasks in a row that make a flow.
const FLOW: usize = 4;
/// So many tasks are worth a wait, and where so many are there it does not wait.
const MANY: u32 = 16;
/// How long it waits: so many times, each twice as long as the one before, about a microsecond in all.
const STEPS: usize = 6;
/// Where it was not worth it, it tries again at one end of so many, a power of two.
const TRIAL: u32 = 8;

/// What a consumer has seen of flows.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Tasks that came one after the other.
    flow: usize,
    /// How often there came no more.
    ends: u32,
    /// Whether the last wait was worth it.
    pays: bool,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { flow: 0, ends: 0, pays: true }
    }

    /// So many tasks came.
    #[inline]
    pub(crate) fn came(&mut self, tasks: usize) {
        self.flow += tasks;
    }

    /// Whether so many have come that more are to be expected.
    #[inline]
    pub(crate) fn flows(&self) -> bool {
        self.flow >= FLOW
    }

    /// No more came. Whether that was a flow, which begins anew.
    pub(crate) fn ends_a_flow(&mut self) -> bool {
        std::mem::take(&mut self.flow) >= FLOW
    }

    /// Whether it is too early to take `tasks` that are there, or to say that there are none.
    pub(crate) fn wants_more(tasks: u32) -> bool {
        tasks < MANY
    }

    /// Waits, if that has been worth it.
    pub(crate) fn wait(&mut self) {
        self.ends = self.ends.wrapping_add(1);
        if self.pays || self.ends & (TRIAL - 1) == 0 {
            let backoff = Backoff::new();
            (0..STEPS).for_each(|_| backoff.spin());
        }
    }

    /// So many tasks came during a wait.
    pub(crate) fn judge(&mut self, tasks: u32) {
        self.pays = tasks > MANY / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::{FLOW, MANY, Patience};

    #[test]
    fn a_few_tasks_in_a_row_are_a_flow() {
        let mut patience = Patience::new();
        assert!(!patience.ends_a_flow());
        patience.came(FLOW);
        assert!(patience.flows() && patience.ends_a_flow() && !patience.flows());
        // It begins anew.
        patience.came(FLOW - 1);
        assert!(!patience.ends_a_flow());
    }

    #[test]
    fn a_wait_pays_when_many_come() {
        let mut patience = Patience::new();
        patience.judge(MANY);
        assert!(patience.pays);
        patience.judge(1);
        assert!(!patience.pays);
        assert!(Patience::wants_more(MANY - 1) && !Patience::wants_more(MANY));
    }
}
