//! Axes and cells.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::file::node::{Node, Table, Value};
use crate::file::{Document, unknown};
use crate::problem::{Location, Problem};

/// Maximum number of cells of a lab.
pub const MAX_CELLS: usize = 10_000;

/// A condition on cells: the allowed values for some axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When(IndexMap<String, (Location, Vec<String>)>);

/// An axis: its values, and the cells to which each value applies.
#[derive(Clone, Debug)]
pub struct Axis {
    pub name: String,
    place: Location,
    parts: Vec<(Vec<String>, When)>,
}

/// A cell's value on each axis, in the order of the axes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Coordinates(pub Vec<(String, String)>);

/// The axes and all cells.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// In the order of the lab file.
    pub axes: Vec<Axis>,
    /// The last axis varies fastest.
    pub cells: Vec<Coordinates>,
}

impl Coordinates {
    /// The cell's name, which consists of its values.
    pub fn name(&self) -> String {
        if self.0.is_empty() {
            return "the only cell".to_owned();
        }
        let parts: Vec<String> = self.0.iter().map(|(a, v)| format!("{a}={v}")).collect();
        parts.join(" ")
    }

    /// The combination's value on an axis, if it has that axis.
    pub fn get(&self, axis: &str) -> Option<&str> {
        let found = self.0.iter().find(|(name, _)| name == axis);
        found.map(|(_, value)| value.as_str())
    }
}

impl When {
    /// Reads a table of axes and values.
    pub fn read(table: &Table) -> When {
        When(
            table
                .iter()
                .map(|(axis, node)| {
                    let values = node.items().iter().filter_map(Node::scalar).collect();
                    (axis.clone(), (node.place.clone(), values))
                })
                .collect(),
        )
    }

    /// The `when` of a table.
    pub fn of(table: &Table) -> When {
        table
            .get("when")
            .and_then(Node::table)
            .map(When::read)
            .unwrap_or_default()
    }

    /// Whether it applies to a cell. A cell without an axis matches none of that axis's values.
    pub fn holds(&self, cell: &Coordinates) -> bool {
        self.0.iter().all(|(axis, (_, values))| {
            cell.get(axis)
                .is_some_and(|value| values.iter().any(|one| one == value))
        })
    }

    /// Whether it restricts anything.
    pub fn is_always(&self) -> bool {
        self.0.is_empty()
    }

    /// Finds unknown axes and values.
    pub fn check(&self, axes: &[Axis], problems: &mut Vec<Problem>) {
        for (name, (place, values)) in &self.0 {
            let Some(axis) = axes.iter().find(|axis| axis.name == *name) else {
                let known = axes.iter().map(|axis| axis.name.as_str());
                problems.push(unknown(place, "axis", name, known));
                continue;
            };
            for value in values {
                if !axis.values().any(|known| known == value) {
                    let what = format!("value of the axis {name}");
                    problems.push(unknown(place, &what, value, axis.values()));
                }
            }
        }
    }
}

impl Axis {
    /// All its values, without duplicates.
    pub fn values(&self) -> impl Iterator<Item = &str> + Clone {
        let all = self.parts.iter().flat_map(|(values, _)| values);
        all.enumerate().filter_map(move |(at, value)| {
            let mut before = self.parts.iter().flat_map(|(values, _)| values).take(at);
            (!before.any(|one| one == value)).then_some(value.as_str())
        })
    }

    fn read(name: &str, node: &Node, before: &[Axis], problems: &mut Vec<Problem>) -> Axis {
        let mut parts = Vec::new();
        let mut plain = Vec::new();
        for item in node.items() {
            match &item.value {
                Value::Table(table) => {
                    let when = When::of(table);
                    when.check(before, problems);
                    match table.get("values") {
                        Some(values) => parts.push((values_of(name, values, problems), when)),
                        None => {
                            problems.push(crate::file::missing(&item.place, "an axis", "values"))
                        }
                    }
                }
                _ => plain.extend(item.scalar()),
            }
        }
        if !plain.is_empty() || parts.is_empty() {
            let own = Node {
                place: node.place.clone(),
                value: Value::List(
                    node.items()
                        .iter()
                        .filter(|item| item.table().is_none())
                        .cloned()
                        .collect(),
                ),
            };
            parts.insert(0, (values_of(name, &own, problems), When::default()));
        }
        Axis {
            name: name.to_owned(),
            place: node.place.clone(),
            parts,
        }
    }
}

fn values_of(axis: &str, node: &Node, problems: &mut Vec<Problem>) -> Vec<String> {
    let values: Vec<String> = node.items().iter().filter_map(Node::scalar).collect();
    if values.is_empty() {
        problems.push(node.place.problem(format!(
            "the axis \"{axis}\" is empty, so there are no cells: add a value, or remove the axis"
        )));
    }
    let mut seen = HashSet::new();
    for value in &values {
        if !seen.insert(value) {
            problems.push(node.place.problem(format!(
                "the axis \"{axis}\" has the value \"{value}\" twice: remove one"
            )));
        }
        if value.is_empty()
            || value
                .chars()
                .any(|c| c.is_control() || c == '{' || c == '}')
        {
            problems.push(node.place.problem(format!(
                "{value:?} cannot be a value of the axis \"{axis}\": it is part of cell names, so it \
                 must be a non-empty string on one line, without braces"
            )));
        }
    }
    values
}

