//! JavaScript values that Rust stores across calls.

use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

use crate::{Context, Value, sys};

/// A JavaScript value in Rust's own structures, such as a timer's callback.
///
/// It may outlive its runtime and is empty afterwards. Inside a [`crate::Class`], use a [`crate::Slot`] instead: the
/// garbage collector can see it.
pub struct Persistent {
    place: usize,
    registry: Rc<Registry>,
}

/// A runtime's list of the values that Rust stores. The runtime releases them all when it ends.
pub(super) struct Registry {
    context: Cell<Option<NonNull<sys::JSContext>>>,
    values: RefCell<Vec<Option<sys::JSValue>>>,
    free: RefCell<Vec<usize>>,
    /// The user of an image that these values belong to, while it does not run.
    is_waiting: Cell<bool>,
    /// Values that Rust has dropped in the meantime.
    dropped: RefCell<Vec<sys::JSValue>>,
}

impl Persistent {
    /// Stores `value`.
    pub fn new(value: &Value<'_>) -> Self {
        let registry = value.context().inner().registry.clone();
        let raw = value.clone().into_raw();
        let place = match registry.free.borrow_mut().pop() {
            Some(place) => {
                registry.values.borrow_mut()[place] = Some(raw);
                place
            }
            None => {
                let mut values = registry.values.borrow_mut();
                values.push(Some(raw));
                values.len() - 1
            }
        };
        Self { place, registry }
    }

    /// The stored value.
    ///
    /// # Panics
    /// If the value belongs to another runtime than `context`.
    pub fn restore<'c>(&self, context: &'c Context) -> Value<'c> {
        let own = self.registry.context.get().map(NonNull::as_ptr);
        assert_eq!(own, Some(context.raw()), "a value of another runtime");
        match self.registry.values.borrow()[self.place] {
            // SAFETY: the registry holds its own reference, which is duplicated here.
            Some(raw) => unsafe { Value::from_raw(context, sys::JS_DupValue(context.raw(), raw)) },
            None => context.undefined(),
        }
    }
}

impl Drop for Persistent {
    fn drop(&mut self) {
        let Some(context) = self.registry.context.get() else {
            return;
        };
        let value = self.registry.values.borrow_mut()[self.place].take();
        self.registry.free.borrow_mut().push(self.place);
        if let Some(raw) = value {
            if self.registry.is_waiting.get() {
                self.registry.dropped.borrow_mut().push(raw);
                return;
            }
            // SAFETY: the runtime is live because the registry has its context. The registry owned the reference.
            unsafe { sys::JS_FreeValue(context.as_ptr(), raw) };
        }
    }
}

impl Registry {
    pub(super) fn new(context: NonNull<sys::JSContext>) -> Self {
        Self {
            context: Cell::new(Some(context)),
            values: RefCell::new(Vec::new()),
            free: RefCell::new(Vec::new()),
            is_waiting: Cell::new(false),
            dropped: RefCell::new(Vec::new()),
        }
    }

    /// From now on, keeps values that Rust drops until [`Registry::free_dropped`], because their user does not run.
    pub(super) fn keep_dropped(&self) {
        self.is_waiting.set(true);
    }

    /// Releases the values that Rust dropped while the user did not run.
    pub(super) fn free_dropped(&self) {
        self.is_waiting.set(false);
        let Some(context) = self.context.get() else {
            return;
        };
        for raw in self.dropped.take() {
            // SAFETY: the runtime is live because the registry has its context, and its user runs. The registry owned
            // the reference.
            unsafe { sys::JS_FreeValue(context.as_ptr(), raw) };
        }
    }

    /// Like [`Registry::clear`], but does not release the values, because their memory is freed as a whole.
    pub(super) fn forget(&self) {
        self.context.set(None);
        self.values.take();
        self.dropped.take();
    }

    /// Releases all values. From now on, every [`Persistent`] is empty.
    ///
    /// # Safety
    /// The context must be live.
    pub(super) unsafe fn clear(&self) {
        let Some(context) = self.context.take() else {
            return;
        };
        let values = std::mem::take(&mut *self.values.borrow_mut());
        for raw in values.into_iter().flatten() {
            // SAFETY: the registry owned each reference.
            unsafe { sys::JS_FreeValue(context.as_ptr(), raw) };
        }
    }
}
