//! The derive macro for `Argument` of `cantina::scheduler`; `cantina` has it with the feature `derive`.

mod options;
mod output;

use output::Derived;
use proc_macro::TokenStream;

/// Makes a struct or an enum an argument: an operation that has it begins when all eventuals in it are there.
///
/// Each field is an argument itself, or is said to be plain. The operation gets a type of the same form, which the macro
/// makes beside it: `Order` becomes `OrderOut`, whose fields have the same names and are as public.
///
/// ```
/// use cantina::scheduler::{Argument, Eventual, Runtime};
///
/// #[derive(Argument)]
/// struct Order {
///     price: Eventual<u32>,
///     counts: Vec<Eventual<u32>>,
///     #[argument(plain)]
///     customer: String,
/// }
///
/// let runtime = Runtime::new();
/// let counts = vec![runtime.spawn(|| 1), runtime.spawn(|| 3)];
/// let order = Order { price: runtime.spawn(|| 3), counts, customer: "Ada".into() };
/// let bill = runtime.after(order, |order: OrderOut| {
///     let count: u32 = order.counts.iter().sum();
///     format!("{}: {}", order.customer, order.price * count)
/// });
/// assert_eq!(bill.wait().as_deref(), Ok("Ada: 12"));
/// ```
///
/// What can be said, in `#[argument(...)]`:
///
/// | where | what | |
/// |---|---|---|
/// | a field | `plain` | it has no eventuals; it is `Send` and `'static` |
/// | the type | `out = Name` | what the other type is called |
/// | the type | `derive(Debug, Clone)` | what that one derives |
/// | the type | `crate = path` | what `cantina` is called here |
///
/// Where a field is a type parameter, that needs no more bounds than the type has. Other fields may need some: a struct
/// with an `Eventual<T>` says that `T` is `Send` and `'static`.
///
/// A field that is neither an argument nor plain does not compile:
///
/// ```compile_fail,E0277
/// # use cantina::scheduler::Argument;
/// #[derive(Argument)]
/// struct Order {
///     customer: String,
/// }
/// ```
///
/// Nor does a union, or an enum without variants.
///
/// ```compile_fail
/// # use cantina::scheduler::Argument;
/// #[derive(Argument)]
/// enum Never {}
/// ```
#[proc_macro_derive(Argument, attributes(argument))]
pub fn derive_argument(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    match Derived::of(&input) {
        Ok(derived) => derived.tokens().into(),
        Err(error) => error.into_compile_error().into(),
    }
}
