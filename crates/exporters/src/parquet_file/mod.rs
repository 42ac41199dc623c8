//! Writes Parquet files with one row per second and series, or one row per sample.

mod columns;
mod samples;
mod windows;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use plimsoll_output::output::{Output, OutputError, OutputSetting};
use plimsoll_samples::SampleRecord;

use crate::parquet_rows::Rows;
use columns::{Columns, SeriesNames};

/// Number of rows per row group. They stay in memory until they are written, and readers load them together.
const ROWS_PER_GROUP: usize = 65_536;

/// Writes a file.
pub struct ParquetFile {
    name: String,
    /// `None` once the file is complete.
    writer: Option<SerializedFileWriter<File>>,
    names: SeriesNames,
    rows: Box<dyn RowKind>,
    /// The number of samples that could not be stored.
    dropped: u64,
}

/// What a row of the file represents.
trait RowKind: Send {
    /// Adds a sample with a finite value. `series` is the number of its series.
    fn add(&mut self, series: usize, sample: &SampleRecord);
    /// Returns the complete rows. At the end of the run, all rows are complete.
    fn complete(&mut self, names: &SeriesNames, is_last: bool) -> &mut Columns;
}

impl ParquetFile {
    /// Creates the file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(
        path: &Path,
        rows: Rows,
        setting: &OutputSetting,
        name: String,
    ) -> Result<ParquetFile, String> {
        let failed = |error: &dyn std::fmt::Display| format!("output {name}: {error}");
        let (schema, rows): (_, Box<dyn RowKind>) = match rows {
            Rows::Windows => (windows::SCHEMA, Box::new(windows::WindowRows::new(setting))),
            Rows::Samples => (samples::SCHEMA, Box::new(samples::SampleRows::new(setting))),
        };
        let file = File::create(path).map_err(|error| failed(&error))?;
        let schema = parse_message_type(schema).map_err(|error| failed(&error))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("plimsoll ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties));
        let writer = writer.map_err(|error| failed(&error))?;
        Ok(ParquetFile {
            name,
            writer: Some(writer),
            names: SeriesNames::new(setting),
            rows,
            dropped: 0,
        })
    }

    fn write(&mut self, is_last: bool) -> Result<(), ParquetError> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let complete = self.rows.complete(&self.names, is_last);
        if complete.len() >= ROWS_PER_GROUP || (is_last && complete.len() > 0) {
            complete.write(writer)?;
        }
        if is_last && let Some(writer) = self.writer.take() {
            writer.close()?;
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> OutputError {
        OutputError {
            output: self.name.clone(),
            source,
        }
    }
}

impl Output for ParquetFile {
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError> {
        for sample in samples {
            let series = self.names.number_of(sample);
            match series.filter(|_| sample.value.is_finite()) {
                Some(series) => self.rows.add(series, sample),
                None => self.dropped += 1,
            }
        }
        let written = self.write(false);
        written.map_err(|error| self.failed(io::Error::other(error)))
    }

    fn finish(&mut self) -> Result<(), OutputError> {
        let written = self.write(true);
        written.map_err(|error| self.failed(io::Error::other(error)))?;
        if self.dropped == 0 {
            return Ok(());
        }
        let text = format!(
            "{} samples are not in it, because they are not finite numbers or have too many different tags",
            self.dropped
        );
        Err(self.failed(io::Error::other(text)))
    }
}
