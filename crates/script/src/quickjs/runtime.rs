//! The engine instance and its one context: creation, limits, and tear-down in the order the engine needs.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;

use plimsoll_engine::time_slice;
use plimsoll_units::Moment;

use super::class::{ClassIds, Prototypes};
use super::fiber::Suspender;
use super::module::{Loader, PendingModules};
use super::name::Names;
use super::persistent::Registry;
use super::promise::Rejections;
use super::ticker::Ticking;
use super::{Context, sys};

/// What a runtime is created with.
pub struct Settings {
    /// The property names that [`super::Name`] indexes.
    pub names: &'static [&'static str],
    /// Most bytes the engine may allocate; `None` is no limit.
    pub memory_limit: Option<usize>,
    /// Finds and compiles the modules that scripts import.
    pub loader: Rc<dyn Loader>,
}

/// One engine instance with its one context. Cloning shares it.
///
/// It never leaves the thread that made it.
#[derive(Clone)]
pub struct Runtime(Rc<Inner>);

/// All that belongs to a runtime on Rust's side. The context's opaque pointer leads here.
pub(super) struct Inner {
    pub(super) raw: NonNull<sys::JSRuntime>,
    context: NonNull<sys::JSContext>,
    /// The embedder's own state, reached by [`Context::host`].
    host: Rc<dyn Any>,
    host_type: TypeId,
    pub(super) classes: ClassIds,
    pub(super) prototypes: Prototypes,
    pub(super) names: Rc<Names>,
    pub(super) registry: Rc<Registry>,
    pub(super) rejections: Rejections,
    pub(super) loader: Rc<dyn Loader>,
    pub(super) pending_modules: PendingModules,
    pub(super) suspender: Suspender,
    interrupt: RefCell<Option<MustEnd>>,
    _ticking: Ticking,
    /// True while the script is being unwound by force: every wait and every poll for interrupts ends it.
    pub(super) cancelled: Cell<bool>,
    /// Host functions on the script's stack while it is suspended.
    pub(super) host_depth: Cell<u32>,
    /// The script is suspended in the middle of a computation, not where it waits.
    pub(super) paused: Cell<bool>,
    /// The engine's own code runs, and not a host function that it called. A host function may hold what other users
    /// need, and does not expect that it is suspended where it creates or drops a value.
    engine_runs: Cell<bool>,
    /// The engine was asked to end the script. What the script returns nonetheless may be incomplete.
    pub(super) end_requested: Cell<bool>,
    /// How often the engine has asked whether to pause, how often it might, and whether asking makes it ask again at its
    /// next poll.
    #[cfg(test)]
    pub(super) pause_polls: Cell<u64>,
    #[cfg(test)]
    pub(super) pauses_allowed: Cell<u64>,
    #[cfg(test)]
    pub(super) tick_with_pauses: Cell<bool>,
}

/// Whether the script is to end, asked with the present moment.
pub type MustEnd = Rc<dyn Fn(Moment) -> bool>;

/// The engine refused to start: it could not get its first few kilobytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory;

impl std::fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(
            "not enough memory for the script runtime of another virtual user. Raise the memory limit (ulimit -v, or \
             that of the container), or run with fewer users",
        )
    }
}

impl std::error::Error for OutOfMemory {}

impl Runtime {
    /// Starts an engine whose host functions find `host` by [`Context::host`].
    pub fn new<H: Any>(settings: Settings, host: Rc<H>) -> Result<Self, OutOfMemory> {
        let ticking = Ticking::start().ok_or(OutOfMemory)?;
        let names = share_names(settings.names);
        // SAFETY: the two pointers are checked, and both are freed exactly once, by `Inner::drop`.
        let (raw, context) = unsafe {
            let raw = NonNull::new(sys::JS_NewRuntime()).ok_or(OutOfMemory)?;
            let Some(context) = NonNull::new(new_context(raw.as_ptr(), Intrinsics::OnDemand))
            else {
                sys::JS_FreeRuntime(raw.as_ptr());
                return Err(OutOfMemory);
            };
            (raw, context)
        };
        let inner = Rc::new(Inner {
            raw,
            context,
            host,
            host_type: TypeId::of::<H>(),
            classes: ClassIds::register(raw),
            prototypes: Prototypes::default(),
            names,
            registry: Rc::new(Registry::new(context)),
            rejections: Rejections::default(),
            loader: settings.loader,
            pending_modules: PendingModules::default(),
            suspender: Suspender::default(),
            interrupt: RefCell::new(None),
            _ticking: ticking,
            cancelled: Cell::new(false),
            host_depth: Cell::new(0),
            paused: Cell::new(false),
            engine_runs: Cell::new(false),
            end_requested: Cell::new(false),
            #[cfg(test)]
            pause_polls: Cell::new(0),
            #[cfg(test)]
            pauses_allowed: Cell::new(0),
            #[cfg(test)]
            tick_with_pauses: Cell::new(false),
        });
        let opaque = Rc::as_ptr(&inner) as *mut c_void;
        // SAFETY: `Inner` sits behind the `Rc` at a fixed address and outlives the context, which it frees itself.
        unsafe {
            sys::JS_SetContextOpaque(context.as_ptr(), opaque);
            sys::JS_SetRuntimeOpaque(raw.as_ptr(), opaque);
            sys::JS_SetInterruptHandler(raw.as_ptr(), Some(on_interrupt), opaque);
            sys::JS_SetPauseHandler(raw.as_ptr(), Some(on_pause), opaque);
            super::promise::track_rejections(raw, opaque);
            super::module::install_loader(raw, opaque);
            if let Some(limit) = settings.memory_limit {
                sys::JS_SetMemoryLimit(raw.as_ptr(), limit as _);
            }
        }
        Ok(Self(inner))
    }

