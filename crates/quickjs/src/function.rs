//! Host functions: plain Rust functions that scripts call.
//!
//! ```ignore
//! fn add<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
//!     Ok(context.number(call.argument(0).to_number()? + call.argument(1).to_number()?))
//! }
//! static ENTRIES: &[Entry] = &[Entry::function(c"add", 2, add)];
//! ```

use std::ffi::{CStr, c_int};

use crate::give_way::{Interrupted, in_host_function};
use crate::value::Borrowed;
use crate::{Context, Thrown, Value, sys};

/// The result of a host function.
pub type Returned<'c> = Result<Value<'c>, Thrown>;

/// A plain Rust function (never a closure with captures) that scripts can call.
pub trait HostFunction:
    for<'c> Fn(&'c Context, &Call<'c>) -> Returned<'c> + Copy + 'static
{
}
impl<F> HostFunction for F where
    F: for<'c> Fn(&'c Context, &Call<'c>) -> Returned<'c> + Copy + 'static
{
}

/// One call of a host function, with `this` and the arguments.
pub struct Call<'c> {
    context: &'c Context,
    this: sys::JSValue,
    count: usize,
    arguments: *const sys::JSValue,
}

impl<'c> Call<'c> {
    /// `this`. For a constructor called with `new` it is the constructor (`new.target`), otherwise undefined.
    #[inline]
    pub fn this(&self) -> Borrowed<'_, 'c> {
        // SAFETY: the caller keeps the value alive during the call.
        unsafe { Borrowed::from_raw(self.context, self.this) }
    }

    /// The number of arguments given.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The argument at `index`; undefined if it was not given.
    #[inline]
    pub fn argument(&self, index: usize) -> Borrowed<'_, 'c> {
        // SAFETY: the caller keeps the arguments alive during the call, and `index` is in bounds.
        unsafe {
            let raw = if index < self.count {
                *self.arguments.add(index)
            } else {
                sys::JS_UNDEFINED
            };
            Borrowed::from_raw(self.context, raw)
        }
    }

    pub fn arguments(&self) -> impl Iterator<Item = Borrowed<'_, 'c>> {
        (0..self.count).map(|index| self.argument(index))
    }
}

/// The function that the engine calls for the host function `F`. `F` is a zero-sized type, so it needs no storage.
///
/// # Safety
/// Only the engine may call it.
pub(super) unsafe extern "C" fn trampoline<F: HostFunction>(
    context: *mut sys::JSContext,
    this: sys::JSValue,
    count: c_int,
    arguments: *mut sys::JSValue,
) -> sys::JSValue {
    // SAFETY: the engine passes a live context made by `Runtime`.
    let context = unsafe { Context::from_raw(context) };
    let call = Call {
        context,
        this,
        count: count.max(0) as usize,
        arguments,
    };
    guarded(context, || zero_sized_value::<F>()(context, &call))
}

/// Like [`trampoline`], for the getter of a property.
///
/// # Safety
/// Only the engine may call it.
pub(super) unsafe extern "C" fn getter<F: HostFunction>(
    context: *mut sys::JSContext,
    this: sys::JSValue,
) -> sys::JSValue {
    // SAFETY: as in `trampoline`.
    unsafe { trampoline::<F>(context, this, 0, std::ptr::null_mut()) }
}

/// Like [`trampoline`], for the setter of a property.
///
/// # Safety
/// Only the engine may call it.
pub(super) unsafe extern "C" fn setter<F: HostFunction>(
    context: *mut sys::JSContext,
    this: sys::JSValue,
    value: sys::JSValue,
) -> sys::JSValue {
    let mut value = value;
    // SAFETY: as in `trampoline`. The table with one argument lives during the call.
    unsafe { trampoline::<F>(context, this, 1, &mut value) }
}

/// Like [`trampoline`], for a function that remembers a value, which becomes its first argument.
///
/// # Safety
/// Only the engine may call it.
pub(super) unsafe extern "C" fn remembering<F: HostFunction>(
    context: *mut sys::JSContext,
    this: sys::JSValue,
    count: c_int,
    arguments: *mut sys::JSValue,
    _: c_int,
    remembered: *mut sys::JSValue,
) -> sys::JSValue {
    let count = count.max(0) as usize;
    // SAFETY: as in `trampoline`. The engine passes `count` arguments and one remembered value.
    unsafe {
        let mut all = Vec::with_capacity(count + 1);
        all.push(*remembered);
        all.extend((0..count).map(|index| *arguments.add(index)));
        trampoline::<F>(context, this, all.len() as c_int, all.as_mut_ptr())
    }
}

/// Like [`trampoline`], for a function that replaces a reaction of a promise.
///
/// # Safety
/// Only the engine may call it.
unsafe extern "C" fn wrapper<F: HostFunction>(
    context: *mut sys::JSContext,
    reaction: sys::JSValue,
) -> sys::JSValue {
    let mut reaction = reaction;
    // SAFETY: as in `setter`.
    unsafe { trampoline::<F>(context, sys::JS_UNDEFINED, 1, &mut reaction) }
}

