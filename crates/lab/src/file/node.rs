//! TOML values with their lines.

use std::path::Path;

use indexmap::IndexMap;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Location, Problem};

/// Maximum size of a lab file in bytes.
pub const MAX_SIZE: usize = 1 << 20;

/// Maximum nesting of values.
const MAX_DEPTH: usize = 32;

/// Keys in the order of the file.
pub type Table = IndexMap<String, Node>;

/// A value and its location in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line of its key or, in a list, of the value itself.
    pub place: Location,
    pub value: Value,
}

/// The types of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    /// An integer.
    Whole(i64),
    /// A float.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
}

impl Node {
    /// A value that is neither a list nor a table, as text.
    pub fn scalar(&self) -> Option<String> {
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Whole(whole) => Some(whole.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Flag(flag) => Some(flag.to_string()),
            Value::List(_) | Value::Table(_) => None,
        }
    }

    /// The items of a list, or only the value itself.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// The table, if the value is a table.
    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The value as JSON, without its location.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) => text.as_str().into(),
            Value::Whole(whole) => (*whole).into(),
            Value::Number(number) => (*number).into(),
            Value::Flag(flag) => (*flag).into(),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Table(table) => serde_json::Value::Object(
                table
                    .iter()
                    .map(|(key, value)| (key.clone(), value.json()))
                    .collect(),
            ),
        }
    }
}

impl Value {
    /// The name of its type, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Whole(_) => "a whole number",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Parses TOML.
///
/// # Errors
/// Invalid TOML, with its line.
pub fn parse(file: &Path, text: &str) -> Result<Table, Problem> {
    if text.len() > MAX_SIZE {
        return Err(Location::new(file, 1).problem(format!(
            "the file has {} bytes, more than the limit of {MAX_SIZE}; move data into separate files",
            text.len()
        )));
    }
    let lines = Lines::of(text);
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.at(span.start));
        let hint = match error.message() {
            "duplicate key" => {
                "; a table that occurs several times needs double brackets, as in [[load]]"
            }
            _ => "",
        };
        Location::new(file, line).problem(format!("this is not TOML: {}{hint}", error.message()))
    })?;
    let reader = Reader { file, lines };
    reader.table(document.get_ref(), 0)
}

struct Reader<'a> {
    file: &'a Path,
    lines: Lines,
}

impl Reader<'_> {
    fn table(&self, table: &DeTable<'_>, depth: usize) -> Result<Table, Problem> {
        table
            .iter()
            .map(|(key, value)| {
                let place = Location::new(self.file, self.lines.at(key.span().start));
                Ok((
                    key.get_ref().to_string(),
                    self.node(value, Some(place), depth + 1)?,
                ))
            })
            .collect()
    }

    fn node(
        &self,
        value: &Spanned<DeValue<'_>>,
        place: Option<Location>,
        depth: usize,
    ) -> Result<Node, Problem> {
        let own = Location::new(self.file, self.lines.at(value.span().start));
        let is_table = matches!(value.get_ref(), DeValue::Table(_));
        // The location of a table is its own header, and the location of another value is its key.
        let place = if is_table { own } else { place.unwrap_or(own) };
        if depth > MAX_DEPTH {
            return Err(place.problem("this is nested too deeply"));
        }
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(whole) => {
                let digits = whole.as_str().replace('_', "");
                let read = i64::from_str_radix(&digits, whole.radix());
                Value::Whole(read.map_err(|_| place.problem("this number is too large"))?)
            }
            DeValue::Float(number) => {
                let read = number.as_str().replace('_', "").parse::<f64>();
                let finite = read.ok().filter(|number| number.is_finite());
                Value::Number(finite.ok_or_else(|| place.problem("this is not a finite number"))?)
            }
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(_) => {
                return Err(place.problem("a date must be a string: put it in quotes"));
            }
            DeValue::Array(items) => Value::List(
                items
                    .iter()
                    .map(|item| self.node(item, None, depth + 1))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => Value::Table(self.table(table, depth)?),
        };
        Ok(Node { place, value })
    }
}

/// The offset of the start of each line.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(
            std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
        )
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let text = "a = 1\n\n[b]\nc = [\n  2,\n  3,\n]\n[[d]]\n[[d]]\ne = \"x\"\n";
        let table = parse(Path::new("lab.toml"), text).unwrap();
        assert_eq!(table["a"].place.line, 1);
        assert_eq!(table["b"].place.line, 3);
        let c = &table["b"].table().unwrap()["c"];
        assert_eq!(c.place.line, 4);
        assert_eq!(c.items()[1].place.line, 6);
        assert_eq!(table["d"].items()[1].place.line, 9);
        assert_eq!(table["d"].items()[1].table().unwrap()["e"].place.line, 10);
    }

    #[test]
    fn invalid_toml_is_reported_with_its_line() {
        let problem = parse(Path::new("lab.toml"), "a = 1\nb = = 2\n").unwrap_err();
        assert!(problem.to_string().starts_with("lab.toml:2: "), "{problem}");
        assert!(parse(Path::new("l"), "a = 2020-01-01").is_err());
        assert!(parse(Path::new("l"), "a = 99999999999999999999").is_err());
        assert!(parse(Path::new("l"), "a = nan").is_err());
    }
}
