//! The results of one run of a cell.

use std::collections::BTreeMap;
use std::path::Path;

use plimsoll_results::distribution::Distribution;
use plimsoll_results::lab::{LimitSearch, Repeat, SecondFigures, Used};
use plimsoll_results::record::{End, Generator, Record, Second};
use plimsoll_stats::Histogram;

use super::latency::{latency_kind, latency_of, requests};
use super::per_second::{cpu_in, parts_per_second};
use super::{fixed_work, stream};
use crate::resolve::Cell;
use crate::resolve::load::Source;
use crate::run::command::RECORD;
use crate::run::observe::GENERATOR;
use crate::run::store::Facts;

/// A repeat, and the data from which its figures are computed.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The repeat in the form that the result contains.
    pub repeat: Repeat,
    /// The latencies of each second after the warm-up.
    pub windows: Vec<Histogram>,
    /// Numerators and denominators of the figures that are ratios, for each whole second after the
    /// warm-up.
    pub per_second: BTreeMap<String, Vec<(f64, f64)>>,
    /// The same ratios, including the warm-up.
    pub whole: BTreeMap<String, f64>,
    pub figures: BTreeMap<String, f64>,
    /// Number of responses by protocol.
    pub protocols: BTreeMap<String, u64>,
    /// Whether requests started according to a schedule.
    pub open: bool,
    /// A script's checks by name: passed, failed.
    pub checks: BTreeMap<String, (u64, u64)>,
    /// The result of a search, if the load is a search.
    pub search: Option<LimitSearch>,
}

impl Measured {
    /// A run without per-second data.
    fn without_record(mut repeat: Repeat, figures: BTreeMap<String, f64>) -> Measured {
        repeat.extra = extra(&figures);
        Measured {
            repeat,
            figures,
            windows: Vec::new(),
            per_second: BTreeMap::new(),
            whole: BTreeMap::new(),
            protocols: BTreeMap::new(),
            open: false,
            checks: BTreeMap::new(),
            search: None,
        }
    }
}

/// Reads the files of a repeat.
pub fn read(cell: &Cell, number: u32, facts: Facts, directory: &Path, relative: &str) -> Measured {
    let raw = std::fs::read_to_string(directory.join("raw.txt")).unwrap_or_default();
    let record = std::fs::File::open(directory.join(RECORD))
        .ok()
        .and_then(|file| plimsoll_results::record::read(std::io::BufReader::new(file)).ok());
    let mut repeat = empty(number, &facts, raw);
    repeat.restart = cell.load.restart_of(number);
    let mut measured = match record {
        Some(record) => {
            repeat.record = Some(format!("{relative}/{RECORD}"));
            of_record(cell, repeat, &facts, &record)
        }
        None if cell.load.is_search() => of_search(repeat, &facts),
        None => of_text(cell, repeat, &facts),
    };
    super::disturbed::judge(&mut measured.repeat, &facts);
    measured
}

/// A run for which only its facts and the output of its load are known.
pub(super) fn empty(number: u32, facts: &Facts, raw: String) -> Repeat {
    Repeat {
        number,
        restart: 1,
        turn: facts.turn,
        started: facts.started.clone(),
        duration_seconds: 0.0,
        warm_up_seconds: 0.0,
        warm_up_rule: "no warm-up was removed".to_owned(),
        requests: 0,
        failed: 0,
        latency: Distribution::default(),
        latency_kind: String::new(),
        seconds: Vec::new(),
        marks: Vec::new(),
        used: facts.observed.used.clone(),
        generator: Generator::default(),
        outcomes: BTreeMap::new(),
        work: None,
        extra: BTreeMap::new(),
        raw,
        record: None,
        disturbed: facts.disturbed.clone(),
    }
}

/// The number of seconds to remove at the start, and the reason.
pub fn warm_up(declared: f64, counts: &[f64]) -> (usize, String) {
    let cut = (declared.ceil() as usize).min(counts.len().saturating_sub(1));
    let rest = counts.get(cut..).unwrap_or_default();
    // MSER-5 on the remaining seconds: White, Cobb and Spratt 2000.
    match plimsoll_stats::warm_up::warm_up(rest) {
        Some(found) if found.cut > 0 && found.cut < rest.len() => (
            cut + found.cut,
            format!(
                "{cut} s as declared, and {} s that still looked like a warm-up (MSER-5)",
                found.cut
            ),
        ),
        Some(_) => (
            cut,
            format!("{cut} s as declared; MSER-5 found no further warm-up"),
        ),
        None => (cut, format!("{cut} s as declared; too short for MSER-5")),
    }
}

