//! "Average seek latency fell from 35 ms to 2 ms", "Maximum seek latency fell from 8 ms to 1 ms":
//! statistics of one quantity, in neighboring sentences, whose order is impossible.

use super::mentions::strip_markup;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{parse_number, parse_time_unit};
use crate::records::{Meaning, Name};
use crate::report::{Findings, Report};
use crate::rules::claims::sentences;
use crate::rules::prose::shorten;

static CHANGED: Pattern = pattern!(
    r"\b(average|avg|mean|median|maximum|max|minimum|min|p\d\d(?:\.\d+)?)\s+((?:[a-z/-]+\s+){0,3}?)(?:was |is |has |have )?(?:reduced|reduces|dropped|drops|fell|falls|decreased|decreases|improved|improves|increased|increases|rose|rises|grew|grows|went|goes)\b[^;]{0,40}?\bfrom\s+(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|s|seconds)\s+(?:down |up )?to\s+(\d[\d,]*(?:\.\d+)?)\s?(ns|µs|μs|us|ms|s|seconds)\b"
);

/// Maximum distance of two sentences, in lines.
const NEAR: usize = 3;

struct Statement<'r> {
    line: usize,
    text: &'r str,
    meaning: Meaning,
    quantity: String,
    /// The figures before and after the change, with their steps and as written.
    figures: [(f64, f64, String); 2],
}

/// The statements of a page in order.
fn statements<'r>(report: &'r Report) -> impl Iterator<Item = Statement<'r>> {
    let changes = sentences(report).filter(|(_, sentence)| {
        let possible = sentence.contains(" from ") || sentence.contains("(from ");
        possible && sentence.len() <= 300
    });
    changes.filter_map(|(prose, sentence)| read(prose.line, sentence))
}

/// Whether a page has results that only its sentences state.
pub fn are_stated(report: &Report) -> bool {
    report.document.markdown && statements(report).nth(1).is_some()
}

pub fn check(report: &Report, findings: &mut Findings) {
    let mut known: Vec<Statement> = Vec::new();
    for statement in statements(report) {
        let near = known
            .iter()
            .rev()
            .take_while(|other| statement.line.abs_diff(other.line) <= NEAR);
        for other in near.filter(|other| other.quantity == statement.quantity) {
            judge(other, &statement, findings);
        }
        known.push(statement);
    }
}

fn read(line: usize, text: &str) -> Option<Statement<'_>> {
    let lower = strip_markup(text);
    let found = CHANGED.only(&lower)?;
    let group = |at: usize| group(&found, at);
    let figure = |at: usize| {
        let (value, step) = parse_number(group(at))?;
        let scale = parse_time_unit(group(at + 1))?;
        let written = format!("{} {}", group(at), group(at + 1));
        Some((value * scale, step * scale, written))
    };
    Some(Statement {
        line,
        text,
        meaning: Name::read(group(1)).meaning,
        quantity: group(2).trim().to_owned(),
        figures: [figure(3)?, figure(5)?],
    })
}

/// Whether a statistic can never exceed another one of the same samples.
fn is_at_most(one: Meaning, other: Meaning) -> bool {
    match (one, other) {
        (Meaning::Min, Meaning::Mean | Meaning::Max | Meaning::Quantile(_))
        | (Meaning::Mean | Meaning::Quantile(_), Meaning::Max) => true,
        (Meaning::Quantile(one), Meaning::Quantile(other)) => one < other,
        _ => false,
    }
}

fn judge(one: &Statement, other: &Statement, findings: &mut Findings) {
    let (low, high) = match (one.meaning, other.meaning) {
        (a, b) if is_at_most(a, b) => (one, other),
        (a, b) if is_at_most(b, a) => (other, one),
        _ => return,
    };
    for at in 0..2 {
        let ((small, step, written), (large, other_step, limit)) =
            (&low.figures[at], &high.figures[at]);
        if *small <= large + step + other_step {
            continue;
        }
        warn(
            "percentile-disorder",
            other.line,
            [
                format!("\"{}\", \"{}\"", shorten(one.text), shorten(other.text)),
                format!("{written} cannot exceed {limit} in the same samples"),
                "Take both figures from the same run.".to_owned(),
            ],
            findings,
        );
        return;
    }
}
