//! Tasks that borrow: pools take them, and scoped threads put and get them.
//!
//! The suite's tasks own what they are, because the simulated machine has no scoped threads.

use cantina::locked::Locked;
use cantina::pool::{Consumer, Producer, TaskPool};
use cantina_lab::contender::Bags;
use std::thread;

const TEXT: &str = "every word of this text is put by one thread and got by another";

/// The words of `text`, put by one thread and got by two others.
fn words_of<'a>(text: &'a str, pool: &impl TaskPool<&'a str>) -> Vec<&'a str> {
    let count = text.split(' ').count();
    let mut words = thread::scope(|scope| {
        let mut producer = pool.producer();
        scope.spawn(move || {
            for word in text.split(' ') {
                assert!(producer.try_put(word).is_ok(), "there is room for a text");
            }
        });
        let getters = [count / 2, count - count / 2].map(|share| {
            let mut consumer = pool.consumer();
            scope.spawn(move || {
                let words = std::iter::repeat_with(|| {
                    thread::yield_now();
                    consumer.get()
                });
                words.flatten().take(share).collect::<Vec<_>>()
            })
        });
        getters.map(|getter| getter.join().unwrap()).concat()
    });
    words.sort_by_key(|word| word.as_ptr());
    words
}

/// Halves the numbers that `numbers` lends, on another thread, by way of a pool.
fn halve<'a>(numbers: &'a mut [u32], pool: &impl TaskPool<&'a mut [u32]>) {
    let mut producer = pool.producer();
    let put = producer.put_all(numbers.chunks_mut(3)).map_err(|_| "there is room for a few");
    assert!(put.is_ok_and(|put| put > 1));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut worker = pool.worker();
            while let Some(chunk) = worker.get() {
                chunk.iter_mut().for_each(|number| *number /= 2);
            }
        });
    });
}

#[test]
fn locked_takes_tasks_that_borrow() {
    let text = TEXT.to_owned();
    let words = words_of(&text, &Locked::new());
    assert_eq!(words.join(" "), text);
}

#[test]
fn locked_takes_tasks_that_borrow_to_change() {
    let mut numbers: Vec<u32> = (0..10).map(|number| 2 * number).collect();
    halve(&mut numbers, &Locked::new());
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}

#[test]
fn the_bags_take_tasks_that_borrow() {
    let text = TEXT.to_owned();
    let words = words_of(&text, &Bags::<_, 4>::retiring(1));
    assert_eq!(words.join(" "), text);
}

#[test]
fn the_bags_take_tasks_that_borrow_to_change() {
    let mut numbers: Vec<u32> = (0..10).map(|number| 2 * number).collect();
    halve(&mut numbers, &Bags::<_, 4>::retiring(1));
    assert_eq!(numbers, (0..10).collect::<Vec<_>>());
}