fn of_record(cell: &Cell, mut repeat: Repeat, facts: &Facts, record: &Record) -> Measured {
    let (trend, kind) = match &cell.load.latency {
        Some(named) => (named.as_str(), latency_kind(named)),
        None => latency_of(record).unwrap_or(("http_req_duration", "service time")),
    };
    let length = |second: &Second| second.lasted.unwrap_or(1.0);
    let requests = |second: &Second| requests(second, trend);
    // After the end of the load, users only finish their iterations or their think time, which is not
    // load.
    let end = match cell.load.work {
        Some(_) => record.seconds.len(),
        None => record
            .seconds
            .len()
            .min(cell.load.whole().as_secs_f64().ceil() as usize),
    };
    let seconds = record.seconds.get(..end).unwrap_or_default();
    // The rate of an incomplete second is not meaningful.
    let counts: Vec<f64> = seconds
        .iter()
        .filter(|second| second.lasted.is_none())
        .map(requests)
        .collect();
    let (cut, rule) = match cell.load.work {
        Some(_) => (0, "a fixed amount of work has no warm-up".to_owned()),
        None => warm_up(cell.load.warmup.as_secs_f64(), &counts),
    };
    let kept = seconds.get(cut..).unwrap_or_default();
    let all = figures(kept, trend);
    let whole = figures(seconds, trend);
    let windows: Vec<Histogram> = kept
        .iter()
        .filter_map(|second| second.trends.get(trend)?.histogram())
        .collect();
    let latency = merged(kept, trend);
    repeat.latency = Distribution::of(&latency);
    repeat.latency_kind = kind.to_owned();
    repeat.duration_seconds = kept.iter().map(length).sum();
    repeat.warm_up_seconds = cut as f64;
    repeat.warm_up_rule = rule;
    repeat.requests = kept.iter().map(requests).sum::<f64>() as u64;
    repeat.failed = failed(kept);
    let cpu = &facts.observed.series;
    repeat.seconds = record
        .seconds
        .iter()
        .map(|second| second_of(second, trend, requests(second), cpu))
        .collect();
    let mut measured = all;
    let mut protocols = BTreeMap::new();
    let mut checks = BTreeMap::new();
    if let Some(end) = &record.end {
        repeat.generator = end.generator.clone();
        repeat.marks = end.marks.clone();
        repeat.outcomes = end.statuses.clone();
        repeat.outcomes.extend(end.errors.clone());
        protocols = end.protocols.clone();
        checks = end.checks.clone();
        complete(&mut repeat.used, end);
        if let Some(work) = cell.load.work {
            let declared = u64::from(work.workers) * u64::from(work.loops);
            repeat.work = Some((declared, repeat.requests));
            fixed_work::of_record(end, &mut measured);
            repeat.duration_seconds = end.duration_seconds;
        }
        if let Some(why) = &end.aborted {
            repeat.generator.verdict = "invalid".to_owned();
            let reason = ("client".to_owned(), format!("the run was aborted: {why}"));
            repeat.generator.reasons.push(reason);
        }
    } else {
        repeat.generator.verdict = "invalid".to_owned();
        let reason = (
            "client".to_owned(),
            "the run's record is incomplete".to_owned(),
        );
        repeat.generator.reasons.push(reason);
    }
    // Over the whole run including the warm-up, because both were counted from its start to its end.
    let all_seconds = record.seconds.iter().chain(&record.tail);
    let served: f64 = all_seconds.map(requests).sum();
    if let Some(used) = used_by_systems(facts).filter(|_| served > 0.0) {
        measured.insert("cpu_time_per_request".to_owned(), used / served * 1e6);
    }
    if let Some(end) = record.end.as_ref().filter(|end| end.duration_seconds > 0.0) {
        let share = end.generator.cpu_seconds / end.duration_seconds;
        measured.insert("generator_cpu".to_owned(), share * 100.0);
    }
    let counted = repeat.seconds.get(cut..end).unwrap_or_default();
    let busy = super::refuted::busy_share(&facts.topology, counted);
    super::refuted::refute(cell, &measured, busy, &mut repeat.generator);
    repeat.extra = extra(&measured);
    repeat.extra.extend(super::load::of(kept));
    Measured {
        per_second: parts_per_second(
            kept,
            trend,
            repeat.seconds.get(cut..end).unwrap_or_default(),
        ),
        repeat,
        windows,
        whole,
        figures: measured,
        protocols,
        open: record.header.model == "open",
        checks,
        search: None,
    }
}

