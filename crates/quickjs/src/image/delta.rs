//! The changes that one user made to an image, saved while another user runs.

use super::pages::Pages;
use super::space::PAGE;

/// The unit of comparison: a cache line.
pub(super) type Line = [u64; 8];
/// The number of unused lines that a delta may keep.
const SPARE: usize = 4;

/// The contents of the changed lines, in the order of [`Pages::page`].
#[derive(Default)]
pub struct Delta {
    /// For each changed page: its index, and one bit per changed line.
    pages: Vec<(u32, u64)>,
    lines: Vec<Line>,
}

/// The bits of the lines in which two pages differ.
///
/// # Safety
/// Both must point to whole pages.
#[inline]
unsafe fn difference(one: *const u8, other: *const u8) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: per the contract above; the processor has the instructions.
        return unsafe { difference_by_avx2(one, other) };
    }
    // SAFETY: per the contract above.
    unsafe { compare(one, other) }
}

/// # Safety
/// As for [`difference`]. The processor must also support AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn difference_by_avx2(one: *const u8, other: *const u8) -> u64 {
    use std::arch::x86_64::{
        __m256i, _mm256_loadu_si256, _mm256_or_si256, _mm256_setzero_si256, _mm256_testz_si256,
        _mm256_xor_si256,
    };
    /// Most pages differ in a few lines, so several lines are tested at once.
    const GROUP: usize = 4;
    const VECTORS: usize = size_of::<Line>() / size_of::<__m256i>();

    let (one, other) = (one.cast::<__m256i>(), other.cast::<__m256i>());
    let mut lines = 0;
    // No closures: the compiler would not use AVX2 in a function that calls them.
    let mut first = 0;
    while first < PAGE / size_of::<Line>() {
        let mut differ = [_mm256_setzero_si256(); GROUP];
        let mut line = 0;
        while line < GROUP {
            let place = (first + line) * VECTORS;
            // SAFETY: the two vectors of one line of each page.
            unsafe {
                let start = _mm256_xor_si256(
                    _mm256_loadu_si256(one.add(place)),
                    _mm256_loadu_si256(other.add(place)),
                );
                let end = _mm256_xor_si256(
                    _mm256_loadu_si256(one.add(place + 1)),
                    _mm256_loadu_si256(other.add(place + 1)),
                );
                differ[line] = _mm256_or_si256(start, end);
            }
            line += 1;
        }
        let any = _mm256_or_si256(
            _mm256_or_si256(differ[0], differ[1]),
            _mm256_or_si256(differ[2], differ[3]),
        );
        if _mm256_testz_si256(any, any) == 0 {
            line = 0;
            while line < GROUP {
                let differs = _mm256_testz_si256(differ[line], differ[line]) == 0;
                lines |= u64::from(differs) << (first + line);
                line += 1;
            }
        }
        first += GROUP;
    }
    lines
}

/// # Safety
/// As for [`difference`].
#[inline(always)]
unsafe fn compare(one: *const u8, other: *const u8) -> u64 {
    let (one, other) = (one.cast::<Line>(), other.cast::<Line>());
    let mut lines = 0;
    for line in 0..PAGE / size_of::<Line>() {
        // SAFETY: per the contract above.
        let (one, other) = unsafe { (one.add(line).read(), other.add(line).read()) };
        let differ = (0..8).fold(0, |differ, word| differ | (one[word] ^ other[word]));
        lines |= u64::from(differ != 0) << line;
    }
    lines
}

/// The positions of the bits of `lines`.
fn positions(mut lines: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = lines.trailing_zeros();
        lines &= lines.checked_sub(1)?;
        Some(first as usize)
    })
}

impl Delta {
    /// Records what the running user has changed.
    pub fn save(&mut self, pages: &Pages) {
        self.pages.clear();
        self.lines.clear();
        for place in 0..pages.written() {
            let (page, before) = pages.page(place);
            // SAFETY: both are pages, and nobody changes them meanwhile.
            unsafe {
                let changed = difference(page, before);
                if changed != 0 {
                    self.pages.push((place as u32, changed));
                    let page = page.cast::<Line>();
                    self.lines.reserve(changed.count_ones() as usize);
                    for line in positions(changed) {
                        self.lines.push(page.add(line).read());
                    }
                }
            }
        }
        // A few unused lines save an allocation in the turns that need them.
        if self.lines.capacity() > 2 * self.lines.len() + SPARE {
            self.lines.shrink_to_fit();
        }
        if self.pages.capacity() > 2 * self.pages.len() + SPARE {
            self.pages.shrink_to_fit();
        }
    }

    /// Undoes these changes in the image, except in the lines that `next` will overwrite.
    pub fn undo(&self, pages: &Pages, next: &Delta) {
        let mut others = next.pages.iter().copied().peekable();
        for &(place, mut changed) in &self.pages {
            while others.next_if(|(other, _)| *other < place).is_some() {}
            if let Some(&(other, lines)) = others.peek()
                && other == place
            {
                changed &= !lines;
            }
            let (page, before) = pages.page(place as usize);
            let (page, before) = (page.cast::<Line>(), before.cast::<Line>());
            for line in positions(changed) {
                // SAFETY: a line of the page.
                unsafe { page.add(line).write(before.add(line).read()) };
            }
        }
    }

    /// Applies these changes to the image.
    pub fn apply(&self, pages: &Pages) {
        let mut lines = self.lines.iter();
        for &(place, changed) in &self.pages {
            let (page, _) = pages.page(place as usize);
            let page = page.cast::<Line>();
            for (position, line) in positions(changed).zip(&mut lines) {
                // SAFETY: a line of the page.
                unsafe { page.add(position).write(*line) };
            }
        }
    }

    /// The memory that the changes occupy, in bytes.
    pub fn size(&self) -> usize {
        self.lines.capacity() * size_of::<Line>() + self.pages.capacity() * size_of::<(u32, u64)>()
    }

    /// The number of changed lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }
}
