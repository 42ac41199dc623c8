//! Reads k6's summaries in text: with ✓ and ✗ marks, with `0 out of 9`, and in sections (`█ TOTAL
//! RESULTS`).

use std::borrow::Cow;

use super::digit_groups::join_digit_groups;
use super::{BOUNDARY, Line};
use crate::block::{Block, CheckCount, Model, Role, Tally, Threshold, Tool, Trend};
use crate::quantity::{
    Quantity, Unit, parse_data, parse_duration, parse_number, parse_time_unit, parse_unitless,
    split_number,
};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut reader = Reader::default();
    for line in lines {
        reader.read_line(*line);
    }
    reader.finish_block();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    block: Option<Block>,
    /// The metric to which the following thresholds belong.
    metrics: usize,
    /// Whether the reader is in a part of a full summary that repeats the totals by scenario or group.
    repeating: bool,
    /// Checks above the first figure.
    pending: Vec<(String, usize)>,
}

impl Reader {
    fn read_line(&mut self, line: Line) {
        let text = line.text.trim();
        if text == BOUNDARY {
            self.finish_block();
            self.pending.clear();
            return;
        }
        if text.starts_with("execution: ") {
            self.finish_block();
            self.start_block(line.number);
        }
        if let Some(section) = text.strip_prefix('█') {
            let section = section.trim();
            // The heading of a group is part of the summary. These sections repeat the summary.
            self.repeating = section.starts_with("GROUP:") || section.starts_with("SCENARIO:");
        }
        if self.repeating && !text.starts_with("running (") {
            return;
        }
        // In one layout, the mark of a threshold precedes the metric.
        let (mark, unmarked) = match parse_mark(text) {
            Some((passed, rest)) => (Some(passed), rest),
            None => (None, text),
        };
        // A wrapped row continues with percentiles.
        if text.starts_with("p(") && text.contains(")=") {
            if let Some(trend) = self
                .block
                .as_mut()
                .and_then(|block| block.trends.last_mut())
            {
                read_columns(trend, text, line.number);
            }
            return;
        }
        if let Some((name, rest)) = split_metric(unmarked) {
            if let Some(block) = self.block.as_mut().filter(|_| is_condition(rest)) {
                block.last_line = line.number;
                return;
            }
            let again = self
                .block
                .as_ref()
                .is_some_and(|block| has_metric(block, name));
            if again {
                self.finish_block();
            }
            if self.block.is_none() {
                self.start_block(line.number);
            }
            if let Some(block) = &mut self.block {
                block.last_line = line.number;
                self.metrics += 1;
                if let Some(passed) = mark {
                    block.thresholds.push(Threshold {
                        text: name.to_owned(),
                        line: line.number,
                        passed,
                    });
                }
                match name {
                    // The two numbers are the current number of users and the maximum.
                    "vus" | "vus_max" => set_metric(block, name, rest, line.number),
                    _ => set_metric(block, name, &join_digit_groups(rest), line.number),
                }
            }
            return;
        }
        // If only traffic precedes the progress line, it is the end of another summary.
        let only_traffic = |block: &Block| block.trends.is_empty() && block.requests.is_none();
        if text.starts_with("running (")
            && self.metrics > 0
            && self.block.as_ref().is_some_and(only_traffic)
        {
            self.block = None;
            self.start_block(line.number);
        }
        let Some(block) = &mut self.block else {
            if text.starts_with(['✓', '✗', '↳']) && self.pending.len() < 500 {
                self.pending.push((text.to_owned(), line.number));
            }
            return;
        };
        let text = match text.starts_with("running (") {
            true => join_digit_groups(text),
            false => Cow::Borrowed(text),
        };
        if read_heading(block, &text, line.number) || read_running_line(block, &text, line.number) {
            block.last_line = line.number;
        }
    }

    fn start_block(&mut self, line: usize) {
        self.repeating = false;
        let mut block = Block::new(Tool::K6, "k6 text", line);
        for (text, number) in self.pending.drain(..) {
            read_heading(&mut block, &text, number);
        }
        self.block = Some(block);
        self.metrics = 0;
    }