/// Processor time of all processes that count; `None` if none of them was observed.
fn used_by_systems(facts: &Facts) -> Option<f64> {
    let counts: Vec<f64> = facts
        .observed
        .used
        .iter()
        .filter(|used| !used.apart)
        .map(|used| used.cpu_seconds)
        .collect();
    (!counts.is_empty()).then(|| counts.iter().sum())
}

/// The generator's own readings include its last moments, which observation from outside misses.
fn complete(used: &mut [Used], end: &End) {
    let bytes = |name: &str| end.counters.get(name).map(|count| *count as u64);
    for used in used.iter_mut().filter(|used| used.name == GENERATOR) {
        used.cpu_seconds = used.cpu_seconds.max(end.generator.cpu_seconds);
        used.peak_rss_bytes = used.peak_rss_bytes.max(end.generator.peak_rss_bytes);
        used.network_bytes = bytes("data_received").zip(bytes("data_sent"));
    }
}

/// All figures that are not reported elsewhere.
fn extra(figures: &BTreeMap<String, f64>) -> BTreeMap<String, f64> {
    figures
        .iter()
        .filter(|(name, _)| !name.starts_with("latency_"))
        .map(|(name, value)| (name.clone(), *value))
        .collect()
}

fn merged(seconds: &[Second], trend: &str) -> Histogram {
    let mut all = Histogram::new();
    for second in seconds {
        if let Some(histogram) = second.trends.get(trend).and_then(Distribution::histogram) {
            all.merge(&histogram);
        }
    }
    all
}

fn failed(seconds: &[Second]) -> u64 {
    seconds.iter().map(Second::failed).sum()
}

/// The figures of a part of a run.
pub fn figures(seconds: &[Second], trend: &str) -> BTreeMap<String, f64> {
    let mut figures = BTreeMap::new();
    let time: f64 = seconds
        .iter()
        .map(|second| second.lasted.unwrap_or(1.0))
        .sum();
    let latency = merged(seconds, trend);
    let mut put = |name: &str, value: f64| {
        if value.is_finite() {
            figures.insert(name.to_owned(), value);
        }
    };
    let all: f64 = seconds.iter().map(|second| requests(second, trend)).sum();
    if time > 0.0 && all > 0.0 && trend != "iteration_duration" {
        // Failed requests do not count, because rejecting requests quickly must not look like high
        // throughput.
        let failed = failed(seconds) as f64;
        put("requests_per_second", (all - failed).max(0.0) / time);
        put("failed_share", failed / all * 100.0);
    }
    if !latency.is_empty() {
        for (name, q) in QUANTILES {
            put(name, latency.quantile(*q));
        }
        put("latency_mean", latency.mean());
        put("latency_max", latency.max());
    }
    let iterations = merged(seconds, "iteration_duration");
    if time > 0.0 && !iterations.is_empty() {
        put("iterations_per_second", iterations.count() as f64 / time);
        put("iteration_p95", iterations.quantile(0.95));
    }
    for (name, trend) in [
        ("connect_p50", "http_req_connecting"),
        ("tls_p50", "http_req_tls_handshaking"),
    ] {
        // Reused connections count as zero. Only new connections show how long connecting takes.
        let mut made = Histogram::new();
        for second in seconds {
            for (edge, count) in second
                .trends
                .get(trend)
                .map_or(&[][..], |trend| &trend.buckets)
            {
                (0..(*count).min(1000))
                    .filter(|_| *edge > 0.0)
                    .for_each(|_| made.record(*edge));
            }
        }
        if !made.is_empty() {
            put(name, made.quantile(0.5));
        }
    }
    let known = ["http_reqs", "iterations", "data_received", "data_sent"];
    let mut counters: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, value) in seconds.iter().flat_map(|second| &second.counters) {
        if !known.contains(&name.as_str()) && !name.contains('{') {
            *counters.entry(name).or_default() += value;
        }
    }
    let received: Option<f64> = seconds
        .iter()
        .filter_map(|second| second.counters.get("data_received"))
        .copied()
        .reduce(|sum, more| sum + more);
    if let Some(bytes) = received.filter(|_| time > 0.0) {
        put("received_megabytes_per_second", bytes / 1e6 / time);
    }
    for (name, value) in counters {
        put(name, value);
        if time > 0.0 {
            put(&format!("{name}_per_second"), value / time);
        }
    }
    figures
}

