//! The part of an image that nearly every script changes: the engine's counters, lists and limits, and properties such
//! as `__ITER`.
//!
//! It occupies a separate page, from the start of that page. A switch between users swaps all of its lines, so scripts
//! that change nothing else need no comparison.

use super::delta::Line;
use super::space::PAGE;

/// The content of the hot part for one user.
#[derive(Clone)]
pub struct HotLines(Box<[Line]>);

/// The address of the hot part.
pub struct HotPart {
    start: *mut Line,
    count: usize,
}

impl HotLines {
    /// The memory that they occupy, in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// The number of cache lines.
    pub fn lines(&self) -> usize {
        self.0.len()
    }
}

impl HotPart {
    /// The first `size` bytes of `page`, rounded up to whole lines. The page must be in an image, writable, and at a
    /// multiple of the page size.
    pub fn new(page: usize, size: usize) -> Self {
        debug_assert!(size <= PAGE);
        HotPart {
            start: page as *mut Line,
            count: size.div_ceil(size_of::<Line>()),
        }
    }

    /// The content in the image.
    pub fn lines(&self) -> HotLines {
        // SAFETY: the lines are in the image, and nothing changes them meanwhile.
        HotLines(unsafe { std::slice::from_raw_parts(self.start, self.count) }.into())
    }

    /// Replaces `lines` with the content in the image. `lines` must belong to this image.
    #[inline]
    pub fn save(&self, lines: &mut HotLines) {
        debug_assert_eq!(lines.0.len(), self.count);
        // SAFETY: as in `lines`; both have `count` lines.
        unsafe { std::ptr::copy_nonoverlapping(self.start, lines.0.as_mut_ptr(), self.count) };
    }

    /// Replaces the content in the image with `lines`, which must belong to this image.
    #[inline]
    pub fn apply(&self, lines: &HotLines) {
        debug_assert_eq!(lines.0.len(), self.count);
        // SAFETY: as in `save`. The engine runs nothing meanwhile.
        unsafe { std::ptr::copy_nonoverlapping(lines.0.as_ptr(), self.start, self.count) };
    }
}
