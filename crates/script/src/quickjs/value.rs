//! JavaScript values and what can be done with them.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use super::name::{Atom, Key};
use super::{Context, Thrown, sys};

/// An owned JavaScript value.
pub struct Value<'c> {
    raw: sys::JSValue,
    context: &'c Context,
}

/// A value owned by somebody else, such as an argument by its caller.
pub struct Borrowed<'a, 'c>(ManuallyDrop<Value<'c>>, PhantomData<&'a ()>);

impl<'c> Deref for Borrowed<'_, 'c> {
    type Target = Value<'c>;
    #[inline]
    fn deref(&self) -> &Value<'c> {
        &self.0
    }
}

impl<'a, 'c> Borrowed<'a, 'c> {
    /// # Safety
    /// `raw` must stay alive for `'a` and belong to `context`.
    #[inline]
    pub(super) unsafe fn from_raw(context: &'c Context, raw: sys::JSValue) -> Self {
        Self(ManuallyDrop::new(Value { raw, context }), PhantomData)
    }
}

impl Clone for Value<'_> {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: `raw` is live.
        let raw = unsafe { sys::JS_DupValue(self.context.raw(), self.raw) };
        Self {
            raw,
            context: self.context,
        }
    }
}

impl Drop for Value<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the reference is `self`'s own; immediate values need nothing.
        unsafe {
            if sys::JS_VALUE_HAS_REF_COUNT(self.raw) {
                sys::JS_FreeValue(self.context.raw(), self.raw);
            }
        }
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match () {
            () if self.is_undefined() => "undefined",
            () if self.is_null() => "null",
            () if self.is_string() => "a string",
            () if self.is_number() => "a number",
            () if self.is_function() => "a function",
            () if self.is_object() => "an object",
            () => "a value",
        })
    }
}

impl<'c> Value<'c> {
    /// Takes over `raw`.
    ///
    /// # Safety
    /// `raw` must be a live value of `context`, not an exception, whose reference the caller gives up.
    #[inline]
    pub(super) unsafe fn from_raw(context: &'c Context, raw: sys::JSValue) -> Self {
        Self { raw, context }
    }

    /// Takes over `raw`, which may be the mark of an exception.
    ///
    /// # Safety
    /// As [`Value::from_raw`].
    #[inline]
    pub(super) unsafe fn checked(context: &'c Context, raw: sys::JSValue) -> Result<Self, Thrown> {
        // SAFETY: a tag test.
        if unsafe { sys::JS_IsException(raw) } {
            return Err(Thrown::pending());
        }
        Ok(Self { raw, context })
    }

    /// Gives up the reference.
    #[inline]
    pub(super) fn into_raw(self) -> sys::JSValue {
        ManuallyDrop::new(self).raw
    }

    #[inline]
    pub(super) fn raw(&self) -> sys::JSValue {
        self.raw
    }

