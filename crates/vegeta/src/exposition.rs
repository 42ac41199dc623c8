//! The results of an attack so far, in Prometheus' text format, with vegeta's names and labels.
//!
//! The number of series is limited. Above the limit, an attack on ever new URLs counts their requests together instead
//! of filling up memory.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use crate::hit::Hit;

/// Maximum number of series by method, URL and status.
const MAX_SERIES: usize = 1_000;
/// Maximum number of series of failures. They also have the error message as a label.
const MAX_FAILURE_SERIES: usize = 1_000;
/// The URL or message for hits above these limits.
const OTHERS: &str = "(others)";

/// Upper bounds of request times, in milliseconds: the defaults of Prometheus' own clients.
const BOUNDS: [(u64, &str); 11] = [
    (5, "0.005"),
    (10, "0.01"),
    (25, "0.025"),
    (50, "0.05"),
    (100, "0.1"),
    (250, "0.25"),
    (500, "0.5"),
    (1_000, "1"),
    (2_500, "2.5"),
    (5_000, "5"),
    (10_000, "10"),
];

/// The values so far.
#[derive(Debug, Default)]
pub struct Exposition {
    series: BTreeMap<Labels, Series>,
    failures: BTreeMap<(Labels, String), u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    method: String,
    status: u16,
    url: String,
}

#[derive(Debug, Default)]
struct Series {
    count: u64,
    seconds: f64,
    /// For each bound, the number of hits that took at most that long.
    within: [u64; BOUNDS.len()],
    received: u64,
    sent: u64,
}

impl Exposition {
    pub fn add(&mut self, hit: &Hit) {
        let mut labels = Labels {
            method: hit.method.clone(),
            status: hit.code,
            url: hit.url.clone(),
        };
        if self.series.len() >= MAX_SERIES && !self.series.contains_key(&labels) {
            labels.url = OTHERS.to_owned();
        }
        if !hit.error.is_empty() {
            let mut failure = (labels.clone(), hit.error.clone());
            if self.failures.len() >= MAX_FAILURE_SERIES && !self.failures.contains_key(&failure) {
                failure.1 = OTHERS.to_owned();
            }
            *self.failures.entry(failure).or_default() += 1;
        }
        let series = self.series.entry(labels).or_default();
        series.count += 1;
        series.seconds += hit.latency.as_secs_f64();
        series.received = series.received.saturating_add(hit.bytes_in);
        series.sent = series.sent.saturating_add(hit.bytes_out);
        for ((bound, _), within) in BOUNDS.iter().zip(&mut series.within) {
            *within += u64::from(hit.latency <= Duration::from_millis(*bound));
        }
    }

    /// The metrics as text (Prometheus' exposition format, version 0.0.4).
    pub fn render(&self) -> String {
        let mut out = String::new();
        let help = "Bytes received from servers as response to requests";
        write_header(&mut out, "request_bytes_in", help, "counter");
        for (labels, series) in &self.series {
            let (labels, bytes) = (labels.text(), series.received);
            let _ = writeln!(out, "request_bytes_in{{{labels}}} {bytes}");
        }
        let help = "Bytes sent to servers during requests";
        write_header(&mut out, "request_bytes_out", help, "counter");
        for (labels, series) in &self.series {
            let (labels, bytes) = (labels.text(), series.sent);
            let _ = writeln!(out, "request_bytes_out{{{labels}}} {bytes}");
        }
        write_header(
            &mut out,
            "request_fail_count",
            "Count of failed requests",
            "counter",
        );
        for ((labels, message), count) in &self.failures {
            let (labels, message) = (labels.text(), escape_label(message));
            let _ = writeln!(
                out,
                "request_fail_count{{message=\"{message}\",{labels}}} {count}"
            );
        }
        let help = "Request latency, from the scheduled start";
        write_header(&mut out, "request_seconds", help, "histogram");
        for (labels, series) in &self.series {
            series.render(&labels.text(), &mut out);
        }
        out
    }
}

impl Series {
    fn render(&self, labels: &str, out: &mut String) {
        let bounds = BOUNDS.iter().map(|(_, bound)| *bound);
        let counts = bounds.zip(self.within).chain([("+Inf", self.count)]);
        for (bound, count) in counts {
            let _ = writeln!(
                out,
                "request_seconds_bucket{{{labels},le=\"{bound}\"}} {count}"
            );
        }
        let _ = writeln!(out, "request_seconds_sum{{{labels}}} {}", self.seconds);
        let _ = writeln!(out, "request_seconds_count{{{labels}}} {}", self.count);
    }
}

impl Labels {
    fn text(&self) -> String {
        format!(
            "method=\"{}\",status=\"{}\",url=\"{}\"",
            escape_label(&self.method),
            self.status,
            escape_label(&self.url)
        )
    }
}

fn write_header(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// A label value. Only backslashes, quotes and line breaks are escaped.
fn escape_label(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(url: &str, code: u16, error: &str, millis: u64) -> Hit {
        Hit {
            method: "GET".to_owned(),
            url: url.to_owned(),
            code,
            error: error.to_owned(),
            latency: Duration::from_millis(millis),
            bytes_in: 6,
            bytes_out: 2,
            ..Hit::default()
        }
    }

    #[test]
    fn hits_are_counted_by_method_status_and_url() {
        let mut figures = Exposition::default();
        figures.add(&hit("http://h/", 200, "", 5));
        figures.add(&hit("http://h/", 200, "", 700));
        figures.add(&hit(
            "http://h/\"x",
            0,
            "Get \"http://h/\": no\nway",
            20_000,
        ));
        let text = figures.render();
        for line in [
            "# TYPE request_seconds histogram",
            "request_bytes_in{method=\"GET\",status=\"200\",url=\"http://h/\"} 12",
            "request_bytes_out{method=\"GET\",status=\"200\",url=\"http://h/\"} 4",
            "request_seconds_bucket{method=\"GET\",status=\"200\",url=\"http://h/\",le=\"0.005\"} 1",
            "request_seconds_bucket{method=\"GET\",status=\"200\",url=\"http://h/\",le=\"1\"} 2",
            "request_seconds_bucket{method=\"GET\",status=\"0\",url=\"http://h/\\\"x\",le=\"10\"} 0",
            "request_seconds_bucket{method=\"GET\",status=\"0\",url=\"http://h/\\\"x\",le=\"+Inf\"} 1",
            "request_seconds_sum{method=\"GET\",status=\"200\",url=\"http://h/\"} 0.705",
            "request_seconds_count{method=\"GET\",status=\"200\",url=\"http://h/\"} 2",
            "request_fail_count{message=\"Get \\\"http://h/\\\": no\\nway\",method=\"GET\",status=\"0\",\
             url=\"http://h/\\\"x\"} 1",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}\nin\n{text}");
        }
    }

    #[test]
    fn urls_above_the_limit_are_counted_together() {
        let mut figures = Exposition::default();
        for number in 0..5_000 {
            figures.add(&hit(
                &format!("http://h/{number}"),
                500,
                &number.to_string(),
                1,
            ));
        }
        assert!(figures.series.len() <= MAX_SERIES + 1);
        assert!(figures.failures.len() <= MAX_FAILURE_SERIES + 1);
        let text = figures.render();
        let others = "request_seconds_count{method=\"GET\",status=\"500\",url=\"(others)\"} 4000";
        assert!(text.contains(others));
    }
}
