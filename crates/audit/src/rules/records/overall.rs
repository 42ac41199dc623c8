//! "All 470 requests succeeded", "overall success rate: 66 %": a total that contradicts its parts
//! in a table.

use super::subject::is_uncertain;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{format_number, parse_number};
use crate::records::{Field, Grid, Grids, Kind, Meaning, Record};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;

static ALL: Pattern = pattern!(
    r"(?i)\b(?:all|total of|in total,?)\s+(?:the\s+)?(\d[\d,]*)\s+(?:total\s+|http\s+)?(?:requests|queries|calls|operations|messages|transactions|events)\b"
);
static IN_ALL: Pattern = pattern!(
    r"(?i)\b(\d[\d,]*)\s+(?:http\s+)?(?:requests|queries|calls|operations|messages|transactions|events)\s+(?:in total|overall|altogether|across (?:all|the))\b"
);
static OVERALL: Pattern = pattern!(
    r"(?i)^\W*(?:overall|total)\s+(success|pass|error|failure) rate\W{1,6}(\d+(?:\.\d+)?)\s?%"
);
static TOTAL: Pattern =
    pattern!(r"(?i)^\W*total (?:requests|queries|calls|operations)\W{1,6}(\d[\d,]*)\W*$");

/// The number of requests of a row.
fn request_count(record: &Record) -> Option<&Field> {
    let counted = |field: &&Field| {
        field.figure.kind == Kind::Plain && !field.figure.about && field.figure.value.fract() == 0.0
    };
    let named = record.only_field(Meaning::Requests).filter(counted);
    named.or_else(|| {
        let short = |field: &&Field| matches!(field.name.quantity.as_str(), "reqs" | "n requests");
        record.fields.iter().filter(short).find(counted)
    })
}

/// The only table in which at least three rows all have a number of requests.
fn counted_grid(grids: &Grids) -> Option<&Grid> {
    let fits = |grid: &&Grid| {
        grid.records.len() >= 3
            && grid
                .records
                .iter()
                .all(|record| request_count(record).is_some())
    };
    let mut fitting = grids.rows.iter().filter(fits);
    let grid = fitting.next()?;
    fitting.next().is_none().then_some(grid)
}

fn is_sum(record: &Record) -> bool {
    const SUMS: [&str; 5] = ["total", "aggregated", "all", "sum", "overall"];
    record
        .words
        .iter()
        .any(|word| SUMS.contains(&word.as_str()))
}

/// Checks "All 470 requests" against the sum of the rows of the only table.
pub fn check_sentence(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = text.to_lowercase();
    let possible = ["all ", "total", "across"]
        .iter()
        .any(|word| lower.contains(word));
    if !possible || text.len() > 300 || is_uncertain(text) {
        return;
    }
    let plain = text.replace(['*', '`'], "");
    let found = ALL.first(&plain).or_else(|| IN_ALL.first(&plain));
    let Some(found) = found.or_else(|| TOTAL.first(&plain)) else {
        return;
    };
    let Some((claimed, _)) = found
        .get(1)
        .and_then(|digits| parse_number(digits.as_str()))
    else {
        return;
    };
    let Some(grid) = counted_grid(grids).filter(|grid| !grid.records.iter().any(is_sum)) else {
        return;
    };
    let counts: Vec<&Field> = grid.records.iter().filter_map(request_count).collect();
    let sum: f64 = counts.iter().map(|field| field.figure.value).sum();
    // The sentence may refer to a single row, or the table may show only a part.
    let one = counts.iter().any(|field| field.figure.value == claimed);
    if claimed == sum || one || !(0.8..1.25).contains(&(claimed / sum)) {
        return;
    }
    let texts: Vec<&str> = counts
        .iter()
        .map(|field| field.figure.text.as_str())
        .collect();
    warn(
        "total-mismatch",
        line,
        [
            format!("\"{}\"; {} rows", shorten(text), counts.len()),
            format!(
                "{} = {}, not {}",
                texts.join(" + "),
                format_number(sum),
                format_number(claimed)
            ),
            "Recalculate the sum.".to_owned(),
        ],
        findings,
    );
}

