//! Linux: `membarrier`, `sched_setaffinity`, `/sys/devices/system/node`, `mbind`.

use crate::topology::{CoreId, HERE, Topology};
use std::fs;
use std::io;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The usual page size; larger ones only make a block's end share a page with nothing.
pub(crate) const PAGE: usize = 4_096;

/// From `linux/membarrier.h`.
const MEMBARRIER_GLOBAL: i32 = 1;
const MEMBARRIER_PRIVATE_EXPEDITED: i32 = 1 << 3;
const MEMBARRIER_REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;
/// How often an expedited barrier is tried again when the kernel lacks memory for it.
const MEMBARRIER_TRIES: usize = 3;

/// From `linux/mempolicy.h`: this node if it has room, else any.
const MPOL_PREFERRED: i32 = 1;
/// Nodes that a mask of one word can name.
const MASK_BITS: usize = u64::BITS as usize;

fn membarrier(command: i32) -> bool {
    // SAFETY: `membarrier` takes a command, flags and a processor, and touches no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

pub(crate) fn register_heavy_fence() -> bool {
    membarrier(MEMBARRIER_REGISTER_PRIVATE_EXPEDITED)
}

pub(crate) fn heavy_fence() -> bool {
    (0..MEMBARRIER_TRIES).any(|_| membarrier(MEMBARRIER_PRIVATE_EXPEDITED))
        || membarrier(MEMBARRIER_GLOBAL)
}

pub(crate) fn pin_to(core: CoreId) -> Result<(), String> {
    if core.0 >= CORES {
        return Err(format!("there are at most {CORES} cores"));
    }
    set_own(&[core.0]).map_err(|error| error.to_string())
}

pub(crate) fn current_core() -> Option<CoreId> {
    // SAFETY: takes nothing and touches nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok().map(CoreId)
}

/// Cores of a set, as the kernel has them.
const CORES: usize = libc::CPU_SETSIZE as usize;
const WORD: usize = u64::BITS as usize;

/// The cores that the first thread might run on as the program was loaded, bit by bit: later it may have pinned itself, and nobody else is there to ask.
static AT_START: [AtomicU64; CORES / WORD] = [const { AtomicU64::new(0) }; CORES / WORD];

/// What is run before `main`, or by who loads a library that we are part of.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTES: extern "C" fn() = note_cores;

extern "C" fn note_cores() {
    let Some(set) = set_of_thread(0) else { return };
    // SAFETY: all of them fit into the set.
    for core in (0..CORES).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }) {
        AT_START[core / WORD].fetch_or(1 << (core % WORD), Relaxed);
    }
}

/// The cores this process may run on: those of any of its threads, or of its first one once, whoever asks.
fn allowed_cores() -> Option<Vec<usize>> {
    // That it is named here makes it part of every program that asks.
    std::hint::black_box(&NOTES);
    let mut cores = cores_of_thread(0)?;
    let at_start = |core: &usize| AT_START[core / WORD].load(Relaxed) & 1 << (core % WORD) != 0;
    cores.extend((0..CORES).filter(at_start));
    for thread in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let number = thread.file_name().to_str().and_then(|number| number.parse().ok());
        // One that has ended meanwhile had none.
        cores.extend(number.and_then(cores_of_thread).into_iter().flatten());
    }
    cores.sort_unstable();
    cores.dedup();
    Some(cores)
}

/// Of how many cores this process has the use, where the calling thread has that of `here`: its own cores may be fewer, and so may be what a
/// quota leaves, which is the process's.
pub(crate) fn parallelism(here: usize) -> usize {
    let own = cores_of_thread(0).map_or(0, |cores| cores.len());
    let all = allowed_cores().map_or(own, |cores| cores.len());
    if here < own || own >= all { here } else { all.min(quota()).max(here) }
}

/// How many cores a thread has the use of that may run on all of them, as `std` says.
fn quota() -> usize {
    static QUOTA: OnceLock<usize> = OnceLock::new();
    let of_all = || {
        let cores = allowed_cores()?;
        set_own(&cores).ok()?;
        std::thread::available_parallelism().map(usize::from).ok()
    };
    // A thread of its own, because it is not pinned.
    let ask = || std::thread::Builder::new().spawn(of_all).ok()?.join().ok()?;
    *QUOTA.get_or_init(|| ask().unwrap_or(usize::MAX))
}

/// The cores that a thread may run on; 0 is the calling one.
fn cores_of_thread(thread: libc::pid_t) -> Option<Vec<usize>> {
    let set = set_of_thread(thread)?;
    // SAFETY: all of them fit into the set.
    Some((0..CORES).filter(|&core| unsafe { libc::CPU_ISSET(core, &set) }).collect())
}

/// The same, as the kernel has it.
fn set_of_thread(thread: libc::pid_t) -> Option<libc::cpu_set_t> {
    // SAFETY: a `cpu_set_t` of zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is as long as we say; a thread that there is not is an error.
    let told = unsafe { libc::sched_getaffinity(thread, size_of_val(&set), &mut set) };
    (told == 0).then_some(set)
}

