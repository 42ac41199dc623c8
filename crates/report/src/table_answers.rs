//! The question of each declared table with the figures that answer it: a small table on the first screen of a report, a
//! sentence elsewhere. The published figures are next to the measured ones.

use plimsoll_plots::number::{self, Place};
use plimsoll_results::lab::{Cell, Figure, LabResult, TableLayout};

use crate::document::{Head, Table, Words};
use crate::footnotes::{Footnotes, footnote_letter};
use crate::leads::axis_value;
use crate::naming::{capitalize, describe_cell, describe_state, describe_value};
use crate::pivot::{
    axis_values, bound_prefix, combinations, join_values, published_value, rates_of, with_unit,
};
use crate::units::conversion_factor;
use crate::{idle_cost, overload};

/// Maximum number of rows and columns of a table on the first screen.
const MAX_ROWS: usize = 8;
const MAX_COLUMNS: usize = 6;
/// Maximum number of rows that a sentence lists, and of the values in all of them.
const MAX_LISTED_ROWS: usize = 4;
const MAX_LISTED: usize = 12;

/// The answer to the question of a table.
pub struct Answer {
    title: String,
    /// The figure, its unit, and its objective if there is one.
    label: String,
    unit: String,
    /// The rates, if the figure depends on them.
    rates: String,
    objective: Option<String>,
    /// Whether the table has other figures, so that its title does not identify this one.
    is_one_of_several: bool,
    /// The values that these cells have in common and other cells of the table do not.
    shared: Vec<String>,
    /// The axes of the rows.
    axes: String,
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<Value>>)>,
    /// Whether the compared values are in the rows.
    compares_rows: bool,
    is_of_limits: bool,
    note: Option<String>,
    /// Why some cells have no value, and which services were overloaded: the footnotes.
    reasons: Vec<Words>,
}

/// A measured value, and the published one; or the state of a cell that is not valid, and the letters of its footnotes.
struct Value {
    text: String,
    published: Option<String>,
    letters: Option<String>,
    /// Whether the service was overloaded.
    is_overloaded: bool,
}

impl Value {
    fn is_measured(&self) -> bool {
        self.letters.is_none()
    }
}

/// One for each table, in their order. A table without two valid cells has none.
pub fn answers(result: &LabResult) -> Vec<Answer> {
    let notes = Footnotes::new(result);
    let tables = result.tables.iter();
    tables
        .filter_map(|table| Question::new(result, table, &notes)?.answer())
        .collect()
}

/// A table, and its valid cells with their first figure.
struct Question<'a> {
    result: &'a LabResult,
    table: &'a TableLayout,
    figure: &'a Figure,
    unit: &'a str,
    by: f64,
    cells: Vec<&'a Cell>,
    /// The cells of the table that are not valid.
    others: Vec<&'a Cell>,
    notes: &'a Footnotes,
    /// The axes on which these cells differ: those of the rows, then those of the columns.
    rows: Vec<&'a str>,
    columns: Vec<&'a str>,
}

