//! Binary data: ArrayBuffers and the views of them.

use super::give_way::{copy_in_pieces, pieces};
use super::{Value, sys};

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

    /// Where the bytes of binary data are. The engine looks at its own structures and never at properties, which scripts
    /// can replace by getters that free the buffer.
    fn span(&self) -> Option<(*mut u8, usize)> {
        let (mut start, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: the value is live, and the engine checks what it is.
        let found = unsafe { sys::JS_GetBinaryData(self.raw, &mut start, &mut length) };
        // An empty buffer may have no memory.
        let start = std::ptr::NonNull::new(start).unwrap_or(std::ptr::NonNull::dangling());
        found.then_some((start.as_ptr(), length as usize))
    }

    /// The bytes of an ArrayBuffer, a typed array or a DataView, copied.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        // While the script is suspended, nothing of it runs that could free the buffer.
        self.with_bytes(|bytes| copy_in_pieces(bytes, 0))
    }

    /// Overwrites the bytes of a typed array or ArrayBuffer from `source`, as far as both reach; the number written.
    pub fn write_bytes(&self, source: &[u8]) -> Option<usize> {
        let (start, length) = self.span()?;
        let count = length.min(source.len());
        let mut place = 0;
        for piece in pieces(source.get(..count)?) {
            // SAFETY: the range is the engine's own memory, which no Rust reference leads to. Nothing of the script runs
            // between two pieces, so that the memory stays where it is.
            unsafe { std::ptr::copy(piece.as_ptr(), start.add(place), piece.len()) };
            place += piece.len();
        }
        Some(count)
    }
}
