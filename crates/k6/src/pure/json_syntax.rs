//! Checks whether a string is JSON, and finds the first error.
//!
//! If a response body cannot be parsed, the error contains the line and character of the first invalid byte and the
//! message of Go's decoder, because scripts and dashboards match on that message.
//!
//! The grammar is RFC 8259. The checker keeps its own stack of open brackets, so that a malicious body of a million `[`
//! cannot exhaust a user's small stack.

use plimsoll_quickjs::give_way;

/// The first position where a string is not valid JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The number of bytes read, including the invalid one.
    pub offset: usize,
    /// The error, such as `invalid character '}' looking for beginning of value`.
    pub message: String,
}

impl SyntaxError {
    /// The line (from 1) and the character within the line (from 1; 0 only for an empty text) of the invalid byte.
    /// Characters are code points, not bytes.
    pub fn position(&self, json: &[u8]) -> (usize, usize) {
        let read = json.get(..self.offset).unwrap_or(json);
        let line = 1 + read.iter().filter(|&&b| b == b'\n').count();
        let line_start = read.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
        let is_char_start = |b: &&u8| (**b & 0xC0) != 0x80;
        let in_line = read[line_start..].iter().filter(is_char_start).count();
        // An invalid newline counts as the first character of its new line.
        (line, if read.is_empty() { 0 } else { in_line.max(1) })
    }

    /// The whole message that `Response.json()` throws. (The space before the comma is part of it.)
    pub fn sentence(&self, json: &[u8]) -> String {
        let (line, character) = self.position(json);
        format!(
            "cannot parse json due to an error at line {line}, character {character} , error: {}",
            self.message
        )
    }
}

/// Checks that `json` is exactly one JSON value, optionally surrounded by whitespace.
///
/// # Errors
/// The first error, with its offset.
pub fn check(json: &[u8]) -> Result<(), SyntaxError> {
    Checker {
        json,
        at: 0,
        open: Vec::new(),
    }
    .run()
}

/// Whether `json` is exactly one JSON value.
pub fn is_valid(json: &[u8]) -> bool {
    check(json).is_ok()
}

struct Checker<'a> {
    json: &'a [u8],
    at: usize,
    /// The opening bracket of each open array or object.
    open: Vec<u8>,
}

/// The tokens that the grammar allows next.
enum Next {
    Value,
    FirstElementOrEnd,
    FirstKeyOrEnd,
    Key,
    AfterValue,
}

