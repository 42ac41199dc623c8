//! The figures of a record, and the record's last line.

use std::collections::BTreeMap;

use plimsoll_engine::{AbortReason, UserMemory};
use plimsoll_results::distribution::Distribution;
use plimsoll_results::record::{self, End, FixedWork, Generator, NamedRequests};
use plimsoll_results::secrets;
use plimsoll_samples::{MetricSummary, NameParts, ScenarioWork, Summary, Values};
use plimsoll_verdict::{Cause, Level, Verdict};

/// The figures of metrics, grouped by kind.
#[derive(Default)]
pub struct Figures {
    pub counters: BTreeMap<String, f64>,
    pub rates: BTreeMap<String, (u64, u64)>,
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    pub trends: BTreeMap<String, Distribution>,
}

impl Figures {
    /// The figures of some metrics.
    pub fn of(metrics: &[MetricSummary]) -> Figures {
        let mut figures = Figures::default();
        // A script's metric precedes our own metric of the same name, and takes precedence.
        for metric in metrics.iter().rev() {
            let name = metric.name.clone();
            match &metric.values {
                Values::Counter { count, .. } => {
                    figures.counters.insert(name, *count);
                }
                Values::Gauge { value, min, max } => {
                    figures.gauges.insert(name, (*value, *min, *max));
                }
                Values::Rate { passes, fails } => {
                    figures.rates.insert(name, (*passes, passes + fails));
                }
                Values::Trend(histogram) => {
                    figures.trends.insert(name, Distribution::of(histogram));
                }
            }
        }
        figures
    }
}

/// The last line of a record.
pub(crate) fn end(summary: &Summary, verdict: &Verdict, aborted: Option<&AbortReason>) -> End {
    let figures = Figures::of(&summary.metrics);
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for error in &summary.http.errors {
        *errors.entry(secrets::in_text(&error.text)).or_default() += error.count;
    }
    if summary.http.other_errors > 0 {
        errors.insert("others".to_owned(), summary.http.other_errors);
    }
    End {
        duration_seconds: summary.elapsed.as_secs_f64(),
        aborted: aborted.map(reason_text),
        counters: figures.counters,
        rates: figures.rates,
        gauges: figures.gauges,
        trends: figures.trends,
        checks: summary
            .checks
            .iter()
            .map(|check| (check.name.clone(), (check.passes, check.fails)))
            .collect(),
        thresholds: summary
            .metrics
            .iter()
            .flat_map(|metric| {
                metric
                    .thresholds
                    .iter()
                    .map(|threshold| (metric.name.clone(), threshold.source.clone(), threshold.ok))
            })
            .collect(),
        thresholds_measured: summary
            .metrics
            .iter()
            .flat_map(|metric| &metric.thresholds)
            .map(|threshold| Some(threshold.measured).filter(|value| value.is_finite()))
            .collect(),
        objectives_not_judged: Vec::new(),
        statuses: summary
            .http
            .statuses
            .iter()
            .filter(|(status, _)| *status != 0)
            .map(|(status, count)| (plimsoll_output::grpc_status::name(*status), *count))
            .collect(),
        errors,
        protocols: summary.http.protocols.iter().cloned().collect(),
        tls_versions: summary.http.tls_versions.iter().cloned().collect(),
        tls_cipher_suites: summary.http.tls_cipher_suites.iter().cloned().collect(),
        connections_opened: summary.http.connections_opened,
        requests_resent: summary.http.resent,
        iterations_threw: summary.threw,
        names: names(&summary.names),
        fixed_work: summary
            .work
            .iter()
            .map(|work| (work.scenario.clone(), fixed_work(work)))
            .collect(),
        marks: Vec::new(),
        generator: Generator {
            cpu_seconds: plimsoll_machine::cpu_time().as_secs_f64(),
            peak_rss_bytes: plimsoll_machine::peak_memory().get(),
            verdict: match verdict.level {
                Level::Valid => "valid",
                Level::Suspect => "suspect",
                Level::Invalid => "invalid",
            }
            .to_owned(),
            reasons: verdict
                .reasons
                .iter()
                .map(|reason| (cause(reason.cause).to_owned(), reason.text.clone()))
                .collect(),
            disturbed: verdict.disturbed,
            user_memory: None,
        },
    }
}

pub(crate) fn user_memory(memory: &UserMemory) -> record::UserMemory {
    record::UserMemory {
        users: memory.users,
        users_with_image: memory.users_with_image,
        image_bytes: memory.images,
        change_bytes: memory.changes,
        object_bytes: memory.objects,
        heap_bytes: memory.heaps,
        stack_bytes: memory.stacks,
        connections: memory.connections,
        buffer_bytes: memory.buffers,
    }
}

fn names(parts: &NameParts) -> Vec<NamedRequests> {
    let all = parts.listed.iter().chain(&parts.others);
    all.map(|part| NamedRequests {
        name: secrets::in_text(&part.name),
        method: part.method.clone(),
        requests: part.requests,
        failed: part.failed,
        service_time: part
            .times
            .histogram()
            .map(Distribution::of)
            .unwrap_or_default(),
    })
    .collect()
}

fn fixed_work(work: &ScenarioWork) -> FixedWork {
    FixedWork {
        workers: work.workers,
        iterations_wanted: work.wanted(),
        iterations: work.iterations,
        calls: work.done.calls,
        failed_calls: work.done.failed,
        makespan_seconds: work.done.makespan.as_secs_f64(),
        payload_bytes_sent: work.done.sent.get(),
        payload_bytes_received: work.done.received.get(),
    }
}

fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Client => "client",
        Cause::Server => "server",
        Cause::Network => "network",
        Cause::Clock => "clock",
    }
}

/// The reason as text, with secrets masked.
pub(crate) fn reason_text(reason: &AbortReason) -> String {
    match reason {
        AbortReason::Signal => "a signal".to_owned(),
        AbortReason::ByApi => "a request to the API".to_owned(),
        AbortReason::Precise => "the requested precision was reached".to_owned(),
        AbortReason::Threshold => "a threshold with abortOnFail was crossed".to_owned(),
        AbortReason::ByScript(text)
        | AbortReason::ScriptException(text)
        | AbortReason::UserException(_, text)
        | AbortReason::SetupTimeout(text)
        | AbortReason::TeardownTimeout(text)
        | AbortReason::Failed(text)
        | AbortReason::Machine(text) => secrets::in_text(text),
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_verdict::Evidence;

    use super::*;

    #[test]
    fn readers_of_a_record_recognize_a_short_run() {
        let verdict = Evidence::default().judge();
        assert_eq!(verdict.reasons[0].text, record::TOO_SHORT);
    }
}
