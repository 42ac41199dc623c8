//! `plimsoll link`: a relay that emulates a network.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_netem::Link;
use plimsoll_netem::relay::{self, Relay, Requests};
use plimsoll_terminal::exit::Exit;
#[cfg(unix)]
use plimsoll_terminal::freed_memory;
use plimsoll_terminal::messages::{print_message, print_stdout};
use plimsoll_terminal::signals;
use plimsoll_units::BitRate;

/// Emulate a slow or distant network: latency, jitter, bandwidth, loss
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/link.txt"))]
pub struct LinkArgs {
    /// Address that clients connect to, like 127.0.0.1:9000
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem", value_parser = relay::address)]
    pub listen: Option<SocketAddr>,
    /// Address of the server, like 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", required_unless_present = "netem", value_parser = relay::address)]
    pub to: Option<SocketAddr>,
    /// Instead of a relay, create this network namespace behind the kernel's netem; requires root
    #[arg(long, value_name = "NAME", conflicts_with_all = ["listen", "to", "protocol", "seed"])]
    pub netem: Option<String>,
    /// Round trip time to add, like 74ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = crate::args::time)]
    pub round_trip: Duration,
    /// Jitter (± around the round trip), like 2ms
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = crate::args::time)]
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
    /// Seed for jitter and losses; the same seed repeats them
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Protocols that a link relays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LinkProtocol {
    Tcp,
    Udp,
    Both,
}

/// Relays until a signal arrives, then prints a report of the traffic.
pub fn link(args: &LinkArgs) -> Exit {
    #[cfg(unix)]
    freed_memory::keep_freed_memory();
    Exit::of_text(run(args).map(|report| format!("{report}\n")))
}

fn run(args: &LinkArgs) -> Result<serde_json::Value, String> {
    let link = Link {
        round_trip: args.round_trip,
        jitter: args.jitter,
        rate: args.rate,
        loss: args.loss,
    };
    link.check()?;
    let requests = Arc::new(Requests::default());
    let (stop, report) = (Arc::clone(&requests), Arc::clone(&requests));
    signals::on_signals(move |_| stop.stop.notify_one(), |_| {})?;
    signals::on_request_to_report(move || report.report.notify_one())?;
    let mut ready = |text: String, line: serde_json::Value| {
        if !text.is_empty() {
            print_message(&text);
        }
        print_stdout(format!("{line}\n").as_bytes());
    };
    match (&args.netem, args.listen, args.to) {
        (Some(name), ..) => relay::namespace(name, &link, &requests.stop, &mut ready),
        (None, Some(listen), Some(to)) => {
            let relay = Relay {
                link,
                listen,
                to,
                tcp: args.protocol != LinkProtocol::Udp,
                udp: args.protocol != LinkProtocol::Tcp,
                seed: args.seed,
            };
            relay.run(&requests, &mut ready)
        }
        (None, ..) => Err("a relay needs --listen and --to".to_owned()),
    }
}
