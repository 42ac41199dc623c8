//! An allocator that counts what each thread allocates. The tests of `plimsoll-http` use it too.
//!
//! Every allocator is unsafe; this one only counts and forwards.
#![allow(unsafe_code)]
#![allow(dead_code)] // Each test uses a part of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

pub struct Counting;

/// How often this thread has requested memory.
pub fn count() -> u64 {
    COUNT.get()
}

/// Bytes this thread has allocated and not freed.
pub fn live() -> i64 {
    LIVE.get()
}

/// The maximum of those bytes since the last call.
pub fn take_peak() -> i64 {
    PEAK.replace(LIVE.get())
}

fn note(bytes: i64) {
    // A thread may still free memory after its counters are gone.
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
