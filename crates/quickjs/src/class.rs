//! Rust types whose values scripts hold as objects.
//!
//! All host types share two engine classes, plain and exotic, so that a runtime's class table stays small. The table at
//! the start of each object identifies its Rust type. A prototype is created with the first object of its type.

use std::any::TypeId;
use std::cell::RefCell;
use std::ptr::NonNull;

use crate::function::{Entry, Returned, guarded};
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

    /// Methods of the prototype that an exotic object lists after its own keys, as k6's objects do.
    const METHODS: &'static [&'static str] = &[];

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
struct Boxed<T> {
    table: &'static Table,
    value: T,
}

/// The functions of a host type that the engine's callbacks need. Each of its objects starts with a pointer to them.
struct Table {
    type_of: fn() -> TypeId,
    mark: unsafe fn(NonNull<Boxed<()>>, *mut sys::JSRuntime, sys::JS_MarkFunc),
    /// The last argument specifies whether to release the values in slots, too.
    free: unsafe fn(NonNull<Boxed<()>>, *mut sys::JSRuntime, bool),
    /// A copy for one user of an image; `None` if all users share the value.
    copy: Option<CopyForUser>,
    get: ExoticGet,
    method: ExoticMethod,
    set: ExoticSet,
    delete: ExoticDelete,
    keys: ExoticKeys,
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
    // SAFETY (all functions): the engine passes the object's own pointer. `instance` created it from a `Boxed<T>`,
    // which starts with this table.
    const TABLE: &'static Table = &Table {
        type_of: TypeId::of::<T>,
        mark: |boxed, runtime, mark| {
            let object = &unsafe { boxed.cast::<Boxed<T>>().as_ref() }.value;
            object.trace(&mut |slot| {
                if let Some(raw) = slot.0.get() {
                    unsafe { sys::JS_MarkValue(runtime, raw, mark) };
                }
            });
        },
        free: |boxed, runtime, with_slots| {
            let boxed = unsafe { Box::from_raw(boxed.cast::<Boxed<T>>().as_ptr()) };
            if !with_slots {
                return;
            }
            boxed.value.trace(&mut |slot| {
                if let Some(raw) = slot.0.take() {
                    unsafe { sys::JS_FreeValueRT(runtime, raw) };
                }
            });
        },
        copy: match T::IN_IMAGE {
            InImage::Copied(_) => Some(|boxed, context| {
                let InImage::Copied(copy) = T::IN_IMAGE else {
                    return boxed;
                };
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
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .get(context, this, key)
        },
        method: |context, this, key| {
            if !key.with_text(|name| T::METHODS.contains(&name)) {
                return Ok(None);
            }
            let method = context.prototype_of::<T>()?.get(key)?;
            method.invoke("bind", &[this]).map(Some)
        },
        set: |boxed, context, key, value| {
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .set(context, key, value)
        },
        delete: |boxed, context, key| {
            unsafe { boxed.cast::<Boxed<T>>().as_ref() }
                .value
                .delete(context, key)
        },
        keys: |boxed, context| {
            let object = &unsafe { boxed.cast::<Boxed<T>>().as_ref() }.value;
            let mut keys = object.keys(context)?;
            keys.extend(context.keys(T::METHODS));
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

static EXOTIC: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
    get_own_property: Some(exotic_get_own),
    get_own_property_names: Some(exotic_names),
    delete_property: Some(exotic_delete),
    define_own_property: None,
    has_property: None,
    get_property: Some(exotic_get),
    set_property: Some(exotic_set),
};

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
            exotic: register(&EXOTIC),
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
fn host_box(context: &Context, object: sys::JSValue) -> Option<NonNull<Boxed<()>>> {
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

/// Looks up an own property of an exotic object. Without methods if the prototype is searched next, which has them.
///
/// # Safety
/// All arguments must come from the engine.
unsafe fn own<'c>(
    context: &'c Context,
    object: sys::JSValue,
    key: sys::JSAtom,
    with_methods: bool,
) -> Result<Option<Value<'c>>, Thrown> {
    let Some(boxed) = host_box(context, object) else {
        return Ok(None);
    };
    // SAFETY: the engine holds the object and the key during the call.
    unsafe {
        let this = crate::value::Borrowed::from_raw(context, object);
        let key = std::mem::ManuallyDrop::new(Atom::from_raw(context, key));
        let table = boxed.as_ref().table;
        match (table.get)(boxed, context, &this, &key)? {
            None if with_methods => (table.method)(context, &this, &key),
            found => Ok(found),
        }
    }
}

unsafe extern "C" fn exotic_get(
    context: *mut sys::JSContext,
    object: sys::JSValue,
    key: sys::JSAtom,
    _receiver: sys::JSValue,
) -> sys::JSValue {
    // SAFETY: the engine passes live values. If nothing is found, it continues the lookup in the prototype.
    unsafe {
        let context = Context::from_raw(context);
        guarded(context, || match own(context, object, key, false)? {
            Some(value) => Ok(value),
            None => {
                let prototype =
                    Value::checked(context, sys::JS_GetPrototype(context.raw(), object))?;
                if prototype.is_null() {
                    return Ok(context.undefined());
                }
                Value::checked(
                    context,
                    sys::JS_GetProperty(context.raw(), prototype.raw(), key),
                )
            }
        })
    }
}

unsafe extern "C" fn exotic_get_own(
    context: *mut sys::JSContext,
    descriptor: *mut sys::JSPropertyDescriptor,
    object: sys::JSValue,
    key: sys::JSAtom,
) -> i32 {
    // SAFETY: the engine passes live values. It passes a descriptor only if it must be filled.
    unsafe {
        let context = Context::from_raw(context);
        let mut found = false;
        let value = guarded(context, || {
            let value = own(context, object, key, true)?;
            found = value.is_some();
            Ok(value.unwrap_or_else(|| context.undefined()))
        });
        if sys::JS_IsException(value) {
            return -1;
        }
        if !found {
            return 0;
        }
        if descriptor.is_null() {
            sys::JS_FreeValue(context.raw(), value);
        } else {
            (*descriptor).flags = sys::JS_PROP_C_W_E as i32;
            (*descriptor).value = value;
            (*descriptor).getter = sys::JS_UNDEFINED;
            (*descriptor).setter = sys::JS_UNDEFINED;
        }
        1
    }
}

unsafe extern "C" fn exotic_names(
    context: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    length: *mut u32,
    object: sys::JSValue,
) -> i32 {
    // SAFETY: the engine passes live values. It frees the table with `js_free` and releases each of its atoms.
    unsafe {
        let context = Context::from_raw(context);
        let mut keys = Vec::new();
        let done = guarded(context, || {
            if let Some(boxed) = host_box(context, object) {
                keys = (boxed.as_ref().table.keys)(boxed, context)?;
            }
            Ok(context.undefined())
        });
        if sys::JS_IsException(done) {
            return -1;
        }
        let bytes = size_of::<sys::JSPropertyEnum>() * keys.len().max(1);
        let made = sys::js_malloc(context.raw(), bytes as _).cast::<sys::JSPropertyEnum>();
        if made.is_null() {
            return -1;
        }
        let count = keys.len();
        for (index, key) in keys.into_iter().enumerate() {
            let key = std::mem::ManuallyDrop::new(key);
            made.add(index).write(sys::JSPropertyEnum {
                is_enumerable: true,
                atom: key.raw,
            });
        }
        *table = made;
        *length = count as u32;
        0
    }
}

unsafe extern "C" fn exotic_delete(
    context: *mut sys::JSContext,
    object: sys::JSValue,
    key: sys::JSAtom,
) -> i32 {
    // SAFETY: the engine passes live values.
    unsafe {
        let context = Context::from_raw(context);
        let mut gone = true;
        let done = guarded(context, || {
            if let Some(boxed) = host_box(context, object) {
                let key = std::mem::ManuallyDrop::new(Atom::from_raw(context, key));
                gone = (boxed.as_ref().table.delete)(boxed, context, &key)?;
            }
            Ok(context.undefined())
        });
        if sys::JS_IsException(done) {
            -1
        } else {
            i32::from(gone)
        }
    }
}

unsafe extern "C" fn exotic_set(
    context: *mut sys::JSContext,
    object: sys::JSValue,
    key: sys::JSAtom,
    value: sys::JSValue,
    receiver: sys::JSValue,
    flags: i32,
) -> i32 {
    // SAFETY: the engine passes live values and keeps its references.
    unsafe {
        let context = Context::from_raw(context);
        let mut written = Assignment::Ordinary;
        let done = guarded(context, || {
            if let Some(boxed) = host_box(context, object) {
                let key = std::mem::ManuallyDrop::new(Atom::from_raw(context, key));
                let value = crate::value::Borrowed::from_raw(context, value);
                written = (boxed.as_ref().table.set)(boxed, context, &key, &value)?;
            }
            Ok(context.undefined())
        });
        if sys::JS_IsException(done) {
            return -1;
        }
        match written {
            Assignment::Done => 1,
            Assignment::Ordinary => {
                let value = sys::JS_DupValue(context.raw(), value);
                let every = sys::JS_PROP_C_W_E as i32;
                sys::JS_DefinePropertyValue(context.raw(), receiver, key, value, every | flags)
            }
            Assignment::Refused
                if flags & (sys::JS_PROP_THROW | sys::JS_PROP_THROW_STRICT) as i32 != 0 =>
            {
                let key = std::mem::ManuallyDrop::new(Atom::from_raw(context, key));
                let _ = context.throw_type(format!("cannot assign to property '{}'", key.text()));
                -1
            }
            Assignment::Refused => 0,
        }
    }
}
