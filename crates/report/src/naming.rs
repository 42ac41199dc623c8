//! The names of cells and their states in a report.

use plimsoll_results::lab::{Axis, Cell, CellState, LabResult};

/// The target of a link: letters, digits and single hyphens.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.truncate(60);
    slug.trim_end_matches('-').to_owned()
}

/// A cell's id in the document. Its number makes it unique, whatever its name.
pub fn cell_id(result: &LabResult, cell: &Cell) -> String {
    let number = result
        .cells
        .iter()
        .position(|other| std::ptr::eq(other, cell) || other.name == cell.name)
        .map_or(0, |at| at + 1);
    let slug = slug(&cell.name);
    if slug.is_empty() {
        format!("cell-{number}")
    } else {
        format!("cell-{number}-{slug}")
    }
}

/// Values that are unclear without the name of their axis.
const NEED_THEIR_AXIS: [&str; 9] = [
    "none", "on", "off", "yes", "no", "true", "false", "all", "default",
];

/// A value of an axis in the words of the lab file. Without such words it is the value, with the name of its axis if
/// the value alone is unclear: `100 users`, `rate 200`, `tls off`.
pub fn describe_value(result: &LabResult, axis: &str, value: &str) -> String {
    if let Some(words) = declared_words(result, axis, value) {
        return words.to_owned();
    }
    let is_number = value.parse::<f64>().is_ok();
    if is_number && axis.ends_with('s') {
        let axis = match value {
            "1" => axis.strip_suffix('s').unwrap_or(axis),
            _ => axis,
        };
        return format!("{value} {axis}");
    }
    let of_another =
        |known: &&Axis| known.name != axis && known.values.iter().any(|one| one == value);
    let is_clear = value.starts_with(char::is_alphabetic)
        && !NEED_THEIR_AXIS.contains(&value)
        && !result.axes.iter().any(|known| of_another(&known));
    match is_clear {
        true => value.to_owned(),
        false => format!("{axis} {value}"),
    }
}

/// The words of the lab file for a value of an axis, under a heading with the axis' name.
pub fn describe_value_under_axis<'a>(result: &'a LabResult, axis: &str, value: &'a str) -> &'a str {
    declared_words(result, axis, value).unwrap_or(value)
}

fn declared_words<'a>(result: &'a LabResult, axis: &str, value: &str) -> Option<&'a str> {
    let axis = result.axes.iter().find(|known| known.name == axis)?;
    axis.words.get(value).map(String::as_str)
}

/// The words for each axis that has several values and is not left out: `SQLite, HTTP, 100 users`.
pub fn describe_place(result: &LabResult, place: &[(String, String)], without: &[&str]) -> String {
    let varies = |axis: &str| {
        result
            .axes
            .iter()
            .find(|known| known.name == axis)
            .is_none_or(|known| known.values.len() > 1)
    };
    let parts: Vec<String> = place
        .iter()
        .filter(|(axis, _)| varies(axis) && !without.contains(&axis.as_str()))
        .map(|(axis, value)| describe_value(result, axis, value))
        .collect();
    parts.join(", ")
}

/// The axes on which all of these cells have the same value. A sentence about them need not name it.
pub fn shared_axes<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<&'a str> {
    let mut shared: Option<Vec<(&str, &str)>> = None;
    for cell in cells {
        let place = cell.place.iter();
        let place = place.map(|(axis, value)| (axis.as_str(), value.as_str()));
        shared = Some(match shared {
            None => place.collect(),
            Some(known) => place.filter(|one| known.contains(one)).collect(),
        });
    }
    let shared = shared.unwrap_or_default();
    shared.into_iter().map(|(axis, _)| axis).collect()
}

/// A cell in words; the only cell has its name.
pub fn describe_cell(result: &LabResult, cell: &Cell) -> String {
    let text = describe_place(result, &cell.place, &[]);
    if text.is_empty() {
        cell.name.clone()
    } else {
        text
    }
}

