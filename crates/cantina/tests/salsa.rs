//! What only SALSA promises.

use cantina::pool::Full;
use cantina::salsa::policy::{Candidate, Policy, RandomVictim, RoundRobin, Seeker};
use cantina::salsa::{Bounded, Consumer, Mode, Salsa};
use machine::Topology;
use machine::topology::CoreId;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Also those that it had retired and that others may still have looked at.
#[test]
fn chunks_of_consumers_that_have_left_are_counted_no_more() {
    const CONSUMERS: usize = 16;
    let pool = small(2);
    for _ in 0..20 {
        let mut producer = pool.producer();
        let mut consumers: Vec<_> = (0..CONSUMERS).map(|_| pool.consumer()).collect();
        producer.put_all(0..40 * CONSUMERS as u64).unwrap();
        let mut got = 0;
        while got < 40 * CONSUMERS {
            got += consumers.iter_mut().filter_map(Consumer::get).count();
        }
    }
    let chunks = pool.metrics().chunks;
    assert!(chunks <= CONSUMERS, "one left open at each home at most: {chunks}");
}

/// Small chunks and no patience.
fn small(chunk_size: usize) -> Salsa<u64> {
    Salsa::builder().chunk_size(chunk_size).patience(0).build().unwrap()
}

#[test]
fn producers_that_come_for_one_put_share_a_chunk() {
    let pool = Salsa::new();
    let mut get = pool.consumer();
    for task in 0..100 {
        pool.producer().put(task);
    }
    assert_eq!(pool.metrics().chunks, 1);
    assert_eq!(get.drain().collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_producer_whose_near_consumers_have_left_puts_to_a_far_one() {
    let pool = Salsa::builder().chunk_size(4).topology(Topology::mock(2, 1)).build().unwrap();
    let near = pool.consumer_on(CoreId(0)).unwrap();
    let mut far = pool.consumer_on(CoreId(1)).unwrap();
    drop(near);
    pool.producer_on(CoreId(0)).put_all(0..40_u64).unwrap();
    assert_eq!(far.drain().count(), 40);
    assert_eq!(pool.metrics().steals, 0, "all was put to the one that is there");
}

#[test]
fn a_leaked_consumer_keeps_no_task() {
    let pool = small(4);
    let mut leaked = pool.consumer();
    let mut put = pool.producer();
    put.put_all(0..20).unwrap();
    let first = leaked.get().unwrap();
    // As good as leaked, and a sanitizer that looks for leaks finds it here.
    static LEAKED: Mutex<Vec<Consumer<u64>>> = Mutex::new(Vec::new());
    LEAKED.lock().unwrap().push(leaked);
    let mut got: Vec<u64> = pool.consumer().drain().collect();
    got.push(first);
    got.sort_unstable();
    assert_eq!(got, (0..20).collect::<Vec<_>>());
}

#[test]
fn a_consumer_whose_thread_died_keeps_no_task() {
    let pool = small(4);
    let mut put = pool.producer();
    let theirs = pool.clone();
    let dies = thread::spawn(move || {
        let mut get = theirs.consumer();
        put.put_all(0..20).unwrap();
        assert_eq!(get.get(), Some(0));
        panic!("on purpose");
    });
    assert!(dies.join().is_err());
    assert_eq!(pool.consumer().drain().count(), 19);
}

#[test]
fn chunks_that_are_never_stolen_are_emptied_without_claims() {
    let modes = [Mode::Fence, Mode::Asymmetric].into_iter();
    for (mode, chunk_size) in modes.flat_map(|mode| [1, 2, 4, 100].map(|size| (mode, size))) {
        let builder = Salsa::builder().chunk_size(chunk_size).mode(mode);
        // Not every machine has the second.
        let Ok(pool) = builder.build() else { continue };
        let mut worker = pool.worker();
        for task in 0..100 {
            worker.put(task);
            assert_eq!(worker.get(), Some(task));
        }
        drop(worker);
        let metrics = pool.metrics();
        // One for each chunk, to retire it.
        assert_eq!(metrics.cas, 100 / chunk_size as u64, "chunks of {chunk_size}");
        assert_eq!((metrics.gets, metrics.steals), (100, 0));
    }
}

#[test]
fn claims_are_one_for_each_task() {
    let pool = Salsa::builder().mode(Mode::Claim).build().unwrap();
    let mut worker = pool.worker();
    for task in 0..100 {
        worker.put(task);
        assert_eq!(worker.get(), Some(task));
    }
    drop(worker);
    assert_eq!(pool.metrics().cas_per_get(), Some(1.0));
}

#[test]
fn claims_go_on_behind_a_batch_that_has_seen_more() {
    for chunk_size in [20, 50, 1_000] {
        let builder = Salsa::builder().mode(Mode::Claim).chunk_size(chunk_size);
        let pool = builder.build().unwrap();
        let mut worker = pool.worker();
        (0..100).for_each(|task| worker.put(task));
        let mut got = Vec::new();
        while let Some(task) = worker.get() {
            got.push(task);
            worker.get_many(3, &mut got);
            got.extend(worker.get());
        }
        got.sort_unstable();
        assert_eq!(got, (0..100).collect::<Vec<u64>>(), "chunks of {chunk_size}");
        drop(worker);
        assert_eq!(pool.metrics().gets, 100);
    }
}

#[test]
fn a_stolen_chunk_goes_whole() {
    let pool = small(100);
    let (mut owner, mut thief) = (pool.consumer(), pool.consumer());
    let mut put = pool.producer();
    put.put_all(0..50).unwrap();
    assert_eq!(owner.get(), Some(0));
    assert_eq!(thief.drain().count(), 49);
    drop((owner, thief));
    assert_eq!(pool.metrics().steals, 1);
}

#[test]
fn a_consumer_is_patient_with_a_busy_one_and_not_with_one_that_left() {
    let pool = Salsa::<u64>::new();
    let (owner, mut thief) = (pool.consumer(), pool.consumer());
    let mut put = pool.producer();
    put.put(1);
    // It does not come back, so it is stolen from after a while.
    assert_eq!(thief.get(), Some(1));
    drop(owner);
    put.put(2);
    assert_eq!(thief.get(), Some(2));
}

#[test]
fn producers_prefer_consumers_on_their_node() {
    let pool = Salsa::<u64>::builder().topology(Topology::mock(2, 1)).patience(0).build().unwrap();
    let mut near = [0, 1].map(|core| pool.consumer_on(CoreId(core)).unwrap());
    let mut put = [0, 1].map(|core| pool.producer_on(CoreId(core)));
    for (node, put) in put.iter_mut().enumerate() {
        (0..10).for_each(|task| put.put(10 * node as u64 + task));
    }
    for (node, get) in near.iter_mut().enumerate() {
        let got: Vec<u64> = (0..10).filter_map(|_| get.get()).collect();
        assert_eq!(got, (0..10).map(|task| 10 * node as u64 + task).collect::<Vec<_>>());
    }
    drop(near);
    assert_eq!(pool.metrics().steals, 0);
}

#[test]
fn thieves_steal_near_before_far() {
    let pool = Salsa::<u64>::builder().topology(Topology::mock(2, 2)).patience(0).build().unwrap();
    let consumer = |core| pool.consumer_on(CoreId(core)).unwrap();
    let (_far, _near, mut thief) = (consumer(0), consumer(2), consumer(3));
    for core in [0, 2] {
        let mut put = pool.producer_on(CoreId(core));
        // Past the thief's own home, which is as near.
        (0..3).for_each(|_| put.put(core as u64));
    }
    let got: Vec<u64> = thief.drain().collect();
    assert_eq!(got, [2, 2, 2, 0, 0, 0]);
}

#[test]
fn a_producer_avoids_a_consumer_that_is_behind() {
    let steals = |balancing| {
        let pool: Salsa<u64> =
            Salsa::builder().chunk_size(10).patience(0).balancing(balancing).build().unwrap();
        let _behind = pool.consumer();
        let mut get = pool.consumer();
        let mut put = pool.producer();
        for round in 0..100 {
            put.put_all(10 * round..10 * (round + 1)).unwrap();
            assert_eq!((0..10).filter_map(|_| get.get()).count(), 10);
        }
        drop(get);
        pool.metrics().steals
    };
    assert!(steals(true) <= 3, "{}", steals(true));
    assert!(steals(false) >= 90, "{}", steals(false));
}

#[test]
fn a_worker_keeps_what_it_is_not_behind_with() {
    let own = |chunks: u64| {
        let pool: Salsa<u64> =
            Salsa::builder().chunk_size(10).patience(0).spares(4).build().unwrap();
        let mut other = pool.worker();
        for task in 0..100 {
            other.put(task);
            assert_eq!(other.get(), Some(task));
        }
        assert!(pool.metrics().spare_chunks > 0, "there is room elsewhere");
        let mut worker = pool.worker();
        worker.put_all(0..10 * chunks).unwrap();
        assert_eq!(worker.drain().count() as u64, 10 * chunks);
        pool.metrics().steals == 0
    };
    assert!(own(4), "as many chunks as it may keep as spares");
    assert!(!own(6), "the others help with more");
}

#[test]
fn a_policy_is_a_value() {
    /// Puts everything to the last home.
    #[derive(Debug)]
    struct Last;
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    impl Policy for Last {
        fn arrange(&self, _: &Topology, _: &Seeker, homes: &mut [Candidate]) {
            ASKED.fetch_add(1, Ordering::Relaxed);
            homes.reverse();
        }
    }
    let pool = Salsa::<u64>::builder().policy(Last).build().unwrap();
    let (_first, mut last) = (pool.consumer(), pool.consumer());
    let mut put = pool.producer();
    put.put_all(0..10).unwrap();
    assert_eq!((0..10).filter_map(|_| last.get()).count(), 10);
    drop(last);
    assert_eq!(pool.metrics().steals, 0);
    assert!(ASKED.load(Ordering::Relaxed) > 0);
}

#[test]
fn every_policy_gets_everything() {
    let pools = [
        Salsa::<u64>::builder().policy(RoundRobin).chunk_size(3).patience(0).build().unwrap(),
        Salsa::<u64>::builder().policy(RandomVictim).chunk_size(3).patience(0).build().unwrap(),
    ];
    for pool in pools {
        let mut workers: Vec<_> = (0..4).map(|_| pool.worker()).collect();
        for (number, worker) in workers.iter_mut().enumerate() {
            worker.put_all(10 * number as u64..10 * (number as u64 + 1)).unwrap();
        }
        let mut got: Vec<u64> = workers[2].drain().collect();
        got.sort_unstable();
        assert_eq!(got, (0..40).collect::<Vec<_>>());
    }
}

#[test]
fn nonsense_is_refused_with_what_is_allowed() {
    let refused = |builder: cantina::salsa::Builder<u64>| builder.build().unwrap_err().to_string();
    let builder = Salsa::<u64>::builder;
    assert_eq!(refused(builder().chunk_size(0)), "chunk_size cannot be 0: 1 to 65535");
    assert_eq!(refused(builder().chunk_size(70_000)), "chunk_size cannot be 70000: 1 to 65535");
    let most = usize::MAX;
    let expected = format!("chunk_size cannot be {most}: 1 to 65535");
    assert_eq!(refused(builder().chunk_size(most)), expected);
    assert_eq!(refused(builder().max_consumers(0)), "max_consumers cannot be 0: 1 to 4094");
    assert_eq!(refused(builder().max_consumers(4_095)), "max_consumers cannot be 4095: 1 to 4094");
    assert_eq!(refused(builder().spares(0)), "spares cannot be 0: 1 to 1024");
    for topology in [Topology::mock(0, 4), Topology::mock(2, 0)] {
        let expected =
            "topology cannot be one without cores: at least one node with at least one core";
        assert_eq!(refused(builder().topology(topology)), expected);
    }
    let error = Bounded::<u64>::builder().capacity(0).build().unwrap_err();
    assert_eq!(error.to_string(), "capacity cannot be 0: at least 1");
    let error = Bounded::<u64>::builder().chunk_size(0).build().unwrap_err();
    assert_eq!(error.to_string(), "chunk_size cannot be 0: 1 to 65535");
    // As much room as one likes: nothing is reserved.
    assert!(Bounded::<u64>::builder().capacity(most).build().is_ok());
}

#[test]
fn too_many_consumers_are_an_error() {
    let pool = Salsa::<u64>::builder().max_consumers(2).build().unwrap();
    let one = pool.consumer();
    let _two = pool.worker();
    assert_eq!(pool.try_consumer().unwrap_err().limit, 2);
    assert!(pool.try_worker().is_err());
    drop(one);
    assert!(pool.try_consumer().is_ok());
}

#[test]
fn a_bounded_pool_has_ends_near_a_core() {
    let builder = Bounded::builder().topology(Topology::mock(2, 1)).capacity(8).chunk_size(2);
    let pool = builder.max_consumers(2).build().unwrap();
    assert_eq!(pool.chunk_size(), 2);
    let mut near = pool.consumer_on(CoreId(1)).unwrap();
    let _far = pool.consumer_on(CoreId(0)).unwrap();
    assert_eq!(pool.consumer_on(CoreId(0)).unwrap_err().limit, 2);
    let mut producer = pool.producer_on(CoreId(1));
    producer.put_all(0..4).unwrap();
    assert_eq!(near.drain().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(pool.metrics().steals, 0);
}

#[test]
fn a_bounded_pool_holds_its_capacity_and_no_more() {
    for capacity in [1, 2, 100, 127, 1_000] {
        let pool = Bounded::<u64>::builder().capacity(capacity).chunk_size(8).build().unwrap();
        let mut put = pool.producer();
        let inside = (0..).take_while(|task| put.try_put(*task).is_ok()).count();
        assert_eq!(inside, capacity);
        assert_eq!(put.try_put(7), Err(Full(7)));
        assert_eq!(pool.len_hint(), capacity);
        // Others' pockets may have what is missing.
        let mut get = pool.consumer();
        assert!(get.get().is_some());
        let early = put.try_put(8).is_err();
        assert!(!early || pool.full_slack() > 0, "{capacity}");
        assert_eq!(get.drain().count(), capacity - usize::from(early));
        // Who finds nothing gives everything back.
        assert_eq!(put.put_all(0..capacity as u64).unwrap(), capacity);
    }
}

#[test]
fn a_worker_of_a_bounded_pool_puts_with_the_room_that_it_made_itself() {
    // In lots of two: one credit is not given back yet.
    let pool = Bounded::<u64>::builder().capacity(128).build().unwrap();
    let mut worker = pool.worker();
    assert_eq!(worker.put_all(0..128).unwrap(), 128);
    assert_eq!(worker.try_put(7), Err(Full(7)));
    assert!(worker.get().is_some());
    assert_eq!(worker.try_put(8), Ok(()));
    assert_eq!(worker.try_put(9), Err(Full(9)));
    assert!(worker.get().is_some());
    assert_eq!(worker.put_all([10]).unwrap(), 1);
}

#[test]
fn a_bounded_pool_is_never_full_when_half_empty() {
    let pool = Bounded::<u64>::builder().capacity(1_024).build().unwrap();
    // All rights taken, and each end left with as many credits as it keeps.
    let mut idle: Vec<_> = (0..40).map(|_| (pool.producer(), pool.consumer())).collect();
    for (put, get) in &mut idle {
        put.try_put(0).unwrap();
        assert!(get.get().is_some());
    }
    let mut put = pool.producer();
    let inside = (0..).take_while(|task| put.try_put(*task).is_ok()).count();
    assert!(inside >= 1_024 - pool.full_slack(), "{inside}");
    assert!(inside > 512 && pool.full_slack() <= 512, "{inside}");
}

#[test]
fn workers_without_a_right_to_a_lot_keep_none() {
    const CAPACITY: usize = 1_024;
    let pool = Bounded::<usize>::builder().capacity(CAPACITY).build().unwrap();
    // The rights of those who put are gone when the workers come, and are used.
    let mut first: Vec<_> = (0..16).map(|_| pool.producer()).collect();
    first.iter_mut().for_each(|put| put.try_put(0).unwrap());
    let mut workers: Vec<_> = (0..16).map(|_| pool.worker()).collect();
    let mut last = pool.producer();
    for worker in &mut workers {
        // Each has the right to keep fewer than 16, which it has got.
        for _ in 0..2 {
            (0..15).for_each(|task| last.try_put(task).unwrap());
            assert!((0..15).all(|_| worker.get().is_some()));
            worker.try_put(1).unwrap();
        }
    }
    let mut others = CAPACITY;
    while last.try_put(2).is_ok() {
        others -= 1;
    }
    let inside = first.len() + 2 * workers.len() + CAPACITY - others;
    assert!(inside >= CAPACITY - pool.full_slack(), "{inside}");
    assert!(inside > CAPACITY / 2, "{inside}");
}

#[test]
fn an_iterator_that_has_ended_is_not_asked_again() {
    let pool = Bounded::<u32>::builder().capacity(1_024).build().unwrap();
    let mut turn = 0;
    let goes_on = std::iter::from_fn(|| {
        turn += 1;
        (turn % 3 != 0).then_some(turn)
    });
    assert_eq!(pool.producer().put_all(goes_on).unwrap(), 2);
    assert_eq!(turn, 3);
}

#[test]
fn debug_says_something_and_blocks_nobody() {
    let pool = Salsa::<u64>::new();
    let ends = (pool.producer(), pool.consumer(), pool.worker());
    let text = format!("{pool:?} {ends:?} {:?}", Salsa::<u64>::builder());
    assert!(text.contains("Salsa") && text.contains("chunk_size"), "{text}");
    let bounded = Bounded::<u64>::new();
    let ends = (bounded.producer(), bounded.consumer(), bounded.worker());
    assert!(format!("{bounded:?} {ends:?}").contains("1024"));
}
