//! Creates the engine's part of a runtime, with the intrinsics that it needs from the start.

use std::ptr::NonNull;
use std::rc::Rc;

use crate::class::{ClassIds, Prototypes};
use crate::image::Place;
use crate::module::PendingModules;
use crate::name::Names;
use crate::runtime::StartError;
use crate::shared::Shared;
use crate::{Loader, sys};

/// The parts that a runtime is made of.
pub(super) struct Engine {
    pub(super) raw: NonNull<sys::JSRuntime>,
    pub(super) context: NonNull<sys::JSContext>,
    pub(super) place: Place,
    pub(super) classes: ClassIds,
    pub(super) prototypes: Prototypes,
    pub(super) names: Rc<Names>,
    pub(super) shared: Option<Rc<Shared>>,
    pub(super) loader: Rc<dyn Loader>,
    pub(super) pending_modules: PendingModules,
}

/// Adds a context to a new runtime. Frees the runtime if that fails.
///
/// # Safety
/// `raw` must be a new runtime, or null if memory for it was exhausted.
pub(super) unsafe fn with_context(
    raw: *mut sys::JSRuntime,
    intrinsics: Intrinsics,
) -> Result<(NonNull<sys::JSRuntime>, NonNull<sys::JSContext>), StartError> {
    let raw = NonNull::new(raw).ok_or(StartError::Memory)?;
    // SAFETY: per the contract above. `Inner::drop` frees both exactly once.
    unsafe {
        let Some(context) = NonNull::new(new_context(raw.as_ptr(), intrinsics)) else {
            sys::JS_FreeRuntime(raw.as_ptr());
            return Err(StartError::Memory);
        };
        Ok((raw, context))
    }
}

/// When to create the intrinsics that many scripts never use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Intrinsics {
    /// Together with the context.
    AtOnce,
    /// On first access. This concerns `Date`, `RegExp`, `Map`, typed arrays and related objects.
    OnDemand,
}

/// A context with the intrinsics that k6's engine has: it has no `performance`, `DOMException` or `atob`.
///
/// # Safety
/// `raw` must be a live runtime.
pub(super) unsafe fn new_context(
    raw: *mut sys::JSRuntime,
    intrinsics: Intrinsics,
) -> *mut sys::JSContext {
    // SAFETY: per the function's contract. A failed step frees everything created before it.
    unsafe {
        let context = sys::JS_NewContextRaw(raw);
        if context.is_null() {
            return context;
        }
        let failed = sys::JS_AddIntrinsicBaseObjects(context) != 0
            || sys::JS_AddIntrinsicEval(context) != 0
            || sys::JS_AddIntrinsicJSON(context) != 0
            || sys::JS_AddIntrinsicProxy(context) != 0
            || sys::JS_AddIntrinsicPromise(context) != 0
            || sys::JS_AddIntrinsicBigInt(context) != 0
            || match intrinsics {
                Intrinsics::OnDemand => sys::JS_AddLazyIntrinsics(context) != 0,
                Intrinsics::AtOnce => {
                    sys::JS_AddIntrinsicDate(context) != 0
                        || sys::JS_AddIntrinsicRegExp(context) != 0
                        || sys::JS_AddIntrinsicMapSet(context) != 0
                        || sys::JS_AddIntrinsicTypedArrays(context) != 0
                        || sys::JS_AddIntrinsicWeakRef(context) != 0
                }
            };
        if failed {
            sys::JS_FreeContext(context);
            return std::ptr::null_mut();
        }
        context
    }
}
