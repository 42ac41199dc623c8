//! `plimsoll probe`: measures a network path.

use std::time::Duration;

use plimsoll_address::HostPort;
use plimsoll_probe::{Plan, Report};
use plimsoll_terminal::exit::Exit;
use plimsoll_verdict::with_hint;

use crate::args::TlsArgs;

/// Measure a network path: connect, round trip, TLS handshake
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/probe.txt"))]
pub struct ProbeArgs {
    /// Server, like 127.0.0.1:8080
    #[arg(value_name = "HOST:PORT", value_parser = HostPort::parse)]
    pub address: HostPort,
    /// Repeats of each measurement
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeats: u32,
    /// Time limit for each step
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = crate::args::time)]
    pub timeout: Duration,
    /// Path to request from HTTP servers
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = path)]
    pub path: String,
    /// Use TLS; implied by the certificate flags
    #[arg(long, help_heading = "TLS")]
    pub tls: bool,
    #[command(flatten)]
    pub files: TlsArgs,
    /// Port of an iperf3 server on the same host, for one second of TCP in each direction
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub throughput: Option<u16>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
}

fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err(format!("{text:?} is not a path: write it like /health"))
    }
}

/// Measures the path and prints the results.
pub fn probe(args: &ProbeArgs) -> Exit {
    let text = run(args).map(|report| match args.json {
        true => format!("{:#}\n", report.json()),
        false => report.text(),
    });
    Exit::of_text(text.map_err(|error| with_hint(&error)))
}

fn run(args: &ProbeArgs) -> Result<Report, String> {
    let plan = Plan {
        address: args.address.clone(),
        repeats: args.repeats,
        timeout: args.timeout,
        tls: match args.tls || args.files.files().is_given() {
            true => Some(args.files.files().read()?),
            false => None,
        },
        path: args.path.clone(),
        throughput_port: args.throughput,
    };
    plimsoll_probe::probe(&plan)
}
