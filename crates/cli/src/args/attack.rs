use std::path::PathBuf;

use super::single_dash::go_bool;

/// `plimsoll attack`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
#[command(after_help = "Examples:\n  \
    echo 'GET http://127.0.0.1:8080/' | plimsoll attack -duration=5s | plimsoll vegeta report\n  \
    plimsoll attack -targets=targets.txt -rate=200/1s -duration=30m -output=results.bin\n  \
    plimsoll attack -targets=targets.json -format=json -rate=0 -max-workers=100 -duration=10s -output=results.bin\n  \
    plimsoll attack --json -targets=targets.txt -rate=500 -duration=10s > result.json\n  \
    plimsoll vegeta report -type='hist[0,1ms,10ms]' results.bin\n\n\
    Flags are vegeta's, with one dash or with two. Results go to standard output unless -output names \
    a file; what came of the run stands on standard error. Latency counts from the scheduled start; \
    -rate=0 with -max-workers makes a closed loop, where only service time exists.\n\n\
    Exit status: 0 every request was answered, 1 some failed, 104 a flag or a target is wrong, 105 interrupted.")]
pub struct AttackArgs {
    /// The target list, or stdin
    #[arg(
        long,
        value_name = "FILE",
        default_value = "stdin",
        help_heading = "Targets"
    )]
    pub targets: String,
    /// How it is written: http (text) or json
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "http",
        help_heading = "Targets"
    )]
    pub format: String,
    /// Read it while the attack runs, once, instead of before it, round and round
    #[arg(long, help_heading = "Targets", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub lazy: bool,
    /// The body of targets that name none
    #[arg(long, value_name = "FILE", help_heading = "Targets")]
    pub body: Option<PathBuf>,
    /// Header of every request; give it several times
    #[arg(long = "header", value_name = "NAME: VALUE", help_heading = "Targets")]
    pub headers: Vec<String>,

    /// Requests per time: 50, 50/1s, 50/1m; 0 for as fast as -max-workers can
    #[arg(
        long,
        value_name = "N[/TIME]",
        default_value = "50/1s",
        allow_hyphen_values = true,
        help_heading = "Load"
    )]
    pub rate: String,
    /// How long; 0 for ever
    #[arg(long, value_name = "TIME", default_value = "0", help_heading = "Load")]
    pub duration: String,
    /// Workers to start with
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Load")]
    pub workers: u32,
    /// Workers at the most; by default as many as the rate needs
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub max_workers: Option<u64>,
    /// The attack's name, in the results and in the field X-Vegeta-Attack
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true,
        help_heading = "Load"
    )]
    pub name: String,
    /// Worker threads; by default one for each processor this process may use
    #[arg(long, value_name = "N", help_heading = "Load")]
    pub cpus: Option<usize>,

    /// Idle connections kept for each host
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        help_heading = "Connections"
    )]
    pub connections: usize,
    /// Connections to each host at the most; 0 for no limit
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        help_heading = "Connections"
    )]
    pub max_connections: usize,
    /// Use connections again
    #[arg(long, help_heading = "Connections", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL")]
    pub keepalive: bool,
    /// HTTP/2 where the server offers it
    #[arg(long, help_heading = "Connections", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL")]
    pub http2: bool,
    /// HTTP/2 without TLS
    #[arg(long, help_heading = "Connections", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub h2c: bool,
    /// HTTP/3, over QUIC (not in vegeta)
    #[arg(long, help_heading = "Connections", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub http3: bool,
    /// Local address
    #[arg(
        long,
        value_name = "IP",
        default_value = "0.0.0.0",
        help_heading = "Connections"
    )]
    pub laddr: std::net::IpAddr,
    /// Name servers to ask instead of the system, with commas between them
    #[arg(long, value_name = "IP[:PORT],…", help_heading = "Connections")]
    pub resolvers: Option<String>,
    /// How long a name's address is kept: 0 for ever, -1 not at all
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        allow_hyphen_values = true,
        help_heading = "Connections"
    )]
    pub dns_ttl: String,
    /// Connect elsewhere than the URL says: HOST:PORT:OTHER:PORT; several places for one take turns
    #[arg(long, value_name = "FROM:TO", help_heading = "Connections")]
    pub connect_to: Vec<String>,
    /// Connect through this unix socket, whatever the target's host
    #[arg(long, value_name = "PATH", help_heading = "Connections")]
    pub unix_socket: Option<String>,
    /// Header of CONNECT to a proxy; give it several times
    #[arg(
        long = "proxy-header",
        value_name = "NAME: VALUE",
        help_heading = "Connections"
    )]
    pub proxy_headers: Vec<String>,

    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub cert: Option<PathBuf>,
    /// Its key (PEM), where it is not in the certificate's file
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    pub key: Option<PathBuf>,
    /// Authorities to trust besides the system's (PEM)
    #[arg(
        long,
        value_name = "FILE,…",
        value_delimiter = ',',
        help_heading = "TLS"
    )]
    pub root_certs: Vec<PathBuf>,
    /// Accept any certificate
    #[arg(long, help_heading = "TLS", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub insecure: bool,
    /// Resume TLS sessions
    #[arg(long, help_heading = "TLS", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub session_tickets: bool,

    /// Redirects to follow; more are an error, and -1 takes them for answers
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        allow_hyphen_values = true,
        help_heading = "Requests"
    )]
    pub redirects: i64,
    /// Time limit of a request; 0 for none
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30s",
        help_heading = "Requests"
    )]
    pub timeout: String,
    /// Send bodies in chunks
    #[arg(long, help_heading = "Requests", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = clap::ArgAction::Set, value_name = "BOOL", hide_default_value = true)]
    pub chunked: bool,
    /// How much of each answer's body goes into the results, like 4096, 64KB; -1 for all
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "-1",
        allow_hyphen_values = true,
        help_heading = "Requests"
    )]
    pub max_body: String,

    /// Where results go: a file, or stdout
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    pub output: Option<String>,
    /// What came of the run as one JSON object on standard output
    #[arg(long, help_heading = "Results")]
    pub json: bool,
    /// Serve metrics of the attack for Prometheus there while it goes on
    #[arg(long, value_name = "IP:PORT", help_heading = "Results")]
    pub prometheus_addr: Option<String>,
    #[command(flatten)]
    pub record: super::RecordArgs,
    #[command(flatten)]
    pub io: super::IoArgs,
}
