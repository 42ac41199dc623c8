//! The end-of-test summary in k6's layout since 1.0: thresholds, then totals by category and, in
//! full mode, the same for every group and scenario.

use plimsoll_samples::{CheckTotal, GroupPart, MetricSummary, Summary, ThresholdOutcome, Values};
use plimsoll_verdict::Verdict;

use crate::additions;
use crate::category::Category;
use crate::metric_table::{Figures, Row, Style, Widths, sorted, split_name};
use crate::numbers;
use crate::paint::{mark, spaces};

pub use crate::detail::Detail;

/// Renders the summary. The text starts and ends with empty lines.
pub fn render(
    summary: &Summary,
    verdict: Option<&Verdict>,
    detail: Detail,
    style: &Style,
) -> String {
    let mut page = Page {
        detail,
        style,
        elapsed: summary.elapsed.as_secs_f64(),
        lines: Vec::new(),
    };
    page.blank();
    page.blank();
    page.thresholds(&summary.metrics);
    if summary.metrics.iter().any(|metric| !metric.extra) {
        page.heading(0, "█", "TOTAL RESULTS");
        page.part(0, &summary.metrics, &summary.checks);
        page.blank();
    }
    if detail == Detail::Full {
        page.breakdown(summary);
    }
    let mut own: Vec<_> = additions::protocols_line(summary).into_iter().collect();
    own.extend(additions::lines(summary, verdict, detail, style));
    if !own.is_empty() {
        page.heading(0, "█", "PLIMSOLL");
        page.lines
            .extend(own.into_iter().map(|line| format!("    {line}")));
        page.blank();
        page.blank();
    }
    page.blank();
    page.lines.join("\n") + "\n"
}

struct Page<'a> {
    detail: Detail,
    style: &'a Style,
    /// The duration of the run in seconds.
    elapsed: f64,
    lines: Vec<String>,
}

