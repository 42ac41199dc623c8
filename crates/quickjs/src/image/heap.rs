//! The allocator of an image: it allocates in the image first, and in the memory of the running user once the image is
//! frozen.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::{NonNull, null, null_mut};

use super::own::{self, OwnMemory, Runs};
use super::space::{Area, PAGE, Window, is_in_image, is_small_block};
use crate::sys;

/// Blocks of an image up to this size come in steps of 16 bytes. Larger ones come in four steps per power of two.
const FINE: usize = 1024;
const FINE_CLASSES: usize = FINE / 16;
const CLASSES: usize = FINE_CLASSES + 4 * 21;
/// The size of the header of each block of an image. The header contains the block's class.
const HEADER: usize = 8;
/// The maximum number of bytes in the hot page, which every change of users copies.
const MAX_HOT: usize = 1024;

pub struct Heap {
    image: Area,
    /// The first free block of each class. A free block begins with the address of the next one.
    free: [Cell<usize>; CLASSES],
    is_frozen: Cell<bool>,
    /// The address of the runtime, until it is allocated.
    runtime: Cell<Option<usize>>,
    /// The page that begins with the part of the runtime that changes. It contains only blocks that every user changes.
    hot_page: usize,
    /// The bytes in use there.
    hot_size: Cell<usize>,
    /// The number of further blocks to put there.
    hot_next: Cell<usize>,
    pub runs: Runs,
    /// The memory of the user that is running.
    pub user: Cell<*const OwnMemory>,
    /// The last field, because the areas above are in the window.
    pub window: Window,
}

fn class_of(size: usize) -> usize {
    if size <= FINE {
        return size.max(1).div_ceil(16) - 1;
    }
    let doublings = (usize::BITS - 1 - ((size - 1) / FINE).leading_zeros()) as usize;
    let start = FINE << doublings;
    FINE_CLASSES + 4 * doublings + (size - start).div_ceil(start / 4) - 1
}

fn class_size(class: usize) -> usize {
    match class.checked_sub(FINE_CLASSES) {
        None => (class + 1) * 16,
        Some(coarse) => {
            let start = FINE << (coarse / 4);
            start + start / 4 * (coarse % 4 + 1)
        }
    }
}

impl Heap {
    /// `None` if no window is left.
    pub fn new() -> Option<Box<Self>> {
        let window = Window::take()?;
        let image = window.image();
        let mut start = 0;
        // SAFETY: writes one number.
        let size = unsafe { sys::JS_GetRuntimeLayout(&mut start) };
        let (size, start) = (size as usize, start as usize);
        // The runtime lies across the start of the page.
        let hot_page = image.base() + (start + HEADER).next_multiple_of(PAGE);
        image.take(hot_page + PAGE - image.base())?;
        // Blocks begin after their header, at a multiple of 16.
        image.take(16 - HEADER)?;
        Some(Box::new(Heap {
            image,
            free: std::array::from_fn(|_| Cell::new(0)),
            is_frozen: Cell::new(false),
            runtime: Cell::new(Some(hot_page - start)),
            hot_page,
            hot_size: Cell::new((size - start).next_multiple_of(16)),
            hot_next: Cell::new(0),
            runs: Runs::new(window.own()),
            user: Cell::new(null()),
            window,
        }))
    }

    /// The functions for the engine. Their first argument must be this heap.
    pub const FUNCTIONS: sys::JSMallocFunctions = sys::JSMallocFunctions {
        js_calloc: Some(calloc),
        js_malloc: Some(malloc),
        js_free: Some(free),
        js_realloc: Some(realloc),
        js_malloc_usable_size: Some(usable_size),
    };

    /// Freezes the image: from now on, users allocate in their own memory. Returns the address of its first page and
    /// its size in bytes.
    pub fn freeze(&self) -> Option<(usize, usize)> {
        self.is_frozen.set(true);
        let used = self.image.size();
        self.image.take(used.next_multiple_of(PAGE) - used)?;
        Some((self.image.base(), self.image.size()))
    }

