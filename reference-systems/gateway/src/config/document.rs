//! The text of a configuration as a tree in which each node knows its line.

use saphyr_parser::{Event, Input, Parser, ScalarStyle, Span};

/// Maximum nesting, so that parsing has a bounded cost.
const DEEPEST: usize = 32;

/// A value and the line it begins on, counted from 1.
#[derive(Debug)]
pub struct Node {
    pub line: usize,
    pub value: Value,
}

#[derive(Debug)]
pub enum Value {
    /// No value: `key:` with nothing after it, `~` or `null`.
    Absent,
    Scalar(String),
    List(Vec<Node>),
    /// In the order of the file.
    Map(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub struct Key {
    pub line: usize,
    pub name: String,
}

/// A syntax error, with its line.
#[derive(Debug)]
pub struct Unreadable {
    pub line: usize,
    pub what: String,
}

impl Node {
    /// The type of this value, in words.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Absent => "nothing",
            Value::Scalar(_) => "a single value",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Parses one YAML document.
pub fn parse(text: &str) -> Result<Node, Unreadable> {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
    };
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            Event::StreamEnd => {
                return Ok(Node {
                    line: 1,
                    value: Value::Absent,
                });
            }
            event => {
                let node = reader.node(event, line, 0)?;
                reader.end()?;
                return Ok(node);
            }
        }
    }
}

struct Reader<'a, I: Input> {
    events: Parser<'a, I>,
}

impl<'a, I: Input> Reader<'a, I> {
    fn next(&mut self) -> Result<(Event<'a>, usize), Unreadable> {
        match self.events.next() {
            Some(Ok((event, Span { start, .. }))) => Ok((event, start.line())),
            Some(Err(error)) => Err(Unreadable {
                line: error.marker().line(),
                what: format!("this is not YAML: {}", error.info()),
            }),
            None => Ok((Event::StreamEnd, 1)),
        }
    }

    fn node(&mut self, event: Event<'a>, line: usize, depth: usize) -> Result<Node, Unreadable> {
        let refuse = |what: &str| {
            Err(Unreadable {
                line,
                what: what.to_owned(),
            })
        };
        if depth > DEEPEST {
            return refuse("this is nested too deeply");
        }
        let value = match event {
            Event::Scalar(text, style, ..) => match &*text {
                "" | "~" | "null" if style == ScalarStyle::Plain => Value::Absent,
                _ => Value::Scalar(text.into_owned()),
            },
            Event::SequenceStart(..) => {
                let mut list = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break Value::List(list),
                        (event, line) => list.push(self.node(event, line, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => self.map(depth)?,
            // Nested aliases could make a small file huge.
            Event::Alias(_) => return refuse("aliases (*name) are not taken; write the value out"),
            _ => return refuse("a value belongs here"),
        };
        Ok(Node { line, value })
    }

    fn map(&mut self, depth: usize) -> Result<Value, Unreadable> {
        let mut map: Vec<(Key, Node)> = Vec::new();
        loop {
            let (event, line) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(Value::Map(map)),
                Event::Scalar(name, ..) => name.into_owned(),
                _ => {
                    return Err(Unreadable {
                        line,
                        what: "a key is a single word".into(),
                    });
                }
            };
            if let Some((first, _)) = map.iter().find(|(key, _)| key.name == name) {
                return Err(Unreadable {
                    line,
                    what: format!(
                        "'{name}' stands here twice; the first is on line {}",
                        first.line
                    ),
                });
            }
            let (event, at) = self.next()?;
            let node = self.node(event, at, depth + 1)?;
            map.push((Key { line, name }, node));
        }
    }

    fn end(&mut self) -> Result<(), Unreadable> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd | Event::Nothing, _) => {}
                (_, line) => {
                    return Err(Unreadable {
                        line,
                        what: "a second document begins here; a configuration is one".into(),
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_known() {
        let node = parse("a: 1\n# words\nb:\n  - x\n  - 'null'\nc:\n").unwrap();
        let Value::Map(map) = node.value else {
            panic!()
        };
        let lines: Vec<_> = map
            .iter()
            .map(|(key, node)| (key.line, node.line))
            .collect();
        assert_eq!(&lines[..2], [(1, 1), (3, 4)]);
        let Value::List(list) = &map[1].1.value else {
            panic!()
        };
        assert!(matches!(&list[1].value, Value::Scalar(text) if text == "null"));
        assert_eq!(list[1].line, 5);
        assert!(matches!(map[2].1.value, Value::Absent));
    }

    #[test]
    fn what_is_refused_has_its_line() {
        let refused = |text: &str| {
            let error = parse(text).unwrap_err();
            (error.line, error.what)
        };
        assert_eq!(refused("a: 1\nb: 2\na: 3\n").0, 3);
        assert_eq!(refused("a: &x 1\nb: *x\n").0, 2);
        assert_eq!(refused("a: 1\n---\nb: 2\n").0, 2);
        let (line, what) = refused("a: [1, 2\nb: 3\n");
        assert!(line >= 1 && what.contains("not YAML"), "{line} {what}");
        assert!(refused(&"[".repeat(100)).1.contains("nested"));
    }

    #[test]
    fn nothing_is_an_empty_document() {
        assert!(matches!(parse("").unwrap().value, Value::Absent));
        assert!(matches!(parse("# words\n").unwrap().value, Value::Absent));
    }
}
