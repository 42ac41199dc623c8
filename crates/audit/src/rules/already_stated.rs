//! Findings that the page itself already states.

use crate::finding::Level;
use crate::report::{Findings, Report};

/// Whether a line contains the rule's name and the same evidence, as in the findings section of a
/// lab report. Readers know this finding already, so it becomes a note.
pub fn demote_stated_findings(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let loud = findings
        .found
        .iter_mut()
        .filter(|finding| finding.level > Level::Note);
    for finding in loud {
        let name = format!("`{}`", finding.rule);
        let is_stated = report
            .text
            .lines()
            .filter(|line| line.contains(&name))
            .any(|line| line.replace('\\', "").contains(&finding.evidence));
        if is_stated {
            finding.level = Level::Note;
        }
    }
}
