//! Comma-separated values (RFC 4180), read record by record and as strictly as Go's reader does.
//!
//! Empty lines are skipped, a quoted field may contain newlines (`\r\n` becomes `\n`), and every
//! record must have as many fields as the first one.

use std::fmt;

use plimsoll_quickjs::{Progress, give_way};

/// Why the input is not CSV, with the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CsvError {
    /// The line and the column (in bytes) count from 1. `record_line` is the line where the record starts.
    Quote {
        record_line: usize,
        line: usize,
        column: usize,
        kind: QuoteError,
    },
    FieldCount {
        record_line: usize,
    },
    /// A quote or a newline cannot be the delimiter.
    Delimiter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuoteError {
    /// A quote inside a field that does not start with one.
    Bare,
    /// A quoted field with characters after its closing quote, or without a closing quote.
    Unbalanced,
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            CsvError::Quote {
                record_line,
                line,
                column,
                kind,
            } => {
                if record_line != line {
                    write!(f, "record on line {record_line}; ")?;
                }
                let what = match kind {
                    QuoteError::Bare => "bare \" in non-quoted-field",
                    QuoteError::Unbalanced => "extraneous or missing \" in quoted-field",
                };
                write!(f, "parse error on line {line}, column {column}: {what}")
            }
            CsvError::FieldCount { record_line } => {
                write!(f, "record on line {record_line}: wrong number of fields")
            }
            CsvError::Delimiter => f.write_str("csv: invalid field or comment delimiter"),
        }
    }
}

impl std::error::Error for CsvError {}

/// The reading position in a string that is stored elsewhere.
#[derive(Debug, Clone)]
pub struct Reader {
    delimiter: char,
    at: usize,
    line: usize,
    /// The number of fields in the first record.
    fields: Option<usize>,
}

impl Reader {
    /// Creates a reader with this delimiter.
    ///
    /// # Errors
    /// If the delimiter is a quote or a newline.
    pub fn new(delimiter: char) -> Result<Reader, CsvError> {
        if matches!(
            delimiter,
            '"' | '\n' | '\r' | char::REPLACEMENT_CHARACTER | '\0'
        ) {
            return Err(CsvError::Delimiter);
        }
        Ok(Reader {
            delimiter,
            at: 0,
            line: 1,
            fields: None,
        })
    }

    /// The next record of `text`, which must be the same string each time. `None` at the end.
    ///
    /// # Errors
    /// See [`CsvError`].
    pub fn next(&mut self, text: &[u8]) -> Result<Option<Vec<String>>, CsvError> {
        while let Some(empty) = empty_line(text.get(self.at..).unwrap_or_default()) {
            give_way(empty);
            self.at += empty;
            self.line += 1;
        }
        if self.at >= text.len() {
            return Ok(None);
        }
        let mut record = RecordReader {
            text,
            at: self.at,
            line: self.line,
            line_start: self.at,
            record_line: self.line,
            delimiter: self.delimiter,
        };
        let fields = record.fields()?;
        (self.at, self.line) = (record.at, record.line);
        if *self.fields.get_or_insert(fields.len()) != fields.len() {
            return Err(CsvError::FieldCount {
                record_line: record.record_line,
            });
        }
        Ok(Some(fields))
    }
}

/// The cost of creating a field, as the number of bytes that could be read in the same time.
const FIELD: usize = 64;

