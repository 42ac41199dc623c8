//! The load and the place for which a question is answered.

use plimsoll_plots::number;
use plimsoll_results::lab::{Axis, Cell};

use super::verdict::Answer;
use crate::declared_load::{self, Load};
use crate::leads::axis_value;
use crate::naming::{describe_place, describe_value, join_list};

/// Maximum number of values of an axis that are listed.
const MAX_VALUES: usize = 3;

/// `1 s pauses, 100 users, near`: the values that all cells share, without those that the text next to them states.
pub fn format_conditions(answer: &Answer, shown: &str) -> String {
    let groups = answer.groups.iter().flat_map(|group| &group.0);
    let cells: Vec<&Cell> = groups.map(|(cell, _)| *cell).collect();
    let axes = answer.result.axes.iter();
    let mut parts: Vec<String> = axes
        .filter(|axis| axis.values.len() > 1 && Some(&axis.name) != answer.question.axis.as_ref())
        .filter(|axis| !is_implied(answer, axis))
        .filter_map(|axis| axis_condition(answer, &cells, axis, shown))
        .collect();
    parts.extend(load_condition(answer, &cells, shown));
    parts.join(", ")
}

/// Whether all cells with the figure have the same value on the axis.
fn is_implied(answer: &Answer, axis: &Axis) -> bool {
    let has_it = |cell: &&Cell| {
        let mut figures = cell.figures.iter();
        figures.any(|figure| Some(&figure.name) == answer.question.figure.as_ref())
    };
    let cells = answer.result.cells.iter().filter(has_it);
    let mut values = cells.map(|cell| axis_value(cell, &axis.name));
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// The value on an axis. Several are named if the text does not name the groups.
fn axis_condition(answer: &Answer, cells: &[&Cell], axis: &Axis, shown: &str) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for cell in cells {
        let value = axis_value(cell, &axis.name)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let is_shown = match values.len() {
        1 => true,
        count => !answer.names_groups() && count <= MAX_VALUES,
    };
    let words = values
        .into_iter()
        .map(|value| describe_value(answer.result, &axis.name, value))
        .filter(|words| !mentions(shown, words));
    let words: Vec<String> = words.collect();
    (is_shown && !words.is_empty()).then(|| join_list(&words))
}

/// Whether a string contains these words as whole words.
fn mentions(text: &str, words: &str) -> bool {
    let (text, words) = (text.to_lowercase(), words.to_lowercase());
    let is_part = |c: char| c.is_alphanumeric() || c == '/';
    text.match_indices(&words).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..);
        let after = after.and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// `32 users`, `100 requests/s`: the load that all cells share, if neither the text nor the values of axes have its number.
fn load_condition(answer: &Answer, cells: &[&Cell], shown: &str) -> Option<String> {
    let mut loads = cells.iter().map(|cell| declared_load(answer, cell));
    let first = loads.next()??;
    let is_shared = loads.all(|load| load.as_ref() == Some(&first));
    let cell = cells.first()?;
    let place = describe_place(answer.result, &cell.place, &[]);
    let known = format!("{shown} {place}").replace(',', "");
    let (number, unit) = first;
    let is_known = known
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| word == number.to_string());
    (is_shared && !is_known).then(|| format!("{} {unit}", number::tick(number)))
}

/// The declared rate of a cell, or its number of users.
fn declared_load(answer: &Answer, cell: &Cell) -> Option<(f64, &'static str)> {
    match declared_load::load_of_cell(answer.result, cell)? {
        Load::Rate(rate) => Some((rate, "requests/s")),
        Load::Users(1.0) => Some((1.0, "user")),
        Load::Users(users) => Some((users, "users")),
    }
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn words_are_mentioned_as_a_whole() {
        for (text, words, is_mentioned) in [
            ("Near, TLS costs nothing.", "near", true),
            ("How many checks/s over HTTP?", "HTTP", true),
            ("How many orders (HTTP/1.1)?", "HTTP", false),
            ("How many orders (HTTP/1.1)?", "HTTP/1.1", true),
            ("With 1100 users", "100 users", false),
            ("A nearby server", "near", false),
        ] {
            assert_eq!(mentions(text, words), is_mentioned, "{text}: {words}");
        }
    }
}
