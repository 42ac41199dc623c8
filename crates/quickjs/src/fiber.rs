//! A script's own stack, run as a future.
//!
//! Scripts call blocking functions such as `http.get` in plain synchronous code, so each script has its own stack.
//! [`Context::wait`] suspends that stack and stores a pinned future. The task that polls the [`Fiber`] polls this
//! future on the event loop's stack and resumes the script with the result.
//!
//! A suspended stack contains C frames, so it must never be unwound or dropped. An abandoned fiber is resumed with
//! [`Cancelled`] instead: every host function then returns, and the engine leaves all script frames with an error that
//! scripts cannot catch.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Poll, Waker};

use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use plimsoll_engine::time_slice;

use crate::give_way::Running;
use crate::runtime::Inner;
use crate::{Context, Runtime, Thrown, sys};

/// With AddressSanitizer, functions need several times as much stack (see fuzz/run).
const SANITIZER_FACTOR: usize = if cfg!(feature = "address-sanitizer") {
    4
} else {
    1
};
/// The reserved address space of a script's stack. Only touched pages use memory.
pub const STACK_SIZE: usize = SANITIZER_FACTOR * 256 * 1024;
/// Stack space for host functions, below the engine's own limit.
const RESERVE: usize = SANITIZER_FACTOR * 48 * 1024;

/// Bytes below a local variable of a function that may be in use: the rest of its frame and what it calls.
const BELOW_FRAME: usize = 1024;
/// The alignment of memory that is returned to the system. A multiple of the page size of every supported system.
const PAGE: usize = if cfg!(target_arch = "x86_64") {
    4096
} else {
    65536
};

/// The script is being interrupted. Host functions pass this on with [`Context::cancelled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// Why a suspended script continues.
enum Wake {
    Ready,
    Cancel,
}

/// The future that a suspended script waits for. It lives on the script's stack.
type Waiting = NonNull<dyn Future<Output = ()>>;

/// The suspended script's handle to its running fiber.
#[derive(Default)]
pub(super) struct Suspender(Cell<Option<NonNull<Yielder<Wake, Waiting>>>>);

impl Suspender {
    pub(super) fn is_active(&self) -> bool {
        self.0.get().is_some()
    }
}

/// A script on its own stack. Poll it to completion; dropping it interrupts the script.
pub struct Fiber<R: 'static> {
    coroutine: Option<Coroutine<Wake, Waiting, R>>,
    waiting: Option<Waiting>,
    runtime: Runtime,
    /// Whether the script is being interrupted.
    is_cancelled: bool,
}

impl<R> Unpin for Fiber<R> {}

impl<R: 'static> Fiber<R> {
    /// Prepares to run `body` on its own stack. Nothing runs before the first poll.
    ///
    /// # Errors
    /// If the system has no memory or memory mapping left for another stack.
    ///
    /// # Panics
    /// If the runtime already has a fiber.
    pub fn new(runtime: &Runtime, body: impl FnOnce(&Context) -> R + 'static) -> io::Result<Self> {
        let stack = take_stack()?;
        runtime.assert_usable();
        let inside = runtime.clone();
        let limit = stack.limit().get();
        let coroutine =
            Coroutine::with_stack(stack, move |yielder: &Yielder<Wake, Waiting>, wake| {
                let inner = inside.inner();
                inner.suspender.0.set(Some(NonNull::from(yielder)));
                inner.stack_limit.set(limit);
                inner.cancelled.set(matches!(wake, Wake::Cancel));
                inner.end_requested.set(false);
                // SAFETY: this is the bottom of the new stack, and the engine's limit counts from there.
                unsafe {
                    sys::JS_SetMaxStackSize(inner.raw.as_ptr(), (STACK_SIZE - RESERVE) as _);
                    sys::JS_UpdateStackTop(inner.raw.as_ptr());
                }
                inner.free_left_over();
                let result = body(inside.context());
                inner.suspender.0.set(None);
                inner.cancelled.set(false);
                result
            });
        Ok(Self {
            coroutine: Some(coroutine),
            waiting: None,
            runtime: runtime.clone(),
            is_cancelled: false,
        })
    }

    /// True once the script has returned.
    pub fn is_done(&self) -> bool {
        self.coroutine.is_none()
    }

    /// Whether the script is suspended in the middle of a computation and not in a wait. In that state, its values must
    /// not be used or freed.
    pub fn is_paused(&self) -> bool {
        self.runtime.inner().paused.get()
    }

    /// Interrupts the script and returns the result of its body.
    pub fn cancel(&mut self) -> Option<R> {
        loop {
            // A script that pauses while it frees its values continues immediately.
            self.waiting = None;
            let mut context = std::task::Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = self.poll_cancel(&mut context) {
                return result;
            }
        }
    }

    /// Interrupts the script and returns the result of its body. Pending while the script frees its values. It may
    /// have millions of them.
    pub fn poll_cancel(&mut self, cx: &mut std::task::Context<'_>) -> Poll<Option<R>> {
        let started = self.coroutine.as_ref().map(Coroutine::started);
        if started != Some(true) {
            self.coroutine = None;
            return Poll::Ready(None);
        }
        let _turn = self.runtime.inner().begin_turn();
        self.runtime.inner().cancelled.set(true);
        if !std::mem::replace(&mut self.is_cancelled, true) {
            // The script ends now, whatever it was waiting for.
            self.waiting = None;
            self.runtime.inner().free_later();
        }
        loop {
            if self.poll_waiting(cx).is_pending() {
                return Poll::Pending;
            }
            // A host function that waits again despite the interruption is interrupted again.
            if let Poll::Ready(result) = self.resume(Wake::Cancel) {
                return Poll::Ready(Some(result));
            }
            if !self.is_paused() {
                self.waiting = None;
            }
        }
    }

    /// Polls the future that the script waits for.
    fn poll_waiting(&mut self, cx: &mut std::task::Context<'_>) -> Poll<()> {
        if let Some(mut waiting) = self.waiting {
            // SAFETY: the future is pinned on the script's stack, which is suspended until it is resumed.
            let future = unsafe { Pin::new_unchecked(waiting.as_mut()) };
            if future.poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.waiting = None;
        }
        Poll::Ready(())
    }

    /// Runs the script to its next suspension.
    fn resume(&mut self, wake: Wake) -> Poll<R> {
        let Some(mut coroutine) = self.coroutine.take() else {
            return Poll::Pending;
        };
        let running = Running::mark(self.runtime.inner());
        let resumed = coroutine.resume(wake);
        drop(running);
        match resumed {
            CoroutineResult::Yield(waiting) => {
                self.waiting = Some(waiting);
                self.coroutine = Some(coroutine);
                Poll::Pending
            }
            CoroutineResult::Return(result) => {
                give_back_stack(coroutine.into_stack());
                Poll::Ready(result)
            }
        }
    }
}

