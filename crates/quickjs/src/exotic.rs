//! The engine's callbacks for host objects that compute their own properties.

use crate::class::{Assignment, host_box};
use crate::function::guarded;
use crate::name::Atom;
use crate::{Context, Thrown, Value, sys};

/// The callbacks of all exotic host objects.
pub(super) static CALLBACKS: sys::JSClassExoticMethods = sys::JSClassExoticMethods {
    get_own_property: Some(get_own),
    get_own_property_names: Some(own_names),
    delete_property: Some(delete),
    define_own_property: None,
    has_property: None,
    get_property: Some(get),
    set_property: Some(set),
    calls_prototype: true,
};

/// Looks up an own property of an exotic object.
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

unsafe extern "C" fn get(
    context: *mut sys::JSContext,
    object: sys::JSValue,
    key: sys::JSAtom,
    _receiver: sys::JSValue,
) -> sys::JSValue {
    // SAFETY: the engine passes live values, and does not look in the prototype itself.
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
                let inherited = sys::JS_GetProperty(context.raw(), prototype.raw(), key);
                let inherited = Value::checked(context, inherited)?;
                match inherited.is_function() {
                    true => Ok(own(context, object, key, true)?.unwrap_or(inherited)),
                    false => Ok(inherited),
                }
            }
        })
    }
}

unsafe extern "C" fn get_own(
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

unsafe extern "C" fn own_names(
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

unsafe extern "C" fn delete(
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

unsafe extern "C" fn set(
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
