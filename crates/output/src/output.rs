//! Where every single sample goes: the trait, and what is asked for with
//! `--out`.

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

/// Takes samples as they come. Runs on a thread of its own, where it may wait
/// for its disk.
pub trait Output: Send {
    /// Writes the samples, and hands what was written on to the system.
    ///
    /// # Errors
    /// When they cannot be written. Further samples are then in vain.
    fn batch(&mut self, samples: &[SampleRecord]) -> Result<(), OutputError>;

    /// Writes what belongs to the end. Nothing may come after.
    ///
    /// # Errors
    /// When it cannot be written.
    fn finish(&mut self) -> Result<(), OutputError>;
}

/// Why samples could not be written.
#[derive(Debug)]
pub struct OutputError {
    /// The output, as [`OutputSpec::describe`] has it.
    pub output: String,
    /// What went wrong.
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
    /// A JSON object a line.
    Json(Target),
    /// Comma-separated values.
    Csv(Target),
}

/// Where an output writes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The standard output.
    Stdout,
    /// A file, compressed if its name ends in `.gz`.
    File(PathBuf),
}

/// What is asked for with `--out` and does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// No output goes by this name.
    Unknown(String),
    /// An output of k6's that is not there.
    Missing(String),
}

const NAMES: [&str; 2] = ["csv", "json"];

const MISSING: [&str; 8] = [
    "cloud",
    "experimental-opentelemetry",
    "experimental-prometheus-rw",
    "influxdb",
    "opentelemetry",
    "statsd",
    "web-dashboard",
    "kafka",
];

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown(name) => {
                write!(f, "--out {name}: there is no such output")?;
                match nearest(name, NAMES) {
                    Some(near) => write!(f, "; did you mean {near}?"),
                    None => write!(f, "; use json=FILE or csv=FILE"),
                }
            }
            SpecError::Missing(name) => write!(
                f,
                "--out {name}: this output is not there yet; json=FILE and csv=FILE are, and \
                 their files can be passed on"
            ),
        }
    }
}

impl std::error::Error for SpecError {}

impl OutputSpec {
    /// Reads `json`, `json=FILE`, `csv=FILE.gz` and the like; `-` is the
    /// standard output.
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

    /// How the output is called where a run is announced.
    pub fn describe(&self) -> String {
        match self {
            OutputSpec::Json(target) => format!("json ({target})"),
            OutputSpec::Csv(target) => format!("csv ({target})"),
        }
    }

    /// Opens the output. `stdout` is called if it writes there.
    ///
    /// # Errors
    /// When the file cannot be made.
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

/// A URL as samples may have it.
pub type ShownUrl = fn(&str) -> Cow<'_, str>;

/// The value of a tag as samples have it: only URLs are looked through for secrets.
pub(crate) fn shown_tag<'a>(shown_url: ShownUrl, name: &str, value: &'a str) -> Cow<'a, str> {
    match name {
        "url" | "name" => shown_url(value),
        _ => Cow::Borrowed(value),
    }
}

/// What outputs need to know of a run.
#[derive(Clone, Debug)]
pub struct OutputSetting {
    /// What the metrics are.
    pub catalog: Catalog,
    /// Turns moments into dates.
    pub clock: WallClock,
    /// The system tags that are enabled.
    pub system_tags: Vec<SystemTag>,
    /// How CSV files write dates.
    pub csv_time: TimeFormat,
    /// A URL without its secrets, in the place of the tags `url` and `name`.
    pub shown_url: ShownUrl,
}

/// Where bytes go, with the name that error messages use.
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
    /// Taken when the stream is finished.
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

    /// Compressed bytes are kept back until there are enough of them, as each
    /// flush would cost compression.
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
        assert!(error("influxdb=http://x").contains("not there yet"));
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
