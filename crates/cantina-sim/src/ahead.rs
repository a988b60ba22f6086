//! Asking for memory before it is needed: a line is on its way while whoever asked for it does something else.

use crate::engine::current;

pub use cantina_machine::ahead::{LINE, lines};

/// Says that the line at `address` is about to be read. It may be anywhere, also where nothing is. In a timed run it is on its way
/// from now on, and who uses it waits for what is left of that; elsewhere this is nothing. It is no step.
pub fn to_read<T>(address: *const T) {
    current::ask_ahead(address.addr(), false);
}

/// The same of a line that is about to be written: whoever else has it has to give it up.
pub fn to_write<T>(address: *const T) {
    current::ask_ahead(address.addr(), true);
}

/// [`to_read`] of all lines of so many bytes at `address`, or of the first of very many: they come together, not one after the other.
pub fn all_to_read(address: *const u8, bytes: usize) {
    lines(address, bytes).for_each(to_read);
}

/// [`to_write`] of all lines of so many bytes at `address`, or of the first of very many.
pub fn all_to_write(address: *const u8, bytes: usize) {
    lines(address, bytes).for_each(to_write);
}
