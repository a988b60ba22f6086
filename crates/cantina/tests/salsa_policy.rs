//! Who puts where in SALSA, and who steals from whom, on machines that are only said to be there.

use cantina::salsa::policy::{NearestFirst, Policy, RandomVictim, RoundRobin};
use cantina::salsa::{Consumer, Producer, Salsa};
use machine::Topology;
use machine::topology::{CoreId, NodeId};

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

/// How many of a hundred chunks were put to the other consumer, whose chunks come back empty.
fn put_elsewhere(balancing: bool, nodes: usize) -> u64 {
    let topology = Topology::mock(nodes, 2 / nodes);
    let builder = Salsa::builder().topology(topology).chunk_size(10).patience(0);
    let pool = builder.balancing(balancing).build().unwrap();
    let _behind = pool.consumer_on(CoreId(0)).unwrap();
    let mut other = pool.consumer_on(CoreId(1)).unwrap();
    let mut put = pool.producer_on(CoreId(0));
    for round in 0..100 {
        put.put_all(10 * round..10 * (round + 1)).unwrap();
        assert_eq!((0..10).filter_map(|_| other.get()).count(), 10);
    }
    drop(other);
    100 - pool.metrics().steals
}

#[test]
fn a_producer_leaves_one_that_is_behind_for_another_of_its_node() {
    assert!(put_elsewhere(true, 1) >= 97);
    assert!(put_elsewhere(false, 1) <= 3, "told to stay");
}

#[test]
fn a_producer_leaves_its_node_seldom() {
    let elsewhere = put_elsewhere(true, 2);
    assert!((1..=10).contains(&elsewhere), "{elsewhere} of 100 chunks: it asks with one of 64");
    assert!(put_elsewhere(false, 2) <= 3, "told to stay");
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
