//! `plimsoll link`.

use std::time::Duration;

use clap::{Args, ValueEnum};
use plimsoll_units::BitRate;

/// Imitate the distance to a server: delay and pace what goes there and back
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    plimsoll link --listen 127.0.0.1:9000 --to 127.0.0.1:8080 --round-trip 74ms --jitter 2ms\n  \
    plimsoll link --listen 127.0.0.1:9000 --to 127.0.0.1:8080 --round-trip 26.4ms --rate 556Mbit/s\n  \
    plimsoll link --netem far --round-trip 74ms          then: ip netns exec far SERVER\n\n\
    Both TCP and UDP are passed on. A TCP connection is accepted at once; the round trip of its\n\
    handshake is made up for before its first byte, so the time to the first answer is right.\n\
    Standard output gets a line of JSON once it listens, and when Ctrl-C ends it another one that\n\
    says what was passed on, and how late pieces left. With --netem the line has the addresses\n\
    of both ends, and the namespace goes when the program ends.")]
pub struct LinkArgs {
    /// Where clients connect to, like 127.0.0.1:9000
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem")]
    pub listen: Option<std::net::SocketAddr>,
    /// The server, like 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem")]
    pub to: Option<std::net::SocketAddr>,
    /// Make a network namespace of this name at that distance instead, with the kernel's netem; takes root
    #[arg(long, value_name = "NAME", conflicts_with_all = ["listen", "to", "protocol", "seed"])]
    pub netem: Option<String>,
    /// There and back, like 74ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = super::time)]
    pub round_trip: Duration,
    /// How far the round trip strays to both sides, like 2ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = super::time)]
    pub jitter: Duration,
    /// What each direction carries, like 556Mbit/s; without it as much as comes
    #[arg(long, value_name = "RATE", value_parser = BitRate::parse)]
    pub rate: Option<BitRate>,
    /// The share of packets that are lost, like 0.1%
    #[arg(long, value_name = "PERCENT", default_value = "0%", value_parser = super::percent)]
    pub loss: f64,
    /// What is passed on
    #[arg(long, value_enum, default_value = "both")]
    pub protocol: LinkProtocol,
    /// Straying and losses repeat with the same number
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// What a link passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinkProtocol {
    Tcp,
    Udp,
    Both,
}
