//! Compares numbers in prose with the figures of the blocks.

use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, pattern};
use crate::quantity::{
    Quantity, Unit, format_number, parse_duration, parse_number, parse_time_unit,
};
use crate::report::{Findings, Report};

/// Splits text into sentences, at periods and similar marks at the end of a word.
pub fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let body = rest.trim_start();
        if body.is_empty() {
            return None;
        }
        let end = body
            .char_indices()
            .find(|(at, letter)| {
                let next = body[at + letter.len_utf8()..].chars().next();
                matches!(letter, '.' | '!' | '?' | '。') && next.is_none_or(char::is_whitespace)
            })
            .map_or(body.len(), |(at, letter)| at + letter.len_utf8());
        let (sentence, after) = body.split_at(end);
        rest = after;
        Some(sentence)
    })
}

/// Shortens a sentence for quoting.
pub fn shorten(sentence: &str) -> String {
    let sentence = sentence.trim();
    match sentence.char_indices().nth(140) {
        Some((at, _)) => format!("{}…", &sentence[..at]),
        None => sentence.to_owned(),
    }
}

static USERS: Pattern = pattern!(
    r"(?i)\b(\d[\d,]*|two|three|four|five|six|eight|ten|twenty|fifty)\s+(?:(?:parallel|concurrent|virtual|simultaneous|http|tcp|open)\s+)*(?:VUs?|users|connections|clients)\b"
);
static TIMES: Pattern = pattern!(r"(\d+\.\d+)\s?(ms|µs|us|s)\b");
/// Spelled-out units. They count only next to the name of a column, because prose also uses them
/// for other times.
static LONG_TIMES: Pattern =
    pattern!(r"(\d+\.\d{2,})\s(microseconds|milliseconds|seconds|secs?|msecs?)\b");
const COLUMNS: [&str; 11] = [
    "average",
    "mean",
    "median",
    "fastest",
    "slowest",
    "minimum",
    "maximum",
    "percentile",
    "p9",
    "p50",
    "response time",
];
static COUNTS: Pattern = pattern!(
    r"(?i)\b(\d[\d,]*)(?:\s?(?:-|–|to)\s?(\d[\d,]*))?\s+requests\s+in\s+(\d+)\s?(?:s|seconds)\b"
);
static PROMISE: Pattern = pattern!(
    r"(?i)\b(connections|users|throughput|latency|rate|clients|VUs)\b[^.]*\bto be determined\b"
);
/// Words next to numbers that are settings, not results.
pub const SETTINGS: [&str; 16] = [
    "wait after",
    "sleep",
    "think",
    "pause",
    "timeout",
    "time-out",
    "sla",
    "slo",
    "target",
    "objective",
    "limit",
    "interval",
    "every",
    "threshold",
    "ping",
    "version",
];

/// Words that mark a time as measured by something other than the load generator.
const ELSEWHERE: [&str; 14] = [
    "server-side",
    "server side",
    "service-side",
    "database",
    "query",
    "queries",
    "sql",
    "redis",
    "kernel",
    "garbage",
    " gc ",
    "cpu",
    "upstream",
    "backend",
];

/// Maximum number of numbers in prose to check.
const MAX_NUMBERS: usize = 2000;

/// Reports the first line of the prose that was not checked.
fn report_unchecked_prose(line: usize, findings: &mut Findings) {
    findings.page(
        "stale-prose",
        Level::Note,
        line,
        [
            format!("there are {MAX_NUMBERS} numbers above line {line}"),
            "numbers below that line were not compared with any output".to_owned(),
            "Split the document.".to_owned(),
        ],
    );
}

