//! Windows: `FlushProcessWriteBuffers`, and threads bound within the first group of 64 processors.
//! Memory follows first touch, and the nodes are not read: one node holds all cores.

use crate::topology::{CoreId, Topology};
use std::io;
use std::ptr::NonNull;
use windows_sys::Win32::System::Threading::{
    FlushProcessWriteBuffers, GetCurrentProcessorNumber, GetCurrentThread, SetThreadAffinityMask,
};

/// The granularity of mappings.
pub(crate) const PAGE: usize = 65_536;

pub(crate) fn register_heavy_fence() -> bool {
    true
}

pub(crate) fn heavy_fence() -> bool {
    // SAFETY: takes nothing, cannot fail, touches no memory of ours.
    unsafe { FlushProcessWriteBuffers() };
    true
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

pub(crate) fn pin_to(core: CoreId) -> Result<(), String> {
    if core.0 >= usize::BITS as usize {
        return Err("only the first 64 processors can be named".to_owned());
    }
    // SAFETY: the pseudo-handle of the calling thread, and a mask with one bit.
    match unsafe { SetThreadAffinityMask(GetCurrentThread(), 1 << core.0) } {
        0 => Err(io::Error::last_os_error().to_string()),
        _ => Ok(()),
    }
}

pub(crate) fn current_core() -> Option<CoreId> {
    // SAFETY: takes nothing and touches nothing.
    Some(CoreId(unsafe { GetCurrentProcessorNumber() } as usize))
}

pub(crate) fn map_on_node(_: usize, _: usize) -> Option<NonNull<u8>> {
    None
}

/// # Safety
/// Never called: [`map_on_node`] gives nothing.
pub(crate) unsafe fn unmap(_: NonNull<u8>, _: usize) {}
