//! Memory, as virtual threads see it.

pub(crate) mod buffer;
pub(crate) mod peek;
pub(crate) mod place;
