//! The outcomes of the lab file's objectives.

use plimsoll_results::lab::{Cell, LabResult, ObjectiveOutcome, Variation};

use crate::document::{Block, Head, Table, Words};
use crate::leads::find_judged_figure;
use crate::naming::{cell_id, describe_cell, describe_place, format_count, shared_axes};

/// The figure of the objective "no request fails".
const FAILED_SHARE: &str = "failed_share";

/// The outcomes of each objective in the valid cells, without those that [`without_failures`] covers:
/// `95th percentile at most 50 ms: met in 17 of 19 valid cells, missed in 1, undecided in 1`.
pub fn counts(result: &LabResult) -> Vec<String> {
    listed(result)
        .into_iter()
        .map(|objective| {
            let judged = Judged::of(result, objective);
            let mut text = match judged.all.len() {
                0 => "not judged, because none of its cells is valid".to_owned(),
                all => format!(
                    "met in {} of {}",
                    judged.met.len(),
                    format_count(all, "valid cell", "valid cells")
                ),
            };
            for (name, some) in [("missed", judged.missed), ("undecided", judged.undecided)] {
                if !some.is_empty() {
                    text.push_str(&format!(", {name} in {}", some.len()));
                }
            }
            format!(
                "{}{}: {text}",
                objective_text(result, objective),
                judged_place(result, objective)
            )
        })
        .collect()
}

/// One sentence for each objective. Readers expect that no request fails, so that objective comes last, and has no
/// sentence if it is met: see [`without_failures`].
pub fn sentences(result: &LabResult) -> Vec<Words> {
    let objectives = listed(result);
    let objectives = objectives.iter();
    objectives
        .map(|objective| objective_sentence(result, objective))
        .collect()
}

/// The objectives, except "no request fails" if it is met.
fn listed(result: &LabResult) -> Vec<&str> {
    let mut objectives: Vec<&str> = Vec::new();
    for outcome in &result.objectives {
        if !objectives.contains(&outcome.objective.as_str()) {
            objectives.push(&outcome.objective);
        }
    }
    if without_failures(result).is_some() {
        objectives.retain(|objective| !objective.starts_with(FAILED_SHARE));
    }
    objectives.sort_by_key(|objective| objective.starts_with(FAILED_SHARE));
    objectives
}

/// Whether a cell that an objective judges is valid.
fn is_of_valid_cell(result: &LabResult, outcome: &ObjectiveOutcome) -> bool {
    let cell = result.cells.iter().find(|cell| cell.name == outcome.cell);
    cell.is_none_or(|cell| cell.verdict == "valid")
}

/// The number of valid cells, if the lab requires that no request fails and none failed in any of them.
pub fn without_failures(result: &LabResult) -> Option<usize> {
    let judged: Vec<&ObjectiveOutcome> = result
        .objectives
        .iter()
        .filter(|outcome| outcome.objective.starts_with(FAILED_SHARE))
        .filter(|outcome| is_of_valid_cell(result, outcome))
        .collect();
    let is_none = |one: &&ObjectiveOutcome| one.verdict == "kept" && one.measured == 0.0;
    (!judged.is_empty() && judged.iter().all(is_none)).then_some(judged.len())
}

/// The outcomes of one objective in the valid cells.
struct Judged<'a> {
    all: Vec<&'a ObjectiveOutcome>,
    met: Vec<&'a ObjectiveOutcome>,
    missed: Vec<&'a ObjectiveOutcome>,
    undecided: Vec<&'a ObjectiveOutcome>,
    /// The number of its cells that are not valid.
    excluded: usize,
}

