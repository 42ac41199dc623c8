//! The parts that all runtimes of a thread share: predefined and common names, and the code of the program.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::rc::Rc;

use crate::engine::{Intrinsics, new_context};
use crate::name::Names;
use crate::{Bytecode, Loader, sys};

thread_local! {
    /// The shared parts of this thread's runtimes. `None` before the first runtime, or if memory for them was
    /// exhausted.
    static SHARED: RefCell<Option<Rc<Shared>>> = const { RefCell::new(None) };
}

/// A runtime that runs nothing. The thread's other runtimes use its names and functions.
///
/// Otherwise, each runtime would have its own. The names alone are a third of an idle runtime's memory and creation
/// time, and a library of 500 kB takes megabytes.
pub(super) struct Shared {
    names: Rc<Names>,
    /// The code, by the address of its bytes.
    code: HashMap<*const u8, (Bytecode, sys::JSValue)>,
    raw: NonNull<sys::JSRuntime>,
    context: NonNull<sys::JSContext>,
}

impl Shared {
    /// The shared parts of this thread's runtimes. The thread's first runtime creates them, with the code that its
    /// loader has at that time. Runtimes of other programs share only the names.
    pub(super) fn of_thread(
        names: &'static [&'static str],
        loader: &dyn Loader,
    ) -> Option<Rc<Self>> {
        SHARED.with_borrow_mut(|shared| {
            if shared.is_none() {
                *shared = Shared::new(names, loader).map(Rc::new);
            }
            shared.clone()
        })
    }

    fn new(texts: &'static [&'static str], loader: &dyn Loader) -> Option<Self> {
        // SAFETY: both pointers are checked, and `drop` frees each of them exactly once. Runtimes never leave their
        // thread, so only one thread changes reference counts. If anything fails, runtimes create their own parts.
        unsafe {
            let raw = NonNull::new(sys::JS_NewRuntime())?;
            let Some(context) = NonNull::new(new_context(raw.as_ptr(), Intrinsics::AtOnce)) else {
                sys::JS_FreeRuntime(raw.as_ptr());
                return None;
            };
            let names = Rc::new(Names::new(texts));
            names.intern(context.as_ptr());
            let mut shared = Shared {
                names,
                code: HashMap::new(),
                raw,
                context,
            };
            // The names in the code must be in the table, too, so the code is read first.
            for bytecode in loader.code() {
                shared.read(bytecode);
            }
            (sys::JS_ShareAtoms(raw.as_ptr()) == 0).then_some(shared)
        }
    }

    fn read(&mut self, bytecode: Bytecode) {
        let bytes = bytecode.bytes();
        // SAFETY: this process's engine wrote the bytes. The context is live and has not shared its atoms yet.
        unsafe {
            let context = self.context.as_ptr();
            let value = sys::JS_ReadShared(context, bytes.as_ptr(), bytes.len() as _);
            if sys::JS_IsException(value) {
                sys::JS_FreeValue(context, sys::JS_GetException(context));
            } else {
                self.code.insert(bytes.as_ptr(), (bytecode, value));
            }
        }
    }

    /// The table of `names`, if it is shared.
    pub(super) fn names(&self, names: &'static [&'static str]) -> Option<Rc<Names>> {
        self.names.is_of(names).then(|| Rc::clone(&self.names))
    }

    /// The shared code for these bytes, for [`sys::JS_LoadShared`].
    pub(super) fn code(&self, bytecode: &Bytecode) -> Option<sys::JSValue> {
        let (_, value) = self.code.get(&bytecode.bytes().as_ptr())?;
        Some(*value)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let context = self.context.as_ptr();
        // SAFETY: every runtime that uses the names or the code holds this object until the runtime is freed.
        unsafe {
            sys::JS_UnshareAtoms(self.raw.as_ptr());
            for (_, (_, value)) in self.code.drain() {
                sys::JS_FreeValue(context, value);
            }
            self.names.clear(context);
            sys::JS_FreeContext(context);
            sys::JS_FreeRuntime(self.raw.as_ptr());
        }
    }
}
