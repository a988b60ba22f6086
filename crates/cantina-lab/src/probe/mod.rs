//! What single things cost on a machine: one small program for each, that uses nothing of a pool.
//!
//! The same programs run on the real machine, where they measure it, and on the simulated one, where
//! they tell whether the model charges for these things what they cost.

mod alone;
mod interrupted;
mod together;

pub use interrupted::{Interrupted, interruptions, lost};

use together::Load;

/// Something that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Plain code: some instructions that touch nothing shared.
    Code,
    /// A load that waits for none before it, from the first-level cache.
    Loads,
    /// A load that waits for the one before it, from the first-level cache.
    Chase,
    /// A load that waits for the one before it, from memory.
    Memory,
    /// A store to a word that nobody else uses.
    Store,
    /// A read-modify-write of a word that nobody else uses.
    Add,
    /// A store and a full fence.
    Fence,
    /// A store and a turn of a spin loop.
    Pause,
    /// A store, and giving up the processor when nobody else wants it.
    Yield,
    /// Reading the clock.
    Clock,
    /// A block of memory: asking for it, writing to it, giving it back.
    Allocate,
    /// A page of memory that was never touched before.
    Page,
    /// Another line of it: whoever clears a page has it in his caches.
    Fresh,
    /// Taking and releasing a lock that nobody else wants.
    Lock,
    /// A word from one core to the next: half of its way there and back.
    PingPong,
    /// The same from the first core to the last, which is on another node if there is one.
    FarPingPong,
    /// An addition to one word by so many threads, all at once.
    ContendedAdd(usize),
    /// Writing to what a lock guards that another thread wants all the time, too.
    ContendedLock,
    /// A word in a ring from one thread to another, who is behind.
    Pass,
    /// The same with an exchange on each side before it.
    PassFenced,
    /// The first, taken out by an exchange.
    PassTaken,
    /// The first with a block of memory, that the other thread gives back.
    PassBlock,
    /// Waking a sleeping thread, until it runs and does the same.
    Wake,
    /// What of that the one who wakes it loses.
    Unpark,
    /// The heavy side of a fence pair, while another thread computes.
    Heavy,
}

impl Probe {
    /// All that a machine of `nodes` nodes and `cores` cores allows.
    pub fn all(nodes: usize, cores: usize) -> Vec<Self> {
        use Probe::*;
        let mut all = vec![
            Code, Loads, Chase, Memory, Store, Add, Fence, Pause, Yield, Clock, Allocate, Page,
            Fresh, Lock,
        ];
        if cores > 1 {
            all.push(PingPong);
            all.extend((nodes > 1).then_some(FarPingPong));
            all.extend([
                Pass,
                PassFenced,
                PassTaken,
                PassBlock,
                Unpark,
                Wake,
                ContendedLock,
                Heavy,
            ]);
        }
        let doublings = (0..).map(|power| 1 << power).take_while(|&threads| threads < cores);
        all.extend(doublings.chain([cores]).map(ContendedAdd));
        all
    }

    /// What it is called.
    pub fn name(self) -> String {
        match self {
            Self::Code => "plain code".to_owned(),
            Self::Loads => "load".to_owned(),
            Self::Chase => "load, dependent".to_owned(),
            Self::Memory => "load, from memory".to_owned(),
            Self::Store => "store".to_owned(),
            Self::Add => "fetch-add, alone".to_owned(),
            Self::Fence => "store and full fence".to_owned(),
            Self::Pause => "store and pause".to_owned(),
            Self::Yield => "store and yield".to_owned(),
            Self::Clock => "clock".to_owned(),
            Self::Allocate => "allocate and free".to_owned(),
            Self::Page => "fresh page".to_owned(),
            Self::Fresh => "line of a fresh page".to_owned(),
            Self::Lock => "lock and unlock".to_owned(),
            Self::PingPong => "ping-pong, one way".to_owned(),
            Self::FarPingPong => "ping-pong, far".to_owned(),
            Self::ContendedAdd(1) => "fetch-add, 1 thread".to_owned(),
            Self::ContendedAdd(threads) => format!("fetch-add, {threads} threads"),
            Self::ContendedLock => "lock and write, 2 threads".to_owned(),
            Self::Pass => "word through a ring".to_owned(),
            Self::PassFenced => "word and exchange, ring".to_owned(),
            Self::PassTaken => "word by exchange, ring".to_owned(),
            Self::PassBlock => "block through a ring".to_owned(),
            Self::Wake => "wake a sleeper, one way".to_owned(),
            Self::Unpark => "wake a sleeper, the call".to_owned(),
            Self::Heavy => "heavy fence".to_owned(),
        }
    }

