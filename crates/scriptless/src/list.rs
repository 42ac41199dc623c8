//! Target lists, read entry by entry: vegeta's two formats.
//!
//! In the text format, an entry has a line with method and URL, lines with headers, and `@` with the path of a file
//! that contains the body. An empty line ends an entry. Lines that begin with `#` are comments. In the JSON format,
//! each line is an object with `method`, `url`, and optionally `header` (lists of values by name) and `body` (base64).

use std::collections::HashMap;
use std::io::BufRead;

use bytes::Bytes;
use serde::Deserialize;

use crate::target::{Defaults, ListError, Target, is_method};

/// Maximum length of a line in bytes. A JSON target contains its body.
const LONGEST_LINE: u64 = 256 << 20;
/// The number of bodies from files to cache.
const BODIES: usize = 1_000;

/// The format of a target list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// vegeta calls it `http`.
    #[default]
    Text,
    Json,
}

/// Reads the body for a path in a target.
pub type ReadBody = Box<dyn FnMut(&str) -> std::io::Result<Vec<u8>> + Send>;

/// A target list that is read on demand.
pub struct List<R> {
    input: R,
    format: Format,
    defaults: Defaults,
    read_body: ReadBody,
    bodies: HashMap<String, Bytes>,
    line: u64,
    /// The line at which the current target began.
    began: u64,
    /// The first line of the next entry. It was read to find the end of the previous entry.
    pending: Option<String>,
}

impl<R: BufRead> List<R> {
    /// `read_body` reads the files that targets refer to.
    pub fn new(input: R, format: Format, defaults: Defaults, read_body: ReadBody) -> Self {
        List {
            input,
            format,
            defaults,
            read_body,
            bodies: HashMap::new(),
            line: 0,
            began: 0,
            pending: None,
        }
    }

    /// The next target; `None` at the end.
    ///
    /// # Errors
    /// The invalid line and the reason.
    pub fn read_next(&mut self) -> Result<Option<Target>, ListError> {
        let target = match self.format {
            Format::Text => self.next_of_text()?,
            Format::Json => self.next_of_json()?,
        };
        if let Some(target) = &target {
            // Reading a target may have read the line after it.
            let line = self.began;
            target.check().map_err(|what| ListError { line, what })?;
        }
        Ok(target)
    }

    /// All targets.
    ///
    /// # Errors
    /// The first error. A list without targets is an error, too.
    pub fn all(mut self) -> Result<Vec<Target>, ListError> {
        let mut targets = Vec::new();
        while let Some(target) = self.read_next()? {
            targets.push(target);
        }
        if targets.is_empty() {
            return Err(ListError {
                line: 0,
                what: "no targets to attack: write one to a line, like GET http://127.0.0.1:8080/"
                    .to_owned(),
            });
        }
        Ok(targets)
    }

    fn next_of_text(&mut self) -> Result<Option<Target>, ListError> {
        let first = match self.pending.take() {
            Some(line) => line,
            None => loop {
                match self.next_line()? {
                    None => return Ok(None),
                    Some(line) if line.is_empty() || line.starts_with('#') => {}
                    Some(line) => break line,
                }
            },
        };
        self.began = self.line;
        let (method, url) = first.split_once([' ', '\t']).ok_or_else(|| {
            self.wrong(format!("bad target: {}: write METHOD URL", shown(&first)))
        })?;
        if !is_method(method) {
            return Err(self.wrong(format!(
                "bad method: {}; methods are in capitals, like GET",
                shown(method)
            )));
        }
        let mut target = Target {
            method: method.to_owned(),
            url: url.trim().to_owned(),
            headers: self.defaults.headers.clone(),
            body: self.defaults.body.clone(),
        };
        while let Some(line) = self.next_line()? {
            if line.is_empty() {
                break;
            }
            if line.starts_with('#') {
                continue;
            }
            if let Some(path) = line.strip_prefix('@') {
                target.body = self.body(path.trim())?;
            } else if begins_target(&line) {
                self.pending = Some(line);
                break;
            } else {
                let header = line
                    .split_once(':')
                    .map(|(name, value)| (name.trim(), value.trim()))
                    .filter(|(name, value)| !name.is_empty() && !value.is_empty());
                let Some((name, value)) = header else {
                    return Err(self.wrong(format!(
                        "bad header: {}: write NAME: VALUE, or @FILE for a body",
                        shown(&line)
                    )));
                };
                target.headers.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(Some(target))
    }

    fn next_of_json(&mut self) -> Result<Option<Target>, ListError> {
        let line = loop {
            match self.next_line()? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                Some(line) => break line,
            }
        };
        self.began = self.line;
        let object: Object = serde_json::from_str(&line).map_err(|error| {
            self.wrong(format!(
                "this is not a target in JSON: {error}; write {{\"method\": \"GET\", \"url\": \"http://127.0.0.1:8080/\"}}"
            ))
        })?;
        let need = |name: &str, value: String| match value.is_empty() {
            true => Err(self.wrong(format!("target: required {name} is missing"))),
            false => Ok(value),
        };
        let body = match object.body.filter(|body| !body.is_empty()) {
            Some(text) => {
                use base64::Engine;
                let decoded = base64::engine::general_purpose::STANDARD.decode(text);
                decoded
                    .map_err(|error| self.wrong(format!("\"body\" is not in base64: {error}")))?
                    .into()
            }
            None => self.defaults.body.clone(),
        };
        let mut headers = self.defaults.headers.clone();
        for (name, value) in object.header {
            let values = match value {
                serde_json::Value::Array(values) => values,
                _ => {
                    return Err(self.wrong(format!(
                        "\"header\": {name:?} is not a list of strings: write {{{name:?}: [\"value\"]}}"
                    )));
                }
            };
            for value in values {
                let serde_json::Value::String(value) = value else {
                    return Err(self.wrong(format!("\"header\": {name:?}: {value} is not text")));
                };
                headers.push((name.clone(), value));
            }
        }
        Ok(Some(Target {
            method: need("method", object.method)?,
            url: need("url", object.url)?,
            headers,
            body,
        }))
    }

    fn body(&mut self, path: &str) -> Result<Bytes, ListError> {
        if let Some(body) = self.bodies.get(path) {
            return Ok(body.clone());
        }
        let body: Bytes = (self.read_body)(path)
            .map_err(|error| self.wrong(format!("bad body: {path}: cannot read it: {error}")))?
            .into();
        if self.bodies.len() < BODIES {
            self.bodies.insert(path.to_owned(), body.clone());
        }
        Ok(body)
    }

    /// The next line, without surrounding spaces.
    fn next_line(&mut self) -> Result<Option<String>, ListError> {
        use std::io::Read;
        let mut line = Vec::new();
        self.line += 1;
        let read = (&mut self.input)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|error| self.wrong(format!("cannot read the next line: {error}")))?;
        if read as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
            return Err(self.wrong(format!("the line is longer than {LONGEST_LINE} bytes")));
        }
        if read == 0 {
            return Ok(None);
        }
        match std::str::from_utf8(&line) {
            Ok(text) => Ok(Some(text.trim().to_owned())),
            Err(error) => Err(self.wrong(format!("the line is not in UTF-8: {error}"))),
        }
    }

    fn wrong(&self, what: String) -> ListError {
        ListError {
            line: self.line,
            what,
        }
    }
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    header: serde_json::Map<String, serde_json::Value>,
}

