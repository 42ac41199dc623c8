//! The figures that a summary shows of a trend.

use std::fmt;

use samples::Values;

/// One of `summaryTrendStats`.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendStat {
    /// As written: the label, and the key in exports.
    label: String,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Count,
    Avg,
    Min,
    Med,
    Max,
    /// 0 to 1.
    Quantile(f64),
}

/// A name that is none of a trend's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownTrendStat(pub String);

impl fmt::Display for UnknownTrendStat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "summaryTrendStats: \"{}\" is not a figure of a trend: \
             use avg, min, med, max, count or p(N) with N from 0 to 100",
            self.0
        )
    }
}

impl std::error::Error for UnknownTrendStat {}

impl TrendStat {
    /// Reads `avg`, `min`, `med`, `max`, `count` or `p(N)`.
    ///
    /// # Errors
    /// When the name is none of these, or N is not within 0 to 100.
    pub fn parse(name: &str) -> Result<TrendStat, UnknownTrendStat> {
        let what = match name {
            "count" => What::Count,
            "avg" => What::Avg,
            "min" => What::Min,
            "med" => What::Med,
            "max" => What::Max,
            _ => name
                .strip_prefix("p(")
                .and_then(|rest| rest.strip_suffix(')'))
                .and_then(|number| number.parse::<f64>().ok())
                .filter(|percent| (0.0..=100.0).contains(percent))
                .map(|percent| What::Quantile(percent / 100.0))
                .ok_or_else(|| UnknownTrendStat(name.to_owned()))?,
        };
        Ok(TrendStat {
            label: name.to_owned(),
            what,
        })
    }

    /// What a summary shows unless told otherwise.
    pub fn defaults() -> Vec<TrendStat> {
        [
            ("avg", What::Avg),
            ("min", What::Min),
            ("med", What::Med),
            ("max", What::Max),
            ("p(90)", What::Quantile(0.9)),
            ("p(95)", What::Quantile(0.95)),
        ]
        .into_iter()
        .map(|(label, what)| TrendStat {
            label: label.to_owned(),
            what,
        })
        .collect()
    }

    /// As written.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Whether the figure is a number of values and not one of them.
    pub fn is_count(&self) -> bool {
        self.what == What::Count
    }

    /// The figure; 0 of what is not a trend.
    pub fn of(&self, values: &Values) -> f64 {
        match self.what {
            What::Count => values.count(),
            What::Avg => values.avg(),
            What::Min => values.min(),
            What::Med => values.med(),
            What::Max => values.max(),
            What::Quantile(q) => values.quantile(q),
        }
        .unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_kept_as_written() {
        for name in [
            "avg", "min", "med", "max", "count", "p(0)", "p(99.90)", "p(100)",
        ] {
            assert_eq!(
                TrendStat::parse(name).map(|stat| stat.label),
                Ok(name.to_owned())
            );
        }
        assert_eq!(
            TrendStat::parse("p(50.25)").map(|s| s.what),
            Ok(What::Quantile(0.5025))
        );
        for name in [
            "", "p95", "p(101)", "p(-1)", "p(x)", "p(NaN)", "median", "p(95",
        ] {
            assert!(TrendStat::parse(name).is_err(), "{name}");
        }
        let error = TrendStat::parse("p99")
            .expect_err("no brackets")
            .to_string();
        assert!(
            error.contains("\"p99\"") && error.contains("p(N)"),
            "{error}"
        );
    }
}
