//! YAML as a tree whose nodes know their lines. JSON is also YAML.

use saphyr_parser::{Event, Parser, Span};

/// A node of the tree.
#[derive(Debug)]
pub struct Node {
    /// Counted from 1.
    pub line: usize,
    pub value: Value,
}

#[derive(Debug)]
pub enum Value {
    Text(String),
    List(Vec<Node>),
    /// Keys are unique; in the order in which they are written.
    Map(Vec<(Key, Node)>),
}

#[derive(Debug)]
pub struct Key {
    pub line: usize,
    pub text: String,
}

impl Node {
    /// The node's type, for error messages.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

/// Maximum nesting.
const MAX_DEPTH: usize = 32;

/// Parses one document. An error contains the line.
pub fn read(text: &str) -> Result<Node, (usize, String)> {
    let mut events = Events {
        parser: Parser::new_from_str(text),
    };
    loop {
        match events.next()? {
            (Event::StreamEnd, line) => return Err((line, "the file is empty".to_owned())),
            (Event::StreamStart | Event::DocumentStart(_) | Event::Nothing, _) => {}
            (event, line) => return events.node(event, line, 0),
        }
    }
}

struct Events<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, usize), (usize, String)> {
        match self.parser.next_event() {
            Some(Ok((event, Span { start, .. }))) => Ok((event, start.line())),
            Some(Err(error)) => Err((error.marker().line(), error.info().to_owned())),
            None => Ok((Event::StreamEnd, 1)),
        }
    }

    fn node(
        &mut self,
        event: Event<'a>,
        line: usize,
        depth: usize,
    ) -> Result<Node, (usize, String)> {
        if depth > MAX_DEPTH {
            return Err((line, format!("more than {MAX_DEPTH} levels deep")));
        }
        let value = match event {
            Event::Scalar(text, ..) => Value::Text(text.into_owned()),
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
            Event::Alias(_) => {
                return Err((
                    line,
                    "aliases (*name) are not read here; write it out".to_owned(),
                ));
            }
            _ => return Err((line, "the file ends too early".to_owned())),
        };
        Ok(Node { line, value })
    }

    fn map(&mut self, depth: usize) -> Result<Value, (usize, String)> {
        let mut map: Vec<(Key, Node)> = Vec::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(Value::Map(map)),
                (Event::Scalar(text, ..), line) => Key {
                    line,
                    text: text.into_owned(),
                },
                (_, line) => return Err((line, "a key must be a text".to_owned())),
            };
            if map.iter().any(|(other, _)| other.text == key.text) {
                return Err((key.line, format!("'{}' is here a second time", key.text)));
            }
            let (event, line) = self.next()?;
            let node = self.node(event, line, depth + 1)?;
            map.push((key, node));
        }
    }
}
