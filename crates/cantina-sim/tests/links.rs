//! Links are as wide as they are: who streams from one node gets what its link lets through.

use cantina_sim::atomic::AtomicUsize;
use cantina_sim::atomic::Ordering::{AcqRel, Acquire};
use cantina_sim::cost::{Machine, Placement};
use cantina_sim::engine::Simulation;
use cantina_sim::time::nanos;
use cantina_sim::topology::CoreId;
use cantina_sim::{Arc, thread, touch_read};

/// Lines that each thread reads, one after the other.
const LINES: usize = 400;
/// Cores of the node that has the memory.
const HOME: usize = 4;

/// Lines per microsecond that `threads` threads read, none of them on the first node.
fn streamed(machine: Machine, threads: usize) -> f64 {
    let outcome = Simulation::new().machine(machine).run_timed(|| {
        let memory: Arc<Vec<u8>> = Arc::new(vec![0; (threads + 1) * LINES * 64]);
        let missing = Arc::new(AtomicUsize::new(threads));
        let readers: Vec<_> = (0..threads)
            .map(|number| (number, memory.clone(), missing.clone()))
            .map(|(number, memory, missing)| {
                thread::spawn(move || {
                    thread::pin_to(CoreId(HOME + number)).unwrap();
                    missing.fetch_sub(1, AcqRel);
                    while missing.load(Acquire) > 0 {
                        thread::spin_loop();
                    }
                    let start = nanos();
                    for line in 0..LINES {
                        touch_read(&raw const memory[(number * LINES + line) * 64], 64);
                    }
                    (start, nanos())
                })
            })
            .collect();
        let times: Vec<_> = readers.into_iter().map(|reader| reader.join().unwrap()).collect();
        let start = times.iter().map(|time| time.0).min().unwrap();
        times.iter().map(|time| time.1).max().unwrap() - start
    });
    (threads * LINES) as f64 * 1e3 / outcome.unwrap().value as f64
}

#[test]
fn streaming_from_one_node_saturates_its_link() {
    let central = || Machine::opteron_8x4().placement(Placement::OneNode(0));
    let rates = [1, 4, 16, 28].map(|threads| streamed(central(), threads));
    assert!(rates[1] > 3.0 * rates[0], "few readers do not feel each other: {rates:?}");
    assert!(rates[3] < 1.1 * rates[2], "more readers than the link has room for: {rates:?}");
    // A line every 23 cycles, at 2300 MHz.
    assert!((90.0..101.0).contains(&rates[3]), "{rates:?}");
    let slow = streamed(central().link_speed(50), 28);
    assert!((45.0..51.0).contains(&slow), "{slow}");
}

#[test]
fn streaming_from_everywhere_saturates_nothing() {
    let rate = |placement, threads| streamed(Machine::opteron_8x4().placement(placement), threads);
    let local = [1, 28].map(|threads| rate(Placement::Local, threads));
    assert!(local[1] > 25.0 * local[0], "{local:?}");
    let scattered = [1, 28].map(|threads| rate(Placement::Scattered, threads));
    assert!(scattered[1] > 20.0 * scattered[0], "{scattered:?}");
    let central = rate(Placement::OneNode(0), 28);
    assert!(scattered[1] > 1.9 * central, "{scattered:?} {central}");
}