impl<R: 'static> Future for Fiber<R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<R> {
        // The future that the script waits for may use its values, too.
        let _turn = self.runtime.inner().begin_turn();
        loop {
            if self.poll_waiting(cx).is_pending() {
                return Poll::Pending;
            }
            if let Poll::Ready(result) = self.resume(Wake::Ready) {
                return Poll::Ready(result);
            }
            if self.coroutine.is_none() {
                return Poll::Pending;
            }
        }
    }
}

impl<R: 'static> Drop for Fiber<R> {
    fn drop(&mut self) {
        if self.coroutine.is_some() {
            drop(self.cancel());
        }
    }
}

impl Context {
    /// Suspends the script until `future` is done. The future may borrow from the host function's frame.
    ///
    /// # Errors
    /// [`Cancelled`] if the script is being interrupted; the future has then been dropped. Turn the error into an exception with
    /// [`Context::cancelled`] and return it.
    ///
    /// # Panics
    /// Outside of a [`Fiber`].
    pub fn wait<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        self.inner().wait(future)
    }

    /// Like [`Context::wait`], for waits of a second or more: returns the unused memory of the script's stack to the
    /// system. That takes a system call, and a page fault for each page that is used again.
    ///
    /// # Errors
    /// See [`Context::wait`].
    ///
    /// # Panics
    /// See [`Context::wait`].
    pub fn wait_long<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        self.inner().free_unused_stack();
        self.wait(future)
    }

    /// The exception that ends the script after a wait returned [`Cancelled`].
    pub fn cancelled(&self, _: Cancelled) -> Thrown {
        self.throw_uncatchable("interrupted")
    }

    /// Ends a script that returned although it was being interrupted: native functions that cannot fail return early in
    /// that case.
    ///
    /// # Errors
    /// The exception that ends the script.
    pub fn check_not_ended(&self) -> Result<(), Thrown> {
        if self.inner().end_requested.get() {
            return Err(self.cancelled(Cancelled));
        }
        Ok(())
    }

    /// Whether the script is being interrupted.
    pub fn is_cancelled(&self) -> bool {
        self.inner().cancelled.get()
    }
}

