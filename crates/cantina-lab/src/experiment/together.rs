//! Threads that begin together.

use machine::atomic::AtomicUsize;
use machine::atomic::Ordering::Relaxed;
use machine::{Arc, Backoff, thread};

/// What `work` returns on each of so many threads, none of which begins before all are there. It is told the number
/// of its thread.
pub(super) fn together<R: Send + 'static>(
    threads: usize,
    work: impl Fn(usize) -> R + Clone + Send + 'static,
) -> Vec<R> {
    let missing = Arc::new(AtomicUsize::new(threads));
    let crew = (0..threads).map(|number| {
        let (missing, work) = (missing.clone(), work.clone());
        thread::spawn(move || {
            // bare: nothing is read through it.
            missing.fetch_sub(1, Relaxed);
            let backoff = Backoff::new();
            // bare: as above.
            while missing.load(Relaxed) > 0 {
                backoff.snooze();
            }
            work(number)
        })
    });
    let crew: Vec<_> = crew.collect();
    crew.into_iter().map(|one| one.join().expect("nobody panics")).collect()
}

#[cfg(test)]
mod tests {
    use super::together;
    use machine::Arc;
    use machine::atomic::AtomicUsize;
    use machine::atomic::Ordering::SeqCst;

    #[test]
    fn everybody_is_there_before_anybody_begins() {
        assert!(together(0, |number| number).is_empty());
        assert_eq!(together(3, |number| number), [0, 1, 2]);
        let here = Arc::new(AtomicUsize::new(0));
        let seen = here.clone();
        let all = together(4, move |_| {
            seen.fetch_add(1, SeqCst);
            while seen.load(SeqCst) < 4 {
                machine::thread::yield_now();
            }
            seen.load(SeqCst)
        });
        assert_eq!(all, [4; 4]);
    }
}
