//! Small programs on a pool, recorded so that a call of a thread that crashed is pending.

use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_check::{Clock, History, Log, merge};
use machine::progress::operation;
use machine::thread::{Builder, Crashed};
use machine::{fence, time};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

/// What a thread of a program does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Call {
    Put(u64),
    Get,
}

/// What each thread does, the first of them being thread 1.
pub(crate) type Program = [&'static [Call]];

/// The virtual clock. Whoever records fences by itself: a step is no place to hold a lock at that the
/// simulation does not know.
#[derive(Clone, Copy, Debug)]
struct Times;

impl Clock for Times {
    fn now(&self) -> u64 {
        time::nanos()
    }

    fn fence(&self) {}
}

/// One thread's end of the pool, and its part of the record. The record is where others can reach
/// it when the thread has crashed.
struct Player<W> {
    worker: W,
    log: Arc<Mutex<Log<Times>>>,
}

/// Puts `first`, lets threads 1, 2, ... play their parts of `program`, waits for those that have not
/// crashed, and gets what is left; all recorded, what the scenario itself did as thread 0.
pub(crate) fn play<P>(pool: &P, first: &[u64], program: &Program) -> History
where
    P: TaskPool<u64, Worker: 'static>,
{
    let logs: Vec<Arc<Mutex<Log<Times>>>> =
        (0..=program.len()).map(|thread| Arc::new(Mutex::new(Log::new(thread, Times)))).collect();
    let mut here = Player { worker: pool.worker(), log: logs[0].clone() };
    first.iter().for_each(|&task| here.put(task));
    let threads: Vec<_> = (1..)
        .zip(program)
        .map(|(number, &calls)| {
            let mut player = Player { worker: pool.worker(), log: logs[number].clone() };
            let play = move || {
                for call in calls {
                    match *call {
                        Call::Put(task) => player.put(task),
                        Call::Get => _ = player.get(),
                    }
                }
            };
            Builder::new().name(format!("t{number}")).spawn(play).unwrap()
        })
        .collect();
    for thread in threads {
        match thread.join() {
            Err(payload) if !payload.is::<Crashed>() => resume_unwind(payload),
            _ => {}
        }
    }
    while here.get().is_some() {}
    let logs = logs.iter().map(|log| log.lock().unwrap().clone());
    merge(logs).unwrap()
}

impl<W: Producer<u64> + Consumer<u64>> Player<W> {
    fn put(&mut self, task: u64) {
        self.log.lock().unwrap().begin_put(task);
        fence::full();
        let accepted = operation("put", || self.worker.try_put(task)).is_ok();
        fence::full();
        self.log.lock().unwrap().end_put(accepted);
    }

    fn get(&mut self) -> Option<u64> {
        self.log.lock().unwrap().begin_get();
        fence::full();
        let task = operation("get", || self.worker.get());
        fence::full();
        self.log.lock().unwrap().end_get(task);
        task
    }
}
