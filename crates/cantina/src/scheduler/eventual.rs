//! Values that arrive later, and promises of them.

use super::blocks;
use super::cell::{Cell, HOLD, REFERENCE, Waiter, Word};
use super::context;
use super::error::WaitError;
use super::flat;
use super::runtime::Handle;
use super::shared::{Reference, Shared};
use super::wakers::Who;
use machine::Arc;
use machine::atomic::AtomicBool;
use machine::atomic::Ordering::Relaxed;
use machine::park::Parker;
use machine::time::Duration;
use std::fmt;
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::ptr::{self, NonNull};
use std::task::{Context, Poll};

/// A value that arrives later: what an operation comes to, or what a [`Promise`] is kept with.
///
/// Hand it to an operation, which begins when it is there; wait for it on a thread that is no worker; or `await` it.
/// Dropped, it changes nothing for the operation: that runs all the same. If it panics,
/// [`on_panic`](super::Builder::on_panic) hears of it.
///
/// ```
/// use cantina::scheduler::Runtime;
///
/// let runtime = Runtime::new();
/// let two = runtime.spawn(|| 1).map(|one| one + 1);
/// assert_eq!(two.clone().wait(), Ok(2));
/// assert_eq!(two.wait(), Ok(2));
/// ```
pub struct Eventual<T: Send + 'static> {
    /// One of its references is ours.
    cell: NonNull<Cell<T>>,
    /// Whether this handle has had the value: then it has no hold.
    taken: AtomicBool,
    /// The number of the task that waits with this handle, among all who wait. 0: none has.
    task: u32,
}

// SAFETY: the cell is shared by atomics, and the value goes to one thread; several read it only if it was cloned,
// which asks for `T: Sync`.
unsafe impl<T: Send> Send for Eventual<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Eventual<T> {}

/// The other end of an [`Eventual`], for code that is no operation. Dropped, it breaks: [`WaitError::Broken`].
///
/// ```
/// let runtime = cantina::scheduler::Runtime::new();
/// let (promise, eventual) = runtime.promise();
/// std::thread::spawn(move || promise.keep(7));
/// assert_eq!(eventual.wait(), Ok(7));
/// ```
#[must_use = "a promise that is dropped is broken"]
pub struct Promise<T: Send + 'static> {
    /// The right to fill it is ours.
    cell: NonNull<Cell<T>>,
}

// SAFETY: it moves a value to where it is taken.
unsafe impl<T: Send> Send for Promise<T> {}
// SAFETY: shared, it does nothing.
unsafe impl<T: Send> Sync for Promise<T> {}

/// A promise and its value to be.
pub(super) fn pair<T: Send + 'static>(shared: Reference) -> (Promise<T>, Eventual<T>) {
    unsafe fn free<T: Send + 'static>(cell: NonNull<Cell<T>>) {
        // SAFETY: a block, and nobody has a reference.
        unsafe { blocks::free(cell) };
    }
    let cell = blocks::boxed(Cell::new(shared, true, free));
    // SAFETY: new, and its reference.
    (Promise { cell }, unsafe { Eventual::of(cell) })
}

impl<T: Send + 'static> Promise<T> {
    /// Keeps it.
    pub fn keep(self, value: T) {
        self.resolve(Ok(value));
    }

    pub(super) fn resolve(self, value: Result<T, WaitError>) {
        self.resolve_by(value, None);
    }

    /// By an operation of the unit of that name.
    pub(super) fn resolve_by(self, value: Result<T, WaitError>, unit: Option<&str>) {
        let cell = ManuallyDrop::new(self).cell;
        // SAFETY: the right to fill it, which is used up.
        unsafe { Cell::fill_by(cell, value, false, unit) };
    }
}

impl<T: Send + 'static> Drop for Promise<T> {
    fn drop(&mut self) {
        // SAFETY: the right to fill it, which is not used any more.
        unsafe { Cell::fill(self.cell, Err(WaitError::Broken), false) };
    }
}

