//! Names metrics for Prometheus as k6's remote write does.

use plimsoll_samples::{Contains, Kind};

/// The name of a metric's series: with `_total` for counters, `_rate` for rates, and the unit for trends, whose times
/// are in seconds.
pub fn prometheus_name(metric: &str, kind: Kind, contains: Contains) -> String {
    let suffix = match (kind, contains) {
        (Kind::Counter, _) => "_total",
        (Kind::Rate, _) => "_rate",
        (Kind::Trend, Contains::Time) => "_seconds",
        (Kind::Trend, Contains::Data) => "_bytes",
        _ => "",
    };
    format!("k6_{metric}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_the_kind_or_the_unit() {
        for (kind, contains, name) in [
            (Kind::Counter, Contains::Data, "k6_m_total"),
            (Kind::Rate, Contains::Default, "k6_m_rate"),
            (Kind::Trend, Contains::Time, "k6_m_seconds"),
            (Kind::Trend, Contains::Data, "k6_m_bytes"),
            (Kind::Trend, Contains::Default, "k6_m"),
            (Kind::Gauge, Contains::Default, "k6_m"),
        ] {
            assert_eq!(prometheus_name("m", kind, contains), name);
        }
    }
}