    /// Whether the block is a result. A heading without figures is not, and neither are users or
    /// traffic alone, which a guide quotes to explain them.
    fn finish_block(&mut self) {
        let measured = |block: &Block| {
            let counted = block.requests.is_some() || block.iterations.is_some();
            counted
                || !block.trends.is_empty()
                || block.checks.is_some()
                || block.failures.is_some()
        };
        // The request row alone is a result if it has every column.
        let alone = |block: &Block| {
            block.latency().is_some_and(|trend| {
                let ends = trend.min.is_some() && trend.mean.is_some() && trend.max.is_some();
                trend.name == "http_req_duration" && ends && trend.quantiles.len() >= 3
            })
        };
        if let Some(block) = self.block.take()
            && (self.metrics >= 2 || alone(&block))
            && measured(&block)
        {
            self.blocks.push(block);
        }
    }
}

/// Splits `name....: rest`, or `{ expected_response:true }...: rest`. The dots or the colon may be
/// missing for metrics that every summary contains.
fn split_metric(text: &str) -> Option<(&str, &str)> {
    const KNOWN: [&str; 7] = [
        "http_req_duration",
        "http_req_failed",
        "http_reqs",
        "iterations",
        "http_req_waiting",
        "http_req_blocked",
        "iteration_duration",
    ];
    let (name, rest) = match text.find("..:") {
        Some(at) => (text[..at].trim_end_matches('.').trim(), &text[at + 3..]),
        None => {
            let dotted = text
                .split_once("....")
                .map(|(name, rest)| (name, rest.trim_start_matches('.')))
                .filter(|(_, rest)| rest.starts_with(' '));
            let (name, rest) = dotted.or_else(|| text.split_once(':'))?;
            if !KNOWN.contains(&name) || !rest.contains(|letter: char| letter.is_ascii_digit()) {
                return None;
            }
            (name, rest)
        }
    };
    let name_is_plain = name
        .chars()
        .all(|letter| letter.is_alphanumeric() || "_ {}:/,.-".contains(letter));
    (name_is_plain && !name.is_empty()).then_some((name, rest.trim()))
}

/// Whether the text is a threshold instead of a figure: `p(99)<200  actual=110ms`, `rate<0.01`.
fn is_condition(rest: &str) -> bool {
    let first = rest.split_whitespace().next().unwrap_or("");
    let figure = first.split(['<', '>']).next().unwrap_or("");
    first.len() > figure.len()
        && (figure.starts_with("p(") || matches!(figure, "rate" | "avg" | "med" | "max" | "count"))
}

/// Whether the block already has this metric, which means that another block starts here.
fn has_metric(block: &Block, name: &str) -> bool {
    match name {
        "http_reqs" => block.requests.is_some(),
        "iterations" => block.iterations.is_some(),
        "checks" => block.checks.is_some() && block.layout == "k6 text, legacy",
        "data_received" => block.received.total.is_some(),
        "data_sent" => block.sent.total.is_some(),
        _ => block
            .trends
            .iter()
            .any(|trend| trend.name == name && !name.starts_with('{')),
    }
}

