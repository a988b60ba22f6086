//! Small programs on a pool, recorded so that a call of a thread that crashed is pending.

use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_check::{Batch, Clock, History, Log, merge};
use machine::progress::operation;
use machine::thread::{Builder, Crashed};
use machine::{fence, time};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};

/// What a thread of a program does.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "not every test has all of them in its programs")]
pub(crate) enum Call {
    Put(u64),
    Get,
    PutAll(&'static [u64]),
    /// At most so many.
    GetMany(usize),
    /// The end goes, and a new one comes.
    Renew,
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
struct Player<P: TaskPool<u64>> {
    pool: P,
    /// There is none between two of them.
    worker: Option<P::Worker>,
    log: Arc<Mutex<Log<Times>>>,
}

/// Puts `first`, lets threads 1, 2, ... play their parts of `program`, waits for those that have not
/// crashed, and gets what is left; all recorded, what the scenario itself did as thread 0.
pub(crate) fn play<P>(pool: &P, first: &[u64], program: &Program) -> History
where
    P: TaskPool<u64, Worker: 'static> + 'static,
{
    let logs: Vec<Arc<Mutex<Log<Times>>>> =
        (0..=program.len()).map(|thread| Arc::new(Mutex::new(Log::new(thread, Times)))).collect();
    let player = |number: usize| Player {
        pool: pool.clone(),
        worker: Some(pool.worker()),
        log: logs[number].clone(),
    };
    let mut here = player(0);
    first.iter().for_each(|&task| here.put(task));
    let threads: Vec<_> = (1..)
        .zip(program)
        .map(|(number, &calls)| {
            let mut player = player(number);
            let play = move || {
                for call in calls {
                    match *call {
                        Call::Put(task) => player.put(task),
                        Call::Get => _ = player.get(),
                        Call::PutAll(tasks) => player.put_all(tasks),
                        Call::GetMany(max) => player.get_many(max),
                        Call::Renew => player.renew(),
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

impl<P: TaskPool<u64>> Player<P> {
    /// What a call gives, recorded from before it to behind it.
    fn call<R>(
        &mut self,
        kind: &'static str,
        begin: impl FnOnce(&mut Log<Times>),
        call: impl FnOnce(&mut P::Worker) -> R,
        end: impl FnOnce(&mut Log<Times>, &R),
    ) -> R {
        begin(&mut self.log.lock().unwrap());
        fence::full();
        let worker = self.worker.as_mut().expect("it is there between calls");
        let result = operation(kind, || call(worker));
        fence::full();
        end(&mut self.log.lock().unwrap(), &result);
        result
    }

    fn put(&mut self, task: u64) {
        let call = |worker: &mut P::Worker| worker.try_put(task).is_ok();
        self.call("put", |log| log.begin_put(task), call, |log, accepted| log.end_put(*accepted));
    }

    fn get(&mut self) -> Option<u64> {
        self.call("get", Log::begin_get, P::Worker::get, |log, task| log.end_get(*task))
    }

    fn put_all(&mut self, tasks: &'static [u64]) {
        let call = |worker: &mut P::Worker| match worker.put_all(tasks.iter().copied()) {
            Ok(put) => put,
            Err(full) => full.put,
        };
        let begin = |log: &mut Log<Times>| log.begin_put_all(tasks, Batch::Each);
        self.call("put_all", begin, call, |log, put| log.end_put_all(*put));
    }

    fn get_many(&mut self, max: usize) {
        let call = |worker: &mut P::Worker| {
            let mut tasks = Vec::new();
            worker.get_many(max, &mut tasks);
            tasks
        };
        let begin = |log: &mut Log<Times>| log.begin_get_many(max, Batch::Each);
        self.call("get_many", begin, call, |log, tasks: &Vec<u64>| {
            log.end_get_many(tasks.iter().copied());
        });
    }

    fn renew(&mut self) {
        let worker = self.worker.take();
        operation("leave", || drop(worker));
        self.worker = Some(operation("come", || self.pool.worker()));
    }
}
