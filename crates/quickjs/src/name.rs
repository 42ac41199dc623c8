//! Property names: cached ones for the hot path, and any other kind of key.

use std::cell::Cell;

use crate::{Context, sys};

/// An index into the runtime's table of property names, which are converted to the engine's form once per
/// runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name(pub u16);

/// Consecutive names in the table.
#[derive(Debug, Clone, Copy)]
pub struct NameRange {
    pub first: Name,
    pub count: u16,
}

impl NameRange {
    /// The names in order.
    pub fn iter(self) -> impl Iterator<Item = Name> {
        (self.first.0..self.first.0 + self.count).map(Name)
    }
}

/// The table behind [`Name`]: an engine atom for each name.
pub(super) struct Names {
    texts: &'static [&'static str],
    atoms: Box<[Cell<sys::JSAtom>]>,
}

impl Names {
    pub(super) fn new(texts: &'static [&'static str]) -> Self {
        Self {
            texts,
            atoms: texts.iter().map(|_| Cell::new(0)).collect(),
        }
    }

    /// The atom of `name`, owned by the table. For an unknown name, or if memory is exhausted, it is 0, the engine's
    /// null atom.
    #[inline]
    pub(super) fn atom(&self, context: &Context, name: Name) -> sys::JSAtom {
        let Some(cell) = self.atoms.get(name.0 as usize) else {
            return 0;
        };
        if cell.get() == 0 {
            cell.set(new_atom(context, self.texts[name.0 as usize]));
        }
        cell.get()
    }

    /// Creates the atoms of all names.
    ///
    /// # Safety
    /// `context` must be live, and its atoms must outlive this table.
    pub(super) unsafe fn intern(&self, context: *mut sys::JSContext) {
        for (cell, text) in self.atoms.iter().zip(self.texts) {
            // SAFETY: per the function's contract; the engine copies the given bytes.
            cell.set(unsafe { sys::JS_NewAtomLen(context, text.as_ptr().cast(), text.len() as _) });
        }
    }

    /// Whether this table is for exactly these names.
    pub(super) fn is_of(&self, texts: &'static [&'static str]) -> bool {
        std::ptr::eq(self.texts, texts)
    }

    /// # Safety
    /// `context` must be the live context in which the atoms were created.
    pub(super) unsafe fn clear(&self, context: *mut sys::JSContext) {
        for cell in &self.atoms {
            // SAFETY: each atom is owned by the table and released once.
            unsafe { sys::JS_FreeAtom(context, cell.replace(0)) };
        }
    }
}

/// A property key of any kind, owned.
pub struct Atom<'c> {
    pub(super) raw: sys::JSAtom,
    pub(super) context: &'c Context,
}

/// The bit that marks an atom that is itself an array index.
const INDEX_BIT: u32 = 1 << 31;

impl<'c> Atom<'c> {
    /// The key `name`.
    pub fn new(context: &'c Context, name: Name) -> Self {
        let raw = context.inner().names.atom(context, name);
        Self {
            // SAFETY: the table's atom is live; this key owns the new reference.
            raw: unsafe { sys::JS_DupAtom(context.raw(), raw) },
            context,
        }
    }

    /// The key with the string `text`.
    pub fn from_text(context: &'c Context, text: &str) -> Self {
        Self {
            raw: new_atom(context, text),
            context,
        }
    }

    /// `value` as a property key. Symbols stay symbols.
    pub fn from_value(value: &crate::Value<'c>) -> Result<Self, crate::Thrown> {
        // SAFETY: the value is live; this key owns the new atom.
        match unsafe { sys::JS_ValueToAtom(value.context.raw(), value.raw) } {
            0 => Err(crate::Thrown::pending()),
            raw => Ok(Self {
                raw,
                context: value.context,
            }),
        }
    }

    /// Takes ownership of `raw`.
    pub(super) fn from_raw(context: &'c Context, raw: sys::JSAtom) -> Self {
        Self { raw, context }
    }

    /// The array index that this key represents, if it represents one.
    #[inline]
    pub fn index(&self) -> Option<u32> {
        (self.raw & INDEX_BIT != 0).then_some(self.raw & !INDEX_BIT)
    }

    /// Whether this is the key `name`.
    #[inline]
    pub fn is(&self, name: Name) -> bool {
        self.raw == self.context.inner().names.atom(self.context, name)
    }

