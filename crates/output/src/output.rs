//! Parses the argument of `--out`.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;

use plimsoll_units::nearest;

use crate::output_csv::CsvOutput;
use crate::output_json::JsonOutput;
use crate::sample_output::{NamedSink, Sink};

pub use crate::sample_output::{Output, OutputError, OutputSetting, ShownUrl, shown_tag};

/// A parsed `--out` argument.
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
    Stdout,
    /// A file, compressed if its name ends with `.gz`.
    File(PathBuf),
}

/// An unknown value of `--out`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecError {
    /// No output has this name.
    Unknown(String),
    /// k6 has this output, but Plimsoll does not.
    Missing(String),
}

/// The names of all outputs, including those of the crate `exporters`, for suggestions.
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

const UNSUPPORTED: [&str; 2] = ["cloud", "kafka"];

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Unknown(name) => {
                write!(f, "--out {name}: unknown output")?;
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
    /// Parses `json`, `json=FILE`, `csv=FILE.gz` and so on; `-` means stdout.
    ///
    /// # Errors
    /// If the output is unknown.
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
            _ if UNSUPPORTED.contains(&name) => Err(SpecError::Missing(name.to_owned())),
            _ => Err(SpecError::Unknown(name.to_owned())),
        }
    }

    /// The description of the output in a run's banner.
    pub fn describe(&self) -> String {
        match self {
            OutputSpec::Json(target) => format!("json ({target})"),
            OutputSpec::Csv(target) => format!("csv ({target})"),
        }
    }

    /// Opens the output. Calls `stdout` if the output writes there.
    ///
    /// # Errors
    /// If the file cannot be created.
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

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::catalog::Catalog;
    use crate::output_csv::TimeFormat;
    use crate::wall_clock::WallClock;

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
    fn the_closest_output_is_suggested_for_an_unknown_one() {
        let error = |text| OutputSpec::parse(text).expect_err(text).to_string();
        assert!(
            error("jsn=x").contains("did you mean json?"),
            "{}",
            error("jsn=x")
        );
        assert!(error("kafka=x").contains("does not have this output"));
    }

    #[test]
    fn a_file_that_cannot_be_created_is_named() {
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
