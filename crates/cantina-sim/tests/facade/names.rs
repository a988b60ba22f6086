// Uses every name that the machines share. Included once for each machine, as `machine`.

use machine::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use machine::atomic::{
    AtomicBool, AtomicI64, AtomicIsize, AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64,
    AtomicUsize, Ordering,
};
use machine::backoff::Backoff;
use machine::cell::UnsafeCell;
use machine::charge::{instructions, touch_read, touch_write, work};
use machine::fence::{HeavyFailed, Pair};
use machine::held::{Held, Key};
use machine::lock::{Mutex, MutexGuard};
use machine::park::{Parker, Unparker};
use machine::placement::Block;
use machine::random::Random;
use machine::thread::{Builder, JoinHandle, PinError};
use machine::time::{Duration, Instant};
use machine::topology::{CoreId, InvalidTopology, NodeId, Topology};
use machine::trace::{Role, contents, gone, node, part, row, structure};
use machine::{Arc, CachePadded};
use std::alloc::Layout;

/// Runs through all of it.
pub(super) fn uses_every_name() {
    atomics();
    memory();
    threads();
    places();
    descriptions();
}

fn atomics() {
    let order: Ordering = SeqCst;
    let word = AtomicUsize::new(1);
    word.store(2, Release);
    assert_eq!(word.swap(3, AcqRel), 2);
    assert_eq!(word.compare_exchange(3, 4, AcqRel, Relaxed), Ok(3));
    while word.compare_exchange_weak(4, 5, AcqRel, Relaxed).is_err() {}
    assert_eq!(word.fetch_update(AcqRel, Acquire, |n| Some(n + 1)), Ok(5));
    assert_eq!(word.fetch_add(1, order), 6);
    assert_eq!(word.fetch_sub(1, order), 7);
    assert_eq!(word.fetch_and(0b110, order), 6);
    assert_eq!(word.fetch_or(1, order), 6);
    assert_eq!(word.fetch_xor(1, order), 7);
    assert_eq!(word.fetch_max(9, order), 6);
    assert_eq!(word.fetch_min(8, order), 9);
    assert_eq!(word.load(Acquire), 8);
    let words = (
        AtomicBool::default(),
        AtomicU8::new(1),
        AtomicU16::new(1),
        AtomicU32::new(1),
        AtomicU64::new(1),
        AtomicI64::new(-1),
        AtomicIsize::new(-1),
        AtomicPtr::new(std::ptr::null_mut::<u8>()),
    );
    assert!(!words.0.load(Relaxed) && words.7.load(Relaxed).is_null());
    assert_eq!(words.5.load(Relaxed) + words.6.load(Relaxed) as i64, -2);
    // What it shows differs.
    assert!(!format!("{words:?}").is_empty());
}

fn memory() {
    let cell = UnsafeCell::new(1);
    // SAFETY: nobody else has it.
    cell.with_mut(|value| unsafe { *value += 1 });
    // SAFETY: as above.
    assert_eq!(cell.with(|value| unsafe { *value }), 2);
    assert_eq!(cell.into_inner(), 2);
    let bytes = [0_u8; 100];
    touch_read(bytes.as_ptr(), bytes.len());
    touch_write(bytes.as_ptr(), bytes.len());
    machine::touch_read(bytes.as_ptr(), 1);
    machine::touch_write(bytes.as_ptr(), 1);
    machine::ahead::to_read(bytes.as_ptr());
    machine::ahead::to_write(bytes.as_ptr().wrapping_add(machine::ahead::LINE));
    machine::ahead::all_to_read(bytes.as_ptr(), bytes.len());
    machine::ahead::all_to_write(bytes.as_ptr(), bytes.len());
    instructions(10);
    machine::instructions(10);
    work(10);
    assert_eq!(machine::in_bulk(|| 5), 5);
    machine::work(10);
    machine::fence::full();
    machine::fence::fence_after_rmw();
    machine::fence_after_rmw();
    for pair in [Some(Pair::best()), Some(Pair::symmetric()), Pair::asymmetric()] {
        let pair: Pair = pair.unwrap_or_default();
        pair.light();
        let heavy: Result<(), HeavyFailed> = pair.heavy();
        heavy.unwrap();
        let _ = pair.is_asymmetric();
    }
    let shared = Arc::new(CachePadded::new(5));
    assert_eq!(*shared.clone(), CachePadded::new(5));
    let other = Arc::into_raw(shared.clone());
    assert_eq!(other, Arc::as_ptr(&shared));
    assert_eq!(Arc::strong_count(&shared), 2);
    // SAFETY: from `into_raw`, once.
    let mut other = unsafe { Arc::from_raw(other) };
    assert!(Arc::ptr_eq(&shared, &other) && Arc::get_mut(&mut other).is_none());
    let other = Arc::try_unwrap(other).unwrap_err();
    drop(other);
    let key: Key = Key::new();
    let held: Held = Held::new(&key);
    drop(held);
    assert!(!Held::is_held(&key));
    let lock = Mutex::new(1);
    let mut guard: MutexGuard<'_, i32> = lock.lock();
    *guard += 1;
    assert!(lock.try_lock().is_none());
    drop(guard);
    assert_eq!(lock.into_inner(), 2);
}

