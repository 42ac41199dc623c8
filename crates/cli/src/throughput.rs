//! `plimsoll throughput`: iperf3's client and server, with iperf3's flags.

use std::net::IpAddr;
use std::time::Duration;

use plimsoll_iperf::amounts::{Format, parse_bytes, parse_interval, parse_rate};
use plimsoll_iperf::client::{self, Family};
use plimsoll_iperf::server::ServerSettings;
use plimsoll_iperf::{Direction, End, Protocol, Test, TestRequest};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages::print_error;
use plimsoll_terminal::throughput_run::{self, ThroughputRun};
use plimsoll_units::BitRate;

/// Time limit for the peer's next message.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit for a client's next message. It is shorter because the server cannot serve other clients meanwhile.
const CLIENT_LIMIT: Duration = Duration::from_secs(10);

/// Measure network throughput with iperf3's protocol
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("role").required(true).args(["server", "client"]),
    after_long_help = include_str!("../help/throughput.txt")
)]
pub struct ThroughputArgs {
    /// Serve tests
    #[arg(short, long)]
    pub server: bool,
    /// Run a test with this server
    #[arg(short, long, value_name = "HOST")]
    pub client: Option<String>,
    /// Port of the server; with 0, a server uses any free port
    #[arg(short, long, value_name = "PORT", default_value_t = 5201)]
    pub port: u16,
    /// Unit of rates: k, m, g, t for bits, K, M, G, T for bytes (default: chosen by size)
    #[arg(short, long, value_name = "UNIT", value_parser = Format::parse)]
    pub format: Option<Format>,
    /// Seconds between two report lines; 0 for none
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub interval: Duration,
    /// Local address
    #[arg(short = 'B', long, value_name = "ADDRESS")]
    pub bind: Option<IpAddr>,
    /// Print one JSON object for each test instead of text
    #[arg(short = 'J', long)]
    pub json: bool,
    /// Use IPv4 only
    #[arg(short = '4', long, conflicts_with = "version6")]
    pub version4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long)]
    pub version6: bool,
    /// Exit after one test
    #[arg(short = '1', long, conflicts_with = "client")]
    pub one_off: bool,
    /// Use UDP instead of TCP
    #[arg(short, long, conflicts_with = "server")]
    pub udp: bool,
    /// Bits per second of each stream, with K, M or G, and blocks in a burst; 0 for no limit (default: 1M for UDP, none for TCP)
    #[arg(short, long, value_name = "RATE[/N]", conflicts_with = "server", value_parser = parse_rate)]
    pub bitrate: Option<(u64, u32)>,
    /// Duration of the test in seconds (default: 10)
    #[arg(short, long, value_name = "SECONDS", conflicts_with_all = ["server", "bytes", "blockcount"], value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub time: Option<u32>,
    /// Bytes to send, instead of a duration; K, M and G are accepted
    #[arg(short = 'n', long, value_name = "N", conflicts_with_all = ["server", "blockcount"], value_parser = parse_bytes)]
    pub bytes: Option<u64>,
    /// Blocks to send, instead of a duration
    #[arg(short = 'k', long, value_name = "N", conflicts_with = "server", value_parser = parse_bytes)]
    pub blockcount: Option<u64>,
    /// Size of a block or datagram in bytes (default: 128K, for UDP the size of a segment)
    #[arg(short, long, value_name = "N", conflicts_with = "server", value_parser = parse_bytes)]
    pub length: Option<u64>,
    /// Parallel streams
    #[arg(short = 'P', long, value_name = "N", conflicts_with = "server")]
    pub parallel: Option<u32>,
    /// Let the server send
    #[arg(short = 'R', long, conflicts_with_all = ["server", "bidir"])]
    pub reverse: bool,
    /// Let both sides send
    #[arg(long, conflicts_with = "server")]
    pub bidir: bool,
    /// Size of each socket's buffers in bytes; K and M are accepted
    #[arg(short, long, value_name = "N", conflicts_with = "server", value_parser = parse_bytes)]
    pub window: Option<u64>,
    /// Congestion control algorithm, such as cubic
    #[arg(short = 'C', long, value_name = "NAME", conflicts_with = "server")]
    pub congestion: Option<String>,
    /// Maximum segment size, in bytes
    #[arg(short = 'M', long, value_name = "N", conflicts_with = "server")]
    pub set_mss: Option<u32>,
    /// Send small segments immediately (TCP_NODELAY)
    #[arg(short = 'N', long, conflicts_with = "server")]
    pub no_delay: bool,
    /// Type of service, 0 to 255
    #[arg(short = 'S', long, value_name = "N", conflicts_with = "server")]
    pub tos: Option<u8>,
    /// Seconds to exclude at the start
    #[arg(short = 'O', long, value_name = "SECONDS", conflicts_with = "server", value_parser = clap::value_parser!(u32).range(0..=600))]
    pub omit: Option<u32>,
    /// Text to print before each line
    #[arg(short = 'T', long, value_name = "TEXT", conflicts_with = "server")]
    pub title: Option<String>,
    /// Text to include in both sides' JSON
    #[arg(long, value_name = "TEXT", conflicts_with = "server")]
    pub extra_data: Option<String>,
    /// Local port of the first stream; the other streams use the following ports
    #[arg(long, value_name = "PORT", conflicts_with = "server")]
    pub cport: Option<u16>,
    /// Time limit for connecting, in milliseconds
    #[arg(long, value_name = "MS", conflicts_with = "server")]
    pub connect_timeout: Option<u64>,
    /// Also print the server's output
    #[arg(long, conflicts_with = "server")]
    pub get_server_output: bool,
    /// Use 64-bit counters in datagrams
    #[arg(long, conflicts_with = "server")]
    pub udp_counters_64bit: bool,
}