fn set_metric(block: &mut Block, name: &str, rest: &str, line: usize) {
    if let Some(trend) = parse_trend(name, rest, line) {
        // Only the first metric with a name counts; its sub-metrics follow it. The limit is far
        // above the number of metrics in any script.
        const MAX_METRICS: usize = 512;
        if block.trends.len() >= MAX_METRICS {
            return;
        }
        if trend.role == Role::Own || block.trend(trend.role).is_none() {
            block.trends.push(trend);
        }
        return;
    }
    match name {
        "http_reqs" => (block.requests, block.rate) = parse_counter(rest, line),
        "iterations" => (block.iterations, block.iteration_rate) = parse_counter(rest, line),
        "dropped_iterations" => block.dropped = parse_counter(rest, line).0,
        "data_received" => (block.received.total, block.received.rate) = parse_traffic(rest, line),
        "data_sent" => (block.sent.total, block.sent.rate) = parse_traffic(rest, line),
        "vus" => {
            block.gauge = parse_gauge(rest, line);
            let min_users = rest
                .split_whitespace()
                .find_map(|word| word.strip_prefix("min="))
                .and_then(|min_users| min_users.parse::<f64>().ok());
            block.constant_users = min_users
                .zip(block.gauge.as_ref())
                .is_some_and(|(min_users, (_, max))| min_users == max.value);
        }
        // If more users are allocated than active, the number of active users is unknown.
        "vus_max" => {
            block.max_users = parse_gauge(rest, line).map(|(_, max)| max);
            let highest = block.max_users.as_ref().map(|max| max.value);
            let seen = block.gauge.as_ref().map(|(_, max)| max.value);
            block.constant_users &= highest == seen;
        }
        "http_req_failed" => {
            block.failures = parse_tally(rest, line, true);
            let share = rest.split_whitespace().next();
            block.failed_share = share.and_then(|share| parse_unitless(share, Unit::Share, line));
        }
        "checks" => {
            block.layout = "k6 text, legacy";
            block.checks = parse_tally(rest, line, false);
        }
        "checks_succeeded" => {
            block.layout = "k6 text, sections";
            block.checks = parse_tally(rest, line, false);
        }
        "checks_failed" if block.checks.is_none() => {
            block.layout = "k6 text, sections";
            block.checks = parse_tally(rest, line, true).map(|mut tally| {
                tally.inverted = false;
                tally.share = None;
                tally
            });
        }
        "checks_failed" | "checks_total" => {}
        // The limit is far above the number of rates in any script.
        _ if rest.contains('%') && block.rates.len() < 256 => {
            if let Some(tally) = parse_tally(rest, line, false) {
                block.rates.push((name.to_owned(), tally));
            }
        }
        _ => {}
    }
}

/// `avg=3.91ms min=1.06ms med=2.9ms … p(95)=5.95ms count=9`
fn parse_trend(name: &str, rest: &str, line: usize) -> Option<Trend> {
    if !rest.contains('=')
        || !["avg=", "p(", "med=", "p9"]
            .iter()
            .any(|key| rest.contains(key))
    {
        return None;
    }
    let role = match name {
        "http_req_duration" | "grpc_req_duration" => Role::Request,
        "{ expected_response:true }" => Role::Expected,
        "http_req_blocked" => Role::Blocked,
        "http_req_connecting" => Role::Connecting,
        "http_req_tls_handshaking" => Role::Tls,
        "http_req_sending" => Role::Sending,
        "http_req_waiting" => Role::Waiting,
        "http_req_receiving" => Role::Receiving,
        "iteration_duration" => Role::Iteration,
        _ => Role::Own,
    };
    let mut trend = Trend::new(role, name, line);
    read_columns(&mut trend, rest, line);
    (!trend.figures().is_empty()).then_some(trend)
}

/// `avg=3.91ms p(95)=5.95ms`, with or without commas in between.
fn read_columns(trend: &mut Trend, rest: &str, line: usize) {
    for word in rest.split_whitespace() {
        let word = word.trim_end_matches(',');
        let Some((key, value)) = word.split_once('=') else {
            continue;
        };
        let Some(figure) = parse_time(value, line) else {
            continue;
        };
        match key {
            "avg" => trend.mean = Some(figure),
            "min" => trend.min = Some(figure),
            "max" => trend.max = Some(figure),
            "med" => trend.insert_quantile(0.5, figure),
            _ => {
                let inner = key
                    .strip_prefix('p')
                    .map(|key| key.trim_matches(['(', ')']));
                if let Some(percent) = inner.and_then(|inner| inner.parse::<f64>().ok())
                    && percent > 0.0
                    && percent < 100.0
                {
                    trend.insert_quantile(percent / 100.0, figure);
                }
            }
        }
    }
}

