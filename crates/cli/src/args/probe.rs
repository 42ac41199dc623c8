//! `plimsoll probe`.

use std::time::Duration;

use plimsoll_address::HostPort;

/// Measure a network path: connect, round trip, TLS handshake
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../../help/probe.txt"))]
pub struct ProbeArgs {
    /// Server, like 127.0.0.1:8080
    #[arg(value_name = "HOST:PORT", value_parser = HostPort::parse)]
    pub address: HostPort,
    /// Repeats of each measurement
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeats: u32,
    /// Time limit of each step
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = super::time)]
    pub timeout: Duration,
    /// Path to request from HTTP servers
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = path)]
    pub path: String,
    /// Use TLS; implied by the flags of certificates
    #[arg(long, help_heading = "TLS")]
    pub tls: bool,
    #[command(flatten)]
    pub files: super::TlsArgs,
    /// Port of an iperf3 server there, for a second of TCP in each direction
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub throughput: Option<u16>,
    /// Print one JSON object instead of the text
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
