//! A distribution of any numbers. It is exact while it has few values, and has a bounded relative
//! error with more values.

use crate::buckets::Buckets;
use crate::on_paper;

/// Maximum number of values that a histogram keeps individually, with exact quantiles. One more
/// value moves all of them into buckets.
pub const EXACT_BOUND: usize = 1024;

/// The distribution of the recorded values. Count, sum, minimum and maximum are exact. Quantiles
/// are exact up to [`EXACT_BOUND`] values, and otherwise within
/// [`RELATIVE_WIDTH`](crate::RELATIVE_WIDTH) of the exact quantile.
///
/// Any magnitude and sign is accepted, and NaN is ignored. Memory use depends on the spread of the
/// values, but not on their number: 2 KiB for each quarter of a power of two that occurred.
#[derive(Clone, Debug)]
pub struct Histogram {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
    /// Every value, while `exact`. Empty afterwards.
    raw: Vec<f64>,
    exact: bool,
    zeros: u64,
    positive: Buckets,
    /// The magnitudes of negative values.
    negative: Buckets,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            raw: Vec::new(),
            exact: true,
            zeros: 0,
            positive: Buckets::default(),
            negative: Buckets::default(),
        }
    }
}

impl Histogram {
    /// An empty histogram. It allocates nothing until the first value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value. This takes a few nanoseconds, and does not allocate once every page that
    /// the distribution needs exists.
    #[inline]
    pub fn record(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if self.exact {
            self.keep(value);
        } else {
            self.bucket(value);
        }
    }

    /// Counts many values. This is faster than counting them individually, because the buckets of
    /// one histogram stay in the processor's cache.
    pub fn record_all(&mut self, values: &[f64]) {
        // Sum in four lanes, so that no addition has to wait for the previous one.
        let mut sums = [0.0; 4];
        let mut mins = [f64::INFINITY; 4];
        let mut maxs = [f64::NEG_INFINITY; 4];
        let mut take = |lane: usize, value: f64| {
            sums[lane] += value;
            mins[lane] = if value < mins[lane] {
                value
            } else {
                mins[lane]
            };
            maxs[lane] = if value > maxs[lane] {
                value
            } else {
                maxs[lane]
            };
        };
        let (chunks, rest) = values.as_chunks::<4>();
        for chunk in chunks {
            (0..4).for_each(|lane| take(lane, chunk[lane]));
        }
        rest.iter().for_each(|&value| take(0, value));
        let sum: f64 = sums.iter().sum();
        if sum.is_nan() {
            // There may be NaN, or infinities of both signs, so record the values individually.
            values.iter().for_each(|&value| self.record(value));
            return;
        }
        self.min = mins.into_iter().fold(self.min, f64::min);
        self.max = maxs.into_iter().fold(self.max, f64::max);
        self.sum += sum;
        self.count += values.len() as u64;
        if self.exact {
            if self.raw.len() + values.len() <= EXACT_BOUND {
                self.raw.extend_from_slice(values);
                return;
            }
            self.spill();
        }
        values.iter().for_each(|&value| self.bucket(value));
    }

    /// Counts the value 0 `times` times.
    pub fn record_zeros(&mut self, times: u64) {
        if times == 0 {
            return;
        }
        self.count += times;
        self.min = self.min.min(0.0);
        self.max = self.max.max(0.0);
        if self.exact {
            let total = self.raw.len() as u64 + times;
            if total <= EXACT_BOUND as u64 {
                self.raw.resize(total as usize, 0.0);
                return;
            }
            self.spill();
        }
        self.zeros += times;
    }

    fn keep(&mut self, value: f64) {
        if self.raw.len() < EXACT_BOUND {
            self.raw.push(value);
        } else {
            self.spill();
            self.bucket(value);
        }
    }

    #[inline]
    fn bucket(&mut self, value: f64) {
        if value > 0.0 {
            self.positive.record(value);
        } else if value < 0.0 {
            self.negative.record(-value);
        } else {
            self.zeros += 1;
        }
    }

