//! What the contenders promise beyond the conformance suite.

use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_lab::contender::bags;
use cantina_lab::contender::lane::{BATCH, Lane};
use cantina_lab::contender::ms_queue::Queue;
use cantina_lab::contender::stealing::{self, Setup, Stealing};
use cantina_lab::contender::treiber::Stack;
use cantina_lab::contender::{
    Bags, EdPool, Lbq, LockedStack, MsQueue, SalsaPaper, Treiber, WsLifo, WsMsq,
};
use machine::topology::{CoreId, Topology};
use machine::{Arc, thread};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

thread_local! {
    /// Bytes that this thread has allocated, less those that it has freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator, and a number beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: the caller's.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A task of half a kilobyte.
type Large = [u64; 64];

/// How many bytes this thread holds more than before `f`, in tasks.
fn held_after<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    let result = f();
    (result, usize::try_from(HELD.get() - before).unwrap() / size_of::<Large>())
}

#[test]
fn a_burst_is_given_back_while_the_handles_stay() {
    fn burst<P: TaskPool<Large>>(name: &str, keeps: usize, new: fn() -> P) {
        let before = HELD.get();
        let pool = new();
        let mut worker = pool.worker();
        let burst = |worker: &mut P::Worker| {
            (0..10_000).for_each(|task| worker.try_put([task; 64]).unwrap());
            assert!((0..10_000).all(|_| worker.get().is_some()));
        };
        let ((), held) = held_after(|| burst(&mut worker));
        assert!(held <= keeps, "{name} keeps room for {held} tasks");
        let ((), more) = held_after(|| burst(&mut worker));
        assert!(held + more <= keeps, "{name} keeps room for {more} more");
        drop((pool, worker));
        assert_eq!(HELD.get() - before, 0, "{name} keeps something for ever");
    }
    // Nodes have links beside their task.
    let retired = BATCH + BATCH / 8;
    burst("ms-queue", retired, MsQueue::new);
    burst("lbq", 2, Lbq::new);
    burst("treiber", retired, Treiber::new);
    burst("locked-stack", 1024, LockedStack::new);
    burst("ws-msq", retired, WsMsq::new);
    burst("ws-lifo", retired, WsLifo::new);
    burst("ed-pool", retired, EdPool::new);
    // The newest block, two that the getter looks at, and those that are retired.
    let blocks = (3 + bags::BATCH) * bags::SLOTS;
    burst("concurrent-bags", blocks + blocks / 8, Bags::new);
}

#[test]
fn a_handle_that_leaves_frees_what_it_retired() {
    fn leaves<P: TaskPool<Large>>(name: &str, new: fn() -> P) {
        let pool = new();
        let mut stays = pool.worker();
        for round in 0..20 {
            // It finds nothing, and so looks at nothing afterwards.
            assert!(round == 0 || stays.get().is_none());
            let ((), held) = held_after(|| {
                let mut worker = pool.worker();
                worker.put_all([[7; 64]; 10]).unwrap();
                let mut got = Vec::new();
                assert_eq!(worker.get_many(20, &mut got), 10);
            });
            // The first may have made room for what the pool itself needs.
            assert!(round == 0 || held == 0, "{name} holds {held} more");
        }
    }
    leaves("ms-queue", MsQueue::new);
    leaves("treiber", Treiber::new);
    leaves("ws-msq", WsMsq::new);
    leaves("ws-lifo", WsLifo::new);
    leaves("concurrent-bags", Bags::new);
    leaves("ed-pool", EdPool::new);
}