/// The length of the newline at the start of `rest`.
fn empty_line(rest: &[u8]) -> Option<usize> {
    match rest {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

struct RecordReader<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    line_start: usize,
    record_line: usize,
    delimiter: char,
}

impl RecordReader<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fault(&self, kind: QuoteError) -> CsvError {
        let column = self.at - self.line_start + 1;
        CsvError::Quote {
            record_line: self.record_line,
            line: self.line,
            column,
            kind,
        }
    }

    fn fields(&mut self) -> Result<Vec<String>, CsvError> {
        let mut fields = Vec::new();
        loop {
            give_way(FIELD);
            let field = if self.rest().starts_with(b"\"") {
                self.quoted()?
            } else {
                self.bare()?
            };
            fields.push(String::from_utf8_lossy(&field).into_owned());
            if !self.skip_delimiter() {
                self.skip_newline();
                return Ok(fields);
            }
        }
    }

    fn skip_delimiter(&mut self) -> bool {
        let found = self.starts_with_delimiter();
        if found {
            self.at += self.delimiter.len_utf8();
        }
        found
    }

    fn starts_with_delimiter(&self) -> bool {
        self.rest()
            .starts_with(self.delimiter.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn skip_newline(&mut self) {
        if let Some(length) = empty_line(self.rest()) {
            self.at += length;
            self.line += 1;
            self.line_start = self.at;
        }
    }

    fn bare(&mut self) -> Result<Vec<u8>, CsvError> {
        let start = self.at;
        // Go's reader drops a carriage return at the end of the input, as if a newline followed.
        let mut progress = Progress::from(start);
        while let Some(&byte) = self.rest().first() {
            progress.reach(self.at);
            let ends_text = self.rest() == b"\r";
            if ends_text || empty_line(self.rest()).is_some() || self.starts_with_delimiter() {
                break;
            }
            if byte == b'"' {
                return Err(self.fault(QuoteError::Bare));
            }
            self.at += 1;
        }
        let field = self.text.get(start..self.at).unwrap_or_default().to_vec();
        if self.rest() == b"\r" {
            self.at += 1;
        }
        Ok(field)
    }

    fn quoted(&mut self) -> Result<Vec<u8>, CsvError> {
        self.at += 1;
        let mut field = Vec::new();
        let mut progress = Progress::from(self.at);
        loop {
            progress.reach(self.at);
            match self.rest() {
                [b'"', b'"', ..] => {
                    field.push(b'"');
                    self.at += 2;
                }
                [b'"', after @ ..] => {
                    let ends = after.is_empty() || after == b"\r" || empty_line(after).is_some();
                    self.at += 1;
                    if ends || self.starts_with_delimiter() {
                        if self.rest() == b"\r" {
                            self.at += 1;
                        }
                        return Ok(field);
                    }
                    // The column is that of the closing quote.
                    self.at -= 1;
                    return Err(self.fault(QuoteError::Unbalanced));
                }
                [byte, ..] => {
                    let byte = *byte;
                    if empty_line(self.rest()).is_some() {
                        field.push(b'\n');
                        self.skip_newline();
                    } else {
                        field.push(byte);
                        self.at += 1;
                    }
                }
                [] => {
                    // As in Go, report the end of the last line.
                    if self.text.ends_with(b"\n") {
                        self.line -= 1;
                        let before = self.text.get(..self.at - 1).unwrap_or_default();
                        self.line_start = before
                            .iter()
                            .rposition(|&b| b == b'\n')
                            .map_or(0, |i| i + 1);
                    }
                    return Err(self.fault(QuoteError::Unbalanced));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, delimiter: char) -> Result<Vec<Vec<String>>, String> {
        let mut reader = Reader::new(delimiter).map_err(|e| e.to_string())?;
        let mut records = Vec::new();
        while let Some(record) = reader.next(text.as_bytes()).map_err(|e| e.to_string())? {
            records.push(record);
        }
        Ok(records)
    }

    #[test]
    fn records_are_read() {
        for (text, delimiter, expected) in [
            ("a,b\n1,2\n", ',', vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a,b", ',', vec![vec!["a", "b"]]),
            ("a,\n", ',', vec![vec!["a", ""]]),
            ("\n\na\n\r\nb\n\n", ',', vec![vec!["a"], vec!["b"]]),
            ("a;\"b;c\"\r\n", ';', vec![vec!["a", "b;c"]]),
            (
                "\"Quo\"\"te\",\"x\r\ny\"\n",
                ',',
                vec![vec!["Quo\"te", "x\ny"]],
            ),
            ("a\r1,b\n", ',', vec![vec!["a\r1", "b"]]),
            (" a ,b \n", ',', vec![vec![" a ", "b "]]),
            ("aéb\n", 'é', vec![vec!["a", "b"]]),
            ("", ',', vec![]),
            ("a\r", ',', vec![vec!["a"]]),
        ] {
            let expected: Vec<Vec<String>> = expected
                .into_iter()
                .map(|r| r.into_iter().map(String::from).collect())
                .collect();
            assert_eq!(read(text, delimiter), Ok(expected), "{text:?}");
        }
    }

    /// Inputs and errors as recorded with k6 v1.8.1.
    #[test]
    fn errors_match_those_of_k6() {
        for (text, delimiter, expected) in [
            (
                "a,b\n1,2,3\n",
                ',',
                "record on line 2: wrong number of fields",
            ),
            (
                "a,b\n\"open,2\n3,4\n",
                ',',
                "record on line 2; parse error on line 3, column 5: extraneous or missing \" in \
                 quoted-field",
            ),
            (
                "a,b\n\"x\"y,2\n",
                ',',
                "parse error on line 2, column 3: extraneous or missing \" in quoted-field",
            ),
            (
                " a , \"b\"\n",
                ',',
                "parse error on line 1, column 6: bare \" in non-quoted-field",
            ),
            ("a\n", '"', "csv: invalid field or comment delimiter"),
            ("a\n", '\n', "csv: invalid field or comment delimiter"),
        ] {
            assert_eq!(read(text, delimiter), Err(expected.to_owned()), "{text:?}");
        }
    }

    #[test]
    fn truncated_texts_never_panic() {
        let text = "a,\"b\"\"\r\n\",c\n\"\",1,2\r\n";
        for end in 0..text.len() {
            for start in 0..end {
                let _ = read(&text[start..end], ',');
            }
        }
    }
}
