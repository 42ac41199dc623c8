//! Lets host functions that compute for a long time yield to other work, and stops them when the script has to end.
//!
//! The engine polls for interrupts in the loops of scripts and of its own functions, but not in host functions. Long
//! loops in host functions call [`give_way`] instead. It suspends the script's stack with all Rust frames on it, so
//! functions that know nothing about scripts can call it, too.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use crate::runtime::Inner;

/// The amount of work between two clock readings. A reading costs as much as a few hundred bytes of work.
const STEP: usize = 16 * 1024;

thread_local! {
    /// The runtime whose script this thread is running.
    static RUNNING: Cell<Option<NonNull<Inner>>> = const { Cell::new(None) };
    /// The number of nested host functions on this script's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The amount of work left before the next clock reading.
    static LEFT: Cell<usize> = const { Cell::new(STEP) };
    #[cfg(test)]
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Counts `work`: a number of bytes, or of steps with the same cost. Occasionally lets the worker's other users and
/// timers run. Does nothing on a thread that runs no script.
///
/// If the script has to end, this unwinds the stack to the caller of the host function, which then ends the script.
/// Outside of host functions it just returns. The caller must not hold a lock that another user waits for.
#[inline]
pub fn give_way(work: usize) {
    let left = LEFT.get();
    if work < left {
        LEFT.set(left - work);
    } else {
        look();
    }
}

#[cold]
fn look() {
    LEFT.set(STEP);
    #[cfg(test)]
    LOOKS.set(LOOKS.get() + 1);
    let Some(running) = running() else { return };
    // SAFETY: as in `give_way_in_drop`.
    if unsafe { running.as_ref() }.on_interrupt() && DEPTH.get() > 0 {
        // This does not run the panic hook, because it is not an error.
        std::panic::resume_unwind(Box::new(Interrupted));
    }
}

/// Like [`give_way`], for values that are being dropped. The engine may be dropping them, and it cannot be stopped
/// halfway.
pub fn give_way_in_drop(work: usize) {
    let left = LEFT.get();
    if work < left {
        LEFT.set(left - work);
        return;
    }
    LEFT.set(STEP);
    if let Some(running) = running() {
        // SAFETY: the fiber that runs on this thread keeps the runtime alive, and this is its stack.
        unsafe { running.as_ref() }.pause_if_due();
    }
}

/// Keeps `value` if this stack is being unwound because the script has to end, and leaves the default value in its
/// place. The runtime drops the value when it runs its next script or is freed.
///
/// For values that take long to drop. A stack that is being unwound cannot be suspended, so the worker's other users
/// would wait.
pub fn drop_later<T: Default + 'static>(value: &mut T) -> bool {
    let running = RUNNING.get().filter(|_| std::thread::panicking());
    if let Some(running) = running {
        // SAFETY: as in `give_way_in_drop`.
        unsafe { running.as_ref() }.keep_left_over(Box::new(std::mem::take(value)));
    }
    running.is_some()
}

fn running() -> Option<NonNull<Inner>> {
    // A stack that is being unwound can be neither suspended nor unwound again.
    RUNNING.get().filter(|_| !std::thread::panicking())
}

/// The panic payload that unwinds a host function whose script has to end.
pub(super) struct Interrupted;

/// Runs a host function.
#[inline]
pub(super) fn in_host_function<R>(body: impl FnOnce() -> R) -> std::thread::Result<R> {
    DEPTH.set(DEPTH.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(body));
    DEPTH.set(DEPTH.get() - 1);
    result
}

/// Marks a runtime as the one whose script runs on this thread. Dropping it removes the mark.
pub(super) struct Running<'a> {
    inner: &'a Inner,
    before: (Option<NonNull<Inner>>, u32),
}

impl Running<'_> {
    pub(super) fn mark(inner: &Inner) -> Running<'_> {
        let running = RUNNING.replace(Some(NonNull::from(inner)));
        let depth = DEPTH.replace(inner.host_depth.get());
        Running {
            inner,
            before: (running, depth),
        }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let (running, depth) = self.before;
        RUNNING.set(running);
        self.inner.host_depth.set(DEPTH.replace(depth));
    }
}

/// Yields in a loop whose steps are too short to count each of them.
pub struct Progress {
    next: usize,
}

impl Progress {
    const PIECE: usize = 4096;

    /// For a loop that starts at the byte with this index.
    pub fn from(place: usize) -> Progress {
        Progress {
            next: place + Progress::PIECE,
        }
    }

    /// Reports that the loop has reached the byte with this index.
    #[inline]
    pub fn reach(&mut self, place: usize) {
        if place >= self.next {
            self.next = place + Progress::PIECE;
            give_way(Progress::PIECE);
        }
    }
}

/// Splits bytes into pieces and yields after each.
pub fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(STEP).inspect(|piece| give_way(piece.len()))
}

