//! Comparisons of cells: the sentences, the forest plots and the table.

use plimsoll_plots::{Forest, Judged, RatioRow, Room, number};
use plimsoll_results::lab::{Comparison, LabResult, Outcome};

use crate::document::{Block, Head, Plot, Table, Words};
use crate::leads::value_on;
use crate::naming::{capital, counted, listed, place_text, slug};

/// Comparisons of the same figure between the same two values of an axis.
pub struct Group<'a> {
    pub axis: &'a str,
    /// The base and the value compared with it.
    pub values: (&'a str, &'a str),
    pub figure: &'a str,
    pub label: String,
    pub unit: String,
    pub members: Vec<&'a Comparison>,
}

/// Groups comparisons, in the order of their first ones.
pub fn groups(result: &LabResult) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for comparison in &result.comparisons {
        let value = |name: &str| {
            result
                .cells
                .iter()
                .find(|cell| cell.name == name)
                .and_then(|cell| value_on(cell, &comparison.axis))
        };
        let values = (
            value(&comparison.cells.0).unwrap_or(&comparison.cells.0),
            value(&comparison.cells.1).unwrap_or(&comparison.cells.1),
        );
        let known = groups.iter_mut().find(|group| {
            group.axis == comparison.axis
                && group.values == values
                && group.figure == comparison.figure
        });
        if let Some(group) = known {
            group.members.push(comparison);
            continue;
        }
        let figure = result
            .cells
            .iter()
            .flat_map(|cell| &cell.figures)
            .find(|figure| figure.name == comparison.figure);
        groups.push(Group {
            axis: &comparison.axis,
            values,
            figure: &comparison.figure,
            label: figure.map_or_else(|| comparison.figure.clone(), |figure| figure.label.clone()),
            unit: figure.map_or_else(String::new, |figure| figure.unit.clone()),
            members: vec![comparison],
        });
    }
    groups
}

impl Group<'_> {
    fn with(&self, outcome: Outcome) -> Vec<&Comparison> {
        self.members
            .iter()
            .copied()
            .filter(|member| member.outcome == outcome && member.ratio.is_some())
            .collect()
    }

    /// The result of the comparisons in a sentence, if any of them was judged.
    pub fn sentence(&self, result: &LabResult) -> Option<Words> {
        let larger = self.with(Outcome::Larger);
        let smaller = self.with(Outcome::Smaller);
        let within = self.with(Outcome::NoDifference);
        let unsure = self.with(Outcome::Uncertain);
        let judged = larger.len() + smaller.len() + within.len() + unsure.len();
        if judged == unsure.len() {
            return None;
        }
        let (base, other) = self.values;
        let words = Words::new().code(other).text(" against ").code(base);
        let words = words.text(format!(", {}: ", self.label));
        if larger.is_empty() && smaller.is_empty() && unsure.is_empty() {
            let words = words.strong(no_difference(&within));
            let words = match judged {
                1 => words,
                _ => words.text(format!(" in any of {}", counted(judged, "pair", "pairs"))),
            };
            return Some(words.text("."));
        }
        let mut parts: Vec<Words> = Vec::new();
        for (found, more) in [(&larger, true), (&smaller, false)] {
            if !found.is_empty() {
                parts.push(self.direction(result, found, more, judged));
            }
        }
        if !within.is_empty() {
            parts.push(Words::plain(format!(
                "{} in {}",
                no_difference(&within),
                counted(within.len(), "pair", "pairs")
            )));
        }
        if !unsure.is_empty() {
            parts.push(Words::plain(format!(
                "uncertain in {}",
                counted(unsure.len(), "pair", "pairs")
            )));
        }
        let mut words = words;
        for (index, part) in parts.into_iter().enumerate() {
            words = if index == 0 { words } else { words.text("; ") };
            words = words.and(part);
        }
        Some(words.text("."))
    }

    /// `longer in all 4 pairs, 1.2 to 1.6 times`.
    fn direction(
        &self,
        result: &LabResult,
        found: &[&Comparison],
        more: bool,
        judged: usize,
    ) -> Words {
        let word = comparative(&self.unit, more);
        if let ([one], 1) = (found, judged) {
            let words = Words::new().strong(word);
            let value = one.ratio.unwrap_or(1.0);
            let place = place_text(result, &one.place, &[self.axis]);
            let words = words.text(format!(", ratio {}", printed(value, one.interval)));
            return if place.is_empty() {
                words
            } else {
                words.text(" at ").code(place)
            };
        }
        let many = if found.len() == judged {
            format!(" in all {}", counted(judged, "pair", "pairs"))
        } else {
            format!(
                " in {} of {}",
                found.len(),
                counted(judged, "pair", "pairs")
            )
        };
        let ratios = bounds(
            found
                .iter()
                .filter_map(|one| one.ratio)
                .map(|one| (one, one)),
        );
        let reach = ratios.map_or_else(String::new, |(low, high)| {
            if ratio(low) == ratio(high) {
                format!(", ratio {}", ratio(low))
            } else {
                format!(", ratio {} to {}", ratio(low), ratio(high))
            }
        });
        Words::new().strong(format!("{word}{many}")).text(reach)
    }
}