fn threads() {
    let backoff = Backoff::new();
    backoff.spin();
    backoff.snooze();
    backoff.reset();
    assert!(!backoff.is_completed());
    let parker = Parker::new();
    let unparker: Unparker = parker.unparker();
    let start = Instant::now();
    let before = machine::time::nanos();
    let handle: JoinHandle<i32> = Builder::new()
        .name("named".to_owned())
        .stack_size(1 << 20)
        .spawn(move || {
            machine::thread::sleep(Duration::from_millis(1));
            unparker.clone().unpark();
            machine::thread::yield_now();
            machine::thread::spin_loop();
            i32::from(machine::thread::panicking())
        })
        .unwrap();
    parker.park();
    assert!(!parker.park_timeout(Duration::ZERO));
    assert_eq!(handle.join().unwrap(), 0);
    assert_eq!(machine::thread::word(), 0);
    machine::thread::set_word(1);
    assert_eq!(machine::thread::spawn(machine::thread::word).join().unwrap(), 0);
    assert_eq!(machine::thread::word(), 1);
    machine::thread::set_word(0);
    assert!(start.elapsed() >= Duration::from_millis(1));
    assert!(machine::time::nanos() >= before + 1_000_000);
    assert!(start.checked_add(Duration::from_secs(1)).unwrap() > start);
    assert_eq!(start.saturating_duration_since(start), Duration::ZERO);
    let mut random = Random::seeded(machine::random::seed());
    assert!(random.below(3) < 3 && machine::SPINS > 0 && machine::looks() < 1_000);
}

fn places() {
    let topology = Topology::detect();
    // There may be a quota, too.
    assert!(topology.core_count() >= machine::thread::available_parallelism());
    assert!((1..=topology.core_count()).contains(&machine::thread::own_parallelism()));
    assert!(Topology::of_thread().core_count() <= topology.core_count());
    let core = topology.cores().next().unwrap();
    let pinned: Result<(), PinError> = machine::thread::pin_to(core);
    if pinned.is_ok() {
        assert!(machine::thread::current_core().is_none_or(|at: CoreId| at == core));
    }
    let node: NodeId = topology.node_of(core).unwrap();
    assert_eq!(topology.distance(node, node), Some(10));
    let wrong: Result<Topology, InvalidTopology> = Topology::new(vec![vec![core]], vec![]);
    assert!(wrong.is_err());
    let layout = Layout::from_size_align(100, 8).unwrap();
    let mock = machine::Topology::mock(2, 2);
    for block in [Block::new(layout), Block::on_node(layout, &mock, NodeId(1))] {
        let _ = block.is_placed();
        assert_eq!(block.layout(), layout);
        // SAFETY: it is this large.
        unsafe { block.start().write_bytes(1, 100) };
    }
}

fn descriptions() {
    let words = Box::new([1_u64, 2]);
    structure(&*words, "pair");
    for role in [Role::Link, Role::Guard, Role::Task, Role::Lock, Role::Number] {
        part(&words[1], "second", role);
    }
    for role in [
        Role::Place,
        Role::Spare,
        Role::Open,
        Role::Home,
        Role::Seat,
        Role::Owner { bits: 12 },
        Role::Index,
        Role::Count { bits: 16 },
        Role::Bits,
        Role::Tickets { rooms: 2, lane: 16, bits: 14 },
    ] {
        row(&*words, &words[..], "both", role);
    }
    contents(&*words, words.iter());
    gone(&*words);
    node(&words[0], "one");
    gone(&words[0]);
}
