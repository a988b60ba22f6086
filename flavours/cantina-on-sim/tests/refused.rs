//! What SALSA does when the operating system takes back what it had allowed.

extern crate cantina_on_sim as cantina;

use cantina::salsa::{Builder, Salsa};
use machine::engine::Simulation;
use machine::fence::refuse_heavy;
use std::panic::{AssertUnwindSafe, catch_unwind};

const CHUNK: usize = 4;
const STEPS: u64 = 1 << 26;

/// An owner begins with the first of the chunks of a pool; then a thief comes, and is refused for a while.
fn what_cannot_be_stolen(chunks: usize, builder: fn() -> Builder<usize>) {
    let tasks = chunks * CHUNK;
    let got = Simulation::new().steps(STEPS).run(move || {
        let pool = builder().chunk_size(CHUNK).build().unwrap();
        let (mut owner, mut thief) = (pool.consumer(), pool.consumer());
        pool.producer().put_all(0..tasks).unwrap();
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
    let got = got.unwrap_or_else(|failure| panic!("{failure}")).value;
    assert!(got.into_iter().eq(0..tasks));
}

#[test]
fn what_cannot_be_stolen_is_said_and_not_lost() {
    what_cannot_be_stolen(2, || Salsa::builder().patience(0));
}

/// There is nothing that it would steal at first sight, so it looks whether all is empty before it tries again.
#[test]
fn a_patient_thief_steals_again_when_it_is_allowed_to() {
    what_cannot_be_stolen(1, Salsa::builder);
}