impl<'a> Judged<'a> {
    fn of(result: &'a LabResult, objective: &str) -> Judged<'a> {
        let named = result.objectives.iter();
        let named = named.filter(|outcome| outcome.objective == objective);
        let (all, excluded): (Vec<&ObjectiveOutcome>, Vec<&ObjectiveOutcome>) =
            named.partition(|outcome| is_of_valid_cell(result, outcome));
        let (met, others): (Vec<&ObjectiveOutcome>, Vec<&ObjectiveOutcome>) =
            all.iter().partition(|outcome| outcome.verdict == "kept");
        let (missed, undecided) = others
            .iter()
            .partition(|outcome| outcome.verdict == "broken");
        Judged {
            all,
            met,
            missed,
            undecided,
            excluded: excluded.len(),
        }
    }
}

fn objective_sentence(result: &LabResult, objective: &str) -> Words {
    let Judged {
        all,
        met,
        missed,
        undecided,
        excluded,
    } = Judged::of(result, objective);
    let words = Words::plain(format!(
        "Objective \u{201c}{}\u{201d}{}: ",
        objective_text(result, objective),
        judged_place(result, objective)
    ));
    let words = match (all.len(), met.len()) {
        (0, _) => words
            .strong("not judged")
            .text(": none of its cells is valid"),
        (1, 1) => words.strong("met").text(" in its one valid cell"),
        (count, met) if met == count => words
            .strong("met")
            .text(format!(" in all of its {count} valid cells")),
        (1, 0) if missed.len() == 1 => words.strong("missed").text(" in its one valid cell"),
        (count, 0) if missed.len() == count => words
            .strong("missed")
            .text(format!(" in all of its {count} valid cells")),
        (count, met) => words.strong("met").text(format!(
            " in {met} of its {}",
            format_count(count, "valid cell", "valid cells")
        )),
    };
    let is_one_run = |one: &&ObjectiveOutcome| one.interval_from == Some(Variation::OneRun);
    let mut words = match all.len() {
        0 => words,
        _ if !all.iter().all(is_one_run) => words,
        1 => words.text(" (one run)"),
        _ => words.text(" (one run each)"),
    };
    if let Some(closest) = closest_to_limit(&met) {
        words = words
            .text(", at most ")
            .figure(
                closest.measured,
                outcome_interval(result, closest),
                &closest.unit,
            )
            .text(with_cell(result, closest));
    }
    for (name, some) in [("missed", &missed), ("undecided", &undecided)] {
        if some.is_empty() {
            continue;
        }
        if !(name == "missed" && missed.len() == all.len()) {
            words = words
                .text("; ")
                .strong(name)
                .text(format!(" in {}", some.len()));
        }
        // Name the cells while there are few enough to read.
        if some.len() <= 3 {
            words = words.text(": ");
            for (index, outcome) in some.iter().enumerate() {
                words = if index == 0 { words } else { words.text(", ") };
                words = words
                    .figure(
                        outcome.measured,
                        outcome_interval(result, outcome),
                        &outcome.unit,
                    )
                    .text(with_cell(result, outcome));
            }
        }
    }
    if excluded > 0 {
        words = words.text(format!(
            " ({} not counted)",
            format_count(excluded, "suspect cell", "suspect cells")
        ));
    }
    words.text(".")
}

/// The met outcome closest to its limit. Skips outcomes whose value is zero or whose limit is a lower one.
fn closest_to_limit<'a>(met: &[&'a ObjectiveOutcome]) -> Option<&'a ObjectiveOutcome> {
    met.iter()
        .copied()
        .filter(|outcome| outcome.measured > 0.0 && outcome.measured <= outcome.limit)
        .filter(|outcome| !is_lower_limit(outcome))
        .max_by(|one, other| one.measured.total_cmp(&other.measured))
}

/// An objective with the label of its figure, and its limit as reports print it: `95th percentile at most 50 ms`.
fn objective_text(result: &LabResult, objective: &str) -> String {
    let name = objective.split(' ').next().unwrap_or_default();
    let named = |outcome: &&ObjectiveOutcome| outcome.objective == objective;
    let Some(outcome) = result.objectives.iter().find(named) else {
        return objective.to_owned();
    };
    let judged = result.cells.iter().filter(|cell| cell.name == outcome.cell);
    let mut figures = judged.chain(&result.cells).flat_map(|cell| &cell.figures);
    let Some(figure) = figures.find(|figure| figure.name == name) else {
        return objective.to_owned();
    };
    let relation = match is_lower_limit(outcome) {
        true => "at least",
        false => "at most",
    };
    format!("{} {relation} {}", figure.label, format_limit(outcome))
}

/// `50 ms`; a limit of zero needs no unit.
fn format_limit(outcome: &ObjectiveOutcome) -> String {
    let limit = plimsoll_plots::number::tick(outcome.limit);
    match outcome.limit == 0.0 {
        true => limit,
        false => format!("{limit} {}", outcome.unit),
    }
}

/// Whether the limit is a lower one.
fn is_lower_limit(outcome: &ObjectiveOutcome) -> bool {
    outcome.objective.contains("at least")
}

/// The limit that objectives set for a figure of these cells, such as `objective: at most 50 ms`; `None` if none does.
pub fn objective_note(result: &LabResult, figure: &str, cells: &[&Cell]) -> Option<String> {
    let mut limits: Vec<String> = Vec::new();
    for outcome in &result.objectives {
        let is_about = outcome.objective.split(' ').next() == Some(figure)
            && cells.iter().any(|cell| cell.name == outcome.cell);
        let relation = match is_lower_limit(outcome) {
            true => "at least",
            false => "at most",
        };
        let text = format!("{relation} {}", format_limit(outcome));
        if is_about && !limits.contains(&text) {
            limits.push(text);
        }
    }
    (!limits.is_empty()).then(|| format!("objective: {}", limits.join(" or ")))
}

/// The section's blocks; none without objectives.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    if result.objectives.is_empty() {
        return Vec::new();
    }
    let shares = result
        .objectives
        .iter()
        .any(|outcome| outcome.within.is_some());
    let mut head = vec![
        Head::words("cell"),
        Head::words("objective"),
        Head::figures("measured"),
        Head::figures("limit"),
        Head::figures("margin"),
    ];
    if shares {
        head.push(Head::figures("within the limit"));
    }
    head.push(Head::words("verdict"));
    let rows = result
        .objectives
        .iter()
        .map(|outcome| objective_row(result, outcome, shares))
        .collect();
    let too_few = match result.objectives.iter().any(|one| one.too_few.is_some()) {
        true => {
            " A percentile is not judged if fewer than ten values are above it and above the limit."
        }
        false => "",
    };
    vec![
        Block::Prose(Words::plain(format!(
            "An objective is met if the whole interval is within the limit, missed if none of it \
             is, and undecided if the interval spans the limit. The value of a single short run has \
             no interval: it decides unless it is within 10 % of the limit. The margin is the distance to \
             the limit, as a share of it.{too_few}",
        ))),
        Block::Table(Table {
            caption: "Objectives, with the margin to each limit".to_owned(),
            head,
            rows,
            names: 1,
        }),
    ]
}

