//! The result of a load on one URL, as text.

use plimsoll_stats::tail;
use plimsoll_units::Bytes;

use crate::additions::verdict_lines;
use crate::fit;
use crate::fixed_work::UserKind;
use crate::grpc_status;
use crate::http_result::{HttpResult, Latency};
use crate::numbers;
use crate::paint::{Paint, printable, spaces, width};
use crate::protocols;
use plimsoll_verdict::Verdict;

/// Renders the result. `title` describes the run. The text starts and ends with an empty line. On a terminal, no row is
/// wider than `columns`.
pub fn render(title: &str, result: &HttpResult, paint: Paint, columns: Option<usize>) -> String {
    let mut lines = vec![
        String::new(),
        format!("  {}", paint.bold(&printable(title))),
        String::new(),
    ];
    let work = result.fixed_work.iter();
    let work = work.flat_map(|work| work.lines(UserKind::Direct, paint));
    lines.extend(work.map(|(label, text)| entry(label, &text)));
    lines.extend(totals(result, paint));
    lines.push(String::new());
    lines.extend(latencies(result, paint, columns));
    lines.extend(status_rows(result, paint));
    let verdict = Verdict {
        level: result.generator.verdict,
        reasons: result.generator.reasons.clone(),
        disturbed: false,
    };
    let verdict = verdict_lines(&verdict, paint);
    lines.extend(verdict.into_iter().map(|line| format!("  {line}")));
    lines.push(String::new());
    if let Some(columns) = columns {
        let rows = lines.iter();
        lines = rows
            .flat_map(|line| fit::fit(line, columns, TEXT_COLUMN))
            .collect();
    }
    lines.join("\n") + "\n"
}

/// A label and its text, in two columns.
fn entry(label: &str, text: &str) -> String {
    format!(
        "  {label}{} {text}",
        spaces(LABEL_WIDTH.saturating_sub(width(label)))
    )
}

const LABEL_WIDTH: usize = 14;
/// The column at which the texts start.
const TEXT_COLUMN: usize = LABEL_WIDTH + 3;

fn totals(result: &HttpResult, paint: Paint) -> Vec<String> {
    let failed = if result.failed > 0 {
        let share = result.failed as f64 / (result.requests as f64).max(1.0);
        let text = format!("{} failed ({})", result.failed, numbers::percent(share));
        format!(", {}", paint.bad(&text))
    } else {
        String::new()
    };
    let duration = duration(result);
    // The same time as for the rate of requests.
    let per_second = |bytes: u64| {
        let seconds = result.load_seconds.unwrap_or(result.duration_seconds);
        numbers::data(if seconds > 0.0 {
            bytes as f64 / seconds
        } else {
            0.0
        })
    };
    let per_request = if result.requests > 0 {
        let milliseconds = result.generator.cpu_seconds * 1e3 / result.requests as f64;
        format!(" ({} a request)", numbers::rounded_time(milliseconds))
    } else {
        String::new()
    };
    let mut lines = vec![
        entry(
            "rate",
            &match result.requests_per_second {
                Some(per_second) => rate_text(result, per_second, paint),
                None => paint.bad(NO_RESPONSE),
            },
        ),
        entry(
            "requests",
            &format!(
                "{} in {duration}{failed}",
                paint.figure(&result.requests.to_string())
            ),
        ),
        entry(
            "received",
            &format!(
                "{} ({}/s)",
                Bytes(result.bytes_received),
                per_second(result.bytes_received)
            ),
        ),
        entry(
            "sent",
            &format!(
                "{} ({}/s)",
                Bytes(result.bytes_sent),
                per_second(result.bytes_sent)
            ),
        ),
        entry(
            "generator",
            &format!(
                "{} of processor time{per_request}, {} of memory at most",
                numbers::rounded_time(result.generator.cpu_seconds * 1e3),
                Bytes(result.generator.peak_rss_bytes)
            ),
        ),
    ];
    lines.splice(2..2, of_grpc(result));
    // Connections are counted when requests end, so those of open requests are not known.
    if result.requests > 0 {
        lines.splice(2..2, protocols_line(result));
    }
    lines.splice(2..2, resent(result));
    lines
}

/// The rate of successful requests, because a service that refuses requests quickly must not look fast. If some failed,
/// also the rate of all.
fn rate_text(result: &HttpResult, per_second: f64, paint: Paint) -> String {
    if result.failed == 0 {
        return format!("{} requests/s", paint.figure(&rate(per_second)));
    }
    let succeeded = result.requests.saturating_sub(result.failed) as f64;
    let share = succeeded / (result.requests as f64).max(1.0);
    format!(
        "{} successful requests/s ({} with the failed ones)",
        paint.figure(&rate(per_second * share)),
        rate(per_second)
    )
}

/// The time in which requests started. If the run ended noticeably later, also the time until its end: the last
/// response, timeout or interruption.
fn duration(result: &HttpResult) -> String {
    let whole = numbers::rounded_time(result.duration_seconds * 1e3);
    let load = result.load_seconds;
    let Some(load) = load.map(|load| numbers::rounded_time(load * 1e3)) else {
        return whole;
    };
    if load == whole {
        return load;
    }
    format!("{load} (ended after {whole})")
}

/// Requests that the server may have received twice.
fn resent(result: &HttpResult) -> Option<String> {
    let resent = result.requests_resent;
    (resent > 0).then(|| {
        let text = format!("{resent} after the server closed their connection or refused them");
        entry("sent again", &text)
    })
}

