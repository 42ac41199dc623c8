//! `plimsoll probe`.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_probe::Address;

/// Measure the way to a server: connect, round trip, TLS handshake
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll probe 127.0.0.1:8080\n  \
    plimsoll probe -n 100 --json 192.0.2.7:7 | jq .round_trip_ms.p50\n  \
    plimsoll probe --tls --ca certs/ca.pem localhost:10443\n  \
    plimsoll probe --throughput 5201 192.0.2.7:443\n\n\
    The round trip is measured on an open connection: by the echo, if the peer sends back what it\n\
    gets (plain TCP echo), else by the first byte of the answer to an HTTP GET, which has the\n\
    server's own time in it. The report says which.\n\
    Exit status: 0 it was reached, even if a round trip could not be measured.")]
pub struct ProbeArgs {
    /// The server, like 127.0.0.1:8080
    #[arg(value_name = "HOST:PORT", value_parser = Address::parse)]
    pub address: Address,
    /// How often each thing is measured
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub repeats: u32,
    /// How long the server may take for any one step
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = super::time)]
    pub timeout: Duration,
    /// The path that HTTP servers are asked for
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = path)]
    pub path: String,
    /// Speak TLS
    #[arg(long)]
    pub tls: bool,
    /// Accept any certificate
    #[arg(short = 'k', long, requires = "tls")]
    pub insecure: bool,
    /// Trust this authority too (PEM)
    #[arg(long, value_name = "FILE", requires = "tls")]
    pub ca: Option<PathBuf>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["tls", "key"])]
    pub cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The port of an iperf3 server there, which is asked for a second of TCP each way
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub throughput: Option<u16>,
    /// One JSON object instead of the text
    #[arg(long)]
    pub json: bool,
}

fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(text.to_owned())
    } else {
        Err(format!("{text:?} is no path: write it like /health"))
    }
}
