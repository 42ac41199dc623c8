use clap::Args;

/// The script's options, as flags. Each overrides the script, the
/// environment and the config file.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options (each overrides the script's own)")]
pub struct OptionArgs {
    /// Virtual users
    #[arg(short = 'u', long, value_name = "N", allow_negative_numbers = true)]
    pub vus: Option<String>,
    /// How long
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<String>,
    /// How many iterations for all users together
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub iterations: Option<String>,
    /// Iterations per second, like 200, 10.5 or 600/m: an open model in place of the script's scenario; -d says how long, -u how many users to begin with
    #[arg(long, value_name = "N[/TIME]", value_parser = plimsoll_plan::Rate::parse, conflicts_with_all = ["iterations", "stage"])]
    pub rate: Option<plimsoll_plan::Rate>,
    /// Most virtual users with --rate; by default ten times as many as at the start, and at least 1,000
    #[arg(long, value_name = "N", requires = "rate")]
    pub max_users: Option<u32>,
    /// One step of a ramp; give it several times
    #[arg(short, long = "stage", value_name = "TIME:USERS")]
    pub stage: Vec<String>,
    /// This process's part of the run, like 0:1/3
    #[arg(long, value_name = "FROM:TO")]
    pub execution_segment: Option<String>,
    /// All parts of the run, like 0,1/3,2/3,1
    #[arg(long, value_name = "LIST")]
    pub execution_segment_sequence: Option<String>,
    /// Do not begin before being told to
    #[arg(short, long, hide = true)]
    pub paused: bool,
    /// Skip setup()
    #[arg(long)]
    pub no_setup: bool,
    /// Skip teardown()
    #[arg(long)]
    pub no_teardown: bool,
    /// Redirects followed per request
    #[arg(long, value_name = "N")]
    pub max_redirects: Option<String>,
    /// Requests of one http.batch() at once
    #[arg(long, value_name = "N")]
    pub batch: Option<String>,
    /// The same, to one host
    #[arg(long, value_name = "N")]
    pub batch_per_host: Option<String>,
    /// Requests per second of all users, at the most
    #[arg(long, value_name = "N")]
    pub rps: Option<String>,
    /// User-Agent header
    #[arg(long, value_name = "TEXT")]
    pub user_agent: Option<String>,
    /// Log requests and answers; =full with bodies
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "headers")]
    pub http_debug: Option<String>,
    /// Accept any certificate
    #[arg(long)]
    pub insecure_skip_tls_verify: bool,
    /// A new connection for each request
    #[arg(long)]
    pub no_connection_reuse: bool,
    /// New connections for each iteration
    #[arg(long)]
    pub no_vu_connection_reuse: bool,
    /// Least time of an iteration
    #[arg(long, value_name = "TIME")]
    pub min_iteration_duration: Option<String>,
    /// Throw where a request fails
    #[arg(short = 'w', long)]
    pub throw: bool,
    /// Refuse to connect to these addresses (CIDR)
    #[arg(long, value_name = "RANGE")]
    pub blacklist_ip: Vec<String>,
    /// Refuse to connect to these names; *.example.com allowed
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub block_hostnames: Vec<String>,
    /// Figures of trends in the summary, like avg,p(99)
    #[arg(long, value_name = "LIST")]
    pub summary_trend_stats: Option<String>,
    /// Unit of times in the summary: s, ms, us
    #[arg(long, value_name = "UNIT")]
    pub summary_time_unit: Option<String>,
    /// System tags that samples carry
    #[arg(long, value_name = "LIST")]
    pub system_tags: Option<String>,
    /// Tag for every sample
    #[arg(long = "tag", value_name = "NAME=VALUE")]
    pub tags: Vec<String>,
    /// Write console messages to this file
    #[arg(long, value_name = "FILE")]
    pub console_output: Option<String>,
    /// Read answers, but keep no bodies
    #[arg(long)]
    pub discard_response_bodies: bool,
    /// Local addresses, dealt out to users: IP, range or CIDR
    #[arg(long, value_name = "LIST")]
    pub local_ips: Option<String>,
    /// Name resolution: ttl=5m,select=random,policy=preferIPv4
    #[arg(long, value_name = "HOW")]
    pub dns: Option<String>,
    /// HTTP version for every request: auto, http1, http2, h2c, http3
    #[arg(long, value_name = "VERSION")]
    pub protocol: Option<String>,
    /// Connections that a user keeps to one host; further requests wait
    #[arg(long, value_name = "N")]
    pub connections_per_user: Option<String>,
    /// Requests at once on one HTTP/2 connection; further ones take another, or wait
    #[arg(long, value_name = "N")]
    pub streams_per_connection: Option<String>,
    /// Connect through this unix socket, whatever the URL's host; @NAME for an abstract one
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<String>,
}
