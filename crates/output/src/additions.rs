//! The part of the summary that k6 does not have: additional metrics, errors, unrecorded samples, and the verdict.

use plimsoll_samples::{MetricSummary, Summary, Values};
use plimsoll_verdict::{Cause, Level, Verdict};

use crate::detail::Detail;
use crate::fixed_work::{FixedWork, UserKind};
use crate::metric_table::{Row, Style, Widths, sorted};
use crate::paint::{Paint, printable};
use crate::protocols;

/// The lines of the block, without indentation. The verdict, if any, comes last.
pub(crate) fn lines(
    summary: &Summary,
    verdict: Option<&Verdict>,
    detail: Detail,
    style: &Style,
) -> Vec<String> {
    let shown = summary
        .metrics
        .iter()
        .filter(|metric| metric.extra && has_samples(metric))
        .filter(|metric| detail == Detail::Full || !FULL_MODE_ONLY.contains(&metric.name.as_str()));
    let rows: Vec<_> = sorted(shown)
        .into_iter()
        .map(|metric| Row::new(metric, style))
        .collect();
    let widths = Widths::of(&rows);
    let mut lines: Vec<_> = rows
        .iter()
        .map(|row| widths.line(row, style.paint))
        .collect();
    lines.extend(fixed_work(summary, style.paint));
    lines.extend(errors(summary, style.paint));
    lines.extend(resent(summary, style.paint));
    lines.extend(failed_iterations(summary, style.paint));
    lines.extend(left_out(summary));
    lines.extend(
        verdict
            .into_iter()
            .flat_map(|verdict| verdict_lines(verdict, style.paint)),
    );
    lines
}

/// The verdict and its reasons, one per line; the worst reason is first.
pub fn verdict_lines(verdict: &Verdict, paint: Paint) -> Vec<String> {
    let level = match verdict.level {
        Level::Valid => paint.good("✓ valid"),
        Level::Suspect => paint.warning("! suspect"),
        Level::Invalid => paint.bad("✗ invalid"),
    };
    let mut reasons = verdict.reasons.iter().map(|reason| match verdict.level {
        Level::Valid => reason.text.clone(),
        _ => format!("{}: {}", cause_name(reason.cause), reason.text),
    });
    let first = reasons.next().map(|reason| format!(" — {reason}"));
    let mut lines = vec![format!("verdict: {level}{}", first.unwrap_or_default())];
    lines.extend(reasons.map(|reason| format!("         {reason}")));
    lines
}

/// Requests that the server may have received twice.
fn resent(summary: &Summary, paint: Paint) -> Option<String> {
    let resent = summary.http.resent;
    (resent > 0).then(|| {
        format!(
            "requests sent again, after the server closed their connection or refused them: {}",
            paint.bad(&resent.to_string())
        )
    })
}

/// A line with the number of iterations that an exception in the script ended.
fn failed_iterations(summary: &Summary, paint: Paint) -> Option<String> {
    (summary.threw > 0).then(|| {
        format!(
            "iterations that threw: {} of {}",
            paint.bad(&summary.threw.to_string()),
            summary.iterations
        )
    })
}

pub(crate) fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::Client => "client",
        Cause::Server => "server",
        Cause::Network => "network",
        Cause::Clock => "clock",
    }
}

const FULL_MODE_ONLY: [&str; 3] = ["http_req_looking_up", "http_req_total", "grpc_req_total"];

/// Maximum number of errors listed here; exports contain all of them.
const ERRORS_SHOWN: usize = 5;

fn has_samples(metric: &MetricSummary) -> bool {
    match &metric.values {
        Values::Trend(_) => metric.values.count().is_some_and(|count| count > 0.0),
        _ => true,
    }
}

/// The protocols of the responses, and the number of connections.
pub(crate) fn protocols_line(summary: &Summary) -> Option<String> {
    let http = &summary.http;
    let by = [&http.protocols, &http.tls_versions, &http.tls_cipher_suites];
    let each = by.into_iter().flatten();
    let text = protocols::line(each.map(|(name, count)| (name.as_str(), *count)));
    let opened = http.connections_opened;
    (!text.is_empty()).then(|| {
        format!(
            "responses: {}; connections opened: {opened}",
            printable(&text)
        )
    })
}

/// Scenarios with a fixed amount of work. Omits a single iteration, whose duration already says everything.
fn fixed_work(summary: &Summary, paint: Paint) -> Vec<String> {
    let several = summary.work.len() > 1;
    let message = summary.work.iter().filter(|work| work.wanted() > 1);
    message
        .flat_map(|work| {
            let of = if several {
                format!(" of {}", printable(&work.scenario))
            } else {
                String::new()
            };
            let lines = FixedWork::of(work).lines(UserKind::Script, paint);
            lines
                .into_iter()
                .map(move |(label, text)| format!("{label}{of}: {text}"))
        })
        .collect()
}

fn errors(summary: &Summary, paint: Paint) -> Vec<String> {
    let errors = &summary.http.errors;
    let mut lines: Vec<_> = errors
        .iter()
        .take(ERRORS_SHOWN)
        .map(|error| {
            format!(
                "{} × {}",
                paint.bad(&error.count.to_string()),
                printable(&error.text)
            )
        })
        .collect();
    let rest: u64 = errors
        .iter()
        .skip(ERRORS_SHOWN)
        .map(|error| error.count)
        .fold(summary.http.other_errors, u64::saturating_add);
    if rest > 0 {
        lines.push(format!("{} × other errors", paint.bad(&rest.to_string())));
    }
    lines
}

/// Reports everything that was not counted.
fn left_out(summary: &Summary) -> Vec<String> {
    let mut lines = Vec::new();
    if summary.left_out.check_results > 0 {
        lines.push(format!(
            "{} results of checks are counted only in `checks`: there were too many names of \
             checks to list",
            summary.left_out.check_results
        ));
    }
    if summary.left_out.breakdown_samples > 0 {
        lines.push(format!(
            "{} samples are only in the totals: there were too many groups and scenarios to \
             list",
            summary.left_out.breakdown_samples
        ));
    }
    lines
}
