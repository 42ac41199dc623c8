//! The names of cells and their states in a report.

use plimsoll_results::lab::{Cell, CellState, LabResult};

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

/// `axis=value` for each axis that has several values and is not left out.
pub fn place_text(result: &LabResult, place: &[(String, String)], without: &[&str]) -> String {
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
        .map(|(axis, value)| format!("{axis}={value}"))
        .collect();
    parts.join(" ")
}

/// A cell's place in its shortest clear form; the whole matrix has none.
pub fn short_name(result: &LabResult, cell: &Cell) -> String {
    let text = place_text(result, &cell.place, &[]);
    if text.is_empty() {
        cell.name.clone()
    } else {
        text
    }
}

/// The state of a cell in a few words, and the reason.
pub fn state_text(cell: &Cell) -> (String, String) {
    match &cell.state {
        CellState::Measured => (cell.verdict.clone(), cell.reasons.join(" ")),
        CellState::Partial(why) => (
            "partial".to_owned(),
            std::iter::once(why.as_str())
                .chain(cell.reasons.iter().map(String::as_str))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        CellState::Insane(why) => ("not sane".to_owned(), why.clone()),
        CellState::Failed(why) => ("failed".to_owned(), why.clone()),
        CellState::LeftOut => (
            "left out".to_owned(),
            "It is not part of this form of the lab.".to_owned(),
        ),
        CellState::Missing => ("missing".to_owned(), "It has not been run yet.".to_owned()),
    }
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
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{} {many}", plimsoll_plots::number::count(count as u64))
    }
}

/// A list of words: `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// With a capital letter, as a sentence begins.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + chars.as_str()
    })
}
