//! Cells that begin at a cache line, and the lines that some of them lie in.

use machine::ahead;

/// The most lines that are asked for together.
const MOST: usize = 8;

/// How many cells to have more than are used, so that the first one can begin a line.
pub(crate) fn spare_cells<T>() -> usize {
    ahead::LINE.checked_div(size_of::<T>()).unwrap_or(0)
}

/// The cell to begin with, of some with [`spare_cells`]: one that begins a line, if one does.
pub(crate) fn first_on_a_line<C>(cells: &[C]) -> usize {
    let first = cells.as_ptr().align_offset(ahead::LINE);
    if first <= spare_cells::<C>() { first } else { 0 }
}

/// The lines that `cells` lie in: the first of them, if they are many.
#[inline]
pub(crate) fn lines_of<C>(cells: &[C]) -> impl Iterator<Item = *const u8> + use<C> {
    ahead::lines(cells.as_ptr().cast(), size_of_val(cells)).take(MOST)
}

#[cfg(test)]
mod tests {
    use super::{MOST, first_on_a_line, lines_of, spare_cells};

    #[test]
    fn some_cell_begins_a_line_where_they_are_small() {
        let cells = vec![0u64; 100 + spare_cells::<u64>()];
        let first = first_on_a_line(&cells);
        assert_eq!(cells[first..].as_ptr() as usize % 64, 0);
        assert!(first + 100 <= cells.len());
        assert_eq!(first_on_a_line(&[(); 3]), 0);
        assert_eq!(first_on_a_line(&[[0u8; 65]; 1]), 0);
    }

    #[test]
    fn no_more_lines_are_asked_for_than_can_come_together() {
        let count = |cells: &[u64]| lines_of(cells).count();
        assert_eq!([0, 1, 1_000].map(|cells| count(&vec![0; cells])), [0, 1, MOST]);
        assert_eq!(lines_of(&[(); 3]).count(), 0);
    }
}
