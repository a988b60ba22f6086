//! What a batch of SALSA saves: it publishes once for each line, and announces once.

extern crate cantina_on_sim as cantina;

use cantina::salsa::{Mode, Salsa};
use machine::engine::{Memory, Op, Simulation};
use machine::schedule::{Adversary, Schedule};
use machine::thread;
use machine::trace::{Choice, Slot};
use std::sync::{Arc, Mutex};

const SCENARIO: Slot = 0;

/// Tasks of a line.
const LINE: usize = 7;
/// Lines of a batch. The second one begins and ends in one word of the bitmap.
const LINES: usize = 4;
const BATCH: usize = LINE * LINES;
/// Such batches as are announced at once, and more.
const CHUNK: usize = 16 * BATCH;

/// Atomic stores, read-modify-writes and fences of either kind, in this order.
type Count = [usize; 3];

/// What `f` does, told to `steps`.
fn counted(steps: &Mutex<Count>, f: impl FnOnce()) -> Count {
    *steps.lock().unwrap() = Count::default();
    f();
    *steps.lock().unwrap()
}

/// What `BATCH` puts and gets do one by one, and in a batch: single puts, gets, batches of both.
fn puts_and_gets(mode: Mode) -> [Count; 4] {
    let steps = Arc::new(Mutex::new(Count::default()));
    let theirs = steps.clone();
    let watch = Schedule::Adversary(Adversary::new(move |view, _| {
        // The other one is there so that there is something to choose.
        let (_, about) = view.ready().find(|(slot, _)| *slot == SCENARIO)?;
        let about = about.op;
        let mut steps = theirs.lock().unwrap();
        steps[0] += usize::from(about == Op::Store);
        steps[1] += usize::from(about.is_rmw());
        steps[2] += usize::from(matches!(about, Op::Fence | Op::LightFence));
        Some(Choice::Run(SCENARIO))
    }));
    let outcome = Simulation::new().memory(Memory::Sequential).schedule(watch).run(|| {
        let other = thread::spawn(|| ());
        let pool = Salsa::builder().mode(mode).chunk_size(CHUNK).build().unwrap();
        let (mut put, mut get) = (pool.producer(), pool.consumer());
        // The chunk is begun, and in the hand.
        (0..LINE).for_each(|task| put.put(task));
        assert_eq!((0..LINE).filter_map(|_| get.get()).count(), LINE);
        let mut all = Vec::new();
        let counts = [
            counted(&steps, || (0..BATCH).for_each(|task| put.put(task))),
            counted(&steps, || all.extend((0..BATCH).filter_map(|_| get.get()))),
            counted(&steps, || assert_eq!(put.put_all(0..BATCH).unwrap(), BATCH)),
            counted(&steps, || assert_eq!(get.get_many(BATCH, &mut all), BATCH)),
        ];
        other.join().unwrap();
        assert!(all.into_iter().eq((0..BATCH).chain(0..BATCH)));
        counts
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}")).value
}

#[test]
fn a_batch_publishes_once_for_each_line_and_announces_once() {
    let [puts, gets, put_all, get_many] = puts_and_gets(Mode::Asymmetric);
    assert_eq!([puts, gets], [[BATCH, 0, 0], [BATCH, 0, BATCH]]);
    assert_eq!([put_all, get_many], [[LINES, 0, 0], [1, 0, 1]]);
}

#[test]
fn a_batch_is_claimed_at_once() {
    let [puts, gets, put_all, get_many] = puts_and_gets(Mode::Claim);
    assert_eq!([puts, gets], [[BATCH, 0, 0], [BATCH, BATCH, 0]]);
    // All of it lies in one word of the bitmap.
    assert_eq!([put_all, get_many], [[LINES, 0, 0], [1, 1, 0]]);
}