/// Reports numbers in the prose that no block contains.
pub fn check_stale_numbers(report: &Report, findings: &mut Findings) {
    if !report.document.markdown || report.blocks.is_empty() {
        return;
    }
    let users: Vec<f64> = report
        .blocks
        .iter()
        .filter_map(|block| Some(block.users.as_ref()?.value))
        .collect();
    let times: Vec<&Quantity> = all_figures(&report.blocks).collect();
    let mut left = MAX_NUMBERS;
    for prose in report.prose() {
        if report.is_of_unprinted_run(prose.line) {
            continue;
        }
        for sentence in sentences(&prose.text) {
            if is_listing(sentence) {
                continue;
            }
            let mut missing = Vec::new();
            if !users.is_empty() && describes_one_run(sentence) {
                let unknown = unknown_users(sentence, &users);
                missing.extend(
                    unknown
                        .into_iter()
                        .filter(|(claimed, _)| !is_requested(report, *claimed))
                        .map(|(_, words)| words),
                );
            }
            missing.extend(unknown_counts(sentence, &report.blocks));
            let lower = sentence.to_lowercase();
            let long = LONG_TIMES.all(sentence);
            let short = TIMES.all(sentence);
            for (found, in_full) in short
                .map(|found| (found, false))
                .chain(long.map(|found| (found, true)))
            {
                let text = found.get(0).map_or("", |all| all.as_str());
                // The word next to the number decides whether it is a setting.
                let near = clause_at(&lower, found.get(0).map_or(0, |all| all.start()));
                if SETTINGS.iter().any(|word| near.contains(word)) || describes_change(&lower) {
                    continue;
                }
                if ELSEWHERE.iter().any(|word| near.contains(word)) {
                    continue;
                }
                if in_full && !COLUMNS.iter().any(|word| near.contains(word)) {
                    continue;
                }
                let Some(claimed) = parse_duration(text, prose.line) else {
                    continue;
                };
                left -= 1;
                if left == 0 {
                    report_unchecked_prose(prose.line, findings);
                    return;
                }
                if describes_hidden_run(sentence, text, &times) {
                    continue;
                }
                let precise = text.chars().filter(char::is_ascii_digit).count() >= 3;
                let known = times.iter().any(|figure| claimed.agrees_with(figure))
                    || is_in_tables(report, text);
                if precise && !known {
                    missing.push(format!("`{text}` is not a figure of any output"));
                }
            }
            if let Some(found) = PROMISE.first(sentence) {
                let what = found.get(1).map_or("", |word| word.as_str());
                if !is_stated(report, what) {
                    missing.push(format!(
                        "{what} were to be measured, but no number of {what} is stated"
                    ));
                }
            }
            if missing.is_empty() {
                continue;
            }
            let seen: std::collections::BTreeSet<String> =
                users.iter().map(|n| format_number(*n)).collect();
            let seen: Vec<String> = seen.into_iter().take(8).collect();
            findings.page(
                "stale-prose",
                Level::Warning,
                prose.line,
                [
                    format!("\"{}\"", shorten(sentence)),
                    format!(
                        "{}; {} blocks were read{}",
                        missing.join("; "),
                        report.blocks.len(),
                        if seen.is_empty() {
                            String::new()
                        } else {
                            format!(", with {} users", seen.join(", "))
                        }
                    ),
                    "Copy the figure from an output on the page, or add the output.".to_owned(),
                ],
            );
        }
    }
}

/// Whether a passage is a table of numbers without bars: it has several times, and fewer words than numbers.
fn is_listing(sentence: &str) -> bool {
    let starts = |word: &&str, is: fn(char) -> bool| word.starts_with(is);
    let words = || sentence.split_whitespace();
    let numbers = words()
        .filter(|word| starts(word, |letter| letter.is_ascii_digit()))
        .count();
    let names = words()
        .filter(|word| starts(word, char::is_alphabetic) && parse_time_unit(word).is_none())
        .count();
    numbers >= 6 && names < numbers
}

/// Whether a sentence describes one run, and not users in general or a ramp.
fn describes_one_run(sentence: &str) -> bool {
    const RUN: [&str; 12] = [
        "test", " ran ", " run", "load", "bench", "simulat", "using", "with ", "parallel",
        "stress", "attack", "measur",
    ];
    const OTHER: [&str; 23] = [
        "up to",
        "ramp",
        "support",
        "scale",
        "recommend",
        "max ",
        "limit",
        "pool",
        "can ",
        "should",
        "would",
        "could",
        " if ",
        "target",
        "production",
        "expect",
        "above",
        "below",
        "beyond",
        "per ",
        "each",
        "capacity",
        "database",
    ];
    let sentence = sentence.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| sentence.contains(word));
    has(&RUN) && !has(&OTHER)
}

/// Whether a command on the page requests this number, perhaps for a run that is not shown.
fn is_requested(report: &Report, claimed: f64) -> bool {
    let words = report
        .commands
        .iter()
        .flat_map(|command| command.text.split([' ', '=', ',']));
    words
        .filter_map(|word| parse_number(word.trim_start_matches("-c")))
        .any(|(value, _)| value == claimed)
}

/// Whether a sentence states a plan or a possibility instead of a result.
pub fn is_conditional(sentence: &str) -> bool {
    const WORDS: [&str; 9] = [
        "should", "would", "could", "can ", "will ", "if ", "up to", "target", "expect",
    ];
    let sentence = sentence.to_lowercase();
    WORDS.iter().any(|word| sentence.contains(word)) || describes_change(&sentence)
}

