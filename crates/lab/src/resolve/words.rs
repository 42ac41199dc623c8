//! A report's words for the values of axes: `[words]`.

use std::collections::BTreeMap;

use crate::file::{Document, unknown};
use crate::matrix::Axis;
use crate::problem::Problem;

/// The words for the values of each axis that declares words.
pub type AxisWords = BTreeMap<String, BTreeMap<String, String>>;

/// Reads the words. Two values of an axis must have different words. Otherwise a report could not
/// distinguish their cells.
pub fn words(document: &Document, axes: &[Axis], problems: &mut Vec<Problem>) -> AxisWords {
    let mut all = AxisWords::new();
    let tables = document.tables("words").iter();
    for (name, node) in tables.filter_map(|node| node.table()).flatten() {
        let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
            let known = axes.iter().map(|axis| axis.name.as_str());
            problems.push(unknown(&node.place, "axis", name, known));
            continue;
        };
        let of_axis = all.entry(name.clone()).or_default();
        for (value, node) in node.table().into_iter().flatten() {
            if !axis.values().any(|known| known == value) {
                let what = format!("value of the axis {name}");
                problems.push(unknown(&node.place, &what, value, axis.values()));
                continue;
            }
            let text = node.scalar().unwrap_or_default();
            if text.trim().is_empty() || text.contains(char::is_control) {
                problems.push(node.place.problem(format!(
                    "the words for {name}={value} must be a non-empty string on one line"
                )));
            } else if of_axis.values().any(|known| *known == text) {
                problems.push(node.place.problem(format!(
                    "two values of the axis {name} have the words {text:?}: a report could not distinguish their cells"
                )));
            } else {
                of_axis.insert(value.clone(), text);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::matrix::Matrix;

    fn read(text: &str) -> Result<AxisWords, Vec<String>> {
        let text = format!("[axes]\nwire = [\"h1\", \"h2\"]\nusers = [10, 100]\n{text}");
        let document = Document::of_text(Path::new("lab.toml"), &text).unwrap();
        let mut problems = Vec::new();
        let matrix = Matrix::read(&document, &mut problems);
        let words = words(&document, &matrix.axes, &mut problems);
        match problems.is_empty() {
            true => Ok(words),
            false => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn each_value_has_its_words() {
        let words = read("[words]\nwire = { h1 = \"HTTP/1.1\" }\nusers = { 10 = \"few users\" }\n")
            .unwrap();
        assert_eq!(words["wire"]["h1"], "HTTP/1.1");
        assert_eq!(words["users"]["10"], "few users");
        assert!(read("").unwrap().is_empty());
    }

    #[test]
    fn unknown_names_and_equal_words_are_reported() {
        assert_eq!(
            read("[words]\nwier = { h1 = \"HTTP/1.1\" }\n").unwrap_err(),
            ["lab.toml:5: unknown axis \"wier\"; did you mean \"wire\"?"]
        );
        assert_eq!(
            read("[words]\nwire = { h3 = \"HTTP/3\" }\n").unwrap_err(),
            ["lab.toml:5: unknown value of the axis wire \"h3\"; did you mean \"h1\"?"]
        );
        let errors = read("[words]\nwire = { h1 = \"HTTP\", h2 = \"HTTP\" }\n").unwrap_err();
        assert!(
            errors[0].contains("could not distinguish their cells"),
            "{errors:?}"
        );
        let errors = read("[words]\nwire = { h1 = \" \" }\n").unwrap_err();
        assert!(errors[0].contains("must be a non-empty"), "{errors:?}");
    }
}
