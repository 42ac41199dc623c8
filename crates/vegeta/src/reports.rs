//! vegeta's reports.

use std::time::Duration;

use plimsoll_units::duration::format;

use crate::json::{number, text as quoted};
use crate::metrics::Metrics;
use crate::table::columns;

/// The table of `report -type=text`.
pub fn text(metrics: &mut Metrics) -> String {
    let quantile = |metrics: &mut Metrics, q| time(nanos(metrics.quantile(q)));
    let latencies = [
        time(metrics.min),
        time(metrics.mean()),
        quantile(metrics, 0.50),
        quantile(metrics, 0.90),
        quantile(metrics, 0.95),
        quantile(metrics, 0.99),
        time(metrics.max),
    ];
    let (duration, wait) = (metrics.duration(), metrics.wait());
    let bytes = |total: u64| format!("{total}, {:.2}", metrics.share(total as f64));
    let codes = metrics
        .codes
        .iter()
        .map(|(code, count)| format!("{code}:{count}  "));
    let rows = [
        (
            "Requests",
            "[total, rate, throughput]",
            format!(
                "{}, {:.2}, {:.2}",
                metrics.requests,
                metrics.rate(),
                metrics.throughput()
            ),
        ),
        (
            "Duration",
            "[total, attack, wait]",
            [duration + wait, duration, wait].map(time).join(", "),
        ),
        (
            "Latencies",
            "[min, mean, 50, 90, 95, 99, max]",
            latencies.join(", "),
        ),
        ("Bytes In", "[total, mean]", bytes(metrics.bytes_in)),
        ("Bytes Out", "[total, mean]", bytes(metrics.bytes_out)),
        (
            "Success",
            "[ratio]",
            format!("{:.2}%", metrics.success() * 100.0),
        ),
        ("Status Codes", "[code:count]", codes.collect()),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(label, what, figures)| vec![label.to_owned(), what.to_owned(), figures])
        .collect();
    let mut report = columns(&rows);
    report.push_str("Error Set:\n");
    for error in &metrics.errors {
        // vegeta separates columns with tabs, so a tab inside an error becomes two spaces.
        report.push_str(&error.replace('\t', "  "));
        report.push('\n');
    }
    report
}

/// The object of `report -type=json`, with the line ending.
pub fn json(metrics: &mut Metrics) -> String {
    let mut quantile = |q| metrics.quantile(q) as u64;
    let (p50, p90, p95, p99) = (
        quantile(0.50),
        quantile(0.90),
        quantile(0.95),
        quantile(0.99),
    );
    let mut out = format!(
        "{{\"latencies\":{{\"total\":{},\"mean\":{},\"50th\":{p50},\"90th\":{p90},\"95th\":{p95},\"99th\":{p99},\"max\":{},\"min\":{}}},",
        metrics.total,
        metrics.mean().as_nanos(),
        metrics.max.as_nanos(),
        metrics.min.as_nanos(),
    );
    if let Some((buckets, counts)) = &metrics.buckets {
        let entries: Vec<_> = buckets
            .bounds()
            .zip(counts)
            .map(|((lower, _), count)| format!("\"{}\":{count}", lower.as_nanos()))
            .collect();
        out.push_str(&format!("\"buckets\":{{{}}},", entries.join(",")));
    }
    for (name, total) in [
        ("bytes_in", metrics.bytes_in),
        ("bytes_out", metrics.bytes_out),
    ] {
        let mean = number(metrics.share(total as f64));
        out.push_str(&format!(
            "\"{name}\":{{\"total\":{total},\"mean\":{mean}}},"
        ));
    }
    let mut codes: Vec<_> = metrics
        .codes
        .iter()
        .map(|(code, count)| (code.to_string(), count))
        .collect();
    codes.sort();
    let codes: Vec<_> = codes
        .into_iter()
        .map(|(code, count)| format!("\"{code}\":{count}"))
        .collect();
    out.push_str(&format!(
        "\"earliest\":\"{}\",\"latest\":\"{}\",\"end\":\"{}\",\"duration\":{},\"wait\":{},\"requests\":{},\"rate\":{},\"throughput\":{},\"success\":{},\"status_codes\":{{{}}},\"errors\":[",
        metrics.earliest,
        metrics.latest,
        metrics.end,
        metrics.duration().as_nanos(),
        metrics.wait().as_nanos(),
        metrics.requests,
        number(metrics.rate()),
        number(metrics.throughput()),
        number(metrics.success()),
        codes.join(","),
    ));
    for (place, error) in metrics.errors.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        quoted(error, &mut out);
    }
    out.push_str("]}\n");
    out
}

