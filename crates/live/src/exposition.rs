//! Writes the figures of a run in Prometheus' text format (version 0.0.4), with the metric names of k6's remote write.
//! Metrics that k6 does not have start with `plimsoll_`.

use std::fmt::Write;

use plimsoll_output::{grpc_status, prometheus_name};
use plimsoll_results::secrets::url_for_display;
use plimsoll_samples::{Contains, MetricSummary, NamePart, Summary, ThresholdOutcome, Values};

/// The content type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Maximum number of request names with separate series.
const MAX_NAMES: usize = 200;

/// The quantiles of trends, and their labels.
const QUANTILES: [(f64, &str); 6] = [
    (0.5, "0.5"),
    (0.9, "0.9"),
    (0.95, "0.95"),
    (0.99, "0.99"),
    (0.999, "0.999"),
    (1.0, "1"),
];

/// The figures since the start of the run.
pub fn text(summary: &Summary) -> String {
    let mut page = Page(String::new());
    // Sub-metrics are omitted, because they would count twice in sums over a metric's series.
    for metric in summary.metrics.iter().filter(|one| !one.is_submetric()) {
        page.metric(metric);
    }
    page.names(summary);
    page.statuses(summary);
    page.thresholds(summary);
    page.0
}

struct Page(String);

impl Page {
    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &str, value: f64) {
        let braces = if labels.is_empty() {
            String::new()
        } else {
            format!("{{{labels}}}")
        };
        let value = match value {
            f64::INFINITY => "+Inf".to_owned(),
            f64::NEG_INFINITY => "-Inf".to_owned(),
            value => value.to_string(),
        };
        let _ = writeln!(self.0, "{name}{braces} {value}");
    }

    fn metric(&mut self, metric: &MetricSummary) {
        let name = prometheus_name(&metric.name, metric.kind, metric.contains);
        let kind = match metric.values {
            Values::Counter { .. } => "counter",
            Values::Gauge { .. } | Values::Rate { .. } => "gauge",
            Values::Trend(_) => "summary",
        };
        let help = format!("The metric {} since the start of the run", metric.name);
        self.begin(&name, kind, &help);
        match &metric.values {
            Values::Counter { count, .. } => self.value(&name, "", *count),
            Values::Gauge { value, .. } => self.value(&name, "", *value),
            Values::Rate { .. } => self.value(&name, "", metric.values.rate().unwrap_or(0.0)),
            Values::Trend(histogram) => {
                let unit = match metric.contains {
                    Contains::Time => 1e-3,
                    _ => 1.0,
                };
                if !histogram.is_empty() {
                    let values = histogram.quantiles(&QUANTILES.map(|(quantile, _)| quantile));
                    for ((_, label), value) in QUANTILES.iter().zip(values) {
                        self.value(&name, &format!("quantile=\"{label}\""), value * unit);
                    }
                }
                self.value(&format!("{name}_sum"), "", histogram.sum() * unit);
                self.value(&format!("{name}_count"), "", histogram.count() as f64);
            }
        }
    }

    fn names(&mut self, summary: &Summary) {
        let name = "plimsoll_requests_total";
        let help = "Requests by name, including failed ones";
        self.by_name(summary, name, help, |part| part.requests);
        let (name, help) = ("plimsoll_requests_failed_total", "Failed requests by name");
        self.by_name(summary, name, help, |part| part.failed);
    }

    fn by_name(
        &mut self,
        summary: &Summary,
        name: &str,
        help: &str,
        count: impl Fn(&NamePart) -> u64,
    ) {
        let (listed, others) = (&summary.names.listed, &summary.names.others);
        if listed.is_empty() {
            return;
        }
        self.begin(name, "counter", help);
        for part in listed.iter().take(MAX_NAMES) {
            let (shown, method) = (escaped(&url_for_display(&part.name)), escaped(&part.method));
            let labels = format!("name=\"{shown}\",method=\"{method}\"");
            self.value(name, &labels, count(part) as f64);
        }
        // Without the other requests, sums over all names would be too low.
        let mut rest = listed.iter().skip(MAX_NAMES).chain(others).peekable();
        if rest.peek().is_some() {
            let sum: u64 = rest.map(count).sum();
            let labels = "name=\"(other names)\",method=\"\"";
            self.value(name, labels, sum as f64);
        }
    }

    fn statuses(&mut self, summary: &Summary) {
        let statuses = summary.http.statuses.iter();
        let statuses: Vec<_> = statuses.filter(|(status, _)| *status != 0).collect();
        if statuses.is_empty() {
            return;
        }
        let name = "plimsoll_responses_total";
        self.begin(name, "counter", "Responses by status");
        for (status, count) in statuses {
            let labels = format!("status=\"{}\"", grpc_status::name(*status));
            self.value(name, &labels, *count as f64);
        }
    }

    fn thresholds(&mut self, summary: &Summary) {
        let metrics = summary.metrics.iter();
        let thresholds: Vec<(&str, &ThresholdOutcome)> = metrics
            .flat_map(|metric| {
                let thresholds = metric.thresholds.iter();
                thresholds.map(|threshold| (metric.name.as_str(), threshold))
            })
            .collect();
        if thresholds.is_empty() {
            return;
        }
        let name = "plimsoll_threshold_met";
        self.begin(name, "gauge", "1 if the threshold is met so far, else 0");
        for (metric, threshold) in thresholds {
            let (metric, condition) = (escaped(metric), escaped(&threshold.source));
            let labels = format!("metric=\"{metric}\",condition=\"{condition}\"");
            self.value(name, &labels, f64::from(u8::from(threshold.ok)));
        }
    }
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_samples::Kind;
    use plimsoll_stats::Histogram;

    use super::*;

    fn metric(name: &str, kind: Kind, contains: Contains, values: Values) -> MetricSummary {
        MetricSummary {
            name: name.to_owned(),
            kind,
            contains,
            extra: false,
            tags: Vec::new(),
            values,
            thresholds: Vec::new(),
        }
    }

    #[test]
    fn all_kinds_of_metrics_are_written_with_their_units() {
        let mut times = Histogram::new();
        times.record_all(&[10.0, 30.0]);
        let trend = Values::Trend(Arc::new(times));
        let counter = Values::Counter {
            count: 3.0,
            rate: 1.0,
        };
        let mut part = metric(
            "reqs{a:b}",
            Kind::Counter,
            Contains::Default,
            counter.clone(),
        );
        part.tags = vec![("a".to_owned(), "b".to_owned())];
        part.thresholds = vec![ThresholdOutcome {
            source: "count>\"1\"".to_owned(),
            ok: true,
            measured: 3.0,
        }];
        let share = Values::Rate {
            passes: 1,
            fails: 3,
        };
        let mut summary = Summary {
            metrics: vec![
                metric("checks", Kind::Rate, Contains::Default, share),
                metric("reqs", Kind::Counter, Contains::Default, counter),
                part,
                metric("took", Kind::Trend, Contains::Time, trend.clone()),
            ],
            ..Summary::default()
        };
        summary.http.statuses = vec![(0, 2), (200, 3)];
        summary.names.listed = vec![NamePart {
            name: "http://me:pass@host/".to_owned(),
            method: "GET".to_owned(),
            requests: 3,
            failed: 1,
            times: trend,
        }];
        let text = text(&summary);
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "k6_checks_rate 0.25",
                "k6_reqs_total 3",
                "k6_took_seconds{quantile=\"0.5\"} 0.02",
                "k6_took_seconds{quantile=\"0.9\"} 0.028",
                "k6_took_seconds{quantile=\"0.95\"} 0.029",
                "k6_took_seconds{quantile=\"0.99\"} 0.0298",
                "k6_took_seconds{quantile=\"0.999\"} 0.02998",
                "k6_took_seconds{quantile=\"1\"} 0.03",
                "k6_took_seconds_sum 0.04",
                "k6_took_seconds_count 2",
                "plimsoll_requests_total{name=\"http://***@host/\",method=\"GET\"} 3",
                "plimsoll_requests_failed_total{name=\"http://***@host/\",method=\"GET\"} 1",
                "plimsoll_responses_total{status=\"200\"} 3",
                "plimsoll_threshold_met{metric=\"reqs{a:b}\",condition=\"count>\\\"1\\\"\"} 1",
            ]
        );
        assert!(text.contains("# TYPE k6_took_seconds summary\n"), "{text}");
    }
}
