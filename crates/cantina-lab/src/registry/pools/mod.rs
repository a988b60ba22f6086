//! The library's pools, as the registry has them: a file for each, and a line in the list below.

mod cafe;
mod locked;
mod rooms;
mod salsa;
mod todo_tree;

use super::Visitor;

/// Places of a leaf and children of a word, in trees that were made small.
const NARROW: (u32, u32) = (2, 2);

/// Does `$visit` with all of them, in the order of tables.
macro_rules! each {
    ($visit:ident, $visitor:expr) => {
        locked::$visit($visitor);
        cafe::$visit($visitor);
        salsa::$visit($visitor);
        todo_tree::$visit($visitor);
        rooms::$visit($visitor);
    };
}

/// Shows every pool to `visitor`.
pub(super) fn visit_all(visitor: &mut impl Visitor) {
    each!(visit_all, visitor);
    salsa::visit_contenders(visitor);
}

/// Shows pools in unusual shapes to `visitor`.
pub(super) fn visit_variants(visitor: &mut impl Visitor) {
    each!(visit_variants, visitor);
}