    /// Moves the individual values into buckets. Their memory stays allocated, because
    /// [`Histogram::clear`] makes the histogram exact again.
    fn spill(&mut self) {
        self.exact = false;
        let raw = std::mem::take(&mut self.raw);
        for &value in &raw {
            self.bucket(value);
        }
        self.raw = raw;
        self.raw.clear();
    }

    /// Adds all values of `other`, as if each had been recorded here.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        if other.exact {
            if self.exact && self.raw.len() + other.raw.len() <= EXACT_BOUND {
                self.raw.extend_from_slice(&other.raw);
                return;
            }
            if self.exact {
                self.spill();
            }
            for &value in &other.raw {
                self.bucket(value);
            }
            return;
        }
        if self.exact {
            self.spill();
        }
        self.zeros += other.zeros;
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
    }

    /// Removes all values but keeps the memory.
    pub fn clear(&mut self) {
        self.count = 0;
        self.sum = 0.0;
        self.min = f64::INFINITY;
        self.max = f64::NEG_INFINITY;
        self.raw.clear();
        self.exact = true;
        self.zeros = 0;
        self.positive.clear();
        self.negative.clear();
    }

    /// The number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the histogram has no values.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether the histogram still has every individual value, so that quantiles are exact.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The individual values in the order of recording, while the histogram has them.
    pub fn raw(&self) -> Option<&[f64]> {
        self.exact.then_some(self.raw.as_slice())
    }

    /// The sum of the values.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// The arithmetic mean. 0 if empty, as in k6.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum / self.count as f64
        }
    }

    /// The smallest value, or 0 if empty.
    pub fn min(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.min }
    }

    /// The largest value, or 0 if empty.
    pub fn max(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.max }
    }

    /// The quantile `q` (0 to 1), interpolated linearly between the two ranks around q·(n − 1).
    /// This is the seventh definition of Hyndman and Fan (1996), which k6 uses as well. 0 if empty.
    pub fn quantile(&self, q: f64) -> f64 {
        self.quantiles(&[q]).first().copied().unwrap_or(0.0)
    }

    /// Several quantiles in the given order, with one pass over the buckets.
    pub fn quantiles(&self, qs: &[f64]) -> Vec<f64> {
        if self.count == 0 {
            return vec![0.0; qs.len()];
        }
        let places: Vec<f64> = qs
            .iter()
            .map(|&q| if q.is_nan() { 0.0 } else { q.clamp(0.0, 1.0) })
            .map(|q| q * (self.count - 1) as f64)
            .collect();
        let mut ranks: Vec<u64> = places
            .iter()
            .flat_map(|place| [place.floor() as u64, place.ceil() as u64])
            .collect();
        ranks.sort_unstable();
        ranks.dedup();
        let values = self.values_at(&ranks);
        let at = |rank: f64| {
            let index = ranks.binary_search(&(rank as u64)).ok();
            index
                .and_then(|index| values.get(index))
                .copied()
                .unwrap_or(self.max)
        };
        places
            .into_iter()
            .map(|place| {
                let (low, high) = (at(place.floor()), at(place.ceil()));
                if low == high {
                    // Also prevents NaN from two infinities.
                    low
                } else {
                    low + (high - low) * (place - place.floor())
                }
            })
            .collect()
    }

    /// The values at these ranks, counted from 0 for the smallest value. The ranks must ascend.
    fn values_at(&self, ranks: &[u64]) -> Vec<f64> {
        if self.exact {
            let mut sorted = self.raw.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let value = |&rank: &u64| sorted.get(rank as usize).copied().unwrap_or(self.max);
            return ranks.iter().map(value).collect();
        }
        ranks.iter().map(|&rank| self.value_at(rank)).collect()
    }

    /// The value at this rank, from buckets.
    fn value_at(&self, rank: u64) -> f64 {
        if rank == 0 {
            return self.min;
        }
        if rank >= self.count - 1 {
            return self.max;
        }
        let negative = self.negative.total();
        let (edges, count, below) = if rank < negative {
            // Negative values are stored by magnitude, so their order is reversed.
            let found = self.negative.at_rank(negative - 1 - rank);
            let Some(((lower, upper), count, smaller)) = found else {
                return self.max;
            };
            ((-upper, -lower), count, negative - smaller - count)
        } else if rank < negative + self.zeros {
            return 0.0;
        } else {
            let others = negative + self.zeros;
            let Some((edges, count, below)) = self.positive.at_rank(rank - others) else {
                return self.max;
            };
            (edges, count, others + below)
        };
        match edges {
            (lower, upper) if lower < upper => {
                // Treat the values of the bucket as evenly distributed in it.
                let share = ((rank - below) as f64 + 0.5) / count as f64;
                (lower + (upper - lower) * share).clamp(self.min, self.max)
            }
            (edge, _) => edge,
        }
    }

    /// The lower edge, upper edge and count of each non-empty bucket, in ascending order. Empty
    /// while the histogram has the individual values ([`Histogram::raw`]).
    pub fn buckets(&self) -> impl Iterator<Item = (f64, f64, u64)> + '_ {
        let negative = self.negative.iter().rev();
        let zeros = (self.zeros > 0).then_some((0.0, 0.0, self.zeros));
        negative
            .map(|(lower, upper, count)| (-upper, -lower, count))
            .chain(zeros)
            .chain(self.positive.iter())
    }

    /// The number of values greater than or equal to `from`, and their sum. For values in buckets,
    /// accurate to the width of a bucket.
    pub fn beyond(&self, from: f64) -> (u64, f64) {
        let total = self.raw.iter().filter(|value| **value >= from);
        let total = total.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
        self.buckets()
            .filter(|(lower, _, _)| *lower >= from)
            .fold(total, |(count, sum), (lower, _, times)| {
                (count + times, sum + lower * times as f64)
            })
    }

    /// The non-empty buckets in a form for files, in ascending order: a number within each bucket,
    /// close to its lower edge, and its count. Individual values are put into buckets first.
    /// [`Histogram::restored`] reads this form.
    pub fn on_paper(&self) -> Vec<(f64, u64)> {
        let mut spilled;
        let bucketed = if self.exact && !self.raw.is_empty() {
            spilled = self.clone();
            spilled.spill();
            &spilled
        } else {
            self
        };
        bucketed
            .buckets()
            .map(|(lower, upper, count)| (on_paper::name(lower, upper), count))
            .collect()
    }

    /// Restores a histogram from these values and [`Histogram::on_paper`]. `None` if they
    /// contradict each other.
    pub fn restored(
        sum: f64,
        min: f64,
        max: f64,
        buckets: impl IntoIterator<Item = (f64, u64)>,
    ) -> Option<Histogram> {
        let mut restored = Histogram {
            sum,
            min,
            max,
            exact: false,
            ..Histogram::default()
        };
        for (value, count) in buckets {
            if value.is_nan() {
                return None;
            }
            restored.count = restored.count.checked_add(count)?;
            if value > 0.0 {
                restored.positive.record_times(value, count);
            } else if value < 0.0 {
                restored.negative.record_times(-value, count);
            } else {
                restored.zeros += count;
            }
        }
        if restored.count == 0 {
            return Some(Histogram::new());
        }
        (min <= max && !sum.is_nan()).then_some(restored)
    }

    /// The buckets of negative values, the number of zeros, and the buckets of positive values.
    /// Empty while the histogram has the individual values.
    pub(crate) fn sides(&self) -> (&Buckets, u64, &Buckets) {
        (&self.negative, self.zeros, &self.positive)
    }

    /// Creates a histogram from buckets with this sum, minimum and maximum.
    pub(crate) fn of_sides(
        count: u64,
        [sum, min, max]: [f64; 3],
        negative: Buckets,
        zeros: u64,
        positive: Buckets,
    ) -> Histogram {
        Histogram {
            count,
            sum,
            min,
            max,
            exact: false,
            zeros,
            positive,
            negative,
            ..Histogram::default()
        }
    }

    /// Number of bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.raw.capacity() * size_of::<f64>()
            + self.positive.heap_bytes()
            + self.negative.heap_bytes()
    }
}
