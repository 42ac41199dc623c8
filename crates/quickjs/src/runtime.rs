//! The engine instance and its one context: creation, limits, and destruction in the order that the engine requires.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;
use std::rc::Rc;

use plimsoll_engine::time_slice;
use plimsoll_units::Moment;

use crate::class::{ClassIds, Prototypes};
use crate::engine::{Engine, Intrinsics, with_context};
use crate::fiber::{Fiber, Suspender};
use crate::image::{Heap, Making, Part, Place};
use crate::module::{Loader, PendingModules};
use crate::name::Names;
use crate::persistent::Registry;
use crate::promise::Rejections;
use crate::shared::Shared;
use crate::ticker::Ticking;
use crate::{Context, sys};

/// The settings of a new runtime.
pub struct Settings {
    /// The property names that [`crate::Name`] indexes.
    pub names: &'static [&'static str],
    /// Maximum number of bytes that the engine may allocate. `None` means no limit.
    pub memory_limit: Option<usize>,
    /// Finds and compiles the modules that scripts import.
    pub loader: Rc<dyn Loader>,
}

/// One engine instance with its one context. Clones share it.
///
/// It stays on the thread that created it.
#[derive(Clone)]
pub struct Runtime(Rc<Inner>);

/// The Rust side of a runtime. The context's opaque pointer refers to it.
pub(super) struct Inner {
    pub(super) raw: NonNull<sys::JSRuntime>,
    context: NonNull<sys::JSContext>,
    /// The embedder's own state, returned by [`Context::host`].
    host: Rc<dyn Any>,
    host_type: TypeId,
    /// Where its values are.
    pub(super) place: Place,
    pub(super) classes: ClassIds,
    pub(super) prototypes: Prototypes,
    pub(super) names: Rc<Names>,
    /// The parts that all runtimes of the thread share.
    pub(super) shared: Option<Rc<Shared>>,
    pub(super) registry: Rc<Registry>,
    pub(super) rejections: Rejections,
    pub(super) loader: Rc<dyn Loader>,
    pub(super) pending_modules: PendingModules,
    pub(super) suspender: Suspender,
    /// The lowest address of the running script's stack.
    pub(super) stack_limit: Cell<usize>,
    interrupt: RefCell<Option<MustEnd>>,
    _ticking: Ticking,
    /// Whether the script is being interrupted. If so, every wait and every poll for interrupts ends it.
    pub(super) cancelled: Cell<bool>,
    /// The number of host functions on the script's stack while it is suspended.
    pub(super) host_depth: Cell<u32>,
    /// Whether the script is suspended in the middle of a computation and not in a wait.
    pub(super) paused: Cell<bool>,
    /// Whether the engine's own code is running, not a host function that it has called. A host function may hold
    /// something that other users need, and must not be suspended where it creates or drops a value.
    engine_runs: Cell<bool>,
    /// Whether the engine was asked to end the script. If the script returns anyway, its result may be incomplete.
    pub(super) end_requested: Cell<bool>,
    /// Whether the script was interrupted and its objects have not been freed yet. Freeing them may take seconds, so
    /// the end of the script does not wait for that.
    has_left_over: Cell<bool>,
    /// Values of interrupted host functions that have not been dropped yet, for the same reason.
    left_over: RefCell<Vec<Box<dyn Any>>>,
    /// Whether the engine has been freed.
    is_freed: Cell<bool>,
    /// Whether the memory of all values is freed as a whole, so that single values are not freed.
    pub(super) gives_up_heap: Cell<bool>,
    /// For tests: how often the engine asked whether to pause, how often it was allowed to, and whether asking makes it
    /// ask again at its next poll.
    #[cfg(test)]
    pub(super) pause_polls: Cell<u64>,
    #[cfg(test)]
    pub(super) pauses_allowed: Cell<u64>,
    #[cfg(test)]
    pub(super) tick_with_pauses: Cell<bool>,
}

/// Decides at a given moment whether the script has to end.
pub type MustEnd = Rc<dyn Fn(Moment) -> bool>;