/// Percentiles that are reported as figures.
pub const QUANTILES: &[(&str, f64)] = &[
    ("latency_p50", 0.5),
    ("latency_p90", 0.9),
    ("latency_p95", 0.95),
    ("latency_p99", 0.99),
    ("latency_p999", 0.999),
];

fn second_of(second: &Second, trend: &str, requests: f64, cpu: &[(f64, f64)]) -> SecondFigures {
    let distribution = second.trends.get(trend).filter(|trend| trend.count > 0);
    let histogram = distribution.and_then(Distribution::histogram);
    let at = |q: f64| histogram.as_ref().map(|histogram| histogram.quantile(q));
    SecondFigures {
        second: second.second,
        requests: requests as u64,
        failed: failed(std::slice::from_ref(second)),
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: distribution.map(|trend| trend.max),
        system_cpu: cpu_in(cpu, second.second as f64),
        latencies: distribution.map(Distribution::coarse).unwrap_or_default(),
    }
}

/// A run for which only the tool's output is known.
fn of_text(cell: &Cell, mut repeat: Repeat, facts: &Facts) -> Measured {
    let mut figures = BTreeMap::new();
    repeat.warm_up_rule =
        "no warm-up could be removed: only the tool's own summary is known".to_owned();
    repeat.generator.verdict = "suspect".to_owned();
    repeat.generator.reasons.push((
        "client".to_owned(),
        format!(
            "{}, the tool that generated the load, was not observed",
            cell.load.tool
        ),
    ));
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(&repeat.raw) {
        // The output of iperf3 -J or of our own throughput command.
        let sum = ["sum_received", "sum", "sum_sent"]
            .iter()
            .find_map(|key| json["end"][*key]["bits_per_second"].as_f64());
        if let Some(bits) = sum {
            figures.insert("throughput".to_owned(), bits / 1e6);
        }
        if let Some(seconds) = json["end"]["sum_received"]["seconds"].as_f64() {
            repeat.duration_seconds = seconds;
        }
        of_json(cell, &json, &mut repeat, &mut figures);
        if let (Source::Throughput(_), Some(_)) = (&cell.load.source, sum) {
            stream::judge(&mut repeat, cell.load.whole().as_secs_f64());
        }
    }
    let mut checks = BTreeMap::new();
    if let Ok(audit) = plimsoll_audit::audit("raw", &repeat.raw)
        && let Some(block) = audit.blocks.first()
    {
        of_block(block, &mut repeat, &mut figures);
        if let Some(tally) = &block.checks {
            let counts = (tally.passed as u64, tally.failed as u64);
            checks.insert("all checks together".to_owned(), counts);
        }
    }
    if repeat.duration_seconds == 0.0 {
        repeat.duration_seconds = cell.load.whole().as_secs_f64();
    }
    if let Some(used) = used_by_systems(facts).filter(|_| repeat.requests > 0) {
        figures.insert(
            "cpu_time_per_request".to_owned(),
            used / repeat.requests as f64 * 1e6,
        );
    }
    Measured {
        open: cell.load.rate.is_some(),
        checks,
        ..Measured::without_record(repeat, figures)
    }
}

