//! Writes a record line by line.

use std::io::{self, Write};

use serde::Serialize;

use super::{End, Header, Second};

/// Writes a record. Each call writes its line completely before it returns.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn begin(to: W, header: &Header) -> io::Result<Writer<W>> {
        let mut writer = Writer {
            to,
            line: Vec::new(),
        };
        writer.put(header)?;
        Ok(writer)
    }

    /// Adds a second.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn second(&mut self, second: &Second) -> io::Result<()> {
        self.put(second)
    }

    /// Adds the end, and returns the underlying writer.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn end(mut self, end: &End) -> io::Result<W> {
        self.put(end)?;
        Ok(self.to)
    }

    /// Uses one `write_all` call per line, so that readers rarely see an incomplete line.
    fn put(&mut self, what: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, what)?;
        self.line.push(b'\n');
        self.to.write_all(&self.line)?;
        self.to.flush()
    }
}
