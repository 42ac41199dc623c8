use std::path::PathBuf;

/// `plimsoll grpc`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll grpc --plaintext 127.0.0.1:50051 helloworld.Greeter/SayHello    asks the server what it serves\n  \
    plimsoll grpc --plaintext --proto hello.proto -c 100 -z 10s --data '{\"name\":\"world\"}' 127.0.0.1:50051 helloworld.Greeter/SayHello\n  \
    plimsoll grpc --plaintext --rps 5000 -z 30s -d '{\"name\":\"{{.RequestNumber}}\"}' 127.0.0.1:50051 helloworld.Greeter/SayHello\n  \
    plimsoll grpc --plaintext --fresh -n 1000 127.0.0.1:50051 helloworld.Greeter/SayHello    connecting is measured too\n  \
    plimsoll grpc --plaintext --workers 100 --loops 50 -d @1MB.json 127.0.0.1:50051 files.Store/Put    fixed work: its makespan\n  \
    plimsoll grpc --cacert ca.pem --cert client.pem --key client.key --call a.B/C --json 127.0.0.1:443 > result.json\n\n\
    Each user keeps a connection of its own; --connections N has all users share N, and --fresh opens \
    one for each call. What opening them took stands under \"connecting\".\n\n\
    Data is a JSON message, or an array of them: taken in turn, or sent one after another where the client \
    streams. In it {{.RequestNumber}}, {{.WorkerID}}, {{.UUID}}, {{.Timestamp}}, {{.TimestampUnix}}, \
    {{randomInt 1 100}}, {{randomString 16}} are filled in for each call.\n\n\
    Without --rps the model is closed: each of -c users makes its next call when the last has ended, and only \
    service time is known. With --rps it is open: calls start on schedule, and response time counts from the \
    scheduled start.\n\n\
    Exit status: 0 every call ended with OK, 1 some did not, 104 a flag is wrong, 105 interrupted.")]
pub struct GrpcArgs {
    /// The server, as HOST:PORT
    pub address: String,
    /// The method, as package.Service/Method
    #[arg(required_unless_present = "call", conflicts_with = "call")]
    pub method: Option<String>,
    /// The method, as ghz has it
    #[arg(long, value_name = "METHOD")]
    pub call: Option<String>,
    /// Description of the service: a .proto file; without it the server is asked
    #[arg(long, value_name = "FILE", conflicts_with = "protoset")]
    pub proto: Option<PathBuf>,
    /// Description of the service: a set of descriptors, as protoc writes it
    #[arg(long, value_name = "FILE")]
    pub protoset: Option<PathBuf>,
    /// Where imports are looked for; several with commas, or given several times
    #[arg(
        short = 'i',
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
    #[arg(short = 'd', long, value_name = "JSON")]
    pub data: Vec<String>,
    /// File with the message to send, as JSON
    #[arg(short = 'D', long, value_name = "FILE", conflicts_with = "data")]
    pub data_file: Option<PathBuf>,
    /// Metadata of calls: JSON, or NAME: VALUE; give it several times
    #[arg(short = 'm', long, value_name = "JSON")]
    pub metadata: Vec<String>,
    /// Virtual users
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    pub concurrency: u32,
    /// Stop after so many calls; -z is then the limit
    #[arg(
        short = 'n',
        long,
        alias = "requests",
        value_name = "N",
        conflicts_with = "rps"
    )]
    pub total: Option<u64>,
    /// Fixed work: so many users at once, each making --loops calls
    #[arg(long, value_name = "N", requires = "loops", conflicts_with_all = ["rps", "total", "concurrency"])]
    pub workers: Option<u32>,
    /// Fixed work: calls that each of --workers makes
    #[arg(long, value_name = "N", requires = "workers")]
    pub loops: Option<u64>,
    /// How long; 10s by default, and as long as it takes with --loops
    #[arg(short = 'z', long, value_name = "TIME")]
    pub duration: Option<String>,
    /// Calls per second (open model), like 200, 10.5 or 600/m; users are added as needed
    #[arg(short = 'r', long, alias = "rate", value_name = "N[/TIME]", value_parser = plimsoll_plan::Rate::parse)]
    pub rps: Option<plimsoll_plan::Rate>,
    /// Users at the most in the open model
    #[arg(long, value_name = "N", requires = "rps")]
    pub max_users: Option<u32>,
    /// Number of connections that all users share; or shared (one), kept (one each, the default)
    /// or fresh (one for each call)
    #[arg(long, value_name = "N|USE", conflicts_with = "fresh")]
    pub connections: Option<super::ConnectionsFlag>,
    /// Fixed work: open connections within the makespan instead of before it
    #[arg(long, requires = "workers")]
    pub include_connecting: bool,
    /// A new connection for each call
    #[arg(long)]
    pub fresh: bool,
    /// Time limit of a call; 0 for none
    #[arg(short, long, value_name = "TIME", default_value = "20s")]
    pub timeout: String,
    /// Time limit of opening a connection
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub connect_timeout: String,
    /// Messages after which a streaming call is ended
    #[arg(long, value_name = "N")]
    pub stream_call_count: Option<u64>,
    /// Time after which a streaming call is ended
    #[arg(long, value_name = "TIME")]
    pub stream_call_duration: Option<String>,
    /// Time between two messages of a streaming client
    #[arg(long, value_name = "TIME")]
    pub stream_interval: Option<String>,
    /// Pack messages with gzip; packed answers are always read
    #[arg(long)]
    pub gzip: bool,
    /// Longest message that is received, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub max_receive_size: usize,
    /// No TLS
    #[arg(long, visible_alias = "insecure")]
    pub plaintext: bool,
    /// Certificates that are trusted (PEM), beside the system's
    #[arg(long, value_name = "FILE", conflicts_with = "plaintext")]
    pub cacert: Option<PathBuf>,
    /// Client certificate (PEM)
    #[arg(
        long,
        value_name = "FILE",
        requires = "key",
        conflicts_with = "plaintext"
    )]
    pub cert: Option<PathBuf>,
    /// Its key (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Accept any certificate
    #[arg(
        short = 'k',
        long = "skip-tls",
        alias = "skipTLS",
        conflicts_with = "plaintext"
    )]
    pub skip_tls: bool,
    /// Name that calls, and the check of the certificate, go by
    #[arg(long, visible_alias = "cname", value_name = "NAME")]
    pub authority: Option<String>,
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
