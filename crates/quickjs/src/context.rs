//! The running engine as host functions see it.

use std::any::Any;
use std::ffi::CString;

use crate::function::{Entry, HostFunction, remembering, trampoline};
use crate::give_way::utf8_in_pieces;
use crate::runtime::Inner;
use crate::{ErrorKind, Thrown, Value, sys};

/// Binary data above this size in bytes is copied in pieces.
const LARGE: usize = 256 * 1024;

/// The running engine. It is always used through a reference whose address is the address of the engine's own context.
#[repr(transparent)]
pub struct Context(sys::JSContext);

impl Context {
    /// # Safety
    /// `raw` must be a context created by [`crate::Runtime`] that is live during `'c`.
    #[inline]
    pub(super) unsafe fn from_raw<'c>(raw: *mut sys::JSContext) -> &'c Self {
        // SAFETY: `Context` is a transparent wrapper of an opaque type without bytes of its own.
        unsafe { &*(raw as *const Self) }
    }

    #[inline]
    pub(super) fn raw(&self) -> *mut sys::JSContext {
        self as *const Self as *mut sys::JSContext
    }

    #[inline]
    pub(super) fn inner(&self) -> &Inner {
        // SAFETY: `Runtime::new` set the opaque pointer to the owner of this context.
        unsafe { &*(sys::JS_GetContextOpaque(self.raw()) as *const Inner) }
    }

    /// The embedder's state that was passed to [`crate::Runtime::new`].
    ///
    /// # Panics
    /// If the state has another type.
    #[inline]
    pub fn host<H: Any>(&self) -> &H {
        // Every runtime of the program is created with the same type of state.
        self.inner()
            .host()
            .expect("the runtime was created with another type of state")
    }

    /// Like [`Context::host`], as a shared pointer.
    ///
    /// # Panics
    /// If the state has another type.
    pub fn shared_host<H: Any>(&self) -> std::rc::Rc<H> {
        // As in `host`.
        self.inner()
            .shared_host()
            .expect("the runtime was created with another type of state")
    }

    // Creating values.

