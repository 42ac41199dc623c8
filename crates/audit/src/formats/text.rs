//! Plain text output, for a terminal.

use crate::Audit;

/// Prints one paragraph per finding, starting with `file:line`.
pub fn text(audits: &[Audit]) -> String {
    let mut out = String::new();
    for audit in audits {
        for finding in &audit.findings {
            out.push_str(&format!(
                "{}:{}: {}: {} [{}]{}\n    {}\n    {}\n    → {}\n\n",
                finding.file,
                finding.line,
                finding.level.name(),
                finding.conclusion,
                finding.rule,
                finding
                    .block
                    .map_or(String::new(), |block| format!(" block {block}")),
                finding.evidence,
                finding.arithmetic,
                finding.advice
            ));
        }
    }
    out.push_str(&super::summary(audits));
    out.push('\n');
    out
}
