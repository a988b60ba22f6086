//! Who puts where in SALSA, and who steals from whom, on machines that are only said to be there.

use cantina::salsa::policy::{
    Candidate, NearestFirst, Policy, Random, RandomVictim, RoundRobin, Seeker,
};
use cantina::salsa::{Bounded, Consumer, Producer, Salsa};
use machine::Topology;
use machine::topology::{CoreId, NodeId};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Consumers that tasks are put to, each with a producer that puts to it.
const VICTIMS: usize = 3;

/// A pool of chunks of one task, its consumers, producers in the same order, and one more consumer.
type Crew = (Salsa<usize>, Vec<Consumer<usize>>, Vec<Producer<usize>>, Consumer<usize>);

fn crew(policy: impl Policy + 'static) -> Crew {
    let builder = Salsa::builder().topology(Topology::mock(1, 4)).policy(policy);
    // Or else the thief's empty chunks would be filled.
    let pool = builder.chunk_size(1).patience(0).balancing(false).build().unwrap();
    let consumer = |core| pool.consumer_on(CoreId(core)).unwrap();
    let victims = (0..VICTIMS).map(consumer).collect();
    let thief = consumer(VICTIMS);
    // Each begins with another home, in the order in which they come.
    let producers = (0..VICTIMS).map(|_| pool.producer_on(CoreId(0))).collect();
    (pool, victims, producers, thief)
}

/// Which victims' tasks the thief gets, if the second has two, and the first gets another one meanwhile.
fn stolen_from(policy: impl Policy + 'static) -> Vec<usize> {
    let (_pool, _victims, mut producers, mut thief) = crew(policy);
    [0, 1, 1].into_iter().for_each(|victim| producers[victim].put(victim));
    let mut got: Vec<usize> = (0..2).filter_map(|_| thief.get()).collect();
    producers[0].put(0);
    got.extend(thief.drain());
    got
}

#[test]
fn who_steals_in_turn_goes_on_where_it_found_something() {
    assert_eq!(stolen_from(RoundRobin), [0, 1, 1, 0]);
}

#[test]
fn who_steals_from_the_nearest_begins_with_it_each_time() {
    assert_eq!(stolen_from(NearestFirst), [0, 1, 0, 1]);
}

#[test]
fn who_steals_at_random_comes_to_all() {
    let mut first = [0; VICTIMS];
    // One of them would be left out once in 10^17 times.
    for _ in 0..100 {
        let (_pool, _victims, mut producers, mut thief) = crew(RandomVictim);
        // These, too, put to whom they happen to come to.
        (0..4 * VICTIMS).for_each(|task| producers[task % VICTIMS].put(task % VICTIMS));
        let got: Vec<usize> = thief.drain().collect();
        assert_eq!(got.len(), 4 * VICTIMS);
        first[got[0]] += 1;
    }
    assert!(first.iter().all(|times| *times > 0), "{first:?}");
}

#[test]
fn thieves_go_from_node_to_node_by_distance() {
    let cores = (0..4).map(|core| vec![CoreId(core)]).collect();
    // The last node is nearest to the third, then to the first, then to the second.
    let distances = vec![
        vec![10, 20, 20, 20],
        vec![20, 10, 20, 30],
        vec![20, 20, 10, 15],
        vec![20, 30, 15, 10],
    ];
    let topology = Topology::new(cores, distances).unwrap();
    let pool = Salsa::builder().topology(topology).patience(0).build().unwrap();
    let mut consumers: Vec<_> =
        (0..4).map(|core| pool.consumer_on(CoreId(core)).unwrap()).collect();
    let mut producers: Vec<_> = (0..4).map(|core| pool.producer_on(CoreId(core))).collect();
    for (node, put) in producers.iter_mut().enumerate() {
        put.put(NodeId(node));
    }
    let order: Vec<NodeId> = consumers[3].drain().collect();
    assert_eq!(order, [3, 2, 0, 1].map(NodeId));
}

