//! Counts of positive numbers in log-linear buckets.
//!
//! A bucket is identified by the top bits of the IEEE 754 representation: the exponent and the
//! first ten bits of the mantissa. Positive representations sort like their values, so the
//! identifier is monotonic and needs no logarithm. Every power of two is divided into 1024 equal
//! parts, so a bucket is never wider than 1/1024 of its lower edge. HdrHistogram calls this three
//! significant digits. Counts are stored in pages that each cover a quarter of a power of two and
//! are created on first use. This way, any number can be counted, and a narrow distribution stays
//! small.

/// No bucket is wider than this fraction of its lower edge.
pub const RELATIVE_WIDTH: f64 = 1.0 / (1 << MANTISSA_BITS) as f64;

const MANTISSA_BITS: u32 = 10;
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;
const PAGE_BITS: u32 = 8;
const PAGE: usize = 1 << PAGE_BITS;

type Page = Box<[u64; PAGE]>;

/// The count of each bucket of positive numbers. Zero, negative values and NaN cannot be counted
/// here. Infinity has a separate bucket.
#[derive(Clone, Debug, Default)]
pub struct Buckets {
    /// The page number of `pages[0]`. Meaningless while `pages` is empty.
    first: usize,
    /// Consecutive pages. `None` for a page without counts.
    pages: Vec<Option<Page>>,
    total: u64,
}

/// The number of the last bucket, which contains infinity.
pub(crate) const LAST: u32 = (f64::INFINITY.to_bits() >> SHIFT) as u32;

/// The memory that buckets with these numbers need. The numbers must ascend.
pub(crate) fn bytes_of(numbered: &[(u32, u64)]) -> usize {
    let page = |entry: &(u32, u64)| entry.0 as usize >> PAGE_BITS;
    let (Some(first), Some(last)) = (numbered.first(), numbered.last()) else {
        return 0;
    };
    let pages = 1 + numbered
        .windows(2)
        .filter(|pair| page(&pair[0]) != page(&pair[1]))
        .count();
    let places = page(last).saturating_sub(page(first)) + 1;
    places * size_of::<Option<Page>>() + pages * size_of::<[u64; PAGE]>()
}

/// The bucket of a positive number.
#[inline]
fn bucket_of(magnitude: f64) -> usize {
    (magnitude.to_bits() >> SHIFT) as usize
}

/// The lower edge of a bucket; with `bucket + 1`, its upper edge.
fn lower_edge(bucket: usize) -> f64 {
    f64::from_bits((bucket as u64) << SHIFT)
}

impl Buckets {
    /// Counts one value. `magnitude` must be greater than zero.
    #[inline]
    pub fn record(&mut self, magnitude: f64) {
        self.add(bucket_of(magnitude), 1);
    }

    #[inline]
    fn add(&mut self, bucket: usize, count: u64) {
        let number = bucket >> PAGE_BITS;
        let place = number.wrapping_sub(self.first);
        if let Some(Some(page)) = self.pages.get_mut(place) {
            page[bucket & (PAGE - 1)] += count;
            self.total += count;
        } else {
            self.add_to_new_page(bucket, count);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_to_new_page(&mut self, bucket: usize, count: u64) {
        self.page(bucket >> PAGE_BITS)[bucket & (PAGE - 1)] += count;
        self.total += count;
    }

    /// The page with this number, created if necessary.
    fn page(&mut self, number: usize) -> &mut [u64; PAGE] {
        if self.pages.is_empty() {
            self.first = number;
        }
        if number < self.first {
            let missing = self.first - number;
            self.pages
                .splice(0..0, std::iter::repeat_with(|| None).take(missing));
            self.first = number;
        }
        let place = number - self.first;
        if place >= self.pages.len() {
            self.pages.resize_with(place + 1, || None);
        }
        self.pages[place].get_or_insert_with(|| Box::new([0; PAGE]))
    }

    /// Counts `count` values in the bucket of `magnitude`, which must be greater than zero.
    pub(crate) fn record_times(&mut self, magnitude: f64, count: u64) {
        self.add(bucket_of(magnitude), count);
    }

    /// The numbers of the non-empty buckets with their counts, in ascending order.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let pages = self.pages.iter().enumerate();
        pages.flat_map(move |(place, page)| {
            let base = (self.first + place) << PAGE_BITS;
            let counts = page.iter().flat_map(|page| page.iter().enumerate());
            let counts = counts.filter(|(_, count)| **count > 0);
            counts.map(move |(offset, count)| ((base + offset) as u32, *count))
        })
    }

    /// Creates buckets from their numbers and counts. The numbers must ascend.
    pub(crate) fn from_numbered(numbered: &[(u32, u64)]) -> Buckets {
        let mut buckets = Buckets::default();
        if let (Some(first), Some(last)) = (numbered.first(), numbered.last()) {
            buckets.first = first.0 as usize >> PAGE_BITS;
            let places = (last.0 as usize >> PAGE_BITS) - buckets.first + 1;
            buckets.pages.reserve_exact(places);
        }
        for &(number, count) in numbered {
            buckets.add(number as usize, count);
        }
        buckets
    }

    /// The total count.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds all counts of `other`. The result is exact, because all histograms have the same bucket
    /// edges.
    pub fn merge(&mut self, other: &Buckets) {
        for (place, page) in other.pages.iter().enumerate() {
            let Some(theirs) = page else { continue };
            if theirs.iter().all(|&count| count == 0) {
                continue;
            }
            let ours = self.page(other.first + place);
            for (sum, count) in ours.iter_mut().zip(theirs.iter()) {
                *sum += count;
            }
        }
        self.total += other.total;
    }

    /// Resets the counts but keeps the pages, so that another second with a similar distribution
    /// allocates nothing.
    pub fn clear(&mut self) {
        if self.total == 0 {
            return;
        }
        for page in self.pages.iter_mut().flatten() {
            page.fill(0);
        }
        self.total = 0;
    }

    /// The lower edge, upper edge and count of each non-empty bucket, in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (f64, f64, u64)> + '_ {
        self.pages
            .iter()
            .enumerate()
            .flat_map(move |(place, page)| {
                let base = (self.first + place) << PAGE_BITS;
                page.iter().flat_map(move |counts| {
                    counts
                        .iter()
                        .enumerate()
                        .filter(|&(_, &count)| count > 0)
                        .map(move |(offset, &count)| {
                            let (lower, upper) = edges(base + offset);
                            (lower, upper, count)
                        })
                })
            })
    }