/// Why an engine could not start.
#[derive(Debug)]
pub enum StartError {
    /// It could not allocate its first few kilobytes.
    Memory,
    /// The system refused to create the thread of the clock that interrupts scripts.
    Thread(io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Memory => f.write_str(
                "not enough memory for the script runtime of another virtual user. Raise the memory limit (ulimit -v, \
                 or that of the container), or run with fewer users",
            ),
            StartError::Thread(error) => write!(
                f,
                "could not start the thread that interrupts scripts: {error}. Raise the limit on threads (ulimit -u, or \
                 that of the container)"
            ),
        }
    }
}

impl std::error::Error for StartError {}

/// Whether the system permits the thread that all engines of the process share. It stays.
///
/// # Errors
/// If the system refuses it.
pub fn check_threads() -> Result<(), StartError> {
    Ticking::start().map(drop).map_err(StartError::Thread)
}

impl Runtime {
    /// Starts an engine whose host functions reach `host` through [`Context::host`].
    pub fn new<H: Any>(settings: Settings, host: Rc<H>) -> Result<Self, StartError> {
        let ticking = Ticking::start().map_err(StartError::Thread)?;
        let shared = Shared::of_thread(settings.names, &*settings.loader);
        let names = shared
            .as_ref()
            .and_then(|shared| shared.names(settings.names));
        let names = names.unwrap_or_else(|| Rc::new(Names::new(settings.names)));
        // SAFETY: a new runtime with its first context.
        let (raw, context) = unsafe { with_context(sys::JS_NewRuntime(), Intrinsics::OnDemand) }?;
        let engine = Engine {
            pending_modules: PendingModules::default(),
            raw,
            context,
            place: Place::Own,
            classes: ClassIds::register(raw),
            prototypes: Prototypes::default(),
            names,
            shared,
            loader: settings.loader,
        };
        let runtime = Self::of_engine(engine, host, ticking);
        runtime.limit(settings.memory_limit);
        Ok(runtime)
    }

    /// Starts an engine whose heap becomes an image. It shares nothing with other runtimes of the thread.
    pub(super) fn for_image<H: Any>(
        settings: Settings,
        host: Rc<H>,
        making: Rc<Making>,
    ) -> Result<Self, StartError> {
        let ticking = Ticking::start().map_err(StartError::Thread)?;
        let heap = (&raw const *making.heap).cast_mut().cast();
        // SAFETY: the heap outlives the runtime, whose `Inner` holds it.
        let (raw, context) = unsafe {
            let raw = sys::JS_NewImageRuntime(&Heap::FUNCTIONS, heap);
            with_context(raw, Intrinsics::AtOnce)?
        };
        let names = Rc::new(Names::new(settings.names));
        // SAFETY: the context has just been made, and the table is cleared before it is freed.
        unsafe { names.intern(context.as_ptr()) };
        let engine = Engine {
            pending_modules: PendingModules::default(),
            raw,
            context,
            place: Place::Origin(making),
            classes: ClassIds::register(raw),
            prototypes: Prototypes::default(),
            names,
            shared: None,
            loader: settings.loader,
        };
        let runtime = Self::of_engine(engine, host, ticking);
        runtime.limit(settings.memory_limit);
        Ok(runtime)
    }

    /// A user of the image that `origin` has become.
    pub(super) fn of_image<H: Any>(
        origin: &Runtime,
        host: Rc<H>,
        part: Part,
    ) -> Result<Self, StartError> {
        let ticking = Ticking::start().map_err(StartError::Thread)?;
        let origin = origin.inner();
        let pending_modules = PendingModules::of_user(part.fills());
        let engine = Engine {
            pending_modules,
            raw: origin.raw,
            context: origin.context,
            place: Place::User(part),
            classes: origin.classes,
            prototypes: origin.prototypes.clone(),
            names: Rc::clone(&origin.names),
            shared: None,
            loader: Rc::clone(&origin.loader),
        };
        Ok(Self::of_engine(engine, host, ticking))
    }

