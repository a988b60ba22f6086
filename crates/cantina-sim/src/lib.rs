//! A simulated machine for Cantina: virtual threads, schedules that replay, NUMA costs.
