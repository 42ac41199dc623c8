//! Outputs of individual samples: the trait, and the `--out` argument.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_samples::{SampleRecord, SystemTag};
use plimsoll_units::nearest;

use crate::catalog::Catalog;
use crate::output_csv::{CsvOutput, TimeFormat};
use crate::output_json::JsonOutput;
use crate::wall_clock::WallClock;

/// Receives samples during the run. It has its own thread, so it may wait for the disk.
pub trait Output: Send {
    /// Writes the samples and flushes them to the system.
    ///
    /// # Errors
    /// When they cannot be written. Further samples are then lost.
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError>;

    /// Writes the end. Nothing may be written afterwards.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(&mut self) -> Result<(), OutputError>;

    /// Difficulties on the way to a complete output, for a message after its end.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Why samples could not be written.
#[derive(Debug)]
pub struct OutputError {
    /// The output, as in [`OutputSpec::describe`].
    pub output: String,
    /// The error.
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

/// One `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputSpec {
    /// One JSON object per line.
    Json(Target),
    /// Comma-separated values.
    Csv(Target),
}

/// The destination of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The standard output (stdout).
    Stdout,
    /// A file, compressed if its name ends in `.gz`.
    File(PathBuf),
}

/// A value of `--out` that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// No output has this name.
    Unknown(String),
    /// An output of k6 that Plimsoll does not have.
    Missing(String),
}

/// All outputs, those of the crate `exporters` too, for the closest name.
const NAMES: [&str; 9] = [
    "csv",
    "experimental-prometheus-rw",
    "hdrhistogram",
    "influxdb",
    "json",
    "opentelemetry",
    "parquet",
    "parquet-samples",
    "statsd",
];

const MISSING: [&str; 2] = ["cloud", "kafka"];

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown(name) => {
                write!(f, "--out {name}: there is no such output")?;
                match nearest(name, NAMES) {
                    Some(near) => write!(f, "; did you mean {near}?"),
                    None => write!(f, "; use one of {}", NAMES.join(", ")),
                }
            }
            SpecError::Missing(name) => write!(
                f,
                "--out {name}: Plimsoll does not have this output; it has {}",
                NAMES.join(", ")
            ),
        }
    }
}

impl std::error::Error for SpecError {}

impl OutputSpec {
    /// Parses `json`, `json=FILE`, `csv=FILE.gz` and so on; `-` is
    /// stdout.
    ///
    /// # Errors
    /// When there is no such output.
    pub fn parse(text: &str) -> Result<OutputSpec, SpecError> {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        let target = |default: Target| match argument {
            "" => default,
            "-" => Target::Stdout,
            file => Target::File(PathBuf::from(file)),
        };
        match name {
            "json" => Ok(OutputSpec::Json(target(Target::Stdout))),
            "csv" => Ok(OutputSpec::Csv(target(Target::File(PathBuf::from(
                "file.csv",
            ))))),
            _ if MISSING.contains(&name) => Err(SpecError::Missing(name.to_owned())),
            _ => Err(SpecError::Unknown(name.to_owned())),
        }
    }

    /// The description of the output in the banner of a run.
    pub fn describe(&self) -> String {
        match self {
            OutputSpec::Json(target) => format!("json ({target})"),
            OutputSpec::Csv(target) => format!("csv ({target})"),
        }
    }

    /// Opens the output. `stdout` is called if it writes there.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn open(
        &self,
        setting: &OutputSetting,
        stdout: impl FnOnce() -> Box<dyn Write + Send>,
    ) -> Result<Box<dyn Output>, OutputError> {
        let (OutputSpec::Json(target) | OutputSpec::Csv(target)) = self;
        let name = self.describe();
        let failed = |source| OutputError {
            output: name.clone(),
            source,
        };
        let sink = match target {
            Target::Stdout => Sink::Plain(stdout()),
            Target::File(path) => Sink::create(path).map_err(failed)?,
        };
        let sink = NamedSink { name, sink };
        Ok(match self {
            OutputSpec::Json(_) => Box::new(JsonOutput::new(sink, setting)),
            OutputSpec::Csv(_) => Box::new(CsvOutput::new(sink, setting)?),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Stdout => f.write_str("stdout"),
            Target::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Masks the secrets in a URL for samples.
pub type ShownUrl = fn(&str) -> Cow<'_, str>;

/// The value of a tag for samples: only URLs are checked for secrets.
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
    /// The system tags that are enabled.
    pub system_tags: Vec<SystemTag>,
    /// The date format of CSV files.
    pub csv_time: TimeFormat,
    /// Masks the secrets in a URL; used for the tags `url` and `name`.
    pub shown_url: ShownUrl,
}

/// A destination of bytes, with its name for error messages.
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
    /// `None` after the stream was finished.
    Gzip(Option<GzEncoder<BufWriter<File>>>),
}

impl Sink {
    fn create(path: &Path) -> io::Result<Sink> {
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

    /// Compressed bytes are buffered, because each flush would worsen the compression.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_and_described() {
        let cases = [
            ("json", "json (stdout)"),
            ("json=-", "json (stdout)"),
            ("json=a=b.json.gz", "json (a=b.json.gz)"),
            ("csv", "csv (file.csv)"),
            ("csv=-", "csv (stdout)"),
            ("csv=x.csv", "csv (x.csv)"),
        ];
        for (text, description) in cases {
            assert_eq!(
                OutputSpec::parse(text).map(|spec| spec.describe()),
                Ok(description.to_owned())
            );
        }
    }

    #[test]
    fn an_unknown_output_names_the_nearest() {
        let error = |text| OutputSpec::parse(text).expect_err(text).to_string();
        assert!(
            error("jsn=x").contains("did you mean json?"),
            "{}",
            error("jsn=x")
        );
        assert!(error("kafka=x").contains("does not have this output"));
    }

    #[test]
    fn a_file_that_cannot_be_made_is_named() {
        let setting = OutputSetting {
            catalog: Catalog::default(),
            clock: WallClock::reading(plimsoll_units::Moment::ZERO, std::time::UNIX_EPOCH),
            system_tags: Vec::new(),
            csv_time: TimeFormat::Unix,
            shown_url: |url| url.into(),
        };
        let spec = OutputSpec::parse("csv=/nonexistent/file.csv").expect("a known output");
        let error = spec
            .open(&setting, || Box::new(io::sink()))
            .err()
            .expect("no such directory");
        assert!(
            error
                .to_string()
                .starts_with("output csv (/nonexistent/file.csv): "),
            "{error}"
        );
    }
}
