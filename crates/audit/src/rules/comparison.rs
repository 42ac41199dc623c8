//! Comparisons of two figures in prose.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, Unit, format_number, format_value, parse_duration};
use crate::report::{Findings, Report};

use super::prose::{sentences, shorten};
use super::tables::{cell_at, find_column, parse_figure, parse_number};

static FACTOR: Pattern =
    pattern!(r"(?i)\b(\d+(?:\.\d+)?)x\s+(?:\w+\s+)?(throughput|rate)\b.*?\bfrom\s+(\w+)");

/// Checks "2x throughput … from X", if every row from X is slower, and "A (3 ms) is faster than B
/// (2 ms)".
pub fn check_reversed(report: &Report, findings: &mut Findings) {
    let mut left = 64;
    for prose in report.prose() {
        for sentence in sentences(&prose.text) {
            if left > 0
                && let Some(found) = FACTOR.first(sentence)
            {
                left -= 1;
                let group = |at: usize| group(&found, at);
                let factor = group(1).parse::<f64>().unwrap_or(1.0);
                let ratios = throughput_ratios(report, group(3));
                let shown: Vec<String> = ratios
                    .iter()
                    .take(6)
                    .map(|(label, ratio)| format!("{label} {}", format_number(*ratio)))
                    .collect();
                if factor > 1.0 && ratios.len() >= 2 && ratios.iter().all(|(_, ratio)| *ratio < 1.0)
                {
                    findings.page(
                        "comparison-reversed",
                        Level::Error,
                        prose.line,
                        [
                            format!("\"{}\"", shorten(sentence)),
                            format!("throughput of {} ÷ throughput of the other, row by row: {}: all below 1, none {}", group(3), shown.join(", "), format_number(factor)),
                            "State which one is faster, and by what factor.".to_owned(),
                        ],
                    );
                }
            }
            check_sentence(sentence, prose.line, findings);
        }
    }
}

/// The rows of one test from two locations: the throughput at this location divided by the
/// throughput at the other one.
fn throughput_ratios(report: &Report, place: &str) -> Vec<(String, f64)> {
    let mut ratios = Vec::new();
    for table in &report.document.tables {
        let (Some(from), Some(test)) = (
            find_column(table, &["from", "client"]),
            find_column(table, &["test"]),
        ) else {
            continue;
        };
        for (line, row) in table
            .rows
            .iter()
            .take(500)
            .filter(|(_, row)| cell_at(row, from).eq_ignore_ascii_case(place))
        {
            let other = table.rows.iter().find(|(_, other)| {
                cell_at(other, test) == cell_at(row, test)
                    && !cell_at(other, from).eq_ignore_ascii_case(place)
            });
            let Some((other_line, other)) = other else {
                continue;
            };
            for at in 0..row.len().min(16) {
                let name = table
                    .header
                    .get(at)
                    .map_or("", String::as_str)
                    .to_lowercase();
                let time = name.contains("time") || name.contains("duration");
                let pair = match time {
                    true => parse_figure(cell_at(row, at), *line)
                        .zip(parse_figure(cell_at(other, at), *other_line)),
                    false if name.contains("/s") => parse_number(cell_at(row, at), *line)
                        .zip(parse_number(cell_at(other, at), *other_line)),
                    false => None,
                };
                if let Some((mine, theirs)) =
                    pair.filter(|(mine, theirs)| mine.value > 0.0 && theirs.value > 0.0)
                {
                    let ratio = if time {
                        theirs.value / mine.value
                    } else {
                        mine.value / theirs.value
                    };
                    ratios.push((cell_at(row, test).to_owned(), ratio));
                }
            }
        }
    }
    ratios
}

static TIMES: Pattern = pattern!(r"(\d+(?:\.\d+)?)\s?(ms|µs|us|s)\b");
static PERCENT: Pattern = pattern!(r"(\d+(?:\.\d+)?)\s?(?:%|per cent|percent)");
const LESS: [&str; 6] = [
    "faster than",
    "quicker than",
    "less than",
    "lower than",
    "shorter than",
    "better than",
];
const MORE: [&str; 4] = ["slower than", "longer than", "higher than", "worse than"];

/// The two times in a sentence that has exactly two.
fn parse_two_times(sentence: &str, line: usize) -> Option<(Quantity, Quantity, usize, usize)> {
    let mut found = TIMES.all(sentence).filter_map(|found| found.get(0));
    let (one, two) = (found.next()?, found.next()?);
    if found.next().is_some() {
        return None;
    }
    let read = |text: &str| parse_duration(text, line).filter(|time| time.value > 0.0);
    Some((
        read(one.as_str())?,
        read(two.as_str())?,
        one.start(),
        two.start(),
    ))
}