    /// The context this value lives in.
    #[inline]
    pub fn context(&self) -> &'c Context {
        self.context
    }

    #[inline]
    fn tag(&self) -> i32 {
        // SAFETY: a field read.
        unsafe { sys::JS_VALUE_GET_TAG(self.raw) }
    }

    // Kinds.

    #[inline]
    pub fn is_undefined(&self) -> bool {
        self.tag() == sys::JS_TAG_UNDEFINED
    }

    #[inline]
    pub fn is_null(&self) -> bool {
        self.tag() == sys::JS_TAG_NULL
    }

    /// Undefined or null.
    #[inline]
    pub fn is_nullish(&self) -> bool {
        self.is_undefined() || self.is_null()
    }

    #[inline]
    pub fn is_bool(&self) -> bool {
        self.tag() == sys::JS_TAG_BOOL
    }

    #[inline]
    pub fn is_number(&self) -> bool {
        self.tag() == sys::JS_TAG_INT || self.tag() == sys::JS_TAG_FLOAT64
    }

    #[inline]
    pub fn is_string(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_STRING | sys::JS_TAG_STRING_ROPE)
    }

    #[inline]
    pub fn is_symbol(&self) -> bool {
        self.tag() == sys::JS_TAG_SYMBOL
    }

    #[inline]
    pub fn is_big_int(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT)
    }

    #[inline]
    pub fn is_object(&self) -> bool {
        self.tag() == sys::JS_TAG_OBJECT
    }

    #[inline]
    pub fn is_array(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsArray(self.raw) }
    }

    #[inline]
    pub fn is_function(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsFunction(self.context.raw(), self.raw) }
    }

    /// An `async` function, or an async generator function.
    pub fn is_async_function(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsAsyncFunction(self.raw) }
    }

    pub fn is_error(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsError(self.raw) }
    }

    pub fn is_date(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsDate(self.raw) }
    }

    pub fn is_regexp(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsRegExp(self.raw) }
    }

    pub fn is_map(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsMap(self.raw) }
    }

    pub fn is_set(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsSet(self.raw) }
    }

    #[inline]
    pub fn is_promise(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsPromise(self.raw) }
    }

    /// The same object, or the same primitive, as by `===`.
    pub fn is_same(&self, other: &Value<'_>) -> bool {
        // SAFETY: both values are live.
        unsafe { sys::JS_IsStrictEqual(self.context.raw(), self.raw, other.raw) }
    }

    /// As by `instanceof`.
    pub fn is_instance_of(&self, constructor: &Value<'_>) -> Result<bool, Thrown> {
        // SAFETY: both values are live.
        let answer = unsafe { sys::JS_IsInstanceOf(self.context.raw(), self.raw, constructor.raw) };
        if answer < 0 {
            Err(Thrown::pending())
        } else {
            Ok(answer > 0)
        }
    }

    // Primitives as they are.

    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        // SAFETY: the tag says which field is set.
        self.is_bool()
            .then(|| unsafe { sys::JS_VALUE_GET_BOOL(self.raw) })
    }

    /// The number, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<f64> {
        // SAFETY: the tag says which field is set.
        unsafe {
            match self.tag() {
                sys::JS_TAG_INT => Some(f64::from(sys::JS_VALUE_GET_INT(self.raw))),
                sys::JS_TAG_FLOAT64 => Some(sys::JS_VALUE_GET_FLOAT64(self.raw)),
                _ => None,
            }
        }
    }

    // Conversions as the language defines them.

    /// As by `!!value`.
    #[inline]
    pub fn is_truthy(&self) -> bool {
        match self.tag() {
            sys::JS_TAG_UNDEFINED | sys::JS_TAG_NULL => false,
            // SAFETY: the tag says which field is set.
            sys::JS_TAG_BOOL | sys::JS_TAG_INT => unsafe { sys::JS_VALUE_GET_INT(self.raw) != 0 },
            // SAFETY: the value is live.
            _ => unsafe { sys::JS_ToBool(self.context.raw(), self.raw) > 0 },
        }
    }

    /// As by `Number(value)`.
    pub fn to_number(&self) -> Result<f64, Thrown> {
        if let Some(number) = self.as_number() {
            return Ok(number);
        }
        let mut number = 0.0;
        // SAFETY: the value is live.
        let failed = unsafe { sys::JS_ToFloat64(self.context.raw(), &mut number, self.raw) } < 0;
        if failed {
            Err(Thrown::pending())
        } else {
            Ok(number)
        }
    }

    /// As by `Number(value)`, cut to a 64-bit integer and held within its range; NaN is 0.
    pub fn to_integer(&self) -> Result<i64, Thrown> {
        self.to_number().map(|number| number as i64)
    }

    /// The text as by `String(value)`, without copying where the engine's string is plain ASCII.
    ///
    /// Lone surrogates come as U+FFFD.
    #[inline]
    pub fn to_text(&self) -> Result<Text<'c>, Thrown> {
        Text::of(self)
    }

    /// The UTF-16 code units of `String(value)`.
    pub fn to_utf16(&self) -> Result<Vec<u16>, Thrown> {
        let mut length = 0;
        // SAFETY: the units are copied before they are freed.
        unsafe {
            let units = sys::JS_ToCStringLenUTF16(self.context.raw(), &mut length, self.raw);
            if units.is_null() {
                return Err(Thrown::pending());
            }
            let copy = std::slice::from_raw_parts(units, length as usize).to_vec();
            sys::JS_FreeCStringUTF16(self.context.raw(), units);
            Ok(copy)
        }
    }

    /// As by `JSON.stringify(value)`: `None` for what JSON leaves out, such as functions.
    pub fn to_json(&self) -> Result<Option<String>, Thrown> {
        self.stringify(&self.context.undefined())
    }

    /// As by `JSON.stringify(value, null, indent)`.
    pub fn stringify(&self, indent: &Value<'c>) -> Result<Option<String>, Thrown> {
        // SAFETY: the values are live.
        let json = unsafe {
            let raw =
                sys::JS_JSONStringify(self.context.raw(), self.raw, sys::JS_UNDEFINED, indent.raw);
            Value::checked(self.context, raw)?
        };
        if json.is_undefined() {
            Ok(None)
        } else {
            Ok(Some(json.to_text()?.into_string()))
        }
    }

    // Objects.

    /// The property `key`, by way of getters and the prototype chain.
    #[inline]
    pub fn get(&self, key: impl Key) -> Result<Value<'c>, Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the value and the atom are live.
            unsafe {
                Value::checked(
                    self.context,
                    sys::JS_GetProperty(self.context.raw(), self.raw, atom),
                )
            }
        })
    }

    /// The element at `index`.
    #[inline]
    pub fn at(&self, index: u32) -> Result<Value<'c>, Thrown> {
        // SAFETY: the value is live.
        unsafe {
            Value::checked(
                self.context,
                sys::JS_GetPropertyUint32(self.context.raw(), self.raw, index),
            )
        }
    }

    /// Assigns `key`, by way of setters.
    #[inline]
    pub fn set(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the values and the atom are live; the engine takes over `value`.
            let done = unsafe {
                sys::JS_SetProperty(self.context.raw(), self.raw, atom, value.into_raw())
            };
            if done < 0 {
                Err(Thrown::pending())
            } else {
                Ok(())
            }
        })
    }

    /// Makes `key` a property of the object itself, without calling setters.
    pub fn define(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        self.define_with(key, value, sys::JS_PROP_C_W_E)
    }

    /// Like [`Value::define`], but not listed among the object's keys.
    pub fn define_hidden(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        self.define_with(
            key,
            value,
            sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_WRITABLE,
        )
    }

    /// Like [`Value::define`], but scripts can neither assign nor delete it.
    pub fn define_fixed(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        self.define_with(key, value, sys::JS_PROP_ENUMERABLE)
    }

    fn define_with(&self, key: impl Key, value: Value<'c>, flags: u32) -> Result<(), Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the values and the atom are live; the engine takes over `value`.
            let done = unsafe {
                sys::JS_DefinePropertyValue(
                    self.context.raw(),
                    self.raw,
                    atom,
                    value.into_raw(),
                    flags as i32,
                )
            };
            if done < 0 {
                Err(Thrown::pending())
            } else {
                Ok(())
            }
        })
    }

    /// Makes `key` a property of the object itself that is computed by `getter`.
    pub fn define_getter(&self, key: impl Key, getter: Value<'c>) -> Result<(), Thrown> {
        let flags = (sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_ENUMERABLE) as i32;
        key.with(self.context, |atom| {
            // SAFETY: the values and the atom are live; the engine takes over `getter`.
            let done = unsafe {
                sys::JS_DefinePropertyGetSet(
                    self.context.raw(),
                    self.raw,
                    atom,
                    getter.into_raw(),
                    sys::JS_UNDEFINED,
                    flags,
                )
            };
            if done < 0 {
                Err(Thrown::pending())
            } else {
                Ok(())
            }
        })
    }

    /// As by `key in object`.
    pub fn has(&self, key: impl Key) -> Result<bool, Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the value and the atom are live.
            let answer = unsafe { sys::JS_HasProperty(self.context.raw(), self.raw, atom) };
            if answer < 0 {
                Err(Thrown::pending())
            } else {
                Ok(answer > 0)
            }
        })
    }

    /// As by `delete object[key]`.
    pub fn delete(&self, key: impl Key) -> Result<bool, Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the value and the atom are live.
            let answer = unsafe { sys::JS_DeleteProperty(self.context.raw(), self.raw, atom, 0) };
            if answer < 0 {
                Err(Thrown::pending())
            } else {
                Ok(answer > 0)
            }
        })
    }

    /// The own enumerable text keys, in the order `Object.keys` gives them. Empty for what is no object.
    pub fn keys(&self) -> Result<Vec<Atom<'c>>, Thrown> {
        if !self.is_object() {
            return Ok(Vec::new());
        }
        let flags = (sys::JS_GPN_STRING_MASK | sys::JS_GPN_ENUM_ONLY) as i32;
        let mut table = std::ptr::null_mut();
        let mut length = 0;
        // SAFETY: on success the table holds `length` atoms owned by the caller, and is freed by `js_free`.
        unsafe {
            let failed = sys::JS_GetOwnPropertyNames(
                self.context.raw(),
                &mut table,
                &mut length,
                self.raw,
                flags,
            ) < 0;
            if failed {
                return Err(Thrown::pending());
            }
            let keys = (0..length as usize)
                .map(|i| Atom::from_raw(self.context, (*table.add(i)).atom))
                .collect();
            sys::js_free(self.context.raw(), table.cast());
            Ok(keys)
        }
    }

    /// The own enumerable properties, keys as text.
    pub fn entries(&self) -> Result<Vec<(String, Value<'c>)>, Thrown> {
        self.keys()?
            .into_iter()
            .map(|key| Ok((key.text(), self.get(&key)?)))
            .collect()
    }

    /// `length`, of an array or whatever has one.
    pub fn length(&self) -> Result<u64, Thrown> {
        let mut length = 0;
        // SAFETY: the value is live.
        let failed = unsafe { sys::JS_GetLength(self.context.raw(), self.raw, &mut length) } < 0;
        if failed {
            Err(Thrown::pending())
        } else {
            Ok(length.max(0) as u64)
        }
    }

    /// The prototype, or null.
    pub fn prototype(&self) -> Result<Value<'c>, Thrown> {
        // SAFETY: the value is live.
        unsafe {
            Value::checked(
                self.context,
                sys::JS_GetPrototype(self.context.raw(), self.raw),
            )
        }
    }

    /// As by `Object.setPrototypeOf`.
    pub fn set_prototype(&self, prototype: &Value<'c>) -> Result<(), Thrown> {
        // SAFETY: both values are live.
        let done = unsafe { sys::JS_SetPrototype(self.context.raw(), self.raw, prototype.raw) };
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }

    /// As by `Object.freeze`: not its members' members.
    pub fn freeze(&self) -> Result<(), Thrown> {
        // SAFETY: the value is live.
        let done = unsafe { sys::JS_FreezeObject(self.context.raw(), self.raw) };
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }

    // Calls.

    /// Calls this function.
    pub fn call(&self, this: &Value<'c>, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        debug_assert!(
            std::ptr::eq(this.context, self.context),
            "a value of another runtime"
        );
        with_raw(arguments, |count, table| {
            // SAFETY: all values are live for the call, which takes none of them over.
            unsafe {
                let raw = sys::JS_Call(self.context.raw(), self.raw, this.raw, count, table);
                Value::checked(self.context, raw)
            }
        })
    }

    /// As by `new`.
    pub fn construct(&self, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        with_raw(arguments, |count, table| {
            // SAFETY: all values are live for the call, which takes none of them over.
            unsafe {
                let raw = sys::JS_CallConstructor(self.context.raw(), self.raw, count, table);
                Value::checked(self.context, raw)
            }
        })
    }

    /// Calls the method `key`.
    pub fn invoke(&self, key: impl Key, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        self.get(key)?.call(self, arguments)
    }

    // Binary data.

    #[inline]
    pub fn is_array_buffer(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsArrayBuffer(self.raw) }
    }

    /// Runs `body` over the bytes of an ArrayBuffer, a typed array or a DataView; `None` for anything else, and for a
    /// detached buffer. `body` must not run script, which could detach the buffer, and so it has no context.
    pub fn with_bytes<R>(&self, body: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let (start, length) = self.span()?;
        // SAFETY: the buffer is held by `self`, and nothing that could free it runs during `body`.
        Some(body(unsafe { std::slice::from_raw_parts(start, length) }))
    }

    /// Where the bytes of binary data are.
    fn span(&self) -> Option<(*mut u8, usize)> {
        let context = self.context.raw();
        // SAFETY: all values are live; the range is checked against the buffer's size.
        unsafe {
            let (buffer, offset, length) = if self.is_array_buffer() {
                (Ok(self.clone()), 0, None)
            } else if sys::JS_GetTypedArrayType(self.raw) >= 0 {
                let (mut offset, mut length) = (0, 0);
                let unit = std::ptr::null_mut();
                let raw =
                    sys::JS_GetTypedArrayBuffer(context, self.raw, &mut offset, &mut length, unit);
                (
                    Value::checked(self.context, raw),
                    offset as usize,
                    Some(length as usize),
                )
            } else if sys::JS_IsDataView(self.raw) {
                // A DataView has no accessor of its own; its properties say the same.
                let number = |key| {
                    self.get(key)
                        .and_then(|n| n.to_integer())
                        .map(|n| n.max(0) as usize)
                };
                match (number("byteOffset"), number("byteLength")) {
                    (Ok(offset), Ok(length)) => (self.get("buffer"), offset, Some(length)),
                    (Err(thrown), _) | (_, Err(thrown)) => (Err(thrown), 0, None),
                }
            } else {
                return None;
            };
            let mut whole = 0;
            let start = match buffer {
                Ok(buffer) => sys::JS_GetArrayBuffer(context, &mut whole, buffer.raw),
                Err(_) => std::ptr::null_mut(),
            };
            let length = length.unwrap_or(whole as usize);
            if start.is_null() {
                // An empty buffer may have no memory; a detached one has raised an exception.
                if sys::JS_HasException(context) {
                    drop(self.context.take_exception(Thrown::pending()));
                    return None;
                }
                return Some((std::ptr::NonNull::dangling().as_ptr(), 0));
            }
            offset
                .checked_add(length)
                .filter(|&end| end <= whole as usize)?;
            Some((start.add(offset), length))
        }
    }

    /// The bytes of an ArrayBuffer, a typed array or a DataView, copied.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        self.with_bytes(<[u8]>::to_vec)
    }

    /// Overwrites the bytes of a typed array or ArrayBuffer from `source`, as far as both reach; the number written.
    pub fn write_bytes(&self, source: &[u8]) -> Option<usize> {
        let (start, length) = self.span()?;
        let count = length.min(source.len());
        // SAFETY: the range is the engine's own memory, which no Rust reference leads to.
        unsafe { std::ptr::copy(source.as_ptr(), start, count) };
        Some(count)
    }
}