    fn of_engine<H: Any>(engine: Engine, host: Rc<H>, ticking: Ticking) -> Self {
        let raw = engine.raw;
        let inner = Rc::new(Inner {
            raw,
            context: engine.context,
            host,
            host_type: TypeId::of::<H>(),
            place: engine.place,
            classes: engine.classes,
            prototypes: engine.prototypes,
            names: engine.names,
            shared: engine.shared,
            registry: Rc::new(Registry::new(engine.context)),
            rejections: Rejections::default(),
            loader: engine.loader,
            pending_modules: engine.pending_modules,
            suspender: Suspender::default(),
            stack_limit: Cell::default(),
            interrupt: RefCell::new(None),
            _ticking: ticking,
            cancelled: Cell::new(false),
            host_depth: Cell::new(0),
            paused: Cell::new(false),
            engine_runs: Cell::new(false),
            end_requested: Cell::new(false),
            has_left_over: Cell::new(false),
            left_over: RefCell::default(),
            is_freed: Cell::new(false),
            gives_up_heap: Cell::new(false),
            #[cfg(test)]
            pause_polls: Cell::new(0),
            #[cfg(test)]
            pauses_allowed: Cell::new(0),
            #[cfg(test)]
            tick_with_pauses: Cell::new(false),
        });
        if matches!(inner.place, Place::User(_)) {
            // The image has the handlers, and its user is found when it takes its first turn.
            return Self(inner);
        }
        inner.be_found_by_engine();
        // SAFETY: the runtime is live. The handlers find the running user.
        unsafe {
            sys::JS_SetInterruptHandler(raw.as_ptr(), Some(on_interrupt), std::ptr::null_mut());
            sys::JS_SetPauseHandler(raw.as_ptr(), Some(on_pause), std::ptr::null_mut());
            crate::promise::track_rejections(raw);
            crate::module::install_loader(raw);
        }
        Self(inner)
    }

    fn limit(&self, memory: Option<usize>) {
        if let Some(limit) = memory {
            // SAFETY: the runtime is live.
            unsafe { sys::JS_SetMemoryLimit(self.0.raw.as_ptr(), limit as _) };
        }
    }

    /// Runs `body` on the calling thread's own stack.
    ///
    /// For work that never waits, such as tests and building values. Scripts run in a [`crate::Fiber`].
    ///
    /// # Panics
    /// If a fiber of this runtime is suspended, because its stack limits would be lost.
    pub fn enter<R>(&self, body: impl FnOnce(&Context) -> R) -> R {
        self.enter_with_stack(256 * 1024, body)
    }

    /// Like [`Runtime::enter`], with `stack` bytes for the engine, which must be available below the caller's frame.
    pub fn enter_with_stack<R>(&self, stack: usize, body: impl FnOnce(&Context) -> R) -> R {
        self.assert_usable();
        let _turn = self.0.begin_turn();
        self.0.free_left_over();
        // SAFETY: the runtime is live, and no other stack is in use by it.
        unsafe {
            sys::JS_SetMaxStackSize(self.0.raw.as_ptr(), stack as _);
            sys::JS_UpdateStackTop(self.0.raw.as_ptr());
        }
        body(self.context())
    }

    /// Calls `must_end` every few milliseconds while the script computes. Once it returns true, the script ends with an
    /// error that it cannot catch.
    pub fn set_interrupt(&self, must_end: Option<MustEnd>) {
        *self.0.interrupt.borrow_mut() = must_end;
    }

    /// Bytes allocated by the engine, by its own count.
    pub fn allocated(&self) -> usize {
        assert!(!self.0.is_freed.get(), "the runtime is freed");
        self.0.take_turn();
        // SAFETY: the runtime is live.
        unsafe { sys::JS_GetAllocatedSize(self.0.raw.as_ptr()) as usize }
    }

    /// Whether objects of an interrupted script are not freed yet. The next fiber frees them, and pauses meanwhile.
    pub fn has_left_over(&self) -> bool {
        self.0.has_left_over.get()
    }

