//! Linux: `membarrier`, `sched_setaffinity`, `/sys/devices/system/node`, `mbind`.

use crate::topology::{CoreId, HERE, Topology};
use std::fs;
use std::io;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicUsize;
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
    if core.0 >= MOST_CORES {
        return Err(format!("there are at most {MOST_CORES} cores"));
    }
    set_own(&[core.0]).map_err(|error| error.to_string())
}

pub(crate) fn current_core() -> Option<CoreId> {
    // SAFETY: takes nothing and touches nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok().map(CoreId)
}

/// Cores of a set of cores that is tried first: the kernel refuses one that is smaller than its own.
const FIRST_CORES: usize = 1_024;
/// Cores of the largest one, eight times as many as a kernel can be built for.
const MOST_CORES: usize = 65_536;
/// Cores that are noted as the program is loaded, when nothing can be allocated.
const NOTED_CORES: usize = 8_192;
/// Cores in a word of a set, as the kernel has it: bit by bit.
const WORD: usize = usize::BITS as usize;

/// The cores that the first thread might run on as the program was loaded: later it may have pinned itself, and nobody else is there to ask.
static AT_START: [AtomicUsize; NOTED_CORES / WORD] =
    [const { AtomicUsize::new(0) }; NOTED_CORES / WORD];

/// What is run before `main`, or by who loads a library that we are part of.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTES: extern "C" fn() = note_cores;

extern "C" fn note_cores() {
    let mut set = [0; NOTED_CORES / WORD];
    if fill_with_cores(0, &mut set).is_ok() {
        AT_START.iter().zip(set).for_each(|(noted, cores)| noted.store(cores, Relaxed));
    }
}

/// The cores this process may run on: those of any of its threads, or of its first one once, whoever asks.
fn allowed_cores() -> Option<Vec<usize>> {
    // That it is named here makes it part of every program that asks.
    std::hint::black_box(&NOTES);
    let mut cores = cores_of_thread(0)?;
    let at_start: Vec<usize> = AT_START.iter().map(|cores| cores.load(Relaxed)).collect();
    cores.extend(cores_of(&at_start));
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
    if here < own {
        return here;
    }
    match allowed_cores() {
        Some(all) if all.len() > own => quota(all).max(here),
        _ => here,
    }
}

/// How many of `cores`, which are those of this process, a thread has the use of that may run on all of them, as `std` says.
fn quota(cores: Vec<usize>) -> usize {
    let most = cores.len();
    let of_all = move || {
        set_own(&cores).ok()?;
        std::thread::available_parallelism().map(usize::from).ok()
    };
    // A thread of its own, because it is not pinned.
    let ask = || std::thread::Builder::new().spawn(of_all).ok()?.join().ok()?;
    ask().map_or(most, |quota| quota.min(most))
}

/// The cores that a thread may run on; 0 is the calling one.
fn cores_of_thread(thread: libc::pid_t) -> Option<Vec<usize>> {
    let set = large_enough(|set| fill_with_cores(thread, set)).ok()?;
    Some(cores_of(&set).collect())
}

/// The cores of a set.
fn cores_of(set: &[usize]) -> impl Iterator<Item = usize> + '_ {
    (0..set.len() * WORD).filter(|core| set[core / WORD] & 1 << (core % WORD) != 0)
}

/// A set that `fill` has filled, doubled until it is no longer refused for its size.
fn large_enough(mut fill: impl FnMut(&mut [usize]) -> io::Result<()>) -> io::Result<Vec<usize>> {
    let mut cores = FIRST_CORES;
    loop {
        let mut set = vec![0; cores / WORD];
        match fill(&mut set) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) && cores < MOST_CORES => {
                cores *= 2;
            }
            filled => return filled.map(|()| set),
        }
    }
}

