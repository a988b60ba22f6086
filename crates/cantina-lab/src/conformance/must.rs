//! Calls that a pool cannot refuse where they are made.

use super::crew::Watch;
use super::finding::Finding;
use super::task::{Numbered, number};
use cantina::pool::{Consumer, Full, Producer};

/// Puts `task`, for which there is room.
pub(super) fn put<T>(producer: &mut impl Producer<T>, task: T) -> Result<(), Finding> {
    producer
        .try_put(task)
        .map_err(|Full(_)| Finding::new("room for a task", "`Full`, though there had to be some"))
}

/// Gets a task, of which there is one; `because` says why.
pub(super) fn get<T>(consumer: &mut impl Consumer<T>, because: &str) -> Result<T, Finding> {
    consumer.get().ok_or_else(|| Finding::new(format!("a task, because {because}"), "`None`"))
}

/// The numbers of all tasks that `consumer` gets until there are none.
pub(super) fn drain<T: Numbered>(
    consumer: &mut impl Consumer<T>,
    watch: &Watch,
) -> Result<Vec<u64>, Finding> {
    let mut numbers = Vec::new();
    while let Some(task) = consumer.get() {
        watch.check("getting what is left")?;
        numbers.push(number(&task)?);
    }
    Ok(numbers)
}
