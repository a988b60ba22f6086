//! Threads that die, at each of their steps: all combinations, or some of them, drawn by lot.

use machine::engine::{Simulation, ThreadId};
use machine::random::Random;
use std::ops::Range;

/// So many seeds in the gate and in the deep run, from the one on that is asked for.
pub(crate) fn seeds(gate: u64, deep: u64) -> Range<u64> {
    let first = cantina_effort::seed(0);
    first..first.saturating_add(cantina_effort::rounds(gate, deep))
}

/// What is tried, and what came of it.
struct Trials<F> {
    scenario: F,
    /// Threads that die, from the first one after the scenario's on.
    dead: u32,
    of_a_hundred: u64,
    random: Random,
    runs: u64,
    /// Runs in which all of them died.
    all_died: u64,
}

/// Runs `scenario` with its first `dead` threads stopped for ever, after all combinations of numbers of their steps. In the gate
/// after so many of a hundred of these, drawn by lot; with more effort after more, and in the deep run after all.
pub(crate) fn die<F>(simulation: &Simulation, dead: u32, of_a_hundred: u64, scenario: F)
where
    F: Fn() + Copy + Send + 'static,
{
    let of_a_hundred = cantina_effort::rounds(of_a_hundred, 100);
    let random = Random::seeded(of_a_hundred);
    let mut trials = Trials { scenario, dead, of_a_hundred, random, runs: 0, all_died: 0 };
    trials.each_step_of(1, simulation, &mut Vec::new());
    let Trials { runs, all_died, .. } = trials;
    println!("{runs} runs, in {all_died} all of {dead} died");
    assert!(all_died > 0, "in none of {runs} runs all of {dead} died");
}

impl<F: Fn() + Copy + Send + 'static> Trials<F> {
    /// Tries all steps of a thread and of those after it. Those who died in any of these runs, a bit each; nothing if there
    /// was none.
    fn each_step_of(
        &mut self,
        thread: u32,
        simulation: &Simulation,
        steps: &mut Vec<u64>,
    ) -> Option<u64> {
        if thread > self.dead {
            let is_drawn = (self.random.below(100) as u64) < self.of_a_hundred;
            return is_drawn.then(|| self.run(simulation, steps));
        }
        let mut dead = 0;
        for step in 0.. {
            steps.push(step);
            let simulation = simulation.clone().crash(ThreadId(thread), step);
            let died = self.each_step_of(thread + 1, &simulation, steps);
            steps.pop();
            dead |= died.unwrap_or(0);
            // It has come to its end before.
            if died.is_some_and(|died| died & 1 << thread == 0) {
                break;
            }
        }
        Some(dead)
    }

    fn run(&mut self, simulation: &Simulation, steps: &[u64]) -> u64 {
        let outcome = simulation.clone().run(self.scenario);
        let outcome = outcome.unwrap_or_else(|it| panic!("dead after {steps:?}: {it}"));
        self.runs += 1;
        self.all_died += u64::from(outcome.crashed.len() == self.dead as usize);
        outcome.crashed.iter().fold(0, |dead, (thread, _)| dead | 1 << thread.0)
    }
}
