//! What is said in `#[argument(...)]`.

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, Path, Result, parenthesized, parse_quote};

/// What is said of a type.
pub(crate) struct Options {
    /// What the operation's type is called.
    pub(crate) out: Ident,
    /// What that derives.
    pub(crate) derives: TokenStream,
    /// Where `cantina` is.
    pub(crate) cantina: Path,
}

impl Options {
    pub(crate) fn of(name: &Ident, attributes: &[Attribute]) -> Result<Self> {
        let out = Ident::new(&format!("{name}Out"), name.span());
        let (derives, cantina) = (TokenStream::new(), parse_quote!(::cantina));
        let mut options = Self { out, derives, cantina };
        for attribute in ours(attributes) {
            attribute.parse_nested_meta(|said| {
                if said.path.is_ident("out") {
                    options.out = said.value()?.parse()?;
                } else if said.path.is_ident("derive") {
                    let listed;
                    parenthesized!(listed in said.input);
                    options.derives = listed.parse()?;
                } else if said.path.is_ident("crate") {
                    options.cantina = said.value()?.call(Path::parse_mod_style)?;
                } else {
                    return Err(said.error(
                        "of a type, `out = Name`, `derive(...)` and `crate = path` can be said",
                    ));
                }
                Ok(())
            })?;
        }
        Ok(options)
    }
}

/// Whether a field is said to be plain.
pub(crate) fn is_plain(attributes: &[Attribute]) -> Result<bool> {
    let mut is_plain = false;
    for attribute in ours(attributes) {
        attribute.parse_nested_meta(|said| {
            if !said.path.is_ident("plain") {
                return Err(said.error("of a field, only `plain` can be said"));
            }
            is_plain = true;
            Ok(())
        })?;
    }
    Ok(is_plain)
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("argument"))
}

/// What the documentation says.
pub(crate) fn docs(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("doc"))
}
