//! Compares an observation with the expected observation, and describes the differences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::case::Case;
use super::expected::{ANY, Expected, words};
use super::metrics::{Metric, SAMPLED};
use super::observe::Observation;

/// The recordings with which a run is compared.
pub struct Reference {
    /// k6's recording.
    pub k6: Expected,
    /// Plimsoll's own recording of the parts in which it intentionally differs.
    pub own: Expected,
}

impl Reference {
    /// The recording with which a part is compared, if any.
    fn of(&self, case: &Case, part: &str) -> Option<&Observation> {
        if case.ignores(part) {
            return None;
        }
        Some(match case.differs(part) {
            true => &self.own.0,
            false => &self.k6.0,
        })
    }
}

/// The differences, each as text with one or more lines; empty if there are none. A reason for a
/// difference that does not exist also counts as a difference.
pub fn compare(case: &Case, reference: &Reference, seen: &Observation) -> Vec<String> {
    let mut found = differences(case, reference, seen);
    if found.is_empty() {
        for part in case.settings.differs.keys() {
            let mut like_k6 = case.clone();
            like_k6.settings.differs.remove(part);
            if differences(&like_k6, reference, seen).is_empty() {
                found.push(format!(
                    "{part} is as in k6: remove the reason from `differs`"
                ));
            }
        }
    }
    found
}

fn differences(case: &Case, reference: &Reference, seen: &Observation) -> Vec<String> {
    let mut found = Vec::new();
    let of = |part: &str| reference.of(case, part);
    if let Some(expected) = of("exit").filter(|expected| expected.exit != seen.exit) {
        found.push(format!(
            "exit status {}, expected {}",
            seen.exit, expected.exit
        ));
    }
    if let Some(expected) = of("logs") {
        let (expected, seen) = (
            without_own_lines(&expected.logs),
            without_own_lines(&seen.logs),
        );
        found.extend(lines("logs", &expected, &seen));
    }
    if let Some(expected) = of("screen") {
        let (expected, seen) = (comparable(&expected.screen), comparable(&seen.screen));
        found.extend(lines("screen", &expected, &seen));
    }
    if let Some(expected) = of("metrics") {
        metrics(
            case,
            reference,
            &expected.metrics,
            &seen.metrics,
            &mut found,
        );
    }
    for name in reference.k6.0.files.keys() {
        if let Some(expected) = of(name) {
            let of = |all: &BTreeMap<String, Vec<String>>| all.get(name).cloned();
            let expected = of(&expected.files).unwrap_or_default();
            let seen = of(&seen.files).unwrap_or_default();
            found.extend(lines(name, &expected, &seen));
        }
    }
    found
}

/// Removes the verdict from a summary in the log, because it depends on how busy the machine is, and the reference to --help,
/// which k6 does not print.
fn without_own_lines(lines: &[String]) -> Vec<String> {
    let is_own = |line: &&String| {
        let line = line.trim_start();
        line.starts_with("verdict: ") || line == "For more information, try '--help'."
    };
    lines.iter().filter(|line| !is_own(line)).cloned().collect()
}

/// Removes lines that only Plimsoll prints, and lines of metrics that are sampled at intervals.
fn comparable(lines: &[String]) -> Vec<String> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\s*(\w+):").ok());
    let by_clock = |line: &str| {
        let name = NAME.as_ref().and_then(|name| name.captures(line));
        let name = name.as_ref().and_then(|name| name.get(1));
        name.is_some_and(|name| SAMPLED.contains(&name.as_str()))
    };
    // Plimsoll's block is the end of the summary. Only progress may follow, which is not indented.
    let mut own = false;
    let kept = lines.iter().filter(|line| {
        own = line.trim() == "█ PLIMSOLL" || own && line.starts_with(' ');
        !own && !by_clock(line)
    });
    let kept: Vec<&String> = kept.collect();
    // A heading that is followed only by such metrics is also removed.
    let heads_nothing = |at: usize| {
        kept[at].trim() == "EXECUTION" && kept.get(at + 1).is_none_or(|next| !next.contains(':'))
    };
    let shown = (0..kept.len()).filter(|at| !heads_nothing(*at));
    shown.map(|at| kept[at].clone()).collect()
}

