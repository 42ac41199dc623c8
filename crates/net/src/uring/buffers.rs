#![allow(unsafe_code)]
//! Memory that the kernel fills: the one place where it is mapped, registered
//! and read.

use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// How many buffers there are, a power of two, and how long each is. All users
/// of a worker share them, and each is held only until its bytes are read.
const COUNT: u16 = 1024;
const LENGTH: usize = 8 * 1024;
/// The one group of buffers.
pub(super) const GROUP: u16 = 0;

/// Buffers provided to the kernel: `io_uring_register_buf_ring(3)`.
#[derive(Debug)]
pub(super) struct Buffers {
    entries: NonNull<BufRingEntry>,
    data: NonNull<u8>,
    tail: u16,
}

/// A filled buffer, to be given back when read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    id: u16,
    start: u32,
    end: u32,
}

impl Buffers {
    /// Maps the memory and registers it with the ring.
    pub(super) fn new(ring: &IoUring) -> io::Result<Self> {
        let entries = map(usize::from(COUNT) * size_of::<BufRingEntry>())?.cast::<BufRingEntry>();
        let data = map(usize::from(COUNT) * LENGTH)?;
        let mut buffers = Buffers {
            entries,
            data,
            tail: 0,
        };
        // SAFETY: the mapping is page-aligned, holds COUNT entries, and is
        // unmapped only in `Drop`, which runs after the ring was closed.
        unsafe {
            ring.submitter().register_buf_ring_with_flags(
                entries.as_ptr() as u64,
                COUNT,
                GROUP,
                0,
            )?;
        }
        for id in 0..COUNT {
            buffers.provide(id);
        }
        Ok(buffers)
    }

    /// Takes note of a completion that filled buffer `id` with `length` bytes.
    pub(super) fn filled(&self, id: u16, length: usize) -> Filled {
        Filled {
            id,
            start: 0,
            end: length.min(LENGTH) as u32,
        }
    }

    /// Copies from a filled buffer into `out`; gives the buffer back and says
    /// so when it is empty. Returns how many bytes were copied.
    pub(super) fn read(&mut self, filled: &mut Filled, out: &mut [u8]) -> (usize, bool) {
        let length = out.len().min((filled.end - filled.start) as usize);
        let offset = usize::from(filled.id % COUNT) * LENGTH + filled.start as usize;
        // SAFETY: `id` is below COUNT and `start + length` at most LENGTH, so
        // the bytes lie within the mapping; the kernel has handed this buffer
        // over and does not write to it until it is provided again.
        let bytes = unsafe { std::slice::from_raw_parts(self.data.as_ptr().add(offset), length) };
        if let Some(room) = out.get_mut(..length) {
            room.copy_from_slice(bytes);
        }
        filled.start += length as u32;
        let empty = filled.start == filled.end;
        if empty {
            self.provide(filled.id);
        }
        (length, empty)
    }

    /// Gives a filled buffer back unread.
    pub(super) fn discard(&mut self, filled: Filled) {
        self.provide(filled.id);
    }

    fn provide(&mut self, id: u16) {
        let at = usize::from(self.tail % COUNT);
        let address = self.data.as_ptr() as u64 + u64::from(id) * LENGTH as u64;
        // SAFETY: `at` is below COUNT, so the entry lies within the mapping; the
        // kernel reads it only after the tail has moved past it. The tail is a
        // field of the first entry, written atomically as the kernel reads it.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(at);
            entry.set_addr(address);
            entry.set_len(LENGTH as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast::<AtomicU16>();
            (*tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: both were mapped with these lengths in `new`, and the ring
        // that knew them is closed.
        unsafe {
            libc::munmap(
                self.entries.as_ptr().cast(),
                usize::from(COUNT) * size_of::<BufRingEntry>(),
            );
            libc::munmap(self.data.as_ptr().cast(), usize::from(COUNT) * LENGTH);
        }
    }
}

/// Zeroed memory at a page's start; pages exist from their first use.
fn map(length: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: an anonymous private mapping touches nothing that exists.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}