impl Context {
    /// From now on, `wrap` is called with each function that is registered as a reaction of a promise, including those
    /// that continue an async function after `await`. It returns the function to register instead.
    pub fn wrap_reactions<F: HostFunction>(&self, wrap: F) {
        let _ = wrap;
        // SAFETY: the runtime is live.
        unsafe { sys::JS_SetReactionWrapper(self.inner().raw.as_ptr(), Some(wrapper::<F>)) }
    }
}

/// The only value of a function's type.
#[inline]
fn zero_sized_value<F: HostFunction>() -> F {
    const {
        assert!(
            size_of::<F>() == 0,
            "a host function must be a plain fn, without captures"
        )
    };
    // SAFETY: a zero-sized type has one value, and creating it reads no memory. Since `F: Copy`, dropping it does
    // nothing.
    unsafe { std::ptr::NonNull::<F>::dangling().read() }
}

/// Runs `body`. Turns an error or a panic into an exception, because a panic must not reach the engine's C frames.
#[inline]
pub(super) fn guarded<'c>(
    context: &'c Context,
    body: impl FnOnce() -> Returned<'c>,
) -> sys::JSValue {
    let called = || in_host_function(body);
    match context.inner().with_engine_running(false, called) {
        Ok(Ok(value)) => value.into_raw(),
        Ok(Err(thrown)) => {
            let Thrown { .. } = thrown;
            sys::JS_EXCEPTION
        }
        Err(panic) if panic.is::<Interrupted>() => {
            let _ = context.throw_uncatchable("interrupted");
            sys::JS_EXCEPTION
        }
        Err(panic) => {
            let _ = context.throw_uncatchable(&panic_text(&*panic));
            sys::JS_EXCEPTION
        }
    }
}

/// The message of a panic.
pub(super) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message");
    format!("a bug in Plimsoll: {text}")
}

/// A function, getter or constant of a module or a class, defined statically.
#[repr(transparent)]
pub struct Entry(sys::JSCFunctionListEntry);

// SAFETY: an entry is immutable and points only to static data.
unsafe impl Sync for Entry {}

type FunctionPart = sys::JSCFunctionListEntry__bindgen_ty_1__bindgen_ty_1;
type AccessorPart = sys::JSCFunctionListEntry__bindgen_ty_1__bindgen_ty_2;
type Parts = sys::JSCFunctionListEntry__bindgen_ty_1;

impl Entry {
    /// A function with its `length`.
    pub const fn function<F: HostFunction>(name: &'static CStr, length: u8, body: F) -> Self {
        let _ = body;
        let part = FunctionPart {
            length,
            cproto: sys::JSCFunctionEnum_JS_CFUNC_generic as u8,
            cfunc: sys::JSCFunctionType {
                generic: Some(trampoline::<F>),
            },
        };
        Self::new(
            name,
            sys::JS_DEF_CFUNC,
            sys::JS_PROP_C_W_E,
            Parts { func: part },
        )
    }

    /// A read-only property that `body` computes.
    pub const fn getter<F: HostFunction>(name: &'static CStr, body: F) -> Self {
        let _ = body;
        let part = AccessorPart {
            get: sys::JSCFunctionType {
                getter: Some(getter::<F>),
            },
            set: sys::JSCFunctionType { setter: None },
        };
        let flags = sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_ENUMERABLE;
        Self::new(name, sys::JS_DEF_CGETSET, flags, Parts { getset: part })
    }

    /// A property that `get` computes and `set` assigns. Argument 0 of `set` is the new value.
    pub const fn accessor<G: HostFunction, S: HostFunction>(
        name: &'static CStr,
        get: G,
        set: S,
    ) -> Self {
        let _ = (get, set);
        let part = AccessorPart {
            get: sys::JSCFunctionType {
                getter: Some(getter::<G>),
            },
            set: sys::JSCFunctionType {
                setter: Some(setter::<S>),
            },
        };
        let flags = sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_ENUMERABLE;
        Self::new(name, sys::JS_DEF_CGETSET, flags, Parts { getset: part })
    }

    /// A constant string.
    pub const fn string(name: &'static CStr, value: &'static CStr) -> Self {
        Self::new(
            name,
            sys::JS_DEF_PROP_STRING,
            sys::JS_PROP_C_W_E,
            Parts {
                str_: value.as_ptr(),
            },
        )
    }

    /// A constant number.
    pub const fn number(name: &'static CStr, value: i32) -> Self {
        Self::new(
            name,
            sys::JS_DEF_PROP_INT32,
            sys::JS_PROP_C_W_E,
            Parts { i32_: value },
        )
    }

    const fn new(name: &'static CStr, kind: u32, flags: u32, u: Parts) -> Self {
        Self(sys::JSCFunctionListEntry {
            name: name.as_ptr(),
            prop_flags: flags as u8,
            def_type: kind as u8,
            magic: 0,
            u,
        })
    }

    /// The property's name.
    pub fn name(&self) -> &'static str {
        // SAFETY: the name is a static C string.
        unsafe { CStr::from_ptr(self.0.name) }
            .to_str()
            .unwrap_or_default()
    }
}
