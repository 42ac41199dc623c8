//! Tracks which pages of an image have been written, and keeps their original contents.
//!
//! The image is write-protected. The first write to a page causes a fault. The fault handler copies the page and makes
//! it writable permanently. So a switch between users compares only the written pages and needs no system call.

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use super::space::{PAGE, WINDOWS, is_in_image, window_of};

/// The pages of one image.
pub struct Pages {
    base: usize,
    size: usize,
    /// The original contents of the written pages, each at its offset in the image.
    copies: *mut u8,
    /// The numbers of the written pages, in the order of their first write.
    written: *mut u32,
    count: AtomicUsize,
    window: usize,
    /// The offset of the page that is not tracked.
    hot: usize,
}

/// The pages of each window's image; the fault handler reads them.
static PAGES: [AtomicPtr<Pages>; WINDOWS] = [const { AtomicPtr::new(null_mut()) }; WINDOWS];

/// The handler that was installed before.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

fn map(size: usize) -> io::Result<*mut u8> {
    // SAFETY: maps new memory at any address.
    let mapped = unsafe {
        libc::mmap(
            null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    match mapped == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => Ok(mapped.cast()),
    }
}

impl Pages {
    /// Write-protects the `size` bytes at `base`: the pages of the image in the window with that number. The page at the
    /// address `hot` stays writable, and is not tracked.
    ///
    /// # Errors
    /// If a system call fails.
    pub fn protect(base: usize, size: usize, window: usize, hot: usize) -> io::Result<Box<Self>> {
        install_handler()?;
        let mut pages = Box::new(Pages {
            base,
            size,
            copies: null_mut(),
            written: null_mut(),
            count: AtomicUsize::new(0),
            window,
            hot: hot - base,
        });
        pages.copies = map(size)?;
        pages.written = map(size / PAGE * size_of::<u32>())?.cast();
        PAGES[window].store(&mut *pages, Ordering::Release);
        for (start, end) in [(base, hot), (hot + PAGE, base + size)] {
            // SAFETY: the pages belong to the image. A write to them causes a fault that the handler expects.
            if unsafe { libc::mprotect(start as *mut c_void, end - start, libc::PROT_READ) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(pages)
    }

    /// The size of the image in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of pages that were written.
    #[inline]
    pub fn written(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The written page at this position in the order of first writes, and its original content. `place` must be less
    /// than [`Pages::written`].
    #[inline]
    pub fn page(&self, place: usize) -> (*mut u8, *const u8) {
        debug_assert!(place < self.written());
        // SAFETY: the index is in bounds, and the list contains numbers of pages.
        unsafe {
            let offset = self.written.add(place).read() as usize * PAGE;
            ((self.base + offset) as *mut u8, self.copies.add(offset))
        }
    }

    /// Copies the page at `offset` and makes it writable. The fault handler calls this, so it must not allocate.
    fn on_write(&self, offset: usize) {
        let offset = offset - offset % PAGE;
        // SAFETY: the page is in the image, which is mapped.
        unsafe {
            self.keep(offset);
            let page = (self.base + offset) as *mut c_void;
            if libc::mprotect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE) == 0 {
                return;
            }
            // The process has too many mappings. Make the whole image writable, so that it is a single mapping.
            for other in (0..self.size).step_by(PAGE) {
                if !self.is_kept(other) {
                    self.keep(other);
                }
            }
            let image = self.base as *mut c_void;
            if libc::mprotect(image, self.size, libc::PROT_READ | libc::PROT_WRITE) != 0 {
                libc::abort();
            }
        }
    }

    unsafe fn keep(&self, offset: usize) {
        let count = self.count.load(Ordering::Relaxed);
        // SAFETY: each page is copied once, so both mappings have space for it.
        unsafe {
            let page = (self.base + offset) as *const u8;
            std::ptr::copy_nonoverlapping(page, self.copies.add(offset), PAGE);
            self.written.add(count).write((offset / PAGE) as u32);
        }
        self.count.store(count + 1, Ordering::Relaxed);
    }

    fn is_kept(&self, offset: usize) -> bool {
        let number = (offset / PAGE) as u32;
        // SAFETY: the list has a number at each index below the count.
        offset == self.hot
            || (0..self.written()).any(|place| unsafe { self.written.add(place).read() } == number)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        PAGES[self.window].store(null_mut(), Ordering::Release);
        // SAFETY: this object mapped both, and the handler no longer finds them.
        unsafe {
            if !self.copies.is_null() {
                libc::munmap(self.copies.cast(), self.size);
            }
            if !self.written.is_null() {
                libc::munmap(self.written.cast(), self.size / PAGE * size_of::<u32>());
            }
        }
    }
}

fn install_handler() -> io::Result<()> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // SAFETY: the handler passes on faults outside of images. It runs on the thread's signal stack if the thread
        // has one.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            let mut before: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_fault as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigemptyset(&mut ours.sa_mask);
            if libc::sigaction(libc::SIGSEGV, null_mut(), &mut before) == 0
                && BEFORE.set(before).is_ok()
            {
                libc::sigaction(libc::SIGSEGV, &ours, null_mut());
            }
        }
    });
    match BEFORE.get() {
        Some(_) => Ok(()),
        None => Err(io::Error::other("the handler for faults could not be set")),
    }
}

unsafe extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid description of the fault.
    let address = unsafe { (*info).si_addr() } as usize;
    if is_in_image(address) {
        let pages = PAGES[window_of(address)].load(Ordering::Acquire);
        // SAFETY: only its own thread writes to an image, and that thread also drops its pages.
        if let Some(pages) = unsafe { pages.as_ref() } {
            let offset = address - pages.base;
            if offset < pages.size {
                return pages.on_write(offset);
            }
        }
    }
    pass_on(signal, info, context);
}

/// Calls the previous handler. The default action ends the process when the instruction is repeated.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |before| before.sa_sigaction);
    // SAFETY: a handler has one of two signatures, and its flags tell which.
    unsafe {
        match handler {
            libc::SIG_DFL | libc::SIG_IGN => {
                libc::signal(signal, libc::SIG_DFL);
            }
            handler if before.is_some_and(|it| it.sa_flags & libc::SA_SIGINFO != 0) => {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(handler);
                handler(signal, info, context);
            }
            handler => {
                let handler: extern "C" fn(c_int) = std::mem::transmute(handler);
                handler(signal);
            }
        }
    }
}