    /// How often it is done for a reading on a real machine. A reading is short, so that threads mostly
    /// run through it without being interrupted; memory and pages are more than a cache or an
    /// allocator keeps.
    pub fn turns(self) -> usize {
        match self {
            Self::Memory => 1 << 20,
            Self::Page => 10_000,
            Self::Yield => 500,
            Self::PingPong | Self::FarPingPong => 1_000,
            Self::Pass | Self::PassFenced | Self::PassTaken | Self::PassBlock => 20_000,
            Self::Wake | Self::Unpark => 200,
            Self::Heavy => 20,
            _ => 10_000,
        }
    }

    /// Nanoseconds that one takes, of `turns` in a row. `None` where threads should have run at the
    /// same time, and did not.
    pub fn measure(self, turns: usize) -> Option<f64> {
        let turns = turns.max(1);
        match self {
            Self::Code => Some(alone::code(turns)),
            Self::Loads => Some(alone::loads(turns)),
            Self::Chase => Some(alone::chase(turns)),
            Self::Memory => Some(alone::chase_through_memory(turns)),
            Self::Store => Some(alone::store(turns)),
            Self::Add => Some(alone::add(turns)),
            Self::Fence => Some(alone::fence(turns)),
            Self::Pause => Some(alone::pause(turns)),
            Self::Yield => Some(alone::give_up(turns)),
            Self::Clock => Some(alone::clock(turns)),
            Self::Allocate => Some(alone::allocate(turns)),
            Self::Page => Some(alone::page(turns)),
            Self::Fresh => Some(alone::fresh(turns)),
            Self::Lock => Some(alone::lock(turns)),
            Self::PingPong => Some(together::ping_pong(turns, false)),
            Self::FarPingPong => Some(together::ping_pong(turns, true)),
            Self::ContendedAdd(threads) => together::add(threads, turns),
            Self::ContendedLock => together::lock(turns),
            Self::Pass => Some(together::pass(turns, Load::Word)),
            Self::PassFenced => Some(together::pass(turns, Load::FencedWord)),
            Self::PassTaken => Some(together::pass(turns, Load::TakenWord)),
            Self::PassBlock => Some(together::pass(turns, Load::Block)),
            Self::Wake => Some(together::wake(turns).0),
            Self::Unpark => Some(together::wake(turns).1),
            Self::Heavy => Some(together::heavy(turns)),
        }
    }
}

/// Nanoseconds of a word from one core to the next, of `turns` there and back.
pub(crate) fn ping_pong(turns: usize) -> f64 {
    together::ping_pong(turns, false)
}

/// Nanoseconds of an addition to a word that another core adds to as well, `turns` times; none where they did not run at the same
/// time.
pub(crate) fn contended_add(turns: usize) -> Option<f64> {
    together::add(2, turns)
}

#[cfg(test)]
mod tests {
    use super::Probe;

    #[test]
    fn everything_takes_time() {
        for probe in Probe::all(2, 2) {
            let nanos = probe.measure(probe.turns() / 10);
            assert!(nanos.is_none_or(|nanos| nanos > 0.0 && nanos.is_finite()), "{}", probe.name());
            assert!(
                nanos.is_some() || matches!(probe, Probe::ContendedAdd(2) | Probe::ContendedLock),
                "{}",
                probe.name()
            );
        }
    }
}
