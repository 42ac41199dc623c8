//! Judges the objectives of `--objective` when a run has ended.

use crate::distribution::Distribution;
use crate::figures::times;
use crate::objective::Objective;
use crate::record::End;

/// Adds the objectives to the thresholds of a run. They apply to the response time, or to the
/// service time in a closed model. A percentile of too few values is not judged.
pub fn judge(objectives: &[Objective], end: &mut End) {
    // Without objectives, keep the record identical to those of earlier versions.
    if objectives.is_empty() {
        return;
    }
    let found = times(|name| end.trends.get(name).is_some_and(|trend| trend.count > 0));
    let histogram = found
        .and_then(|(name, _)| end.trends.get(name))
        .and_then(Distribution::histogram)
        .unwrap_or_default();
    let dropped = end.counters.get("dropped_iterations").copied();
    let dropped = dropped.unwrap_or(0.0);
    let metric = found.map_or("response time", |(_, label)| label);
    for objective in objectives {
        let value = objective.measure(&histogram, dropped);
        let text = &objective.text;
        if value.is_nan() {
            end.objectives_not_judged
                .push(format!("{text}: there is no value of the {metric}"));
            continue;
        }
        if let Some(needed) = objective.values_needed(&histogram, dropped) {
            end.objectives_not_judged.push(format!(
                "{text}: {} values of the {metric} are too few, {} needs {needed}; run longer",
                histogram.count(),
                objective.figure
            ));
            continue;
        }
        let is_met = objective.holds(value);
        end.thresholds
            .push((metric.to_owned(), text.clone(), is_met));
        // The value is infinite if more iterations were dropped than the percentile allows.
        end.thresholds_measured
            .push(Some(value).filter(|value| value.is_finite()));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use plimsoll_stats::Histogram;

    use super::*;

    /// Whether the objective is met, and the measured value. `None` if it is not judged.
    fn judged(values: u32, dropped: f64, objective: &str) -> Option<(bool, Option<f64>)> {
        let mut histogram = Histogram::new();
        (1..=values).for_each(|value| histogram.record(f64::from(value)));
        let mut end = End {
            trends: BTreeMap::from([(
                "http_req_response_time".to_owned(),
                Distribution::of(&histogram),
            )]),
            counters: BTreeMap::from([("dropped_iterations".to_owned(), dropped)]),
            ..End::default()
        };
        judge(
            &[Objective::parse(objective).expect("an objective")],
            &mut end,
        );
        assert_eq!(end.thresholds.len() + end.objectives_not_judged.len(), 1);
        let (metric, _, met) = end.thresholds.first()?;
        assert_eq!(metric, "response time");
        Some((*met, end.thresholds_measured[0]))
    }

    #[test]
    fn objectives_are_met_missed_or_not_measured() {
        let (met, measured) = judged(1_000, 0.0, "p95<960ms").expect("judged");
        let is_p95 = |value| (949.0..952.0).contains(&value);
        assert!(met && measured.is_some_and(is_p95), "{measured:?}");
        assert!(judged(1_000, 0.0, "p95<900ms").is_some_and(|(met, _)| !met));
        // Five values above the percentile are too few.
        assert_eq!(judged(100, 0.0, "p95<1h"), None);
        assert_eq!(judged(199, 0.0, "p95<1h"), None);
        assert!(judged(200, 0.0, "p95<1h").is_some());
        // Ten values above the bound are enough to see that it is exceeded.
        assert_eq!(judged(60, 0.0, "p95<51.5ms"), None);
        assert!(judged(60, 0.0, "p95<50ms").is_some_and(|(met, _)| !met));
        assert_eq!(judged(0, 0.0, "max<1h"), None);
        assert_eq!(judged(3, 0.0, "max<1h"), Some((true, Some(3.0))));
    }

    #[test]
    fn the_reason_has_the_number_of_values_that_are_needed() {
        let not_judged = |values: u32| {
            let mut histogram = Histogram::new();
            (0..values).for_each(|_| histogram.record(1.0));
            let trend = ("http_req_duration".to_owned(), Distribution::of(&histogram));
            let mut end = End {
                trends: BTreeMap::from([trend]),
                ..End::default()
            };
            let objective = Objective::parse("p95<100ms").expect("an objective");
            judge(&[objective], &mut end);
            end.objectives_not_judged
        };
        assert_eq!(
            not_judged(60),
            ["p95<100ms: 60 values of the service time are too few, p95 needs 200; run longer"]
        );
        assert_eq!(
            not_judged(0),
            ["p95<100ms: there is no value of the response time"]
        );
    }

    #[test]
    fn dropped_iterations_miss_a_percentile() {
        assert_eq!(judged(1_000, 500.0, "p95<1h"), Some((false, None)));
    }
}
