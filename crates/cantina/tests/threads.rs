//! The scenarios on real threads, many times over.

mod scenarios;

#[test]
fn the_scenarios_come_out_right_on_real_threads() {
    for (name, scenario) in scenarios::ALL {
        println!("{name}");
        (0..2_000).for_each(|_| scenario());
    }
}