/// Lets the calling thread run on `cores`, which are no larger than the kernel's largest.
fn set_own(cores: &[usize]) -> io::Result<()> {
    // SAFETY: a `cpu_set_t` of zeroes is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for core in cores {
        // SAFETY: the core fits into the set, as the caller says.
        unsafe { libc::CPU_SET(*core, &mut set) };
    }
    // SAFETY: 0 is the calling thread; the set is as long as we say.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&set), &set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn topology() -> Option<Topology> {
    with_nodes(allowed_cores()?)
}

pub(crate) fn topology_of_thread() -> Option<Topology> {
    with_nodes(cores_of_thread(0)?)
}

fn with_nodes(allowed: Vec<usize>) -> Option<Topology> {
    read_topology(Path::new("/sys/devices/system/node"), &allowed).or_else(|| {
        // One node, of the cores that we may use.
        let cores = allowed.into_iter().map(CoreId).collect();
        Topology::new(vec![cores], vec![vec![HERE]]).ok()
    })
}

/// The nodes under `folder`, with those of their cores that are allowed.
fn read_topology(folder: &Path, allowed: &[usize]) -> Option<Topology> {
    let read = |path: String| fs::read_to_string(folder.join(path)).ok();
    let os_nodes = parse_list(&read("online".to_owned())?)?;
    let mut cores = Vec::new();
    let mut distances = Vec::new();
    for node in &os_nodes {
        let mut here = parse_list(&read(format!("node{node}/cpulist"))?)?;
        here.retain(|core| allowed.contains(core));
        cores.push(here.into_iter().map(CoreId).collect());
        let row = read(format!("node{node}/distance"))?;
        distances.push(row.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?);
    }
    // Cores that no node claims would be lost: such a kernel tells too little.
    let found: usize = cores.iter().map(Vec::len).sum();
    if found != allowed.len() {
        return None;
    }
    Topology::with_os_nodes(cores, os_nodes, distances).ok()
}

/// `0-3,8,10-11` as numbers.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        numbers.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(numbers)
}

pub(crate) fn map_on_node(bytes: usize, node: usize) -> Option<NonNull<u8>> {
    if node >= MASK_BITS {
        return None;
    }
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = NonNull::new(start.cast::<u8>())?;
    let mask = 1u64 << node;
    // The kernel wants one more than the number of bits.
    let bits = MASK_BITS + 1;
    // SAFETY: the mapping is `bytes` long and the mask has the bits we say. It only states a wish.
    let told = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            start.as_ptr(),
            bytes,
            MPOL_PREFERRED,
            &raw const mask,
            bits,
            0,
        )
    };
    if told != 0 {
        // SAFETY: mapped above with this size, and nobody has seen it.
        unsafe { unmap(start, bytes) };
        return None;
    }
    Some(start)
}

/// # Safety
/// `start` came from [`map_on_node`] with the same `bytes`, and is not used any more.
pub(crate) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's.
    let result = unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
    debug_assert_eq!(result, 0, "a mapping of ours is always unmapped");
}

#[cfg(test)]
mod tests {
    use super::{map_on_node, parse_list, read_topology, unmap};
    use crate::topology::{CoreId, NodeId};
    use std::fs;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(parse_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("a-b"), None);
    }

    #[test]
    fn nodes_with_gaps_and_forbidden_cores_are_read() {
        let folder = std::env::temp_dir().join(format!("cantina-nodes-{}", std::process::id()));
        for (file, text) in [
            ("online", "0,2\n"),
            ("node0/cpulist", "0-1\n"),
            ("node0/distance", "10 21\n"),
            ("node2/cpulist", "2-3\n"),
            ("node2/distance", "21 10\n"),
        ] {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let topology = read_topology(&folder, &[0, 2, 3]).unwrap();
        let lost = read_topology(&folder, &[0, 2, 3, 4]);
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(topology.cores_of(NodeId(0)), [CoreId(0)]);
        assert_eq!(topology.cores_of(NodeId(1)), [CoreId(2), CoreId(3)]);
        assert_eq!(topology.os_node(NodeId(1)), Some(2));
        assert_eq!(topology.distance(NodeId(0), NodeId(1)), Some(21));
        assert_eq!(lost, None, "a core that no node claims");
    }

    #[test]
    fn a_node_that_does_not_exist_gives_no_mapping() {
        assert_eq!(map_on_node(4_096, 63), None);
        assert_eq!(map_on_node(4_096, 64), None);
        if let Some(start) = map_on_node(8_192, 0) {
            // SAFETY: just mapped, this long.
            unsafe { start.write_bytes(1, 8_192) };
            // SAFETY: mapped above with this size.
            unsafe { unmap(start, 8_192) };
        }
    }
}
