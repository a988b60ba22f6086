//! Handles that come and go while others work.

use super::account::balance;
use super::case::Case;
use super::finding::Finding;
use super::leaving::{Attic, Way};
use super::must;
use super::pool::{AnyPool, AnyWorker};
use super::traffic::{Calls, Getter, Putter};
use cantina::pool::TaskPool;
use machine::Arc;
use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::random::Random;
use machine::thread;
use std::panic::resume_unwind;

/// Threads whose handles live for a few calls each, beside one that stays.
pub(super) fn handles_come_and_go_while_others_work(case: &Case) -> Result<(), Finding> {
    let pool = case.pool();
    let churners = 3.min(case.effort.threads - 1);
    let coming_and_going = Arc::new(AtomicUsize::new(churners));
    let mut crew = case.crew();
    for index in 0..churners as u64 {
        let coming_and_going = coming_and_going.clone();
        let mut churner = Churner::new(pool.clone(), index, case.random());
        let lives = 2 + 5 * case.effort.rounds;
        crew.start(format!("thread {index}, whose handles come and go"), move |watch| {
            for life in 0..lives {
                watch.check("living")?;
                if life > 0 && watch.is_half_gone() {
                    break;
                }
                churner = churner.live()?;
            }
            // hint: the one that stays only wants to know when to stop.
            coming_and_going.fetch_sub(1, Relaxed);
            Ok(churner)
        });
    }
    let mut stays = Churner::new(pool.clone(), churners as u64, case.random());
    let mut worker = pool.worker();
    crew.start("the thread that stays", move |watch| {
        // hint: see above.
        while coming_and_going.load(Relaxed) > 0 {
            watch.check("staying")?;
            stays.work(both(&mut worker))?;
            thread::yield_now();
        }
        Ok(stays)
    });
    let churners = crew.join()?;
    let left = must::drain(&mut pool.consumer(), &case.watch)?;
    let put = churners.iter().flat_map(|churner| churner.put.iter().copied());
    let got = churners.iter().flat_map(|churner| churner.got.iter().copied());
    balance(put, got.chain(left))
}

/// A thread that takes handles, uses them a little, and lets them go, and what came of it.
struct Churner {
    pool: AnyPool<u64>,
    first: u64,
    random: Random,
    attic: Attic,
    put: Vec<u64>,
    got: Vec<u64>,
}

impl Churner {
    fn new(pool: AnyPool<u64>, index: u64, random: Random) -> Self {
        let attic = Attic::default();
        Self { pool, first: index << 32, random, attic, put: Vec::new(), got: Vec::new() }
    }

    /// One handle, from its coming to its going.
    fn live(mut self) -> Result<Self, Finding> {
        match self.random.below(8) {
            0..2 => {
                let mut producer = self.pool.producer();
                self.work(|putter, _| putter.step(&mut producer).map(|_| ()))?;
                self.leave(producer);
            }
            2..4 => {
                let mut consumer = self.pool.consumer();
                self.work(|_, getter| getter.step(&mut consumer).map(|_| ()))?;
                self.leave(consumer);
            }
            4..7 => {
                let mut worker = self.pool.worker();
                self.work(both(&mut worker))?;
                self.leave(worker);
            }
            _ => return self.die(),
        }
        Ok(self)
    }

    /// A thread that takes a handle, uses it, and dies with it.
    fn die(mut self) -> Result<Self, Finding> {
        let died = thread::spawn(move || {
            let mut worker = self.pool.worker();
            let worked = self.work(both(&mut worker));
            // What it has to tell comes out of its grave.
            resume_unwind(Box::new(worked.map(|()| self)));
        });
        match died.join().map_err(|will| will.downcast::<Result<Self, Finding>>()) {
            Err(Ok(will)) => *will,
            _ => Err(Finding::new("a thread to die of its own panic", "it did not")),
        }
    }

    /// A few steps, and what they put and got.
    fn work(
        &mut self,
        mut step: impl FnMut(&mut Putter, &mut Getter) -> Result<(), Finding>,
    ) -> Result<(), Finding> {
        let next = self.first + self.put.len() as u64;
        let [puts, gets] = [(); 2].map(|()| Random::seeded(self.random.next_u64()));
        let mut putter = Putter { numbers: next..u64::MAX, calls: Calls::Mixed, random: puts };
        let mut getter = Getter { got: Vec::new(), calls: Calls::Mixed, random: gets };
        for _ in 0..self.random.below(12) {
            step(&mut putter, &mut getter)?;
        }
        self.put.extend(next..putter.numbers.start);
        self.got.append(&mut getter.got);
        Ok(())
    }

    fn leave<H: Send + 'static>(&mut self, handle: H) {
        let way = match self.random.below(8) {
            0 if self.attic.len() < 3 => Way::Forgotten,
            1 => Way::WithItsThread,
            _ => Way::Dropped,
        };
        self.attic.leave(handle, way);
    }
}

/// The step of a worker: put, then get.
fn both(
    worker: &mut AnyWorker<u64>,
) -> impl FnMut(&mut Putter, &mut Getter) -> Result<(), Finding> {
    |putter, getter| {
        putter.step(worker)?;
        getter.step(worker)?;
        Ok(())
    }
}