/// Runs a test as the client, or serves tests until a signal arrives.
pub fn throughput(args: &ThroughputArgs) -> Exit {
    let what = match &args.client {
        Some(host) => description(args, host).map(|test| ThroughputRun::Test(Box::new(test))),
        None => Ok(ThroughputRun::Server(server(args))),
    };
    match what {
        Ok(what) => throughput_run::run(&what),
        Err(text) => {
            print_error(&text);
            Exit::INVALID_CONFIG
        }
    }
}

fn server(args: &ThroughputArgs) -> ServerSettings {
    ServerSettings {
        address: args.bind,
        port: args.port,
        family: family(args),
        once: args.one_off,
        interval: (!args.interval.is_zero()).then_some(args.interval),
        format: args.format.unwrap_or_default(),
        json: args.json,
        patience: CLIENT_LIMIT,
    }
}

fn family(args: &ThroughputArgs) -> Family {
    match (args.version4, args.version6) {
        (true, _) => Family::V4,
        (_, true) => Family::V6,
        _ => Family::Any,
    }
}

fn description(args: &ThroughputArgs, host: &str) -> Result<TestRequest, String> {
    let protocol = if args.udp {
        Protocol::Udp
    } else {
        Protocol::Tcp
    };
    let (rate, burst) = args.bitrate.unwrap_or(match protocol {
        Protocol::Udp => (1_000_000, 0),
        Protocol::Tcp => (0, 0),
    });
    // Larger values also exceed the limits that `check` enforces.
    let length = args
        .length
        .map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let window = args
        .window
        .map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
    let test = Test {
        protocol,
        direction: match (args.bidir, args.reverse) {
            (true, _) => Direction::Both,
            (_, true) => Direction::Reverse,
            _ => Direction::Forward,
        },
        end: match (args.bytes, args.blockcount) {
            (Some(bytes), _) => End::Bytes(bytes),
            (_, Some(blocks)) => End::Blocks(blocks),
            _ => End::Time(Duration::from_secs(args.time.unwrap_or(10).into())),
        },
        omit: Duration::from_secs(args.omit.unwrap_or(0).into()),
        parallel: args.parallel.unwrap_or(1),
        length: length.unwrap_or(1460),
        rate: BitRate::new(rate),
        burst,
        window,
        segment: args.set_mss,
        no_delay: args.no_delay,
        congestion: args.congestion.clone(),
        tos: args.tos.unwrap_or(0),
        server_output: args.get_server_output,
        wide_counters: args.udp_counters_64bit,
        title: args.title.clone(),
        extra_data: args.extra_data.clone(),
    };
    test.check()?;
    Ok(TestRequest {
        host: host.to_owned(),
        port: args.port,
        family: family(args),
        from: client::From {
            address: args.bind,
            port: args.cport,
        },
        patience: args.connect_timeout.map_or(TIMEOUT, Duration::from_millis),
        test,
        length,
        interval: (!args.interval.is_zero()).then_some(args.interval),
        format: args.format.unwrap_or_default(),
        json: args.json,
    })
}