/// A search for a limit. Each of its trials is a separate observed run.
fn of_search(mut repeat: Repeat, facts: &Facts) -> Measured {
    let mut figures = BTreeMap::new();
    let found = crate::limit_search::read(&repeat.raw);
    repeat.warm_up_rule = "each trial of a search excludes its own warm-up".to_owned();
    repeat.latency_kind = "response time".to_owned();
    if let Some((took, _)) = facts.observed.series.last() {
        repeat.duration_seconds = *took;
    }
    match &found {
        Some(found) => {
            repeat.generator.verdict = found.verdict.to_owned();
            repeat.generator.reasons = found.reasons.clone();
            if let Some(kept) = found.search.kept {
                figures.insert("limit".to_owned(), kept);
            }
        }
        None => {
            repeat.generator.verdict = "invalid".to_owned();
            let reason = "the search printed no result".to_owned();
            repeat.generator.reasons.push(("client".to_owned(), reason));
        }
    }
    Measured {
        open: true,
        search: found.map(|found| found.search),
        ..Measured::without_record(repeat, figures)
    }
}

/// Reads the JSON output of our own commands.
fn of_json(
    cell: &Cell,
    json: &serde_json::Value,
    repeat: &mut Repeat,
    figures: &mut BTreeMap<String, f64>,
) {
    let ours = json["schema"]
        .as_str()
        .is_some_and(|schema| schema.starts_with("plimsoll/"));
    let Some(requests) = json["requests"].as_u64().filter(|_| ours) else {
        return;
    };
    repeat.requests = requests;
    repeat.failed = json["failed"].as_u64().unwrap_or(0);
    repeat.duration_seconds = json["duration_seconds"].as_f64().unwrap_or(0.0);
    let open = json["response_time"].is_object();
    repeat.latency_kind = if open {
        "response time"
    } else {
        "service time"
    }
    .to_owned();
    let times = if open {
        &json["response_time"]
    } else {
        &json["service_time"]
    };
    for (name, value) in times.as_object().into_iter().flatten() {
        if let Some(value) = value.as_f64().filter(|_| name != "count") {
            figures.insert(format!("latency_{name}"), value);
        }
    }
    if repeat.duration_seconds > 0.0 {
        // Failed requests do not count, because rejecting requests quickly must not look like high
        // throughput.
        let good = requests.saturating_sub(repeat.failed) as f64;
        let rate = good / repeat.duration_seconds;
        figures.insert("requests_per_second".to_owned(), rate);
    }
    if requests > 0 {
        let share = repeat.failed as f64 / requests as f64 * 100.0;
        figures.insert("failed_share".to_owned(), share);
    }
    if let Some(work) = cell.load.work {
        repeat.work = Some((u64::from(work.workers) * u64::from(work.loops), requests));
        fixed_work::of_result(json, figures);
    }
    let generator = &json["generator"];
    if let Some(verdict) = generator["verdict"].as_str() {
        repeat.generator.verdict = verdict.to_owned();
        repeat.generator.cpu_seconds = generator["cpu_seconds"].as_f64().unwrap_or(0.0);
        repeat.generator.peak_rss_bytes = generator["peak_rss_bytes"].as_u64().unwrap_or(0);
        let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let reasons = generator["reasons"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        repeat.generator.reasons = reasons
            .iter()
            .map(|one| (text(&one["cause"]), text(&one["text"])))
            .collect();
    }
}

fn of_block(
    block: &plimsoll_audit::Block,
    repeat: &mut Repeat,
    figures: &mut BTreeMap<String, f64>,
) {
    repeat.requests = block
        .requests
        .as_ref()
        .map_or(0, |requests| requests.value as u64);
    repeat.failed = block.failed() as u64;
    if let Some(rate) = &block.rate {
        // Tools also count failed requests.
        let good = match repeat.requests {
            0 => 1.0,
            all => 1.0 - (repeat.failed as f64 / all as f64).min(1.0),
        };
        figures.insert("requests_per_second".to_owned(), rate.value * good);
    }
    if let Some(time) = block.divisor_time() {
        repeat.duration_seconds = time;
    }
    for (status, count) in &block.statuses {
        repeat.outcomes.insert(status.clone(), count.value as u64);
    }
    repeat.latency_kind = "latency as reported by the tool".to_owned();
    for (name, figure) in block
        .latency()
        .map(|trend| trend.figures())
        .unwrap_or_default()
    {
        let name = match name.as_str() {
            "median" => "p50".to_owned(),
            other => other.replace('.', ""),
        };
        figures.insert(format!("latency_{name}"), figure.value * 1000.0);
    }
}
