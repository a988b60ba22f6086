//! Random programs over an owner queue, recorded and judged.

use cantina::owner_queue::{Owner, OwnerQueue};
use cantina_check::owner::{Call, OwnerCall, explain};
use machine::atomic::{AtomicU64, Ordering::SeqCst};
use machine::random::Random;
use machine::{Arc, thread};

struct Log {
    thread: usize,
    clock: Arc<AtomicU64>,
    calls: Vec<OwnerCall>,
}

impl Log {
    fn record<R>(&mut self, call: impl FnOnce() -> R, answer: impl FnOnce(&R) -> Call) -> R {
        let start = self.clock.fetch_add(1, SeqCst);
        let result = call();
        let end = self.clock.fetch_add(1, SeqCst);
        let call = answer(&result);
        self.calls.push(OwnerCall { thread: self.thread, start, end, call });
        result
    }

    /// Works off what it owns, and may go before the end.
    fn own(&mut self, owner: Option<Owner<u64>>, random: &mut Random) {
        let mut owned = owner;
        while let Some(owner) = owned.take() {
            if random.one_in(4) {
                self.record(|| drop(owner), |()| Call::Leave);
                return;
            }
            let next = self
                .record(|| owner.next(), |next| Call::Next(next.as_ref().map(|(item, _)| *item)));
            owned = next.map(|(_, owner)| owner);
        }
    }
}

/// Three threads that each do three things.
pub(crate) fn a_random_program_has_an_order(seed: u64) {
    let (queue, clock) = (OwnerQueue::recycling(2), Arc::new(AtomicU64::new(0)));
    let run = |number: usize| {
        let (queue, clock) = (queue.clone(), clock.clone());
        move || {
            let mut random = Random::seeded(seed * 4 + number as u64);
            let mut log = Log { thread: number, clock, calls: Vec::new() };
            let mut producer = queue.producer();
            for step in 0..3 {
                let item = (number * 10 + step) as u64;
                let owner = if random.one_in(4) {
                    log.record(|| queue.try_own(), |owner| Call::TryOwn(owner.is_some()))
                } else {
                    let added =
                        |owner: &Option<_>| Call::Enqueue { item, made_owner: owner.is_some() };
                    log.record(|| producer.enqueue(item), added)
                };
                log.own(owner, &mut random);
            }
            log.calls
        }
    };
    let others = [1, 2].map(|number| thread::spawn(run(number)));
    let mut calls = run(0)();
    others.into_iter().for_each(|other| calls.extend(other.join().unwrap()));
    assert!(explain(&calls).is_some(), "no order explains {calls:#?}");
}
