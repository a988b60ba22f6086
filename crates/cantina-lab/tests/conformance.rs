//! Every registered pool through the conformance suite, on real threads.
//!
//! `CANTINA_SEED` chooses the seed of the random programs, `CANTINA_EFFORT` how many times over
//! everything is done. A name, or a part of one, runs only those: `locked::`, `jugglers`.

use cantina_lab::conformance::{Effort, trials};
use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let seed = number("CANTINA_SEED", 1);
    let effort = Effort::real().times(number("CANTINA_EFFORT", 1) as usize);
    let trials = trials()
        .into_iter()
        .map(|trial| {
            let effort = effort.clone();
            Trial::test(trial.name(), move || trial.run(&effort, seed).map_err(Failed::from))
        })
        .collect();
    // One after the other, unless told otherwise: each check keeps several cores busy.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    libtest_mimic::run(&arguments, trials).exit();
}

fn number(variable: &str, otherwise: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")),
        Err(_) => otherwise,
    }
}