/// The protocols of the responses, and the number of connections.
fn protocols_line(result: &HttpResult) -> Vec<String> {
    let by = [
        &result.protocols,
        &result.tls_versions,
        &result.tls_cipher_suites,
    ];
    let each = by.into_iter().flatten();
    let text = protocols::line(each.map(|(name, count)| (name.as_str(), *count)));
    let mut lines = Vec::new();
    if !text.is_empty() {
        lines.push(entry("protocol", &printable(&text)));
    }
    if let Some(opened) = result.connections_opened {
        lines.push(entry("connections", &format!("{opened} opened")));
    }
    lines
}

/// The number of connections and, for streams, of messages.
fn of_grpc(result: &HttpResult) -> Vec<String> {
    let Some(grpc) = &result.grpc else {
        return Vec::new();
    };
    let mut lines = vec![entry(
        "connections",
        &format!("{} opened", grpc.connections_opened),
    )];
    if let (Some(sent), Some(received)) = (grpc.messages_sent, grpc.messages_received) {
        let text = format!("{sent} sent, {received} received");
        lines.push(entry("messages", &text));
    }
    lines
}

/// Shown instead of a rate if no request got a response.
pub(crate) const NO_RESPONSE: &str = "none: no request got a response";

/// Formats a rate, with a decimal if it is small.
pub(crate) fn rate(per_second: f64) -> String {
    if per_second < 1_000.0 {
        format!("{per_second:.1}")
    } else {
        format!("{per_second:.0}")
    }
}

const TITLES: [&str; 8] = ["min", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"];

/// Renders one row per measure of time.
fn latencies(result: &HttpResult, paint: Paint, columns: Option<usize>) -> Vec<String> {
    let rows: Vec<(&str, [String; 8])> = [
        ("service time", result.service_time),
        ("response time", result.response_time),
        ("send lag", result.send_lag),
        ("failed", result.failed_time),
    ]
    .into_iter()
    .chain(with_connecting(result))
    .filter_map(|(label, latency)| latency.map(|latency| (label, cells(&latency))))
    .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let column = |place: usize, title: &str| {
        let cells = rows.iter().filter_map(|(_, cells)| cells.get(place));
        cells.map(|cell| width(cell)).fold(width(title), usize::max)
    };
    let row = |cells: &[String]| {
        let cells: Vec<_> = TITLES
            .iter()
            .enumerate()
            .zip(cells)
            .map(|((place, title), cell)| {
                format!(
                    "{}{cell}",
                    spaces(column(place, title).saturating_sub(width(cell)))
                )
            })
            .collect();
        cells.join("  ")
    };
    let heading = entry("", &row(&TITLES.map(str::to_owned)));
    let mut lines = Vec::new();
    if columns.is_some_and(|columns| width(&heading) > columns) {
        lines.extend(
            rows.iter()
                .map(|(label, cells)| entry(label, &named(cells))),
        );
    } else {
        lines.push(paint.dim(&heading));
        lines.extend(rows.iter().map(|(label, cells)| entry(label, &row(cells))));
    }
    if rows
        .iter()
        .any(|(_, cells)| cells.iter().any(|cell| cell.ends_with(UNRELIABLE)))
    {
        let note =
            format!("{UNRELIABLE} fewer than 10 samples above this percentile: not reliable");
        lines.push(paint.dim(&entry("", &note)));
    }
    lines.push(String::new());
    lines
}

/// Renders values with their names, for terminals that are too narrow for a table. Each value stays in one row.
fn named(cells: &[String]) -> String {
    let figures: Vec<String> = TITLES
        .iter()
        .zip(cells)
        .map(|(title, cell)| format!("{title}\u{a0}{cell}"))
        .collect();
    figures.join("  ")
}

/// Renders the time to open connections, and the time of requests including it if that makes a difference. HTTP and
/// gRPC have the same rows.
fn with_connecting(result: &HttpResult) -> Vec<(&'static str, Option<Latency>)> {
    let mut rows = vec![("connecting", result.connect_time)];
    // If one request in a hundred opens a connection, that affects the p99.
    let opened = result.connect_time.map_or(0, |times| times.count);
    if opened > 0 && opened.saturating_mul(100) >= result.requests {
        rows.push(("total time", result.total_time));
    }
    rows
}

const UNRELIABLE: char = '?';

fn cells(latency: &Latency) -> [String; 8] {
    let time = |milliseconds| numbers::rounded_time(milliseconds);
    let quantile = |share: f64, milliseconds| {
        let mut text = time(milliseconds);
        if !tail::is_reliable(latency.count as f64, share) {
            text.push(UNRELIABLE);
        }
        text
    };
    [
        time(latency.min),
        time(latency.mean),
        quantile(0.5, latency.p50),
        quantile(0.9, latency.p90),
        quantile(0.95, latency.p95),
        quantile(0.99, latency.p99),
        quantile(0.999, latency.p999),
        time(latency.max),
    ]
}

fn status_rows(result: &HttpResult, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    let mut label = "status";
    for (status, count) in &result.status_codes {
        let status = paint.outcome(grpc_status::is_good(status), status);
        lines.push(entry(label, &format!("{status}  {count}")));
        label = "";
    }
    label = "errors";
    for error in &result.errors {
        lines.push(entry(
            label,
            &format!("{}  {}", paint.bad(&printable(&error.text)), error.count),
        ));
        label = "";
    }
    if result.other_errors > 0 {
        lines.push(entry(
            label,
            &format!("{}  {}", paint.bad("others"), result.other_errors),
        ));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines
}
