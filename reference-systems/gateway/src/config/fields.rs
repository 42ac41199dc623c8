//! Converts a tree of nodes to values. For an unknown key it names the closest valid one. It
//! collects all errors with their lines, so that they are reported together.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::document::{Key, Node, Value};
use super::nearest::way_out;

/// Maximum number of reported errors.
const MOST_PROBLEMS: usize = 20;

/// An error, its location, and the fix.
#[derive(Debug, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    /// The path of keys, such as `routes.orders.prefix`.
    pub path: String,
    pub what: String,
}

#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub fn add(&mut self, field: &Field<'_>, what: impl Into<String>) {
        self.at(field.node.line, &field.path, what);
    }

    pub fn at(&mut self, line: usize, path: &str, what: impl Into<String>) {
        if self.0.len() < MOST_PROBLEMS {
            self.0.push(Problem {
                line,
                path: path.to_owned(),
                what: what.into(),
            });
        }
    }

    /// All errors in the order of the file; empty if there are none.
    pub fn into_sorted(mut self) -> Vec<Problem> {
        self.0.sort_by_key(|problem| problem.line);
        self.0
    }
}

/// A node and its path.
pub struct Field<'n> {
    pub node: &'n Node,
    pub path: String,
}

impl<'n> Field<'n> {
    pub fn root(node: &'n Node) -> Field<'n> {
        Field {
            node,
            path: String::new(),
        }
    }

    fn below(&self, name: &str, node: &'n Node) -> Field<'n> {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        Field { node, path }
    }

    /// A mapping with these keys and no others.
    pub fn fields(&self, known: &[&str], problems: &mut Problems) -> Fields<'n> {
        let mut fields = Vec::new();
        for (key, field) in self.named(problems) {
            if known.contains(&key.name.as_str()) {
                fields.push((key.name.as_str(), field));
            } else {
                let way = way_out(&key.name, known);
                problems.at(key.line, &field.path, format!("there is no such key{way}"));
            }
        }
        Fields {
            fields,
            line: self.node.line,
            path: self.path.clone(),
        }
    }

    /// A mapping with names chosen by the user.
    pub fn named(&self, problems: &mut Problems) -> Vec<(&'n Key, Field<'n>)> {
        match &self.node.value {
            Value::Map(map) => map
                .iter()
                .map(|(key, node)| (key, self.below(&key.name, node)))
                .collect(),
            Value::Absent => Vec::new(),
            _ => {
                problems.add(
                    self,
                    format!(
                        "a mapping (key: value) belongs here, not {}",
                        self.node.kind()
                    ),
                );
                Vec::new()
            }
        }
    }

    /// A list, or a single value as a list of one.
    pub fn items(&self) -> Vec<Field<'n>> {
        match &self.node.value {
            Value::List(list) => list
                .iter()
                .enumerate()
                .map(|(index, node)| self.below(&index.to_string(), node))
                .collect(),
            Value::Absent => Vec::new(),
            _ => vec![Field {
                node: self.node,
                path: self.path.clone(),
            }],
        }
    }

    pub fn text(&self, problems: &mut Problems) -> Option<&'n str> {
        match &self.node.value {
            Value::Scalar(text) => Some(text),
            _ => {
                problems.add(
                    self,
                    format!("a single value belongs here, not {}", self.node.kind()),
                );
                None
            }
        }
    }

    /// Converts the text with `read`; `expected` describes valid values.
    pub fn read<T>(
        &self,
        expected: &str,
        problems: &mut Problems,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(problems)?;
        let value = read(text);
        if value.is_none() {
            problems.add(self, format!("'{text}' is not {expected}"));
        }
        value
    }

    pub fn number(&self, range: RangeInclusive<u64>, problems: &mut Problems) -> Option<u64> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.read(&expected, problems, |text| {
            text.parse().ok().filter(|number| range.contains(number))
        })
    }

    /// A length of time from 1 ms to a day.
    pub fn duration(&self, problems: &mut Problems) -> Option<Duration> {
        self.read(
            "a duration from 1ms to 24h, such as 500ms, 2s or 1m",
            problems,
            duration,
        )
    }

    pub fn bytes(&self, problems: &mut Problems) -> Option<u64> {
        self.read("a size, such as 4096, 64KiB or 10MiB", problems, bytes)
    }

    pub fn flag(&self, problems: &mut Problems) -> Option<bool> {
        self.choice(&[("true", true), ("false", false)], problems)
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let text = self.text(problems)?;
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let names: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let way = way_out(text, &names);
            problems.add(
                self,
                format!("'{text}' is none of {}{way}", names.join(", ")),
            );
        }
        found.map(|(_, value)| *value)
    }
}

/// The fields of a mapping whose keys are known.
pub struct Fields<'n> {
    fields: Vec<(&'n str, Field<'n>)>,
    pub line: usize,
    pub path: String,
}

impl<'n> Fields<'n> {
    /// The field with that name, if it is present and has a value.
    pub fn get(&self, name: &str) -> Option<&Field<'n>> {
        self.fields
            .iter()
            .find(|(key, field)| *key == name && !matches!(field.node.value, Value::Absent))
            .map(|(_, field)| field)
    }

    /// The field with that name; its absence is an error.
    pub fn need(&self, name: &str, problems: &mut Problems) -> Option<&Field<'n>> {
        let field = self.get(name);
        if field.is_none() {
            problems.at(self.line, &self.path, format!("'{name}' is missing"));
        }
        field
    }
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    let duration = Duration::try_from_secs_f64(number * seconds).ok()?;
    (Duration::from_millis(1)..=Duration::from_secs(86_400))
        .contains(&duration)
        .then_some(duration)
}

fn bytes(text: &str) -> Option<u64> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::*;

    #[test]
    fn units_are_read() {
        assert_eq!(duration("1.5s"), Some(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
        assert_eq!(duration("2"), None);
        assert_eq!(duration("0s"), None);
        assert_eq!(duration("-1s"), None);
        assert_eq!(duration("1e9h"), None);
        assert_eq!(bytes("64KiB"), Some(65_536));
        assert_eq!(bytes("12"), Some(12));
        assert_eq!(bytes("64kb"), None);
        assert_eq!(bytes("99999999999GiB"), None);
    }

    #[test]
    fn problems_say_where_and_the_way_out() {
        let node = parse("wieght: 1\nname:\n  - x\nstrategy: least\n").unwrap();
        let mut problems = Problems::default();
        let fields = Field::root(&node).fields(&["weight", "name", "strategy"], &mut problems);
        assert_eq!(fields.get("name").unwrap().text(&mut problems), None);
        let words = [("least_connections", 1), ("hash", 2)];
        assert_eq!(
            fields
                .get("strategy")
                .unwrap()
                .choice(&words, &mut problems),
            None
        );
        assert!(fields.need("weight", &mut problems).is_none());
        let told: Vec<_> = problems
            .into_sorted()
            .into_iter()
            .map(|problem| (problem.line, problem.path, problem.what))
            .collect();
        assert!(told[0].2.contains("did you mean 'weight'"), "{told:?}");
        assert!(
            told.iter().any(|told| told.0 == 3 && told.1 == "name"),
            "{told:?}"
        );
        assert!(
            told.iter()
                .any(|told| told.0 == 4 && told.2.contains("least_connections")),
            "{told:?}"
        );
        assert!(
            told.iter().any(|told| told.2 == "'weight' is missing"),
            "{told:?}"
        );
    }
}