/// Parses a duration as k6 prints it: two decimals without trailing zeros, or whole nanoseconds.
fn parse_time(text: &str, line: usize) -> Option<Quantity> {
    let mut figure = parse_duration(text, line)?;
    let (_, unit) = split_number(text)?;
    if let Some(scale) = parse_time_unit(unit) {
        figure.step = match unit {
            "ns" => 0.0,
            "m" | "h" => figure.step,
            _ => figure.step.min(0.01 * scale),
        };
    }
    if figure.value == 0.0 {
        figure.step = 0.0;
    }
    Some(figure)
}

/// `6000  99.467985/s`
fn parse_counter(rest: &str, line: usize) -> (Option<Quantity>, Option<Quantity>) {
    let mut words = rest
        .split_whitespace()
        .map(|word| word.trim_matches(['(', ')', '≈', '~', ',']))
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit()));
    let mut next = |unit| parse_unitless(words.next()?, unit, line);
    (next(Unit::Count), next(Unit::Rate))
}

/// `397 MB 13 MB/s`
fn parse_traffic(rest: &str, line: usize) -> (Option<Quantity>, Option<Quantity>) {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words[..] {
        [total, unit, rate, rate_unit, ..] => (
            parse_data(&format!("{total} {unit}"), line),
            parse_data(&format!("{rate} {rate_unit}"), line),
        ),
        _ => (None, None),
    }
}

/// `242 min=242 max=1000`: the last sample and the maximum.
fn parse_gauge(rest: &str, line: usize) -> Option<(Quantity, Quantity)> {
    let last = parse_unitless(rest.split_whitespace().next()?, Unit::Count, line)?;
    let max = rest
        .split_whitespace()
        .find_map(|word| word.strip_prefix("max="))?;
    Some((last, parse_unitless(max, Unit::Count, line)?))
}

/// `0.00% ✓ 0 ✗ 6000`, `0.00% 0 out of 6000`. For `http_req_failed`, the ✓ mark counts failures.
fn parse_tally(rest: &str, line: usize, of_failures: bool) -> Option<Tally> {
    let mut words = rest.split_whitespace();
    let share = words
        .next()
        .and_then(|word| parse_unitless(word, Unit::Share, line))?;
    let numbers: Vec<f64> = rest
        .split_whitespace()
        .skip(1)
        .map(|word| word.trim_matches(['(', ')', '✓', '✗']))
        .filter_map(|word| split_number(word))
        .filter_map(|(digits, rest)| rest.is_empty().then(|| parse_number(digits)).flatten())
        .map(|(value, _)| value)
        .collect();
    let [first, second, ..] = numbers[..] else {
        return None;
    };
    let marks = rest.contains('✓') || rest.contains('✗');
    let (matching, others) = if marks {
        (first, second)
    } else {
        (first, second - first)
    };
    let (passed, failed) = if of_failures {
        (others, matching)
    } else {
        (matching, others)
    };
    Some(Tally {
        passed,
        failed,
        share: Some(share),
        line,
        inverted: marks && of_failures,
    })
}

/// Whether the mark at the start of a line means that a check or a threshold passed, and the rest
/// of the line. Words replace the marks if the terminal cannot display them.
fn parse_mark(text: &str) -> Option<(bool, &str)> {
    const MARKS: [(&str, bool); 5] = [
        ("✓", true),
        ("✗", false),
        ("⚠", false),
        ("PASS ", true),
        ("FAIL ", false),
    ];
    MARKS
        .iter()
        .find_map(|(mark, passed)| Some((*passed, text.strip_prefix(mark)?.trim())))
}

