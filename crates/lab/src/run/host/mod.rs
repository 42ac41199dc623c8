//! Processes on another host, over SSH.
//!
//! The lab runs `plimsoll lab keep` on the host, which starts one process and stops it when the lab
//! requests that or no longer exists. Everything from a lab file is passed as JSON through its
//! stdin, never through a shell of the host. Each message is one line.
//! shell of the host. Each message is one line.

mod certificates;
mod connection;
pub mod keep;
mod ssh;
mod usage;

pub use certificates::sent as sent_certificates;
pub use connection::Connection;
pub use usage::{HostUse, HostsInUse};

use plimsoll_machine::ProcessReading;
use plimsoll_results::environment::Environment;
use serde::{Deserialize, Serialize};

/// A message from the lab.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Request {
    /// Choose this many free ports.
    Prepare(usize),
    /// Start the process.
    Start(Box<Start>),
    /// Read the resource usage of the process and the host. The reply repeats the number.
    Read(u64),
    /// Open a port for a stream of the lab.
    OpenSink,
    /// Measure the throughput of the stream to that port.
    MeasureSink,
    /// Confirm that the lab still exists.
    Alive,
}

/// A message from `plimsoll lab keep`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reply {
    /// The private directory, the ports and the host.
    Prepared(Box<Prepared>),
    /// The process is running.
    Started,
    /// The process cannot be started, for this reason.
    Failed(String),
    /// A reading, and its number.
    Read(u64, Reading),
    /// The port for a stream.
    SinkOpened(u16),
    /// Bits per second of the stream, if enough data arrived.
    SinkMeasured(Option<f64>),
    /// The process exited on its own with this status.
    Ended(String),
}

/// A process to start.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Start {
    /// The words of its command.
    pub command: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// Files to write into the private directory: name and text.
    pub files: Vec<(String, String)>,
    /// Its working directory; by default the private one.
    pub directory: Option<String>,
    /// Its processors; empty for any processor.
    pub cpus: Vec<u32>,
}

/// The data that complete the command of a process, and the directory where it will run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Prepared {
    /// A directory that exists while the process runs.
    pub directory: String,
    /// Free ports.
    pub ports: Vec<u16>,
    /// The host.
    pub environment: Environment,
}

/// Resource usage so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reading {
    /// The usage of each process, by process id.
    pub processes: Vec<(u32, Used)>,
    /// Seconds since a fixed moment.
    pub at: f64,
    /// Seconds that the host's processors were busy since a fixed moment, summed over all processors.
    pub busy: Option<f64>,
}

/// Resource usage of one process.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Used {
    cpu_seconds: f64,
    rss_bytes: u64,
    threads: u32,
    files: u32,
    switches: (u64, u64),
}

impl From<ProcessReading> for Used {
    fn from(reading: ProcessReading) -> Used {
        Used {
            cpu_seconds: reading.cpu_seconds,
            rss_bytes: reading.rss_bytes,
            threads: reading.threads,
            files: reading.files,
            switches: reading.switches,
        }
    }
}

impl From<Used> for ProcessReading {
    fn from(used: Used) -> ProcessReading {
        ProcessReading {
            cpu_seconds: used.cpu_seconds,
            rss_bytes: used.rss_bytes,
            threads: used.threads,
            files: used.files,
            switches: used.switches,
        }
    }
}

/// Duration of a measurement of the throughput of a network path.
const RATE_DURATION: std::time::Duration = std::time::Duration::from_millis(250);

/// The interval at which the lab confirms that it is still connected.
const KEEP_ALIVE_INTERVAL: std::time::Duration = std::time::Duration::from_secs(2);

/// Without a message for this long, the lab is considered gone. A connection can break without
/// either side noticing.
const KEEP_ALIVE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);
