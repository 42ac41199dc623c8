//! Pivot tables: axis values as rows and columns, units in the headings, the published figure
//! next to the measured one.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::{Cell, Figure, LabResult, Variation};

use crate::document::{Block, Head, Table, Word, Words};
use crate::footnotes::Footnotes;
use crate::layout::{Layout, layouts};
use crate::leads::axis_value;
use crate::naming::{capitalize, describe_value, describe_value_under_axis, figures, is_believed};
use crate::objectives::{self, format_share};
use crate::units::{conversion_factor, short_label, value_over_runs};
use crate::{idle_cost, overload, rates};

/// The share of requests within the limit of an objective, as a figure of a table.
const SHARE_WITHIN_OBJECTIVE: &str = "share_within_objective";

/// All tables with their footnotes.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    let notes = Footnotes::new(result);
    let mut blocks = Vec::new();
    let (mut has_spread, mut has_unreliable) = (false, false);
    let layouts = layouts(result).into_iter();
    for layout in layouts.flat_map(|layout| split_wide_layout(result, layout, &notes)) {
        let Some(table) = pivot_table(result, &layout, &notes) else {
            continue;
        };
        for word in table.rows.iter().flatten().flat_map(|words| &words.0) {
            if let Word::Value(text, spread) = word {
                has_spread |= spread.is_some();
                has_unreliable |= text.ends_with(NOT_RELIABLE);
            }
        }
        blocks.push(Block::Table(table));
        blocks.extend(layout.note.map(|note| Block::Prose(Words::plain(note))));
        let marks: Vec<usize> = layout
            .cells
            .iter()
            .flat_map(|cell| notes.places_of_reasons(cell))
            .collect();
        let figures = layout.figures.iter();
        let overloaded = figures.filter_map(|name| overload::note(result, &layout.cells, name));
        let overloaded = overloaded.take(1).map(Block::Prose);
        blocks.extend(overloaded);
        let mut figures = layout.figures.iter();
        let idle = figures.find_map(|name| idle_cost::note(result, &layout.cells, name));
        blocks.extend(idle.map(Block::Prose));
        let texts = notes.texts(&marks);
        if !texts.is_empty() {
            blocks.push(Block::Points(texts));
        }
    }
    if !blocks.is_empty() {
        let legend = legend(result, has_spread, has_unreliable);
        blocks.insert(0, Block::Prose(Words::plain(legend)));
    }
    blocks
}

/// Maximum number of columns that fit on a page.
const MAX_COLUMNS: usize = 10;

/// The layout, or one for each column of cells if the table would be too wide.
fn split_wide_layout<'a>(
    result: &LabResult,
    layout: Layout<'a>,
    notes: &Footnotes,
) -> Vec<Layout<'a>> {
    let is_wide = pivot_table(result, &layout, notes)
        .is_some_and(|table| layout.buckets.is_empty() && table.head.len() > MAX_COLUMNS);
    let across = combinations(result, &layout.cells, &layout.columns);
    if !is_wide || across.len() < 2 {
        return vec![layout];
    }
    let part = |combination: &Vec<Option<&str>>| {
        let cells = layout.cells.iter().copied();
        let here = |cell: &&Cell| axis_values(cell, &layout.columns) == *combination;
        Layout {
            title: format!(
                "{} ({})",
                layout.title,
                join_values(result, &layout.columns, combination)
            ),
            columns: Vec::new(),
            cells: cells.filter(here).collect(),
            ..layout.clone()
        }
    };
    across.iter().map(part).collect()
}

/// An explanation of how to read the tables, printed once.
fn legend(result: &LabResult, has_spread: bool, has_unreliable: bool) -> String {
    let mut text = format!("Each value is {}.", value_over_runs(result));
    if has_spread {
        text.push_str(" ± is half the width of its 95 % interval; a value without ± has too few runs or seconds for an interval.");
    } else {
        text.push_str(" There were too few runs or seconds for intervals.");
    }
    let from_one_run = result
        .cells
        .iter()
        .flat_map(|cell| &cell.figures)
        .any(|figure| figure.interval_from == Some(Variation::OneRun));
    if from_one_run {
        text.push_str(" The interval of a single run shows only how much its seconds differ.");
    }
    if has_unreliable {
        text.push_str(" A value with a question mark is a percentile with fewer than ten values above it, which is not reliable.");
    }
    let is_marked = result
        .cells
        .iter()
        .any(|cell| !is_believed(cell) || cell.verdict != "valid");
    if is_marked {
        text.push_str(
            " A letter refers to the reasons below the table; no conclusion uses a suspect value.",
        );
    }
    if result.cells.iter().any(|cell| !cell.published.is_empty()) {
        text.push_str(
            " Published values come from other machines: compare patterns, not single values.",
        );
    }
    text
}