/// The state of a cell in a few words, and the reason.
pub fn describe_state(cell: &Cell) -> (String, String) {
    match &cell.state {
        CellState::Measured => (cell.verdict.clone(), join_reasons(&cell.reasons)),
        CellState::Partial(why) => {
            let reasons = std::iter::once(why).chain(&cell.reasons);
            ("partial".to_owned(), join_reasons(reasons))
        }
        CellState::Insane(why) => ("not sane".to_owned(), why.clone()),
        CellState::Failed(why) => ("failed".to_owned(), why.clone()),
        CellState::LeftOut => (
            "left out".to_owned(),
            "It is not part of this form of the lab.".to_owned(),
        ),
        CellState::Missing => ("missing".to_owned(), "It has not been run yet.".to_owned()),
    }
}

/// Reasons one after the other. Most of them do not end with a period.
fn join_reasons<'a>(reasons: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = String::new();
    for reason in reasons {
        if !text.is_empty() {
            text += if text.ends_with('.') { " " } else { "; " };
        }
        text += reason;
    }
    text
}

/// Whether a cell's figures are valid or suspect: measured, and not invalid.
pub fn is_believed(cell: &Cell) -> bool {
    matches!(cell.state, CellState::Measured | CellState::Partial(_)) && cell.verdict != "invalid"
}

/// A cell's figures; none if the cell is invalid.
pub fn figures(cell: &Cell) -> &[plimsoll_results::lab::Figure] {
    if is_believed(cell) {
        &cell.figures
    } else {
        &[]
    }
}

/// `one run`, `3 runs`.
pub fn format_count(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{} {many}", plimsoll_plots::number::count(count as u64))
    }
}

/// A list of words: `a`, `a and b`, `a, b and c`.
pub fn join_list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The text with a capital first letter, for the start of a sentence. A path stays as it is.
pub fn capitalize(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.contains('/') {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}

#[cfg(test)]
mod tests {
    use plimsoll_results::lab::{Axis, Cell, CellState, LabResult};

    use super::{describe_place, describe_state, describe_value};

    fn result(axes: &[(&str, &[&str])]) -> LabResult {
        let axis = |(name, values): &(&str, &[&str])| Axis {
            name: (*name).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
            ..Axis::default()
        };
        LabResult {
            axes: axes.iter().map(axis).collect(),
            ..LabResult::default()
        }
    }

    #[test]
    fn a_value_has_the_name_of_its_axis_if_it_says_too_little_alone() {
        let mut result = result(&[
            ("store", &["redis", "none"]),
            ("users", &["1", "100"]),
            ("rate", &["200", "300"]),
            ("think", &["1s", "none"]),
            ("from", &["east", "west"]),
            ("to", &["east", "west"]),
            ("form", &["only"]),
        ]);
        for (axis, value, words) in [
            ("store", "redis", "redis"),
            ("store", "none", "store none"),
            ("users", "100", "100 users"),
            ("users", "1", "1 user"),
            ("rate", "200", "rate 200"),
            ("think", "1s", "think 1s"),
            ("from", "east", "from east"),
            ("no-such-axis", "x", "x"),
        ] {
            assert_eq!(describe_value(&result, axis, value), words);
        }
        result.axes[0]
            .words
            .insert("none".into(), "no store".into());
        let place: Vec<(String, String)> = [("store", "none"), ("users", "100"), ("form", "only")]
            .into_iter()
            .map(|(axis, value)| (axis.to_owned(), value.to_owned()))
            .collect();
        assert_eq!(describe_place(&result, &place, &[]), "no store, 100 users");
        assert_eq!(describe_place(&result, &place, &["users"]), "no store");
    }

    #[test]
    fn reasons_of_a_cell_are_separated() {
        let mut cell = Cell {
            state: CellState::Partial("4 of 6 runs.".to_owned()),
            verdict: "suspect".to_owned(),
            reasons: vec!["repeat 1: busy".to_owned(), "repeat 2: busy".to_owned()],
            ..Cell::default()
        };
        assert_eq!(
            describe_state(&cell).1,
            "4 of 6 runs. repeat 1: busy; repeat 2: busy"
        );
        cell.state = CellState::Measured;
        assert_eq!(describe_state(&cell).1, "repeat 1: busy; repeat 2: busy");
    }
}
