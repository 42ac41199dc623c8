//! Exact quantiles of recorded values: every value is kept.

/// The value at quantile `q` (0 to 1) of sorted `values`, interpolated linearly between
/// neighbors (Hyndman and Fan's type 7); 0 when there are none.
pub fn quantile(values: &[u64], q: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let place = q.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let low = values.get(below).copied().unwrap_or(0) as f64;
    let high = values.get((below + 1).min(last)).copied().unwrap_or(0) as f64;
    low + (high - low) * (place - place.floor())
}

/// `{"min":…,"mean":…,"p50":…,"p90":…,"p95":…,"p99":…,"p999":…,"max":…}` in milliseconds, from
/// nanoseconds. Sorts the values.
pub fn milliseconds_json(values: &mut [u64]) -> String {
    values.sort_unstable();
    let mean = if values.is_empty() {
        0.0
    } else {
        values.iter().map(|&value| value as f64).sum::<f64>() / values.len() as f64
    };
    let milliseconds = |nanos: f64| nanos / 1e6;
    format!(
        "{{\"min\":{:.6},\"mean\":{:.6},\"p50\":{:.6},\"p90\":{:.6},\"p95\":{:.6},\"p99\":{:.6},\"p999\":{:.6},\"max\":{:.6}}}",
        milliseconds(quantile(values, 0.0)),
        milliseconds(mean),
        milliseconds(quantile(values, 0.5)),
        milliseconds(quantile(values, 0.9)),
        milliseconds(quantile(values, 0.95)),
        milliseconds(quantile(values, 0.99)),
        milliseconds(quantile(values, 0.999)),
        milliseconds(quantile(values, 1.0)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolates_between_neighbors() {
        let values = [10, 20, 30, 40];
        assert_eq!(quantile(&values, 0.0), 10.0);
        assert_eq!(quantile(&values, 0.5), 25.0);
        assert_eq!(quantile(&values, 1.0), 40.0);
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert_eq!(quantile(&[7], 0.99), 7.0);
    }
}
