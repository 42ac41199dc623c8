//! Binary data: ArrayBuffers and their views.

use crate::give_way::{copy_in_pieces, pieces};
use crate::{Value, sys};

impl<'c> Value<'c> {
    /// Whether this is an `ArrayBuffer`.
    #[inline]
    pub fn is_array_buffer(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsArrayBuffer(self.raw) }
    }

    /// The type of a typed array's elements, such as `uint16`; `None` for anything else.
    pub fn element_type(&self) -> Option<&'static str> {
        // SAFETY: the value is live.
        let kind = unsafe { sys::JS_GetTypedArrayType(self.raw) };
        Some(match u32::try_from(kind).ok()? {
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8C
            | sys::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT8 => "uint8",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_INT8 => "int8",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_INT16 => "int16",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT16 => "uint16",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_INT32 => "int32",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_UINT32 => "uint32",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_INT64 => "int64",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_BIG_UINT64 => "uint64",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT16 => "float16",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT32 => "float32",
            sys::JSTypedArrayEnum_JS_TYPED_ARRAY_FLOAT64 => "float64",
            _ => return None,
        })
    }

    /// Calls `body` with the bytes of an ArrayBuffer, a typed array or a DataView. Returns `None` for anything else,
    /// and for a detached buffer. `body` gets no context, because a script that runs meanwhile could detach the buffer.
    pub fn with_bytes<R>(&self, body: impl FnOnce(&[u8]) -> R) -> Option<R> {
        let (start, length) = self.span()?;
        // SAFETY: `self` holds the buffer, and nothing that could free it runs during `body`.
        Some(body(unsafe { std::slice::from_raw_parts(start, length) }))
    }

    /// The location of binary data in memory. The engine reads its own structures and never properties, because scripts
    /// can replace properties with getters that free the buffer.
    fn span(&self) -> Option<(*mut u8, usize)> {
        let (mut start, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: the value is live, and the engine checks its type.
        let found = unsafe { sys::JS_GetBinaryData(self.raw, &mut start, &mut length) };
        // An empty buffer may have no memory.
        let start = std::ptr::NonNull::new(start).unwrap_or(std::ptr::NonNull::dangling());
        found.then_some((start.as_ptr(), length as usize))
    }

    /// A copy of the bytes of an ArrayBuffer, a typed array or a DataView.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        // No script code that could free the buffer runs while the script is suspended.
        self.with_bytes(|bytes| copy_in_pieces(bytes, 0))
    }

    /// Overwrites the bytes of a typed array or ArrayBuffer with `source`, up to the shorter of the two lengths.
    /// Returns the number of bytes written.
    pub fn write_bytes(&self, source: &[u8]) -> Option<usize> {
        let (start, length) = self.span()?;
        let count = length.min(source.len());
        let mut place = 0;
        for piece in pieces(source.get(..count)?) {
            // SAFETY: the range is the engine's own memory, to which no Rust reference exists. No script code runs
            // between two pieces, so the memory stays in place.
            unsafe { std::ptr::copy(piece.as_ptr(), start.add(place), piece.len()) };
            place += piece.len();
        }
        Some(count)
    }
}
