//! Markdown output, for a web page or a review comment.

use crate::Audit;

/// One table per file.
pub fn markdown(audits: &[Audit]) -> String {
    let mut out = format!("# Audit\n\n{}\n", super::summary(audits));
    for audit in audits {
        out.push_str(&format!("\n## {}\n\n", escape_cell(&audit.file)));
        if audit.findings.is_empty() {
            out.push_str("No finding.\n");
            continue;
        }
        out.push_str("| line | level | finding | figures | what follows | what to do |\n|---:|---|---|---|---|---|\n");
        for finding in &audit.findings {
            out.push_str(&format!(
                "| {} | {} | {} (`{}`) | {} | {} | {} |\n",
                finding.line,
                finding.level.name(),
                finding.conclusion,
                finding.rule,
                escape_cell(&finding.evidence),
                escape_cell(&finding.arithmetic),
                escape_cell(&finding.advice)
            ));
        }
    }
    out
}

/// Escapes text so that it can neither end its table cell nor become markup.
fn escape_cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '|' | '<' | '>' | '[' | ']' | '*' | '_' | '\\' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' | '\r' => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}
