//! vegeta's flags, with vegeta's names and defaults.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{ArgAction::Set, Args};
use plimsoll_http::Protocol;
use plimsoll_run::{AttackOptions, ConnectionOptions, TlsFiles};

use crate::args::{FleetArgs, IoArgs, RecordArgs, WebArgs};
use crate::single_dash::go_bool;

#[derive(Debug, Args)]
#[command(args_override_self = true, after_long_help = include_str!("../../help/attack.txt"))]
pub struct AttackArgs {
    #[command(flatten)]
    pub targets: TargetArgs,
    #[command(flatten)]
    pub load: AttackLoadArgs,
    #[command(flatten)]
    pub connection: AttackConnectionArgs,
    #[command(flatten)]
    pub tls: AttackTlsArgs,
    #[command(flatten)]
    pub request: AttackRequestArgs,
    #[command(flatten)]
    pub results: AttackResultArgs,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub web: WebArgs,
    #[command(flatten)]
    pub fleet: FleetArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Targets")]
pub struct TargetArgs {
    /// Target list
    #[arg(long, value_name = "FILE", default_value = "stdin")]
    pub targets: String,
    /// Format of the target list: http (text) or json
    #[arg(long, value_name = "FORMAT", default_value = "http")]
    pub format: String,
    /// Read the target list once, during the attack, instead of reading all of it first
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub lazy: bool,
    /// Body of targets that have none
    #[arg(long, value_name = "FILE")]
    pub body: Option<PathBuf>,
    /// Header of every request; can be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub struct AttackLoadArgs {
    /// Requests per unit of time: 50, 50/1s, 50/1m; 0 for as fast as -max-workers can send
    #[arg(
        long,
        value_name = "N[/TIME]",
        default_value = "50/1s",
        allow_hyphen_values = true
    )]
    pub rate: String,
    /// Duration of the attack; 0 for no limit
    #[arg(long, value_name = "TIME", default_value = "0")]
    pub duration: String,
    /// Initial number of virtual users (vegeta calls them workers)
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub workers: u32,
    /// Distribution of arrivals: even, poisson, gamma:SHAPE or on-off:ON/OFF; @SEED sets the seed. Instead of -rate:
    /// trace:FILE, the times in a file; @2x replays them twice as fast
    #[arg(long, value_name = "PROCESS", value_parser = plimsoll_plan::Arrivals::parse)]
    pub arrivals: Option<plimsoll_plan::Arrivals>,
    /// Default seed of random arrivals; a command that starts several runs sets it for each run
    #[arg(long, value_name = "SEED", env = plimsoll_results::run_seed::VARIABLE, hide = true)]
    pub arrivals_seed: Option<u64>,
    /// Maximum number of virtual users (default: as many as the rate needs)
    #[arg(long, value_name = "N")]
    pub max_workers: Option<u64>,
    /// Name of the attack, in the results and in the header X-Vegeta-Attack
    #[arg(
        long,
        value_name = "NAME",
        default_value = "",
        hide_default_value = true
    )]
    pub name: String,
    /// Worker threads (default: one per processor that this process may use)
    #[arg(long, visible_alias = "threads", value_name = "N")]
    pub cpus: Option<usize>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub struct AttackConnectionArgs {
    /// Idle connections to keep per host (as in vegeta)
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub connections: usize,
    /// Maximum number of connections to each host; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_connections: usize,
    /// Reuse connections
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL")]
    pub keepalive: bool,
    /// Use HTTP/2 if the server offers it
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL")]
    pub http2: bool,
    /// Use HTTP/2 without TLS
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub h2c: bool,
    /// Use HTTP/3, over QUIC (not in vegeta)
    #[arg(long, visible_alias = "h3", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub http3: bool,
    /// Local address
    #[arg(long, value_name = "IP", default_value = "0.0.0.0")]
    pub laddr: IpAddr,
    /// Name servers to use instead of the system's
    #[arg(long, value_name = "IP[:PORT],…")]
    pub resolvers: Option<String>,
    /// Time to cache addresses: 0 for no limit, -1 for no caching
    #[arg(
        long,
        value_name = "TIME",
        default_value = "0",
        allow_hyphen_values = true
    )]
    pub dns_ttl: String,
    /// Connect to another address: HOST:PORT:OTHER:PORT; several addresses of one host are used in rotation
    #[arg(long, value_name = "FROM:TO")]
    pub connect_to: Vec<String>,
    /// Connect to this Unix socket instead of the target's host
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<String>,
    /// Header of CONNECT requests to a proxy; can be repeated
    #[arg(long = "proxy-header", value_name = "NAME: VALUE")]
    pub proxy_headers: Vec<String>,
    #[command(flatten)]
    pub io: IoArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub struct AttackTlsArgs {
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Key of the client certificate (PEM), if it is in a separate file
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Trust these authorities too (PEM)
    #[arg(
        long,
        visible_alias = "ca",
        value_name = "FILE,…",
        value_delimiter = ','
    )]
    pub root_certs: Vec<PathBuf>,
    /// Accept any certificate
    #[arg(short = 'k', long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub insecure: bool,
    /// Resume TLS sessions
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub session_tickets: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Requests")]
pub struct AttackRequestArgs {
    /// Maximum number of redirects; more are an error, and -1 treats a redirect as the response
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10,
        allow_hyphen_values = true
    )]
    pub redirects: i64,
    /// Time limit for a request; 0 for none
    #[arg(long, value_name = "TIME", default_value = "30s")]
    pub timeout: String,
    /// Send bodies in chunks
    #[arg(long, num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true", value_parser = go_bool, action = Set, value_name = "BOOL", hide_default_value = true)]
    pub chunked: bool,
    /// Bytes of each response body to keep in the results, like 4096 or 64KB; -1 for all
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "-1",
        allow_hyphen_values = true
    )]
    pub max_body: String,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub struct AttackResultArgs {
    /// Destination of the results: a file, or stdout
    #[arg(long, value_name = "FILE")]
    pub output: Option<String>,
    /// Address on which to serve metrics of the attack to Prometheus
    #[arg(long, value_name = "IP:PORT")]
    pub prometheus_addr: Option<String>,
}

