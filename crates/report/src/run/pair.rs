//! Two runs side by side: their figures, and how certain the differences are.

use plimsoll_plots::number;
use plimsoll_results::compare::Compared;
use plimsoll_stats::comparison::Outcome;

use super::view::RunView;
use super::{RunComparison, conclusion};
use crate::document::{Block, Head, Table, Words};
use crate::naming::join_list;

/// The conclusion in sentences: which figures differ, then the verdict of each run.
pub fn conclusion_points(runs: &[RunView<'_>], comparison: &RunComparison) -> Vec<Words> {
    let mut points = Vec::new();
    let different = comparison.compared.iter().filter(|one| one.is_different());
    for one in different {
        let how = if one.is_worse() { "worse" } else { "better" };
        let (change, _) = one.change_texts().unwrap_or_default();
        points.push(
            Words::new()
                .strong(format!("{} of B is {how}", one.figure.name))
                .text(format!(": {change} ({}).", describe_outcome(one))),
        );
    }
    let names = |wanted: Outcome| -> Vec<String> {
        let all = comparison.compared.iter();
        all.filter(|one| one.outcome == wanted)
            .map(|one| one.figure.name.to_owned())
            .collect()
    };
    for (outcome, text) in [
        (Outcome::NoDifference, "No difference in"),
        (Outcome::Uncertain, "Uncertain whether B differs in"),
        (Outcome::NotMeasured, "Not compared:"),
    ] {
        let names = names(outcome);
        if !names.is_empty() {
            points.push(Words::plain(format!("{text} {}.", join_list(&names))));
        }
    }
    if comparison.compared.is_empty() {
        points.push(Words::plain(format!(
            "The runs were not compared: {}",
            comparison.method
        )));
    }
    for run in runs {
        let all = conclusion::points(run);
        points.extend(
            all.into_iter()
                .map(|words| Words::new().strong(run.label).text(": ").append(words)),
        );
    }
    points
}

/// The figures of both with the change and its interval.
pub fn comparison_table(comparison: &RunComparison) -> Vec<Block> {
    if comparison.compared.is_empty() {
        return Vec::new();
    }
    let rows = comparison
        .compared
        .iter()
        .map(|one| {
            let value = |value: Option<f64>| match (value, one.is_difference()) {
                (None, _) => Words::new(),
                (Some(value), true) => Words::new().figure(value * 100.0, None, "%"),
                (Some(value), false) => Words::new().figure(value, None, one.figure.unit),
            };
            let (change, interval) = one.change_texts().unwrap_or_default();
            vec![
                Words::plain(one.figure.label),
                value(one.a),
                value(one.b),
                Words::plain(change),
                Words::plain(interval),
                Words::plain(describe_outcome(one)),
            ]
        })
        .collect();
    let mut blocks = vec![Block::Table(Table {
        caption: "Both runs without their warm-up, and how B differs from A".to_owned(),
        head: vec![
            Head::words("figure"),
            Head::figures("A"),
            Head::figures("B"),
            Head::figures("change"),
            Head::figures("95 % interval"),
            Head::words("outcome"),
        ],
        rows,
        names: 1,
    })];
    blocks.push(Block::Prose(Words::plain(format!(
        "Method: {}.",
        comparison.method
    ))));
    blocks.push(Block::Points(
        comparison
            .doubts
            .iter()
            .map(|doubt| Words::plain(format!("Doubt: {doubt}")))
            .collect(),
    ));
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// Differences of the configurations and environments.
pub fn difference_blocks(comparison: &RunComparison) -> Vec<Block> {
    if comparison.differences.is_empty() {
        return Vec::new();
    }
    let rows = comparison
        .differences
        .iter()
        .map(|(name, a, b)| {
            vec![
                Words::plain(conclusion::shorten(name)),
                Words::plain(conclusion::shorten(a)),
                Words::plain(conclusion::shorten(b)),
            ]
        })
        .collect();
    vec![Block::Table(Table {
        caption: "How the configurations and machines of A and B differ".to_owned(),
        head: vec![Head::words("what"), Head::words("A"), Head::words("B")],
        rows,
        names: 1,
    })]
}

/// The outcome in words.
fn describe_outcome(one: &Compared) -> String {
    let verdict = if one.is_worse() { "worse" } else { "better" };
    let text = match one.outcome {
        Outcome::Larger => format!("larger, {verdict}"),
        Outcome::Smaller => format!("smaller, {verdict}"),
        Outcome::NoDifference => {
            let max = one.at_most.unwrap_or_default() * 100.0;
            let unit = if one.is_difference() { "points" } else { "%" };
            format!(
                "no difference larger than {} {unit}",
                number::Place::decimals(1).print(max)
            )
        }
        Outcome::Uncertain => "uncertain".to_owned(),
        Outcome::NotMeasured => "not compared".to_owned(),
    };
    match &one.why {
        Some(why) => format!("{text}: {why}"),
        None => text,
    }
}
