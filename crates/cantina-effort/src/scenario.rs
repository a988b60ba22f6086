//! Scenarios: small programs that must come out right on every schedule.
//!
//! They are written once, part by part. A test target without a harness runs them its own way, each as a test of its own:
//! on real threads, on loom, on simulated schedules.

use crate::trial;
use libtest_mimic::{Arguments, run};

/// A scenario and its name.
pub type Scenario = (&'static str, fn());

/// A part of the library, its scenarios, and who runs them.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Its scenarios.
    pub scenarios: &'static [Scenario],
    runs: Runs,
    preemptions: Option<usize>,
    others: &'static [(&'static str, usize)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runs {
    Everywhere,
    OnLoom,
    NotOnLoom,
}

impl Part {
    /// Scenarios that are run everywhere, with as many preemptions as loom has for all.
    pub const fn new(name: &'static str, scenarios: &'static [Scenario]) -> Self {
        Self { name, scenarios, runs: Runs::Everywhere, preemptions: None, others: &[] }
    }

    /// Loom has so many preemptions for each of them.
    pub const fn preemptions(self, most: usize) -> Self {
        Self { preemptions: Some(most), ..self }
    }

    /// Loom has so many preemptions for those of these names.
    pub const fn but(self, others: &'static [(&'static str, usize)]) -> Self {
        Self { others, ..self }
    }

    /// Tests of their own run them on the other machines.
    pub const fn only_on_loom(self) -> Self {
        Self { runs: Runs::OnLoom, ..self }
    }

    /// They are too long for loom.
    pub const fn not_on_loom(self) -> Self {
        Self { runs: Runs::NotOnLoom, ..self }
    }

    /// How many preemptions loom has for the scenario of that name, if it is said.
    pub fn preemptions_of(&self, scenario: &str) -> Option<usize> {
        let other = self.others.iter().find(|(name, _)| *name == scenario);
        other.map(|&(_, most)| most).or(self.preemptions)
    }

    /// Whether loom runs it.
    pub fn is_for_loom(&self) -> bool {
        self.runs != Runs::NotOnLoom
    }

    /// Whether threads and simulated schedules run it.
    pub fn is_for_others(&self) -> bool {
        self.runs != Runs::OnLoom
    }

    /// Names that no scenario has, of those that have preemptions of their own.
    fn lost(&self) -> impl Iterator<Item = &'static str> {
        let is_here = |wanted: &&str| self.scenarios.iter().any(|(name, _)| name == wanted);
        self.others.iter().map(|&(name, _)| name).filter(move |name| !is_here(name))
    }
}

/// A test for each scenario of the `parts`, `part::name_of_the_scenario`; ends the program. What is not right panics.
pub fn test_each<'a>(
    parts: impl IntoIterator<Item = &'a Part>,
    check: fn(part: &Part, scenario: Scenario),
) -> ! {
    let tests = parts.into_iter().copied().flat_map(|part| {
        let lost: Vec<_> = part.lost().collect();
        assert!(lost.is_empty(), "{} has no scenarios that are called {lost:?}", part.name);
        part.scenarios.iter().map(move |&scenario| {
            trial(format!("{}::{}", part.name, identifier(scenario.0)), move || {
                check(&part, scenario);
                Ok(())
            })
        })
    });
    run(&Arguments::from_args(), tests.collect()).exit()
}

/// `a name, as text` becomes `a_name_as_text`.
fn identifier(name: &str) -> String {
    name.replace(',', "").replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::{Part, identifier};

    const PART: Part = Part::new("part", &[("short, of two", || ()), ("long", || ())]);

    #[test]
    fn a_part_says_how_many_preemptions_its_scenarios_have() {
        assert_eq!(PART.preemptions_of("long"), None);
        let some = PART.preemptions(3).but(&[("long", 1)]);
        assert_eq!(some.preemptions_of("long"), Some(1));
        assert_eq!(some.preemptions_of("short, of two"), Some(3));
        assert_eq!(some.lost().next(), None);
        assert!(some.but(&[("lung", 1)]).lost().eq(["lung"]));
    }

    #[test]
    fn a_part_says_where_it_runs() {
        let runs = |part: Part| (part.is_for_loom(), part.is_for_others());
        assert_eq!(runs(PART), (true, true));
        assert_eq!(runs(PART.only_on_loom()), (true, false));
        assert_eq!(runs(PART.not_on_loom()), (false, true));
    }

    #[test]
    fn names_become_those_of_tests() {
        assert_eq!(identifier("short, of two"), "short_of_two");
    }
}