impl<T: Send + 'static> Eventual<T> {
    /// # Safety
    /// One of the cell's references, and of its holds, is the caller's.
    pub(super) unsafe fn of(cell: NonNull<Cell<T>>) -> Self {
        Self { cell, taken: AtomicBool::new(false), task: 0 }
    }

    fn cell(&self) -> &Cell<T> {
        // SAFETY: it has a reference.
        unsafe { self.cell.as_ref() }
    }

    pub(super) fn shared(&self) -> &Reference {
        &self.cell().shared
    }

    fn handle(&self) -> Handle {
        Handle { shared: self.shared().clone() }
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// [`WaitError::OnWorker`] at once on a worker of any runtime, whether the value is there or not; otherwise why
    /// there is none.
    pub fn wait(self) -> Result<T, WaitError> {
        self.wait_here(None).unwrap_or(Err(WaitError::Broken))
    }

    /// Waits for the value, but no longer than `timeout`. `None`: time is up. The value is moved out: later calls give
    /// [`WaitError::Taken`].
    #[must_use = "the value is moved out, and goes if it is not taken; `None`: time is up"]
    pub fn wait_timeout(&self, timeout: Duration) -> Option<Result<T, WaitError>> {
        self.wait_here(Some(timeout))
    }

    /// The value if it is there, on any thread. It is moved out: later calls give [`WaitError::Taken`].
    #[must_use = "the value is moved out, and goes if it is not taken"]
    pub fn try_get(&self) -> Option<Result<T, WaitError>> {
        self.cell().is_filled().then(|| self.take())
    }

    /// What `f` makes of the value: a free operation.
    pub fn map<U: Send + 'static>(self, f: impl FnOnce(T) -> U + Send + 'static) -> Eventual<U> {
        self.handle().after(self, f)
    }

    /// What `f` makes of the value, which itself arrives later.
    pub fn then<U: Send + 'static>(
        self,
        f: impl FnOnce(T) -> Eventual<U> + Send + 'static,
    ) -> Eventual<U> {
        self.map(f).flatten()
    }

    /// The value for several, where it cannot be copied: clones of what is returned give handles to the same one. It is an
    /// operation, as [`map`](Self::map) is: on a runtime that takes no more it fails, and the value goes.
    ///
    /// ```
    /// use cantina::scheduler::Runtime;
    ///
    /// struct Plan(Vec<u32>);     // it is no `Clone`
    ///
    /// let runtime = Runtime::new();
    /// let plan = runtime.spawn(|| Plan(vec![3, 4])).share();
    /// let sum = plan.clone().map(|plan| plan.0.iter().sum::<u32>());
    /// let count = plan.map(|plan| plan.0.len());
    /// assert_eq!((sum.wait(), count.wait()), (Ok(7), Ok(2)));
    /// ```
    pub fn share(self) -> Eventual<Arc<T>>
    where
        T: Sync,
    {
        self.map(Arc::new)
    }

    fn wait_here(&self, timeout: Option<Duration>) -> Option<Result<T, WaitError>> {
        if context::is_worker() {
            return Some(Err(WaitError::OnWorker));
        }
        if self.cell().is_filled() {
            return Some(self.take());
        }
        let parker = Parker::new();
        let number = self.wake_when_filled(0, Who::Thread(parker.unparker()));
        if !self.cell().is_filled() {
            match timeout {
                None | Some(Duration::MAX) => parker.park(),
                Some(timeout) => {
                    // Woken or not, what counts is whether it is filled.
                    let _woken = parker.park_timeout(timeout);
                }
            }
        }
        if !self.cell().is_filled() {
            self.cell().wakers.remove(number);
        }
        self.try_get()
    }

    /// Has `who` woken, or somebody else than before, by the number that it gave. Who finds it not filled afterwards is woken.
    fn wake_when_filled(&self, number: u32, who: Who) -> u32 {
        // SAFETY: the cell's own, and this is a handle.
        unsafe { self.cell().wakers.set(self.cell().word(), number, who) }
    }

    /// The value of a filled cell.
    fn take(&self) -> Result<T, WaitError> {
        // bare: it decides who of those with this handle has the value, and carries nothing.
        if self.taken.swap(true, Relaxed) {
            return Err(WaitError::Taken);
        }
        // SAFETY: the callers have seen it filled, and `taken` was not set: it has a hold.
        unsafe { self.cell().take() }
    }

    /// The value, for an operation that was told that it is there.
    #[inline]
    pub(super) fn resolve(self) -> Result<T, WaitError> {
        if !self.is_filled() {
            return Err(WaitError::Broken);
        }
        // own: nobody else has this handle.
        if self.taken.load(Relaxed) {
            return Err(WaitError::Taken);
        }
        let this = ManuallyDrop::new(self);
        this.forget_waker();
        // SAFETY: filled, it has a hold, nobody else has this handle, and it is not dropped.
        unsafe { Cell::take_last(this.cell) }
    }

    /// It wakes nobody any more.
    #[inline(always)]
    fn forget_waker(&self) {
        if self.task != 0 {
            self.cell().wakers.remove(self.task);
        }
    }

    /// Whose operation brings it; null if nobody knows.
    #[inline(always)]
    pub(super) fn brought_by(&self) -> *const Shared {
        if self.cell().is_promised { ptr::null() } else { &raw const **self.shared() }
    }

    /// Where those who wait for it are asked for.
    #[inline(always)]
    pub(super) fn word(&self) -> Word {
        self.cell().word()
    }

    pub(super) fn is_filled(&self) -> bool {
        self.cell().is_filled()
    }

    /// Whether the end of `shared` does not bring it.
    pub(super) fn is_foreign_to(&self, shared: &Shared) -> bool {
        !ptr::eq(self.brought_by(), shared)
    }

    /// # Safety
    /// As of [`Cell::add`].
    pub(super) unsafe fn add(&self, waiter: NonNull<Waiter>) -> bool {
        // SAFETY: the caller's.
        unsafe { self.cell().add(waiter) }
    }
}

