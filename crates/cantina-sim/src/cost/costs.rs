//! The parameters of the model, in one table per machine.
//!
//! # Sources
//! | number | where it comes from |
//! |---|---|
//! | [`Costs::opteron`], the seven rows by distance | David, Guerraoui, Trigonakis, *Everything you always wanted to know about synchronization but were afraid to ask*, SOSP 2013, table 2: a 48-core Opteron with 2.1 GHz, same die, one hop, two hops. Not compared with the printed table again. The third hop is an estimate: it continues the series |
//! | its `link`, `channel` | estimates: 64 bytes in 23 and in 18 cycles at 2.3 GHz are 6.4 and 8.2 GB/s, about what HyperTransport and two channels of memory gave |
//! | its `request` | estimate: an eighth of a line, as a control packet of 8 bytes |
//! | its other numbers | estimates: common values of processors and systems of that time |
//! | [`Costs::epyc`], the exchange within a core complex, between complexes, between sockets | 23, 107 and 197 ns, measured on two EPYC 7R13 (Milan) by github.com/nviennot/core-to-core-latency; taken at 3.5 GHz, which is an estimate of its clock under load |
//! | [`Costs::xeon`], the exchange within a socket and between sockets | 51 and 108 ns, the same source, two Xeon Platinum 8375C (Ice Lake), at 3.5 GHz, as above |
//! | their `memory` | estimates: about 110 and 200 ns on the EPYC, 85 and 140 ns on the Xeon |
//! | their `link`, `channel` | estimates: tens of gigabytes a second for a link, and for the memory of a node |
//! | their other rows by distance | derived: a load or store is the exchange less its own 20 cycles, a shared line costs a tenth more than an owned one |
//! | the Opteron's `stream` | none assumed: the model's numbers are then those of an older one without streams |
//! | their `stream` | estimate: a prefetcher of today hides most of a stream |
//! | their `stream_rmw` | estimate: nothing is hidden of what a read-modify-write waits for |
//! | `lock_watched` | 0 where it was not measured |
//! | their `l1`, `l2`, `pause` | estimates: common values, not looked up; a pause differs several times over between processors |
//! | `instruction` | estimate: two instructions a cycle, between what such processors do at best and what they do in code that waits |
//! | their other numbers | the Opteron's, in cycles |
//!
//! The numbers of a machine that was measured come from `cantina calibrate`.

use serde::{Deserialize, Serialize};

/// The longest that anything may take: a second or so.
const MOST: u64 = 10_000_000_000;

/// Cycles by distance: same node, one hop, two, three or more.
pub type Hops = [u64; 4];

/// What things cost, in cycles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Costs {
    /// Instructions around an access.
    pub overhead: u64,
    /// A hundred instructions, where they are [billed](crate::charge::instructions); what an access takes is beyond them.
    pub instruction: u64,
    /// A hit in the first-level cache.
    pub l1: u64,
    /// A hit in the second-level cache.
    pub l2: u64,
    /// Putting a store into the store buffer.
    pub store: u64,
    /// The least time a store stays there.
    pub drain: u64,
    /// A read-modify-write of a line that the core owns.
    pub rmw: u64,
    /// A full fence, once the store buffer is empty.
    pub fence: u64,
    /// The heavy side of a fence pair: a system call that interrupts all cores.
    pub heavy: u64,
    /// What the interrupt takes from everybody else.
    pub interrupt: u64,
    /// A turn of a spin loop.
    pub pause: u64,
    /// Giving up the processor: a system call.
    pub give_up: u64,
    /// Reading the clock.
    pub clock: u64,
    /// Asking the allocator for memory, or giving it back.
    pub malloc: u64,
    /// What it takes more to get memory that another core has given back, or to give back another
    /// core's unless one was the last to do so, besides touching what is touched.
    pub malloc_shared: u64,
    /// The first touch of a page.
    pub page: u64,
    /// Going to sleep.
    pub park: u64,
    /// Waking somebody who sleeps.
    pub unpark: u64,
    /// From there until the sleeper runs.
    pub wake: u64,
    /// What whoever takes a lock loses while others look at it again and again.
    pub lock_watched: u64,
    /// Starting a thread.
    pub spawn: u64,

    /// A load of a line that another core owns.
    pub load_owned: Hops,
    /// A load of a line that other cores share.
    pub load_shared: Hops,
    /// A load or store of a line that no cache has: the first, for none ever leaves all caches.
    pub memory: Hops,
    /// A store to a line that another core has for itself.
    pub store_owned: Hops,
    /// A store to a line that other cores have copies of.
    pub store_shared: Hops,
    /// A read-modify-write of a line that another core has for itself.
    pub rmw_owned: Hops,
    /// A read-modify-write of a line that other cores have copies of.
    pub rmw_shared: Hops,

    /// How long a line occupies the link of a node that it leaves or enters.
    pub link: u64,
    /// How long a request for a line occupies the link of the line's home.
    pub request: u64,
    /// How long it occupies the memory of a node.
    pub channel: u64,
    /// How long a miss occupies the bus that all nodes share; 0 where there is none.
    pub probe: u64,
    /// How long a line that is being read is not to be had by others.
    pub read_hold: u64,
    /// For how much of a transfer the old owner still has the line: percent, on average.
    pub hold: u64,
    /// How much of a transfer is left to wait for when lines are asked for one behind the other: percent.
    pub stream: u64,
    /// The same for read-modify-writes, which wait for each other.
    pub stream_rmw: u64,
    /// Every access takes up to so many cycles more, at random.
    pub jitter: u64,
}

