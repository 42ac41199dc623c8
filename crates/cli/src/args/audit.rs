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
#[command(after_long_help = include_str!("../../help/audit.txt"))]
pub struct AuditArgs {
    /// Reports to check; - reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<std::path::PathBuf>,
    /// Output format; github prints annotations for a workflow
    #[arg(long, value_enum, default_value = "text")]
    pub format: AuditFormat,
}
