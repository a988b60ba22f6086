//! Scalable task pools: NUMA-aware, fair, bounded, and a scheduler on top.
