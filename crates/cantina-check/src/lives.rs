//! A history by its tasks: when each went in, and when it came out.
//!
//! What is wrong with one task alone comes out on the way: got and never put, got twice, got before
//! its put began. The judges that follow see tasks with one put and at most one get, which does not
//! end before the put starts.

use crate::history::{Action, History, Item, NEVER};
use crate::verdict::Reason;

/// When a task went in and came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) item: Item,
    pub(crate) put_start: u64,
    /// [`NEVER`]: the put is pending.
    pub(crate) put_end: u64,
    /// [`NEVER`]: it was not got.
    pub(crate) get_start: u64,
    /// [`NEVER`]: it was not got, or by a pending get.
    pub(crate) get_end: u64,
}

/// An answer that only tells something about the state: empty, or full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Its place in the history.
    pub(crate) operation: usize,
}

/// A pending get of up to `max` tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Take {
    pub(crate) start: u64,
    pub(crate) max: usize,
}

/// A history by its tasks.
#[derive(Debug)]
pub(crate) struct Lives {
    pub(crate) lives: Vec<Life>,
    pub(crate) empties: Vec<Look>,
    pub(crate) fulls: Vec<Look>,
    /// In the order of their starts.
    pub(crate) takes: Vec<Take>,
    /// Whether something happened at once, which the lives do not show.
    pub(crate) at_once: bool,
}

/// A violation, and a part of the history that shows it, not yet as small as it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) reason: Reason,
    /// Everything that was done with these tasks belongs to it,
    pub(crate) items: Vec<Item>,
    /// and these answers, by their places in the history,
    pub(crate) looks: Vec<usize>,
    /// and the pending gets, with all the tasks they may have taken.
    pub(crate) takes: bool,
}

impl Finding {
    pub(crate) fn new(reason: Reason, items: Vec<Item>) -> Self {
        Self { reason, items, looks: Vec::new(), takes: false }
    }
}

impl Life {
    /// Nobody is known to have got it.
    pub(crate) fn is_untaken(&self) -> bool {
        self.get_start == NEVER
    }

    /// It may never have been put, and nobody would notice.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.put_end == NEVER && self.is_untaken()
    }
}

impl Lives {
    /// Sorts a history by its tasks, unless one of them alone shows that something is wrong.
    pub(crate) fn of(history: &History) -> Result<Self, Finding> {
        let mut puts: Vec<(Item, usize)> = Vec::with_capacity(history.len());
        let mut gets: Vec<(Item, usize)> = Vec::with_capacity(history.len());
        let mut it = Self {
            lives: Vec::new(),
            empties: Vec::new(),
            fulls: Vec::new(),
            takes: Vec::new(),
            at_once: false,
        };
        for (index, operation) in history.operations().iter().enumerate() {
            let (action, start) = (&operation.action, operation.start);
            let look = Look { start, end: operation.end.unwrap_or(NEVER), operation: index };
            puts.extend(action.items_put().iter().map(|&item| (item, index)));
            gets.extend(action.items_got().iter().map(|&item| (item, index)));
            if action.item_given_back().is_some() {
                it.fulls.push(look);
            }
            match action {
                Action::Empty => it.empties.push(look),
                Action::Getting { max } => it.takes.push(Take { start, max: *max }),
                Action::GettingAtOnce { max } => {
                    it.takes.push(Take { start, max: *max });
                    it.at_once |= *max > 1;
                }
                Action::PutAtOnce { items, full } => {
                    it.at_once |= items.len() + usize::from(full.is_some()) > 1;
                }
                Action::GetAtOnce(items) => it.at_once |= items.len() > 1,
                Action::Put(_) | Action::Full(_) | Action::Get(_) => {}
            }
        }
        puts.sort_unstable();
        gets.sort_unstable();
        it.lives = join(history, &puts, &gets)?;
        Ok(it)
    }

    /// All of the history: no order explains it, and nothing smaller is known that shows it.
    pub(crate) fn everything(&self) -> Finding {
        Finding {
            reason: Reason::NoOrder,
            items: self.lives.iter().map(|life| life.item).collect(),
            looks: self.empties.iter().chain(&self.fulls).map(|look| look.operation).collect(),
            takes: true,
        }
    }

    /// The lives with the pending gets dealt out: each task that nobody got is either got from now
    /// on by a pending get, from its start and without an end, or stays. Tasks that may never have
    /// been put are left out. The tasks that were put first, by the ends of their puts, go to the
    /// pending gets that started first.
    pub(crate) fn dealt_out(&self) -> Vec<Life> {
        let mut lives: Vec<Life> =
            self.lives.iter().filter(|life| !life.is_doubtful()).copied().collect();
        if !self.takes.is_empty() {
            let mut untaken: Vec<&mut Life> =
                lives.iter_mut().filter(|life| life.is_untaken()).collect();
            untaken.sort_unstable_by_key(|life| life.put_end);
            let mut untaken = untaken.into_iter();
            for take in &self.takes {
                untaken.by_ref().take(take.max).for_each(|life| life.get_start = take.start);
            }
        }
        lives
    }
}

/// Joins puts and gets, both in the order of the items, to lives.
fn join(
    history: &History,
    puts: &[(Item, usize)],
    gets: &[(Item, usize)],
) -> Result<Vec<Life>, Finding> {
    let operations = history.operations();
    let mut lives = Vec::with_capacity(puts.len());
    let mut gets = gets;
    // Of several findings the one that starts first is told.
    let mut first: Option<(usize, Reason, Item)> = None;
    let mut found = |operation: usize, reason: Reason, item: Item| {
        if first.as_ref().is_none_or(|(earliest, ..)| operation < *earliest) {
            first = Some((operation, reason, item));
        }
    };
    for &(item, put) in puts {
        while let Some(&(got, get)) = gets.first()
            && got < item
        {
            found(get, Reason::NeverPut(got), got);
            gets = &gets[1..];
        }
        let of_this = gets.partition_point(|&(got, _)| got == item).min(gets.len());
        let own = &gets[..of_this];
        gets = &gets[of_this..];
        let put = &operations[put];
        let mut life = Life {
            item,
            put_start: put.start,
            put_end: put.end.unwrap_or(NEVER),
            get_start: NEVER,
            get_end: NEVER,
        };
        if let Some(&(_, get)) = own.first() {
            life.get_start = operations[get].start;
            life.get_end = operations[get].end.unwrap_or(NEVER);
            if life.get_end < life.put_start {
                found(get, Reason::GotBeforePut(item), item);
            }
        }
        if let Some(&(_, again)) = own.get(1) {
            found(again, Reason::GotTwice(item), item);
        }
        lives.push(life);
    }
    gets.iter().for_each(|&(got, get)| found(get, Reason::NeverPut(got), got));
    match first {
        None => Ok(lives),
        Some((_, Reason::NeverPut(_), item)) => Err(never_put(history, item)),
        Some((_, reason, item)) => Err(Finding::new(reason, vec![item])),
    }
}

/// A task that nobody put, or one that was given back.
fn never_put(history: &History, item: Item) -> Finding {
    let given_back = history
        .operations()
        .iter()
        .position(|operation| operation.action.item_given_back() == Some(item));
    match given_back {
        None => Finding::new(Reason::NeverPut(item), vec![item]),
        Some(put) => {
            Finding { looks: vec![put], ..Finding::new(Reason::GivenBack(item), vec![item]) }
        }
    }
}