impl<'a> Question<'a> {
    fn new(
        result: &'a LabResult,
        table: &'a TableLayout,
        notes: &'a Footnotes,
    ) -> Option<Question<'a>> {
        let name = table.figures.first()?;
        let figure_of = |cell: &'a Cell| cell.figure(name);
        let all = result
            .cells
            .iter()
            .filter(|cell| table.cells.contains(&cell.name));
        let (cells, doubted): (Vec<&Cell>, Vec<&Cell>) =
            all.partition(|cell| cell.verdict == "valid" && figure_of(cell).is_some());
        if cells.len() < 2 {
            return None;
        }
        let figure = figure_of(cells.first()?)?;
        let wanted = table.unit.as_deref();
        let converted =
            wanted.and_then(|unit| Some((unit, conversion_factor(&figure.unit, unit)?)));
        let (unit, by) = converted.unwrap_or((&figure.unit, 1.0));
        let varies = |axis: &&str| {
            let mut values = cells.iter().map(|cell| axis_value(cell, axis));
            let first = values.next();
            values.any(|value| Some(value) != first)
        };
        let named = |axes: &'a [String]| axes.iter().map(String::as_str).filter(varies).collect();
        let (mut rows, columns): (Vec<&str>, Vec<&str>) =
            (named(&table.rows), named(&table.columns));
        let others = result.axes.iter().map(|axis| axis.name.as_str());
        let others: Vec<&str> = others
            .filter(|axis| varies(axis) && !rows.contains(axis) && !columns.contains(axis))
            .collect();
        rows.extend(others);
        Some(Question {
            result,
            table,
            figure,
            unit,
            by,
            cells,
            others: doubted,
            notes,
            rows,
            columns,
        })
    }

    /// The axis whose values the lab compares first.
    fn compared_axis(&self) -> Option<&'a str> {
        let first = self.result.comparisons.first()?;
        let mut axes = self.rows.iter().chain(&self.columns);
        axes.find(|axis| **axis == first.axis).copied()
    }

    /// The table as declared, if it is small and simple, or with the compared values as its columns if that leaves
    /// fewer fields without a cell. If the table is too large, only the first values of the last other axes remain.
    fn answer(&self) -> Option<Answer> {
        let is_simple = match self.columns.as_slice() {
            [] => self.rows.len() == 1,
            [_] => true,
            _ => false,
        };
        let declared = is_simple
            .then(|| self.with_axes(&self.rows, &self.columns, &[]))
            .flatten();
        let gaps = |one: &Answer| {
            one.rows
                .iter()
                .flat_map(|row| &row.1)
                .filter(|one| one.is_none())
                .count()
        };
        let compared = self.by_compared_axis();
        match (declared, compared) {
            (Some(one), Some(other)) if other.shared.is_empty() && gaps(&other) < gaps(&one) => {
                Some(other)
            }
            (Some(one), _) | (None, Some(one)) => Some(one),
            (None, None) => self.extremes(),
        }
    }

    /// The table with the compared values as its columns.
    fn by_compared_axis(&self) -> Option<Answer> {
        let all = || self.rows.iter().chain(&self.columns).copied();
        let column = self.compared_axis().or(all().last())?;
        let others: Vec<&str> = all().filter(|axis| *axis != column).collect();
        (0..=others.len()).rev().find_map(|free| {
            let (rows, fixed) = others.split_at(free);
            self.with_axes(rows, &[column], fixed)
        })
    }

    /// The table with these axes; none if it is too large or has fewer than two values.
    fn with_axes(&self, rows: &[&str], columns: &[&str], fixed: &[&str]) -> Option<Answer> {
        let is_first = |cell: &&&Cell| {
            let mut fixed = fixed.iter();
            fixed.all(|axis| is_at_first_value(self.result, cell, axis))
        };
        let cells: Vec<&Cell> = self.cells.iter().filter(is_first).copied().collect();
        let (down, across) = (
            combinations(self.result, &cells, rows),
            combinations(self.result, &cells, columns),
        );
        if cells.len() < 2 || down.len() > MAX_ROWS || across.len() > MAX_COLUMNS {
            return None;
        }
        let shared = fixed.iter().filter_map(|axis| {
            let value = cells.iter().find_map(|cell| axis_value(cell, axis))?;
            Some(describe_value(self.result, axis, value))
        });
        let compared = self.compared_axis();
        let mut marks: Vec<usize> = Vec::new();
        let mut doubted = |row: &[Option<&str>], column: &[Option<&str>]| {
            let here = |cell: &&&Cell| {
                axis_values(cell, rows) == *row
                    && axis_values(cell, columns) == *column
                    && is_first(cell)
            };
            let cell = self.others.iter().find(here)?;
            // One reason is enough here; the tables of the results have all of them.
            let first = self.notes.places_of_reasons(cell).into_iter().next();
            marks.extend(first);
            Some(Value {
                text: describe_state(cell).0,
                published: published_value(cell, &self.figure.name)
                    .map(|value| format_published(value * self.by)),
                letters: Some(first.map(footnote_letter).unwrap_or_default()),
                is_overloaded: false,
            })
        };
        let mut answer = Answer {
            shared: shared.collect(),
            axes: rows.join(", "),
            columns: across
                .iter()
                .map(|key| join_values(self.result, columns, key))
                .collect(),
            rows: down
                .iter()
                .map(|row| {
                    let fields = across.iter().map(|column| {
                        let cell = cells.iter().find(|cell| {
                            axis_values(cell, rows) == *row && axis_values(cell, columns) == *column
                        });
                        match cell {
                            Some(cell) => self.value(cell),
                            None => doubted(row, column),
                        }
                    });
                    (join_values(self.result, rows, row), fields.collect())
                })
                .collect(),
            compares_rows: compared.is_some_and(|axis| rows.contains(&axis)),
            ..self.empty(&cells)
        };
        answer.reasons = self.notes.texts(&marks);
        if answer.values().any(|value| value.is_overloaded) {
            let note = overload::note(self.result, &self.cells, &self.figure.name);
            answer.reasons.extend(note);
        }
        let idle = idle_cost::note(self.result, &cells, &self.figure.name);
        answer.reasons.extend(idle);
        Some(answer)
    }

    fn empty(&self, cells: &[&Cell]) -> Answer {
        Answer {
            title: self.table.title.clone(),
            label: self.figure.label.clone(),
            unit: self.unit.to_owned(),
            rates: rates_of(&self.figure.name, cells),
            objective: crate::objectives::objective_note(self.result, &self.figure.name, cells),
            is_one_of_several: self.table.figures.len() > 1,
            shared: Vec::new(),
            axes: String::new(),
            columns: Vec::new(),
            rows: Vec::new(),
            compares_rows: false,
            is_of_limits: self.figure.name == "limit",
            note: self.table.note.clone(),
            reasons: Vec::new(),
        }
    }

    fn overloaded(&self) -> Vec<(&'a Cell, f64)> {
        overload::overloaded_cells(self.result, &self.cells, &self.figure.name)
    }

    fn value(&self, cell: &Cell) -> Option<Value> {
        let figure = cell
            .figures
            .iter()
            .find(|figure| figure.name == self.figure.name)?;
        let by = self.by;
        let interval = figure.interval.map(|(low, high)| (low * by, high * by));
        let value = figure.value * by;
        Some(Value {
            text: match value == 0.0 {
                true => "0".to_owned(),
                false => format!(
                    "{}{}",
                    bound_prefix(cell, figure),
                    Place::of(value, interval).print(value)
                ),
            },
            published: published_value(cell, &figure.name)
                .map(|value| format_published(value * by)),
            letters: None,
            is_overloaded: self
                .overloaded()
                .iter()
                .any(|(one, _)| one.name == cell.name),
        })
    }

    /// The lowest and the highest value, with their cells.
    fn extremes(&self) -> Option<Answer> {
        let value = |cell: &&&Cell| {
            let mut figures = cell.figures.iter();
            let figure = figures.find(|figure| figure.name == self.figure.name);
            figure.map_or(f64::NAN, |figure| figure.value)
        };
        let by_value = |one: &&&Cell, other: &&&Cell| value(one).total_cmp(&value(other));
        let ends = [
            ("lowest", self.cells.iter().min_by(by_value)?),
            ("highest", self.cells.iter().max_by(by_value)?),
        ];
        Some(Answer {
            columns: vec![String::new()],
            rows: ends
                .into_iter()
                .map(|(end, cell)| {
                    let name = format!("{end} with {}:", describe_cell(self.result, cell));
                    (name, vec![self.value(cell)])
                })
                .collect(),
            ..self.empty(&self.cells)
        })
    }
}