/// Whether a line is the first of an entry: a method, a space, and something that may be a URL.
fn begins_target(line: &str) -> bool {
    line.split_once([' ', '\t'])
        .is_some_and(|(method, url)| is_method(method) && url.contains("://"))
}

/// The start of a line for an error message. It is long enough to find the line.
fn shown(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut cut: String = text.chars().take(SHOWN).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, text: &str) -> Result<Vec<Target>, ListError> {
        let defaults = Defaults {
            headers: vec![("Y".to_owned(), "z".to_owned())],
            body: Bytes::from_static(b"default"),
        };
        let read_body: ReadBody = Box::new(|path| match path {
            "none" => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
            path => Ok(path.as_bytes().to_vec()),
        });
        List::new(text.as_bytes(), format, defaults, read_body).all()
    }

    fn error_of(format: Format, text: &str) -> String {
        read(format, text).unwrap_err().to_string()
    }

    #[test]
    fn text_is_read_as_vegeta_reads_it() {
        let targets = read(
            Format::Text,
            "# all of it\n  GET http://h/1 \r\nA: b\r\n# within\nx : y z\n@body.json\n\n\n \nPOST http://h/2\nGET http://h/3 4",
        )
        .unwrap();
        let seen: Vec<_> = targets
            .iter()
            .map(|target| {
                let headers: Vec<_> = target
                    .headers
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                format!(
                    "{} {} {} {}",
                    target.method,
                    target.url,
                    headers.join(","),
                    String::from_utf8_lossy(&target.body)
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                "GET http://h/1 Y=z,A=b,x=y z body.json",
                "POST http://h/2 Y=z default",
                "GET http://h/3 4 Y=z default",
            ]
        );
    }

    #[test]
    fn json_is_read_as_vegeta_reads_it() {
        let targets = read(
            Format::Json,
            "{\"method\":\"POST\",\"url\":\"http://h/\",\"body\":\"aGk=\",\"header\":{\"X\":[\"1\",\"2\"]},\"more\":1}\n\n{\"method\":\"GET\",\"url\":\"http://h/2\",\"body\":null}\n",
        )
        .unwrap();
        assert_eq!(targets.len(), 2);
        assert_eq!(&targets[0].body[..], b"hi");
        assert_eq!(targets[0].headers.len(), 3);
        assert_eq!(&targets[1].body[..], b"default");
    }

    #[test]
    fn errors_are_reported_with_their_line() {
        let text = |text| error_of(Format::Text, text);
        assert!(text("").contains("no targets to attack"));
        assert!(text("GET\n").starts_with("line 1: bad target: GET"));
        assert!(text("\nget http://h/").starts_with("line 2: bad method: get"));
        assert!(text("$$$ http://h/").starts_with("line 1: bad method: $$$"));
        assert!(text("GET foo").contains("bad URL: foo"));
        assert!(text("\nGET foo\nA: b\n\n").starts_with("line 2: bad URL: foo: write it in full"));
        assert!(text("GET ftp://a/").contains("it must begin with http://"));
        assert!(text("GET http://h/\nX-A\n").starts_with("line 2: bad header: X-A"));
        assert!(text("GET http://h/\n@none\n").starts_with("line 2: bad body: none"));
        let json = |text| error_of(Format::Json, text);
        assert!(json("foo").starts_with("line 1: this is not a target in JSON"));
        assert!(json("{\"method\":\"GET\"}").contains("required url is missing"));
        assert!(json("{\"url\":\"http://h/\"}").contains("required method is missing"));
        assert!(
            json("{\"method\":\"GET\",\"url\":\"http://h/\",\"header\":{\"X\":\"y\"}}")
                .contains("is not a list of strings")
        );
        assert!(
            json("{\"method\":\"GET\",\"url\":\"http://h/\",\"body\":\"!\"}").contains("base64")
        );
    }
}
