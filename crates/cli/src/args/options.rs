use clap::Args;

/// The script's options, as flags. Each overrides the script, the environment and the config file.
#[allow(dead_code)] // The values of most flags are read from `GlobalArgs::given`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options (each overrides the script's own)")]
pub struct OptionArgs {
    /// Virtual users
    #[arg(
        short = 'u',
        long,
        visible_alias = "users",
        value_name = "N",
        allow_negative_numbers = true
    )]
    pub vus: Option<String>,
    /// Duration of the run
    #[arg(short, long, value_name = "TIME", allow_hyphen_values = true)]
    pub duration: Option<String>,
    /// Total iterations of all users
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    pub iterations: Option<String>,
    /// Iterations per second (open model), like 200, 10.5 or 600/m, instead of the script's scenario; -u: initial users
    #[arg(long, value_name = "N[/TIME]", value_parser = plimsoll_plan::Rate::parse, conflicts_with_all = ["iterations", "stage"])]
    pub rate: Option<plimsoll_plan::Rate>,
    #[command(flatten)]
    pub limit: super::MaxUsersArgs,
    /// Stage of a ramp; can be repeated
    #[arg(short, long, value_name = "TIME:USERS", allow_hyphen_values = true)]
    pub stage: Vec<String>,
    /// Segment of the run for this process, like 0:1/3
    #[arg(long, value_name = "FROM:TO")]
    pub execution_segment: Option<String>,
    /// All segments of the run, like 0,1/3,2/3,1
    #[arg(long, value_name = "LIST")]
    pub execution_segment_sequence: Option<String>,
    /// Create the users, then wait for plimsoll resume
    #[arg(short, long)]
    pub paused: bool,
    /// Skip setup()
    #[arg(long)]
    pub no_setup: bool,
    /// Skip teardown()
    #[arg(long)]
    pub no_teardown: bool,
    /// Maximum number of redirects per request
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_redirects: Option<String>,
    /// Maximum parallel requests of one http.batch()
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub batch: Option<String>,
    /// Maximum parallel requests of one http.batch() to one host
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub batch_per_host: Option<String>,
    /// Maximum requests per second of all users together (as in k6; --rate sets a rate of iterations)
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub rps: Option<String>,
    /// User-Agent header
    #[arg(long, value_name = "TEXT")]
    pub user_agent: Option<String>,
    /// Log HTTP requests and responses; =full includes bodies
    #[arg(long, value_name = "DETAIL", num_args = 0..=1, require_equals = true, default_missing_value = "headers")]
    pub http_debug: Option<String>,
    /// Open new connections for each iteration
    #[arg(long)]
    pub no_vu_connection_reuse: bool,
    /// Minimum duration of an iteration
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub min_iteration_duration: Option<String>,
    /// Throw an exception if a request fails
    #[arg(short = 'w', long)]
    pub throw: bool,
    /// Refuse to connect to these addresses (CIDR)
    #[arg(long, value_name = "RANGE")]
    pub blacklist_ip: Vec<String>,
    /// Refuse to connect to these host names, like *.example.com
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub block_hostnames: Vec<String>,
    /// Statistics of trends in the summary, like avg,p(99)
    #[arg(long, value_name = "LIST")]
    pub summary_trend_stats: Option<String>,
    /// Time unit in the summary: s, ms, us
    #[arg(long, value_name = "UNIT")]
    pub summary_time_unit: Option<String>,
    /// System tags to add to samples
    #[arg(long, value_name = "LIST")]
    pub system_tags: Option<String>,
    /// Tag to add to every sample
    #[arg(long, value_name = "NAME=VALUE")]
    pub tag: Vec<String>,
    /// Write console messages to this file
    #[arg(long, value_name = "FILE")]
    pub console_output: Option<String>,
    /// Discard response bodies
    #[arg(long)]
    pub discard_response_bodies: bool,
    /// Maximum connections per user to one host; further requests wait
    #[arg(long, value_name = "N")]
    pub connections_per_user: Option<String>,
    /// Maximum parallel requests on one HTTP/2 connection; further requests use another connection, or wait
    #[arg(long, value_name = "N")]
    pub streams_per_connection: Option<String>,
    #[command(flatten)]
    pub connection: super::ConnectionArgs,
    #[command(flatten)]
    pub version: super::HttpVersionArgs,
    #[command(flatten)]
    pub tls: super::TlsArgs,
}