impl Matrix {
    /// Reads the axes and the excluded combinations.
    pub fn read(document: &Document, problems: &mut Vec<Problem>) -> Matrix {
        let mut all: Table = Table::new();
        for node in document.tables("axes") {
            all.extend(
                node.table()
                    .into_iter()
                    .flatten()
                    .map(|(k, v)| (k.clone(), v.clone())),
            );
        }
        let mut axes: Vec<Axis> = Vec::new();
        for (name, node) in &all {
            if !is_name(name) {
                problems.push(node.place.problem(format!(
                    "{name:?} cannot be an axis: names consist of letters, digits, - and _, and start with a letter"
                )));
            }
            let axis = Axis::read(name, node, &axes, problems);
            axes.push(axis);
        }
        let excludes: Vec<(Location, When)> = document
            .tables("exclude")
            .iter()
            .filter_map(|node| Some((node.place.clone(), When::read(node.table()?))))
            .collect();
        for (place, when) in &excludes {
            when.check(&axes, problems);
            if when.is_always() {
                problems.push(
                    place.problem("an exclude without an axis excludes all cells: name an axis"),
                );
            }
        }
        let mut matrix = Matrix {
            axes,
            cells: Vec::new(),
        };
        if let Err(too_many) = matrix.fill(&excludes) {
            problems.push(too_many);
        } else if matrix.cells.is_empty() && problems.is_empty() {
            let place = excludes
                .first()
                .map_or(document.top(), |(place, _)| place.clone());
            problems.push(place.problem("the excludes match every cell"));
        }
        matrix
    }

    fn fill(&mut self, excludes: &[(Location, When)]) -> Result<(), Problem> {
        let mut cells = vec![Coordinates::default()];
        for axis in &self.axes {
            let mut next = Vec::new();
            for cell in cells {
                let mut values: Vec<&String> = Vec::new();
                for (some, when) in &axis.parts {
                    if when.holds(&cell) {
                        values.extend(
                            some.iter()
                                .filter(|one| !values.contains(one))
                                .collect::<Vec<_>>(),
                        );
                    }
                }
                if values.is_empty() {
                    next.push(cell);
                    continue;
                }
                for value in values {
                    let mut cell = cell.clone();
                    cell.0.push((axis.name.clone(), value.clone()));
                    // Further axes cannot make an excluded combination valid again.
                    if !excludes.iter().any(|(_, when)| when.holds(&cell)) {
                        next.push(cell);
                    }
                }
                if next.len() > MAX_CELLS {
                    return Err(axis.place.problem(format!(
                        "there are more than {MAX_CELLS} cells with this axis; exclude some, or split the lab"
                    )));
                }
            }
            cells = next;
        }
        self.cells = cells;
        Ok(())
    }
}

/// Whether a string is a valid name of an axis, a variable or a process.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn matrix(text: &str) -> Result<Vec<String>, Vec<String>> {
        let document = Document::of_text(Path::new("lab.toml"), text).unwrap();
        let mut problems = Vec::new();
        let matrix = Matrix::read(&document, &mut problems);
        match problems.is_empty() {
            true => Ok(matrix.cells.iter().map(Coordinates::name).collect()),
            false => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn cells_are_all_combinations_except_excluded_ones() {
        let text = "[axes]\na = [\"x\", \"y\"]\nb = [1, 2]\n[[exclude]]\na = \"x\"\nb = [2, 1]\n";
        assert_eq!(matrix(text).unwrap(), ["a=y b=1", "a=y b=2"]);
        assert_eq!(matrix("[lab]\ntitle = \"x\"\n").unwrap(), ["the only cell"]);
    }

    #[test]
    fn an_axis_may_exist_only_for_some_cells() {
        let text = "[axes]\nwhat = [\"tcp\", \"get\", \"push\"]\n\
            tls = { values = [\"no\", \"yes\"], when = { what = \"get\" } }\n\
            workers = [{ values = [1], when = { what = \"push\" } }, { values = [2], when = { what = [\"get\"], tls = \"yes\" } }]\n";
        assert_eq!(
            matrix(text).unwrap(),
            [
                "what=tcp",
                "what=get tls=no",
                "what=get tls=yes workers=2",
                "what=push workers=1"
            ]
        );
    }

    #[test]
    fn errors_are_reported_with_their_lines() {
        let errors = matrix("[axes]\na = []\n").unwrap_err();
        assert!(
            errors[0].starts_with("lab.toml:2: the axis \"a\" is empty"),
            "{errors:?}"
        );
        let errors = matrix("[axes]\na = [\"x\", \"x\"]\n").unwrap_err();
        assert!(errors[0].contains("twice"), "{errors:?}");
        let errors =
            matrix("[axes]\nwire = [\"http\"]\n[[exclude]]\nwier = \"http\"\n").unwrap_err();
        assert_eq!(
            errors,
            ["lab.toml:4: unknown axis \"wier\"; did you mean \"wire\"?"]
        );
        let errors =
            matrix("[axes]\nwire = [\"http\"]\n[[exclude]]\nwire = \"htpt\"\n").unwrap_err();
        assert_eq!(
            errors,
            ["lab.toml:4: unknown value of the axis wire \"htpt\"; did you mean \"http\"?"]
        );
        let errors =
            matrix("[axes]\nwire = [\"http\"]\n[[exclude]]\nwire = \"http\"\n").unwrap_err();
        assert!(errors[0].contains("match every cell"), "{errors:?}");
    }

    #[test]
    fn too_many_cells_are_an_error_and_use_little_memory() {
        let values: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let values = values.join(",");
        let text = format!("[axes]\na = [{values}]\nb = [{values}]\nc = [{values}]\n");
        assert!(matrix(&text).unwrap_err()[0].contains("more than 10000 cells"));
    }
}