impl Checker<'_> {
    fn run(mut self) -> Result<(), SyntaxError> {
        let mut next = Next::Value;
        loop {
            let before = self.at;
            self.skip_space();
            next = match next {
                Next::Value => self.value()?,
                Next::FirstElementOrEnd if self.peek() == Some(b']') => self.close(),
                Next::FirstElementOrEnd => self.value()?,
                Next::FirstKeyOrEnd if self.peek() == Some(b'}') => self.close(),
                Next::FirstKeyOrEnd | Next::Key => self.key()?,
                Next::AfterValue => match (self.open.last().copied(), self.peek()) {
                    (None, None) => return Ok(()),
                    (None, Some(_)) => return Err(self.unexpected("after top-level value")),
                    (Some(b'['), Some(b',')) => self.advance(Next::Value),
                    (Some(b'['), Some(b']')) | (Some(b'{'), Some(b'}')) => self.close(),
                    (Some(b'['), _) => return Err(self.unexpected("after array element")),
                    (Some(_), Some(b',')) => self.advance(Next::Key),
                    (Some(_), _) => return Err(self.unexpected("after object key:value pair")),
                },
            };
            give_way(self.at - before);
        }
    }

    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    fn advance(&mut self, next: Next) -> Next {
        self.at += 1;
        next
    }

    fn close(&mut self) -> Next {
        self.open.pop();
        self.advance(Next::AfterValue)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Next, SyntaxError> {
        match self.peek() {
            Some(b @ (b'{' | b'[')) => {
                self.open.push(b);
                let next = if b == b'{' {
                    Next::FirstKeyOrEnd
                } else {
                    Next::FirstElementOrEnd
                };
                Ok(self.advance(next))
            }
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            _ => Err(self.unexpected("looking for beginning of value")),
        }
    }

    fn key(&mut self) -> Result<Next, SyntaxError> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("looking for beginning of object key string"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("after object key"));
        }
        Ok(self.advance(Next::Value))
    }

    fn string(&mut self) -> Result<Next, SyntaxError> {
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => return Ok(self.advance(Next::AfterValue)),
                Some(b'\\') => {
                    self.at += 1;
                    self.escape()?;
                }
                Some(0..=0x1F) => return Err(self.unexpected("in string literal")),
                Some(_) => self.at += 1,
                None => return Err(self.unexpected_end()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 1,
            Some(b'u') => {
                self.at += 1;
                for _ in 0..4 {
                    if !self.peek().is_some_and(|b| b.is_ascii_hexdigit()) {
                        return Err(self.cut_short("in \\u hexadecimal character escape"));
                    }
                    self.at += 1;
                }
            }
            _ => return Err(self.cut_short("in string escape code")),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Next, SyntaxError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.cut_short("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(Next::AfterValue)
    }

    fn some_digits(&mut self, context: &str) -> Result<(), SyntaxError> {
        if !self.peek().is_some_and(|b| b.is_ascii_digit()) {
            return Err(self.cut_short(context));
        }
        self.digits();
        Ok(())
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn literal(&mut self, word: &str) -> Result<Next, SyntaxError> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(self.cut_short(&context));
            }
            self.at += 1;
        }
        Ok(Next::AfterValue)
    }

    /// An error between tokens. The end of the text is reported as such.
    fn unexpected(&self, context: &str) -> SyntaxError {
        if self.peek().is_some() {
            self.cut_short(context)
        } else {
            self.unexpected_end()
        }
    }

    /// An error inside a token. Go's scanner detects the end by reading one more space, so an incomplete token is
    /// reported with a space that is not in the text.
    fn cut_short(&self, context: &str) -> SyntaxError {
        let offset = (self.at + 1).min(self.json.len());
        let quoted = quote(self.peek().unwrap_or(b' '));
        SyntaxError {
            offset,
            message: format!("invalid character {quoted} {context}"),
        }
    }

    fn unexpected_end(&self) -> SyntaxError {
        SyntaxError {
            offset: self.json.len(),
            message: "unexpected end of JSON input".to_owned(),
        }
    }
}