/// Reads the lines above the figures.
fn read_heading(block: &mut Block, text: &str, line: usize) -> bool {
    if let Some(script) = text.strip_prefix("script: ") {
        block.script = Some(script.trim().to_owned());
    } else if let Some(scenario) = text.strip_prefix("* ") {
        return read_scenario_line(block, scenario, line);
    } else if let Some(rest) = text.strip_prefix('↳') {
        let count = |mark: char| {
            let rest = rest.split_once(mark)?.1.split_whitespace().next()?;
            parse_number(rest).map(|(value, _)| value)
        };
        let (Some(passed), Some(failed)) = (count('✓'), count('✗')) else {
            return false;
        };
        block.check_counts.push(CheckCount {
            passed,
            failed,
            line,
        });
    } else if let Some(users) = text.strip_prefix("vus: ") {
        // Before version 0.27: `vus: 100, max: 100`.
        let count = |text: &str| text.trim().parse::<f64>().ok();
        let highest = text
            .split_once("max: ")
            .and_then(|(_, highest)| count(highest));
        let users = users.split(',').next().and_then(count);
        if let (Some(users), Some(highest)) = (users, highest)
            && users == highest
        {
            block.model = Model::Closed;
            block.looping = true;
            block.users = Some(Quantity::exact(users, Unit::Count, line));
        }
    } else if let Some(time) = text.strip_prefix("duration: ") {
        block.declared = time
            .split(',')
            .next()
            .and_then(|time| parse_duration(time, line));
    } else if let Some((passed, rest)) = parse_mark(text).filter(|_| !text.starts_with('⚠')) {
        match rest.strip_prefix('\'') {
            Some(_) => block.thresholds.push(Threshold {
                text: rest.to_owned(),
                line,
                passed,
            }),
            None if !rest.is_empty() => {
                block.check_names.push((rest.to_owned(), line));
                block.failed_marks += usize::from(!passed);
            }
            None => {}
        }
    } else {
        return false;
    }
    true
}

/// Reads `default: 100 looping VUs for 1m0s (gracefulStop: 30s)` and similar lines. With a second
/// scenario, users and rate are unknown.
fn read_scenario_line(block: &mut Block, text: &str, line: usize) -> bool {
    let Some((_, rest)) = text.split_once(": ") else {
        return false;
    };
    if block.model != Model::Unknown || block.looping {
        block.model = Model::Unknown;
        block.looping = false;
        (
            block.users,
            block.declared,
            block.requested_rate,
            block.requested_count,
        ) = (None, None, None, None);
        return true;
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let declared = |at: usize| words.get(at).and_then(|word| parse_duration(word, line));
    let count = |word: &str| parse_unitless(word, Unit::Count, line);
    match words[..] {
        [users, "looping", "VUs", "for", ..] => {
            block.model = Model::Closed;
            block.looping = true;
            block.users = count(users);
            block.declared = declared(4);
        }
        [rate, per, "for", ..] if rate.parse::<f64>().is_ok() && per.starts_with("iterations/") => {
            block.model = Model::Open;
            if per == "iterations/s" {
                block.requested_rate = parse_unitless(rate, Unit::Rate, line);
            }
            block.declared = declared(3);
        }
        ["Up", "to", _, per, "for", ..] if per.starts_with("iterations/") => {
            block.model = Model::Open;
            block.declared = declared(5);
        }
        [
            iterations,
            "iterations",
            "shared",
            "among",
            users,
            "VUs",
            ..,
        ] => {
            block.model = Model::Closed;
            block.requested_count = count(iterations);
            block.users = count(users);
        }
        [
            iterations,
            "iterations",
            "for",
            "each",
            "of",
            users,
            "VUs",
            ..,
        ] => {
            block.model = Model::Closed;
            block.users = count(users);
            block.requested_count = match (count(iterations), &block.users) {
                (Some(each), Some(users)) => {
                    Some(Quantity::exact(each.value * users.value, Unit::Count, line))
                }
                _ => None,
            };
        }
        _ => return false,
    }
    true
}

/// Reads `running (1m00.3s), 000/100 VUs, 6000 complete and 0 interrupted iterations`. The last
/// such line describes the end of the run.
fn read_running_line(block: &mut Block, text: &str, line: usize) -> bool {
    let Some(rest) = text.strip_prefix("running (") else {
        return false;
    };
    let Some((elapsed, rest)) = rest.split_once(')') else {
        return false;
    };
    block.elapsed = parse_duration(elapsed, line);
    let words: Vec<&str> = rest.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "interrupted");
    block.interrupted = at
        .and_then(|at| words.get(at.checked_sub(1)?))
        .and_then(|count| count.parse().ok());
    if rest.ends_with("interrupted") {
        block
            .orphan_rows
            .push((format!("the line `{text}` ends before its last word"), line));
    }
    true
}
