//! The type that an operation gets, and how it comes from the one that it waits for.

use crate::options::{Options, docs, is_plain};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Result, Type, Visibility};

/// What is derived.
pub(crate) struct Derived<'a> {
    input: &'a DeriveInput,
    options: Options,
    forms: Vec<Form<'a>>,
}

/// A struct, or a variant of an enum.
struct Form<'a> {
    /// The variant's.
    name: Option<&'a Ident>,
    attributes: &'a [Attribute],
    style: Style,
    fields: Vec<Field<'a>>,
}

#[derive(Clone, Copy)]
enum Style {
    Named,
    Tuple,
    Unit,
}

struct Field<'a> {
    name: Option<&'a Ident>,
    /// What it is called while it is taken apart.
    local: Ident,
    visibility: &'a Visibility,
    attributes: &'a [Attribute],
    ty: &'a Type,
    is_plain: bool,
}

impl<'a> Derived<'a> {
    pub(crate) fn of(input: &'a DeriveInput) -> Result<Self> {
        let forms = match &input.data {
            Data::Struct(data) => vec![Form::of(None, &[], &data.fields)?],
            Data::Enum(data) => {
                let form = |variant: &'a syn::Variant| {
                    Form::of(Some(&variant.ident), &variant.attrs, &variant.fields)
                };
                data.variants.iter().map(form).collect::<Result<_>>()?
            }
            Data::Union(_) => {
                return Err(Error::new_spanned(&input.ident, "a union is no argument"));
            }
        };
        if forms.is_empty() {
            let message = "an enum without variants is no argument: there is nothing to wait for";
            return Err(Error::new_spanned(&input.ident, message));
        }
        Ok(Self { input, options: Options::of(&input.ident, &input.attrs)?, forms })
    }

    pub(crate) fn tokens(&self) -> TokenStream {
        let (declared, implemented) = (self.declared(), self.implemented());
        quote!(#declared #implemented)
    }

    fn fields(&self) -> impl Iterator<Item = &Field<'a>> {
        self.forms.iter().flat_map(|form| &form.fields)
    }

    fn argument(&self) -> TokenStream {
        let cantina = &self.options.cantina;
        quote!(#cantina::scheduler::Argument)
    }

    /// What types need that are known later, where a field is one of them. All else is to be said of the type itself.
    fn needs(&self) -> Vec<TokenStream> {
        let argument = self.argument();
        let is_parameter = |field: &&Field<'_>| {
            let mut parameters = self.input.generics.type_params();
            parameters.any(|parameter| is_named(field.ty, &parameter.ident))
        };
        let need = |field: &Field<'_>| {
            let ty = field.ty;
            if field.is_plain {
                quote!(#ty: ::core::marker::Send + 'static)
            } else {
                quote!(#ty: #argument)
            }
        };
        self.fields().filter(is_parameter).map(need).collect()
    }

    fn bounds(&self) -> TokenStream {
        let (needs, given) = (self.needs(), self.input.generics.where_clause.as_ref());
        let given = given.into_iter().flat_map(|given| &given.predicates);
        let bounds: Vec<TokenStream> = given.map(ToTokens::to_token_stream).chain(needs).collect();
        if bounds.is_empty() { TokenStream::new() } else { quote!(where #(#bounds),*) }
    }

    /// The operation's type.
    fn declared(&self) -> TokenStream {
        let Options { out, derives, .. } = &self.options;
        let (visibility, argument, bounds) = (&self.input.vis, self.argument(), self.bounds());
        let (parameters, _, _) = self.input.generics.split_for_impl();
        let about = format!("What an operation gets that waits for `{}`.", self.input.ident);
        let derives = (!derives.is_empty()).then(|| quote!(#[derive(#derives)]));
        let head = quote!(#[doc = #about] #[allow(missing_docs, dead_code)] #derives #visibility);
        if matches!(self.input.data, Data::Enum(_)) {
            let variants = self.forms.iter().map(|form| {
                let (docs, name, body) = (docs(form.attributes), form.name, form.body(&argument));
                quote!(#(#docs)* #name #body)
            });
            return quote!(#head enum #out #parameters #bounds { #(#variants),* });
        }
        let form = &self.forms[0];
        let body = form.body(&argument);
        match form.style {
            Style::Named => quote!(#head struct #out #parameters #bounds #body),
            Style::Tuple | Style::Unit => quote!(#head struct #out #parameters #body #bounds;),
        }
    }

    fn implemented(&self) -> TokenStream {
        let (argument, bounds) = (self.argument(), self.bounds());
        let (name, Options { out, cantina, .. }) = (&self.input.ident, &self.options);
        let (parameters, arguments, _) = self.input.generics.split_for_impl();
        let shown = self.forms.iter().map(|form| {
            let pattern = form.taken_apart(&quote!(Self));
            let waited = form.fields.iter().filter(|field| !field.is_plain);
            let locals = waited.map(|field| &field.local);
            quote!(#pattern => { #(#argument::dependencies(#locals, __visit);)* })
        });
        let resolved = self.forms.iter().map(|form| {
            let pattern = form.taken_apart(&quote!(Self));
            let resolved = form.resolved(&quote!(#out), &argument);
            quote!(#pattern => #resolved)
        });
        quote! {
            #[automatically_derived]
            impl #parameters #argument for #name #arguments #bounds {
                type Out = #out #arguments;

                #[allow(unused_variables)]
                fn dependencies(
                    &self,
                    __visit: &mut dyn ::core::ops::FnMut(&dyn #cantina::scheduler::Dependency),
                ) {
                    match self { #(#shown),* }
                }

                fn resolve(
                    self,
                ) -> ::core::result::Result<Self::Out, #cantina::scheduler::WaitError> {
                    ::core::result::Result::Ok(match self { #(#resolved),* })
                }
            }
        }
    }
}

/// Whether a type is the one with that name, and nothing more.
fn is_named(ty: &Type, name: &Ident) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident(name))
}

impl<'a> Form<'a> {
    fn of(
        name: Option<&'a Ident>,
        attributes: &'a [Attribute],
        fields: &'a Fields,
    ) -> Result<Self> {
        let style = match fields {
            Fields::Named(_) => Style::Named,
            Fields::Unnamed(_) => Style::Tuple,
            Fields::Unit => Style::Unit,
        };
        let field = |(index, field): (usize, &'a syn::Field)| {
            Ok(Field {
                name: field.ident.as_ref(),
                local: format_ident!("__field{}", index),
                visibility: &field.vis,
                attributes: &field.attrs,
                ty: &field.ty,
                is_plain: is_plain(&field.attrs)?,
            })
        };
        let fields = fields.iter().enumerate().map(field).collect::<Result<_>>()?;
        Ok(Self { name, attributes, style, fields })
    }

    /// These, in the brackets that belong to them.
    fn wrapped(&self, fields: impl Iterator<Item = TokenStream>) -> TokenStream {
        match self.style {
            Style::Named => quote!({ #(#fields),* }),
            Style::Tuple => quote!(( #(#fields),* )),
            Style::Unit => TokenStream::new(),
        }
    }

    /// Its fields in the operation's type.
    fn body(&self, argument: &TokenStream) -> TokenStream {
        self.wrapped(self.fields.iter().map(|field| {
            let (docs, visibility, ty) = (docs(field.attributes), field.visibility, field.ty);
            let name = field.name.map(|name| quote!(#name:));
            if field.is_plain {
                quote!(#(#docs)* #visibility #name #ty)
            } else {
                quote!(#(#docs)* #visibility #name <#ty as #argument>::Out)
            }
        }))
    }

    fn path(&self, of: &TokenStream) -> TokenStream {
        self.name.map_or_else(|| of.clone(), |name| quote!(#of::#name))
    }

    /// A pattern for it, of the type `of`.
    fn taken_apart(&self, of: &TokenStream) -> TokenStream {
        let fields = self.wrapped(self.fields.iter().map(|field| {
            let (local, name) = (&field.local, field.name.map(|name| quote!(#name:)));
            quote!(#name #local)
        }));
        let path = self.path(of);
        quote!(#path #fields)
    }

    /// It, of the type `of`, with what its fields come to.
    fn resolved(&self, of: &TokenStream, argument: &TokenStream) -> TokenStream {
        let fields = self.wrapped(self.fields.iter().map(|field| {
            let (local, name) = (&field.local, field.name.map(|name| quote!(#name:)));
            if field.is_plain {
                quote!(#name #local)
            } else {
                quote!(#name #argument::resolve(#local)?)
            }
        }));
        let path = self.path(of);
        quote!(#path #fields)
    }
}
