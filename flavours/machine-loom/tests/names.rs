//! The source that the real and the simulated machine run, on loom.

mod on_loom {
    use machine_loom as machine;
    include!("../../../crates/cantina-sim/tests/facade/names.rs");
}

#[test]
fn a_model_has_every_name() {
    let mut model = loom::model::Builder::new();
    // That every name is there, and not what comes of all schedules.
    model.preemption_bound = Some(0);
    model.check(on_loom::uses_every_name);
}
