//! Converts histograms to Prometheus' native histograms.

use std::collections::BTreeMap;

use super::message::{BucketSpan, Count, Histogram, ZeroCount};
use crate::exponential_histogram::{ExponentialHistogram, SCALE, ZERO_THRESHOLD};

/// Creates the message. `time` is in milliseconds since 1970.
pub fn message(histogram: &ExponentialHistogram, at: i64) -> Histogram {
    let (positive_spans, positive_deltas) = spans(&histogram.positive);
    let (negative_spans, negative_deltas) = spans(&histogram.negative);
    Histogram {
        count: Some(Count::Integer(histogram.count)),
        sum: histogram.sum,
        schema: SCALE,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: Some(ZeroCount::Integer(histogram.zeros)),
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
        timestamp: at,
    }
}

/// Converts to spans of consecutive buckets, and to differences between counts.
fn spans(buckets: &BTreeMap<i32, u64>) -> (Vec<BucketSpan>, Vec<i64>) {
    let mut spans: Vec<BucketSpan> = Vec::new();
    let mut deltas = Vec::with_capacity(buckets.len());
    let (mut next, mut before) = (0, 0);
    for (&index, &count) in buckets {
        match spans.last_mut() {
            Some(span) if index == next => span.length += 1,
            _ => spans.push(BucketSpan {
                offset: index - next,
                length: 1,
            }),
        }
        next = index + 1;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        before = count;
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_written_as_spans_and_differences() {
        let mut histogram = ExponentialHistogram::default();
        for value in [1.0, 1.0, 1.05, 4.0, 0.0, -1.0] {
            histogram.add(value);
        }
        let message = message(&histogram, 7);
        assert_eq!(message.count, Some(Count::Integer(6)));
        assert_eq!(message.zero_count, Some(ZeroCount::Integer(1)));
        // Buckets 0 and 1, then bucket 16 after 14 empty buckets.
        let span = |offset, length| BucketSpan { offset, length };
        assert_eq!(message.positive_spans, [span(0, 2), span(14, 1)]);
        assert_eq!(message.positive_deltas, [2, -1, 0]);
        assert_eq!(message.negative_spans, [span(0, 1)]);
        assert_eq!(message.negative_deltas, [1]);
        assert!((message.sum - 6.05).abs() < 1e-12);
    }
}