/// A copy of `bytes` with capacity for `spare` more bytes. It is made in pieces, because the first use of large memory
/// takes as long as the copy.
#[inline]
pub fn copy_in_pieces(bytes: &[u8], spare: usize) -> Vec<u8> {
    let mut copy = Vec::with_capacity(bytes.len() + spare);
    if bytes.len() <= STEP {
        copy.extend_from_slice(bytes);
    } else {
        extend_in_pieces(&mut copy, bytes);
    }
    copy
}

/// Appends `bytes`, yielding occasionally.
pub fn extend_in_pieces(to: &mut Vec<u8>, bytes: &[u8]) {
    for piece in pieces(bytes) {
        to.extend_from_slice(piece);
    }
}

/// Reserves capacity for `more` items. A large vector is moved in pieces. If the script has to end meanwhile, the
/// vector is left empty.
#[inline]
pub fn reserve_in_pieces<T>(items: &mut Vec<T>, more: usize) {
    if items.capacity() - items.len() < more && size_of_val(items.as_slice()) > STEP {
        grow_in_pieces(items, more);
    }
}

#[cold]
fn grow_in_pieces<T>(items: &mut Vec<T>, more: usize) {
    let mut grown = Vec::with_capacity((items.len() + more).max(2 * items.len()));
    let piece = (STEP / size_of::<T>().max(1)).max(1);
    let mut rest = std::mem::take(items).into_iter();
    while rest.len() > 0 {
        give_way(STEP);
        grown.extend(rest.by_ref().take(piece));
    }
    *items = grown;
}

/// Like [`reserve_in_pieces`], for a string and a number of bytes.
#[inline]
pub fn reserve_text_in_pieces(text: &mut String, more: usize) {
    if text.capacity() - text.len() < more && text.len() > STEP {
        let mut bytes = std::mem::take(text).into_bytes();
        grow_in_pieces(&mut bytes, more);
        // SAFETY: these are the bytes of a string, and moving does not change them.
        *text = unsafe { String::from_utf8_unchecked(bytes) };
    }
}

/// Like [`Iterator::collect`], yielding while the collection is moved.
pub fn collect_in_pieces<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut collected = Vec::new();
    for item in items {
        reserve_in_pieces(&mut collected, 1);
        collected.push(item);
    }
    collected
}

/// Like [`std::str::from_utf8`], yielding occasionally.
#[inline]
pub fn utf8_in_pieces(bytes: &[u8]) -> Option<&str> {
    if bytes.len() <= STEP {
        return std::str::from_utf8(bytes).ok();
    }
    long_utf8_in_pieces(bytes)
}

fn long_utf8_in_pieces(bytes: &[u8]) -> Option<&str> {
    let mut rest = bytes;
    while rest.len() > STEP {
        give_way(STEP);
        let (piece, after) = rest.split_at(STEP);
        match std::str::from_utf8(piece) {
            Ok(_) => rest = after,
            // The piece ends within a character. The next piece starts with that character.
            Err(error) if error.error_len().is_none() => rest = rest.get(error.valid_up_to()..)?,
            Err(_) => return None,
        }
    }
    std::str::from_utf8(rest).ok()?;
    // SAFETY: all pieces are valid, and each starts at the end of the previous one's valid part.
    Some(unsafe { std::str::from_utf8_unchecked(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_collections_grow_in_pieces() {
        let looks = LOOKS.get();
        let numbers = collect_in_pieces(0..1_000_000_u64);
        assert!(numbers.iter().copied().eq(0..1_000_000));
        // Each item has eight bytes, and at least half of them have been moved.
        let looked = LOOKS.get() - looks;
        assert!(looked >= 4_000_000 / STEP, "{looked} looks");

        let looks = LOOKS.get();
        let mut text = String::new();
        for _ in 0..1_000_000 {
            reserve_text_in_pieces(&mut text, 6);
            text.push_str("aé…");
        }
        assert_eq!(text, "aé…".repeat(1_000_000));
        let looked = LOOKS.get() - looks;
        assert!(looked >= 3_000_000 / STEP, "{looked} looks");
    }

    #[test]
    fn text_is_validated_across_pieces() {
        for character in ["é", "…", "😀"] {
            for shift in 0..4 {
                let text = "a".repeat(STEP - shift) + &character.repeat(STEP);
                assert_eq!(utf8_in_pieces(text.as_bytes()), Some(text.as_str()));
                let cut = &text.as_bytes()[..text.len() - 1];
                assert_eq!(utf8_in_pieces(cut), None);
                let mut wrong = text.into_bytes();
                wrong[STEP + 10] = 0xff;
                assert_eq!(utf8_in_pieces(&wrong), None);
                assert_eq!(copy_in_pieces(&wrong, 3), wrong);
            }
        }
    }
}