    /// Frees all values, and pauses meanwhile. Dropping the last clone does not pause.
    ///
    /// # Errors
    /// If the system has no memory, or no mapping, left for another stack. Dropping the last clone then frees the values.
    pub fn free(self) -> std::io::Result<Fiber<()>> {
        let runtime = self.clone();
        Fiber::new(&self, move |_| {
            let inner = runtime.inner();
            // SAFETY: all other methods check `is_freed` before they use the engine.
            inner.with_engine_running(true, || unsafe { inner.free() });
        })
    }

    /// Frees unreachable cycles.
    pub fn collect_garbage(&self) {
        assert!(!self.0.is_freed.get(), "the runtime is freed");
        let _turn = self.0.begin_turn();
        // SAFETY: the runtime is live. Finalizers run only Rust `Drop` code.
        unsafe { sys::JS_RunGC(self.0.raw.as_ptr()) }
    }

    /// The embedder's state.
    pub fn host<H: Any>(&self) -> Option<&H> {
        self.0.host.downcast_ref()
    }

    /// Panics if a fiber is suspended, because its stack limits would be lost, or if the engine has been freed.
    pub(super) fn assert_usable(&self) {
        let is_free = !self.0.suspender.is_active() && !self.0.is_freed.get();
        assert!(is_free, "the runtime already has a fiber, or is freed");
    }

    pub(super) fn inner(&self) -> &Inner {
        &self.0
    }

    pub(super) fn context(&self) -> &Context {
        self.0.context()
    }
}

impl Inner {
    /// The embedder's state as a shared pointer, if it is an `H`.
    pub(super) fn shared_host<H: Any>(&self) -> Option<Rc<H>> {
        Rc::clone(&self.host).downcast().ok()
    }

    /// The embedder's state, if it is an `H`.
    pub(super) fn host<H: Any>(&self) -> Option<&H> {
        if self.host_type != TypeId::of::<H>() {
            return None;
        }
        // SAFETY: `host_type` is the type that `host` was created from.
        Some(unsafe { &*(Rc::as_ptr(&self.host) as *const H) })
    }
}

impl Inner {
    pub(super) fn context(&self) -> &Context {
        // SAFETY: the context lives as long as `self`.
        unsafe { Context::from_raw(self.context.as_ptr()) }
    }

    /// Whether the script has to end here.
    fn must_end(&self, now: Moment) -> bool {
        let must_end = self.interrupt.borrow();
        self.cancelled.get() || must_end.as_ref().is_some_and(|must_end| must_end(now))
    }

    /// Called by the engine inside loops of scripts and of its own functions.
    pub(super) fn on_interrupt(&self) -> bool {
        let now = plimsoll_clock::now();
        let must_end = self.must_end(now)
            || (self.suspender.is_active()
                && time_slice::is_used_up(now)
                && (self.pause().is_err() || self.must_end(plimsoll_clock::now())));
        if must_end {
            self.end_requested.set(true);
            self.free_later();
        }
        must_end
    }

    /// Called by the engine between two steps of work that it must finish, such as a garbage collection. Returns
    /// whether the script can be suspended there.
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

    /// Keeps the objects of a script that is being interrupted until [`Inner::free_left_over`].
    pub(super) fn free_later(&self) {
        if !self.is_freed.get() && !self.has_left_over.replace(true) {
            // SAFETY: the runtime is live, and runs no script from here on except to its end.
            unsafe { sys::JS_SetFreeLater(self.raw.as_ptr(), true) };
        }
    }

    /// Keeps a value of a host function that is being ended until [`Inner::free_left_over`].
    pub(super) fn keep_left_over(&self, value: Box<dyn Any>) {
        self.left_over.borrow_mut().push(value);
        self.free_later();
    }

