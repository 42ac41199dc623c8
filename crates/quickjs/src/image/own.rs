//! The memory of objects that one user creates after the image was frozen. All its blocks are freed together with the
//! user.
//!
//! Small blocks of the same size share a run of 512 bytes. The users of a thread take runs from a common pool and
//! return empty runs to it. Larger blocks come from the program's allocator.

use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use super::space::Area;

/// The size and the alignment of a run.
const RUN: usize = 512;
/// The sizes of small blocks are multiples of this.
const STEP: usize = 16;
const CLASSES: usize = 10;
/// The largest small block.
const LARGEST: usize = STEP * CLASSES;

/// The header of each run.
struct Run {
    /// The numbers of the neighbors in the user's list; 0 means none. Runs with free blocks come first.
    previous: u32,
    next: u32,
    /// The offset of the first free block; 0 means none. A free block begins with the offset of the next one.
    free: u16,
    /// The number of blocks in use.
    used: u16,
    class: u32,
}

const HEADER: usize = size_of::<Run>();

/// A thread's pool of runs.
pub struct Runs {
    area: Area,
    /// The first free run. It begins with the number of the next one.
    free: Cell<u32>,
}

impl Runs {
    /// `area` must be unused.
    pub fn new(area: Area) -> Self {
        // The number 0 means "none", so no run has it.
        area.take(RUN);
        Runs {
            area,
            free: Cell::new(0),
        }
    }

    #[inline(always)]
    fn run(&self, number: u32) -> *mut Run {
        (self.area.base() + number as usize * RUN) as *mut Run
    }

    fn number(&self, run: *mut Run) -> u32 {
        ((run as usize - self.area.base()) / RUN) as u32
    }

    /// Takes a run whose blocks are all free.
    fn take(&self, class: usize) -> Option<u32> {
        let number = match self.free.get() {
            0 => ((self.area.take(RUN)? - self.area.base()) / RUN) as u32,
            free => {
                // SAFETY: a free run begins with the number of the next one.
                self.free
                    .set(unsafe { self.run(free).cast::<u32>().read() });
                free
            }
        };
        let run = self.run(number);
        let size = (class + 1) * STEP;
        let count = (RUN - HEADER) / size;
        // SAFETY: the run is free, so nobody else uses its memory.
        unsafe {
            run.write(Run {
                previous: 0,
                next: 0,
                free: HEADER as u16,
                used: 0,
                class: class as u32,
            });
            for index in 0..count {
                let place = HEADER + index * size;
                let next = if index + 1 < count { place + size } else { 0 };
                run.byte_add(place).cast::<u16>().write(next as u16);
            }
        }
        Some(number)
    }

    fn give_back(&self, number: u32) {
        // SAFETY: no block of the run is in use.
        unsafe { self.run(number).cast::<u32>().write(self.free.get()) };
        self.free.set(number);
    }
}

/// The header of a large block.
struct Large {
    previous: *mut Large,
    next: *mut Large,
}

const LARGE_HEADER: usize = size_of::<Large>();

/// The blocks of one user.
pub struct OwnMemory {
    first: [Cell<u32>; CLASSES],
    last: [Cell<u32>; CLASSES],
    large: Cell<*mut Large>,
}

impl Default for OwnMemory {
    fn default() -> Self {
        OwnMemory {
            first: Default::default(),
            last: Default::default(),
            large: Cell::new(null_mut()),
        }
    }
}

/// The number of usable bytes of a small block.
///
/// # Safety
/// `block` must be a small block in use.
#[inline(always)]
pub unsafe fn small_block_size(block: NonNull<u8>) -> usize {
    // SAFETY: per the contract above, a run surrounds it.
    let class = unsafe { (*run_of(block)).class };
    (class as usize + 1) * STEP
}

/// The number of usable bytes of a large block.
///
/// # Safety
/// `block` must be such a block in use.
pub unsafe fn large_block_size(block: NonNull<u8>) -> usize {
    // SAFETY: per the contract above.
    unsafe { usable_size(block.as_ptr().sub(LARGE_HEADER).cast()) - LARGE_HEADER }
}

