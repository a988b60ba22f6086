//! How an owner and a thief see each other.

/// How a consumer that takes from its chunk and one that steals it see each other. Same results; what
/// differs is who pays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// The thief pays: it fences all threads of the process at once. Taking is free of fences and
    /// read-modify-writes. The default where the operating system can do it.
    Asymmetric,
    /// Everybody pays: each task is won by an atomic read-modify-write. The default elsewhere: a fence
    /// for each task costs more.
    Claim,
    /// Both pay: a full fence for each task, the control flow of [`Asymmetric`](Self::Asymmetric).
    /// For models and sanitizers, which do not know of the operating system's fences.
    Fence,
}
