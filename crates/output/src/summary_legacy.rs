//! The end-of-test summary in the layout of k6 before 1.0: groups and checks as a tree, then all metrics by name.

use plimsoll_samples::{Check, Group, Summary};
use plimsoll_verdict::Verdict;

use crate::additions;
use crate::metric_table::{Row, Style, Widths, sorted};
use crate::paint::{mark, spaces};
use crate::summary_text::{Detail, failed_share};

/// Renders the summary. The text starts and ends with an empty line.
pub fn render(summary: &Summary, verdict: Option<&Verdict>, style: &Style) -> String {
    let mut lines = vec![String::new()];
    contents(&mut lines, &summary.root_group, 5, style);
    lines.extend(metrics(summary, style));
    lines.push(String::new());
    let own = additions::lines(summary, verdict, Detail::Full, style);
    if !own.is_empty() {
        lines.extend(["     █ PLIMSOLL".to_owned(), String::new()]);
        lines.extend(own.into_iter().map(|line| format!("       {line}")));
        lines.push(String::new());
    }
    lines.join("\n") + "\n"
}

fn contents(lines: &mut Vec<String>, group: &Group, indent: usize, style: &Style) {
    if !group.checks.is_empty() {
        lines.extend(
            group
                .checks
                .iter()
                .map(|check| check_line(check, indent, style)),
        );
        lines.push(String::new());
    }
    for inner in &group.groups {
        lines.push(format!("{}█ {}", spaces(indent), inner.name));
        lines.push(String::new());
        contents(lines, inner, indent + 2, style);
    }
}

fn check_line(check: &Check, indent: usize, style: &Style) -> String {
    let (indent, holds) = (spaces(indent), check.fails == 0);
    let mut text = format!("{indent}{} {}", mark(holds), check.name);
    if !holds {
        text.push_str(&format!(
            "\n{indent} {}",
            failed_share(check.passes, check.fails)
        ));
    }
    style.paint.outcome(holds, &text)
}

fn metrics(summary: &Summary, style: &Style) -> Vec<String> {
    let shown = summary.metrics.iter().filter(|metric| !metric.extra);
    let rows: Vec<_> = sorted(shown)
        .into_iter()
        .map(|metric| Row::new(metric, style))
        .collect();
    let widths = Widths::of(&rows);
    rows.iter()
        .map(|row| {
            let line = widths.line(row, style.paint);
            // The mark precedes the name. For a sub-metric, it follows the indentation.
            let (indent, line) = line.split_at(if row.is_submetric() { 2 } else { 0 });
            let mark = row.holds.map_or_else(
                || " ".to_owned(),
                |holds| style.paint.outcome(holds, mark(holds)),
            );
            format!("   {indent}{mark} {line}")
        })
        .collect()
}
