//! Scenarios: small programs that must come out right on every schedule.
//!
//! They are written once, part by part. A test target without a harness runs them its own way, each as a test of its own:
//! on real threads, on loom, on simulated schedules.

use crate::trial;
use libtest_mimic::{Arguments, run};

/// A scenario and its name.
pub type Scenario = (&'static str, fn());

/// A part of the library and its scenarios.
pub type Part = (&'static str, &'static [Scenario]);

/// A test for each scenario, `part::name_of_the_scenario`; ends the program. What is not right panics.
pub fn test_each(parts: &[Part], check: fn(part: &str, scenario: Scenario)) -> ! {
    let tests = parts.iter().flat_map(|&(part, scenarios)| {
        scenarios.iter().map(move |&scenario| {
            trial(format!("{part}::{}", identifier(scenario.0)), move || {
                check(part, scenario);
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
