//! How a few well-known queues scale on a simulated machine: `shapes [MACHINE]`.
//!
//! Producers put and consumers get as fast as they can, half of the threads each; printed are millions of
//! tasks that were got per virtual second. Nothing is ever freed.

use cantina_sim::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use cantina_sim::atomic::{AtomicBool, AtomicPtr, AtomicUsize};
use cantina_sim::cost::Machine;
use cantina_sim::engine::Simulation;
use cantina_sim::lock::Mutex;
use cantina_sim::time::nanos;
use cantina_sim::topology::CoreId;
use cantina_sim::{Arc, CachePadded, SimAllocator, thread, touch_read, touch_write};
use std::collections::VecDeque;
use std::ptr;

#[global_allocator]
static ALLOCATOR: SimAllocator = SimAllocator;

/// Something to put tasks into and to get them out of, by the number of the thread.
trait Pool: Send + Sync + 'static {
    fn new(consumers: usize) -> Self;
    fn put(&self, producer: usize, task: usize);
    fn get(&self, consumer: usize) -> Option<usize>;
}

struct Node {
    task: usize,
    next: AtomicPtr<Node>,
}

fn node(task: usize) -> *mut Node {
    let node = Box::into_raw(Box::new(Node { task, next: AtomicPtr::new(ptr::null_mut()) }));
    touch_write(node.cast(), size_of::<Node>());
    node
}

/// The task of a node that was taken out of its queue or stack.
fn task(node: *const Node) -> usize {
    touch_read(node.cast(), size_of::<usize>());
    // SAFETY: nodes are never freed, and their tasks never written again.
    unsafe { (*node).task }
}

fn next(node: *const Node) -> &'static AtomicPtr<Node> {
    // SAFETY: nodes are never freed.
    unsafe { &(*node).next }
}

/// A lock and a deque.
struct Locked(Mutex<VecDeque<usize>>);

impl Pool for Locked {
    fn new(_: usize) -> Self {
        Self(Mutex::new(VecDeque::new()))
    }
    fn put(&self, _: usize, task: usize) {
        let mut tasks = self.0.lock();
        touch_write((&raw const *tasks).cast(), 32);
        tasks.push_back(task);
    }
    fn get(&self, _: usize) -> Option<usize> {
        let mut tasks = self.0.lock();
        touch_write((&raw const *tasks).cast(), 32);
        tasks.pop_front()
    }
}

/// Treiber's stack.
struct Treiber(CachePadded<AtomicPtr<Node>>);