/// The lines that only one of the two contains, in order, determined by their longest common
/// subsequence.
fn lines(part: &str, expected: &[String], seen: &[String]) -> Option<String> {
    let (rows, columns) = (expected.len(), seen.len());
    let mut longest = vec![vec![0_usize; columns + 1]; rows + 1];
    let at = |table: &[Vec<usize>], row: usize, column: usize| {
        table
            .get(row)
            .and_then(|row| row.get(column))
            .copied()
            .unwrap_or(0)
    };
    let equal = |row: usize, column: usize| match (expected.get(row), seen.get(column)) {
        (Some(expected), Some(seen)) => matches(expected, seen),
        _ => false,
    };
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            let length = if equal(row, column) {
                at(&longest, row + 1, column + 1) + 1
            } else {
                at(&longest, row + 1, column).max(at(&longest, row, column + 1))
            };
            if let Some(place) = longest.get_mut(row).and_then(|row| row.get_mut(column)) {
                *place = length;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut text = String::new();
    while row < rows || column < columns {
        if equal(row, column) {
            row += 1;
            column += 1;
        } else if row < rows
            && (column >= columns || at(&longest, row + 1, column) >= at(&longest, row, column + 1))
        {
            text += &format!(
                "\n      expected  {}",
                expected.get(row).map_or("", String::as_str)
            );
            row += 1;
        } else {
            text += &format!(
                "\n      ours      {}",
                seen.get(column).map_or("", String::as_str)
            );
            column += 1;
        }
    }
    (!text.is_empty()).then(|| format!("{part}:{text}"))
}

/// A log message of the program itself without its wording, that is, its level and fields. Messages
/// that a script threw or logged are not included, because the script determines their wording.
fn program_message(line: &str) -> Option<(&str, &str)> {
    let level = ["error: ", "warning: "]
        .into_iter()
        .find(|level| line.starts_with(level))?;
    let (message, fields) = match line.rfind(" (").filter(|_| line.ends_with(')')) {
        Some(start) if line[start..].contains('=') => line.split_at(start),
        _ => (line, ""),
    };
    let message = message.get(level.len()..)?;
    let from_console = fields.contains("source=console");
    let thrown_by_script = fields.contains("source=stacktrace")
        && !["GoError", "TypeError", "ReferenceError", "SyntaxError"]
            .iter()
            .any(|kind| message.contains(kind));
    (!from_console && !thrown_by_script).then_some((level, fields))
}

/// An error without the wording of its detail, which is also specific to the program.
fn without_wording(line: &str) -> String {
    match line.find(" (error=") {
        Some(start) if line.starts_with("error: ") => format!("{} (error=…)", &line[..start]),
        _ => line.to_owned(),
    }
}

/// Whether a line matches, word by word; [`ANY`] matches any word. Messages of the program itself
/// only need the same level and fields.
fn matches(expected: &str, seen: &str) -> bool {
    if expected == seen || expected == ANY {
        return true;
    }
    let (worded, seen_worded) = (without_wording(expected), without_wording(seen));
    let (expected, seen) = (worded.as_str(), seen_worded.as_str());
    if let (Some(expected), Some(seen)) = (
        program_message(expected),
        program_message(seen).or_else(|| {
            // If k6 shows an error type of its own, Plimsoll may show a plain error.
            let fields = seen.rfind(" (").map_or("", |start| &seen[start..]);
            seen.starts_with("error: ").then_some(("error: ", fields))
        }),
    ) {
        return expected == seen;
    }
    let (expected, seen) = (words(expected), words(seen));
    expected.len() == seen.len()
        && expected
            .iter()
            .zip(&seen)
            .all(|(expected, seen)| *expected == ANY || expected == seen)
}

fn metrics(
    case: &Case,
    reference: &Reference,
    expected: &BTreeMap<String, Metric>,
    seen: &BTreeMap<String, Metric>,
    found: &mut Vec<String>,
) {
    let names: BTreeSet<&String> = expected.keys().chain(seen.keys()).collect();
    for name in names {
        let part = format!("metric:{name}");
        let expected = match case.differs(&part) {
            _ if case.ignores(&part) => continue,
            true => reference.own.0.metrics.get(name),
            false => expected.get(name),
        };
        match (expected, seen.get(name)) {
            (Some(expected), Some(seen)) => metric(case, name, expected, seen, found),
            (Some(_), None) => found.push(format!("metric {name} is missing")),
            (None, Some(_)) => found.push(format!("metric {name} is not expected")),
            (None, None) => {}
        }
    }
}

fn metric(case: &Case, name: &str, expected: &Metric, seen: &Metric, found: &mut Vec<String>) {
    let mut differs = |what: &str, expected: &dyn std::fmt::Debug, seen: &dyn std::fmt::Debug| {
        found.push(format!(
            "metric {name}: {what} {seen:?}, expected {expected:?}"
        ));
    };
    if (&expected.kind, &expected.contains) != (&seen.kind, &seen.contains) {
        let of = |metric: &Metric| format!("{} of {}", metric.kind, metric.contains);
        differs("is", &of(expected), &of(seen));
    }
    if expected.thresholds != seen.thresholds {
        differs("thresholds", &expected.thresholds, &seen.thresholds);
    }
    if expected.submetrics != seen.submetrics {
        differs("sub-metrics", &expected.submetrics, &seen.submetrics);
    }
    if let Some((least, most)) = case.settings.ranges.get(name) {
        let total: f64 = seen
            .series
            .iter()
            .flatten()
            .filter_map(|(_, series)| series.sum)
            .sum();
        if total < *least || total > *most {
            differs("sum", &(least, most), &total);
        }
    }
    let (Some(expected_series), Some(seen_series)) = (&expected.series, &seen.series) else {
        if !expected.tags.is_subset(&seen.tags) {
            differs("tags", &expected.tags, &seen.tags);
        }
        return;
    };
    let all: BTreeSet<&String> = expected_series.keys().chain(seen_series.keys()).collect();
    for tags in all {
        match (expected_series.get(tags), seen_series.get(tags)) {
            (Some(expected), Some(seen)) => {
                // If the number of occurrences depends on timing, only the bounds are checked.
                if !case.settings.ranges.is_empty() {
                    continue;
                }
                if expected.count.is_some() && expected.count != seen.count {
                    differs(&format!("{{{tags}}} samples"), &expected.count, &seen.count);
                }
                let far = |one: f64, other: f64| (one - other).abs() > 1e-9 * one.abs().max(1.0);
                if let (Some(one), Some(other)) = (expected.sum, seen.sum)
                    && far(one, other)
                {
                    differs(&format!("{{{tags}}} sum"), &one, &other);
                }
            }
            (Some(_), None) => differs("series missing", &tags, &""),
            (None, Some(_)) => differs("series not expected", &"", &tags),
            (None, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    #[test]
    fn a_star_matches_one_word() {
        assert!(matches("a * c", "a b c"));
        assert!(!matches("a * c", "a b b c"));
        assert!(!matches("a b", "a c"));
    }

    #[test]
    fn details_of_errors_may_differ() {
        let line = |level: &str, detail: &str| format!("{level}: it failed (error={detail})");
        assert!(matches(
            &line("error", "one"),
            &line("error", "another thing")
        ));
        assert!(!matches(&line("warning", "one"), &line("warning", "other")));
        assert!(!matches(&line("error", "one"), "error: it failed"));
    }

    #[test]
    fn only_the_lines_that_differ_are_shown() {
        let found = lines("logs", &all(&["a", "b", "c"]), &all(&["a", "x", "c"]));
        let wanted = "logs:\n      expected  b\n      ours      x";
        assert_eq!(found.as_deref(), Some(wanted));
        assert_eq!(lines("logs", &all(&["a"]), &all(&["a"])), None);
        assert!(lines("logs", &all(&["a"]), &[]).is_some());
    }

    #[test]
    fn a_heading_of_a_removed_row_is_removed() {
        let part = all(&[
            "    EXECUTION",
            "    vus: 1",
            "    NETWORK",
            "    data_sent: #",
        ]);
        assert_eq!(comparable(&part), ["    NETWORK", "    data_sent: #"]);
        let part = all(&["    EXECUTION", "    iterations: 1", "    vus: 1"]);
        assert_eq!(comparable(&part), ["    EXECUTION", "    iterations: 1"]);
    }

    #[test]
    fn plimsolls_own_block_is_ignored() {
        let shown = all(&[
            "    HTTP",
            "    vus: 1",
            "  █ PLIMSOLL",
            "    verdict: valid",
            "running (#), 0/1 VUs",
        ]);
        assert_eq!(comparable(&shown), ["    HTTP", "running (#), 0/1 VUs"]);
    }
}
