//! "A > B > C", "A is the fastest, followed by B", "1. A  2. B": an order that no figure of the
//! records supports.

use super::subject::{Metric, is_uncertain, named_records, text_before_verb};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Grids, Record};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

/// Two figures still count as ordered if they differ by less than this share in the wrong direction.
pub const TIE: f64 = 0.01;

pub fn is_ordered(figures: &[f64]) -> bool {
    is_best_first(figures, true) || is_best_first(figures, false)
}

fn is_best_first(figures: &[f64], more: bool) -> bool {
    figures.windows(2).all(|pair| {
        let slack = TIE * pair[0].abs();
        match more {
            true => pair[1] <= pair[0] + slack,
            false => pair[1] >= pair[0] - slack,
        }
    })
}

pub fn check_sentence(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    if sentence.len() > 300 || is_uncertain(sentence) {
        return;
    }
    if sentence.contains(" > ") || sentence.contains(" ≫ ") || sentence.contains(" >> ") {
        check_chain(grids, sentence, line, findings);
    }
    let lower = sentence.to_lowercase();
    if lower.contains("followed by") || lower.contains("fastest to slowest") {
        check_followed_by(grids, sentence, line, findings);
    }
}

/// Checks "A > B > C": at least three records in an order that no figure supports.
fn check_chain(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let plain = sentence
        .replace(['*', '`', '"'], "")
        .replace(['≫'], ">")
        .replace(">>", ">");
    let listed = plain.rsplit(':').next().unwrap_or(&plain);
    let names: Vec<&str> = listed.split(" > ").map(str::trim).collect();
    if names.len() >= 3 {
        check_order(grids, &names, sentence, line, true, findings);
    }
}

static FOLLOWED: Pattern = pattern!(
    r"(?i)^(.+?)\s+(?:is|was|leads|led|wins|won|takes|comes|came|has|had|performs?|performed|achieves?|achieved|shows?|showed)\b[^,;]*,\s+(?:closely\s+)?followed by\s+(.+?)(?:,?\s+(?:and\s+)?(?:then\s+)?(?:by\s+)?(?:and|then)\s+(.+?))?(?:[.;(]|$)"
);

/// Checks "A is the fastest, followed by B and C".
fn check_followed_by(grids: &Grids, sentence: &str, line: usize, findings: &mut Findings) {
    let plain = sentence.replace(['*', '`', '"'], "");
    if let Some((_, listed)) = plain.split_once("fastest to slowest") {
        let names: Vec<&str> = listed
            .trim_start_matches([':', ' ', '(', ')'])
            .split([',', '→', '>'])
            .map(|name| name.trim().trim_start_matches("and ").trim_end_matches('.'))
            .collect();
        if names.len() >= 3 {
            check_order(grids, &names, sentence, line, false, findings);
        }
        return;
    }
    let lower = plain.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let praised = says(&[
        "fastest",
        "best",
        "leads",
        "led ",
        "wins",
        "won ",
        "highest throughput",
        "highest rps",
        "lowest latency",
    ]);
    if !praised || says(&["slowest", "worst", "lowest throughput", "highest latency"]) {
        return;
    }
    let Some(found) = FOLLOWED.first(&plain) else {
        return;
    };
    let mut names = vec![text_before_verb(group(&found, 1)).trim()];
    let others = [group(&found, 2), group(&found, 3)];
    names.extend(
        others
            .iter()
            .flat_map(|text| text.split(','))
            .map(str::trim),
    );
    names.retain(|name| !name.is_empty());
    if names.len() >= 2 {
        check_order(grids, &names, sentence, line, false, findings);
    }
}

/// Reports an order of records that no column of a grid with all of them supports.
pub fn check_order(
    grids: &Grids,
    names: &[&str],
    sentence: &str,
    line: usize,
    either_way: bool,
    findings: &mut Findings,
) {
    let Some(metric) = Metric::in_sentence(sentence) else {
        return;
    };
    let mut against: Option<(String, String)> = None;
    for grid in grids.grids() {
        let records: Vec<&Record> = names
            .iter()
            .filter_map(|name| match named_records(grid, name).as_deref() {
                Some([record]) => Some(*record),
                _ => None,
            })
            .collect();
        let distinct = records.iter().enumerate().all(|(at, one)| {
            records[at + 1..]
                .iter()
                .all(|other| !std::ptr::eq(*one, *other))
        });
        if records.len() != names.len() || !distinct {
            continue;
        }
        for field in &records[0].fields {
            let figures: Vec<f64> = records
                .iter()
                .filter_map(|row| Some(row.matching_field(field)?.figure.value))
                .collect();
            if figures.len() != names.len() {
                continue;
            }
            let fits = match field.more_is_better().filter(|_| !either_way) {
                Some(more) => is_best_first(&figures, more),
                None => is_ordered(&figures),
            };
            if fits {
                return;
            }
            if metric.applies_to(field) && field.more_is_better().is_some() && against.is_none() {
                let shown: Vec<&str> = records
                    .iter()
                    .filter_map(|row| Some(row.matching_field(field)?.figure.text.as_str()))
                    .collect();
                against = Some((field.name.text.clone(), shown.join(", ")));
            }
        }
    }
    let Some((column, shown)) = against else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            format!("\"{}\"; {column}: {shown}", shorten(sentence)),
            format!(
                "{shown} are not in this order, and neither is any other figure of the records"
            ),
            "Order them by one figure, and state which.".to_owned(),
        ],
        findings,
    );
}

static ITEM: Pattern =
    pattern!(r"^\s*(\d{1,2})[.)]\s+\W{0,4}([^:(–—|-]{2,40}?)\W{0,3}\s*(?:[:(–—-]|$)");

/// Checks a numbered list of records under a heading or a line that calls it a ranking.
pub fn check_numbered_lists(report: &Report, grids: &Grids, findings: &mut Findings) {
    const RANKING: [&str; 8] = [
        "rank",
        "fastest",
        "leaderboard",
        "from best",
        "podium",
        "order of performance",
        "by throughput",
        "by performance",
    ];
    let lines: Vec<&str> = report.text.lines().take(20_000).collect();
    let mut at = 0;
    while at < lines.len() {
        let items: Vec<(u32, String)> = lines[at..]
            .iter()
            .take(20)
            .map_while(|line| {
                let found = ITEM.first(line.get(..line.len().min(200))?)?;
                let number = group(&found, 1).parse().ok()?;
                Some((number, group(&found, 2).replace(['*', '`'], "")))
            })
            .collect();
        let rising = items
            .iter()
            .enumerate()
            .all(|(at, (number, _))| *number as usize == at + 1);
        if items.len() >= 3 && rising {
            let mut above = lines[..at].iter().rev().take(5);
            let lead = above.find(|line| !line.trim().is_empty());
            let lead = lead.map_or(String::new(), |line| line.to_lowercase());
            if RANKING.iter().any(|word| lead.contains(word)) {
                let names: Vec<&str> = items.iter().map(|(_, name)| name.trim()).collect();
                check_order(grids, &names, &lead, at + 1, false, findings);
            }
        }
        at += items.len().max(1);
    }
}