    /// Frees the objects of an interrupted script, and the values of its host functions.
    pub(super) fn free_left_over(&self) {
        if self.has_left_over.replace(false) {
            // SAFETY: the runtime is live.
            let free = || unsafe { sys::JS_SetFreeLater(self.raw.as_ptr(), false) };
            self.with_engine_running(true, free);
            drop(self.left_over.take());
        }
    }

    /// Records during `body` whether the engine's own code or the host's is running.
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
            // If the script has to end, the next poll detects it.
            let _ = self.pause();
        }
    }
}

impl Inner {
    /// Lets the engine's callbacks find this runtime, until another user of its image takes a turn.
    pub(super) fn be_found_by_engine(&self) {
        let opaque = (&raw const *self).cast_mut().cast();
        // SAFETY: the `Rc` keeps `Inner` at a fixed address, and `Inner` outlives the context, which it frees itself.
        unsafe {
            sys::JS_SetContextOpaque(self.context.as_ptr(), opaque);
            sys::JS_SetRuntimeOpaque(self.raw.as_ptr(), opaque);
        }
    }

    /// When the runtime ends, the memory of all values is then freed as a whole, not value by value.
    pub(super) fn give_up_heap(&self) {
        self.gives_up_heap.set(true);
    }

    /// Frees the host's objects in the image, whose memory its heap gives back.
    pub(super) fn end_image(&self) {
        if self.is_freed.replace(true) {
            return;
        }
        self.be_found_by_engine();
        self.registry.forget();
        // SAFETY: the runtime is live, and nothing uses its values any more.
        unsafe { sys::JS_FinalizeHostObjects(self.raw.as_ptr(), true) };
    }

    /// Frees the engine with all its values.
    ///
    /// # Safety
    /// Nothing may use the engine afterwards.
    unsafe fn free(&self) {
        if self.is_freed.get() {
            return;
        }
        match &self.place {
            Place::User(part) => {
                let _turn = self.begin_turn();
                self.is_freed.set(true);
                self.give_up_heap();
                self.registry.forget();
                drop(self.left_over.take());
                // SAFETY: per the contract above.
                unsafe { self.end_part(part) };
                return;
            }
            // The runtime's heap could not become an image.
            Place::Origin(making) if self.gives_up_heap.get() => {
                self.is_freed.set(true);
                self.registry.forget();
                let is_frozen = making.heap.is_frozen();
                // SAFETY: the runtime is live, and nothing uses its values any more.
                unsafe { sys::JS_FinalizeHostObjects(self.raw.as_ptr(), is_frozen) };
                return;
            }
            Place::Origin(_) | Place::Own => self.is_freed.set(true),
        }
        self.free_left_over();
        let context = self.context.as_ptr();
        // SAFETY: all values on Rust's side are released before the context, and the context before the runtime. The
        // finalizers of objects that are still reachable run inside and use none of the tables cleared here.
        unsafe {
            if let Place::Origin(making) = &self.place {
                making.clear(context);
            }
            self.registry.clear();
            self.rejections.clear(context);
            self.prototypes.clear(context);
            // Unless other runtimes of the thread share them.
            if Rc::strong_count(&self.names) == 1 {
                self.names.clear(context);
            }
            sys::JS_FreeContext(context);
            sys::JS_FreeRuntime(self.raw.as_ptr());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: nothing can use the engine after its last owner.
        unsafe { self.free() };
    }
}

unsafe extern "C" fn on_pause(
    runtime: *mut sys::JSRuntime,
    _: *mut c_void,
    only_ask: bool,
) -> bool {
    // SAFETY: the runtime's opaque pointer is its running user.
    let inner = unsafe { &*(sys::JS_GetRuntimeOpaque(runtime) as *const Inner) };
    inner.on_pause(only_ask)
}

unsafe extern "C" fn on_interrupt(runtime: *mut sys::JSRuntime, _: *mut c_void) -> i32 {
    // SAFETY: the runtime's opaque pointer is its running user.
    let inner = unsafe { &*(sys::JS_GetRuntimeOpaque(runtime) as *const Inner) };
    i32::from(inner.on_interrupt())
}
