//! ES modules: finding and compiling them, storing their bytecode, and modules implemented in Rust.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use crate::function::guarded;
use crate::value::Borrowed;
use crate::{Context, Thrown, Value, sys};

/// Finds the modules that scripts import.
pub trait Loader {
    /// The full name of the module that `base` imports as `specifier`.
    fn resolve<'c>(
        &self,
        context: &'c Context,
        base: &str,
        specifier: &str,
        attributes: &Value<'c>,
    ) -> Result<String, Thrown>;

    /// The module with that full name. Called once per name.
    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        attributes: &Value<'c>,
    ) -> Result<Module<'c>, Thrown>;

    /// The code that is known before the thread's first runtime starts, which all its runtimes share then.
    fn code(&self) -> Vec<Bytecode> {
        Vec::new()
    }
}

/// A module of the running context, linked or not.
#[derive(Clone, Copy)]
pub struct Module<'c> {
    raw: NonNull<sys::JSModuleDef>,
    context: &'c Context,
}

/// Whether bytecode keeps the text of its functions, which every thread that loads it then holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceText {
    Kept,
    /// `toString` of a function does not show its code.
    Dropped,
}

/// A compiled module or script that any runtime of this process can load.
///
/// Loading is safe because only this process's own compiler creates it.
#[derive(Clone)]
pub struct Bytecode(Arc<[u8]>);

impl Bytecode {
    /// The size in bytes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Compiles `source` as a classic script, to be run by [`Context::run`].
    pub fn of_script(
        context: &Context,
        source: &str,
        file: &str,
        text: SourceText,
    ) -> Result<Self, Thrown> {
        let flags = sys::JS_EVAL_TYPE_GLOBAL | sys::JS_EVAL_FLAG_COMPILE_ONLY;
        Self::write(context, &context.eval_with(source, file, flags)?, text)
    }

    fn write(context: &Context, compiled: &Value<'_>, text: SourceText) -> Result<Self, Thrown> {
        let strip = match text {
            SourceText::Kept => 0,
            SourceText::Dropped => sys::JS_WRITE_OBJ_STRIP_SOURCE,
        };
        let flags = (sys::JS_WRITE_OBJ_BYTECODE | strip) as i32;
        let mut length = 0;
        // SAFETY: the bytes are copied before they are freed.
        unsafe {
            let bytes = sys::JS_WriteObject(context.raw(), &mut length, compiled.raw(), flags);
            if bytes.is_null() {
                return Err(Thrown::pending());
            }
            let copy = Arc::from(std::slice::from_raw_parts(bytes, length as usize));
            sys::js_free(context.raw(), bytes.cast());
            Ok(Self(copy))
        }
    }

    fn read<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        let shared = context.inner().shared.as_ref();
        if let Some(script) = context.inner().script_of_image(self) {
            // SAFETY: the image keeps the function as long as it has users.
            return Ok(unsafe {
                Value::from_raw(context, sys::JS_DupValue(context.raw(), script))
            });
        }
        // SAFETY: the bytes were written by this process's own engine. The runtime holds what it shares.
        unsafe {
            if let Some(code) = shared.and_then(|shared| shared.code(self)) {
                return Value::checked(context, sys::JS_LoadShared(context.raw(), code));
            }
            let flags = sys::JS_READ_OBJ_BYTECODE as i32;
            let raw = sys::JS_ReadObject(context.raw(), self.0.as_ptr(), self.0.len() as _, flags);
            Value::checked(context, raw)
        }
    }
}

impl<'c> Module<'c> {
    /// Extracts the module from its value. The context's list of modules keeps it alive.
    fn of(value: &Value<'c>) -> Option<Self> {
        // SAFETY: the tag says that the pointer points to a module.
        unsafe {
            if sys::JS_VALUE_GET_TAG(value.raw()) != sys::JS_TAG_MODULE {
                return None;
            }
            let raw = NonNull::new(sys::JS_VALUE_GET_PTR(value.raw()).cast())?;
            Some(Self {
                raw,
                context: value.context(),
            })
        }
    }

