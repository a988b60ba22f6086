//! `cantina list`: what there is to run, and where.

use super::experiments;
use crate::failure::Failure;
use crate::peer;
use crate::screen;
use crate::surroundings;
use cantina_lab::experiment::scheduling::{ddb, fib, tell};
use cantina_lab::experiment::{Contestant, registered, rooms_stack};
use cantina_machine::topology::Topology;
use cantina_record::Kind;
use cantina_sim::cost::Machine;
use std::fmt::Write;

/// A name and what it stands for.
type Entry = (String, String);

/// What papers prove something of, and what stands beside it.
const OF_LEMMAS: [(&str, Kind, &str); 6] = [
    ("tree-container", Kind::Ours, "density, steps: CAFÉ's binary tree by itself"),
    ("todo-tree-binary", Kind::Ours, "steps: the to-do tree in its paper's shape"),
    ("todo-tree-max-arrays", Kind::Ours, "steps: the same, counting with max arrays"),
    ("do-all", Kind::Ours, "write-all: a fixed set of tasks in a to-do tree"),
    (
        "counter-retry",
        Kind::Contender,
        "write-all: a counter deals the tasks out, and then all are looked at",
    ),
    (
        "random-probing",
        Kind::Contender,
        "write-all: workers draw tasks at random, and then look at all",
    ),
];

/// Prints everything, by kind.
pub(super) fn run() -> Result<(), Failure> {
    let own = |kind: Kind| -> Vec<Entry> {
        let all = registered().into_iter().filter(|each| each.kind == kind);
        all.map(|each| (each.name, each.about)).collect()
    };
    let brought = |kind: Kind| {
        peer::all().iter().filter(move |peer| peer.kind() == kind).map(|peer| {
            let version = peer.version().map(|version| format!(" ({version})"));
            let about = format!("{}{}", peer.about(), version.unwrap_or_default());
            (peer.name().to_owned(), about)
        })
    };
    let schedulers = |kind: Kind| {
        peer::scheduling::all().filter(move |each| each.kind() == kind).map(|each| {
            let version = each.version().map(|version| format!(" ({version})"));
            let about =
                format!("{}: {}{}", each.experiment, each.about, version.unwrap_or_default());
            (each.name.to_owned(), about)
        })
    };
    let mut contenders = own(Kind::Contender);
    contenders.extend(brought(Kind::Contender).chain(schedulers(Kind::Contender)));
    contenders.extend(elsewhere(Kind::Contender));
    let mut pools = own(Kind::Ours);
    pools.extend(elsewhere(Kind::Ours));
    let peers = brought(Kind::Peer).chain(schedulers(Kind::Peer)).chain(elsewhere(Kind::Peer));
    let declared = experiments().iter().map(|each| (each.name.to_owned(), each.about.to_owned()));
    let sections: [(&str, Vec<Entry>); 6] = [
        ("Pools", pools),
        ("Schedulers", own_schedulers()),
        ("Contenders", contenders),
        ("Peers", peers.collect()),
        ("Experiments", declared.collect()),
        ("Machines", machines()),
    ];
    screen::show(&listing(&sections))
}

/// Who takes part in single experiments only.
fn elsewhere(kind: Kind) -> Vec<Entry> {
    let everywhere: Vec<String> = registered().into_iter().map(|each| each.name).collect();
    let is_own = |each: &Contestant| {
        let is_peer = peer::all().iter().any(|peer| peer.name() == each.name);
        each.kind == kind && !everywhere.contains(&each.name) && !is_peer
    };
    let stacks = rooms_stack::contestants(&[0]).into_iter().chain(peer::shared(&[0]));
    let stacks = stacks.filter(is_own);
    let mut all: Vec<Entry> =
        stacks.map(|each| (each.name, format!("{}: {}", rooms_stack::NAME, each.about))).collect();
    let of_lemmas = OF_LEMMAS.iter().filter(|(_, whose, _)| *whose == kind);
    all.extend(of_lemmas.map(|(name, _, about)| ((*name).to_owned(), (*about).to_owned())));
    all
}

/// Ours, in the experiments that they take part in.
fn own_schedulers() -> Vec<Entry> {
    let of = |experiment: &str, contestants: Vec<Contestant>| {
        let entry = |each: Contestant| (each.name, format!("{experiment}: {}", each.about));
        contestants.into_iter().map(entry).collect::<Vec<Entry>>()
    };
    let all = [
        of(fib::NAME, fib::contestants(&[0])),
        of(ddb::NAME, ddb::contestants()),
        of(tell::NAME, tell::contestants()),
    ];
    all.concat()
}

/// This machine, and those that can be simulated.
fn machines() -> Vec<Entry> {
    let simulated = Machine::NAMES.iter().map(|name| {
        let machine: Machine = name.parse().expect("a name from the list");
        let (cores, nodes) = (machine.core_count(), machine.nodes());
        ((*name).to_owned(), format!("simulated: {cores} cores on {nodes} memory nodes"))
    });
    let here = [("real".to_owned(), this_machine())];
    let free_form = [
        ("NxC".to_owned(), "simulated: N nodes of C cores, such as 4x8".to_owned()),
        (
            "FILE.json".to_owned(),
            "simulated: a machine that `cantina calibrate` measured".to_owned(),
        ),
    ];
    here.into_iter().chain(simulated).chain(free_form).collect()
}

fn this_machine() -> String {
    let topology = Topology::detect();
    let count = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    let cores = count(topology.core_count(), "core");
    let nodes = count(topology.nodes().len(), "memory node");
    let cpu = surroundings::cpu().map_or_else(String::new, |cpu| format!(", {cpu}"));
    format!("this one: {cores}, {nodes}{cpu}")
}

/// The sections that have entries, names in one column.
fn listing(sections: &[(&str, Vec<Entry>)]) -> String {
    let names = sections.iter().flat_map(|(_, entries)| entries).map(|(name, _)| name.len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for (title, entries) in sections.iter().filter(|(_, entries)| !entries.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{title}");
        for (name, about) in entries {
            let _ = writeln!(text, "  {name:width$}  {about}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::listing;

    #[test]
    fn names_stand_in_one_column_and_empty_sections_are_left_out() {
        let entry = |name: &str, about: &str| (name.to_owned(), about.to_owned());
        let sections = [
            ("Pools", vec![entry("locked", "a mutex")]),
            ("Contenders", vec![]),
            ("Peers", vec![entry("crossbeam-channel", "a channel (0.5)")]),
        ];
        let expected = "\
Pools
  locked             a mutex

Peers
  crossbeam-channel  a channel (0.5)
";
        assert_eq!(listing(&sections), expected);
    }
}
