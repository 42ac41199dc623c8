//! `plimsoll link`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_units::BitRate;

/// Emulate a slow or distant network: latency, jitter, bandwidth, loss
#[derive(Debug, Args)]
#[command(after_long_help = include_str!("../../help/link.txt"))]
pub struct LinkArgs {
    /// Address that clients connect to, like 127.0.0.1:9000
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem")]
    pub listen: Option<std::net::SocketAddr>,
    /// Address of the server, like 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem")]
    pub to: Option<std::net::SocketAddr>,
    /// Create a network namespace of this name behind the emulated network instead, with the kernel's netem; needs root
    #[arg(long, value_name = "NAME", conflicts_with_all = ["listen", "to", "protocol", "seed"])]
    pub netem: Option<String>,
    /// Round trip time to add, like 74ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = super::time)]
    pub round_trip: Duration,
    /// Jitter (± around the round trip), like 2ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = super::time)]
    pub jitter: Duration,
    /// Bandwidth of each direction, like 556Mbit/s (default: no limit)
    #[arg(long, value_name = "RATE", value_parser = BitRate::parse)]
    pub rate: Option<BitRate>,
    /// Share of packets to lose, like 0.1%
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = plimsoll_units::percent::parse)]
    pub loss: f64,
    /// Protocols to relay
    #[arg(long, value_enum, default_value = "both")]
    pub protocol: LinkProtocol,
    /// Seed of jitter and losses: the same number repeats them
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Protocols that a link relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinkProtocol {
    Tcp,
    Udp,
    Both,
}