/// How many of a hundred chunks were put to the second of two consumers, whose chunks come back empty, by a
/// producer on the first core.
fn put_elsewhere(balancing: bool, topology: Topology, cores: [usize; 2]) -> u64 {
    let builder = Salsa::builder().topology(topology).chunk_size(10).patience(0);
    let pool = builder.balancing(balancing).build().unwrap();
    let nearest = pool.consumer_on(CoreId(0)).unwrap();
    let [_behind, mut other] = cores.map(|core| pool.consumer_on(CoreId(core)).unwrap());
    // It is nobody's to put to any more.
    drop(nearest);
    let mut put = pool.producer_on(CoreId(0));
    for round in 0..100 {
        put.put_all(10 * round..10 * (round + 1)).unwrap();
        assert_eq!((0..10).filter_map(|_| other.get()).count(), 10);
    }
    drop(other);
    100 - pool.metrics().steals
}

/// Four nodes: the first one's, the next at one distance, and two farther away.
fn by_distance() -> Topology {
    let cores = (0..4).map(|node| vec![CoreId(2 * node), CoreId(2 * node + 1)]).collect();
    let distances = vec![
        vec![10, 20, 30, 30],
        vec![20, 10, 30, 30],
        vec![30, 30, 10, 20],
        vec![30, 30, 20, 10],
    ];
    Topology::new(cores, distances).unwrap()
}

#[test]
fn a_producer_leaves_one_that_is_behind_for_another_of_its_node() {
    assert!(put_elsewhere(true, Topology::mock(1, 2), [0, 1]) >= 97);
    assert!(put_elsewhere(false, Topology::mock(1, 2), [0, 1]) <= 3, "told to stay");
}

#[test]
fn a_producer_leaves_one_that_is_behind_for_another_that_is_as_far_away() {
    assert!(put_elsewhere(true, by_distance(), [2, 3]) >= 97, "on one node");
    assert!(put_elsewhere(true, by_distance(), [4, 6]) >= 97, "on two nodes");
    assert!(put_elsewhere(false, by_distance(), [2, 3]) <= 3, "told to stay");
    // Of nodes that nobody knows.
    assert!(put_elsewhere(true, by_distance(), [90, 91]) >= 97);
}

#[test]
fn a_producer_leaves_one_that_is_behind_seldom_for_one_that_is_farther_away() {
    for (topology, cores) in [(Topology::mock(2, 1), [0, 1]), (by_distance(), [2, 4])] {
        let elsewhere = put_elsewhere(true, topology.clone(), cores);
        assert!((1..=10).contains(&elsewhere), "{elsewhere} of 100 chunks: it asks with one of 64");
        assert!(put_elsewhere(false, topology, cores) <= 3, "told to stay");
    }
}

/// Leaves a home out for those who have one beside them, as long as it is told to, and has another one twice.
#[derive(Debug)]
struct LeavesOneOut(Arc<AtomicBool>);

impl Policy for LeavesOneOut {
    fn arrange(&self, _: &Topology, seeker: &Seeker, homes: &mut [Candidate]) {
        if seeker.home == Some(1) && self.0.load(Relaxed) {
            homes[0] = homes[1];
        }
    }
}

#[test]
fn a_policy_that_leaves_a_home_out_is_told_so_and_nothing_is_lost() {
    let leaves_out = Arc::new(AtomicBool::new(true));
    let policy = LeavesOneOut(leaves_out.clone());
    let pool = Salsa::builder().policy(policy).chunk_size(4).patience(0).build().unwrap();
    let (mut owner, mut thief) = (pool.consumer(), pool.consumer());
    let mut put = pool.producer();
    put.put_all(0..20).unwrap();
    for _ in 0..2 {
        let panic = catch_unwind(AssertUnwindSafe(|| thief.get())).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        let told =
            "arranged the homes [0, 1] as [1, 1]: a policy has to leave each of them there, once";
        assert!(message.ends_with(told), "{message}");
    }
    // The others go on, and so does this one when it may.
    assert_eq!(owner.get(), Some(0));
    put.put_all(20..30).unwrap();
    leaves_out.store(false, Relaxed);
    let mut got: Vec<usize> = thief.drain().collect();
    got.extend(owner.drain());
    got.sort_unstable();
    assert!(got.into_iter().eq(1..30));
}