/// Fills `set`, all zeroes, with the cores that a thread may run on.
fn fill_with_cores(thread: libc::pid_t, set: &mut [usize]) -> io::Result<()> {
    // SAFETY: the set is as long as we say, of words as the kernel has them; a thread that there is not is an error.
    match unsafe { libc::sched_getaffinity(thread, size_of_val(set), set.as_mut_ptr().cast()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Lets the calling thread run on `cores`, which are less than [`MOST_CORES`].
fn set_own(cores: &[usize]) -> io::Result<()> {
    let words = cores.iter().max().map_or(1, |core| core / WORD + 1);
    let mut set = vec![0usize; words];
    cores.iter().for_each(|core| set[core / WORD] |= 1 << (core % WORD));
    // SAFETY: 0 is the calling thread; the set is as long as we say.
    match unsafe { libc::sched_setaffinity(0, size_of_val(&*set), set.as_ptr().cast()) } {
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
    with_nodes_of(Path::new("/sys/devices/system/node"), allowed)
}

fn with_nodes_of(folder: &Path, allowed: Vec<usize>) -> Option<Topology> {
    read_topology(folder, &allowed).or_else(|| {
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
    let start = start.as_ptr().cast();
    // SAFETY: the caller's.
    if unsafe { libc::munmap(start, bytes) } != 0 {
        // It lies in the middle of a mapping, which the kernel joined it to, and there are so many (vm.max_map_count) that it splits none. The
        // addresses are lost, the memory goes back.
        // SAFETY: as above.
        unsafe { libc::madvise(start, bytes, libc::MADV_DONTNEED) };
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AT_START, FIRST_CORES, MOST_CORES, WORD, allowed_cores, cores_of, cores_of_thread,
        large_enough, map_on_node, parallelism, parse_list, read_topology, set_own, unmap,
        with_nodes_of,
    };
    use crate::topology::{CoreId, HERE, NodeId, Topology};
    use std::fs;
    use std::io;
    use std::path::PathBuf;
    use std::process::Command;
    use std::ptr::{self, NonNull};
    use std::sync::atomic::Ordering::Relaxed;

    /// A folder as the kernel has one of its nodes, until it is dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let process = std::process::id();
            let folder = Self(std::env::temp_dir().join(format!("cantina-{name}-{process}")));
            for (file, text) in files {
                let path = folder.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            folder
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    /// Runs in a process of its own, which it fills with mappings.
    #[test]
    fn memory_goes_back_where_there_are_too_many_mappings() {
        const CHILD: &str = "CANTINA_TOO_MANY_MAPPINGS";
        let page = crate::os::PAGE;
        // Sanitizers map memory themselves, and end where they cannot.
        if std::env::var_os("ASAN_OPTIONS").is_some() {
            return;
        }
        if std::env::var_os(CHILD).is_none() {
            let (_, module) = module_path!().split_once("::").unwrap();
            let name = format!("{module}::memory_goes_back_where_there_are_too_many_mappings");
            let mut this = Command::new(std::env::current_exe().unwrap());
            let outcome = this.args(["--exact", &name]).env(CHILD, "").output().unwrap();
            let said = String::from_utf8_lossy(&outcome.stdout);
            assert!(outcome.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let map = |pages: usize, how| {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: new memory, anywhere.
            let start = unsafe { libc::mmap(ptr::null_mut(), pages * page, how, flags, -1, 0) };
            assert_ne!(start, libc::MAP_FAILED);
            start.cast::<u8>()
        };
        let most: usize =
            fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
        let (three, many) =
            (map(3, libc::PROT_READ | libc::PROT_WRITE), map(2 * most, libc::PROT_NONE));
        // SAFETY: both are ours, and nobody else's. The middle of the three pages is read after it was given back: it is still there if it could
        // not be unmapped, and a fault otherwise, which fails the test.
        let (filled, left) = unsafe {
            three.write_bytes(7, 3 * page);
            let splits =
                |at: usize| libc::mprotect(many.add(at * page).cast(), page, libc::PROT_READ) == 0;
            let filled = (0..most).map(|at| 2 * at).find(|at| !splits(*at));
            unmap(NonNull::new(three.add(page)).unwrap(), page);
            let left = [three.read(), three.add(page).read(), three.add(2 * page).read()];
            libc::munmap(many.cast(), 2 * most * page);
            (filled, left)
        };
        assert!(filled.is_some(), "there were never too many");
        assert_eq!(left, [7, 0, 7]);
    }

    /// What `f` says on a thread that may run on one core only, if threads can be bound and there is another.
    fn pinned<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> Option<R> {
        let cores = allowed_cores().unwrap();
        let pin = move || {
            set_own(&cores[..1]).ok()?;
            assert_eq!(cores_of_thread(0).as_deref(), Some(&cores[..1]));
            (cores.len() > 1).then(f)
        };
        std::thread::spawn(pin).join().unwrap()
    }

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert_eq!(parse_list("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("a-b"), None);
    }

    #[test]
    fn nodes_with_gaps_and_forbidden_cores_are_read() {
        let folder = Folder::new(
            "nodes",
            &[
                ("online", "0,2\n"),
                ("node0/cpulist", "0-1\n"),
                ("node0/distance", "10 21\n"),
                ("node2/cpulist", "2-3\n"),
                ("node2/distance", "21 10\n"),
            ],
        );
        let topology = read_topology(&folder.0, &[0, 2, 3]).unwrap();
        assert_eq!(topology.cores_of(NodeId(0)), [CoreId(0)]);
        assert_eq!(topology.cores_of(NodeId(1)), [CoreId(2), CoreId(3)]);
        assert_eq!(topology.os_node(NodeId(1)), Some(2));
        assert_eq!(topology.distance(NodeId(0), NodeId(1)), Some(21));
        let lost = read_topology(&folder.0, &[0, 2, 3, 4]);
        assert_eq!(lost, None, "a core that no node claims");
    }

    #[test]
    fn a_thread_that_is_pinned_sees_all_nodes_of_the_process() {
        let cores = allowed_cores().unwrap();
        let list =
            |cores: &[usize]| cores.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let (first, others) = cores.split_at(1);
        let folder = Folder::new(
            "two-nodes",
            &[
                ("online", "0-1\n"),
                ("node0/cpulist", &list(first)),
                ("node0/distance", "10 20\n"),
                ("node1/cpulist", &list(others)),
                ("node1/distance", "20 10\n"),
            ],
        );
        let path = folder.0.clone();
        let Some(seen) = pinned(move || read_topology(&path, &allowed_cores()?)) else { return };
        let seen = seen.unwrap();
        assert_eq!(seen.cores_of(NodeId(0)), [CoreId(cores[0])]);
        assert!(seen.cores_of(NodeId(1)).iter().map(|core| core.0).eq(others.iter().copied()));
    }

    #[test]
    fn where_the_kernel_tells_of_no_nodes_there_is_one() {
        let folder = Folder::new("no-nodes", &[("online", "no list")]);
        let one = vec![vec![CoreId(3), CoreId(5)]];
        let one = Topology::new(one, vec![vec![HERE]]).unwrap();
        assert_eq!(with_nodes_of(&folder.0, vec![3, 5]), Some(one.clone()));
        assert_eq!(with_nodes_of(&folder.0.join("missing"), vec![3, 5]), Some(one));
    }

    #[test]
    fn a_thread_that_is_pinned_has_the_parallelism_of_the_process() {
        let here = || std::thread::available_parallelism().unwrap().get();
        let free = here();
        // Who started these tests may have pinned them: then there is nothing to see.
        if cores_of_thread(0) == allowed_cores() {
            assert_eq!(pinned(move || parallelism(here())).unwrap_or(free), free);
        }
    }

    #[test]
    fn the_cores_that_a_program_starts_with_are_noted() {
        let noted: Vec<usize> = AT_START.iter().map(|cores| cores.load(Relaxed)).collect();
        let all = allowed_cores().unwrap();
        assert!(noted.iter().any(|cores| *cores != 0));
        assert!(cores_of(&noted).all(|core| all.contains(&core)));
    }

    #[test]
    fn a_set_of_cores_grows_until_the_kernel_takes_it() {
        let kernel = |cores: usize| {
            move |set: &mut [usize]| {
                if set.len() * WORD < cores {
                    return Err(io::Error::from_raw_os_error(libc::EINVAL));
                }
                set[(cores - 1) / WORD] |= 1 << ((cores - 1) % WORD);
                Ok(())
            }
        };
        for cores in [1, FIRST_CORES, FIRST_CORES + 1, 8_192, MOST_CORES] {
            let set = large_enough(kernel(cores)).unwrap();
            assert!(cores_of(&set).eq([cores - 1]), "{cores}");
        }
        assert!(large_enough(kernel(MOST_CORES + 1)).is_err());
        let mut asked = 0;
        let gone = large_enough(|_| {
            asked += 1;
            Err(io::Error::from_raw_os_error(libc::ESRCH))
        });
        assert!(gone.is_err() && asked == 1, "only its size is mended");
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