/// `no difference larger than 3.2 %`, true for each of several comparisons.
fn no_difference(comparisons: &[&Comparison]) -> String {
    let shares: Vec<f64> = comparisons.iter().filter_map(|one| one.at_most).collect();
    let most = (shares.len() == comparisons.len())
        .then(|| shares.into_iter().reduce(f64::max))
        .flatten();
    Outcome::NoDifference.text(most, None, "")
}

/// The comparative for more or less of a figure.
pub fn comparative(unit: &str, more: bool) -> &'static str {
    match (unit, more) {
        ("ms" | "s" | "µs", true) => "longer",
        ("ms" | "s" | "µs", false) => "shorter",
        (_, true) => "higher",
        (_, false) => "lower",
    }
}

/// Why some comparisons have no result: each reason once, with the number of comparisons.
pub fn unjudged(result: &LabResult) -> Option<Words> {
    let not: Vec<&Comparison> = result
        .comparisons
        .iter()
        .filter(|comparison| {
            comparison.outcome == Outcome::NotMeasured || comparison.ratio.is_none()
        })
        .collect();
    if not.is_empty() {
        return None;
    }
    let mut reasons: Vec<String> = Vec::new();
    for comparison in &not {
        let reason = if comparison.ratio.is_none() {
            "a cell has no figure".to_owned()
        } else {
            comparison.method.trim().trim_end_matches('.').to_owned()
        };
        if !reason.is_empty() && !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let why = if reasons.is_empty() || reasons.len() > 3 {
        String::new()
    } else {
        format!(": {}", reasons.join("; "))
    };
    let (all, count) = (result.comparisons.len(), not.len());
    let which = if count == all {
        "No comparison was measured".to_owned()
    } else {
        format!(
            "{count} of {} {} not measured",
            counted(all, "comparison", "comparisons"),
            if count == 1 { "was" } else { "were" }
        )
    };
    Some(Words::plain(format!("{which}{why}.")))
}

/// The section's blocks; none without comparisons.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    let groups = groups(result);
    if groups.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Prose(Words::plain(
        "A ratio is the second over the first, from runs that were adjacent in time. \
         It counts as larger or smaller if its 95 % interval excludes 1, also after the correction for \
         the number of related comparisons.",
    ))];
    blocks.extend(crate::pooled::table(result).map(Block::Table));
    blocks.extend(unjudged(result).map(Block::Prose));
    for (index, group) in groups.iter().enumerate() {
        blocks.extend(group.sentence(result).map(Block::Prose));
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
            let (base, other) = group.values;
            let forest = Forest {
                title: format!("{} of {other} over {base}", group.label),
                label: format!("{other} over {base}"),
                rows,
            };
            blocks.push(Block::plot(Plot {
                name: format!(
                    "comparison-{}-{}",
                    index + 1,
                    slug(&format!("{}-{other}-{base}", group.figure))
                ),
                caption: format!("{}: {other} over {base}.", capital(&group.label)),
                narrow: forest.draw(Room::Narrow),
                wide: Some(forest.draw(Room::Wide)),
                series: None,
            }));
        }
    }
    blocks.push(Block::Table(table(result, &groups)));
    blocks
}

fn row_label(result: &LabResult, one: &Comparison, group: &Group) -> String {
    let place = place_text(result, &one.place, &[group.axis]);
    if place.is_empty() {
        format!("{}={} over {}", group.axis, group.values.1, group.values.0)
    } else {
        place
    }
}

fn table(result: &LabResult, groups: &[Group]) -> Table {
    let rows = groups
        .iter()
        .flat_map(|group| group.members.iter().map(move |one| (group, *one)))
        .map(|(group, one)| {
            let (base, other) = group.values;
            let place = place_text(result, &one.place, &[group.axis]);
            vec![
                Words::new().code(other).text(" over ").code(base),
                if place.is_empty() {
                    Words::plain("all")
                } else {
                    Words::new().code(place)
                },
                Words::plain(group.label.clone()),
                one.ratio.map_or_else(
                    || Words::plain("no figure"),
                    |value| match one.interval {
                        Some(_) => Words::new().text("×").figure(value, one.interval, ""),
                        None => Words::plain(format!("×{}", ratio(value))),
                    },
                ),
                one.p
                    .map_or_else(|| Words::plain("–"), |p| Words::plain(probability(p))),
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
    (!methods.is_empty()).then(|| listed(&methods))
}

/// Three digits, or two decimals below 1.
fn ratio(value: f64) -> String {
    let decimals = match value {
        100.0.. => 0,
        10.0.. => 1,
        _ => 2,
    };
    number::Place::decimals(decimals).print(value)
}

fn printed(value: f64, interval: Option<(f64, f64)>) -> String {
    match interval {
        None => ratio(value),
        Some((low, high)) => {
            let place = number::Place::of(value, interval);
            format!(
                "{} (95 % interval {} to {})",
                place.print(value),
                place.print(low),
                place.print(high)
            )
        }
    }
}

pub fn probability(p: f64) -> String {
    if p < 0.001 {
        "< 0.001".to_owned()
    } else {
        number::Place::decimals(3).print(p)
    }
}

fn bounds(intervals: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    intervals.reduce(|(low, high), (from, to)| (low.min(from), high.max(to)))
}