    pub fn is_frozen(&self) -> bool {
        self.is_frozen.get()
    }

    /// Announces that every user changes the next `count` blocks. They are put into the hot page if there is space.
    pub fn hot_next(&self, count: usize) {
        self.hot_next.set(count);
    }

    /// The address of the hot page, and the number of bytes in use at its start.
    pub fn hot_part(&self) -> (usize, usize) {
        (self.hot_page, self.hot_size.get())
    }

    /// The first block, which is the runtime, or a block in the hot page, if one was announced and there is space.
    fn allocate_in_place(&self, class: usize) -> Option<usize> {
        if let Some(runtime) = self.runtime.take() {
            return Some(runtime);
        }
        self.hot_next.set(self.hot_next.get().checked_sub(1)?);
        let start = self.hot_size.get();
        // The header is in the bytes before the block, which begins at a multiple of 16.
        let block = start + 16;
        let end = block + class_size(class);
        if end > MAX_HOT {
            return None;
        }
        self.hot_size.set(end);
        Some(self.hot_page + block)
    }

    fn allocate_in_image(&self, size: usize) -> Option<NonNull<u8>> {
        let class = class_of(size);
        if let Some(block) = self.allocate_in_place(class) {
            // SAFETY: the area has allocated these bytes, and no other block has them.
            unsafe { ((block - HEADER) as *mut u64).write(class as u64) };
            return NonNull::new(block as *mut u8);
        }
        let free = self.free.get(class)?;
        let block = match free.get() {
            0 => {
                let size = class_size(class).checked_add(HEADER)?.next_multiple_of(16);
                let start = self.image.take(size)?;
                // SAFETY: the area has just allocated these bytes.
                unsafe { (start as *mut u64).write(class as u64) };
                start + HEADER
            }
            block => {
                // SAFETY: a free block begins with the address of the next one.
                free.set(unsafe { (block as *const usize).read() });
                block
            }
        };
        NonNull::new(block as *mut u8)
    }