/// The usable bytes of a block of the program's allocator, which may be more than were requested.
///
/// # Safety
/// `block` must be such a block in use.
#[cfg(target_os = "linux")]
unsafe fn usable_size(block: *mut Large) -> usize {
    // SAFETY: per the contract above.
    unsafe { libc::malloc_usable_size(block.cast()) }
}

/// Images are not supported on other systems.
#[cfg(not(target_os = "linux"))]
unsafe fn usable_size(_: *mut Large) -> usize {
    LARGE_HEADER
}

#[inline(always)]
fn run_of(block: NonNull<u8>) -> *mut Run {
    let block = block.as_ptr();
    block.wrapping_sub(block as usize % RUN).cast()
}

impl OwnMemory {
    /// A block of at least `size` bytes.
    // The frequent case is short and calls nothing, so that it needs no frame.
    #[inline(always)]
    pub fn allocate(&self, runs: &Runs, size: usize) -> Option<NonNull<u8>> {
        if size > LARGEST {
            return self.allocate_large(size, false);
        }
        let class = size.saturating_sub(1) / STEP;
        let number = self.first[class].get();
        if number == 0 {
            return self.allocate_in_new_run(runs, class);
        }
        // SAFETY: the lists contain this user's runs, and nobody else changes their headers. A free block begins with
        // the offset of the next one.
        unsafe {
            let run = runs.run(number);
            let free = (*run).free;
            if free == 0 {
                return self.allocate_in_new_run(runs, class);
            }
            let block = run.cast::<u8>().add(usize::from(free));
            let next = block.cast::<u16>().read();
            (*run).free = next;
            (*run).used += 1;
            if next == 0 && (*run).next != 0 {
                self.move_last(runs, class, number);
            }
            Some(NonNull::new_unchecked(block))
        }
    }

    #[cold]
    #[inline(never)]
    fn allocate_in_new_run(&self, runs: &Runs, class: usize) -> Option<NonNull<u8>> {
        let number = runs.take(class)?;
        // SAFETY: as in `allocate`. The run is in no list yet, and has more than one free block.
        unsafe {
            self.link_first(runs, class, number);
            let run = runs.run(number);
            let block = run.cast::<u8>().add(usize::from((*run).free));
            (*run).free = block.cast::<u16>().read();
            (*run).used = 1;
            NonNull::new(block)
        }
    }

    /// Puts a run whose blocks are all in use behind those with free blocks.
    ///
    /// # Safety
    /// The run must be in the list of its class.
    #[cold]
    #[inline(never)]
    unsafe fn move_last(&self, runs: &Runs, class: usize, number: u32) {
        // SAFETY: per the contract above.
        unsafe {
            self.unlink(runs, class, number);
            self.link_last(runs, class, number);
        }
    }

    /// Like [`OwnMemory::allocate`], but the block is zeroed.
    pub fn allocate_zeroed(&self, runs: &Runs, size: usize) -> Option<NonNull<u8>> {
        if size > LARGEST {
            return self.allocate_large(size, true);
        }
        let block = self.allocate(runs, size)?;
        // SAFETY: the block has at least that size.
        unsafe { block.as_ptr().write_bytes(0, size) };
        Some(block)
    }

    #[inline(never)]
    fn allocate_large(&self, size: usize, zeroed: bool) -> Option<NonNull<u8>> {
        let size = size.checked_add(LARGE_HEADER)?;
        // SAFETY: a new block is linked into this user's list, and nobody else changes the blocks of that list.
        unsafe {
            let block = match zeroed {
                true => libc::calloc(1, size),
                false => libc::malloc(size),
            };
            let block = NonNull::new(block.cast::<Large>())?.as_ptr();
            let next = self.large.replace(block);
            block.write(Large {
                previous: null_mut(),
                next,
            });
            if !next.is_null() {
                (*next).previous = block;
            }
            NonNull::new(block.cast::<u8>().add(LARGE_HEADER))
        }
    }

