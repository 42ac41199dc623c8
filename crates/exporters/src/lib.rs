//! Sends the samples of a run to monitoring systems during the run: Prometheus (remote write), OpenTelemetry, InfluxDB
//! and StatsD. Also writes HdrHistogram logs and Parquet files.
//!
//! A [`Receiver`] is parsed from `--out` and k6's environment variables. [`Receiver::open`] creates an
//! [`Output`](plimsoll_output::output::Output), which never waits for the network, because a separate thread sends
//! ([`sender`]). If the receiver is slower than the run, Prometheus and OpenTelemetry receive their cumulative values
//! less often. Samples for the other receivers are dropped and counted.

mod connection;
mod cumulative;
mod endpoint;
mod exponential_histogram;
mod histogram_log;
mod influxdb;
mod opentelemetry;
mod otlp_response;
#[cfg(feature = "parquet")]
mod parquet_file;
mod parquet_rows;
mod prometheus;
mod receiver;
mod sender;
mod series;
mod settings;
mod statsd;
mod traces;
mod value;
mod windows;

pub use receiver::Receiver;
pub use settings::Variables;
