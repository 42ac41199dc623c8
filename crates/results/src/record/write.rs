//! Writes a record line by line.

use std::io::{self, Write};

use serde::Serialize;

use super::{End, Header, Second};

/// Writes a record. Each line is whole, and out of our hands, when its call returns.
#[derive(Debug)]
pub struct Writer<W: Write> {
    to: W,
    line: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins with the header.
    ///
    /// # Errors
    /// Of writing.
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
    /// Of writing.
    pub fn second(&mut self, second: &Second) -> io::Result<()> {
        self.put(second)
    }

    /// Adds the end, and gives back what was written to.
    ///
    /// # Errors
    /// Of writing.
    pub fn end(mut self, end: &End) -> io::Result<W> {
        self.put(end)?;
        Ok(self.to)
    }

    /// One call of `write_all` for a line, so that no reader sees half of one for long.
    fn put(&mut self, what: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, what)?;
        self.line.push(b'\n');
        self.to.write_all(&self.line)?;
        self.to.flush()
    }
}
