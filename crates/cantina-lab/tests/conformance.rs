//! Every registered pool through the conformance suite, on real threads.
//!
//! A name, or a part of one, runs only those: `locked::`, `jugglers`.

use cantina_effort::Effort as Asked;
use cantina_lab::conformance::{Effort, trials};
use cantina_record::Kind;
use libtest_mimic::{Arguments, Failed};

/// What the gate has time for, of what the suite does by itself, and for contenders.
const GATE: f64 = 0.3;
const OF_CONTENDERS: f64 = 0.15;
/// What the deep run does.
const DEEP: f64 = 3.0;

fn main() {
    let seed = cantina_effort::seed(1);
    let trials = trials()
        .into_iter()
        .map(|trial| {
            let gate = if trial.kind() == Kind::Ours { GATE } else { OF_CONTENDERS };
            let effort = match Asked::asked() {
                Asked::Times(times) => Effort::real().times(gate * times),
                Asked::Deep => Effort::real().times(DEEP),
            };
            cantina_effort::trial(trial.name(), move || {
                trial.run(&effort, seed).map_err(Failed::from)
            })
        })
        .collect();
    // One after the other, unless told otherwise: each check keeps several cores busy.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(1);
    libtest_mimic::run(&arguments, trials).exit();
}