    /// Compiles `source`; its imports are not resolved yet.
    pub fn compile(
        context: &'c Context,
        source: &str,
        name: &str,
        text: SourceText,
    ) -> Result<(Self, Bytecode), Thrown> {
        let flags = sys::JS_EVAL_TYPE_MODULE | sys::JS_EVAL_FLAG_COMPILE_ONLY;
        let value = context.eval_with(source, name, flags)?;
        let bytecode = Bytecode::write(context, &value, text)?;
        let module = Self::of(&value)
            .ok_or_else(|| context.throw_plain("the compiled code is not a module"))?;
        Ok((module, bytecode))
    }

    /// Loads a compiled module; its imports are not resolved yet.
    pub fn load(context: &'c Context, bytecode: &Bytecode) -> Result<Self, Thrown> {
        let value = bytecode.read(context)?;
        Self::of(&value).ok_or_else(|| context.throw_plain("the bytecode is not a module"))
    }

    /// A module whose exports are named now. `fill` sets their values when the module is evaluated.
    pub fn native<N: AsRef<str>>(
        context: &'c Context,
        name: &str,
        exports: impl IntoIterator<Item = N>,
        fill: impl for<'a> Fn(&'a Context, &Exports<'a>) -> Result<(), Thrown> + 'static,
    ) -> Result<Self, Thrown> {
        let c_name = context.terminated(name)?;
        // SAFETY: the engine copies the names; the module's values are set by `fill_native`.
        unsafe {
            let raw = sys::JS_NewCModule(context.raw(), c_name.as_ptr(), Some(fill_native));
            let raw = NonNull::new(raw).ok_or_else(Thrown::pending)?;
            for export in exports {
                let export = context.terminated(export.as_ref())?;
                if sys::JS_AddModuleExport(context.raw(), raw.as_ptr(), export.as_ptr()) < 0 {
                    return Err(Thrown::pending());
                }
            }
            let pending = &context.inner().pending_modules;
            pending.own.borrow_mut().insert(raw, Rc::new(fill));
            Ok(Self { raw, context })
        }
    }

    /// Makes the value of names that this native module does not export null. It is undefined by default.
    pub fn lacks_as_null(self) -> Self {
        // SAFETY: the module is live.
        unsafe {
            sys::JS_SetModulePrivateValue(self.context.raw(), self.raw.as_ptr(), sys::JS_NULL)
        };
        self
    }

    /// Whether the source has imports, exports or top-level await; a script without them may also be CommonJS.
    pub fn has_module_syntax(&self) -> bool {
        // SAFETY: the module is live.
        unsafe { sys::JS_HasModuleSyntax(self.raw.as_ptr()) }
    }

    /// The module with that full name, if the context has loaded it before.
    pub fn loaded(context: &'c Context, name: &str) -> Result<Option<Self>, Thrown> {
        let name = context.terminated(name)?;
        // SAFETY: the context is live.
        let raw = unsafe { sys::JS_FindModule(context.raw(), name.as_ptr()) };
        Ok(NonNull::new(raw).map(|raw| Self { raw, context }))
    }

    /// Resolves all imports and links, but evaluates nothing.
    pub fn link(&self) -> Result<(), Thrown> {
        let context = self.context;
        // SAFETY: the module is live; modules are not counted.
        let failed = unsafe {
            let value = sys::JS_MKPTR(sys::JS_TAG_MODULE, self.raw.as_ptr().cast());
            sys::JS_ResolveModule(context.raw(), value) < 0
                || sys::JS_LinkModule(context.raw(), self.raw.as_ptr()) < 0
        };
        match failed {
            true => Err(Thrown::pending()),
            false => Ok(()),
        }
    }

