//! Contenders, workloads, the conformance suite and the experiments of Cantina.
