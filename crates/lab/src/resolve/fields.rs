//! Resolves a table for one cell: merges tables of the file, substitutes variables, and converts
//! values to their types.

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll_units::BitRate;

use super::scope::Scope;
use crate::file::node::{Node, Table, Value};
use crate::file::shape::{self, Kind, Shape};
use crate::matrix::{Coordinates, When};
use crate::problem::{Location, Problem};
use crate::template;

/// Merges `upper` into `lower`. The keys of `upper` take precedence, and tables in both are merged
/// recursively. If keys exclude each other, those of `upper` replace all of those in `lower`.
pub fn lay(lower: &mut Table, upper: &Table, shape: &'static Shape, exclusive: &[&str]) {
    if exclusive.iter().any(|key| upper.contains_key(*key)) {
        lower.retain(|key, _| !exclusive.contains(&key.as_str()) || upper.contains_key(key));
    }
    for (name, node) in upper {
        if name == "when" {
            continue;
        }
        let kind = shape.key(name).map(|key| &key.kind);
        let below = lower.get_mut(name).map(|node| &mut node.value);
        match (kind, below, &node.value) {
            (Some(Kind::Named(_)), Some(Value::Table(below)), Value::Table(above)) => {
                for (name, node) in above {
                    below.insert(name.clone(), node.clone());
                }
            }
            // The condition for a process to be ready is replaced completely.
            (Some(Kind::Table(inner)), Some(Value::Table(below)), Value::Table(above))
                if name != "ready" =>
            {
                lay(below, above, inner, &[]);
            }
            _ => {
                lower.insert(name.clone(), node.clone());
            }
        }
    }
}

/// All tables of a section that apply to a cell, merged. `None` if none of them applies.
pub fn merged(
    nodes: &[Node],
    cell: &Coordinates,
    shape: &'static Shape,
    exclusive: &[&str],
) -> Option<(Location, Table)> {
    let mut all: Option<(Location, Table)> = None;
    for node in nodes {
        let Some(table) = node.table() else { continue };
        if !When::of(table).holds(cell) {
            continue;
        }
        let (_, lower) = all.get_or_insert_with(|| (node.place.clone(), Table::new()));
        lay(lower, table, shape, exclusive);
    }
    all
}

/// The same for named tables: one result per name, in the order of first occurrence.
pub fn merged_by_name(
    nodes: &[Node],
    cell: &Coordinates,
    shape: &'static Shape,
    exclusive: &[&str],
) -> Vec<(String, Location, Table)> {
    let mut all: Vec<(String, Location, Table)> = Vec::new();
    for node in nodes {
        let Some(table) = node.table() else { continue };
        if !When::of(table).holds(cell) {
            continue;
        }
        let name = table.get("name").and_then(Node::scalar).unwrap_or_default();
        if !all.iter().any(|(known, ..)| *known == name) {
            all.push((name.clone(), node.place.clone(), Table::new()));
        }
        if let Some((_, _, lower)) = all.iter_mut().find(|(known, ..)| *known == name) {
            lay(lower, table, shape, exclusive);
        }
    }
    all
}

