//! `plimsoll grpc`: calls one method, without a script.

use std::path::PathBuf;
use std::time::Duration;

use plimsoll_output::http_result::HttpResult;
use plimsoll_run::{GrpcOptions, SchemaOptions};
use plimsoll_scriptless::Streaming;
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run;
use plimsoll_terminal::streams::Stream;

use crate::args::{ConnectionArgs, FleetArgs, GlobalArgs, LoadArgs, RecordArgs, TlsArgs, WebArgs};
use crate::fleet;

/// `plimsoll grpc`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = include_str!("../help/grpc.txt"))]
pub struct GrpcArgs {
    /// Server, as HOST:PORT
    pub address: String,
    /// Method, as package.Service/Method
    #[arg(required_unless_present = "call", conflicts_with = "call")]
    pub method: Option<String>,
    #[command(flatten)]
    pub load: LoadArgs,
    #[command(flatten)]
    pub request: CallArgs,
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// Time limit for opening a connection
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = crate::args::time, help_heading = "Connections")]
    pub connect_timeout: Duration,
    /// Disable TLS
    #[arg(long, conflicts_with_all = ["insecure", "ca", "cert"], help_heading = "TLS")]
    pub plaintext: bool,
    #[command(flatten)]
    pub tls: TlsArgs,
    /// Name to send as the authority, and to verify the certificate against
    #[arg(
        long,
        visible_alias = "cname",
        value_name = "NAME",
        help_heading = "TLS"
    )]
    pub authority: Option<String>,
    #[command(flatten)]
    pub record: RecordArgs,
    #[command(flatten)]
    pub web: WebArgs,
    #[command(flatten)]
    pub fleet: FleetArgs,
}

/// Flags that describe the call.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Request")]
pub struct CallArgs {
    /// Method, as in ghz's flag of this name
    #[arg(long, value_name = "METHOD")]
    pub call: Option<String>,
    /// Description of the service: a .proto file (default: ask the server)
    #[arg(long, value_name = "FILE", conflicts_with = "protoset")]
    pub proto: Option<PathBuf>,
    /// Description of the service: a descriptor set written by protoc
    #[arg(long, value_name = "FILE")]
    pub protoset: Option<PathBuf>,
    /// Folders to search for imports; separated by commas, can be repeated
    #[arg(
        short,
        long,
        value_name = "PATH",
        value_delimiter = ',',
        requires = "proto"
    )]
    pub import_paths: Vec<PathBuf>,
    /// Metadata for reflection, as JSON
    #[arg(long, value_name = "JSON")]
    pub reflect_metadata: Option<String>,
    /// Message to send, as JSON; @FILE reads it from a file
    #[arg(long, value_name = "JSON|@FILE")]
    pub data: Option<String>,
    /// File with the message to send, as JSON
    #[arg(short = 'D', long, value_name = "FILE", conflicts_with = "data")]
    pub data_file: Option<String>,
    /// Metadata of calls: JSON, or NAME: VALUE; can be repeated
    #[arg(short, long, value_name = "JSON")]
    pub metadata: Vec<String>,
    /// Time limit for a call; 0 for none
    #[arg(short, long, value_name = "TIME", default_value = "20s", value_parser = crate::args::time)]
    pub timeout: Duration,
    /// End a streaming call after this number of messages
    #[arg(long, value_name = "N")]
    pub stream_call_count: Option<u64>,
    /// End a streaming call after this time
    #[arg(long, value_name = "TIME", value_parser = crate::args::time)]
    pub stream_call_duration: Option<Duration>,
    /// Time between two messages of a streaming client
    #[arg(long, value_name = "TIME", value_parser = crate::args::time)]
    pub stream_interval: Option<Duration>,
    /// Compress messages with gzip; compressed responses are always accepted
    #[arg(long)]
    pub gzip: bool,
    /// Maximum size of a received message, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub max_receive_size: usize,
}

impl GrpcArgs {
    /// The options of the run.
    pub fn options(&self) -> GrpcOptions {
        let request = &self.request;
        let file = request.data_file.as_ref().map(|file| format!("@{file}"));
        let method = self.method.clone().or(request.call.clone());
        GrpcOptions {
            address: self.address.clone(),
            method: method.unwrap_or_default(),
            schema: SchemaOptions {
                proto: request.proto.clone(),
                protoset: request.protoset.clone(),
                import_paths: request.import_paths.clone(),
                reflect_metadata: request.reflect_metadata.clone(),
            },
            metadata: request.metadata.clone(),
            data: request.data.clone().or(file),
            timeout: request.timeout,
            connect_timeout: self.connect_timeout,
            streaming: Streaming {
                messages: request.stream_call_count.filter(|count| *count > 0),
                duration: request.stream_call_duration.filter(|time| !time.is_zero()),
                interval: request.stream_interval.unwrap_or_default(),
            },
            gzip: request.gzip,
            max_receive: request.max_receive_size,
            plaintext: self.plaintext,
            authority: self.authority.clone(),
            load: self.load.options(self.connection.no_keepalive),
            connection: self.connection.options(&self.tls),
        }
    }
}

/// Makes the calls and prints the result.
pub fn grpc(args: &GrpcArgs, global: &GlobalArgs) -> Exit {
    let load = fleet::load(&args.fleet, || args.options().resolve());
    let presentation = args.record.presentation(&args.web, global);
    load_run::run_and_print(load, HttpResult::of_grpc, presentation, Stream::Stdout)
}
