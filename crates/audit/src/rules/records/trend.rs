//! "The mean response time increases as the number of threads increases", next to a table in which
//! it falls from one load to the next.

use super::entities::users;
use super::mentions::strip_markup;
use super::subject::{Metric, is_uncertain};
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::records::{Field, Grid, Grids, Kind};
use crate::report::Findings;
use crate::rules::prose::shorten;

static TREND: Pattern = pattern!(
    r"\b(increases?|rises?|grows?|climbs?|decreases?|drops?|falls?|declines?)\s+(?:\w+ly\s+)?(?:as|with)\b[^.;]{0,40}?\b(?:users|threads|load|concurrency|connections|clients|vus|traffic)\b"
);
/// Words that limit a trend to some loads.
const OPEN: [&str; 16] = [
    "but",
    "until",
    "up to",
    "then",
    "beyond",
    "after",
    "slight",
    "general",
    "overall",
    "most",
    "from ",
    "tend",
    "except",
    "initially",
    "between",
    "fewer",
];

/// Minimum number of loads.
const MIN_LOADS: usize = 3;

pub fn check_sentence(grids: &Grids, text: &str, line: usize, findings: &mut Findings) {
    let lower = strip_markup(text);
    if text.len() > 300
        || !(lower.contains(" as ") || lower.contains(" with "))
        || OPEN.iter().any(|word| lower.contains(word))
        || is_uncertain(&lower)
    {
        return;
    }
    let (Some(found), Some(metric)) = (TREND.first(&lower), Metric::in_sentence(&lower)) else {
        return;
    };
    if metric == Metric::Any {
        return;
    }
    let word = group(&found, 1);
    let rises = ["incr", "ris", "grow", "climb"]
        .iter()
        .any(|stem| word.starts_with(stem));
    let mut example = None;
    for series in grids.grids().flat_map(|grid| series(grid, metric)) {
        let against = series.windows(2).find(|pair| {
            let [one, other] = [&pair[0].1.figure, &pair[1].1.figure];
            let change = other.value - one.value;
            let falls = if rises { -change } else { change };
            falls > 0.01 * one.value + one.step + other.step
        });
        match against {
            Some(pair) => {
                example = example.or(Some([pair[0], pair[1]]));
            }
            // This column shows the trend.
            None => return,
        }
    }
    let Some([(load, one), (next, other)]) = example else {
        return;
    };
    warn(
        "comparison-reversed",
        line,
        [
            format!("\"{}\"; {}", shorten(text), one.name.text),
            format!(
                "from {load} to {next} the figure changes from {} to {}",
                one.figure.text, other.figure.text
            ),
            "Name the loads between which the figure changes in this direction.".to_owned(),
        ],
        findings,
    );
}

/// The columns of a metric, in order of the load.
fn series(grid: &Grid, metric: Metric) -> Vec<Vec<(f64, &Field)>> {
    let loads: Vec<f64> = grid.records.iter().filter_map(users).collect();
    let mut sorted = loads.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    if loads.len() != grid.records.len() || sorted.len() != loads.len() || loads.len() < MIN_LOADS {
        return Vec::new();
    }
    let Some(first) = grid.records.first() else {
        return Vec::new();
    };
    let fits = |field: &&Field| {
        metric.applies_to(field) && matches!(field.figure.kind, Kind::Time | Kind::Rate)
    };
    let names = first.fields.iter().filter(fits);
    names
        .filter_map(|name| {
            let mut cells: Vec<(f64, &Field)> = grid
                .records
                .iter()
                .zip(&loads)
                .filter_map(|(record, load)| Some((*load, record.matching_field(name)?)))
                .filter(|(_, field)| field.is_exact())
                .collect();
            cells.sort_by(|one, other| one.0.total_cmp(&other.0));
            (cells.len() == loads.len()).then_some(cells)
        })
        .collect()
}