    /// Runs `body` on the calling thread's own stack.
    ///
    /// For work that never waits, like tests and building values. Scripts run in a [`super::Fiber`].
    ///
    /// # Panics
    /// While a fiber of this runtime is suspended, whose stack limits this would lose.
    pub fn enter<R>(&self, body: impl FnOnce(&Context) -> R) -> R {
        self.enter_with_stack(256 * 1024, body)
    }

    /// Like [`Runtime::enter`], with `stack` bytes for the engine, which must be there below the caller's frame.
    pub fn enter_with_stack<R>(&self, stack: usize, body: impl FnOnce(&Context) -> R) -> R {
        assert!(
            !self.0.suspender.is_active(),
            "the runtime's fiber is suspended"
        );
        // SAFETY: the runtime is live, and no other stack is in use by it.
        unsafe {
            sys::JS_SetMaxStackSize(self.0.raw.as_ptr(), stack as _);
            sys::JS_UpdateStackTop(self.0.raw.as_ptr());
        }
        body(self.context())
    }

    /// Asks `must_end` every few milliseconds of script; once it says true the script ends by an error that it cannot
    /// catch.
    pub fn set_interrupt(&self, must_end: Option<MustEnd>) {
        *self.0.interrupt.borrow_mut() = must_end;
    }

    /// Bytes allocated by the engine, as it counts them.
    pub fn allocated(&self) -> usize {
        // SAFETY: `JSMemoryUsage` is plain numbers; the runtime is live.
        unsafe {
            let mut usage: sys::JSMemoryUsage = std::mem::zeroed();
            sys::JS_ComputeMemoryUsage(self.0.raw.as_ptr(), &mut usage);
            usage.malloc_size.max(0) as usize
        }
    }

    /// Frees unreachable cycles.
    pub fn collect_garbage(&self) {
        // SAFETY: the runtime is live; finalizers run only Rust `Drop` code.
        unsafe { sys::JS_RunGC(self.0.raw.as_ptr()) }
    }

    /// The embedder's state.
    pub fn host<H: Any>(&self) -> Option<&H> {
        self.0.host.downcast_ref()
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(super) fn context(&self) -> &Context {
        self.0.context()
    }
}

impl Inner {
    /// The embedder's state to be kept, when it is an `H`.
    pub(super) fn shared_host<H: Any>(&self) -> Option<Rc<H>> {
        Rc::clone(&self.host).downcast().ok()
    }

    /// The embedder's state, when it is an `H`.
    pub(super) fn host<H: Any>(&self) -> Option<&H> {
        if self.host_type != TypeId::of::<H>() {
            return None;
        }
        // SAFETY: `host_type` was taken from the very type that `host` was made of.
        Some(unsafe { &*(Rc::as_ptr(&self.host) as *const H) })
    }
}

impl Inner {
    pub(super) fn context(&self) -> &Context {
        // SAFETY: the context lives as long as `self`.
        unsafe { Context::from_raw(self.context.as_ptr()) }
    }

    /// Whether the script is to end here.
    fn must_end(&self, now: Moment) -> bool {
        let must_end = self.interrupt.borrow();
        self.cancelled.get() || must_end.as_ref().is_some_and(|must_end| must_end(now))
    }

    /// Called by the engine in the middle of loops, of scripts and of its own.
    pub(super) fn on_interrupt(&self) -> bool {
        let now = plimsoll_clock::now();
        let must_end = self.must_end(now)
            || (self.suspender.is_active()
                && time_slice::is_used_up(now)
                && (self.pause().is_err() || self.must_end(plimsoll_clock::now())));
        if must_end {
            self.end_requested.set(true);
        }
        must_end
    }

    /// Called by the engine between two steps of work that it must finish, such as a garbage collection. Tells whether
    /// the script can be suspended there.
    fn on_pause(&self, only_ask: bool) -> bool {
        #[cfg(test)]
        {
            self.pause_polls.set(self.pause_polls.get() + 1);
            if self.tick_with_pauses.get() {
                // SAFETY: adds one to a number that any thread may change.
                unsafe { sys::JS_TickInterrupts() };
            }
        }
        if !self.engine_runs.get() || !self.suspender.is_active() {
            return false;
        }
        #[cfg(test)]
        self.pauses_allowed.set(self.pauses_allowed.get() + 1);
        if !only_ask && time_slice::is_used_up(plimsoll_clock::now()) {
            self.pause_even_if_cancelled();
        }
        true
    }

