//! The real machine under Cantina: atomics, cells, fences, threads, topology.
