//! The program `cantina`.

fn main() {}