#[test]
fn a_task_that_panics_when_dropped_takes_no_memory_with_it() {
    struct Panics(bool, #[expect(dead_code, reason = "its drop is what counts")] Arc<()>);
    impl Drop for Panics {
        fn drop(&mut self) {
            if self.0 {
                resume_unwind(Box::new("this one"));
            }
        }
    }
    fn panics<P: TaskPool<Panics>>(name: &str, new: fn() -> P) {
        for which in 0..5 {
            let before = HELD.get();
            let task = Arc::new(());
            let pool = new();
            let mut workers = [pool.worker(), pool.worker()];
            for number in 0..5 {
                let task = Panics(number == which, task.clone());
                assert!(workers[number % 2].try_put(task).is_ok());
            }
            drop(workers);
            assert!(catch_unwind(AssertUnwindSafe(|| drop(pool))).is_err(), "{name}");
            assert_eq!(Arc::strong_count(&task), 1, "{name}");
            drop(task);
            // The panic's own box is gone too.
            assert_eq!(HELD.get() - before, 0, "{name}");
        }
    }
    panics("ms-queue", MsQueue::new);
    panics("lbq", Lbq::new);
    panics("treiber", Treiber::new);
    panics("locked-stack", LockedStack::new);
    panics("ws-msq", WsMsq::new);
    panics("ws-lifo", WsLifo::new);
    panics("concurrent-bags", Bags::new);
    panics("ed-pool", EdPool::new);
    panics("salsa-paper", SalsaPaper::new);
}

#[test]
fn the_papers_salsa_uses_the_chunks_of_a_burst_again() {
    let before = HELD.get();
    let pool = SalsaPaper::<Large>::new();
    let mut worker = pool.worker();
    let mut burst = || {
        (0..10_000).for_each(|task| worker.try_put([task; 64]).unwrap());
        assert!((0..10_000).all(|_| worker.get().is_some()));
    };
    let ((), held) = held_after(&mut burst);
    assert!(held >= 10_000, "it gives nothing back: {held}");
    let ((), more) = held_after(&mut burst);
    assert!(more < 10, "it keeps room for {more} more");
    drop((pool, worker));
    assert_eq!(HELD.get() - before, 0);
}

#[test]
fn locked_batches_come_in_the_order_of_their_pool() {
    fn batches(pool: &impl TaskPool<u64>, sizes: [usize; 4]) -> Vec<u64> {
        let (mut worker, mut got) = (pool.worker(), Vec::new());
        worker.put_all(1..=6).unwrap();
        let counts = [0, 2, 3, 9].map(|max| worker.get_many(max, &mut got));
        assert_eq!(counts, sizes);
        assert_eq!((worker.get(), worker.get_many(9, &mut got)), (None, 0));
        got
    }
    assert_eq!(batches(&Lbq::new(), [0, 2, 3, 1]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(batches(&LockedStack::new(), [0, 2, 3, 1]), [6, 5, 4, 3, 2, 1]);
}

/// A stealing pool on one node with few seats.
fn few<L: Lane>(consumers: usize) -> Stealing<L> {
    let topology = Topology::mock(1, 1);
    Stealing::with(Setup { topology, consumers, ..Setup::default() })
}

#[test]
fn a_consumer_gets_its_own_tasks_first_and_then_steals() {
    fn steals<L: Lane<Task = u64>>() {
        let pool = few::<L>(4);
        let mut workers = [(); 4].map(|()| pool.worker());
        for (number, worker) in (0..).zip(&mut workers) {
            worker.try_put(number).unwrap();
        }
        // Others' in turn, from its own seat on.
        assert_eq!([(); 5].map(|()| workers[2].get()), [Some(2), Some(3), Some(0), Some(1), None]);
        assert!(workers.iter_mut().all(|worker| worker.get().is_none()));
    }
    steals::<Queue<u64>>();
    steals::<Stack<u64>>();
}

#[test]
fn a_seat_that_is_left_keeps_its_tasks_and_is_taken_again() {
    fn leaves<L: Lane<Task = u64>>() {
        let pool = few::<L>(2);
        let mut stays = pool.worker();
        let mut leaves = pool.worker();
        leaves.put_all([1, 2]).unwrap();
        drop(leaves);
        let stolen = stays.get();
        let mut comes = pool.worker();
        assert_eq!(format!("{comes:?}"), "Worker { seat: 1, .. }");
        let inherited = comes.get();
        assert_eq!(stolen.zip(inherited).map(|(a, b)| a + b), Some(3));
        assert_eq!((stays.get(), comes.get()), (None, None));
    }
    leaves::<Queue<u64>>();
    leaves::<Stack<u64>>();
}

#[test]
fn as_many_consumers_as_there_are_seats() {
    fn refuses<L: Lane<Task = u64>>() {
        let pool = few::<L>(3);
        // Producers need no seat, but one for their tasks where there is none.
        let mut producers = [(); 9].map(|()| pool.producer());
        producers.iter_mut().for_each(|producer| producer.try_put(1).unwrap());
        let mut workers: Vec<_> = (0..3).map(|_| pool.try_consumer().unwrap()).collect();
        let too_many = pool.try_consumer().unwrap_err();
        assert_eq!(too_many.limit, 3);
        assert!(catch_unwind(AssertUnwindSafe(|| drop(pool.worker()))).is_err());
        drop(workers.pop());
        workers.push(pool.try_consumer().unwrap());
        assert!(pool.try_consumer().is_err());
        assert_eq!(workers[0].get_many(100, &mut Vec::new()), 9);
        // Tasks need one seat at least.
        let pool = few::<L>(0);
        pool.producer().try_put(1).unwrap();
        assert_eq!(pool.worker().get(), Some(1));
    }
    refuses::<Queue<u64>>();
    refuses::<Stack<u64>>();
}

/// Whom these feed, after a put each.
fn feeds<L: Lane<Task = u64>>(producers: &mut [stealing::Producer<L>]) -> Vec<String> {
    let feeds = |producer: &mut stealing::Producer<L>| {
        producer.try_put(0).unwrap();
        format!("{producer:?}")
    };
    let mut fed: Vec<String> = producers.iter_mut().map(feeds).collect();
    fed.sort_unstable();
    fed
}

fn feeding(seats: impl IntoIterator<Item = usize>) -> Vec<String> {
    seats.into_iter().map(|seat| format!("Producer {{ feeds: Some({seat}), .. }}")).collect()
}

#[test]
fn producers_share_the_consumers_that_there_are() {
    let pool = few::<Queue<u64>>(8);
    let mut producers = [(); 4].map(|()| pool.producer());
    assert_eq!(feeds(&mut producers), feeding([0; 4]), "nobody is there, but the tasks must go");
    let mut workers: Vec<_> = (0..4).map(|_| pool.worker()).collect();
    assert_eq!(feeds(&mut producers), feeding(0..4));
    // It is as if they had never been there.
    drop(producers);
    let mut producers = [(); 8].map(|()| pool.producer());
    assert_eq!(feeds(&mut producers), feeding([0, 0, 1, 1, 2, 2, 3, 3]));
    drop(workers.remove(1));
    assert_eq!(feeds(&mut producers[..3]).len(), 3);
    let fed = feeds(&mut producers);
    assert!(!fed.contains(&feeding([1])[0]), "its consumer has left: {fed:?}");
    assert_eq!(workers[0].get_many(1_000, &mut Vec::new()), 4 + 4 + 8 + 3 + 8);
}

#[test]
fn producers_feed_the_nearest_consumer_and_consumers_steal_from_it() {
    let cores: Vec<CoreId> = Topology::detect().cores().take(2).collect();
    let [here, there] = cores[..] else { return };
    let on = |core, pool: &Stealing<Queue<u64>>| {
        let pool = pool.clone();
        let make = move || thread::pin_to(core).ok().map(|()| (pool.producer(), pool.worker()));
        thread::spawn(make).join().unwrap()
    };
    for [first, second] in [[here, there], [there, here]] {
        let topology =
            Topology::new(vec![vec![here], vec![there]], vec![vec![10, 20], vec![20, 10]]).unwrap();
        let pool = Stealing::with(Setup { topology, consumers: 4, batch: BATCH });
        let handles = [first, second, first, second].map(|core| on(core, &pool));
        let [Some(a), Some(b), Some(c), Some(d)] = handles else { return };
        let (mut producers, mut workers) = ([b.0, d.0], [a.1, b.1, c.1, d.1]);
        assert_eq!(feeds(&mut producers), feeding([1, 3]), "seats 0 and 2 are far away");
        // Its neighbour's comes first, though another seat is next.
        (0..).zip(&mut workers).for_each(|(task, worker)| worker.try_put(100 + task).unwrap());
        assert_eq!(workers[2].get(), Some(102));
        assert_eq!(workers[2].get(), Some(100));
    }
}

#[test]
fn a_worker_of_the_bags_gets_its_own_last_task_first_and_then_goes_round() {
    let pool = Bags::<u64, 2>::retiring(1);
    let mut workers = [(); 3].map(|()| pool.worker());
    for (number, worker) in (0..).zip(&mut workers) {
        worker.put_all((1..=3).map(|task| 10 * number + task)).unwrap();
    }
    // Its newest block, the older one, and the other lists; of these, the newest block too.
    let got = [(); 10].map(|()| workers[1].get());
    assert_eq!(got[..3], [Some(13), Some(11), Some(12)]);
    assert_eq!(got[3..9], [Some(23), Some(21), Some(22), Some(3), Some(1), Some(2)]);
    assert_eq!(got[9], None);
    assert!(workers.iter_mut().all(|worker| worker.get().is_none()));
}

#[test]
fn a_consumer_of_the_bags_goes_on_where_it_found_something() {
    let pool = Bags::<u64, 2>::retiring(1);
    let mut producers = [(); 2].map(|()| pool.producer());
    let mut consumers = [(); 2].map(|()| pool.consumer());
    producers[0].put_all(1..=4).unwrap();
    producers[1].put_all(5..=8).unwrap();
    assert_eq!([(); 3].map(|()| consumers[0].get()), [Some(3), Some(4), Some(1)]);
    assert_eq!([(); 3].map(|()| consumers[1].get()), [Some(7), Some(8), Some(5)]);
    // It is in the older block, whatever comes in front.
    producers[0].try_put(9).unwrap();
    assert_eq!([(); 4].map(|()| consumers[0].get()), [Some(2), Some(9), Some(6), None]);
}

#[test]
fn a_list_of_the_bags_that_is_left_is_gone_on_with() {
    let pool = Bags::<u64, 4>::retiring(1);
    let mut consumer = pool.consumer();
    for round in 0..100 {
        let mut producer = pool.producer();
        let clone = producer.clone();
        producer.put_all([round, round]).unwrap();
        assert_eq!(format!("{producer:?} {clone:?}"), LEFT);
        if round % 3 == 0 {
            assert_eq!(consumer.get_many(9, &mut Vec::new()), if round == 0 { 2 } else { 6 });
        }
    }
    assert_eq!(consumer.get(), None);
}

/// It has the first list, and its clone has none before it puts.
const LEFT: &str = "Producer { list: Some(0), .. } Producer { list: None, .. }";

#[test]
fn handles_say_who_they_are_and_never_wait() {
    let pool = MsQueue::<u64>::default();
    let texts = format!("{pool:?} {:?} {:?}", pool.worker(), pool.producer().clone());
    assert_eq!(texts, "Central { .. } End { .. } End { .. }");
    let pool = Bags::<u64>::default();
    let texts = format!("{pool:?} {:?} {:?}", pool.worker(), pool.consumer());
    assert_eq!(texts, "Bags { .. } Worker { list: None, .. } Consumer { at: 0, .. }");
    let texts = format!("{:?} {:?}", Lbq::<u64>::default(), LockedStack::<u64>::default());
    assert_eq!(texts, "Lbq { .. } LockedStack { .. }");
    let pool = WsMsq::<u64>::default();
    let producer = pool.producer();
    let texts = format!("{pool:?} {producer:?} {:?}", producer.clone());
    assert_eq!(texts, "Stealing { .. } Producer { feeds: None, .. } Producer { feeds: None, .. }");
    let pool = SalsaPaper::<u64>::default();
    let texts = format!("{pool:?} {:?} {:?}", pool.producer(), pool.worker());
    assert_eq!(texts, "SalsaPaper { .. } Producer { shelf: 0, .. } Worker { seat: 0, .. }");
}
