//! Rust types whose values scripts hold as objects.
//!
//! All host types share two engine classes, plain and exotic, so that a runtime's class table stays small. The table at
//! the start of each object identifies its Rust type. A prototype is created with the first object of its type.

use std::any::TypeId;
use std::cell::RefCell;
use std::ptr::NonNull;

use crate::exotic;
use crate::function::{Entry, Returned};
use crate::image::{InImage, Place, is_in_image};
use crate::name::Atom;
use crate::slot::Slot;
use crate::{Context, Thrown, Value, sys};

/// A Rust type whose values scripts hold as objects.
/// Store JavaScript values in [`Slot`]s that [`Class::trace`] visits, so that the garbage collector finds them.
pub trait Class: Sized + 'static {
    /// What happens to objects that the init code creates if users start from an image.
    const IN_IMAGE: InImage<Self>;

    /// Functions, getters and constants of the prototype that all objects share.
    fn prototype() -> &'static [Entry] {
        &[]
    }

    /// Visits the JavaScript values that this object stores.
    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        let _ = see;
    }

    /// Whether the object computes its own properties with [`Class::get`] and the methods after it.
    const EXOTIC: bool = false;

    /// Whether an exotic object has all methods of its prototype as own properties, as k6's objects do. Methods that
    /// [`Class::keys`] does not list follow its keys. A method that is read from the object remembers it. Calls such as `object.method()` use the
    /// method of the prototype directly.
    const LISTS_METHODS: bool = false;

    /// The value of the own property `key`. If it is `None`, the engine continues the lookup in the prototype.
    /// Called only if no script has assigned an ordinary property of that name.
    fn get<'c>(
        &self,
        context: &'c Context,
        this: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        let _ = (context, this, key);
        Ok(None)
    }

    /// Assigns `key`.
    fn set<'c>(
        &self,
        context: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        let _ = (context, key, value);
        Ok(Assignment::Ordinary)
    }

    /// Deletes `key`. Returns true if it was deleted or never existed.
    fn delete<'c>(&self, context: &'c Context, key: &Atom<'c>) -> Result<bool, Thrown> {
        let _ = (context, key);
        Ok(true)
    }

    /// The own keys that [`Class::get`] supports, in order.
    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        let _ = context;
        Ok(Vec::new())
    }
}

/// The result of an assignment to an exotic object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment {
    /// The object has stored the value.
    Done,
    /// The assignment creates an ordinary property.
    Ordinary,
    /// The property cannot be assigned: a TypeError in strict code.
    Refused,
}

/// The target of an object's opaque pointer.
#[repr(C)]
pub(super) struct Boxed<T> {
    pub(super) table: &'static Table,
    value: T,
}

/// The functions of a host type that the engine's callbacks need. Each of its objects starts with a pointer to them.
pub(super) struct Table {
    type_of: fn() -> TypeId,
    mark: unsafe fn(NonNull<Boxed<()>>, *mut sys::JSRuntime, sys::JS_MarkFunc),
    /// The last argument specifies whether to release the values in slots, too.
    free: unsafe fn(NonNull<Boxed<()>>, *mut sys::JSRuntime, bool),
    /// A copy for one user of an image; `None` if all users share the value.
    copy: Option<CopyForUser>,
    pub(super) get: ExoticGet,
    pub(super) method: ExoticMethod,
    pub(super) set: ExoticSet,
    pub(super) delete: ExoticDelete,
    pub(super) keys: ExoticKeys,
}

type CopyForUser = unsafe fn(NonNull<Boxed<()>>, &Context) -> NonNull<Boxed<()>>;

type ExoticGet = for<'c> unsafe fn(
    NonNull<Boxed<()>>,
    &'c Context,
    &Value<'c>,
    &Atom<'c>,
) -> Result<Option<Value<'c>>, Thrown>;
type ExoticMethod =
    for<'c> fn(&'c Context, &Value<'c>, &Atom<'c>) -> Result<Option<Value<'c>>, Thrown>;
type ExoticSet = for<'c> unsafe fn(
    NonNull<Boxed<()>>,
    &'c Context,
    &Atom<'c>,
    &Value<'c>,
) -> Result<Assignment, Thrown>;
type ExoticDelete =
    for<'c> unsafe fn(NonNull<Boxed<()>>, &'c Context, &Atom<'c>) -> Result<bool, Thrown>;
type ExoticKeys =
    for<'c> unsafe fn(NonNull<Boxed<()>>, &'c Context) -> Result<Vec<Atom<'c>>, Thrown>;

struct TableOf<T>(std::marker::PhantomData<T>);

