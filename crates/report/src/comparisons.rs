//! Comparisons of cells: the groups, the forest plots and the table.

use plimsoll_plots::{Forest, Judged, PlotWidth, RatioRow};
use plimsoll_results::lab::{Comparison, LabResult, Outcome};

use crate::document::{Block, Detail, Head, Plot, Table, Words};
use crate::groups::{Group, comparative, format_probability, format_ratio, groups};
use crate::naming::{capitalize, describe_place, describe_value, join_list, slug};

/// The blocks of the section. Empty if there are no comparisons.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    let groups = groups(result);
    if groups.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Prose(Words::plain(
        "A ratio is the second over the first, from pairs of the same restart. \
         It counts as larger or smaller if its 95 % interval excludes 1, also after the correction for \
         the number of related comparisons.",
    ))];
    if let Some(same) = result
        .same_cell
        .as_ref()
        .filter(|same| !same.floors.is_empty())
    {
        blocks.push(Block::Prose(Words::plain(format!(
            "A ratio up to the floor is not a difference: {}.",
            same.method
        ))));
    }
    blocks.extend(crate::pooled::table(result).map(Block::Table));
    blocks.extend(crate::claims::excluded_sentence(result).map(Block::Prose));
    for (index, group) in groups.iter().enumerate() {
        let rows: Vec<RatioRow> = group
            .members
            .iter()
            .filter_map(|one| {
                Some(RatioRow {
                    label: row_label(result, one, group),
                    ratio: one.ratio?,
                    interval: one.interval,
                    judged: match one.outcome {
                        Outcome::Larger | Outcome::Smaller => Judged::Different,
                        Outcome::NoDifference => Judged::NoDifference,
                        Outcome::Uncertain => Judged::Uncertain,
                        Outcome::NotMeasured => Judged::Not,
                    },
                })
            })
            .collect();
        // A single ratio is easier to read in the table.
        if rows.len() > 1 {
            let (base, other) = compared_words(result, group);
            let forest = Forest {
                title: format!("{} of {other} over {base}", group.label),
                label: format!("{other} over {base}"),
                rows,
            };
            let plot = Block::plot(Plot {
                name: format!(
                    "comparison-{}-{}",
                    index + 1,
                    slug(&format!(
                        "{}-{}-{}",
                        group.figure, group.values.1, group.values.0
                    ))
                ),
                caption: format!("{}: {other} over {base}.", capitalize(&group.label)),
                narrow: forest.draw(PlotWidth::Narrow),
                wide: None,
                series: None,
            });
            blocks.push(Block::Detail(Detail::Ratios, vec![plot]));
        }
    }
    blocks.push(Block::Table(table(result, &groups)));
    blocks
}

/// The words for the base and the value compared with it.
fn compared_words(result: &LabResult, group: &Group) -> (String, String) {
    let (base, other) = group.values;
    let words = |value| describe_value(result, group.axis, value);
    (words(base), words(other))
}

fn row_label(result: &LabResult, one: &Comparison, group: &Group) -> String {
    let place = describe_place(result, &one.place, &[group.axis]);
    if place.is_empty() {
        let (base, other) = compared_words(result, group);
        format!("{other} over {base}")
    } else {
        place
    }
}

fn table(result: &LabResult, groups: &[Group]) -> Table {
    let rows = groups
        .iter()
        .flat_map(|group| group.members.iter().map(move |one| (group, *one)))
        .map(|(group, one)| {
            let (base, other) = compared_words(result, group);
            let place = describe_place(result, &one.place, &[group.axis]);
            vec![
                Words::plain(format!("{other} over {base}")),
                Words::plain(if place.is_empty() {
                    "all".to_owned()
                } else {
                    place
                }),
                Words::plain(group.label.clone()),
                one.ratio.map_or_else(
                    || Words::plain("no figure"),
                    |value| match one.interval {
                        Some(_) => Words::new().text("×").figure(value, one.interval, ""),
                        None => Words::plain(format!("×{}", format_ratio(value))),
                    },
                ),
                one.p.map_or_else(
                    || Words::plain("–"),
                    |p| Words::plain(format_probability(p)),
                ),
                Words::plain(match one.outcome {
                    Outcome::Larger => comparative(&group.unit, true).to_owned(),
                    Outcome::Smaller => comparative(&group.unit, false).to_owned(),
                    Outcome::NoDifference | Outcome::Uncertain => one.text(),
                    Outcome::NotMeasured if one.ratio.is_none() => {
                        "not measured: a cell has no figure".to_owned()
                    }
                    Outcome::NotMeasured => format!("not measured: {}", one.method),
                }),
            ]
        })
        .collect();
    Table {
        caption: "Comparisons, with ratio, 95 % interval and conclusion".to_owned(),
        head: vec![
            Head::words("pair"),
            Head::words("at"),
            Head::words("figure"),
            Head::figures("ratio"),
            Head::figures("p, corrected"),
            Head::words("outcome"),
        ],
        rows,
        names: 1,
    }
}

/// The names of the methods used, for the section on methods.
pub fn methods(result: &LabResult) -> Option<String> {
    let mut methods: Vec<String> = Vec::new();
    for one in &result.comparisons {
        if one.outcome != Outcome::NotMeasured && !methods.contains(&one.method) {
            methods.push(one.method.clone());
        }
    }
    (!methods.is_empty()).then(|| join_list(&methods))
}
