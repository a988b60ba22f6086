//! Systems that offer none of it, macOS among them: full fences, no pinning, no placement.

use crate::topology::{CoreId, Topology};
use std::ptr::NonNull;

/// The largest page size to expect.
pub(crate) const PAGE: usize = 16_384;

pub(crate) fn register_heavy_fence() -> bool {
    false
}

pub(crate) fn heavy_fence() -> bool {
    false
}

pub(crate) fn topology() -> Option<Topology> {
    None
}

pub(crate) fn topology_of_thread() -> Option<Topology> {
    None
}

pub(crate) fn parallelism(here: usize) -> usize {
    here
}

pub(crate) fn pin_to(_: CoreId) -> Result<(), String> {
    Err("this operating system does not bind threads to cores".to_owned())
}

pub(crate) fn current_core() -> Option<CoreId> {
    None
}

pub(crate) fn map_on_node(_: usize, _: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// Never called: [`map_on_node`] gives nothing.
pub(crate) unsafe fn unmap(_: NonNull<u8>, _: usize) {}
