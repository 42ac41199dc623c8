//! JavaScript values and their operations.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;

use crate::{Context, Text, Thrown, sys};

/// An owned JavaScript value.
pub struct Value<'c> {
    pub(super) raw: sys::JSValue,
    pub(super) context: &'c Context,
}

/// A value that something else owns, such as an argument that the caller owns.
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
    /// `raw` must live during `'a` and belong to `context`.
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
        // SAFETY: `self` owns the reference. Immediate values have none.
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
    /// Takes ownership of `raw`.
    ///
    /// # Safety
    /// `raw` must be a live value of `context` that is not an exception. The caller gives up its reference.
    #[inline]
    pub(super) unsafe fn from_raw(context: &'c Context, raw: sys::JSValue) -> Self {
        Self { raw, context }
    }

    /// Takes ownership of `raw`, which may be the exception marker.
    ///
    /// # Safety
    /// As [`Value::from_raw`].
    #[inline]
    pub(super) unsafe fn checked(context: &'c Context, raw: sys::JSValue) -> Result<Self, Thrown> {
        // SAFETY: this only reads the tag.
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

    /// The context that this value belongs to.
    #[inline]
    pub fn context(&self) -> &'c Context {
        self.context
    }

    #[inline]
    fn tag(&self) -> i32 {
        // SAFETY: this only reads a field.
        unsafe { sys::JS_VALUE_GET_TAG(self.raw) }
    }

    // Types.

    /// Whether this is `undefined`.
    #[inline]
    pub fn is_undefined(&self) -> bool {
        self.tag() == sys::JS_TAG_UNDEFINED
    }

    /// Whether this is `null`.
    #[inline]
    pub fn is_null(&self) -> bool {
        self.tag() == sys::JS_TAG_NULL
    }

    /// Whether this is `undefined` or `null`.
    #[inline]
    pub fn is_nullish(&self) -> bool {
        self.is_undefined() || self.is_null()
    }

    /// Whether this is a boolean.
    #[inline]
    pub fn is_bool(&self) -> bool {
        self.tag() == sys::JS_TAG_BOOL
    }

    /// Whether this is a number.
    #[inline]
    pub fn is_number(&self) -> bool {
        self.tag() == sys::JS_TAG_INT || self.tag() == sys::JS_TAG_FLOAT64
    }

    /// Whether this is a string. A `String` object is not a string.
    #[inline]
    pub fn is_string(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_STRING | sys::JS_TAG_STRING_ROPE)
    }

    /// Whether this is a symbol.
    #[inline]
    pub fn is_symbol(&self) -> bool {
        self.tag() == sys::JS_TAG_SYMBOL
    }

    /// Whether this is a BigInt.
    #[inline]
    pub fn is_big_int(&self) -> bool {
        matches!(self.tag(), sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT)
    }

    /// Whether this is an object of any kind, including functions and arrays.
    #[inline]
    pub fn is_object(&self) -> bool {
        self.tag() == sys::JS_TAG_OBJECT
    }

    /// Like `Array.isArray`, so a Proxy of an array is an array, too.
    #[inline]
    pub fn is_array(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsArray(self.raw) || self.is_array_behind_proxies() }
    }

    fn is_array_behind_proxies(&self) -> bool {
        let mut value = self.clone();
        // SAFETY: the value is live. For a Proxy, this returns a new reference to its target, or null if it was
        // revoked.
        unsafe {
            while sys::JS_IsProxy(value.raw) {
                let target = sys::JS_GetProxyTarget(self.context.raw(), value.raw);
                value = Value::from_raw(self.context, target);
            }
            sys::JS_IsArray(value.raw)
        }
    }

    /// Whether this can be called.
    #[inline]
    pub fn is_function(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsFunction(self.context.raw(), self.raw) }
    }

    /// Whether this is an `async` function or an async generator function.
    pub fn is_async_function(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsAsyncFunction(self.raw) }
    }

    /// Whether this is an error object.
    pub fn is_error(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsError(self.raw) }
    }

    /// Whether this is a `Date`.
    pub fn is_date(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsDate(self.raw) }
    }

    /// Whether this is a `Map`.
    pub fn is_map(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsMap(self.raw) }
    }

    /// Whether this is a `Set`.
    pub fn is_set(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsSet(self.raw) }
    }

    /// Whether both are the same object or primitive, as with `===`.
    pub fn is_same(&self, other: &Value<'_>) -> bool {
        // SAFETY: both values are live.
        unsafe { sys::JS_IsStrictEqual(self.context.raw(), self.raw, other.raw) }
    }

    // Primitive values.

    /// The boolean, if it is one.
    #[inline]
    pub fn as_bool(&self) -> Option<bool> {
        // SAFETY: the tag tells which field is set.
        self.is_bool()
            .then(|| unsafe { sys::JS_VALUE_GET_BOOL(self.raw) })
    }

    /// The number, if it is one.
    #[inline]
    pub fn as_number(&self) -> Option<f64> {
        // SAFETY: the tag tells which field is set.
        unsafe {
            match self.tag() {
                sys::JS_TAG_INT => Some(f64::from(sys::JS_VALUE_GET_INT(self.raw))),
                sys::JS_TAG_FLOAT64 => Some(sys::JS_VALUE_GET_FLOAT64(self.raw)),
                _ => None,
            }
        }
    }

    // Conversions as defined by the language.

    /// Like `!!value`.
    #[inline]
    pub fn is_truthy(&self) -> bool {
        match self.tag() {
            sys::JS_TAG_UNDEFINED | sys::JS_TAG_NULL => false,
            // SAFETY: the tag tells which field is set.
            sys::JS_TAG_BOOL | sys::JS_TAG_INT => unsafe { sys::JS_VALUE_GET_INT(self.raw) != 0 },
            // SAFETY: the value is live.
            _ => unsafe { sys::JS_ToBool(self.context.raw(), self.raw) > 0 },
        }
    }

    /// Like `Number(value)`.
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

    /// Like `Number(value)`, truncated and clamped to a 64-bit integer. NaN becomes 0.
    pub fn to_integer(&self) -> Result<i64, Thrown> {
        self.to_number().map(|number| number as i64)
    }

    /// Like `String(value)`, without a copy if the engine's string is plain ASCII.
    ///
    /// Lone surrogates become U+FFFD.
    #[inline]
    pub fn to_text(&self) -> Result<Text<'c>, Thrown> {
        Text::of(self)
    }

    /// Like `JSON.stringify(value)`. Returns `None` for values that JSON omits, such as functions.
    pub fn to_json(&self) -> Result<Option<String>, Thrown> {
        self.stringify(&self.context.undefined())
    }

    /// Like `JSON.stringify(value, null, indent)`.
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
}
