//! The receivers and file formats that `--out` names, except for the formats of the crate `output`.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_output::output::{Output, OutputSetting};

use crate::cumulative::Cumulative;
use crate::histogram_log::HistogramLog;
use crate::influxdb::{self, InfluxDb};
use crate::opentelemetry::{self, Otlp};
use crate::parquet_rows::Rows;
use crate::prometheus::{self, RemoteWrite};
use crate::settings::Variables;
use crate::statsd::{self, StatsD};
use crate::traces::{self, Traces};

/// A monitoring system or a file that receives the samples of a run.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// Prometheus, or another receiver of its remote-write protocol.
    Prometheus(prometheus::Settings),
    /// An OpenTelemetry collector, or another receiver of OTLP.
    OpenTelemetry(Box<opentelemetry::Settings>),
    /// InfluxDB 1 or 2.
    InfluxDb(influxdb::Settings),
    /// A file in the format of HdrHistogram logs.
    HistogramLog(PathBuf),
    /// A Parquet file.
    Parquet(Rows, PathBuf),
    /// StatsD or DogStatsD.
    StatsD(statsd::Settings),
    /// An OpenTelemetry collector that receives a span for each request.
    Traces(Box<traces::Settings>),
}

/// An open output, and a warning if its receiver cannot be reached yet.
pub type OpenOutput = (Box<dyn Output>, Option<String>);

impl Receiver {
    /// Parses `NAME` and `ARGUMENT` of `--out NAME=ARGUMENT`. `None` if no receiver has this name.
    ///
    /// # Errors
    /// If the argument or an environment variable is invalid.
    pub fn parse(
        name: &str,
        argument: &str,
        variables: Variables<'_>,
    ) -> Result<Option<Receiver>, String> {
        let parsed = match name {
            "experimental-prometheus-rw" => {
                prometheus::Settings::parse(argument, variables).map(Receiver::Prometheus)
            }
            "opentelemetry" | "experimental-opentelemetry" => {
                let settings = opentelemetry::Settings::parse(argument, variables);
                settings.map(|settings| Receiver::OpenTelemetry(Box::new(settings)))
            }
            "influxdb" => influxdb::Settings::parse(argument, variables).map(Receiver::InfluxDb),
            "hdrhistogram" => {
                let file = if argument.is_empty() {
                    "times.hlog"
                } else {
                    argument
                };
                Ok(Receiver::HistogramLog(PathBuf::from(file)))
            }
            "parquet" | "parquet-samples" => {
                let rows = if name == "parquet" {
                    Rows::Windows
                } else {
                    Rows::Samples
                };
                parquet(rows, argument)
            }
            "statsd" => statsd::Settings::parse(argument, variables).map(Receiver::StatsD),
            _ => return Ok(None),
        };
        let parsed = parsed.map_err(|message| format!("--out {name}: {message}"))?;
        Ok(Some(parsed))
    }

    /// Parses `--traces-output`. `None` if no traces are requested.
    ///
    /// # Errors
    /// If the text or an environment variable is invalid.
    pub fn of_traces(text: &str, variables: Variables<'_>) -> Result<Option<Receiver>, String> {
        let parsed = traces::Settings::parse(text, variables);
        let parsed = parsed.map_err(|message| format!("--traces-output {text}: {message}"))?;
        Ok(parsed.map(|settings| Receiver::Traces(Box::new(settings))))
    }

    /// The share of requests that are traced. `None` if this receiver does not receive traces.
    pub fn traced(&self) -> Option<f64> {
        match self {
            Receiver::Traces(settings) => Some(settings.share),
            _ => None,
        }
    }

    /// The description of the receiver in a run's banner.
    pub fn describe(&self) -> String {
        match self {
            Receiver::Prometheus(settings) => {
                format!("Prometheus remote write ({})", settings.endpoint.shown())
            }
            Receiver::OpenTelemetry(settings) => settings.describe(),
            Receiver::InfluxDb(settings) => settings.describe(),
            Receiver::HistogramLog(path) => format!("hdrhistogram ({})", path.display()),
            Receiver::Parquet(rows, path) => format!("{} ({})", rows.name(), path.display()),
            Receiver::StatsD(settings) => format!("statsd ({})", settings.address),
            Receiver::Traces(settings) => settings.describe(),
        }
    }

    /// Starts to send, and checks whether the receiver can be reached, which takes at most two seconds.
    ///
    /// # Errors
    /// If the system refuses a thread or a socket.
    pub fn open(&self, setting: &OutputSetting) -> Result<OpenOutput, String> {
        let name = self.describe();
        match self {
            Receiver::Prometheus(settings) => {
                let (endpoint, interval) = (&settings.endpoint, settings.interval);
                let format = RemoteWrite::new(settings);
                let output = Cumulative::open(format, endpoint, interval, setting, name)?;
                Ok((Box::new(output), endpoint.warning(CONNECT_TIMEOUT)))
            }
            Receiver::OpenTelemetry(settings) => {
                let (endpoint, interval) = (&settings.endpoint, settings.interval);
                let format = Otlp::new(settings);
                let output = Cumulative::open(format, endpoint, interval, setting, name)?;
                Ok((Box::new(output), endpoint.warning(CONNECT_TIMEOUT)))
            }
            Receiver::InfluxDb(settings) => {
                let output = InfluxDb::open(settings, setting, name)?;
                Ok((Box::new(output), settings.write.warning(CONNECT_TIMEOUT)))
            }
            Receiver::HistogramLog(path) => {
                let output = HistogramLog::create(path, setting, name)?;
                Ok((Box::new(output), None))
            }
            #[cfg(feature = "parquet")]
            Receiver::Parquet(rows, path) => {
                let output = crate::parquet_file::ParquetFile::create(path, *rows, setting, name)?;
                Ok((Box::new(output), None))
            }
            #[cfg(not(feature = "parquet"))]
            Receiver::Parquet(..) => Err(format!("output {name}: {NO_PARQUET}")),
            Receiver::StatsD(settings) => {
                let output = StatsD::open(settings, setting, name)?;
                Ok((Box::new(output), None))
            }
            Receiver::Traces(settings) => {
                let output = Traces::open(settings, setting, name)?;
                Ok((Box::new(output), settings.endpoint.warning(CONNECT_TIMEOUT)))
            }
        }
    }
}

/// Time limit for the first connection to a receiver.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

#[cfg(not(feature = "parquet"))]
const NO_PARQUET: &str = "this build cannot write Parquet files; build with --features parquet";

#[cfg(feature = "parquet")]
fn parquet(rows: Rows, file: &str) -> Result<Receiver, String> {
    let default = format!("{}.parquet", rows.name());
    let file = if file.is_empty() { &default } else { file };
    Ok(Receiver::Parquet(rows, PathBuf::from(file)))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_rows: Rows, _file: &str) -> Result<Receiver, String> {
    Err(NO_PARQUET.to_owned())
}