/// Quotes a byte as Go quotes a character: as the code point with the same number.
fn quote(byte: u8) -> String {
    match byte {
        b'\'' => r"'\''".to_owned(),
        b'\\' => r"'\\'".to_owned(),
        0x07 => r"'\a'".to_owned(),
        0x08 => r"'\b'".to_owned(),
        0x0C => r"'\f'".to_owned(),
        b'\n' => r"'\n'".to_owned(),
        b'\r' => r"'\r'".to_owned(),
        b'\t' => r"'\t'".to_owned(),
        0x0B => r"'\v'".to_owned(),
        0..=0x1F | 0x7F => format!(r"'\x{byte:02x}'"),
        0x80..=0xA0 | 0xAD => format!(r"'\u{byte:04x}'"),
        _ => format!("'{}'", char::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Body, line, character and message as recorded with k6 v1.8.1.
    const OBSERVED: &[(&str, usize, usize, &str)] = &[
        ("", 1, 0, "unexpected end of JSON input"),
        ("   ", 1, 3, "unexpected end of JSON input"),
        ("\n\n", 3, 1, "unexpected end of JSON input"),
        ("[\n1\n", 3, 1, "unexpected end of JSON input"),
        ("\"abc", 1, 4, "unexpected end of JSON input"),
        (
            "{\"a\":}",
            1,
            6,
            "invalid character '}' looking for beginning of value",
        ),
        (
            "{\"a\":1,}",
            1,
            8,
            "invalid character '}' looking for beginning of object key string",
        ),
        (
            "[1,2\n,3,]",
            2,
            4,
            "invalid character ']' looking for beginning of value",
        ),
        (
            "nul",
            1,
            3,
            "invalid character ' ' in literal null (expecting 'l')",
        ),
        (
            "tru",
            1,
            3,
            "invalid character ' ' in literal true (expecting 'e')",
        ),
        (
            "{\n\"a\":1\n\"b\":2}",
            3,
            1,
            "invalid character '\"' after object key:value pair",
        ),
        (
            "\"\u{1}\"",
            1,
            2,
            "invalid character '\\x01' in string literal",
        ),
        (
            "{\"a\":\"é\nx\"}",
            2,
            1,
            "invalid character '\\n' in string literal",
        ),
        ("1 2", 1, 3, "invalid character '2' after top-level value"),
        ("[1 2]", 1, 4, "invalid character '2' after array element"),
        (
            "\n\n  x",
            3,
            3,
            "invalid character 'x' looking for beginning of value",
        ),
        (
            "{\"a\":\"\\q\"}",
            1,
            8,
            "invalid character 'q' in string escape code",
        ),
        (
            "{\"a\":01}",
            1,
            7,
            "invalid character '1' after object key:value pair",
        ),
        (
            "{a:1}",
            1,
            2,
            "invalid character 'a' looking for beginning of object key string",
        ),
        ("-", 1, 1, "invalid character ' ' in numeric literal"),
        (
            "1.",
            1,
            2,
            "invalid character ' ' after decimal point in numeric literal",
        ),
        (
            "1e",
            1,
            2,
            "invalid character ' ' in exponent of numeric literal",
        ),
        (
            "{'a':1}",
            1,
            2,
            "invalid character '\\'' looking for beginning of object key string",
        ),
        (
            "<html>\n</html>",
            1,
            1,
            "invalid character '<' looking for beginning of value",
        ),
        ("{\"a\"1}", 1, 5, "invalid character '1' after object key"),
        (
            "{\"a\":1}}",
            1,
            8,
            "invalid character '}' after top-level value",
        ),
        (
            "[\n\n1,\n\"é\", x]",
            4,
            6,
            "invalid character 'x' looking for beginning of value",
        ),
        (
            "é",
            1,
            1,
            "invalid character 'Ã' looking for beginning of value",
        ),
        (
            "\n\"é\" é",
            2,
            5,
            "invalid character 'Ã' after top-level value",
        ),
        (
            "\"€\" x yz",
            1,
            5,
            "invalid character 'x' after top-level value",
        ),
    ];

    #[test]
    fn errors_and_positions_match_those_of_k6() {
        for &(json, line, character, message) in OBSERVED {
            let error = check(json.as_bytes()).expect_err(json);
            assert_eq!(
                error.position(json.as_bytes()),
                (line, character),
                "{json:?}"
            );
            assert_eq!(error.message, message, "{json:?}");
        }
    }

    #[test]
    fn valid_json_is_accepted() {
        for json in [
            "null",
            " true ",
            "false",
            "0",
            "-0",
            "12.5e-3",
            "1E9",
            "\"\"",
            r#""\u00e9\n\/""#,
            "[]",
            "{}",
            "[[],[{}],1]",
            r#"{"a":{"b":[1,2,{"c":null}]},"a":2}"#,
            "\t\r\n[ 1 , 2 ]\n",
        ] {
            assert_eq!(check(json.as_bytes()), Ok(()), "{json}");
        }
    }

    #[test]
    fn a_million_open_brackets_are_refused_without_recursion() {
        let deep = vec![b'['; 1_000_000];
        assert_eq!(
            check(&deep).unwrap_err().message,
            "unexpected end of JSON input"
        );
    }

    #[test]
    fn every_prefix_of_a_document_is_refused_and_never_panics() {
        let json = "{\"a\":[1.5e+3,\"x\\u00e9\",true,null,{\"b\":false}]}".as_bytes();
        for end in 0..json.len() {
            let error = check(&json[..end]).expect_err("a prefix is not a document");
            assert!(error.offset <= end);
        }
        assert!(is_valid(json));
    }
}
