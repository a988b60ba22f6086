//! The same source runs on the real and on the simulated machine.

mod on_the_real_machine {
    use cantina_machine as machine;
    include!("facade/names.rs");
}

mod on_the_simulated_machine {
    use cantina_sim as machine;
    include!("facade/names.rs");
}

use cantina_sim::engine::{Simulation, run};

#[test]
fn the_real_machine_has_every_name() {
    on_the_real_machine::uses_every_name();
}

#[test]
fn the_simulated_machine_has_every_name() {
    (0..50).for_each(|seed| run(seed, on_the_simulated_machine::uses_every_name));
}

#[test]
fn the_timed_machine_has_every_name() {
    for seed in 0..10 {
        let simulation = Simulation::new().seed(seed);
        simulation.run_timed(on_the_simulated_machine::uses_every_name).unwrap();
    }
}
