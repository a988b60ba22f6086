//! The allocator of this process: the system's, or mimalloc, or the simulated machine's.
//!
//! Pools that allocate blocks on one thread and free them on another are as fast as the allocator
//! lets them, so the bench measures them with both. A process has one: the environment variable
//! [`VARIABLE`] tells which, and the program runs itself again for the other.
//!
//! Simulated programs have memory that lies the same each time, on a node, within a limit, at a price:
//! [`SimAllocator`]. A command that simulates asks for it with [`simulate`]; what is measured on the
//! real machine never pays for it.
//!
//! # Invariants
//! - I1: `CHOICE` is decided at the first allocation of the process. From then on it only changes from
//!   the system's to the simulated machine's, which takes the system's memory back as well. So
//!   memory always goes back to the allocator it came from.
//! - I2: deciding allocates nothing.

use crate::failure::Failure;
use cantina_sim::SimAllocator;
use mimalloc::MiMalloc;
use serde::{Deserialize, Serialize};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::CStr;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

/// The environment variable that chooses: `mimalloc`; the system's allocator otherwise.
pub(crate) const VARIABLE: &str = "CANTINA_ALLOCATOR";
const C_VARIABLE: &CStr = c"CANTINA_ALLOCATOR";

const UNDECIDED: u8 = 0;
const SYSTEM: u8 = 1;
const MIMALLOC: u8 = 2;
const SIMULATED: u8 = 3;

/// See I1.
static CHOICE: AtomicU8 = AtomicU8::new(UNDECIDED);

#[global_allocator]
static CHOSEN: Chosen = Chosen;

/// Hands everything on to the allocator that was chosen.
struct Chosen;

/// An allocator one can measure with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Allocator {
    /// The operating system's, or its C library's.
    System,
    /// mimalloc.
    Mimalloc,
}

impl Allocator {
    /// The one of this process.
    pub(crate) fn chosen() -> Self {
        if choice() == MIMALLOC { Self::Mimalloc } else { Self::System }
    }

    /// Its name in records, and the value of [`VARIABLE`] that chooses it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Mimalloc => "mimalloc",
        }
    }
}

/// Both allocators with their versions, in one line.
pub(crate) fn describe() -> String {
    let version = MiMalloc.version();
    let mimalloc = format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100);
    format!("system ({}), mimalloc {mimalloc}", system())
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn system() -> String {
    // SAFETY: takes nothing; the text it returns is the C library's, and stays.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn system() -> String {
    let library = if cfg!(target_env = "musl") { "musl" } else { std::env::consts::OS };
    library.to_owned()
}

/// From here on simulated programs get memory of the simulated machine.
///
/// # Errors
/// In a process that was started with mimalloc.
pub(crate) fn simulate() -> Result<(), Failure> {
    // I1: nobody is in a run yet, and outside of one it is the system's.
    match CHOICE.compare_exchange(SYSTEM, SIMULATED, Relaxed, Relaxed) {
        Ok(_) | Err(SIMULATED) => Ok(()),
        Err(_) => Err(Failure::BadInput(format!(
            "simulated programs have an allocator of their own; allowed: {VARIABLE}=system"
        ))),
    }
}

#[inline(always)]
fn choice() -> u8 {
    match CHOICE.load(Relaxed) {
        UNDECIDED => decide(),
        choice => choice,
    }
}

/// Which it is, decided once for all (I1) and without allocating (I2).
#[cold]
#[inline(never)]
fn decide() -> u8 {
    // SAFETY: the name is a C string. What it returns is looked at before anything could change the
    // environment: this is the first allocation of the process, which happens before `main`.
    let wanted = unsafe {
        let value = libc::getenv(C_VARIABLE.as_ptr());
        !value.is_null() && CStr::from_ptr(value) == c"mimalloc"
    };
    let choice = if wanted { MIMALLOC } else { SYSTEM };
    // Should two threads come here at once, the first one decides.
    match CHOICE.compare_exchange(UNDECIDED, choice, Relaxed, Relaxed) {
        Ok(_) => choice,
        Err(decided) => decided,
    }
}