    /// Shorthand for the result of a host function that returns nothing.
    #[inline]
    pub fn undefined(&self) -> Value<'_> {
        // SAFETY: an immediate value.
        unsafe { Value::from_raw(self, sys::JS_UNDEFINED) }
    }

    /// The value `null`.
    #[inline]
    pub fn null(&self) -> Value<'_> {
        // SAFETY: an immediate value.
        unsafe { Value::from_raw(self, sys::JS_NULL) }
    }

    /// A boolean.
    #[inline]
    pub fn bool(&self, value: bool) -> Value<'_> {
        // SAFETY: an immediate value.
        unsafe { Value::from_raw(self, if value { sys::JS_TRUE } else { sys::JS_FALSE }) }
    }

    #[inline]
    pub fn number(&self, value: impl Into<f64>) -> Value<'_> {
        // SAFETY: an immediate value.
        unsafe { Value::from_raw(self, sys::JS_NewFloat64(value.into())) }
    }

    /// An integer. Above 2^53 it loses precision, as any JavaScript number does.
    #[inline]
    pub fn integer(&self, value: u64) -> Value<'_> {
        self.number(value as f64)
    }

    /// A string with the contents of `text`.
    pub fn string(&self, text: &str) -> Result<Value<'_>, Thrown> {
        // SAFETY: the engine copies the given bytes.
        unsafe {
            Value::checked(
                self,
                sys::JS_NewStringLen(self.raw(), text.as_ptr().cast(), text.len() as _),
            )
        }
    }

    /// A string from bytes that should be UTF-8. Invalid bytes become U+FFFD.
    pub fn string_lossy(&self, bytes: &[u8]) -> Result<Value<'_>, Thrown> {
        match utf8_in_pieces(bytes) {
            Some(text) => self.string(text),
            None => self.string(&String::from_utf8_lossy(bytes)),
        }
    }

    /// A new empty object.
    pub fn object(&self) -> Result<Value<'_>, Thrown> {
        // SAFETY: the context is live.
        unsafe { Value::checked(self, sys::JS_NewObject(self.raw())) }
    }

    /// A new array with these items.
    pub fn array<'c>(
        &'c self,
        items: impl IntoIterator<Item = Value<'c>>,
    ) -> Result<Value<'c>, Thrown> {
        // SAFETY: the context is live.
        let array = unsafe { Value::checked(self, sys::JS_NewArray(self.raw()))? };
        for (index, item) in items.into_iter().enumerate() {
            array.define(index as u32, item)?;
        }
        Ok(array)
    }

    /// An array of strings.
    pub fn strings<'c, T: AsRef<str>>(
        &'c self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<Value<'c>, Thrown> {
        let items: Result<Vec<_>, _> = items
            .into_iter()
            .map(|item| self.string(item.as_ref()))
            .collect();
        self.array(items?)
    }

    /// An ArrayBuffer with a copy of `bytes`.
    pub fn array_buffer(&self, bytes: &[u8]) -> Result<Value<'_>, Thrown> {
        self.binary_data(bytes, sys::JS_NewArrayBufferCopy)
    }

    /// A new `Uint8Array` with a copy of `bytes`.
    pub fn uint8_array(&self, bytes: &[u8]) -> Result<Value<'_>, Thrown> {
        self.binary_data(bytes, sys::JS_NewUint8ArrayCopy)
    }

    fn binary_data(
        &self,
        bytes: &[u8],
        make: unsafe extern "C" fn(*mut sys::JSContext, *const u8, sys::size_t) -> sys::JSValue,
    ) -> Result<Value<'_>, Thrown> {
        let is_large = bytes.len() > LARGE;
        let source = if is_large {
            std::ptr::null()
        } else {
            bytes.as_ptr()
        };
        // SAFETY: the engine copies the given bytes. For an empty slice it allocates zeroed memory.
        let value = unsafe { Value::checked(self, make(self.raw(), source, bytes.len() as _))? };
        if is_large {
            value.write_bytes(bytes);
        }
        Ok(value)
    }

    /// A Date from milliseconds since 1970.
    pub fn date(&self, milliseconds: f64) -> Result<Value<'_>, Thrown> {
        // SAFETY: the context is live.
        unsafe { Value::checked(self, sys::JS_NewDate(self.raw(), milliseconds)) }
    }

    /// Like `JSON.parse(text)`; errors refer to the text as `name`.
    pub fn parse_json(&self, text: &str, name: &str) -> Result<Value<'_>, Thrown> {
        let text = self.terminated(text)?;
        let name = self.terminated(name)?;
        // SAFETY: both end with a zero byte that is not part of the length.
        unsafe {
            let raw = sys::JS_ParseJSON(
                self.raw(),
                text.as_ptr(),
                text.as_bytes().len() as _,
                name.as_ptr(),
            );
            Value::checked(self, raw)
        }
    }

    /// A function that calls `body`, a plain Rust function.
    pub fn function<F: HostFunction>(
        &self,
        name: &str,
        length: u8,
        body: F,
    ) -> Result<Value<'_>, Thrown> {
        self.native(name, length, body, sys::JSCFunctionEnum_JS_CFUNC_generic)
    }

    /// A function that remembers `value`. It calls `body` with `value` before its own arguments.
    pub fn function_with<F: HostFunction>(
        &self,
        value: &Value<'_>,
        body: F,
    ) -> Result<Value<'_>, Thrown> {
        let _ = body;
        let mut remembered = value.raw();
        // SAFETY: the engine takes its own reference to the value, and the function has the expected signature.
        unsafe {
            let raw = sys::JS_NewCFunctionData(
                self.raw(),
                Some(remembering::<F>),
                0,
                0,
                1,
                &mut remembered,
            );
            Value::checked(self, raw)
        }
    }

    /// A function that scripts call with `new` (or without, which k6's own classes allow).
    pub fn constructor<F: HostFunction>(
        &self,
        name: &str,
        length: u8,
        body: F,
    ) -> Result<Value<'_>, Thrown> {
        let kind = sys::JSCFunctionEnum_JS_CFUNC_constructor_or_func;
        self.native(name, length, body, kind)
    }

    /// A function of a special kind whose host function has the signature of a generic one.
    fn native<F: HostFunction>(
        &self,
        name: &str,
        length: u8,
        body: F,
        kind: sys::JSCFunctionEnum,
    ) -> Result<Value<'_>, Thrown> {
        let _ = body;
        let name = self.terminated(name)?;
        // SAFETY: the trampoline has the signature of a generic host function, which is also the signature of a
        // constructor-or-function.
        unsafe {
            let raw = sys::JS_NewCFunction2(
                self.raw(),
                Some(trampoline::<F>),
                name.as_ptr(),
                i32::from(length),
                kind,
                0,
            );
            Value::checked(self, raw)
        }
    }

    /// Adds the functions and constants of `entries` to `object`. Functions are created on first access.
    pub fn add_entries(&self, object: &Value<'_>, entries: &'static [Entry]) -> Result<(), Thrown> {
        // SAFETY: `Entry` is a transparent wrapper of the engine's entry, and the table is static.
        let done = unsafe {
            sys::JS_SetPropertyFunctionList(
                self.raw(),
                object.raw(),
                entries.as_ptr().cast(),
                entries.len() as i32,
            )
        };
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }

    /// The global object.
    pub fn global(&self) -> Value<'_> {
        // SAFETY: the context is live.
        unsafe { Value::from_raw(self, sys::JS_GetGlobalObject(self.raw())) }
    }

    // Running code.

    /// Runs `source` as a script and returns its last value.
    pub fn eval(&self, source: &str, file: &str) -> Result<Value<'_>, Thrown> {
        self.eval_with(source, file, sys::JS_EVAL_TYPE_GLOBAL)
    }

    pub(super) fn eval_with(
        &self,
        source: &str,
        file: &str,
        flags: u32,
    ) -> Result<Value<'_>, Thrown> {
        let source = self.terminated(source)?;
        let file = self.terminated(file)?;
        // SAFETY: both end with a zero byte that is not part of the length.
        unsafe {
            let eval = || {
                sys::JS_Eval(
                    self.raw(),
                    source.as_ptr(),
                    source.as_bytes().len() as _,
                    file.as_ptr(),
                    flags as i32,
                )
            };
            let raw = self.inner().with_engine_running(true, eval);
            Value::checked(self, raw)
        }
    }

    /// A copy of `text` with a zero byte at the end, as the engine's C interface requires.
    pub(super) fn terminated(&self, text: &str) -> Result<CString, Thrown> {
        CString::new(text)
            .map_err(|_| self.throw_error(ErrorKind::Syntax, "the text contains a zero character"))
    }
}
