//! What SALSA does when the operating system takes back what it had allowed.

extern crate cantina_on_sim as cantina;

use cantina::salsa::Salsa;
use machine::engine::Simulation;
use machine::fence::refuse_heavy;
use std::panic::{AssertUnwindSafe, catch_unwind};

const TASKS: usize = 8;
const STEPS: u64 = 1 << 26;

#[test]
fn what_cannot_be_stolen_is_said_and_not_lost() {
    let got = Simulation::new().steps(STEPS).run(|| {
        let pool = Salsa::builder().chunk_size(4).patience(0).build().unwrap();
        let (mut owner, mut thief) = (pool.consumer(), pool.consumer());
        pool.producer().put_all(0..TASKS).unwrap();
        let mut got: Vec<usize> = owner.get().into_iter().collect();
        refuse_heavy(true);
        let tries = || {
            while let Some(task) = thief.get() {
                got.push(task);
            }
        };
        let panic = catch_unwind(AssertUnwindSafe(tries)).unwrap_err();
        refuse_heavy(false);
        assert!(panic.downcast_ref::<&str>().unwrap().contains("membarrier"));
        got.extend(thief.drain().chain(owner.drain()));
        got.sort_unstable();
        got
    });
    assert!(got.unwrap().value.into_iter().eq(0..TASKS));
}
