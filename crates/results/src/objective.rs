//! The objective of a service: an upper bound for a statistic of the response time.

use std::time::Duration;

use plimsoll_stats::{Histogram, tail};

/// A statistic of the response time, and the bound for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// The objective as written.
    pub text: String,
    /// The name of the statistic in a result, such as `p95`.
    pub figure: &'static str,
    /// Whether a value equal to the bound meets the objective.
    pub inclusive: bool,
    pub bound: Duration,
}

const FIGURES: [&str; 7] = ["p50", "p90", "p95", "p99", "p999", "mean", "max"];

impl Objective {
    /// Parses `p95<50ms` or `max<=1s`.
    ///
    /// # Errors
    /// Returns a message that explains the format.
    pub fn parse(text: &str) -> Result<Objective, String> {
        let hint = "write it like 'p95<50ms'";
        let (name, rest) = text
            .split_once('<')
            .ok_or_else(|| format!("{text:?} has no `<`: {hint}"))?;
        let (inclusive, bound) = match rest.strip_prefix('=') {
            Some(bound) => (true, bound),
            None => (false, rest),
        };
        let name = name.trim();
        let plain = match name {
            "med" | "median" | "p(50)" => "p50",
            "avg" => "mean",
            "p99.9" => "p999",
            other => other,
        };
        let Some(figure) = FIGURES.into_iter().find(|known| *known == plain) else {
            let meant = plimsoll_units::nearest(name, FIGURES)
                .map_or(".".to_owned(), |meant| format!(", did you mean {meant}?"));
            return Err(format!(
                "unknown figure {name:?}{meant} The figures are {}",
                FIGURES.join(", ")
            ));
        };
        let bound = bound.trim();
        if bound.parse::<f64>().is_ok() {
            return Err(format!("the bound {bound:?} has no unit: {hint}"));
        }
        let bound = plimsoll_units::duration::parse_with_unit(bound)?;
        Ok(Objective {
            text: text.to_owned(),
            figure,
            inclusive,
            bound,
        })
    }

    /// The statistic of times in milliseconds, if another `dropped` iterations never ended. NaN
    /// without any time.
    pub fn measure(&self, times: &Histogram, dropped: f64) -> f64 {
        if times.is_empty() {
            return f64::NAN;
        }
        match self.quantile() {
            // Treat dropped iterations as slower than all others.
            Some(q) => match q * (1.0 + dropped / times.count() as f64) {
                rank if rank > 1.0 => f64::INFINITY,
                rank => times.quantile(rank),
            },
            None if self.figure == "mean" => times.mean(),
            None => times.max(),
        }
    }

    /// The quantile from 0 to 1, if the statistic is a quantile.
    pub fn quantile(&self) -> Option<f64> {
        match self.figure {
            "p50" => Some(0.5),
            "p90" => Some(0.9),
            "p95" => Some(0.95),
            "p99" => Some(0.99),
            "p999" => Some(0.999),
            _ => None,
        }
    }

    /// The number of values that the objective needs, if these times are too few to judge it. Another `dropped`
    /// iterations never ended.
    pub fn values_needed(&self, times: &Histogram, dropped: f64) -> Option<u64> {
        let bound = self.bound.as_secs_f64() * 1e3;
        let values = times.count() as f64 + dropped;
        let above = values - tail::at_or_below(times, bound);
        tail::needed_to_judge(values, above, self.quantile()?)
    }

    /// Whether `milliseconds` is within the bound.
    pub fn holds(&self, milliseconds: f64) -> bool {
        let bound = self.bound.as_secs_f64() * 1e3;
        if self.inclusive {
            milliseconds <= bound
        } else {
            milliseconds < bound
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_read_and_judge() {
        let objective = Objective::parse("p95 < 50ms").expect("an objective");
        assert_eq!(
            (objective.figure, objective.bound),
            ("p95", Duration::from_millis(50))
        );
        assert!(objective.holds(49.999) && !objective.holds(50.0) && !objective.holds(f64::NAN));
        assert!(
            Objective::parse("p99.9<=1s")
                .expect("an objective")
                .holds(1_000.0)
        );
    }

    #[test]
    fn invalid_objectives_are_reported() {
        for (text, part) in [
            ("p95", "no `<`"),
            ("p96<1s", "did you mean p90?"),
            ("p95<50", "no unit"),
            ("p95<fast", "not a duration"),
        ] {
            let error = Objective::parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
