//! The scenarios of the contenders on every schedule with few preemptions.

extern crate lab_on_loom as cantina_lab;

#[path = "../../../crates/cantina-lab/tests/scenarios/mod.rs"]
mod scenarios;

#[test]
fn the_scenarios_come_out_right_on_every_schedule() {
    let bound = std::env::var("BOUND").map_or(Some(2), |b| b.parse().ok());
    let only = std::env::var("ONLY").unwrap_or_default();
    for (name, scenario) in scenarios::all() {
        if !name.contains(&only) { continue }
        let start = std::time::Instant::now();
        let mut model = loom::model::Builder::new();
        model.preemption_bound = bound;
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let c = count.clone();
        model.check(move || { c.fetch_add(1, std::sync::atomic::Ordering::Relaxed); scenario() });
        println!("{name} {:?} {}", start.elapsed(), count.load(std::sync::atomic::Ordering::Relaxed));
    }
}