#[test]
fn a_producer_whose_policy_panics_puts_again_when_it_does_not() {
    let leaves_out = Arc::new(AtomicBool::new(true));
    let policy = LeavesOneOut(leaves_out.clone());
    let pool = Salsa::builder().policy(policy).chunk_size(4).build().unwrap();
    let _first = pool.consumer();
    let mut worker = pool.worker();
    for task in 0..3 {
        assert!(catch_unwind(AssertUnwindSafe(|| worker.put(task))).is_err());
    }
    leaves_out.store(false, Relaxed);
    worker.put_all(3..9).unwrap();
    assert!(worker.drain().eq(3..9));
}

/// Panics at each chunk, as long as it is told to.
#[derive(Debug)]
struct Panics(Arc<AtomicBool>);

impl Policy for Panics {
    fn arrange(&self, _: &Topology, _: &Seeker, _: &mut [Candidate]) {}

    fn begin(&self, _: &mut Random, _: usize, _: usize) -> usize {
        assert!(!self.0.load(Relaxed), "on purpose");
        // Whatever it is, one of them is meant.
        usize::MAX
    }
}

#[test]
fn a_policy_that_panics_costs_no_room() {
    // In lots of four.
    const CAPACITY: usize = 256;
    let panics = Arc::new(AtomicBool::new(false));
    let builder = Bounded::builder().capacity(CAPACITY).policy(Panics(panics.clone()));
    let pool = builder.chunk_size(3).patience(0).build().unwrap();
    for round in 0..4 {
        let (mut producer, mut worker) = (pool.producer(), pool.worker());
        producer.try_put(0).unwrap();
        worker.try_put(0).unwrap();
        panics.store(true, Relaxed);
        let puts = || match round {
            0 => (0..3).for_each(|task| producer.try_put(task).unwrap()),
            1 => (0..3).for_each(|task| worker.try_put(task).unwrap()),
            2 => drop(producer.put_all(0..7).unwrap()),
            _ => drop(worker.put_all(0..7).unwrap()),
        };
        assert!(catch_unwind(AssertUnwindSafe(puts)).is_err());
        panics.store(false, Relaxed);
        // They give back what they have in their pockets.
        drop((producer, worker));
        let inside = pool.len_hint();
        let full = pool.producer().put_all(0..CAPACITY).unwrap_err();
        assert_eq!(full.put, CAPACITY - inside, "round {round}");
        assert_eq!(pool.consumer().drain().count(), CAPACITY);
    }
}

/// A pool for one task, whose ends have credits one by one, is not full because of an end whose policy panicked.
#[test]
fn an_end_whose_policy_panics_keeps_less_than_a_lot() {
    for round in 0..4 {
        let panics = Arc::new(AtomicBool::new(true));
        let pool = Bounded::builder().capacity(1).policy(Panics(panics.clone())).build().unwrap();
        let (mut producer, mut worker) = (pool.producer(), pool.worker());
        let put = || match round {
            0 => producer.try_put(0).unwrap(),
            1 => worker.try_put(0).unwrap(),
            2 => drop(producer.put_all([0]).unwrap()),
            _ => drop(worker.put_all([0]).unwrap()),
        };
        assert!(catch_unwind(AssertUnwindSafe(put)).is_err());
        panics.store(false, Relaxed);
        assert_eq!(pool.full_slack(), 0);
        assert!(pool.producer().try_put(1).is_ok(), "round {round}");
        assert_eq!(worker.get(), Some(1));
    }
}

/// Each of four workers puts chunk after chunk and gets them: its own come before all others.
fn workers_put_to_themselves(policy: impl Policy + 'static) {
    let pool = Salsa::builder().chunk_size(2).patience(0).policy(policy).build().unwrap();
    let mut workers: Vec<_> = (0..4).map(|_| pool.worker()).collect();
    for _ in 0..10 {
        for (number, worker) in workers.iter_mut().enumerate() {
            (0..6).for_each(|_| worker.put(number));
        }
        for (number, worker) in workers.iter_mut().enumerate() {
            (0..6).for_each(|_| assert_eq!(worker.get(), Some(number)));
        }
    }
    assert_eq!(pool.metrics().steals, 0);
}

#[test]
fn workers_put_to_themselves_first_whatever_the_policy() {
    workers_put_to_themselves(NearestFirst);
    workers_put_to_themselves(RoundRobin);
    workers_put_to_themselves(RandomVictim);
}