    /// # Safety
    /// `block` must be a small block of this user.
    #[inline(always)]
    pub unsafe fn free_small(&self, runs: &Runs, block: NonNull<u8>) {
        let run = run_of(block);
        // SAFETY: per the contract above.
        unsafe {
            let next = (*run).free;
            block.cast::<u16>().write(next);
            (*run).free = (block.as_ptr() as usize % RUN) as u16;
            let used = (*run).used - 1;
            (*run).used = used;
            if used == 0 || next == 0 {
                self.move_after_free(runs, run, next == 0);
            }
        }
    }

    /// Returns an empty run, or puts one that was full before those without free blocks.
    ///
    /// # Safety
    /// The run must be in the list of its class.
    #[inline(never)]
    unsafe fn move_after_free(&self, runs: &Runs, run: *mut Run, was_full: bool) {
        // SAFETY: per the contract above.
        unsafe {
            let class = (*run).class as usize;
            let is_only = (*run).previous == 0 && (*run).next == 0;
            // The last empty run stays, for the next block of that size.
            if is_only {
                return;
            }
            let number = runs.number(run);
            if (*run).used == 0 {
                self.unlink(runs, class, number);
                runs.give_back(number);
            } else if was_full && (*run).previous != 0 {
                self.unlink(runs, class, number);
                self.link_first(runs, class, number);
            }
        }
    }

    /// # Safety
    /// `block` must be a large block of this user.
    pub unsafe fn free_large(&self, block: NonNull<u8>) {
        // SAFETY: per the contract above, the block is in the list.
        unsafe {
            let block = block.as_ptr().sub(LARGE_HEADER).cast::<Large>();
            let Large { previous, next } = block.read();
            self.relink(previous, next, next, previous);
            libc::free(block.cast());
        }
    }

    /// # Safety
    /// `block` must be a large block of this user, and `size` larger than that of a small block.
    pub unsafe fn resize_large(&self, block: NonNull<u8>, size: usize) -> Option<NonNull<u8>> {
        let size = size.checked_add(LARGE_HEADER)?;
        // SAFETY: per the contract above, the block is in the list. If it cannot be resized, it stays as it is.
        unsafe {
            let block = block.as_ptr().sub(LARGE_HEADER).cast::<Large>();
            let moved = NonNull::new(libc::realloc(block.cast(), size).cast::<Large>())?.as_ptr();
            let Large { previous, next } = moved.read();
            self.relink(previous, moved, next, moved);
            NonNull::new(moved.cast::<u8>().add(LARGE_HEADER))
        }
    }

    /// Whether a block of that size is small.
    pub fn is_small(size: usize) -> bool {
        size <= LARGEST
    }

    /// Makes `after` the successor of `previous`, and `before` the predecessor of `next`.
    unsafe fn relink(
        &self,
        previous: *mut Large,
        after: *mut Large,
        next: *mut Large,
        before: *mut Large,
    ) {
        // SAFETY: both are in the list, or null at its ends.
        unsafe {
            match previous.is_null() {
                true => self.large.set(after),
                false => (*previous).next = after,
            }
            if !next.is_null() {
                (*next).previous = before;
            }
        }
    }

    unsafe fn link_first(&self, runs: &Runs, class: usize, number: u32) {
        let next = self.first[class].replace(number);
        // SAFETY: the run is in no list; its neighbours are in this one.
        unsafe {
            let run = runs.run(number);
            (*run).previous = 0;
            (*run).next = next;
            match next {
                0 => self.last[class].set(number),
                next => (*runs.run(next)).previous = number,
            }
        }
    }

    unsafe fn link_last(&self, runs: &Runs, class: usize, number: u32) {
        let previous = self.last[class].replace(number);
        // SAFETY: as in `link_first`.
        unsafe {
            let run = runs.run(number);
            (*run).previous = previous;
            (*run).next = 0;
            match previous {
                0 => self.first[class].set(number),
                previous => (*runs.run(previous)).next = number,
            }
        }
    }

