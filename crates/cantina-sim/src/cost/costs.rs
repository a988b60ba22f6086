//! The parameters of the model, in one table per machine.
//!
//! # Sources
//! * [`Costs::opteron`]: David, Guerraoui, Trigonakis, *Everything you always wanted to know about
//!   synchronization but were afraid to ask*, SOSP 2013, table 2, which measured a 48-core Opteron
//!   with 2.1 GHz: same die, one hop, two hops. The third hop continues the series. Hits,
//!   fence, pause and the operating system's part are common values of such processors.
//! * [`Costs::epyc`]: contended compare-and-exchange within a core complex, between complexes and
//!   between sockets, 23, 107 and 197 ns, measured on two EPYC 7R13 (Milan) by
//!   github.com/nviennot/core-to-core-latency; taken at 3.5 GHz.
//! * [`Costs::xeon`]: the same source, two Xeon Platinum 8375C (Ice Lake): 51 and 108 ns, at 3.5 GHz.
//!
//! The modern machines' other rows are derived: a load or store is the exchange less its own 20
//! cycles, a shared line costs a tenth more than an owned one, memory is about 110 and 200 ns.

/// Cycles by distance: same node, one hop, two, three or more.
pub type Hops = [u64; 4];

/// What things cost, in cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Costs {
    /// Instructions around an access.
    pub overhead: u64,
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
    /// The first touch of a page.
    pub page: u64,
    /// Going to sleep.
    pub park: u64,
    /// Waking somebody who sleeps.
    pub unpark: u64,
    /// From there until the sleeper runs.
    pub wake: u64,
    /// Starting a thread.
    pub spawn: u64,

    /// A load of a line that another core owns.
    pub load_owned: Hops,
    /// A load of a line that other cores share.
    pub load_shared: Hops,
    /// A load or store of a line that no cache has.
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
    /// How long it occupies the memory of a node.
    pub channel: u64,
    /// How long a miss occupies the bus that all nodes share; 0 where there is none.
    pub probe: u64,
    /// How long a line that is being read is not to be had by others.
    pub read_hold: u64,
    /// For how much of a transfer the old owner still has the line: percent, on average.
    pub hold: u64,
    /// Every access takes up to so many cycles more, at random.
    pub jitter: u64,
}

impl Costs {
    /// An AMD Opteron of 2008 with several sockets.
    pub fn opteron() -> Self {
        Self {
            overhead: 2,
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
            page: 2_000,
            park: 2_000,
            unpark: 2_000,
            wake: 8_000,
            spawn: 20_000,
            load_owned: [81, 172, 252, 332],
            load_shared: [83, 176, 254, 334],
            memory: [136, 247, 327, 407],
            store_owned: [83, 191, 273, 353],
            store_shared: [246, 286, 296, 376],
            rmw_owned: [110, 216, 296, 376],
            rmw_shared: [272, 312, 332, 412],
            link: 23,
            channel: 18,
            probe: 0,
            read_hold: 40,
            hold: 20,
            jitter: 3,
        }
    }

    /// An AMD EPYC of 2021 with two sockets; a node is a core complex, one hop is within the socket.
    pub fn epyc() -> Self {
        let memory = [385, 385, 700, 700];
        Self { link: 5, channel: 7, ..Self::of_exchange([80, 375, 690, 690], memory) }
    }

    /// An Intel Xeon of 2021 with two sockets.
    pub fn xeon() -> Self {
        let memory = [300, 490, 490, 490];
        Self { link: 4, channel: 1, ..Self::of_exchange([178, 378, 378, 378], memory) }
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
}
