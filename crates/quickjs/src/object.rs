//! Properties, prototypes and calls of objects.

use crate::give_way::{give_way, reserve_in_pieces};
use crate::name::{Atom, Key};
use crate::{Context, Thrown, Value, sys};

/// The cost of reading a property, as the number of bytes that could be read in the same time.
const ENTRY: usize = 64;

impl<'c> Value<'c> {
    /// Reads the property `key`. Calls getters and searches the prototype chain.
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

    /// Assigns `key`. Calls setters.
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

    /// Defines `key` as an own property without calling setters.
    pub fn define(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        self.define_with(key, value, sys::JS_PROP_C_W_E)
    }

    /// Like [`Value::define`] for a property that users of an image change often: the change of users then exchanges its
    /// value without a comparison. Without an image, the same as [`Value::define`].
    pub fn define_hot(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        if !self.context.makes_image() {
            return self.define(key, value);
        }
        let inner = self.context.inner();
        let done = key.with(self.context, |atom| {
            inner.hot_next(1);
            // SAFETY: the values and the atom are live; the engine takes over `value`.
            unsafe { sys::JS_DefineVariable(self.context.raw(), self.raw, atom, value.into_raw()) }
        });
        inner.hot_next(0);
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }

    /// Like [`Value::define`], but the property is not listed among the object's keys.
    pub fn define_hidden(&self, key: impl Key, value: Value<'c>) -> Result<(), Thrown> {
        self.define_with(
            key,
            value,
            sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_WRITABLE,
        )
    }

    /// Like [`Value::define`], but scripts can neither assign nor delete the property.
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

    /// Defines `key` as an own property that `getter` computes.
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

    /// Like `key in object`.
    pub fn has(&self, key: impl Key) -> Result<bool, Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the value and the atom are live.
            let result = unsafe { sys::JS_HasProperty(self.context.raw(), self.raw, atom) };
            if result < 0 {
                Err(Thrown::pending())
            } else {
                Ok(result > 0)
            }
        })
    }

    /// Like `delete object[key]`.
    pub fn delete(&self, key: impl Key) -> Result<bool, Thrown> {
        key.with(self.context, |atom| {
            // SAFETY: the value and the atom are live.
            let result = unsafe { sys::JS_DeleteProperty(self.context.raw(), self.raw, atom, 0) };
            if result < 0 {
                Err(Thrown::pending())
            } else {
                Ok(result > 0)
            }
        })
    }

    /// The own enumerable string keys in the order of `Object.keys`. A value that is not an object has none.
    pub fn keys(&self) -> Result<Keys<'c>, Thrown> {
        let mut keys = Keys {
            context: self.context,
            table: std::ptr::null_mut(),
            next: 0,
            count: 0,
        };
        if !self.is_object() {
            return Ok(keys);
        }
        let flags = (sys::JS_GPN_STRING_MASK | sys::JS_GPN_ENUM_ONLY) as i32;
        let mut count = 0;
        // SAFETY: on success the table and its atoms belong to the caller.
        let failed = unsafe {
            sys::JS_GetOwnPropertyNames(
                self.context.raw(),
                &mut keys.table,
                &mut count,
                self.raw,
                flags,
            ) < 0
        };
        if failed {
            return Err(Thrown::pending());
        }
        keys.count = count as usize;
        Ok(keys)
    }

    /// The own enumerable properties, with string keys.
    pub fn entries(&self) -> Result<Vec<(String, Value<'c>)>, Thrown> {
        let mut entries = Vec::new();
        for key in self.keys()? {
            give_way(ENTRY);
            reserve_in_pieces(&mut entries, 1);
            entries.push((key.text(), self.get(&key)?));
        }
        Ok(entries)
    }

    /// The `length` of an array or another object that has one.
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

    /// Like `Object.freeze`, which does not freeze nested objects.
    pub fn freeze(&self) -> Result<(), Thrown> {
        // SAFETY: the value is live.
        let done = unsafe { sys::JS_FreezeObject(self.context.raw(), self.raw) };
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }

    /// Calls this function.
    pub fn call(&self, this: &Value<'c>, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        debug_assert!(
            std::ptr::eq(this.context, self.context),
            "a value of another runtime"
        );
        with_raw(arguments, |count, table| {
            // SAFETY: all values are live during the call, and the call takes ownership of none of them.
            unsafe {
                let call = || sys::JS_Call(self.context.raw(), self.raw, this.raw, count, table);
                let raw = self.context.inner().with_engine_running(true, call);
                Value::checked(self.context, raw)
            }
        })
    }

    /// Like `new`.
    pub fn construct(&self, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        with_raw(arguments, |count, table| {
            // SAFETY: all values are live during the call, and the call takes ownership of none of them.
            unsafe {
                let call = || sys::JS_CallConstructor(self.context.raw(), self.raw, count, table);
                let raw = self.context.inner().with_engine_running(true, call);
                Value::checked(self.context, raw)
            }
        })
    }

    /// Calls the method `key`.
    pub fn invoke(&self, key: impl Key, arguments: &[&Value<'c>]) -> Result<Value<'c>, Thrown> {
        self.get(key)?.call(self, arguments)
    }
}

/// The keys of an object.
pub struct Keys<'c> {
    context: &'c Context,
    table: *mut sys::JSPropertyEnum,
    next: usize,
    count: usize,
}

impl<'c> Iterator for Keys<'c> {
    type Item = Atom<'c>;

    #[inline]
    fn next(&mut self) -> Option<Atom<'c>> {
        if self.next == self.count {
            return None;
        }
        // SAFETY: the index is within the table, and each atom is returned only once.
        let raw = unsafe { (*self.table.add(self.next)).atom };
        self.next += 1;
        Some(Atom::from_raw(self.context, raw))
    }
}

impl Drop for Keys<'_> {
    #[inline]
    fn drop(&mut self) {
        while self.next().is_some() {}
        // SAFETY: the engine's allocator created the table, or it is null.
        unsafe { sys::js_free(self.context.raw(), self.table.cast()) };
    }
}

/// Arranges `arguments` as the engine expects them.
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