/// A figure of a table: its name, the heading, the unit and the factor to it.
struct Column {
    name: String,
    label: String,
    short: String,
    unit: String,
    by: f64,
    is_published: bool,
}

fn pivot_table(result: &LabResult, layout: &Layout, notes: &Footnotes) -> Option<Table> {
    if !layout.buckets.is_empty() {
        return bucket_table(result, layout, notes);
    }
    let columns = columns(result, layout);
    if columns.is_empty() {
        return None;
    }
    let rows = combinations(result, &layout.cells, &layout.rows);
    let across = combinations(result, &layout.cells, &layout.columns);
    let mut head: Vec<Head> = layout.rows.iter().map(|axis| Head::words(*axis)).collect();
    if head.is_empty() {
        head.push(Head::words(" "));
    }
    let names = head.len();
    // With one figure, the caption names it and its unit, and the columns need only the values.
    let only = (columns.len() == 1).then(|| &columns[0]);
    // A column of published values exists only if one of its cells has such a value.
    let mut shown: Vec<(&Vec<Option<&str>>, &Column, bool)> = Vec::new();
    for combination in &across {
        for column in &columns {
            for published in [false, true] {
                let is_there =
                    |cell: &&&Cell| published_value(cell, &column.name).is_some() || !published;
                let cells = layout.cells.iter();
                let mut of =
                    cells.filter(|cell| axis_values(cell, &layout.columns) == *combination);
                if (!published || column.is_published) && of.any(|cell| is_there(&cell)) {
                    shown.push((combination, column, published));
                }
            }
        }
    }
    for (combination, column, published) in &shown {
        let across = join_values(result, &layout.columns, combination);
        let what = match (only, published) {
            (Some(_), true) => "published".to_owned(),
            (None, true) => format!("{} published", column.short),
            (Some(_), false) if across.is_empty() => with_unit("measured", &column.unit),
            (Some(_), false) => String::new(),
            (None, false) => {
                let cells = layout.cells.iter().copied();
                let of = cells.filter(|cell| axis_values(cell, &layout.columns) == **combination);
                let text = with_unit(&column.short, &column.unit);
                with_objective(result, &text, &column.name, &of.collect::<Vec<_>>())
            }
        };
        head.push(Head::figures(match (across.as_str(), what.as_str()) {
            ("", what) => what.to_owned(),
            (across, "") => across.to_owned(),
            (across, what) => format!("{across}: {what}"),
        }));
    }
    let fields = |row: &Vec<Option<&str>>| -> Vec<Words> {
        let mut fields: Vec<Words> = row
            .iter()
            .zip(&layout.rows)
            .map(|(value, axis)| {
                Words::plain(value.map_or("–", |value| {
                    describe_value_under_axis(result, axis, value)
                }))
            })
            .collect();
        if fields.is_empty() {
            fields.push(Words::plain("all"));
        }
        for (combination, column, published) in &shown {
            let cell = layout.cells.iter().find(|cell| {
                axis_values(cell, &layout.rows) == *row
                    && axis_values(cell, &layout.columns) == **combination
            });
            fields.push(match (cell, published) {
                (None, _) => Words::new(),
                (Some(cell), true) => published_value(cell, &column.name)
                    .map_or_else(Words::new, |value| {
                        Words::plain(number::short(value * column.by))
                    }),
                (Some(cell), false) => {
                    let over = overload::overloaded_cells(result, &layout.cells, &column.name);
                    let words = cell_field(result, cell, column, notes);
                    match over.iter().any(|(one, _)| one.name == cell.name) {
                        true => words.mark(overload::MARK),
                        false => words,
                    }
                }
            });
        }
        fields
    };
    Some(Table {
        caption: caption(result, layout, only),
        rows: rows.iter().map(fields).collect(),
        head,
        names,
    })
}

fn caption(result: &LabResult, layout: &Layout, only: Option<&Column>) -> String {
    match only {
        Some(column) => {
            let unit = format!("{}{}", column.unit, rates_of(&column.name, &layout.cells));
            let what = with_unit(&capitalize(&column.label), &unit);
            // A table that is not declared is already named after its figure.
            let text = if layout.title.starts_with(&capitalize(&column.label)) {
                with_unit(&layout.title, &unit)
            } else {
                format!("{} {what}", layout.title)
            };
            with_objective(result, &text, &column.name, &layout.cells)
        }
        None => layout.title.clone(),
    }
}

/// The rates at which CPU time per request was measured: it depends on them.
pub fn rates_of(figure: &str, cells: &[&Cell]) -> String {
    let measured = cells
        .iter()
        .copied()
        .filter(|cell| !figures(cell).is_empty());
    match figure {
        crate::matrix::CPU => rates::format_rates(measured),
        _ => String::new(),
    }
}

