//! GitHub Actions workflow commands. GitHub shows each finding next to the line it refers to.

use crate::{Audit, Level};

/// Prints one command per finding, followed by a line with the totals.
pub fn github(audits: &[Audit]) -> String {
    let mut out = String::new();
    for finding in audits.iter().flat_map(|audit| &audit.findings) {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let message = format!(
            "{}\n{}\n{}",
            finding.evidence, finding.arithmetic, finding.advice
        );
        out.push_str(&format!(
            "::{command} file={},line={},title={} ({})::{}\n",
            escape_property(&finding.file),
            finding.line.max(1),
            escape_property(finding.conclusion),
            finding.rule,
            escape_data(&message)
        ));
    }
    out.push_str(&super::summary(audits));
    out.push('\n');
    out
}

/// Escapes a command's message: a raw line break would end the command.
fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a command's property: a raw comma or colon would end the property.
fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_whatever_it_quotes() {
        let text = "# a\n\n```\nhttp_reqs....: 100 10/s\nhttp_req_duration....: avg=5ms min=-1ms med=4ms max=9ms\n```\n";
        let audit = crate::audit("a,b:c.md", text).unwrap();
        let out = github(&[audit]);
        let start =
            "::error file=a%2Cb%3Ac.md,line=5,title=A duration is below zero (negative-duration)::";
        assert!(out.lines().any(|line| line.starts_with(start)), "{out}");
        assert!(
            out.lines()
                .all(|line| line.starts_with("::") || line.contains(" in 1 block")),
            "{out}"
        );
    }
}