    /// The bucket of the value at `rank`, counted from 0 for the smallest value: its edges, its count, and the number of
    /// values below it. Whole pages are skipped by their sums, because a distribution has thousands of buckets.
    pub fn at_rank(&self, rank: u64) -> Option<((f64, f64), u64, u64)> {
        let mut below = 0;
        for (place, counts) in self.pages.iter().enumerate() {
            let Some(counts) = counts else { continue };
            let in_page: u64 = counts.iter().sum();
            if rank >= below + in_page {
                below += in_page;
                continue;
            }
            for (offset, &count) in counts.iter().enumerate() {
                if rank < below + count {
                    let bucket = ((self.first + place) << PAGE_BITS) + offset;
                    return Some((edges(bucket), count, below));
                }
                below += count;
            }
        }
        None
    }

    /// Number of bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Option<Page>>()
            + self.pages.iter().flatten().count() * size_of::<[u64; PAGE]>()
    }
}

/// The lower and the upper edge of a bucket.
fn edges(bucket: usize) -> (f64, f64) {
    let lower = lower_edge(bucket);
    // No bucket is above the one for infinity.
    let upper = if lower.is_finite() {
        lower_edge(bucket + 1).min(f64::MAX)
    } else {
        lower
    };
    (lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_value_and_is_narrow() {
        for magnitude in [5e-324, 1e-300, 1e-6, 0.001, 0.999, 1.0, 1.5, 1e9, f64::MAX] {
            let mut buckets = Buckets::default();
            buckets.record(magnitude);
            let (lower, upper, count) = buckets.iter().next().unwrap();
            assert_eq!(count, 1);
            assert!(lower <= magnitude && magnitude <= upper, "{magnitude}");
            if magnitude >= f64::MIN_POSITIVE {
                assert!(upper - lower <= lower * RELATIVE_WIDTH, "{magnitude}");
            }
        }
    }

    #[test]
    fn infinity_has_its_own_bucket() {
        let mut buckets = Buckets::default();
        buckets.record(f64::INFINITY);
        buckets.record(f64::MAX);
        let all: Vec<_> = buckets.iter().collect();
        assert_eq!(all.len(), 2);
        assert!(all[0].1 <= f64::MAX);
        assert_eq!(all[1], (f64::INFINITY, f64::INFINITY, 1));
    }

    #[test]
    fn pages_grow_downwards_too() {
        let mut buckets = Buckets::default();
        for magnitude in [1.0, 1e6, 1e-6, 1e-3] {
            buckets.record(magnitude);
        }
        let lows: Vec<f64> = buckets.iter().map(|(lower, _, _)| lower).collect();
        assert_eq!(lows.len(), 4);
        assert!(lows.is_sorted());
    }

    #[test]
    fn clearing_keeps_the_pages() {
        let mut buckets = Buckets::default();
        buckets.record(3.0);
        let held = buckets.heap_bytes();
        buckets.clear();
        assert_eq!(buckets.total(), 0);
        assert_eq!(buckets.iter().count(), 0);
        assert_eq!(buckets.heap_bytes(), held);
    }
}
