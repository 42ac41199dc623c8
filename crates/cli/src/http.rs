//! `plimsoll http`: requests one URL, without a script.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::HttpOptions;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;
use plimsoll_terminal::streams::Stream;

use crate::args::{
    ConnectionArgs, FleetArgs, GlobalArgs, HttpVersionArgs, LoadArgs, RecordArgs, TlsArgs, WebArgs,
};
use crate::fleet;

/// `plimsoll http`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/http.txt"))]
pub struct HttpArgs {
    /// URL to request, like http://127.0.0.1:8080/path
    pub url: String,
    #[command(flatten)]
    pub load: LoadArgs,
    /// Users per HTTP/2 or HTTP/3 connection, each with one request at a time (h2load's -m)
    #[arg(long, value_name = "N", conflicts_with_all = ["h1", "no_keepalive", "loops"], help_heading = "Load")]
    pub streams: Option<u32>,
    #[command(flatten)]
    pub request: RequestArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    #[command(flatten)]
    pub version: HttpVersionArgs,
    #[command(flatten)]
    pub tls: TlsArgs,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub web: WebArgs,
    #[command(flatten)]
    pub fleet: FleetArgs,
}

/// Flags that describe the request.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Request")]
pub struct RequestArgs {
    /// Method (default: GET, or POST with a body)
    #[arg(short = 'm', long, value_name = "METHOD")]
    pub method: Option<String>,
    /// Header; can be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Body; @FILE reads it from a file
    #[arg(short = 'b', long, value_name = "TEXT|@FILE")]
    pub body: Option<String>,
    /// File with one body per line, sent in rotation
    #[arg(short = 'Z', long, value_name = "FILE", conflicts_with = "body")]
    pub body_lines: Option<PathBuf>,
    /// Time limit for a request; 0 for none
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::args::time)]
    pub timeout: Duration,
}

impl HttpArgs {
    /// The options of the run.
    pub fn options(&self) -> HttpOptions {
        HttpOptions {
            url: self.url.clone(),
            method: self.request.method.clone(),
            headers: self.request.headers.clone(),
            body: self.request.body.clone(),
            body_lines: self.request.body_lines.clone(),
            timeout: self.request.timeout,
            protocol: self.version.protocol(),
            streams: self.streams,
            load: self.load.options(self.connection.no_keepalive),
            connection: self.connection.options(&self.tls),
        }
    }
}

/// Sends the requests and prints the result.
pub fn http(args: &HttpArgs, global: &GlobalArgs) -> Exit {
    let load = fleet::load(&args.fleet, || args.options().resolve());
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(load, HttpResult::new, presentation, Stream::Stdout)
}