    #[inline(always)]
    fn allocate(&self, size: usize) -> Option<NonNull<u8>> {
        // SAFETY: the user that is running lives until its turn is over.
        match unsafe { self.user.get().as_ref() } {
            Some(user) => user.allocate(&self.runs, size),
            None => self.allocate_without_user(size),
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_without_user(&self, size: usize) -> Option<NonNull<u8>> {
        match self.is_frozen.get() {
            true => None,
            false => self.allocate_in_image(size),
        }
    }

    fn allocate_zeroed(&self, size: usize) -> Option<NonNull<u8>> {
        if !self.is_frozen.get() {
            let block = self.allocate_in_image(size)?;
            // SAFETY: the block has at least that size.
            unsafe { block.as_ptr().write_bytes(0, size) };
            return Some(block);
        }
        // SAFETY: as in `allocate`.
        unsafe { self.user.get().as_ref() }?.allocate_zeroed(&self.runs, size)
    }

    /// # Safety
    /// `block` must come from this heap: from the image, or from the memory of the running user.
    #[inline(always)]
    unsafe fn free(&self, block: NonNull<u8>) {
        // SAFETY: per the contract above, the running user allocated a small block.
        unsafe {
            match self.user.get().as_ref() {
                Some(user) if is_small_block(block.as_ptr() as usize) => {
                    user.free_small(&self.runs, block);
                }
                _ => self.free_other(block),
            }
        }
    }

    /// Frees a block of the image, or a large one of a user.
    ///
    /// # Safety
    /// As for [`Heap::free`].
    #[inline(never)]
    unsafe fn free_other(&self, block: NonNull<u8>) {
        let address = block.as_ptr() as usize;
        if is_in_image(address) {
            if !self.is_frozen.get() {
                // SAFETY: a block of the image starts after its class.
                let class = unsafe { (address as *const u64).sub(1).read() } as usize;
                let next = self.free[class].replace(address);
                // SAFETY: the block is free and large enough for an address.
                unsafe { (address as *mut usize).write(next) };
            }
            // Do not reuse the block: other users still see its content.
            return;
        }
        // Memory of a user that has ended is freed as a whole.
        // SAFETY: per the contract above, the running user allocated the block.
        unsafe {
            if let Some(user) = self.user.get().as_ref() {
                user.free_large(block);
            }
        }
    }

    /// # Safety
    /// As for [`Heap::free`].
    unsafe fn resize(&self, block: NonNull<u8>, size: usize) -> Option<NonNull<u8>> {
        let address = block.as_ptr() as usize;
        // SAFETY: per the contract above. The block is copied before it is freed.
        unsafe {
            let is_large = !is_in_image(address) && !is_small_block(address);
            if is_large && !OwnMemory::is_small(size) {
                return self.user.get().as_ref()?.resize_large(block, size);
            }
            let before = size_of_block(block);
            let is_wasteful = is_small_block(address) && size * 2 < before;
            if size <= before && !is_large && !is_wasteful {
                return Some(block);
            }
            let moved = self.allocate(size)?;
            let kept = before.min(size);
            std::ptr::copy_nonoverlapping(block.as_ptr(), moved.as_ptr(), kept);
            self.free(block);
            Some(moved)
        }
    }
}

/// # Safety
/// `block` must be a block of a heap.
#[inline(always)]
unsafe fn size_of_block(block: NonNull<u8>) -> usize {
    let address = block.as_ptr() as usize;
    // SAFETY: the address shows which kind of block it is.
    unsafe {
        if is_small_block(address) {
            own::small_block_size(block)
        } else if is_in_image(address) {
            class_size((address as *const u64).sub(1).read() as usize)
        } else {
            own::large_block_size(block)
        }
    }
}

fn pointer(block: Option<NonNull<u8>>) -> *mut c_void {
    block.map_or(null_mut(), |block| block.as_ptr().cast())
}

// The engine passes these functions the heap that the runtime was created with, and blocks that it got from that heap.

unsafe extern "C" fn malloc(heap: *mut c_void, size: sys::size_t) -> *mut c_void {
    // SAFETY: this is the heap of the runtime, which outlives the call.
    pointer(unsafe { &*heap.cast::<Heap>() }.allocate(size as usize))
}

unsafe extern "C" fn calloc(
    heap: *mut c_void,
    count: sys::size_t,
    size: sys::size_t,
) -> *mut c_void {
    // The engine has checked that the product does not overflow.
    let size = (count as usize).wrapping_mul(size as usize);
    // SAFETY: this is the heap of the runtime, which outlives the call.
    pointer(unsafe { &*heap.cast::<Heap>() }.allocate_zeroed(size))
}

unsafe extern "C" fn free(heap: *mut c_void, block: *mut c_void) {
    if let Some(block) = NonNull::new(block.cast()) {
        // SAFETY: this is the heap of the runtime, and the block came from it.
        unsafe { (*heap.cast::<Heap>()).free(block) };
    }
}

unsafe extern "C" fn realloc(
    heap: *mut c_void,
    block: *mut c_void,
    size: sys::size_t,
) -> *mut c_void {
    // SAFETY: this is the heap of the runtime, which outlives the call.
    let heap = unsafe { &*heap.cast::<Heap>() };
    match NonNull::new(block.cast()) {
        None => pointer(heap.allocate(size as usize)),
        // SAFETY: the block came from this heap.
        Some(block) => pointer(unsafe { heap.resize(block, size as usize) }),
    }
}

unsafe extern "C" fn usable_size(block: *const c_void) -> sys::size_t {
    match NonNull::new(block.cast_mut().cast()) {
        None => 0,
        // SAFETY: the block came from a heap.
        Some(block) => unsafe { size_of_block(block) as sys::size_t },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_they_are_for() {
        for size in (1..5000).chain((0..2000).map(|step| 1_000_003 * (step + 1))) {
            let class = class_of(size);
            assert!(class_size(class) >= size, "{size}");
            assert!(class == 0 || class_size(class - 1) < size, "{size}");
        }
        assert!(class_of(1 << 31) < CLASSES);
    }
}