/// A heading, with the limit that an objective sets for its figure in these cells.
fn with_objective(result: &LabResult, text: &str, figure: &str, cells: &[&Cell]) -> String {
    match objectives::objective_note(result, figure, cells) {
        Some(about) => format!("{text} ({about})"),
        None => text.to_owned(),
    }
}

pub fn with_unit(text: &str, unit: &str) -> String {
    if unit.is_empty() {
        text.to_owned()
    } else {
        format!("{text}, {unit}")
    }
}

/// The figures that at least one cell of the table has, or the document published.
fn columns(result: &LabResult, layout: &Layout) -> Vec<Column> {
    let mut columns = Vec::new();
    for name in &layout.figures {
        if name == SHARE_WITHIN_OBJECTIVE {
            let is_known = |cell: &&&Cell| share_within_objective(result, cell).is_some();
            if layout.cells.iter().any(|cell| is_known(&cell)) {
                columns.push(Column {
                    name: name.clone(),
                    label: "share of requests within the objective".to_owned(),
                    short: "within".to_owned(),
                    unit: "%".to_owned(),
                    by: 100.0,
                    is_published: false,
                });
            }
            continue;
        }
        let all = || layout.cells.iter().flat_map(|cell| figures(cell));
        let Some(figure) = all().find(|figure| figure.name == *name) else {
            continue;
        };
        let requested = layout
            .unit
            .and_then(|unit| Some((unit, conversion_factor(&figure.unit, unit)?)));
        let (unit, by) = requested.unwrap_or((&figure.unit, 1.0));
        columns.push(Column {
            name: name.clone(),
            label: figure.label.clone(),
            short: short_label(name, &figure.label).to_owned(),
            unit: unit.to_owned(),
            by,
            is_published: layout
                .cells
                .iter()
                .any(|cell| published_value(cell, name).is_some()),
        });
    }
    columns
}

pub fn published_value(cell: &Cell, figure: &str) -> Option<f64> {
    cell.published
        .iter()
        .find(|published| published.figure == figure)
        .map(|published| published.value)
}

/// The share of a cell's requests within the limit of its objective; the smallest of several.
fn share_within_objective(result: &LabResult, cell: &Cell) -> Option<f64> {
    result
        .objectives
        .iter()
        .filter(|outcome| outcome.cell == cell.name && is_believed(cell))
        .filter_map(|outcome| outcome.within)
        .reduce(f64::min)
}

/// The measured value with the letters of its footnotes.
fn cell_field(result: &LabResult, cell: &Cell, column: &Column, notes: &Footnotes) -> Words {
    let letters = notes.letters(cell);
    let words = if column.name == SHARE_WITHIN_OBJECTIVE {
        share_within_objective(result, cell)
            .map(|within| Words::new().value(format_share(within), None))
    } else {
        let mut all = figures(cell).iter();
        all.find(|figure| figure.name == column.name).map(|figure| {
            let is_reliable = cell.why_not_reliable(&figure.name).is_none();
            let after = if is_reliable { "" } else { NOT_RELIABLE };
            value_words(figure, column.by, bound_prefix(cell, figure), after)
        })
    };
    let words = words.unwrap_or_else(|| Words::plain("no value"));
    if letters.is_empty() {
        words
    } else {
        words.mark(letters)
    }
}

/// `≥ ` before a value that is only a lower bound: the result of a search in which no rate missed the objective.
pub fn bound_prefix(cell: &Cell, figure: &Figure) -> &'static str {
    let is_searched = figure.name == "limit";
    match cell.limit.as_ref().filter(|_| is_searched) {
        Some(search) if search.broken.is_none() => "≥ ",
        _ => "",
    }
}

/// After a percentile of too few values.
const NOT_RELIABLE: &str = " ?";

/// A value with as many digits as its interval justifies, and half the interval's width in percent.
fn value_words(figure: &Figure, by: f64, bound: &str, after: &str) -> Words {
    let interval = figure.interval.map(|(low, high)| (low * by, high * by));
    let value = figure.value * by;
    let place = Place::of(value, interval);
    let spread = interval
        .filter(|_| value > 0.0)
        .map(|(low, high)| ((high - value).max(value - low) / value * 100.0).max(0.0));
    Words::new().value(
        if value == 0.0 {
            "0".to_owned()
        } else {
            format!("{bound}{}{after}", place.print(value))
        },
        spread.map(format_percent),
    )
}

