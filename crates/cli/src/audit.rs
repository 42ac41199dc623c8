//! `plimsoll audit`: checks the reports of load-test tools.

use plimsoll_audit::{Audit, Level, formats};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::messages;

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
#[command(after_long_help = include_str!("../help/audit.txt"))]
pub struct AuditArgs {
    /// Reports to check; - reads stdin
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<std::path::PathBuf>,
    /// Output format; github prints annotations for a workflow
    #[arg(long, value_enum, default_value = "text")]
    pub format: AuditFormat,
}

/// Checks the reports and prints the findings.
pub fn audit(args: &AuditArgs) -> Exit {
    let mut audits: Vec<Audit> = Vec::new();
    let mut unreadable = false;
    for path in &args.files {
        match plimsoll_audit::audit_file(path) {
            Ok(audit) => audits.push(audit),
            Err(why) => {
                unreadable = true;
                messages::print_error(&format!("{}: {why}", path.display()));
            }
        }
    }
    let text = match args.format {
        AuditFormat::Text => formats::text(&audits),
        AuditFormat::Json => formats::json(&audits),
        AuditFormat::Markdown => formats::markdown(&audits),
        AuditFormat::Github => formats::github(&audits),
        AuditFormat::Sarif => formats::sarif(&audits, env!("CARGO_PKG_VERSION")),
    };
    if !audits.is_empty() || args.format != AuditFormat::Text {
        messages::print_stdout(text.as_bytes());
    }
    let found = audits
        .iter()
        .flat_map(|audit| &audit.findings)
        .any(|finding| finding.level > Level::Note);
    match (unreadable, found) {
        (true, _) => Exit::UNREADABLE,
        (false, true) => Exit::FINDINGS,
        (false, false) => Exit::SUCCESS,
    }
}
