//! `cantina list`: what there is to run, and where.

use super::experiments;
use crate::failure::Failure;
use crate::peer;
use crate::screen;
use crate::surroundings;
use cantina_lab::registry;
use cantina_machine::topology::Topology;
use cantina_record::Kind;
use cantina_sim::cost::Machine;
use std::fmt::Write;

/// A name and what it stands for.
type Entry = (String, String);

/// Prints everything, by kind.
pub(super) fn run() -> Result<(), Failure> {
    let registered = |kind: Kind| -> Vec<Entry> {
        let all = registry::facts().into_iter().filter(|facts| facts.kind == kind);
        all.map(|facts| (facts.name, facts.about.to_owned())).collect()
    };
    let peers = peer::all().iter().map(|peer| {
        let version = peer.version().map_or_else(String::new, |version| format!(" ({version})"));
        (peer.name().to_owned(), format!("{}{version}", peer.about()))
    });
    let declared = experiments().iter().map(|each| (each.name.to_owned(), each.about.to_owned()));
    let sections: [(&str, Vec<Entry>); 5] = [
        ("Pools", registered(Kind::Ours)),
        ("Contenders", registered(Kind::Contender)),
        ("Peers", peers.collect()),
        ("Experiments", declared.collect()),
        ("Machines", machines()),
    ];
    screen::show(&listing(&sections))
}

/// This machine, and those that can be simulated.
fn machines() -> Vec<Entry> {
    let simulated = Machine::NAMES.iter().map(|name| {
        let machine: Machine = name.parse().expect("a name from the list");
        let (cores, nodes) = (machine.core_count(), machine.nodes());
        ((*name).to_owned(), format!("simulated: {cores} cores on {nodes} memory nodes"))
    });
    let here = [("real".to_owned(), this_machine())];
    let free_form = [("NxC".to_owned(), "simulated: N nodes of C cores, such as 4x8".to_owned())];
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