impl<T: Send + 'static> Eventual<Eventual<T>> {
    /// The inner value: it arrives when both have.
    ///
    /// ```
    /// let runtime = cantina::scheduler::Runtime::new();
    /// let inner = runtime.handle();
    /// let nested = runtime.spawn(move || inner.spawn(|| 7));
    /// assert_eq!(nested.flatten().wait(), Ok(7));
    /// ```
    pub fn flatten(self) -> Eventual<T> {
        flat::flatten(self)
    }
}

impl<T: Clone + Send + Sync + 'static> Clone for Eventual<T> {
    /// One more handle: each gives the value once, and the last one gives it away uncopied.
    fn clone(&self) -> Self {
        // bare: a handle that has had its value makes handles that have.
        let mut taken = self.taken.load(Relaxed) || !self.cell().share(T::clone);
        if taken {
            self.cell().refer();
        // bare: acquired with the counts, if it was used up before these: then its hold was not there to share, and another
        // one may have found itself alone.
        } else if self.taken.load(Relaxed) {
            // SAFETY: the hold that was just made. Nobody has looked at the value by it, and it is there, as it was had.
            unsafe { Cell::let_go(self.cell, HOLD) };
            taken = true;
        }
        let taken = AtomicBool::new(taken);
        Self { cell: self.cell, taken, task: 0 }
    }
}

impl<T: Send + 'static> Drop for Eventual<T> {
    #[inline]
    fn drop(&mut self) {
        self.forget_waker();
        // own: `&mut self`.
        if self.taken.load(Relaxed) {
            // SAFETY: it is this handle's.
            unsafe { Cell::let_go(self.cell, REFERENCE) };
        } else {
            // SAFETY: as above.
            unsafe { Cell::leave(self.cell) };
        }
    }
}

impl<T: Send + 'static> Future for Eventual<T> {
    type Output = Result<T, WaitError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        if let Some(value) = this.try_get() {
            return Poll::Ready(value);
        }
        this.task = this.wake_when_filled(this.task, Who::Task(context.waker().clone()));
        this.try_get().map_or(Poll::Pending, Poll::Ready)
    }
}

impl<T: Send + 'static> fmt::Debug for Eventual<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eventual").field("is_there", &self.cell().is_filled()).finish()
    }
}

impl<T: Send + 'static> fmt::Debug for Promise<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Promise").finish_non_exhaustive()
    }
}