/// Whether a sentence describes a change. One of its numbers may then come from an earlier run that
/// is not on the page.
fn describes_change(sentence: &str) -> bool {
    // A quoted finding contains its own figures.
    if super::RULES
        .iter()
        .any(|rule| sentence.contains(&format!("{}:", rule.name)))
    {
        return true;
    }
    const WORDS: [&str; 13] = [
        "from ", "before", "previous", "earlier", "formerly", "used to", "down to", "up to",
        "reduced", "improved", "->", "→", "baseline",
    ];
    WORDS.iter().any(|word| sentence.contains(word))
}

/// Whether a sentence has other precise numbers and no figure of the page, so that it describes a
/// run that is not shown.
fn describes_hidden_run(sentence: &str, text: &str, times: &[&Quantity]) -> bool {
    let others: Vec<&str> = sentence
        .split(|letter: char| !(letter.is_ascii_digit() || letter == '.' || letter == ','))
        .map(|number| number.trim_matches(['.', ',']))
        // A round number, such as a wait of 250 ms, is not a measured figure.
        .filter(|number| {
            let precise = match number.contains('.') {
                true => number,
                false => number.trim_end_matches('0'),
            };
            precise.chars().filter(char::is_ascii_digit).count() >= 3
        })
        .filter(|number| !text.starts_with(number))
        .collect();
    let known = |number: &str| times.iter().any(|figure| figure.text.starts_with(number));
    !others.is_empty() && !others.iter().any(|number| known(number))
}

/// The part of a sentence between the commas around a position.
fn clause_at(sentence: &str, at: usize) -> &str {
    let at = at.min(sentence.len());
    let at = (0..=at)
        .rev()
        .find(|at| sentence.is_char_boundary(*at))
        .unwrap_or(0);
    let start = sentence[..at].rfind([',', ';']).map_or(0, |at| at + 1);
    let end = sentence[at..]
        .find([',', ';'])
        .map_or(sentence.len(), |end| at + end);
    &sentence[start..end]
}

fn all_figures(blocks: &[Block]) -> impl Iterator<Item = &Quantity> {
    blocks.iter().flat_map(|block| {
        block
            .trends
            .iter()
            .flat_map(|trend| trend.figures())
            .map(|(_, figure)| figure)
            .chain(block.elapsed.iter())
            .chain(block.declared.iter())
            .chain(block.inverse_rate.iter())
            .chain(block.computed_mean.iter())
    })
}

/// Whether a table cell or a line of code contains this text.
fn is_in_tables(report: &Report, text: &str) -> bool {
    let compact: String = text.split_whitespace().collect();
    let cells = report
        .document
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().flat_map(|(_, row)| row));
    cells
        .into_iter()
        .any(|cell| cell.contains(text) || cell.contains(&compact))
        || report.document.codes.iter().any(|code| {
            report
                .text
                .get(code.range.clone())
                .is_some_and(|body| body.contains(&compact))
        })
}

fn parse_number_word(text: &str) -> Option<f64> {
    let named = [
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("eight", 8.0),
        ("ten", 10.0),
        ("twenty", 20.0),
        ("fifty", 50.0),
    ];
    named
        .iter()
        .find(|(name, _)| text.eq_ignore_ascii_case(name))
        .map(|(_, value)| *value)
        .or_else(|| parse_number(text).map(|(value, _)| value))
}

fn unknown_users(sentence: &str, users: &[f64]) -> Vec<(f64, String)> {
    let found = USERS.all(sentence);
    found
        .filter_map(|found| {
            let claimed = parse_number_word(found.get(1)?.as_str())?;
            (!users.contains(&claimed)).then(|| {
                (
                    claimed,
                    format!("no output has {} users", format_number(claimed)),
                )
            })
        })
        .collect()
}

/// Checks `80,000-90,000 requests in 30 seconds`: a block with that duration must have a number in
/// that range.
fn unknown_counts(sentence: &str, blocks: &[Block]) -> Vec<String> {
    let found = COUNTS.all(sentence);
    found
        .filter_map(|found| {
            let of = |at: usize| found.get(at).and_then(|group| parse_number(group.as_str()));
            let (low, seconds) = (of(1)?.0, of(3)?.0);
            let high = of(2).map_or(low, |(high, _)| high);
            let mut counted = blocks
                .iter()
                .filter(|block| {
                    let time = block.declared.as_ref().or(block.elapsed.as_ref());
                    time.is_some_and(|time| (time.value - seconds).abs() < 0.1 * seconds)
                })
                .filter_map(Block::samples)
                .peekable();
            counted.peek()?;
            let some = counted.any(|count| count >= low * 0.995 && count <= high * 1.005);
            (!some).then(|| {
                format!(
                    "no output of a run of {} s has {}…{} requests",
                    format_number(seconds),
                    format_number(low),
                    format_number(high)
                )
            })
        })
        .collect()
}