fn objective_row(result: &LabResult, outcome: &ObjectiveOutcome, shares: bool) -> Vec<Words> {
    let mut row = vec![
        cell_link(result, outcome),
        Words::plain(objective_text(result, &outcome.objective)),
        Words::new().figure(
            outcome.measured,
            outcome_interval(result, outcome),
            &outcome.unit,
        ),
        Words::plain(format_limit(outcome)),
        Words::plain(format_margin(outcome)),
    ];
    if shares {
        row.push(outcome.within.map_or_else(
            || Words::plain("–"),
            |within| Words::plain(format!("{} %", format_share(within))),
        ));
    }
    row.push(Words::new().verdict(outcome.text()));
    row
}

/// `12 %` if the limit is met, or `−3.1 %` if it is exceeded. For a lower limit the sign is
/// reversed.
fn format_margin(outcome: &ObjectiveOutcome) -> String {
    if outcome.limit == 0.0 {
        return "–".to_owned();
    }
    let left = (outcome.limit - outcome.measured) / outcome.limit.abs() * 100.0;
    let left = if is_lower_limit(outcome) { -left } else { left };
    let places = u8::from(left.abs() < 10.0);
    format!(
        "{} %",
        plimsoll_plots::number::Place::decimals(places).print(left)
    )
}

/// A share in percent, with enough digits to distinguish it from 100 %.
pub fn format_share(share: f64) -> String {
    let percent = share * 100.0;
    let missing = 100.0 - percent;
    let places = if missing <= 0.0 || missing >= 1.0 {
        2
    } else {
        (2.0 - missing.log10().floor()).clamp(2.0, 6.0) as u8
    };
    let text = plimsoll_plots::number::Place::decimals(places).print(percent);
    // Rounding up to 100 % would claim too much.
    if missing > 0.0 && text.starts_with("100") {
        "99.999999".to_owned()
    } else {
        text
    }
}

fn outcome_interval(result: &LabResult, outcome: &ObjectiveOutcome) -> Option<(f64, f64)> {
    result
        .cells
        .iter()
        .find(|cell| cell.name == outcome.cell)
        .and_then(|cell| find_judged_figure(cell, outcome.measured, &outcome.unit))
        .and_then(|figure| figure.interval)
}

/// ` (near)`: the values that all cells of an objective share and other cells do not have.
fn judged_place(result: &LabResult, objective: &str) -> String {
    let about = result.objectives.iter();
    let about = about.filter(|outcome| outcome.objective == objective);
    let names: Vec<&str> = about.map(|outcome| outcome.cell.as_str()).collect();
    let judged = || {
        let cells = result.cells.iter();
        cells.filter(|cell| names.contains(&cell.name.as_str()))
    };
    // Searches have other figures, so readers do not expect them to share this objective.
    let of_all = shared_axes(result.cells.iter().filter(|cell| cell.limit.is_none()));
    let shared = shared_axes(judged());
    let Some(first) = judged().next().filter(|_| names.len() > 1) else {
        return String::new();
    };
    let axes = first.place.iter().map(|(axis, _)| axis.as_str());
    let without: Vec<&str> = axes
        .filter(|axis| !shared.contains(axis) || of_all.contains(axis))
        .collect();
    match describe_place(result, &first.place, &without) {
        place if place.is_empty() => String::new(),
        place => format!(" ({place})"),
    }
}

/// ` with SQLite, 100 users`: the cell of an outcome among those of its objective.
fn with_cell(result: &LabResult, outcome: &ObjectiveOutcome) -> String {
    let cell_of = |outcome: &ObjectiveOutcome| {
        let mut cells = result.cells.iter();
        cells.find(|cell| cell.name == outcome.cell)
    };
    let Some(cell) = cell_of(outcome) else {
        return format!(" with {}", outcome.cell);
    };
    let alike = result.objectives.iter();
    let alike = alike.filter(|one| one.objective == outcome.objective);
    let without = shared_axes(alike.filter_map(cell_of));
    match describe_place(result, &cell.place, &without) {
        place if place.is_empty() => String::new(),
        place => format!(" with {place}"),
    }
}

fn cell_link(result: &LabResult, outcome: &ObjectiveOutcome) -> Words {
    result
        .cells
        .iter()
        .find(|cell| cell.name == outcome.cell)
        .map_or_else(
            || Words::new().code(outcome.cell.clone()),
            |cell| Words::new().link(describe_cell(result, cell), cell_id(result, cell)),
        )
}
