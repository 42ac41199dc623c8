//! The distribution of a few durations.

use std::time::Duration;

use plimsoll_stats::{Histogram, tail};
use serde_json::{Value, json};

/// Durations of one kind.
#[derive(Clone, Debug, Default)]
pub struct Spread(Histogram);

impl Spread {
    pub fn add(&mut self, time: Duration) {
        self.0.record(time.as_secs_f64());
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn count(&self) -> u64 {
        self.0.count()
    }

    /// The quantile `q` of the durations, or zero if there are none.
    pub fn quantile(&self, q: f64) -> Duration {
        if self.is_empty() {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(self.0.quantile(q)).unwrap_or_default()
    }

    /// The statistics in milliseconds, or null if there are no durations.
    pub fn json(&self) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        let ms = |q| (self.quantile(q).as_secs_f64() * 1e6).round() / 1e3;
        json!({
            "count": self.count(),
            "min": ms(0.0),
            "p50": ms(0.5),
            "p95": ms(0.95),
            "max": ms(1.0),
        })
    }

    /// Formats four columns, in the order of [`Spread::HEAD`]. A mark follows percentiles of too few durations.
    pub fn row(&self) -> String {
        let cell = |q| {
            let is_reliable = q == 0.0 || q == 1.0 || tail::is_reliable(self.count() as f64, q);
            let mark = if is_reliable { "" } else { NOT_RELIABLE };
            format!("{:>11}", milliseconds(self.quantile(q)) + mark)
        };
        [0.0, 0.5, 0.95, 1.0].map(cell).concat()
    }

    pub const HEAD: &str = "        min     median        p95        max";
}

/// The mark of percentiles of too few durations.
pub const NOT_RELIABLE: &str = "?";

fn milliseconds(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    match ms {
        ms if ms < 10.0 => format!("{ms:.3} ms"),
        ms if ms < 100.0 => format!("{ms:.2} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_reported_in_milliseconds() {
        let mut spread = Spread::default();
        assert_eq!(spread.json(), Value::Null);
        assert_eq!(spread.quantile(0.5), Duration::ZERO);
        for ms in [4, 1, 3, 2, 5] {
            spread.add(Duration::from_millis(ms));
        }
        assert_eq!(spread.json()["count"], 5);
        assert_eq!(spread.json()["min"], 1.0);
        assert_eq!(spread.json()["p50"], 3.0);
        assert_eq!(spread.json()["max"], 5.0);
        assert!(
            spread.row().starts_with("   1.000 ms  3.000 ms?"),
            "{}",
            spread.row()
        );
        assert_eq!(spread.row().len(), Spread::HEAD.len());
        assert!(spread.row().contains("ms?   5.000 ms"), "{}", spread.row());
        (0..195).for_each(|_| spread.add(Duration::from_millis(3)));
        assert!(!spread.row().contains(NOT_RELIABLE), "{}", spread.row());
    }
}