impl<T: Class> TableOf<T> {
    // The engine passes each function the object's own pointer. `instance` created it from a `Boxed<T>`, which starts
    // with this table.
    const TABLE: &'static Table = &Table {
        type_of: TypeId::of::<T>,
        mark: |boxed, runtime, mark| {
            // SAFETY: the object is a live `Boxed<T>`.
            let object = &unsafe { boxed.cast::<Boxed<T>>().as_ref() }.value;
            object.trace(&mut |slot| {
                if let Some(raw) = slot.0.get() {
                    // SAFETY: the slot holds a reference to the value, and the engine passed `runtime` and `mark`.
                    unsafe { sys::JS_MarkValue(runtime, raw, mark) };
                }
            });
        },
        free: |boxed, runtime, with_slots| {
            // SAFETY: the object is a `Boxed<T>` that was a `Box`, and the engine frees each object once.
            let boxed = unsafe { Box::from_raw(boxed.cast::<Boxed<T>>().as_ptr()) };
            if !with_slots {
                return;
            }
            boxed.value.trace(&mut |slot| {
                if let Some(raw) = slot.0.take() {
                    // SAFETY: the slot held this reference, and the engine passed `runtime`.
                    unsafe { sys::JS_FreeValueRT(runtime, raw) };
                }
            });
        },
        copy: match T::IN_IMAGE {
            InImage::Copied(_) => Some(|boxed, context| {
                let InImage::Copied(copy) = T::IN_IMAGE else {
                    return boxed;
                };
                // SAFETY: the object is a live `Boxed<T>`.
                let value = copy(context, &unsafe { boxed.cast::<Boxed<T>>().as_ref() }.value);
                NonNull::from(Box::leak(Box::new(Boxed {
                    table: TableOf::<T>::TABLE,
                    value,
                })))
                .cast()
            }),
            InImage::Shared | InImage::Refused(_) => None,
        },
        get: |boxed, context, this, key| {
            // SAFETY: the object is a live `Boxed<T>`.
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .get(context, this, key)
        },
        method: |context, this, key| {
            let has = |name: &str| T::prototype().iter().any(|entry| entry.name() == name);
            if !T::LISTS_METHODS || !key.with_text(has) {
                return Ok(None);
            }
            let method = context.prototype_of::<T>()?.get(key)?;
            let is_method = method.is_function();
            is_method
                .then(|| method.invoke("bind", &[this]))
                .transpose()
        },
        set: |boxed, context, key, value| {
            // SAFETY: the object is a live `Boxed<T>`.
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .set(context, key, value)
        },
        delete: |boxed, context, key| {
            // SAFETY: the object is a live `Boxed<T>`.
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .delete(context, key)
        },
        keys: |boxed, context| {
            // SAFETY: the object is a live `Boxed<T>`.
            let object = &unsafe { boxed.cast::<Boxed<T>>().as_ref() }.value;
            let mut keys = object.keys(context)?;
            if T::LISTS_METHODS {
                for method in context.keys(T::prototype().iter().map(Entry::name)) {
                    if !keys.iter().any(|key| key.raw == method.raw) {
                        keys.push(method);
                    }
                }
            }
            Ok(keys)
        },
    };
}

/// The engine's class numbers for the two kinds of host objects.
#[derive(Clone, Copy)]
pub(super) struct ClassIds {
    plain: sys::JSClassID,
    exotic: sys::JSClassID,
}

impl ClassIds {
    pub(super) fn register(runtime: NonNull<sys::JSRuntime>) -> Self {
        let runtime = runtime.as_ptr();
        let register = |exotic: *const sys::JSClassExoticMethods| {
            let definition = sys::JSClassDef {
                class_name: c"Object".as_ptr(),
                finalizer: Some(finalize),
                gc_mark: Some(mark),
                call: None,
                exotic: exotic.cast_mut(),
            };
            let mut id = 0;
            // SAFETY: the engine copies the definition; the exotic methods are static and never written.
            unsafe {
                sys::JS_NewClassID(runtime, &mut id);
                sys::JS_NewClass(runtime, id, &definition);
            }
            id
        };
        Self {
            plain: register(std::ptr::null()),
            exotic: register(&exotic::CALLBACKS),
        }
    }
}

/// The prototypes created so far, by host type.
#[derive(Clone, Default)]
pub(super) struct Prototypes(RefCell<Vec<(TypeId, sys::JSValue)>>);

impl Prototypes {
    /// # Safety
    /// `context` must be the live context in which they were created.
    pub(super) unsafe fn clear(&self, context: *mut sys::JSContext) {
        for (_, raw) in self.0.take() {
            // SAFETY: the table owned each reference.
            unsafe { sys::JS_FreeValue(context, raw) };
        }
    }
}

/// A borrowed host object: the object and the Rust value in it.
pub struct Instance<'a, T>(&'a T);

impl<T> std::ops::Deref for Instance<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.0
    }
}

