//! The names of `cantina-machine`, over loom.