/// Lays `arguments` out as the engine takes them.
#[inline]
fn with_raw<R>(arguments: &[&Value<'_>], body: impl FnOnce(i32, *mut sys::JSValue) -> R) -> R {
    const INLINE: usize = 4;
    if arguments.len() <= INLINE {
        let mut table = [sys::JS_UNDEFINED; INLINE];
        for (place, value) in table.iter_mut().zip(arguments) {
            *place = value.raw;
        }
        body(arguments.len() as i32, table.as_mut_ptr())
    } else {
        let mut table: Vec<_> = arguments.iter().map(|value| value.raw).collect();
        body(table.len() as i32, table.as_mut_ptr())
    }
}

/// The text of a value, borrowed from the engine where it can be.
pub struct Text<'c>(Source<'c>);

enum Source<'c> {
    Engine {
        text: &'static str,
        start: *const std::ffi::c_char,
        context: &'c Context,
    },
    Owned(String),
}

impl<'c> Text<'c> {
    fn of(value: &Value<'c>) -> Result<Self, Thrown> {
        let context = value.context;
        let mut length = 0;
        // SAFETY: the engine keeps the bytes until they are freed, which `drop` does, and `text` is only lent out for
        // the life of `self`.
        unsafe {
            let start = sys::JS_ToCStringLen2(context.raw(), &mut length, value.raw, false);
            if start.is_null() {
                return Err(Thrown::pending());
            }
            let bytes = std::slice::from_raw_parts(start as *const u8, length as usize);
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Self(Source::Engine {
                    text,
                    start,
                    context,
                })),
                Err(_) => {
                    let owned = replace_surrogates(bytes);
                    sys::JS_FreeCString(context.raw(), start);
                    Ok(Self(Source::Owned(owned)))
                }
            }
        }
    }

    /// The text as a string of its own.
    pub fn into_string(mut self) -> String {
        match &mut self.0 {
            Source::Engine { text, .. } => (*text).to_owned(),
            Source::Owned(text) => std::mem::take(text),
        }
    }
}

/// The engine writes a lone surrogate as three bytes that UTF-8 forbids; each becomes one U+FFFD.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return text;
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                text.push_str(&String::from_utf8_lossy(valid));
                text.push('\u{fffd}');
                let skip = if after.first() == Some(&0xed) { 3 } else { 1 };
                rest = after.get(skip..).unwrap_or_default();
            }
        }
    }
}

impl Deref for Text<'_> {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        match &self.0 {
            Source::Engine { text, .. } => text,
            Source::Owned(text) => text,
        }
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Drop for Text<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Source::Engine { start, context, .. } = self.0 {
            // SAFETY: the engine's own string, given back once.
            unsafe { sys::JS_FreeCString(context.raw(), start) };
        }
    }
}
