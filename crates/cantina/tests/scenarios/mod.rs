//! Small programs that must come out right on every schedule. Each flavour runs them its own way.

mod handoff;
mod locked;
mod reclaim;

use cantina_effort::scenario::Part;

/// All of them.
pub(crate) const PARTS: [Part; 3] =
    [("handoff", &handoff::ALL), ("locked", &locked::ALL), ("reclaim", &reclaim::ALL)];