    /// The modules that this one, which must be linked, imports, in the order of evaluation, with their own imports
    /// before them.
    ///
    /// The list ends before the first module that can only be evaluated together with others: one that awaits at its top
    /// level, or that imports itself in a circle.
    pub fn imports_one_by_one(&self) -> Vec<Module<'c>> {
        let mut order = Vec::new();
        let mut is_seen = HashSet::from([self.raw]);
        // The modules around the current one, each with the index of its next import.
        let mut around = vec![(*self, 0)];
        while let Some((module, next)) = around.last_mut() {
            // SAFETY: the module is live and resolved.
            let import = unsafe { sys::JS_GetModuleImport(module.raw.as_ptr(), *next) };
            *next += 1;
            let Some(raw) = NonNull::new(import) else {
                let module = *module;
                around.pop();
                // SAFETY: the module is live.
                if around.is_empty() || unsafe { sys::JS_IsAsyncModule(module.raw.as_ptr()) } {
                    break;
                }
                order.push(module);
                continue;
            };
            if is_seen.insert(raw) {
                let context = self.context;
                around.push((Module { raw, context }, 0));
            } else if around.iter().any(|(module, _)| module.raw == raw) {
                break;
            }
        }
        order
    }

    /// Resolves all imports, links and evaluates; the promise is fulfilled when the module and everything it
    /// imports have run.
    pub fn evaluate(&self) -> Result<Value<'c>, Thrown> {
        let context = self.context;
        // SAFETY: the engine takes over one reference of the module's value; modules are not counted.
        unsafe {
            let value = sys::JS_MKPTR(sys::JS_TAG_MODULE, self.raw.as_ptr().cast());
            if sys::JS_ResolveModule(context.raw(), value) < 0 {
                return Err(Thrown::pending());
            }
            let run =
                || sys::JS_EvalFunction(context.raw(), sys::JS_DupValue(context.raw(), value));
            Value::checked(context, context.inner().with_engine_running(true, run))
        }
    }

    /// The module's exports as an object.
    pub fn namespace(&self) -> Result<Value<'c>, Thrown> {
        // SAFETY: the module is live.
        unsafe {
            Value::checked(
                self.context,
                sys::JS_GetModuleNamespace(self.context.raw(), self.raw.as_ptr()),
            )
        }
    }

    /// The module's `import.meta`.
    pub fn meta(&self) -> Result<Value<'c>, Thrown> {
        // SAFETY: the module is live.
        unsafe {
            Value::checked(
                self.context,
                sys::JS_GetImportMeta(self.context.raw(), self.raw.as_ptr()),
            )
        }
    }
}

/// The exports of a module implemented in Rust, while it is evaluated.
pub struct Exports<'c> {
    module: Module<'c>,
}

impl<'c> Exports<'c> {
    /// Sets the value of `name`, which must be one of the exports that the module was created with.
    pub fn set(&self, name: &str, value: Value<'c>) -> Result<(), Thrown> {
        let context = self.module.context;
        let name = context.terminated(name)?;
        // SAFETY: the engine takes over `value`.
        let done = unsafe {
            sys::JS_SetModuleExport(
                context.raw(),
                self.module.raw.as_ptr(),
                name.as_ptr(),
                value.into_raw(),
            )
        };
        if done < 0 {
            Err(Thrown::pending())
        } else {
            Ok(())
        }
    }
}

impl Context {
    /// Reads a compiled script into the image that is being made, so that its users do not have to.
    pub fn prepare(&self, script: &Bytecode) -> Result<(), Thrown> {
        let function = script.read(self)?;
        self.inner().add_script_of_image(script, function);
        Ok(())
    }

    /// Runs a compiled script and returns its last value.
    pub fn run(&self, script: &Bytecode) -> Result<Value<'_>, Thrown> {
        let function = script.read(self)?;
        // SAFETY: the engine takes over the function.
        unsafe {
            let run = || sys::JS_EvalFunction(self.raw(), function.into_raw());
            Value::checked(self, self.inner().with_engine_running(true, run))
        }
    }

    /// Imports `specifier` for the module `base`; the promise is fulfilled with the namespace.
    pub fn import(&self, base: &str, specifier: &str) -> Result<Value<'_>, Thrown> {
        let base = self.terminated(base)?;
        let specifier = self.terminated(specifier)?;
        // SAFETY: the engine copies the names.
        unsafe {
            let raw = sys::JS_LoadModule(self.raw(), base.as_ptr(), specifier.as_ptr());
            Value::checked(self, raw)
        }
    }

    /// The full name of the module or script whose code is running; `levels` of 0 means the innermost frame.
    pub fn running_file(&self, levels: i32) -> Option<String> {
        // SAFETY: the atom now belongs to the caller.
        let atom = unsafe { sys::JS_GetScriptOrModuleName(self.raw(), levels) };
        if atom == 0 {
            return None;
        }
        Some(crate::Atom::from_raw(self, atom).text())
    }
}

type Fill = Rc<dyn for<'a> Fn(&'a Context, &Exports<'a>) -> Result<(), Thrown>>;