impl Inner {
    /// Like [`Context::wait`].
    fn wait<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        if self.cancelled.get() {
            return Err(Cancelled);
        }
        self.suspend(future)
    }

    /// Like [`Inner::wait`], but also works in a script that is already being interrupted.
    fn suspend<F: Future>(&self, future: F) -> Result<F::Output, Cancelled> {
        // Scripts run in fibers. Other code that enters a runtime never waits.
        let Some(yielder) = self.suspender.0.get() else {
            debug_assert!(false, "only a script on its own stack can wait");
            return Err(Cancelled);
        };
        let mut outcome = None;
        let wake = {
            // The future is polled where it is pinned, because an async block around it would copy it again.
            let mut future = std::pin::pin!(future);
            let mut waiting = std::pin::pin!(std::future::poll_fn(|cx| {
                future.as_mut().poll(cx).map(|done| outcome = Some(done))
            }));
            // SAFETY: `Fiber::poll` polls the pinned future only in place, through a pin.
            let future: &mut (dyn Future<Output = ()> + '_) =
                unsafe { waiting.as_mut().get_unchecked_mut() };
            let pointer: NonNull<dyn Future<Output = ()> + '_> = NonNull::from(future);
            // SAFETY: only the lifetime changes. The fiber uses the pointer only while this stack is suspended here,
            // and a suspended stack is never dropped, so the future outlives every use.
            let pointer: Waiting = unsafe { std::mem::transmute(pointer) };
            // SAFETY: the yielder belongs to the stack this code runs on.
            unsafe { yielder.as_ref() }.suspend(pointer)
        };
        if let Wake::Cancel = wake {
            self.cancelled.set(true);
            return Err(Cancelled);
        }
        outcome.ok_or(Cancelled)
    }

    /// Returns the pages of the running script's stack below the current frame to the system.
    // This function must have its own frame: only then are all frames in use above its local variables.
    #[inline(never)]
    fn free_unused_stack(&self) {
        let local = 0_u8;
        let limit = self.stack_limit.get();
        let in_use = (std::hint::black_box(&raw const local) as usize).saturating_sub(BELOW_FRAME);
        let end = in_use & !(PAGE - 1);
        // AddressSanitizer keeps records about the frames of a stack.
        if !self.suspender.is_active() || cfg!(feature = "address-sanitizer") || end <= limit {
            return;
        }
        // SAFETY: this code runs on the stack from `limit` upwards, and nothing below the current frame is in use, except
        // by the call itself, for which BELOW_FRAME reserves space. The kernel fills the pages with zeros when they are used
        // again. If the call fails, the pages stay.
        unsafe { libc::madvise(limit as *mut libc::c_void, end - limit, libc::MADV_DONTNEED) };
    }

    /// Suspends the script in the middle of a computation, so that the worker can do other work.
    pub(super) fn pause(&self) -> Result<(), Cancelled> {
        self.paused.set(true);
        let resumed = self.wait(time_slice::next());
        self.paused.set(false);
        resumed
    }

    /// Like [`Inner::pause`], for work that must be finished even if the script has to end.
    pub(super) fn pause_even_if_cancelled(&self) {
        self.paused.set(true);
        // The caller checks later whether the script has to end.
        let _ = self.suspend(time_slice::next());
        self.paused.set(false);
    }
}

thread_local! {
    /// Stacks of finished fibers, for reuse. A user between iterations holds no stack.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

fn take_stack() -> io::Result<DefaultStack> {
    if let Some(stack) = STACKS.with_borrow_mut(Vec::pop) {
        return Ok(stack);
    }
    new_stack(STACK_SIZE)
}

/// The resident memory of the stacks of this thread's returned fibers, in bytes. Systems other than Linux do not report it.
pub fn resident_stacks() -> usize {
    STACKS.with_borrow(|stacks| {
        let sizes = stacks
            .iter()
            .map(|stack| resident(stack.limit().get(), stack.base().get()));
        sizes.sum()
    })
}

/// The resident memory of a part of a stack, in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn resident(start: usize, end: usize) -> usize {
    // SAFETY: asks for a constant.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let mut pages = vec![0; (end - start).div_ceil(page)];
    // SAFETY: the range is within the mapping of a stack, and the vector has a byte for each of its pages.
    match unsafe { libc::mincore(start as *mut _, end - start, pages.as_mut_ptr()) } {
        0 => page * pages.iter().filter(|resident| **resident & 1 != 0).count(),
        _ => 0,
    }
}

#[cfg(not(target_os = "linux"))]
fn resident(_: usize, _: usize) -> usize {
    0
}

/// Runs `work` on a new stack that lets the engine use `size` bytes. Scripts may start such work, but it needs more than
/// a script's stack.
///
/// # Errors
/// If the system has no memory or memory mapping left for another stack.
pub fn on_new_stack<R>(size: usize, work: impl FnOnce() -> R) -> io::Result<R> {
    Ok(corosensei::on_stack(new_stack(size + STACK_SIZE)?, work))
}

fn new_stack(size: usize) -> io::Result<DefaultStack> {
    DefaultStack::new(size).map_err(|error| {
        let hint = "could not allocate the stack of another running virtual user. Each takes two memory mappings and \
                    256 KiB of address space: raise vm.max_map_count or the memory limit (ulimit -v), or run with \
                    fewer users";
        io::Error::new(error.kind(), format!("{hint} ({error})"))
    })
}

fn give_back_stack(stack: DefaultStack) {
    // The thread may be exiting and its pool already be gone. Then the stack is simply freed.
    let _ = STACKS.try_with(|stacks| stacks.borrow_mut().push(stack));
}

/// Polls `fiber` to completion on the calling thread, without an event loop. For scripts whose waits are never pending.
pub fn block_on<R>(mut fiber: Fiber<R>) -> Option<R> {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match Pin::new(&mut fiber).poll(&mut context) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}