/// A table with all variables substituted.
pub struct Fields<'a> {
    shape: &'static Shape,
    /// The table's location.
    pub place: Location,
    table: Table,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// Substitutes variables and checks the result.
    pub fn new(
        shape: &'static Shape,
        place: Location,
        table: &Table,
        scope: &Scope<'_>,
        problems: &'a mut Vec<Problem>,
    ) -> Fields<'a> {
        let mut expanded = Table::new();
        for (name, node) in table {
            expanded.insert(name.clone(), expand(node, scope, problems));
        }
        let mut wrong = Vec::new();
        shape.check(&expanded, &mut wrong);
        problems.append(&mut wrong);
        Fields {
            shape,
            place,
            table: expanded,
            problems,
        }
    }

    /// Adds a problem with this table.
    pub fn problem(&mut self, message: impl Into<String>) {
        let problem = self.place.problem(message);
        self.problems.push(problem);
    }

    /// Adds a problem with one of its keys.
    pub fn problem_at(&mut self, key: &str, message: impl Into<String>) {
        let problem = self.place_of(key).problem(message);
        self.problems.push(problem);
    }

    /// Adds a problem with another file.
    pub fn problem_in(&mut self, place: &Location, message: impl Into<String>) {
        self.problems.push(place.problem(message));
    }

    /// The location of a key or, if it does not exist, of the table.
    pub fn place_of(&self, key: &str) -> Location {
        self.table
            .get(key)
            .map_or(&self.place, |node| &node.place)
            .clone()
    }

    /// Whether a key exists.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    pub fn text(&self, key: &str) -> Option<String> {
        self.table.get(key).and_then(Node::scalar)
    }

    pub fn required(&mut self, key: &str) -> String {
        if !self.has(key) {
            self.problems
                .push(crate::file::missing(&self.place, self.shape.name, key));
        }
        self.text(key).unwrap_or_default()
    }

    /// A value that is parsed here must be known before anything runs.
    fn known<T>(&mut self, key: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = self.text(key)?;
        if template::has_variables(&text) {
            self.problem_at(
                key,
                format!("{key} must be known before the lab runs, but {text} is known only later"),
            );
            return None;
        }
        // The check has already reported values that cannot be parsed.
        parse(&text)
    }

    /// A whole number.
    pub fn count(&mut self, key: &str) -> Option<u32> {
        self.known(key, |text| text.parse().ok())
    }

    pub fn number(&mut self, key: &str) -> Option<f64> {
        self.known(key, |text| text.parse().ok())
    }

    pub fn time(&mut self, key: &str) -> Option<Duration> {
        self.known(key, |text| shape::time(text).ok())
    }

    /// Bits per second.
    pub fn rate(&mut self, key: &str) -> Option<BitRate> {
        self.known(key, |text| BitRate::parse(text).ok())
    }

    /// A share, from 0 to 1.
    pub fn percent(&mut self, key: &str) -> Option<f64> {
        self.known(key, shape::percent)
    }

    /// A boolean.
    pub fn flag(&mut self, key: &str) -> Option<bool> {
        self.known(key, |text| text.parse().ok())
    }

    /// A list of strings.
    pub fn strings(&self, key: &str) -> Vec<String> {
        let items = self.table.get(key).map_or(&[][..], Node::items);
        items.iter().filter_map(Node::scalar).collect()
    }

    /// A list of whole numbers.
    pub fn counts(&mut self, key: &str) -> Vec<u32> {
        let all = self.strings(key);
        let read: Vec<u32> = all.iter().filter_map(|text| text.parse().ok()).collect();
        if read.len() != all.len() {
            self.problem_at(key, format!("{key} must be whole numbers"));
        }
        read
    }

    /// A table of names and strings.
    pub fn string_map(&self, key: &str) -> Vec<(String, String)> {
        let table = self.table.get(key).and_then(Node::table);
        table
            .into_iter()
            .flatten()
            .filter_map(|(name, node)| Some((name.clone(), node.scalar()?)))
            .collect()
    }

    /// The nodes of a table of names.
    pub fn nodes(&self, key: &str) -> Vec<(String, Node)> {
        let table = self.table.get(key).and_then(Node::table);
        table
            .into_iter()
            .flatten()
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect()
    }

    /// A nested table.
    pub fn table(&mut self, key: &str, shape: &'static Shape) -> Option<Fields<'_>> {
        let node = self.table.get(key)?;
        Some(Fields {
            shape,
            place: node.place.clone(),
            table: node.table()?.clone(),
            problems: self.problems,
        })
    }

    /// An existing file. Its path is relative to the file that contains it.
    pub fn path(&mut self, key: &str) -> Option<PathBuf> {
        let text = self.text(key)?;
        let path = relative_to(&self.place_of(key).file, &text);
        if !path.is_file() {
            self.problem_at(
                key,
                format!(
                    "the file {} does not exist; {key} is relative to the file that contains it",
                    path.display()
                ),
            );
        }
        Some(path)
    }

    /// The words of a command line.
    pub fn words(&mut self, key: &str) -> Option<Vec<String>> {
        let text = self.text(key)?;
        match words(&text) {
            Ok(words) if words.is_empty() => {
                self.problem_at(
                    key,
                    format!("{key} is empty: write a program and its arguments"),
                );
                None
            }
            Ok(words) => Some(words),
            Err(why) => {
                self.problem_at(key, format!("{key} {why}"));
                None
            }
        }
    }

    /// The only existing one of the given keys. Exactly one must exist.
    pub fn one_of(&mut self, keys: &[&'static str]) -> Option<&'static str> {
        let existing: Vec<&'static str> =
            keys.iter().copied().filter(|key| self.has(key)).collect();
        match existing.as_slice() {
            [one] => Some(one),
            [] => {
                let name = self.shape.name;
                self.problem(format!("{name} needs one of the keys {}", keys.join(", ")));
                None
            }
            [_, second, ..] => {
                let text = format!(
                    "{} has {}, but only one of them is allowed",
                    self.shape.name,
                    existing.join(" and ")
                );
                self.problem_at(second, text);
                None
            }
        }
    }
}

/// A path, relative to the directory of `file`.
pub fn relative_to(file: &Path, path: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}

fn expand(node: &Node, scope: &Scope<'_>, problems: &mut Vec<Problem>) -> Node {
    let value = match &node.value {
        Value::Text(text) => match template::expand(text, |name| scope.look_up(name)) {
            Ok(text) => Value::Text(text),
            Err(why) => {
                problems.push(node.place.problem(why));
                node.value.clone()
            }
        },
        Value::List(items) => Value::List(
            items
                .iter()
                .map(|item| expand(item, scope, problems))
                .collect(),
        ),
        Value::Table(table) => Value::Table(
            table
                .iter()
                .map(|(name, node)| (name.clone(), expand(node, scope, problems)))
                .collect(),
        ),
        other => other.clone(),
    };
    Node {
        place: node.place.clone(),
        value,
    }
}

/// Splits a command line into words as a shell does: at spaces, except within quotes.
///
/// # Errors
/// If a quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' | '\n' | '\r' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some(end) if end == letter => break,
                        Some('\\') if letter == '"' => word.extend(letters.next()),
                        Some(other) => word.push(other),
                        None => return Err(format!("has a {letter} that is not closed")),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_in_a_shell() {
        let split = |text: &str| words(text).unwrap();
        assert_eq!(split("a  b\tc\n"), ["a", "b", "c"]);
        assert_eq!(
            split(r#"a 'b c' "d \"e" f\ g '' h'i'"#),
            ["a", "b c", "d \"e", "f g", "", "hi"]
        );
        assert_eq!(split("--x={y.port}"), ["--x={y.port}"]);
        assert!(words("a 'b").is_err());
    }
}