/// One digit below 1 %, whole percents above.
fn format_percent(value: f64) -> String {
    if value >= 0.95 {
        Place::decimals(0).print(value)
    } else if value < 0.05 {
        "0".to_owned()
    } else {
        Place::decimals(1).print(value)
    }
}

/// A cell's values on these axes.
pub fn axis_values<'a>(cell: &'a Cell, axes: &[&str]) -> Vec<Option<&'a str>> {
    axes.iter().map(|axis| axis_value(cell, axis)).collect()
}

/// The combinations of values that cells have on these axes, in the order of the lab file.
pub fn combinations<'a>(
    result: &LabResult,
    cells: &[&'a Cell],
    axes: &[&str],
) -> Vec<Vec<Option<&'a str>>> {
    let mut found: Vec<Vec<Option<&str>>> = Vec::new();
    for cell in cells {
        let combination = axis_values(cell, axes);
        if !found.contains(&combination) {
            found.push(combination);
        }
    }
    let place = |axis: &str, value: Option<&str>| {
        let known = result.axes.iter().find(|known| known.name == axis);
        known
            .zip(value)
            .and_then(|(axis, value)| axis.values.iter().position(|known| known == value))
    };
    found.sort_by_key(|combination| {
        axes.iter()
            .zip(combination)
            .map(|(axis, value)| place(axis, *value))
            .collect::<Vec<_>>()
    });
    found
}

/// The words for values of axes.
pub fn join_values(result: &LabResult, axes: &[&str], values: &[Option<&str>]) -> String {
    let named = axes
        .iter()
        .zip(values)
        .filter_map(|(axis, value)| Some(describe_value(result, axis, (*value)?)));
    named.collect::<Vec<_>>().join(", ")
}

/// A histogram with the given edges: the share of requests in each bucket, one column per cell.
fn bucket_table(result: &LabResult, layout: &Layout, notes: &Footnotes) -> Option<Table> {
    let axes: Vec<&str> = layout.columns.iter().chain(&layout.rows).copied().collect();
    let cells: Vec<&&Cell> = layout
        .cells
        .iter()
        .filter(|cell| is_believed(cell) && cell.repeats.iter().any(|one| one.latency.count > 0))
        .collect();
    if cells.is_empty() {
        return None;
    }
    let mut head = vec![Head::words("latency")];
    head.extend(cells.iter().map(|cell| {
        let name = join_values(result, &axes, &axis_values(cell, &axes));
        let name = if name.is_empty() { "share" } else { &name };
        Head::figures(with_unit(name, "%"))
    }));
    let counts: Vec<Vec<u64>> = cells
        .iter()
        .map(|cell| count_by_bucket(cell, layout.buckets))
        .collect();
    let edge = |at: usize| layout.buckets.get(at).map(|edge| number::tick(*edge));
    // Leave out the empty buckets below the first request and above the last one.
    let has_some = |bucket: &usize| {
        let mut of_cells = counts.iter().filter_map(|counts| counts.get(*bucket));
        of_cells.any(|count| *count > 0)
    };
    let all = 0..=layout.buckets.len();
    let (first, last) = (
        all.clone().find(has_some).unwrap_or(0),
        all.clone().rfind(has_some).unwrap_or(layout.buckets.len()),
    );
    let rows = (first..=last)
        .map(|bucket| {
            let from = bucket.checked_sub(1).and_then(edge);
            let range = match (from, edge(bucket)) {
                (None, Some(to)) => format!("below {to} ms"),
                (Some(from), Some(to)) => format!("{from} to {to} ms"),
                (Some(from), None) => format!("{from} ms or more"),
                (None, None) => "all".to_owned(),
            };
            let mut row = vec![Words::plain(range)];
            for (cell, counts) in cells.iter().zip(&counts) {
                let all: u64 = counts.iter().sum();
                let count = counts.get(bucket).copied().unwrap_or(0);
                let words = if count == 0 {
                    Words::plain("0")
                } else {
                    Words::new().value(format_share(count as f64 / all.max(1) as f64), None)
                };
                let letters = notes.letters(cell);
                row.push(if bucket == first && !letters.is_empty() {
                    words.mark(letters)
                } else {
                    words
                });
            }
            row
        })
        .collect();
    Some(Table {
        caption: format!("{} Share of requests", layout.title),
        head,
        rows,
        names: 1,
    })
}

/// Requests of all runs by bucket; the last has no upper edge.
fn count_by_bucket(cell: &Cell, edges: &[f64]) -> Vec<u64> {
    let mut counts = vec![0; edges.len() + 1];
    for (low, count) in cell.repeats.iter().flat_map(|one| &one.latency.buckets) {
        let bucket = edges.partition_point(|edge| edge <= low);
        if let Some(sum) = counts.get_mut(bucket) {
            *sum += count;
        }
    }
    counts
}