/// The bars of `report -type=hist[…]`. Empty without buckets.
pub fn histogram(metrics: &Metrics) -> String {
    const WIDEST: f64 = 75.0;
    let Some((buckets, counts)) = &metrics.buckets else {
        return String::new();
    };
    let mut rows = vec![
        ["Bucket", "", "#", "%", "Histogram"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for ((lower, upper), count) in buckets.bounds().zip(counts) {
        let share = metrics.share(*count as f64);
        rows.push(vec![
            format!("[{},", format(lower)),
            format!("{}]", upper.map_or("+Inf".to_owned(), format)),
            count.to_string(),
            format!("{:.2}%", share * 100.0),
            "#".repeat((share * WIDEST) as usize),
        ]);
    }
    columns(&rows)
}

/// The table of `report -type=hdrplot`, which can be read by HdrHistogram's plotter.
pub fn hdr_plot(metrics: &mut Metrics) -> String {
    let mut rows = vec![
        ["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for &q in QUANTILES {
        let below = (q * metrics.requests as f64 + 0.5) as u64;
        rows.push(vec![
            format!("{:.6}", metrics.quantile(q).trunc() / 1e6),
            format!("{q:.6}"),
            below.to_string(),
            format!("{:.6}", (1.0 / (1.0 - q)).min(FARTHEST)),
        ]);
    }
    columns(&rows)
}

/// The end of the plotter's axis: one in ten million.
const FARTHEST: f64 = 1e7;

/// HdrHistogram's steps: five each time the remaining distance to 1 halves, with six digits.
const QUANTILES: &[f64] = &[
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875,
    0.8875, 0.9, 0.9125, 0.925, 0.9375, 0.94375, 0.95, 0.95625, 0.9625, 0.96875, 0.971875, 0.975,
    0.978125, 0.98125, 0.984375, 0.985938, 0.9875, 0.989062, 0.990625, 0.992188, 0.992969, 0.99375,
    0.994531, 0.995313, 0.996094, 0.996484, 0.996875, 0.997266, 0.997656, 0.998047, 0.998242,
    0.998437, 0.998633, 0.998828, 0.999023, 0.999121, 0.999219, 0.999316, 0.999414, 0.999512,
    0.999561, 0.999609, 0.999658, 0.999707, 0.999756, 0.99978, 0.999805, 0.999829, 0.999854,
    0.999878, 0.99989, 0.999902, 0.999915, 0.999927, 0.999939, 0.999945, 0.999951, 0.999957,
    0.999963, 0.999969, 0.999973, 0.999976, 0.999979, 0.999982, 0.999985, 0.999986, 0.999988,
    0.999989, 0.999991, 0.999992, 0.999993, 0.999994, 0.999995, 0.999996, 0.999997, 0.999998,
    0.999999, 1.0,
];

fn nanos(value: f64) -> Duration {
    Duration::from_nanos(value as u64)
}

/// A duration for people, in thousandths of its unit. From minutes on, it also includes the next smaller unit.
fn time(span: Duration) -> String {
    const STEPS: [(u128, u128); 5] = [
        (3_600_000_000_000, 60_000_000_000),
        (60_000_000_000, 1_000_000_000),
        (1_000_000_000, 1_000_000),
        (1_000_000, 1_000),
        (1_000, 1),
    ];
    let exact = span.as_nanos();
    let step = STEPS
        .iter()
        .find(|(from, _)| exact > *from)
        .map_or(1, |(_, step)| *step);
    let rounded = (exact + step / 2) / step * step;
    format(Duration::from_nanos(
        u64::try_from(rounded).unwrap_or(u64::MAX),
    ))
}