impl Context {
    /// Creates an object that holds `value`.
    pub fn instance<T: Class>(&self, value: T) -> Returned<'_> {
        if let InImage::Refused(what) = T::IN_IMAGE
            && self.makes_image()
        {
            self.differs_per_user(&format!("the init code makes {what}"));
        }
        let prototype = self.prototype_of::<T>()?;
        let ids = &self.inner().classes;
        let id = if T::EXOTIC { ids.exotic } else { ids.plain };
        // SAFETY: the class is registered. The object takes over the box and passes it to `finalize`.
        unsafe {
            let object = Value::checked(
                self,
                sys::JS_NewObjectProtoClass(self.raw(), prototype.raw(), id),
            )?;
            let boxed = Box::new(Boxed {
                table: TableOf::<T>::TABLE,
                value,
            });
            sys::JS_SetOpaque(object.raw(), Box::into_raw(boxed).cast());
            Ok(object)
        }
    }

    /// The prototype shared by all objects of `T`.
    pub fn prototype_of<T: Class>(&self) -> Returned<'_> {
        let wanted = TypeId::of::<T>();
        let known = &self.inner().prototypes.0;
        if let Some((_, raw)) = known.borrow().iter().find(|(id, _)| *id == wanted) {
            // SAFETY: the table holds its own reference, which is duplicated here.
            return Ok(unsafe { Value::from_raw(self, sys::JS_DupValue(self.raw(), *raw)) });
        }
        let prototype = self.object()?;
        self.add_entries(&prototype, T::prototype())?;
        known
            .borrow_mut()
            .push((wanted, prototype.clone().into_raw()));
        Ok(prototype)
    }
}

impl<'c> Value<'c> {
    /// The Rust value in this object, if it is a `T`.
    #[inline]
    pub fn instance<T: Class>(&self) -> Option<Instance<'_, T>> {
        let boxed = host_box(self.context(), self.raw())?;
        // SAFETY: the object is held by `self`, and its box starts with its table.
        unsafe {
            if (boxed.as_ref().table.type_of)() != TypeId::of::<T>() {
                return None;
            }
            Some(Instance(&boxed.cast::<Boxed<T>>().as_ref().value))
        }
    }
}

/// The box of `object`, if it is a host object.
#[inline]
pub(super) fn host_box(context: &Context, object: sys::JSValue) -> Option<NonNull<Boxed<()>>> {
    let ids = &context.inner().classes;
    let mut id = 0;
    // SAFETY: the engine returns null for objects without an opaque pointer.
    let opaque = unsafe { sys::JS_GetAnyOpaque(object, &mut id) };
    if id != ids.plain && id != ids.exotic {
        return None;
    }
    let boxed = NonNull::new(opaque.cast::<Boxed<()>>())?;
    let Place::User(part) = &context.inner().place else {
        return Some(boxed);
    };
    // SAFETY: the box starts with its table.
    match unsafe { boxed.as_ref() }.table.copy {
        // SAFETY: the tag shows that the value is an object, which has an address.
        Some(copy) if is_in_image(unsafe { sys::JS_VALUE_GET_PTR(object) } as usize) => {
            // SAFETY: the box has the type that its table is for.
            let made = || unsafe { copy(boxed, context) }.cast();
            Some(part.copies.of(boxed.cast(), made).cast())
        }
        _ => Some(boxed),
    }
}

/// The Rust values of one user that replace those in its image.
#[derive(Default)]
pub(super) struct Copies(RefCell<Vec<(NonNull<()>, NonNull<()>)>>);

impl Copies {
    /// The user's copy of an original. `make` creates it on first use.
    fn of(&self, original: NonNull<()>, make: impl FnOnce() -> NonNull<()>) -> NonNull<()> {
        let known = self
            .0
            .borrow()
            .iter()
            .find(|(of, _)| *of == original)
            .copied();
        if let Some((_, copy)) = known {
            return copy;
        }
        let copy = make();
        self.0.borrow_mut().push((original, copy));
        copy
    }

    /// # Safety
    /// Nothing may use the copies afterwards.
    pub(super) unsafe fn clear(&self, runtime: *mut sys::JSRuntime) {
        for (_, copy) in self.0.take() {
            let copy = copy.cast::<Boxed<()>>();
            // SAFETY: the copies are boxes of their types. The memory of the values in their slots is freed as a whole.
            unsafe { (copy.as_ref().table.free)(copy, runtime, false) };
        }
    }
}

unsafe extern "C" fn finalize(runtime: *mut sys::JSRuntime, object: sys::JSValue) {
    let mut id = 0;
    // SAFETY: only host objects have this finalizer. The pointer of an object whose creation failed is null. The
    // runtime's opaque pointer is the `Inner` that registered the class.
    unsafe {
        if let Some(boxed) = NonNull::new(sys::JS_GetAnyOpaque(object, &mut id).cast::<Boxed<()>>())
        {
            let inner = &*(sys::JS_GetRuntimeOpaque(runtime) as *const crate::runtime::Inner);
            let with_slots = !inner.gives_up_heap.get();
            let free = || (boxed.as_ref().table.free)(boxed, runtime, with_slots);
            inner.with_engine_running(false, free);
        }
    }
}

unsafe extern "C" fn mark(
    runtime: *mut sys::JSRuntime,
    object: sys::JSValue,
    mark: sys::JS_MarkFunc,
) {
    let mut id = 0;
    // SAFETY: as in `finalize`.
    unsafe {
        if let Some(boxed) = NonNull::new(sys::JS_GetAnyOpaque(object, &mut id).cast::<Boxed<()>>())
        {
            (boxed.as_ref().table.mark)(boxed, runtime, mark);
        }
    }
}