impl Costs {
    /// An AMD Opteron of 2008 with several sockets.
    pub fn opteron() -> Self {
        Self {
            overhead: 2,
            instruction: 50,
            l1: 3,
            l2: 15,
            store: 1,
            drain: 10,
            rmw: 20,
            fence: 40,
            heavy: 4_000,
            interrupt: 1_000,
            pause: 10,
            give_up: 500,
            clock: 20,
            malloc: 60,
            malloc_shared: 60,
            page: 2_000,
            park: 2_000,
            unpark: 2_000,
            wake: 8_000,
            lock_watched: 0,
            spawn: 20_000,
            load_owned: [81, 172, 252, 332],
            load_shared: [83, 176, 254, 334],
            memory: [136, 247, 327, 407],
            store_owned: [83, 191, 273, 353],
            store_shared: [246, 286, 296, 376],
            rmw_owned: [110, 216, 296, 376],
            rmw_shared: [272, 312, 332, 412],
            link: 23,
            request: 3,
            channel: 18,
            probe: 0,
            read_hold: 40,
            hold: 20,
            stream: 100,
            stream_rmw: 100,
            jitter: 3,
        }
    }

    /// An AMD EPYC of 2021 with two sockets; a node is a core complex, one hop is within the socket.
    pub fn epyc() -> Self {
        let memory = [385, 385, 700, 700];
        Self { link: 5, request: 1, channel: 7, ..Self::of_exchange([80, 375, 690, 690], memory) }
    }

    /// An Intel Xeon of 2021 with two sockets.
    pub fn xeon() -> Self {
        let memory = [300, 490, 490, 490];
        Self { link: 4, request: 1, channel: 1, ..Self::of_exchange([178, 378, 378, 378], memory) }
    }

    /// A machine of which contended exchanges and memory were measured.
    pub fn of_exchange(exchange: Hops, memory: Hops) -> Self {
        let opteron = Self::opteron();
        let less = exchange.map(|cycles| cycles.saturating_sub(opteron.rmw).max(1));
        let shared = |hops: Hops| hops.map(|cycles| cycles + cycles / 10);
        Self {
            l1: 5,
            l2: 14,
            pause: 40,
            stream: 25,
            load_owned: less,
            load_shared: less,
            memory,
            store_owned: less,
            store_shared: shared(less),
            rmw_owned: exchange,
            rmw_shared: shared(exchange),
            ..opteron
        }
    }

    /// Whether a machine can have them: what is wrong, in one line, if not.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self {
            overhead, instruction, l1, l2, store, drain, rmw, fence, heavy, interrupt, ..
        } = *self;
        let Self { pause, give_up, clock, malloc, malloc_shared, page, park, unpark, .. } = *self;
        let Self {
            wake,
            lock_watched,
            spawn,
            link,
            request,
            channel,
            probe,
            read_hold,
            hold,
            jitter,
            ..
        } = *self;
        let single = [
            overhead,
            instruction,
            l1,
            l2,
            store,
            drain,
            rmw,
            fence,
            heavy,
            interrupt,
            pause,
            give_up,
            clock,
            malloc,
            malloc_shared,
            page,
            park,
            unpark,
            wake,
            lock_watched,
            spawn,
            link,
            request,
            channel,
            probe,
            read_hold,
            jitter,
        ];
        let by_distance = [
            self.load_owned,
            self.load_shared,
            self.memory,
            self.store_owned,
            self.store_shared,
            self.rmw_owned,
            self.rmw_shared,
        ];
        if single.iter().chain(by_distance.as_flattened()).any(|&cycles| cycles > MOST) {
            return Err(format!("a cost of more than {MOST} cycles"));
        }
        if overhead == 0 {
            return Err("an overhead of 0: then a loop takes no time".to_owned());
        }
        if hold > 100 {
            return Err("a line is held for more than 100 percent of its transfer".to_owned());
        }
        if self.stream.max(self.stream_rmw) > 100 {
            return Err("more than 100 percent is left of a transfer in a stream".to_owned());
        }
        Ok(())
    }
}