/// Whether the prose, a heading or a block states a number of this thing, such as connections.
fn is_stated(report: &Report, what: &str) -> bool {
    let what = what.to_lowercase();
    let in_blocks = match what.as_str() {
        "connections" | "users" | "clients" | "vus" => {
            report.blocks.iter().any(|block| block.users.is_some())
        }
        _ => true,
    };
    let claimed = |text: &str| {
        let words: Vec<String> = text
            .to_lowercase()
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        words
            .windows(2)
            .any(|pair| pair[0].parse::<f64>().is_ok() && pair[1].starts_with(&what))
    };
    in_blocks
        || report
            .document
            .prose
            .iter()
            .any(|prose| claimed(&prose.text))
        || report
            .document
            .headings
            .iter()
            .any(|(_, heading)| claimed(heading))
}

static QUOTED: Pattern = pattern!(
    r"(?i)\b(?:(median|mean|average|maximum|minimum)|p\(?(\d\d(?:\.\d+)?)\)?|(\d\d(?:\.\d+)?)\s?(?:th)?[ -]?percentile)(?:\s+(?:response time|latency|duration|time))?\s*(?:of|is|was|at|=|:)\s*(\d+(?:\.\d+)?\s?(?:ms|µs|us|seconds|secs|s))\b"
);

/// Reports the value of one column if it is quoted under the name of another one.
pub fn check_misquoted_columns(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let mut left = MAX_NUMBERS;
    for prose in report.prose() {
        for sentence in sentences(&prose.text) {
            let lower = sentence.to_lowercase();
            for found in QUOTED.all(sentence) {
                left = left.saturating_sub(1);
                if left == 0 {
                    return;
                }
                let Some(figure) = found
                    .get(4)
                    .and_then(|group| parse_duration(group.as_str(), prose.line))
                else {
                    continue;
                };
                let near = clause_at(&lower, found.get(0).map_or(0, |all| all.start()));
                if SETTINGS.iter().any(|word| near.contains(word)) {
                    continue;
                }
                let name = match (found.get(1), found.get(2).or_else(|| found.get(3))) {
                    (Some(word), _) => match word.as_str().to_lowercase().as_str() {
                        "average" => "mean".to_owned(),
                        "maximum" => "max".to_owned(),
                        "minimum" => "min".to_owned(),
                        other => other.to_owned(),
                    },
                    (None, Some(percent)) => format!("p{}", percent.as_str()),
                    _ => continue,
                };
                check_quoted_column(report, prose, sentence, &name, &figure, findings);
            }
        }
    }
}

/// Whether `figure`, quoted as `name`, is the value of another column of an output.
pub fn check_quoted_column(
    report: &Report,
    prose: &crate::document::Prose,
    sentence: &str,
    name: &str,
    figure: &Quantity,
    findings: &mut Findings,
) {
    let name = if name == "p50" { "median" } else { name };
    let columns = || {
        report.blocks.iter().flat_map(|block| {
            let trend = block.latency().into_iter();
            trend.flat_map(move |trend| {
                trend
                    .figures()
                    .into_iter()
                    .map(move |column| (block, column))
            })
        })
    };
    let exact = |shown: &Quantity| {
        // A quote cannot have more digits than the printed value that it comes from.
        let same = (shown.value - figure.value).abs() <= 1e-9 * figure.value;
        shown.unit == Unit::Time && same
            || shown.unit == Unit::Time
                && shown.step <= figure.step * 1.01
                && (shown.value - figure.value).abs() <= figure.step * 0.5 + shown.step
    };
    if columns().any(|(_, (column, shown))| column == name && exact(shown)) {
        return;
    }
    // A number with few digits matches some column by chance.
    if figure.text.chars().filter(char::is_ascii_digit).count() < 3 {
        return;
    }
    let Some((block, (column, shown))) = columns().find(|(_, (_, shown))| exact(shown)) else {
        return;
    };
    let right = block
        .latency()
        .into_iter()
        .flat_map(|trend| trend.figures())
        .find(|(column, _)| column == name)
        .map(|(_, right)| format!("is {}", right.text));
    findings.block(
        "percentile-misquoted",
        match right {
            Some(_) => Level::Error,
            None => Level::Warning,
        },
        block,
        prose.line,
        [
            format!("\"{}\"", shorten(sentence)),
            format!(
                "{} is the block's {column} (line {}); its {name} {}",
                shown.text,
                shown.line,
                right.as_deref().unwrap_or("is not printed")
            ),
            "Name the column that the figure is from.".to_owned(),
        ],
    );
}
