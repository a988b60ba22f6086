//! The ways in which an experiment sets up its machine.

use cantina_record::Row;
use cantina_sim::cost::{Machine, Placement};
use lab_on_sim::experiment::placement;

/// A machine, and who chooses the cores.
#[derive(Debug)]
pub(super) struct Variant {
    pub(super) machine: Machine,
    /// Whether the program binds its threads to cores, one after the other.
    pub(super) pin: bool,
    /// What the row says of it.
    placement: Option<&'static str>,
}

impl Variant {
    /// What sets it apart, if there are others.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.placement
    }

    /// `row` with what sets this variant apart.
    pub(super) fn label(&self, row: Row) -> Row {
        match self.placement {
            Some(name) => row.with(placement::FIELD, name),
            None => row,
        }
    }
}

/// The variants of `machine` that an experiment compares.
pub(super) fn variants(experiment: &str, machine: &Machine) -> Vec<Variant> {
    if experiment != placement::NAME {
        return vec![Variant { machine: machine.clone(), pin: true, placement: None }];
    }
    let scattered = machine.clone().placement(Placement::Scattered);
    let central = machine.clone().placement(Placement::OneNode(0));
    let slow = central.clone().link_speed(50);
    let variant = |machine: Machine, pin, name| Variant { machine, pin, placement: Some(name) };
    vec![
        variant(machine.clone(), true, "local"),
        variant(scattered, false, "no affinity"),
        variant(central, true, "one node"),
        variant(slow, true, "one node, half-speed links"),
    ]
}