    unsafe fn unlink(&self, runs: &Runs, class: usize, number: u32) {
        // SAFETY: the run is in the list of its class.
        unsafe {
            let Run { previous, next, .. } = *runs.run(number);
            match previous {
                0 => self.first[class].set(next),
                previous => (*runs.run(previous)).next = next,
            }
            match next {
                0 => self.last[class].set(previous),
                next => (*runs.run(next)).previous = previous,
            }
        }
    }

    /// The bytes that the user holds, in runs and in large blocks.
    pub fn size(&self, runs: &Runs) -> usize {
        let mut size = 0;
        // SAFETY: the lists contain this user's runs and blocks.
        unsafe {
            for first in &self.first {
                let mut number = first.get();
                while number != 0 {
                    size += RUN;
                    number = (*runs.run(number)).next;
                }
            }
            let mut block = self.large.get();
            while !block.is_null() {
                size += usable_size(block);
                block = (*block).next;
            }
        }
        size
    }

    /// Frees all blocks.
    ///
    /// # Safety
    /// Nothing may use them afterwards.
    pub unsafe fn clear(&self, runs: &Runs) {
        // SAFETY: per the contract above.
        unsafe {
            for class in 0..CLASSES {
                let mut number = self.first[class].take();
                self.last[class].set(0);
                while number != 0 {
                    let next = (*runs.run(number)).next;
                    runs.give_back(number);
                    number = next;
                }
            }
            let mut block = self.large.replace(null_mut());
            while !block.is_null() {
                let next = (*block).next;
                libc::free(block.cast());
                block = next;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::space::Window;
    use super::*;

    /// Allocates and frees blocks of many sizes in a fixed random order. Each block keeps its own number throughout.
    #[test]
    fn blocks_keep_what_is_written_to_them() {
        // SAFETY (all uses): each block is from this memory, is used with its own size, and is freed once.
        let window = Window::take().unwrap();
        let runs = Runs::new(window.own());
        let memory = OwnMemory::default();
        let mut random = 12345_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        let mut blocks: Vec<(NonNull<u8>, usize, u8)> = Vec::new();
        for round in 0..200_000_u64 {
            let fill = (round % 251) as u8;
            if next(100) < 52 || blocks.is_empty() {
                let most = if next(20) == 0 { 3000 } else { 180 };
                let size = 1 + next(most) as usize;
                let block = memory.allocate(&runs, size).unwrap();
                // SAFETY: the block has at least this size.
                unsafe { block.as_ptr().write_bytes(fill, size) };
                blocks.push((block, size, fill));
            } else {
                let (block, size, fill) = blocks.swap_remove(next(blocks.len() as u64) as usize);
                // SAFETY: these bytes of the block were written.
                let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), size) };
                assert!(bytes.iter().all(|byte| *byte == fill));
                match OwnMemory::is_small(size) {
                    // SAFETY: the block came from this memory, and is freed once.
                    true => unsafe { memory.free_small(&runs, block) },
                    // SAFETY: as above.
                    false => unsafe { memory.free_large(block) },
                }
            }
        }
        let held = memory.size(&runs);
        let used: usize = blocks.iter().map(|(_, size, _)| size).sum();
        assert!(held < 2 * used, "{held} bytes for {used}");
        for (block, size, _) in blocks {
            match OwnMemory::is_small(size) {
                // SAFETY: the block came from this memory, and is freed once.
                true => unsafe { memory.free_small(&runs, block) },
                // SAFETY: as above.
                false => unsafe { memory.free_large(block) },
            }
        }
        // One empty run of each size stays.
        assert!(memory.size(&runs) <= CLASSES * RUN);
        // SAFETY: no block is used afterwards.
        unsafe { memory.clear(&runs) };
        assert_eq!(memory.size(&runs), 0);
        drop((memory, runs, window));
    }
}