impl AttackArgs {
    /// The values of all flags.
    ///
    /// # Errors
    /// If flags contradict each other.
    pub fn options(&self) -> Result<AttackOptions, String> {
        let AttackArgs {
            targets,
            load,
            connection,
            tls,
            request,
            ..
        } = self;
        let protocol = match (connection.http3, connection.h2c, connection.http2) {
            (true, true, _) => return Err("-http3 and -h2c exclude each other".to_owned()),
            (true, ..) => Protocol::Http3,
            (_, true, _) => Protocol::H2c,
            (.., true) => Protocol::Auto,
            _ => Protocol::Http1,
        };
        if tls.key.is_some() && tls.cert.is_none() {
            return Err("-key needs -cert, the certificate of this key".to_owned());
        }
        let laddr = Some(connection.laddr).filter(|ip| !ip.is_unspecified());
        Ok(AttackOptions {
            targets: targets.targets.clone(),
            format: targets.format.clone(),
            lazy: targets.lazy,
            body: targets.body.clone(),
            headers: targets.headers.clone(),
            rate: load.rate.clone(),
            duration: load.duration.clone(),
            workers: load.workers,
            max_workers: load.max_workers,
            arrivals: load.arrivals.clone().unwrap_or_default(),
            arrivals_seed: load.arrivals_seed,
            name: load.name.clone(),
            threads: load.cpus,
            connections: connection.connections,
            max_connections: connection.max_connections,
            keepalive: connection.keepalive,
            protocol,
            resolvers: connection.resolvers.clone(),
            dns_ttl: connection.dns_ttl.clone(),
            connect_to: connection.connect_to.clone(),
            proxy_headers: connection.proxy_headers.clone(),
            session_tickets: tls.session_tickets,
            redirects: request.redirects,
            timeout: request.timeout.clone(),
            chunked: request.chunked,
            max_body: request.max_body.clone(),
            prometheus_addr: self.results.prometheus_addr.clone(),
            connection: ConnectionOptions {
                dns: None,
                local_ips: laddr.map(Into::into),
                unix_socket: connection.unix_socket.clone(),
                io: connection.io.io,
                tls: TlsFiles {
                    insecure: tls.insecure,
                    ca: tls.root_certs.clone(),
                    cert: tls.cert.clone(),
                    key: tls.key.clone(),
                },
            },
        })
    }
}