    /// The position of this key among the names of `range`.
    #[inline]
    pub fn position_in(&self, range: NameRange) -> Option<usize> {
        let names = &self.context.inner().names;
        let first = range.first.0 as usize;
        let atoms = names.atoms.get(first..first + range.count as usize)?;
        // The atoms are created together, so they can be compared in sequence.
        if atoms.first()?.get() == 0 || atoms.last()?.get() == 0 {
            range.iter().for_each(|name| {
                names.atom(self.context, name);
            });
        }
        atoms.iter().position(|atom| atom.get() == self.raw)
    }

    /// Calls `body` with the key as a string. A symbol is represented by its description.
    #[inline]
    pub fn with_text<R>(&self, body: impl FnOnce(&str) -> R) -> R {
        // SAFETY: the atom is live; the C string is freed after `body`.
        unsafe {
            let mut length = 0;
            let text = sys::JS_AtomToCStringLen(self.context.raw(), &mut length, self.raw);
            if text.is_null() {
                return body("");
            }
            let bytes = std::slice::from_raw_parts(text as *const u8, length as usize);
            let result = match std::str::from_utf8(bytes) {
                Ok(text) => body(text),
                Err(_) => body(&String::from_utf8_lossy(bytes)),
            };
            sys::JS_FreeCString(self.context.raw(), text);
            result
        }
    }

    /// Whether this is a symbol, which has no string.
    pub fn is_symbol(&self) -> bool {
        // SAFETY: the atom is live; the value is freed.
        unsafe {
            let value = sys::JS_AtomToValue(self.context.raw(), self.raw);
            let symbol = sys::JS_IsSymbol(value);
            sys::JS_FreeValue(self.context.raw(), value);
            symbol
        }
    }

    /// The key as a string. A symbol is represented by its description.
    pub fn text(&self) -> String {
        self.with_text(str::to_owned)
    }
}

impl Context {
    /// Property keys with these strings.
    pub fn keys<T: AsRef<str>>(&self, texts: impl IntoIterator<Item = T>) -> Vec<Atom<'_>> {
        texts
            .into_iter()
            .map(|text| Atom::from_text(self, text.as_ref()))
            .collect()
    }
}

impl Clone for Atom<'_> {
    fn clone(&self) -> Self {
        // SAFETY: the atom is live.
        let raw = unsafe { sys::JS_DupAtom(self.context.raw(), self.raw) };
        Self {
            raw,
            context: self.context,
        }
    }
}

impl Drop for Atom<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: owned by `self`.
        unsafe { sys::JS_FreeAtom(self.context.raw(), self.raw) }
    }
}

/// Types that name a property: a string, a cached [`Name`], an index, an [`Atom`].
pub trait Key: sealed::Sealed {
    #[doc(hidden)]
    fn with<R>(self, context: &Context, body: impl FnOnce(u32) -> R) -> R;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for &str {}
    impl Sealed for super::Name {}
    impl Sealed for u32 {}
    impl Sealed for &super::Atom<'_> {}
}

impl Key for &str {
    #[inline]
    fn with<R>(self, context: &Context, body: impl FnOnce(u32) -> R) -> R {
        let atom = Atom::from_raw(context, new_atom(context, self));
        body(atom.raw)
    }
}

impl Key for Name {
    #[inline]
    fn with<R>(self, context: &Context, body: impl FnOnce(u32) -> R) -> R {
        body(context.inner().names.atom(context, self))
    }
}

impl Key for u32 {
    #[inline]
    fn with<R>(self, context: &Context, body: impl FnOnce(u32) -> R) -> R {
        // SAFETY: the context is live; the atom is freed below.
        let atom = Atom::from_raw(context, unsafe {
            sys::JS_NewAtomUInt32(context.raw(), self)
        });
        body(atom.raw)
    }
}

impl Key for &Atom<'_> {
    #[inline]
    fn with<R>(self, _: &Context, body: impl FnOnce(u32) -> R) -> R {
        body(self.raw)
    }
}

/// An owned atom of `text`; 0 if memory is exhausted.
pub(super) fn new_atom(context: &Context, text: &str) -> sys::JSAtom {
    // SAFETY: the engine copies the given bytes.
    unsafe { sys::JS_NewAtomLen(context.raw(), text.as_ptr().cast(), text.len() as _) }
}
