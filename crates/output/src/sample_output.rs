//! Outputs of individual samples: the trait `Output`, and files.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_samples::{SampleRecord, SystemTag};

use crate::catalog::Catalog;
use crate::time_format::TimeFormat;
use crate::wall_clock::WallClock;

/// Receives samples during the run. It has its own thread, so it may block on the disk.
pub trait Output: Send {
    /// Writes the samples and flushes them to the system.
    ///
    /// # Errors
    /// If they cannot be written. Further samples are then lost.
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError>;

    /// Completes the output. Nothing may be written afterwards.
    ///
    /// # Errors
    /// If the end cannot be written.
    fn finish(&mut self) -> Result<(), OutputError>;

    /// A message about problems that did not prevent a complete output. Called after the output is complete.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Why samples could not be written.
#[derive(Debug)]
pub struct OutputError {
    /// The description of the output, from [`OutputSpec::describe`](crate::output::OutputSpec::describe).
    pub output: String,
    pub source: io::Error,
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "output {}: {}", self.output, self.source)
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Masks the secrets in a URL for samples.
pub type ShownUrl = fn(&str) -> Cow<'_, str>;

/// Masks the value of a tag for samples. Only URLs can contain secrets.
pub fn shown_tag<'a>(shown_url: ShownUrl, name: &str, value: &'a str) -> Cow<'a, str> {
    match name {
        "url" | "name" => shown_url(value),
        _ => Cow::Borrowed(value),
    }
}

/// The facts about a run that outputs need.
#[derive(Clone, Debug)]
pub struct OutputSetting {
    /// The metrics.
    pub catalog: Catalog,
    /// Converts moments to dates.
    pub clock: WallClock,
    /// The enabled system tags.
    pub system_tags: Vec<SystemTag>,
    /// The date format of CSV files.
    pub csv_time: TimeFormat,
    /// Masks the secrets in a URL. Used for the tags `url` and `name`.
    pub shown_url: ShownUrl,
}

/// A destination for bytes, with its name in error messages.
pub(crate) struct NamedSink {
    pub name: String,
    pub sink: Sink,
}

impl NamedSink {
    pub fn write(&mut self, bytes: &[u8], last: bool) -> Result<(), OutputError> {
        self.sink.write(bytes, last).map_err(|source| OutputError {
            output: self.name.clone(),
            source,
        })
    }
}

pub(crate) enum Sink {
    Plain(Box<dyn Write + Send>),
    /// `None` once the stream is finished.
    Gzip(Option<GzEncoder<BufWriter<File>>>),
}

impl Sink {
    pub fn create(path: &Path) -> io::Result<Sink> {
        let file = File::create(path)?;
        Ok(
            if path.extension().is_some_and(|extension| extension == "gz") {
                Sink::Gzip(Some(GzEncoder::new(
                    BufWriter::new(file),
                    Compression::default(),
                )))
            } else {
                Sink::Plain(Box::new(file))
            },
        )
    }

    /// Compressed bytes are buffered, because each flush worsens the compression.
    fn write(&mut self, bytes: &[u8], last: bool) -> io::Result<()> {
        match self {
            Sink::Plain(writer) => {
                writer.write_all(bytes)?;
                writer.flush()
            }
            Sink::Gzip(encoder) => {
                if let Some(encoder) = encoder.as_mut() {
                    encoder.write_all(bytes)?;
                }
                match encoder.take_if(|_| last) {
                    Some(encoder) => encoder.finish()?.flush(),
                    None => Ok(()),
                }
            }
        }
    }
}
