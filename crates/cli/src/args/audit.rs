//! `plimsoll audit`.

/// Output format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AuditFormat {
    Text,
    Json,
    Markdown,
    Sarif,
    Github,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    plimsoll audit report.txt docs/benchmarks.md\n  \
    wrk -t2 -c100 -d10s http://127.0.0.1:8080/ | plimsoll audit -\n  \
    plimsoll audit --format sarif results/*.txt > findings.sarif\n\n\
    Reads the output of k6, vegeta, iperf3, wrk, wrk2, oha, hey, ab, ghz, h2load, \
    bombardier, autocannon and drill, text or JSON, alone or anywhere in a Markdown page, \
    and the result files of TechEmpower and the-benchmarker.\n\n\
    Exit status: 0 no finding, or notes only; 1 a warning or an error; 2 a file could not be read.")]
pub struct AuditArgs {
    /// Reports to check; - reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<std::path::PathBuf>,
    /// Output format; github prints annotations for a workflow
    #[arg(long, value_enum, default_value = "text")]
    pub format: AuditFormat,
}
