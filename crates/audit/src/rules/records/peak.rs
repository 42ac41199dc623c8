//! "Peak throughput: 52,340 req/s", "lowest p99: 12.5 ms": the column of that figure has a more
//! extreme one.

use super::misnamed_figure::is_precise;
use super::subject::is_uncertain;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::parse_number;
use crate::records::{Field, Grid, Grids, Kind, Record, label_words, parse_unit};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static PEAK: Pattern = pattern!(
    r"(?i)\b(peak|highest|best|top|lowest)\s+(?:\w+\s+){0,2}?(throughput|rps|qps|tps|requests per second|requests/s(?:ec)?|req/s|rate|latency|response time|p\d\d)\b[^.;\d]{0,30}?(\d[\d,]*(?:\.\d+)?)\s?(?-i:(k)\b)?\s?(ms|µs|us|s|req/s|reqs/s|requests/s(?:ec)?|rps|qps|tps|ops/s)?\b"
);

pub fn check_lines(report: &Report, grids: &Grids, findings: &mut Findings) {
    for prose in report.prose() {
        for (line, text) in prose.lines().filter(|(_, text)| text.len() < 300) {
            let plain = text.replace(['*', '`'], "");
            if is_uncertain(&plain) {
                continue;
            }
            let Some(claim) = Claim::read(&plain) else {
                continue;
            };
            let titles = report.document.titles(line);
            let mut words = label_words(&plain);
            words.extend(titles.iter().flat_map(|title| label_words(title)));
            let near = grids
                .tables
                .iter()
                .filter(|grid| report.document.titles(grid.line) == titles);
            if let Some((twin, other)) = claim.find_more_extreme(near, &words) {
                report_more_extreme(text, line, &claim, twin, other, findings);
            }
        }
    }
}

/// A figure that a sentence calls the extreme one.
struct Claim {
    written: String,
    value: f64,
    kind: Kind,
    larger: bool,
}

impl Claim {
    fn read(text: &str) -> Option<Claim> {
        let lower = text.to_lowercase();
        let words = ["peak", "highest", "best", "top", "lowest"];
        if !text.contains(|letter: char| letter.is_ascii_digit())
            || !words.iter().any(|word| lower.contains(word))
        {
            return None;
        }
        let found = PEAK.only(text)?;
        let (word, metric) = (
            group(&found, 1).to_lowercase(),
            group(&found, 2).to_lowercase(),
        );
        let of_time = metric.starts_with('p') || metric == "latency" || metric == "response time";
        let written = group(&found, 3);
        let scale = match group(&found, 5) {
            "" => 1.0,
            unit => parse_unit(unit)?.0,
        };
        let rounded = !group(&found, 4).is_empty();
        let (value, _) = parse_number(written).filter(|_| is_precise(written) && !rounded)?;
        Some(Claim {
            written: written.to_owned(),
            value: value * scale,
            kind: if of_time { Kind::Time } else { Kind::Rate },
            // "Peak latency" and "best rate" mean the largest figure, "best latency" means the smallest.
            larger: !(word == "lowest" || word == "best" && of_time),
        })
    }

    /// The more extreme figure of a column that contains the stated one. `None` if the stated
    /// figure is the extreme of a column, or if a word of its label may restrict the claim to a
    /// part of the column.
    fn find_more_extreme<'g>(
        &self,
        grids: impl Iterator<Item = &'g Grid>,
        words: &[String],
    ) -> Option<(&'g Field, &'g Record)> {
        let mut found = None;
        for grid in grids {
            for record in &grid.records {
                let same = |field: &&Field| {
                    field.figure.kind == self.kind
                        && (field.figure.value - self.value).abs() <= 1e-9 * self.value
                };
                for field in record.fields.iter().filter(same) {
                    let unlike = |other: &Record| {
                        let mut own = record.words.iter();
                        own.any(|word| words.contains(word) && !other.words.contains(word))
                    };
                    let mut better = grid
                        .records
                        .iter()
                        .filter(|other| !unlike(other))
                        .filter_map(|other| Some((other.matching_field(field)?, other)))
                        .filter(|(twin, _)| match self.larger {
                            true => twin.figure.value > 1.01 * self.value,
                            false => twin.is_exact() && twin.figure.value < 0.99 * self.value,
                        });
                    found = Some(better.next()?);
                }
            }
        }
        found
    }
}

fn report_more_extreme(
    text: &str,
    line: usize,
    claim: &Claim,
    twin: &Field,
    other: &Record,
    findings: &mut Findings,
) {
    warn(
        "comparison-reversed",
        line,
        [
            format!(
                "\"{}\"; {}, {}: {}",
                shorten(text),
                other.label,
                twin.name.text,
                twin.figure.text
            ),
            format!(
                "{} of {} is beyond {} in the same column",
                twin.figure.text, other.label, claim.written
            ),
            "Name the record with the extreme figure, or the part of the table to which this applies."
                .to_owned(),
        ],
        findings,
    );
}