/// The functions that the users of an image have in common.
pub(super) type Fills = Rc<HashMap<NonNull<sys::JSModuleDef>, Fill>>;

/// The functions that fill modules implemented in Rust which were not evaluated yet.
#[derive(Default)]
pub(super) struct PendingModules {
    own: RefCell<HashMap<NonNull<sys::JSModuleDef>, Fill>>,
    /// Those of the image that the runtime starts from.
    of_image: Option<Fills>,
}

impl PendingModules {
    /// The modules that are still pending when the heap becomes an image.
    pub(super) fn for_users(&self) -> Fills {
        Rc::new(self.own.borrow().clone())
    }

    /// The pending modules of a user that starts from an image.
    pub(super) fn of_user(of_image: Fills) -> Self {
        PendingModules {
            own: RefCell::default(),
            of_image: Some(of_image),
        }
    }

    /// The function for a module. The engine evaluates each module once.
    fn take(&self, module: NonNull<sys::JSModuleDef>) -> Option<Fill> {
        let own = self.own.borrow_mut().remove(&module);
        own.or_else(|| self.of_image.as_ref()?.get(&module).cloned())
    }
}

unsafe extern "C" fn fill_native(
    context: *mut sys::JSContext,
    module: *mut sys::JSModuleDef,
) -> i32 {
    // SAFETY: the engine passes the live context and module.
    unsafe {
        let context = Context::from_raw(context);
        let Some(raw) = NonNull::new(module) else {
            return -1;
        };
        let fill = context.inner().pending_modules.take(raw);
        let done = guarded(context, || {
            if let Some(fill) = fill {
                fill(
                    context,
                    &Exports {
                        module: Module { raw, context },
                    },
                )?;
            }
            Ok(context.undefined())
        });
        if sys::JS_IsException(done) { -1 } else { 0 }
    }
}

/// # Safety
/// The runtime must be live, and its context's opaque pointer always be the running `Inner`.
pub(super) unsafe fn install_loader(runtime: NonNull<sys::JSRuntime>) {
    let none = std::ptr::null_mut();
    // SAFETY: per the contract above.
    unsafe {
        sys::JS_SetModuleLoaderFunc2(runtime.as_ptr(), None, Some(load), None, none);
        sys::JS_SetModuleNormalizeFunc2(runtime.as_ptr(), Some(resolve));
    }
}

/// # Safety
/// `text` must be a C string.
unsafe fn lossy(text: *const c_char) -> String {
    // SAFETY: per the contract above.
    unsafe { CStr::from_ptr(text) }
        .to_string_lossy()
        .into_owned()
}

unsafe extern "C" fn resolve(
    context: *mut sys::JSContext,
    base: *const c_char,
    specifier: *const c_char,
    attributes: sys::JSValue,
    _: *mut c_void,
) -> *mut c_char {
    // SAFETY: the engine passes live values and C strings; it frees the result by `js_free`.
    unsafe {
        let context = Context::from_raw(context);
        let loader = &context.inner().loader;
        let mut name = None;
        let done = guarded(context, || {
            let attributes = Borrowed::from_raw(context, attributes);
            let found = loader.resolve(context, &lossy(base), &lossy(specifier), &attributes)?;
            name = Some(context.terminated(&found)?);
            Ok(context.undefined())
        });
        let name: Option<CString> = if sys::JS_IsException(done) {
            None
        } else {
            name
        };
        name.map_or(std::ptr::null_mut(), |name| {
            sys::js_strdup(context.raw(), name.as_ptr())
        })
    }
}

unsafe extern "C" fn load(
    context: *mut sys::JSContext,
    name: *const c_char,
    _: *mut c_void,
    attributes: sys::JSValue,
) -> *mut sys::JSModuleDef {
    // SAFETY: the engine passes live values and C strings.
    unsafe {
        let context = Context::from_raw(context);
        let loader = &context.inner().loader;
        let mut module = None;
        let done = guarded(context, || {
            let attributes = Borrowed::from_raw(context, attributes);
            module = Some(loader.load(context, &lossy(name), &attributes)?.raw);
            Ok(context.undefined())
        });
        if sys::JS_IsException(done) {
            return std::ptr::null_mut();
        }
        module.map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }
}