/// A published figure with at most the usual digits, and without trailing zeros: the source may not have had them.
fn format_published(value: f64) -> String {
    let text = number::short(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Whether a cell has the first value of the axis, or no value on it.
fn is_at_first_value(result: &LabResult, cell: &Cell, axis: &str) -> bool {
    let first = result.axes.iter().find(|one| one.name == axis);
    let first = first.and_then(|axis| axis.values.first());
    axis_value(cell, axis).is_none_or(|value| Some(value) == first.map(String::as_str))
}

impl Answer {
    /// Whether its figure is the result of searches for the highest rate.
    pub fn is_of_limits(&self) -> bool {
        self.is_of_limits
    }

    /// The note under the table.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Why some cells of the table have no value.
    pub fn reasons(&self) -> &[Words] {
        &self.reasons
    }

    /// Whether the table has fields for which the lab has no cell.
    pub fn has_gaps(&self) -> bool {
        self.rows
            .iter()
            .flat_map(|(_, row)| row)
            .any(Option::is_none)
    }

    /// A table for the first screen; none if a sentence is short enough.
    pub fn table(&self) -> Option<Table> {
        if self.rows.len() < 2 || self.columns.len() < 2 {
            return None;
        }
        let mut head = vec![Head::words(match self.axes.is_empty() {
            true => " ",
            false => &self.axes,
        })];
        head.extend(self.columns.iter().map(Head::figures));
        let rows = self.rows.iter().map(|(name, fields)| {
            let mut row = vec![Words::plain(name.clone())];
            row.extend(fields.iter().map(|field| {
                let Some(value) = field else {
                    return Words::new();
                };
                let words = match &value.letters {
                    None => Words::new().value(value.text.clone(), None),
                    Some(letters) if letters.is_empty() => Words::plain(value.text.clone()),
                    Some(letters) => Words::plain(value.text.clone()).mark(letters),
                };
                let words = match value.is_overloaded {
                    true => words.mark(overload::MARK),
                    false => words,
                };
                match &value.published {
                    Some(published) => words.text(format!(" ({published})")),
                    None => words,
                }
            }));
            row
        });
        Some(Table {
            caption: self.caption(),
            rows: rows.collect(),
            head,
            names: 1,
        })
    }

    fn caption(&self) -> String {
        let unit = format!("{}{}", self.unit, self.rates);
        let label = with_unit(&capitalize(&self.label), &unit);
        let mut caption = format!("{} {label}", self.title);
        let mut more = self.shared.join(", ");
        let published = self.values().any(|value| value.published.is_some());
        for part in self
            .objective
            .iter()
            .map(String::as_str)
            .chain(published.then_some("the published figure in parentheses"))
        {
            more = match more.is_empty() {
                true => part.to_owned(),
                false => format!("{more}; {part}"),
            };
        }
        if !more.is_empty() {
            caption = format!("{caption} ({more})");
        }
        caption
    }

    fn values(&self) -> impl Iterator<Item = &Value> {
        let all = self.rows.iter().flat_map(|(_, row)| row).flatten();
        all.filter(|value| value.is_measured())
    }

    /// `How fast is it? At 100 users: HTTP 0.368 (published 1.68), gRPC 0.460 ms.`
    pub fn sentence(&self) -> Words {
        let mut words = Words::plain(format!("{} ", self.title));
        if self.is_one_of_several {
            words = words.text(format!("{}: ", capitalize(&self.label)));
        }
        if !self.shared.is_empty() {
            words = words.text(format!("With {}: ", self.shared.join(", ")));
        }
        let is_small = self.rows.len() <= MAX_LISTED_ROWS && self.values().count() <= MAX_LISTED;
        // From a larger table, take only what the lab compares.
        if !is_small && self.compares_rows {
            let column = self.columns.first().map_or("", String::as_str);
            words = words.text(match column.is_empty() {
                true => String::new(),
                false => format!("{column}: "),
            });
            let first = self.rows.iter().map(|(name, row)| (name, row.first()));
            return self.ended(append_values(words, first));
        }
        let only_one_column = self.columns.len() == 1;
        if only_one_column {
            let first = self.rows.iter().map(|(name, row)| (name, row.first()));
            return self.ended(append_values(words, first));
        }
        let mut left = MAX_LISTED;
        for (at, (name, row)) in self.rows.iter().take(MAX_LISTED_ROWS).enumerate() {
            let measured = row.iter().flatten().filter(|value| value.is_measured());
            let count = measured.count();
            if count > left && at > 0 {
                break;
            }
            left = left.saturating_sub(count);
            words = words.text(if at == 0 { "" } else { "; " });
            if !name.is_empty() {
                words = words.text(format!("{name}: "));
            }
            words = append_values(words, self.columns.iter().zip(row.iter().map(Some)));
        }
        self.ended(words)
    }

    fn ended(&self, words: Words) -> Words {
        match self.unit.is_empty() {
            true => words.text("."),
            false => words.text(format!(" {}.", self.unit)),
        }
    }
}

/// Adds `near 1000 (published 762), far 110`.
fn append_values<'a>(
    mut words: Words,
    values: impl Iterator<Item = (&'a String, Option<&'a Option<Value>>)>,
) -> Words {
    let mut comma = "";
    for (name, value) in values {
        let Some(Some(value)) = value else { continue };
        if !value.is_measured() {
            continue;
        }
        words = words.text(comma);
        if !name.is_empty() {
            words = words.text(format!("{name} "));
        }
        words = words.strong(value.text.clone());
        if let Some(published) = &value.published {
            words = words.text(format!(" (published {published})"));
        }
        comma = ", ";
    }
    words
}