// SAFETY: by I1 a block goes back to the allocator it came from, whose guarantees are this one's.
unsafe impl GlobalAlloc for Chosen {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe {
            match choice() {
                MIMALLOC => MiMalloc.alloc(layout),
                SIMULATED => SimAllocator.alloc(layout),
                _ => System.alloc(layout),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        unsafe {
            match choice() {
                MIMALLOC => MiMalloc.alloc_zeroed(layout),
                SIMULATED => SimAllocator.alloc_zeroed(layout),
                _ => System.alloc_zeroed(layout),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's; by I1 the block came from the same allocator.
        unsafe {
            match choice() {
                MIMALLOC => MiMalloc.dealloc(block, layout),
                SIMULATED => SimAllocator.dealloc(block, layout),
                _ => System.dealloc(block, layout),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's; by I1 the block came from the same allocator.
        unsafe {
            match choice() {
                MIMALLOC => MiMalloc.realloc(block, layout, size),
                SIMULATED => SimAllocator.realloc(block, layout, size),
                _ => System.realloc(block, layout, size),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Allocator, C_VARIABLE, VARIABLE, describe, simulate};
    use cantina_sim::engine::{Failure as Ended, Simulation};
    use std::process::Command;

    /// Tells the child below what to find.
    const EXPECTED: &str = "CANTINA_EXPECTED_ALLOCATOR";

    /// Whether fresh memory comes from mimalloc.
    fn memory_is_of_mimalloc() -> bool {
        let block = Box::new([0u8; 48]);
        // SAFETY: a look-up of an address.
        unsafe { libmimalloc_sys::mi_is_in_heap_region((&raw const *block).cast()) }
    }

    /// Not a test of this process, but of the child that the next one starts.
    #[test]
    fn the_child_has_the_allocator_it_was_started_with() {
        let Ok(expected) = std::env::var(EXPECTED) else { return };
        assert_eq!(Allocator::chosen().name(), expected);
        assert_eq!(memory_is_of_mimalloc(), expected == "mimalloc");
        // Grown, moved and freed by another thread.
        let mut grown: Vec<u64> = Vec::new();
        (0..100_000).for_each(|number| grown.push(number));
        std::thread::spawn(move || drop(grown)).join().unwrap();
    }

    #[test]
    fn the_environment_chooses_the_allocator() {
        assert_eq!(C_VARIABLE.to_str(), Ok(VARIABLE));
        let name = "allocator::tests::the_child_has_the_allocator_it_was_started_with";
        let cases = [
            (Some("mimalloc"), "mimalloc"),
            (Some("system"), "system"),
            (Some("mimallocs"), "system"),
            (None, "system"),
        ];
        for (chosen, expected) in cases {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", name, "--test-threads", "2"]).env(EXPECTED, expected);
            match chosen {
                Some(chosen) => child.env(VARIABLE, chosen),
                None => child.env_remove(VARIABLE),
            };
            let output = child.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{chosen:?}: {said}");
        }
    }

    #[test]
    fn a_simulated_program_has_memory_of_its_own_and_a_limit() {
        let before = vec![1_u8; 100];
        simulate().unwrap();
        simulate().unwrap();
        let run = |bytes: usize| {
            Simulation::new().memory_limit(1 << 20).run(move || vec![1_u8; bytes].len())
        };
        assert_eq!(run(1 << 19).unwrap().value, 1 << 19);
        assert!(matches!(run(1 << 21), Err(Ended::Memory(_))));
        // It came from the system, and goes back there.
        drop(before);
    }

    #[test]
    fn both_allocators_are_described_with_their_versions() {
        let line = describe();
        assert!(line.starts_with("system (") && line.contains("), mimalloc 3."), "{line}");
    }
}
