//! A lock and room for one task; the lock is not released when there is no room, if asked.

use super::twin::Twin;
use machine::lock::Mutex;
use machine::trace;

pub(crate) struct Shelf {
    /// Whether a put that finds it full keeps the lock.
    keeps_the_lock: bool,
    task: Mutex<Option<u64>>,
}

impl Shelf {
    pub(crate) fn new(keeps_the_lock: bool) -> Self {
        Self { keeps_the_lock, task: Mutex::new(None) }
    }
}

impl Twin for Shelf {
    fn name(&self) {
        trace::name(&self.task, "shelf");
    }

    fn put(&self, task: u64) -> bool {
        let mut shelf = self.task.lock();
        if shelf.is_some() {
            if self.keeps_the_lock {
                std::mem::forget(shelf);
            }
            return false;
        }
        *shelf = Some(task);
        true
    }

    fn get(&self) -> Option<u64> {
        self.task.lock().take()
    }
}
