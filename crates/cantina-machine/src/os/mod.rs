//! What the operating system offers beyond `std`: one file per system, with the same functions.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "elsewhere.rs"]
mod system;

pub(crate) use system::{
    PAGE, current_core, heavy_fence, map_on_node, parallelism, pin_to, register_heavy_fence,
    topology, topology_of_thread, unmap,
};
