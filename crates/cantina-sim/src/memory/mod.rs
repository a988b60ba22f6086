//! Memory, as virtual threads see it.

pub(crate) mod place;
