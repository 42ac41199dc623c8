//! An allocator that counts the allocations of each thread. The tests of `plimsoll-http` also use it.
//!
//! Implementing an allocator requires unsafe code; this one only counts and forwards.
#![allow(unsafe_code)]
#![allow(dead_code)] // No test uses all of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

pub struct Counting;

/// The number of allocations of this thread.
pub fn count() -> u64 {
    COUNT.get()
}

/// The number of bytes that this thread has allocated and not freed.
pub fn live() -> i64 {
    LIVE.get()
}

/// The maximum of that number since the previous call.
pub fn take_peak() -> i64 {
    PEAK.replace(LIVE.get())
}

fn note(bytes: i64) {
    // A thread may free memory after its counters are destroyed.
    let _ = LIVE.try_with(|live| {
        live.set(live.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(live.get())));
    });
    if bytes > 0 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call goes to the system allocator unchanged; counting only touches thread-local
// cells and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}
