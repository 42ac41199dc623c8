//! The statistics that a summary shows for a trend.

use plimsoll_plan::{Figure, TrendStat};
use plimsoll_samples::Values;

/// The default statistics of a trend.
pub fn default_trend_stats() -> Vec<TrendStat> {
    // All of them are valid.
    TrendStat::DEFAULTS
        .iter()
        .filter_map(|name| TrendStat::parse(name).ok())
        .collect()
}

/// One statistic of a trend; 0 for metrics of other kinds.
pub(crate) fn figure(stat: &TrendStat, values: &Values) -> f64 {
    match stat.figure {
        Figure::Count => values.count(),
        Figure::Avg => values.avg(),
        Figure::Min => values.min(),
        Figure::Med => values.med(),
        Figure::Max => values.max(),
        Figure::Percentile(percent) => values.quantile(percent / 100.0),
    }
    .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_stats::Histogram;

    use super::*;

    #[test]
    fn every_default_is_shown() {
        assert_eq!(default_trend_stats().len(), TrendStat::DEFAULTS.len());
    }

    #[test]
    fn figures_match_the_values() {
        let mut histogram = Histogram::new();
        (0..=100).for_each(|value| histogram.record(f64::from(value)));
        let values = Values::Trend(Arc::new(histogram));
        for (name, expected) in [
            ("count", 101.0),
            ("avg", 50.0),
            ("min", 0.0),
            ("med", 50.0),
            ("max", 100.0),
            ("p(95)", 95.0),
            ("p(99.9)", 99.9),
        ] {
            let stat = TrendStat::parse(name).expect("a known name");
            assert!((figure(&stat, &values) - expected).abs() < 1e-9, "{name}");
        }
    }
}
