/// `plimsoll http`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll http http://127.0.0.1:8080/                    fifty connections, ten seconds\n  \
    plimsoll http -c 100 -d 1m --h2 -k https://127.0.0.1:8443/\n  \
    plimsoll http -r 5000 -d 30s http://127.0.0.1:8080/     open model: 5000 a second\n  \
    plimsoll http -n 1000 -m POST -H 'Content-Type: application/json' -b @body.json http://127.0.0.1:8080/\n  \
    plimsoll http -c 10 --streams 10 --h2c http://127.0.0.1:8080/   ten connections, ten streams at once on each\n  \
    plimsoll http --unix-socket /run/server.sock http://localhost/\n  \
    plimsoll http --workers 400 --loops 10 -b @1MB.bin http://127.0.0.1:8080/   fixed work: its makespan\n  \
    plimsoll http --json http://127.0.0.1:8080/ > result.json\n\n\
    Without --rate the model is closed: each of -c users sends its next request \
    when the last is answered, and only service time is known. With --rate it is open: requests \
    start on schedule, and response time counts from the scheduled start.\n\n\
    Exit status: 0 every request was answered, 1 some failed, 104 a flag is wrong, 105 interrupted.")]
pub struct HttpArgs {
    /// The address, like http://127.0.0.1:8080/path
    pub url: String,
    /// Connections (50 by default), each with a virtual user of its own, or with --streams users;
    /// with --workers: shared, kept (default) or fresh
    #[arg(short, long, value_name = "N|USE")]
    pub connections: Option<super::ConnectionsFlag>,
    /// How long; 10s by default, and as long as it takes with --loops
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Requests per second (open model), like 200, 10.5 or 600/m; users are added as needed
    #[arg(short, long, value_name = "N[/TIME]", value_parser = plimsoll_plan::Rate::parse)]
    pub rate: Option<plimsoll_plan::Rate>,
    /// Users at the most in the open model
    #[arg(long, value_name = "N", requires = "rate")]
    pub max_users: Option<u32>,
    /// Stop after so many requests; -d is then the limit
    #[arg(short = 'n', long, value_name = "N", conflicts_with = "rate")]
    pub requests: Option<u64>,
    /// Fixed work: so many users at once, each making --loops calls
    #[arg(long, value_name = "N", requires = "loops", conflicts_with_all = ["rate", "requests"])]
    pub workers: Option<u32>,
    /// Fixed work: calls that each of --workers makes
    #[arg(long, value_name = "N", requires = "workers")]
    pub loops: Option<u64>,
    /// Fixed work: open connections within the makespan instead of before it
    #[arg(long, requires = "workers")]
    pub include_connecting: bool,
    /// Method
    #[arg(short = 'm', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Header; give it several times
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Body; @FILE reads it from a file
    #[arg(short = 'b', long, value_name = "TEXT|@FILE")]
    pub body: Option<String>,
    /// Time limit of a request
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub timeout: String,
    /// HTTP/1.1 only
    #[arg(long, group = "version")]
    pub h1: bool,
    /// HTTP/2 over TLS only
    #[arg(long, group = "version")]
    pub h2: bool,
    /// HTTP/2 without TLS, with prior knowledge
    #[arg(long, group = "version")]
    pub h2c: bool,
    /// HTTP/3 only, over QUIC
    #[arg(long, group = "version")]
    pub h3: bool,
    /// HTTP/2 or HTTP/3: so many users share each connection, one request at once for each (h2load's -m)
    #[arg(long, value_name = "N", conflicts_with_all = ["h1", "no_keepalive", "workers"])]
    pub streams: Option<u32>,
    /// Connect through this unix socket, whatever the URL's host; @NAME for an abstract one
    #[arg(long, value_name = "PATH")]
    pub unix_socket: Option<String>,
    /// Accept any certificate
    #[arg(short = 'k', long)]
    pub insecure: bool,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<std::path::PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<std::path::PathBuf>,
    /// A new connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Worker threads; by default one for each processor this process may use
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// One JSON object on standard output instead of the text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub record: super::RecordArgs,
    #[command(flatten)]
    pub io: super::IoArgs,
}
