//! The addresses of images and of their users' memory.
//!
//! Both are in fixed address ranges, so one comparison determines which range an address belongs to. Each image has a
//! window in both.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// The higher bits of an address, from this bit on, identify its range. They must agree with `JS_IMAGE_PREFIX` in the engine.
const SHIFT: u32 = 42;
const IMAGES: usize = 8 << SHIFT;
/// The start of the range of users' small blocks.
const OWN: usize = 9 << SHIFT;
/// The size of one window.
const WINDOW: usize = 1 << 34;
pub const WINDOWS: usize = 1 << 8;

pub const PAGE: usize = 4096;
/// The number of bytes to map at a time.
const STEP: usize = 256 * 1024;

/// Whether an address is in an image.
#[inline]
pub fn is_in_image(address: usize) -> bool {
    address >> SHIFT == IMAGES >> SHIFT
}

/// Whether an address is a small block of a user.
#[inline]
pub fn is_small_block(address: usize) -> bool {
    address >> SHIFT == OWN >> SHIFT
}

/// The window of an address in an image.
#[inline]
pub fn window_of(address: usize) -> usize {
    (address - IMAGES) / WINDOW
}

/// Maps memory at a fixed address, unless something else is mapped there.
#[cfg(target_os = "linux")]
const AT_ADDRESS: libc::c_int = libc::MAP_FIXED_NOREPLACE;
/// Images are not supported on other systems.
#[cfg(not(target_os = "linux"))]
const AT_ADDRESS: libc::c_int = 0;

/// Whether this system supports images: other systems report write faults in other ways.
fn is_possible() -> bool {
    // SAFETY: reads a constant.
    cfg!(target_os = "linux")
        && unsafe { libc::sysconf(libc::_SC_PAGESIZE) } == PAGE as libc::c_long
}

static TAKEN: Mutex<[bool; WINDOWS]> = Mutex::new([false; WINDOWS]);

/// A window that no other image has.
pub struct Window(usize);

impl Window {
    /// `None` if all windows are taken, or if the system does not support images.
    pub fn take() -> Option<Self> {
        if !is_possible() {
            return None;
        }
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let free = taken.iter().position(|taken| !taken)?;
        taken[free] = true;
        Some(Window(free))
    }

    pub fn number(&self) -> usize {
        self.0
    }

    /// The memory of the image.
    pub fn image(&self) -> Area {
        Area::new(IMAGES + self.0 * WINDOW)
    }

    /// The memory of its users.
    pub fn own(&self) -> Area {
        Area::new(OWN + self.0 * WINDOW)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)[self.0] = false;
    }
}

/// Contiguous memory that grows. Its window must outlive it.
pub struct Area {
    base: usize,
    top: Cell<usize>,
    end: Cell<usize>,
}

impl Area {
    fn new(base: usize) -> Self {
        Area {
            base,
            top: Cell::new(base),
            end: Cell::new(base),
        }
    }

    pub fn base(&self) -> usize {
        self.base
    }

    /// The bytes in use.
    pub fn size(&self) -> usize {
        self.top.get() - self.base
    }

    /// The next `size` bytes, which are zero. `None` if the system has no more memory, or none at this address.
    pub fn take(&self, size: usize) -> Option<usize> {
        let start = self.top.get();
        let top = start.checked_add(size)?;
        if top > self.end.get() {
            self.grow(top)?;
        }
        self.top.set(top);
        Some(start)
    }

    fn grow(&self, top: usize) -> Option<()> {
        let from = self.end.get();
        let size = (top - from).next_multiple_of(STEP);
        if from + size > self.base + WINDOW {
            return None;
        }
        // SAFETY: maps new memory at addresses where nothing is mapped yet.
        let mapped = unsafe {
            libc::mmap(
                from as *mut libc::c_void,
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | AT_ADDRESS,
                -1,
                0,
            )
        };
        if mapped == libc::MAP_FAILED {
            return None;
        }
        if mapped as usize != from {
            // Old kernels do not know the flag and map the memory elsewhere.
            // SAFETY: this function has just mapped it, and nobody uses it.
            unsafe { libc::munmap(mapped, size) };
            return None;
        }
        self.end.set(from + size);
        Some(())
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        let size = self.end.get() - self.base;
        if size > 0 {
            // SAFETY: this area mapped the memory, and the owner no longer uses it.
            unsafe { libc::munmap(self.base as *mut libc::c_void, size) };
        }
    }
}