impl Page<'_> {
    fn blank(&mut self) {
        self.lines.push(String::new());
    }

    /// Renders the heading of a section. `depth` is the number of enclosing sections.
    fn heading(&mut self, depth: usize, bullet: &str, title: &str) {
        let (indent, title) = (spaces(2 + 2 * depth), self.style.paint.bold(title));
        self.lines.push(format!("{indent}{bullet} {title} "));
        self.blank();
    }

    fn thresholds(&mut self, metrics: &[MetricSummary]) {
        let judged = sorted(
            metrics
                .iter()
                .filter(|metric| !metric.thresholds.is_empty()),
        );
        if judged.is_empty() {
            return;
        }
        self.heading(0, "█", "THRESHOLDS");
        let mut parent = "";
        for metric in judged {
            // A sub-metric is shown under its metric if that metric has thresholds as well.
            let (indent, title) = match split_name(&metric.name) {
                (name, Some(selector)) if name == parent => ("      ", selector),
                (_, Some(_)) => ("    ", metric.name.as_str()),
                (name, None) => {
                    parent = name;
                    ("    ", name)
                }
            };
            self.lines.push(format!("{indent}{title}"));
            for threshold in &metric.thresholds {
                let line = self.threshold(metric, threshold);
                self.lines.push(format!("{indent}{line}"));
            }
            self.blank();
        }
        self.blank();
    }

    fn threshold(&self, metric: &MetricSummary, threshold: &ThresholdOutcome) -> String {
        let paint = self.style.paint;
        let method = method_of(&threshold.source);
        let measured = match (&metric.values, method) {
            (Values::Rate { .. }, _) => numbers::percent(threshold.measured),
            (_, "rate") => format!("{}/s", self.figure(metric, threshold.measured)),
            _ => self.figure(metric, threshold.measured),
        };
        format!(
            "{} '{}' {method}={}",
            paint.outcome(threshold.ok, mark(threshold.ok)),
            threshold.source.trim(),
            paint.figure(&measured)
        )
    }

    fn figure(&self, metric: &MetricSummary, value: f64) -> String {
        numbers::value(value, metric.contains, self.style.time_unit)
    }

    /// Checks, then metrics by category, as a section with its own indentation.
    fn part(&mut self, depth: usize, metrics: &[MetricSummary], checks: &[CheckTotal]) {
        let indent = spaces(4 + 2 * depth);
        if let Some(metric) = metrics.iter().find(|metric| metric.name == "checks") {
            self.check_totals(&indent, &metric.values);
            self.check_lines(4 + 2 * depth, checks);
            self.blank();
        }
        let shown = metrics
            .iter()
            .filter(|metric| !metric.extra && !self.hides(&metric.name));
        let rows: Vec<(Category, Row)> = sorted(shown)
            .into_iter()
            .map(|metric| (Category::of(&metric.name), Row::new(metric, self.style)))
            .collect();
        let widths = Widths::of(rows.iter().map(|(_, row)| row));
        for category in Category::ALL {
            let mut rows = rows.iter().filter(|(of, _)| *of == category).peekable();
            if rows.peek().is_none() {
                continue;
            }
            self.lines.push(format!(
                "{indent}{}",
                self.style.paint.bold(category.title())
            ));
            for (_, row) in rows {
                self.lines
                    .push(format!("{indent}{}", widths.line(row, self.style.paint)));
            }
            self.blank();
        }
    }

    fn check_totals(&mut self, indent: &str, values: &Values) {
        let (Some(passes), Some(fails)) = (values.passes(), values.fails()) else {
            return;
        };
        let total = passes.saturating_add(fails);
        let rate = if self.elapsed > 0.0 {
            total as f64 / self.elapsed
        } else {
            0.0
        };
        let share = |part: u64| {
            let share = if total == 0 {
                0.0
            } else {
                part as f64 / total as f64
            };
            Figures::Single(
                numbers::percent(share),
                vec![format!("{part} out of {total}")],
            )
        };
        let rows = [
            (
                "checks_total",
                Figures::Single(
                    total.to_string(),
                    vec![format!("{}/s", numbers::plain(rate))],
                ),
            ),
            ("checks_succeeded", share(passes)),
            ("checks_failed", share(fails)),
        ]
        .map(|(name, figures)| Row {
            name: name.to_owned(),
            holds: None,
            figures,
        });
        let widths = Widths::of(&rows);
        for row in &rows {
            self.lines
                .push(format!("{indent}{}", widths.line(row, self.style.paint)));
        }
        self.blank();
    }

    fn check_lines(&mut self, indent: usize, checks: &[CheckTotal]) {
        let paint = self.style.paint;
        for check in checks {
            let holds = check.fails == 0;
            let line = paint.outcome(holds, &format!("{} {}", mark(holds), check.name));
            self.lines.push(format!("{}{line}", spaces(indent)));
            if !holds {
                // k6 indents this line twice by the section's indentation.
                let line = paint.bad(&failed_share(check.passes, check.fails));
                self.lines.push(format!("{}{line}", spaces(2 * indent - 2)));
            }
        }
    }

    /// Renders the groups inside of setup, those of the implicit scenario, those inside of teardown, and then the named
    /// scenarios with their groups.
    fn breakdown(&mut self, summary: &Summary) {
        let outside = summary.scenarios.iter().filter(|part| part.name.is_empty());
        let (after, before): (Vec<_>, Vec<_>) = outside
            .flat_map(|part| &part.groups)
            .partition(|step| step.name.starts_with("teardown"));
        self.steps(&before);
        for scenario in summary
            .scenarios
            .iter()
            .filter(|part| part.name == DEFAULT_SCENARIO)
        {
            for group in &scenario.groups {
                self.group(0, "█", group);
                self.blank();
            }
        }
        self.steps(&after);
        let mut named: Vec<_> = summary
            .scenarios
            .iter()
            .filter(|part| !part.name.is_empty() && part.name != DEFAULT_SCENARIO)
            .collect();
        named.sort_by(|a, b| a.name.cmp(&b.name));
        for scenario in named {
            self.heading(0, "█", &format!("SCENARIO: {}", scenario.name));
            self.part(0, &scenario.metrics, &scenario.checks);
            for group in &scenario.groups {
                self.group(1, "↳", group);
            }
            self.blank();
        }
    }

    /// Renders the groups inside of setup or teardown. As in k6, a step without groups is not shown.
    fn steps(&mut self, steps: &[&GroupPart]) {
        for step in steps.iter().filter(|step| !step.groups.is_empty()) {
            self.heading(0, "█", &format!("GROUP: {}", step.name));
            for inner in &step.groups {
                self.group(1, "↳", inner);
            }
            self.blank();
        }
    }

    fn group(&mut self, depth: usize, bullet: &str, group: &GroupPart) {
        self.heading(depth, bullet, &format!("GROUP: {}", group.name));
        self.part(depth, &group.metrics, &group.checks);
        for inner in &group.groups {
            self.group(depth + 1, "↳", inner);
        }
    }

    /// Compares whole names, so that a script's own metric is never hidden because its name has the same prefix.
    fn hides(&self, name: &str) -> bool {
        let (name, _) = split_name(name);
        name == "checks"
            || name == "group_duration"
            || (self.detail == Detail::Compact && FULL_MODE_ONLY.contains(&name))
    }
}

const DEFAULT_SCENARIO: &str = "default";

const FULL_MODE_ONLY: [&str; 6] = [
    "http_req_blocked",
    "http_req_connecting",
    "http_req_receiving",
    "http_req_sending",
    "http_req_tls_handshaking",
    "http_req_waiting",
];

/// Formats `↳  66% — ✓ 4 / ✗ 2`.
pub(crate) fn failed_share(passes: u64, fails: u64) -> String {
    let percent = numbers::whole_percent(passes, passes.saturating_add(fails));
    format!("↳  {percent}% — ✓ {passes} / ✗ {fails}")
}

/// Returns `p(95)` for `p(95)<500`.
fn method_of(source: &str) -> &str {
    let end = source.find(['<', '>', '=', '!']).unwrap_or(source.len());
    source.get(..end).unwrap_or(source).trim()
}