/// Checks an overall share of all requests against rows that alone have more successes or failures.
pub fn check_share(report: &Report, grids: &Grids, findings: &mut Findings) {
    let mut total: Option<f64> = None;
    for prose in report.prose() {
        for (line, text) in prose.lines().filter(|(_, text)| text.len() < 120) {
            let text = text.replace('*', "");
            if let Some(found) = TOTAL.first(&text) {
                total = found
                    .get(1)
                    .and_then(|digits| Some(parse_number(digits.as_str())?.0));
            }
            let found = OVERALL.first(&text);
            let (Some(found), Some(total)) = (found, total) else {
                continue;
            };
            let group = |at: usize| group(&found, at);
            let Some((percent, step)) = parse_number(group(2)) else {
                continue;
            };
            let lower = group(1).to_lowercase();
            let passed = matches!(lower.as_str(), "success" | "pass");
            let good = if passed { percent } else { 100.0 - percent };
            check_bounds(grids, &text, line, total, (good, step), findings);
        }
    }
}

fn check_bounds(
    grids: &Grids,
    text: &str,
    line: usize,
    total: f64,
    (good, step): (f64, f64),
    findings: &mut Findings,
) {
    let Some(grid) = counted_grid(grids).filter(|grid| !grid.records.iter().any(is_sum)) else {
        return;
    };
    let (mut passed, mut failed, mut slack, mut all) = (0.0, 0.0, 0.0, 0.0);
    for record in &grid.records {
        let share = |meaning: Meaning| {
            let field = record.only_field(meaning)?;
            (field.figure.kind == Kind::Percent && !field.figure.about).then_some(&field.figure)
        };
        let good = match (share(Meaning::PassedShare), share(Meaning::FailedShare)) {
            (Some(figure), _) => (figure.value, figure.step),
            (None, Some(figure)) => (100.0 - figure.value, figure.step),
            _ => return,
        };
        let Some(count) = request_count(record).map(|field| field.figure.value) else {
            return;
        };
        passed += count * good.0 / 100.0;
        failed += count * (100.0 - good.0) / 100.0;
        slack += count * good.1 / 100.0;
        all += count;
    }
    if all <= 0.0 || all > 1.001 * total {
        return;
    }
    let max_requests = |share: f64| total * (share + step) / 100.0 + slack + 1.0;
    let (part, share, name) = if passed > max_requests(good) {
        (passed, good, "succeeded")
    } else if failed > max_requests(100.0 - good) {
        (failed, 100.0 - good, "failed")
    } else {
        return;
    };
    warn(
        "total-mismatch",
        line,
        [
            format!(
                "\"{}\"; {} requests in all",
                shorten(text),
                format_number(total)
            ),
            format!(
                "{} of the rows' requests {name}, and {} % of {} are only {}",
                format_number(part.round()),
                format_number(share),
                format_number(total),
                format_number((total * share / 100.0).round())
            ),
            "Recalculate the share from all requests.".to_owned(),
        ],
        findings,
    );
}

/// Checks "Total requests: N" of a page against the totals of its tables. N may be the sum of any of
/// them.
pub fn check_totals(grids: &Grids, findings: &mut Findings) {
    let mut totals: Vec<f64> = Vec::new();
    for grid in &grids.rows {
        let last = grid
            .records
            .last()
            .filter(|record| is_sum(record) && grid.records.len() >= 3);
        totals.extend(last.and_then(request_count).map(|field| field.figure.value));
    }
    if !(2..=10).contains(&totals.len()) {
        return;
    }
    let all: f64 = totals.iter().sum();
    let max_requests = totals.iter().copied().fold(0.0, f64::max);
    let chosen = |set: u32| {
        let chosen = totals.iter().enumerate();
        let chosen = chosen.filter(|(at, _)| (set >> at) & 1 == 1);
        chosen.map(|(_, total)| total).sum()
    };
    let sums: Vec<f64> = (0..1_u32 << totals.len()).map(chosen).collect();
    let named = |field: &&Field| field.name.text.to_lowercase().contains("total requests");
    let records = grids
        .tables
        .iter()
        .flat_map(|grid| &grid.records)
        .chain(&grids.lists);
    for record in records {
        let Some(claimed) = record.only_field(Meaning::Requests).filter(named) else {
            continue;
        };
        let value = claimed.figure.value;
        let explained = sums.iter().any(|sum| (sum - value).abs() <= 0.005 * value);
        if claimed.figure.about || explained || !(1.01 * max_requests..0.99 * all).contains(&value)
        {
            continue;
        }
        let shown: Vec<String> = totals.iter().map(|total| format_number(*total)).collect();
        warn(
            "total-mismatch",
            record.line,
            [
                format!(
                    "{}: {}; {} tables with a total",
                    claimed.name.text,
                    claimed.figure.text,
                    totals.len()
                ),
                format!(
                    "{} = {}, not {}",
                    shown.join(" + "),
                    format_number(all),
                    claimed.figure.text
                ),
                "Add the totals of the tables again.".to_owned(),
            ],
            findings,
        );
        return;
    }
}
