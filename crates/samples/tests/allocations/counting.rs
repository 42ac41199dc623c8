//! An allocator that counts, to see that recording does not allocate.
//!
//! Unsafe, as every allocator is; it does nothing but count and pass on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
}

pub struct Counting;

/// How often this thread has asked for memory.
pub fn count() -> u64 {
    COUNT.get()
}

/// Bytes this thread has asked for and not given back.
pub fn live() -> i64 {
    LIVE.get()
}

fn note(bytes: i64) {
    // A thread's end may free after its counters are gone.
    let _ = LIVE.try_with(|live| live.set(live.get() + bytes));
    if bytes > 0 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
    }
}

// SAFETY: every call goes to the system allocator unchanged; counting touches
// thread-local cells only and allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}
