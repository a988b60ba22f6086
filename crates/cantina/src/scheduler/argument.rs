//! What an operation can wait for.

use super::cell::{Waiter, Word};
use super::error::WaitError;
use super::eventual::Eventual;
use super::shared::Shared;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::ptr::NonNull;

/// Something with eventuals in it: an operation that has it as an argument begins when they are all there.
///
/// An [`Eventual`], tuples of up to twelve, arrays, vectors, options, boxes and maps of arguments are arguments; plain values are
/// captured by the operation, or go as [`Value`]. A struct or an enum of one's own is one by `#[derive(Argument)]`, with the
/// feature `derive`, or by hand:
///
/// ```
/// use cantina::scheduler::{Argument, Dependency, Eventual, Runtime, WaitError};
///
/// struct Order { price: Eventual<u32>, count: Eventual<u32> }
///
/// impl Argument for Order {
///     type Out = (u32, u32);
///     fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
///         self.price.dependencies(visit);
///         self.count.dependencies(visit);
///     }
///     fn resolve(self) -> Result<(u32, u32), WaitError> {
///         Ok((self.price.resolve()?, self.count.resolve()?))
///     }
/// }
///
/// let runtime = Runtime::new();
/// let order = Order { price: runtime.spawn(|| 3), count: runtime.spawn(|| 4) };
/// assert_eq!(runtime.after(order, |(price, count)| price * count).wait(), Ok(12));
/// ```
pub trait Argument: Send + 'static {
    /// What the operation gets.
    type Out: Send + 'static;

    /// Shows each eventual in it to `visit`, once. One that is left out may not be there yet: the operation then
    /// gets [`WaitError::Broken`].
    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency));

    /// What the operation gets, when all of them are there. It runs where the operation does.
    ///
    /// # Errors
    /// The first error among them: the operation then does not run.
    fn resolve(self) -> Result<Self::Out, WaitError>
    where
        Self: Sized;

    /// Shows each eventual in it to `visit`, where they are known to stay there until it is resolved or dropped: then
    /// the operation asks these without going through [`dependencies`](Self::dependencies). `false`: they are not.
    #[doc(hidden)]
    #[inline(always)]
    fn directly(&self, _visit: &mut impl FnMut(Ask)) -> bool
    where
        Self: Sized,
    {
        false
    }
}

/// An eventual in an argument of the library's own. Nobody else says what is in such: this has no public name.
#[derive(Clone, Copy)]
pub struct Ask {
    pub(super) word: Word,
    /// Who brings it; null: nobody knows.
    pub(super) shared: *const Shared,
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").finish_non_exhaustive()
    }
}

/// An eventual, whatever its value. Only [`Eventual`]s are.
#[allow(private_bounds, reason = "sealed")]
pub trait Dependency: Source {}

/// What a dependency is to the scheduler.
pub(super) trait Source {
    fn is_there(&self) -> bool;
    /// Has `waiter` woken when it is there. `false`: it is.
    ///
    /// # Safety
    /// The waiter is the caller's, is in no list, and stays until it is woken.
    unsafe fn wait_with(&self, waiter: NonNull<Waiter>) -> bool;
    /// Whether the end of `shared` does not bring it.
    fn may_never_come(&self, shared: &Shared) -> bool;
}

impl<T: Send + 'static> Dependency for Eventual<T> {}

impl<T: Send + 'static> Source for Eventual<T> {
    fn is_there(&self) -> bool {
        self.is_filled()
    }

    unsafe fn wait_with(&self, waiter: NonNull<Waiter>) -> bool {
        // SAFETY: the caller's.
        unsafe { self.add(waiter) }
    }

    fn may_never_come(&self, shared: &Shared) -> bool {
        self.is_foreign_to(shared)
    }
}

/// A plain value among arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Value<T>(pub T);

impl<T: Send + 'static> Argument for Eventual<T> {
    type Out = T;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        visit(self);
    }

    #[inline]
    fn resolve(self) -> Result<T, WaitError> {
        Eventual::resolve(self)
    }

    #[inline(always)]
    fn directly(&self, visit: &mut impl FnMut(Ask)) -> bool {
        visit(Ask { word: self.word(), shared: self.brought_by() });
        true
    }
}

impl<T: Send + 'static> Argument for Value<T> {
    type Out = T;

    fn dependencies(&self, _: &mut dyn FnMut(&dyn Dependency)) {}

    fn resolve(self) -> Result<T, WaitError> {
        Ok(self.0)
    }

    #[inline(always)]
    fn directly(&self, _: &mut impl FnMut(Ask)) -> bool {
        true
    }
}

impl<A: Argument> Argument for Vec<A> {
    type Out = Vec<A::Out>;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        self.iter().for_each(|argument| argument.dependencies(visit));
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        self.into_iter().map(A::resolve).collect()
    }
}

impl<A: Argument, const N: usize> Argument for [A; N] {
    type Out = [A::Out; N];

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        self.iter().for_each(|argument| argument.dependencies(visit));
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        let resolved: Vec<A::Out> = self.into_iter().map(A::resolve).collect::<Result<_, _>>()?;
        // As many came out as went in.
        resolved.try_into().map_err(|_| WaitError::Broken)
    }
}

impl<A: Argument> Argument for Option<A> {
    type Out = Option<A::Out>;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        self.iter().for_each(|argument| argument.dependencies(visit));
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        self.map(A::resolve).transpose()
    }

    #[inline(always)]
    fn directly(&self, visit: &mut impl FnMut(Ask)) -> bool {
        self.as_ref().is_none_or(|argument| argument.directly(visit))
    }
}

impl<A: Argument> Argument for Box<A> {
    type Out = Box<A::Out>;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        (**self).dependencies(visit);
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        (*self).resolve().map(Box::new)
    }

    #[inline(always)]
    fn directly(&self, visit: &mut impl FnMut(Ask)) -> bool {
        (**self).directly(visit)
    }
}

impl<K: Eq + Hash + Send + 'static, A: Argument, S: BuildHasher + Default + Send + 'static> Argument
    for HashMap<K, A, S>
{
    type Out = HashMap<K, A::Out, S>;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        self.values().for_each(|argument| argument.dependencies(visit));
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        self.into_iter().map(|(key, argument)| Ok((key, argument.resolve()?))).collect()
    }
}

impl<K: Ord + Send + 'static, A: Argument> Argument for BTreeMap<K, A> {
    type Out = BTreeMap<K, A::Out>;

    fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
        self.values().for_each(|argument| argument.dependencies(visit));
    }

    fn resolve(self) -> Result<Self::Out, WaitError> {
        self.into_iter().map(|(key, argument)| Ok((key, argument.resolve()?))).collect()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            type Out = ($($name::Out,)*);

            #[allow(non_snake_case, unused_variables, reason = "a tuple of none has no fields")]
            fn dependencies(&self, visit: &mut dyn FnMut(&dyn Dependency)) {
                let ($($name,)*) = self;
                $($name.dependencies(visit);)*
            }

            #[allow(non_snake_case, reason = "named as their types")]
            fn resolve(self) -> Result<Self::Out, WaitError> {
                let ($($name,)*) = self;
                Ok(($($name.resolve()?,)*))
            }

            #[allow(non_snake_case, unused_variables, reason = "a tuple of none has no fields")]
            #[inline(always)]
            fn directly(&self, visit: &mut impl FnMut(Ask)) -> bool {
                let ($($name,)*) = self;
                $($name.directly(visit) &&)* true
            }
        }
    };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);

impl fmt::Debug for dyn Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Dependency")
    }
}
