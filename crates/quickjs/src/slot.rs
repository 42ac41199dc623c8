//! JavaScript values in host objects.

use std::cell::Cell;

use crate::{Context, Value, sys};

/// A JavaScript value that an object stores and the garbage collector can see.
pub struct Slot(pub(super) Cell<Option<sys::JSValue>>);

impl Slot {
    /// A slot without a value.
    pub const fn empty() -> Self {
        Self(Cell::new(None))
    }

    /// The value, if one was set.
    pub fn get<'c>(&self, context: &'c Context) -> Option<Value<'c>> {
        // SAFETY: the slot holds its own reference, which is duplicated here.
        self.0
            .get()
            .map(|raw| unsafe { Value::from_raw(context, sys::JS_DupValue(context.raw(), raw)) })
    }

    /// Releases the value.
    pub fn clear(&self, context: &Context) {
        if let Some(old) = self.0.take() {
            // SAFETY: the slot owned the reference.
            unsafe { sys::JS_FreeValue(context.raw(), old) };
        }
    }

    /// Stores `value` and releases the previous one.
    pub fn set(&self, value: Value<'_>) {
        let context = value.context();
        if let Some(old) = self.0.replace(Some(value.into_raw())) {
            // SAFETY: the slot owned the old reference.
            unsafe { sys::JS_FreeValue(context.raw(), old) };
        }
    }
}

impl Default for Slot {
    fn default() -> Self {
        Self::empty()
    }
}
