//! `plimsoll audit`.

/// How the findings are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AuditFormat {
    Text,
    Json,
    Markdown,
    Sarif,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll audit report.txt docs/benchmarks.md\n  \
    wrk -t2 -c100 -d10s http://127.0.0.1:8080/ | plimsoll audit -\n  \
    plimsoll audit --format sarif results/*.txt > findings.sarif\n\n\
    Reads the text and JSON summaries of k6, vegeta, iperf3, wrk, wrk2, oha, hey, \
    ab, ghz and h2load, and Markdown documents with such blocks in them.\n\n\
    Exit status: 0 nothing found, or notes alone; 1 something found; 2 a file could not be read.")]
pub struct AuditArgs {
    /// The reports; - reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<std::path::PathBuf>,
    /// How the findings are written
    #[arg(long, value_enum, default_value = "text")]
    pub format: AuditFormat,
}