/// Checks `A (3 ms) is faster than B (2 ms)`: the word must match the figures.
fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    let Some((one, two, first, second)) = parse_two_times(sentence, line) else {
        return;
    };
    let lower = sentence.to_lowercase();
    let between = |words: &[&str]| {
        words.iter().find_map(|word| {
            let at = lower.find(word)?;
            (at > first && at < second).then(|| (*word).to_owned())
        })
    };
    let denied = lower.contains(" not ") || lower.contains("n't ");
    let wrong = match (between(&LESS), between(&MORE)) {
        (Some(word), None) => (one.value > two.value).then_some(word),
        (None, Some(word)) => (one.value < two.value).then_some(word),
        _ => None,
    };
    if let (Some(word), false) = (wrong, denied) {
        findings.page(
            "comparison-reversed",
            Level::Error,
            line,
            [
                format!("\"{}\"", shorten(sentence)),
                format!(
                    "{} is not {word} {}: {:.3} of it",
                    one.text,
                    two.text,
                    one.value / two.value
                ),
                "Reverse the comparison.".to_owned(),
            ],
        );
    }
}

/// Checks the base of a percentage: "25 % less" for 20 ms and 25 ms. A decrease is a share of the
/// larger value, an increase is a share of the smaller one.
pub fn check_percentage_base(report: &Report, findings: &mut Findings) {
    for prose in report.prose() {
        for sentence in sentences(&prose.text) {
            let (Some((one, two, ..)), Some(found)) = (
                parse_two_times(sentence, prose.line),
                PERCENT.first(sentence),
            ) else {
                continue;
            };
            let Some(claimed) = found
                .get(1)
                .and_then(|group| group.as_str().parse::<f64>().ok())
            else {
                continue;
            };
            let lower = sentence.to_lowercase();
            let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
            let (low, high) = (one.value.min(two.value), one.value.max(two.value));
            let of_high = (high - low) / high * 100.0;
            let of_low = (high - low) / low * 100.0;
            let (right, wrong, base) = match (
                has(&[
                    "less", "lower", "shorter", "reduc", "decreas", "saves", "saved",
                ]),
                has(&["slower", "longer", "higher", "more ", "increas"]),
            ) {
                (true, false) => (of_high, of_low, high),
                (false, true) => (of_low, of_high, low),
                _ => continue,
            };
            // The page rounds the percentage, so report it only if the wrong base matches and the
            // right one does not.
            let near = |value: f64| (value - claimed).abs() <= 0.6;
            if near(wrong) && !near(right) {
                findings.page(
                    "wrong-base",
                    Level::Error,
                    prose.line,
                    [
                        format!("\"{}\"", shorten(sentence)),
                        format!(
                            "({} − {}) ÷ {} = {right:.1} %; {wrong:.1} % is relative to the other value",
                            format_value(high, Unit::Time),
                            format_value(low, Unit::Time),
                            format_value(base, Unit::Time)
                        ),
                        "Divide by the value to compare with.".to_owned(),
                    ],
                );
            }
        }
    }
}

/// Reports ab's `across all concurrent requests`, which is 1 ÷ rate. It is a note, or an error if
/// the page quotes it as a latency.
pub fn check_inverse_rate(report: &Report, findings: &mut Findings) {
    check_computed_time(report, findings);
    const RULE: &str = "inverse-rate-as-latency";
    let lines: Vec<&str> = report.text.lines().collect();
    for block in &report.blocks {
        let (Some(inverse), Some(rate), Some(users)) =
            (&block.inverse_rate, &block.rate, &block.users)
        else {
            continue;
        };
        if users.value < 2.0 {
            continue;
        }
        let mean = block.latency().and_then(|latency| latency.mean.as_ref());
        let digits_of = inverse.text.trim_end_matches(" ms");
        let quoted = report.prose().find_map(|prose| {
            sentences(&prose.text)
                .find(|sentence| {
                    let lower = sentence.to_lowercase();
                    digits_of.len() >= 4
                        && is_quoted(sentence, digits_of)
                        && [
                            "latency",
                            "response time",
                            "per request",
                            "respond",
                            "answers in",
                        ]
                        .iter()
                        .any(|word| lower.contains(word))
                })
                .map(|sentence| (prose.line, shorten(sentence)))
        });
        let explained = lines
            .get(inverse.line.saturating_sub(1))
            .and_then(|line| server_time_remark(line))
            .map(|remark| (inverse.line, shorten(remark)));
        let level = match (&quoted, &explained) {
            (Some(_), _) => Level::Error,
            (None, Some(_)) => Level::Warning,
            (None, None) => Level::Note,
        };
        let quoted = quoted.or(explained);
        let line = quoted.as_ref().map_or(inverse.line, |(line, _)| *line);
        findings.block(
            RULE,
            level,
            block,
            line,
            [
                format!(
                    "{} across all {} concurrent requests{}",
                    inverse.text,
                    users.text,
                    quoted.map_or(String::new(), |(_, sentence)| format!("; \"{sentence}\""))
                ),
                format!(
                    "1 ÷ {} = {}: this is the time between responses, not the duration of a request{}",
                    rate.text,
                    format_value(1.0 / rate.value, Unit::Time),
                    mean.filter(|mean| mean.value > 0.0)
                        .map_or(String::new(), |mean| format!(
                            ", {}, {} × as long",
                            mean.text,
                            format_number(mean.value / inverse.value)
                        ))
                ),
                "Quote the first `Time per request`, or a percentile.".to_owned(),
            ],
        );
    }
}

