//! Binary data: ArrayBuffers and the views of them.

use super::{Thrown, Value, sys};

impl<'c> Value<'c> {
    #[inline]
    pub fn is_array_buffer(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsArrayBuffer(self.raw) }
    }

    /// Runs `body` over the bytes of an ArrayBuffer, a typed array or a DataView; `None` for anything else, and for a
    /// detached buffer. `body` must not run script, which could detach the buffer, and so it has no context.
    pub fn with_bytes<R>(&self, body: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let (start, length) = self.span()?;
        // SAFETY: the buffer is held by `self`, and nothing that could free it runs during `body`.
        Some(body(unsafe { std::slice::from_raw_parts(start, length) }))
    }

    /// Where the bytes of binary data are.
    fn span(&self) -> Option<(*mut u8, usize)> {
        let context = self.context.raw();
        // SAFETY: all values are live; the range is checked against the buffer's size.
        unsafe {
            let (buffer, offset, length) = if self.is_array_buffer() {
                (Ok(self.clone()), 0, None)
            } else if sys::JS_GetTypedArrayType(self.raw) >= 0 {
                let (mut offset, mut length) = (0, 0);
                let unit = std::ptr::null_mut();
                let raw =
                    sys::JS_GetTypedArrayBuffer(context, self.raw, &mut offset, &mut length, unit);
                (
                    Value::checked(self.context, raw),
                    offset as usize,
                    Some(length as usize),
                )
            } else if sys::JS_IsDataView(self.raw) {
                // A DataView has no accessor of its own; its properties say the same.
                let number = |key| {
                    self.get(key)
                        .and_then(|n| n.to_integer())
                        .map(|n| n.max(0) as usize)
                };
                match (number("byteOffset"), number("byteLength")) {
                    (Ok(offset), Ok(length)) => (self.get("buffer"), offset, Some(length)),
                    (Err(thrown), _) | (_, Err(thrown)) => (Err(thrown), 0, None),
                }
            } else {
                return None;
            };
            let mut whole = 0;
            let start = match buffer {
                Ok(buffer) => sys::JS_GetArrayBuffer(context, &mut whole, buffer.raw),
                Err(_) => std::ptr::null_mut(),
            };
            let length = length.unwrap_or(whole as usize);
            if start.is_null() {
                // An empty buffer may have no memory; a detached one has raised an exception.
                if sys::JS_HasException(context) {
                    drop(self.context.take_exception(Thrown::pending()));
                    return None;
                }
                return Some((std::ptr::NonNull::dangling().as_ptr(), 0));
            }
            offset
                .checked_add(length)
                .filter(|&end| end <= whole as usize)?;
            Some((start.add(offset), length))
        }
    }

    /// The bytes of an ArrayBuffer, a typed array or a DataView, copied.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        self.with_bytes(<[u8]>::to_vec)
    }

    /// Overwrites the bytes of a typed array or ArrayBuffer from `source`, as far as both reach; the number written.
    pub fn write_bytes(&self, source: &[u8]) -> Option<usize> {
        let (start, length) = self.span()?;
        let count = length.min(source.len());
        // SAFETY: the range is the engine's own memory, which no Rust reference leads to.
        unsafe { std::ptr::copy(source.as_ptr(), start, count) };
        Some(count)
    }
}
