//! The library's pools, as the registry has them: a file for each, and a line in the lists below.

mod cafe;
mod locked;
mod rooms;
mod salsa;
mod todo_tree;

use super::Visitor;

/// Places of a leaf and children of a word, in trees that were made small.
const NARROW: (u32, u32) = (2, 2);

/// Shows every pool to `visitor`.
pub(super) fn visit_all(visitor: &mut impl Visitor) {
    locked::visit_all(visitor);
    cafe::visit_all(visitor);
    salsa::visit_all(visitor);
    todo_tree::visit_all(visitor);
    rooms::visit_all(visitor);
    salsa::visit_contenders(visitor);
}

/// Shows pools in unusual shapes to `visitor`, of those that have some.
pub(super) fn visit_variants(visitor: &mut impl Visitor) {
    salsa::visit_variants(visitor);
    rooms::visit_variants(visitor);
    cafe::visit_variants(visitor);
    todo_tree::visit_variants(visitor);
}