/// A remark after ab's second `Time per request` that explains it as the time of the server.
fn server_time_remark(line: &str) -> Option<&str> {
    const SERVER: [&str; 14] = [
        "server",
        "process",
        "服务",
        "处理",
        "サーバ",
        "処理",
        "서버",
        "처리",
        "сервер",
        "обработ",
        "servidor",
        "procesa",
        "serveur",
        "traitement",
    ];
    // A correct explanation mentions the other requests, or the division.
    const RIGHT: [&str; 7] = ["concurr", "并发", "並發", "÷", "/", "between", "同時"];
    let (_, remark) = line.split_once("concurrent requests)")?;
    let remark = remark
        .trim()
        .trim_start_matches(['#', '/', '-', '←', '<', ' ']);
    let lower = remark.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    (has(&SERVER) && !has(&RIGHT)).then_some(remark)
}

/// Whether a sentence contains this number as a whole number token.
fn is_quoted(sentence: &str, digits: &str) -> bool {
    sentence.match_indices(digits).any(|(at, _)| {
        let before = sentence[..at].chars().next_back();
        let after = sentence[at + digits.len()..].chars().next();
        let of_number = |letter: Option<char>| {
            letter.is_some_and(|letter| letter.is_ascii_digit() || letter == '.' || letter == ',')
        };
        !of_number(before) && !after.is_some_and(|letter| letter.is_ascii_digit())
    })
}

/// Reports ab's first `Time per request`, which is users ÷ rate. The measured value is in `Total:`.
fn check_computed_time(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(computed) = &block.computed_mean else {
            continue;
        };
        let measured = block
            .latency()
            .and_then(|latency| latency.mean.clone())
            .or_else(|| sum_of_parts(block));
        let Some(users) = &block.users else {
            continue;
        };
        let Some(measured) = measured else {
            check_computed_time_above_means(block, computed, users, findings);
            continue;
        };
        let apart = (computed.value - measured.value).abs();
        if apart <= 0.2 * measured.value + measured.step || measured.value <= 0.0 {
            continue;
        }
        findings.block(
            "inverse-rate-as-latency",
            Level::Warning,
            block,
            computed.line,
            [
                format!(
                    "Time per request: {} (mean); measured mean {}",
                    computed.text, measured.text
                ),
                format!(
                    "{} users ÷ the rate = {}, which is {:.2} times the time that the requests took",
                    users.text,
                    computed.text,
                    computed.value / measured.value
                ),
                "Quote the mean or the median in the row `Total:`.".to_owned(),
            ],
        );
    }
}

/// Reports a computed time above every mean that the percentiles and the longest request allow.
fn check_computed_time_above_means(
    block: &Block,
    computed: &Quantity,
    users: &Quantity,
    findings: &mut Findings,
) {
    let (Some(latency), Some(longest)) = (block.latency(), &block.longest) else {
        return;
    };
    let mut whole = latency.clone();
    whole.max = Some(longest.clone());
    let Some((_, max_mean)) = whole
        .mean_bounds(block.samples())
        .filter(|_| whole.quantiles.len() >= 3)
    else {
        return;
    };
    if computed.bounds().0 <= 1.2 * max_mean {
        return;
    }
    findings.block(
        "inverse-rate-as-latency",
        Level::Warning,
        block,
        computed.line,
        [
            format!(
                "Time per request: {} (mean); the percentiles and the longest request of {}",
                computed.text, longest.text
            ),
            format!(
                "{} users ÷ the rate = {}; according to the percentiles, the mean is at most {}",
                users.text,
                computed.text,
                format_value(max_mean, Unit::Time)
            ),
            "Quote the median: the first `Time per request` is computed from the rate.".to_owned(),
        ],
    );
}

/// Connecting and processing, if the row with their sum was cut off.
fn sum_of_parts(block: &Block) -> Option<Quantity> {
    let mean = |name: &str| {
        let trend = block.trends.iter().find(|trend| trend.name == name)?;
        trend.mean.clone()
    };
    let (connect, processing) = (mean("Connect")?, mean("Processing")?);
    Some(Quantity {
        value: connect.value + processing.value,
        step: connect.step + processing.step,
        text: format!("{} + {}", connect.text, processing.text),
        ..processing
    })
}