    /// Notes for the time of `body` whether the engine's own code runs, or the host's.
    #[inline]
    pub(super) fn with_engine_running<R>(&self, runs: bool, body: impl FnOnce() -> R) -> R {
        let before = self.engine_runs.replace(runs);
        let result = body();
        self.engine_runs.set(before);
        result
    }

    /// Suspends the script if its worker has other work to do.
    pub(super) fn pause_if_due(&self) {
        if self.suspender.is_active()
            && !self.cancelled.get()
            && time_slice::is_used_up(plimsoll_clock::now())
        {
            // If the script is to end, whoever polls for that next sees it.
            let _ = self.pause();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let context = self.context.as_ptr();
        // SAFETY: all values on Rust's side are given back before the context, and the context before the runtime.
        // The finalizers of what is still reachable run within and use none of the tables cleared here.
        unsafe {
            self.registry.clear();
            self.rejections.clear(context);
            self.prototypes.clear(context);
            if let Some(own) = Rc::get_mut(&mut self.names) {
                own.clear(context);
            }
            sys::JS_FreeContext(context);
            sys::JS_FreeRuntime(self.raw.as_ptr());
        }
    }
}

thread_local! {
    /// The property names whose atoms this thread's runtimes share; `None` before the first runtime, and where there
    /// was no memory for it.
    static SHARED_NAMES: RefCell<Option<Rc<Names>>> = const { RefCell::new(None) };
}

/// The table of `names`, for a new runtime of this thread.
///
/// The first call gives all runtimes of the thread one table of the atoms that every one of them would otherwise hold
/// for itself: a third of what an idle runtime takes, and a third of the time to make it. The runtime that has made
/// these atoms is kept for as long as the process lives, since strings of it may be anywhere.
fn share_names(names: &'static [&'static str]) -> Rc<Names> {
    SHARED_NAMES.with_borrow_mut(|shared| {
        if shared.is_none() {
            *shared = share_atoms(names).map(Rc::new);
        }
        match shared {
            Some(shared) if shared.is_of(names) => Rc::clone(shared),
            _ => Rc::new(Names::new(names)),
        }
    })
}

fn share_atoms(texts: &'static [&'static str]) -> Option<Names> {
    // SAFETY: the runtime made here is never freed nor used again; runtimes never leave their thread, so that the
    // counts in the atoms are only ever changed by one thread. Whatever fails leaves later runtimes with atoms of
    // their own.
    unsafe {
        let raw = NonNull::new(sys::JS_NewRuntime())?.as_ptr();
        let Some(context) = NonNull::new(new_context(raw, Intrinsics::AtOnce)) else {
            sys::JS_FreeRuntime(raw);
            return None;
        };
        let names = Names::new(texts);
        names.intern(context.as_ptr());
        (sys::JS_ShareAtoms(raw) == 0).then_some(names)
    }
}

/// When intrinsics that many scripts never ask for are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Intrinsics {
    /// With the context.
    AtOnce,
    /// When first asked for: `Date`, `RegExp`, `Map`, typed arrays and their kin.
    OnDemand,
}

/// A context with the intrinsics that k6's engine has too: no `performance`, `DOMException`, `atob`.
///
/// # Safety
/// `raw` must be a live runtime.
unsafe fn new_context(raw: *mut sys::JSRuntime, intrinsics: Intrinsics) -> *mut sys::JSContext {
    // SAFETY: per the function's contract; a failed step frees what was made.
    unsafe {
        let context = sys::JS_NewContextRaw(raw);
        if context.is_null() {
            return context;
        }
        let failed = sys::JS_AddIntrinsicBaseObjects(context) != 0
            || sys::JS_AddIntrinsicEval(context) != 0
            || sys::JS_AddIntrinsicJSON(context) != 0
            || sys::JS_AddIntrinsicProxy(context) != 0
            || sys::JS_AddIntrinsicPromise(context) != 0
            || sys::JS_AddIntrinsicBigInt(context) != 0
            || match intrinsics {
                Intrinsics::OnDemand => sys::JS_AddLazyIntrinsics(context) != 0,
                Intrinsics::AtOnce => {
                    sys::JS_AddIntrinsicDate(context) != 0
                        || sys::JS_AddIntrinsicRegExp(context) != 0
                        || sys::JS_AddIntrinsicMapSet(context) != 0
                        || sys::JS_AddIntrinsicTypedArrays(context) != 0
                        || sys::JS_AddIntrinsicWeakRef(context) != 0
                }
            };
        if failed {
            sys::JS_FreeContext(context);
            return std::ptr::null_mut();
        }
        context
    }
}

unsafe extern "C" fn on_pause(_: *mut sys::JSRuntime, opaque: *mut c_void, only_ask: bool) -> bool {
    // SAFETY: `opaque` is the `Inner` that installed this handler.
    let inner = unsafe { &*(opaque as *const Inner) };
    inner.on_pause(only_ask)
}

unsafe extern "C" fn on_interrupt(_: *mut sys::JSRuntime, opaque: *mut c_void) -> i32 {
    // SAFETY: `opaque` is the `Inner` that installed this handler.
    let inner = unsafe { &*(opaque as *const Inner) };
    i32::from(inner.on_interrupt())
}