impl Pool for Treiber {
    fn new(_: usize) -> Self {
        Self(CachePadded::new(AtomicPtr::default()))
    }
    fn put(&self, _: usize, task: usize) {
        let node = node(task);
        let mut top = self.0.load(Relaxed);
        loop {
            next(node).store(top, Relaxed);
            match self.0.compare_exchange(top, node, AcqRel, Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }
    fn get(&self, _: usize) -> Option<usize> {
        let mut top = self.0.load(Acquire);
        while !top.is_null() {
            match self.0.compare_exchange(top, next(top).load(Relaxed), AcqRel, Acquire) {
                Ok(_) => return Some(task(top)),
                Err(now) => top = now,
            }
        }
        None
    }
}

/// The queue of Michael and Scott.
struct MsQueue {
    head: CachePadded<AtomicPtr<Node>>,
    tail: CachePadded<AtomicPtr<Node>>,
}

impl Pool for MsQueue {
    fn new(_: usize) -> Self {
        let dummy = node(0);
        Self {
            head: CachePadded::new(AtomicPtr::new(dummy)),
            tail: CachePadded::new(AtomicPtr::new(dummy)),
        }
    }
    fn put(&self, _: usize, task: usize) {
        let node = node(task);
        loop {
            let tail = self.tail.load(Acquire);
            let after = next(tail).load(Acquire);
            if !after.is_null() {
                let _ = self.tail.compare_exchange(tail, after, AcqRel, Relaxed);
            } else if next(tail).compare_exchange(after, node, AcqRel, Relaxed).is_ok() {
                let _ = self.tail.compare_exchange(tail, node, AcqRel, Relaxed);
                return;
            }
        }
    }
    fn get(&self, _: usize) -> Option<usize> {
        loop {
            let head = self.head.load(Acquire);
            let tail = self.tail.load(Acquire);
            let after = next(head).load(Acquire);
            if after.is_null() {
                return None;
            }
            if head == tail {
                let _ = self.tail.compare_exchange(tail, after, AcqRel, Relaxed);
            } else if self.head.compare_exchange(head, after, AcqRel, Relaxed).is_ok() {
                return Some(task(after));
            }
        }
    }
}

/// A queue for each consumer; producers put into the nearest one.
struct Separate(Vec<CachePadded<MsQueue>>);

impl Pool for Separate {
    fn new(consumers: usize) -> Self {
        Self((0..consumers).map(|_| CachePadded::new(MsQueue::new(0))).collect())
    }
    fn put(&self, producer: usize, task: usize) {
        self.0[producer % self.0.len()].put(producer, task);
    }
    fn get(&self, consumer: usize) -> Option<usize> {
        let queues = self.0.len();
        (0..queues).find_map(|step| self.0[(consumer + step) % queues].get(consumer))
    }
}

/// Millions of tasks got per virtual second by `pairs` consumers from as many producers.
fn rate<P: Pool>(machine: &Machine, pairs: usize) -> (f64, u64) {
    const NANOS: u64 = 200_000;
    let simulation = Simulation::new().machine(machine.clone()).steps(u64::MAX);
    let outcome = simulation.run_timed(move || {
        let pool = Arc::new(P::new(pairs));
        let ready = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let workers: Vec<_> = (0..2 * pairs)
            .map(|number| (number, pool.clone(), ready.clone(), over.clone()))
            .map(|(number, pool, ready, over)| {
                thread::spawn(move || {
                    thread::pin_to(CoreId(number)).expect("a core for each thread");
                    ready.fetch_add(1, AcqRel);
                    while ready.load(Acquire) <= 2 * pairs {
                        thread::spin_loop();
                    }
                    let mut got = 0;
                    // A producer and its consumer are neighbours.
                    let mine = number / 2;
                    while !over.load(Relaxed) {
                        if number % 2 == 0 {
                            pool.put(mine, 1);
                        } else {
                            got += pool.get(mine).unwrap_or(0);
                        }
                    }
                    got
                })
            })
            .collect();
        while ready.load(Acquire) < 2 * pairs {
            thread::spin_loop();
        }
        let start = nanos();
        ready.fetch_add(1, AcqRel);
        thread::sleep(std::time::Duration::from_nanos(NANOS));
        over.store(true, Release);
        let nanos = nanos() - start;
        let got: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        got as f64 * 1e3 / nanos as f64
    });
    let outcome = outcome.unwrap_or_else(|failure| panic!("{failure}"));
    (outcome.value, outcome.steps)
}

fn row<P: Pool>(machine: &Machine, name: &str) {
    print!("{name:>10}");
    let mut steps = 0;
    let start = std::time::Instant::now();
    for pairs in [1, 2, 4, 8, 16] {
        let (rate, taken) = rate::<P>(machine, pairs);
        steps += taken;
        print!(" {rate:8.2}");
    }
    println!(
        "   ({:.1} M accesses per second)",
        steps as f64 / start.elapsed().as_secs_f64() / 1e6
    );
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "opteron-8x4".to_owned());
    let machine: Machine = name.parse().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::process::exit(2);
    });
    println!("{machine}       1/1      2/2      4/4      8/8    16/16");
    row::<Locked>(&machine, "locked");
    row::<Treiber>(&machine, "treiber");
    row::<MsQueue>(&machine, "ms-queue");
    row::<Separate>(&machine, "separate");
}
