//! Findings that the page itself states.

use crate::finding::Level;
use crate::report::{Findings, Report};

/// A line with the rule's name and the same evidence, such as in the list of findings of a lab's
/// report, tells the reader already. The finding becomes a note.
pub fn stated(report: &Report, findings: &mut Findings) {
    if !report.document.markdown {
        return;
    }
    let loud = findings
        .found
        .iter_mut()
        .filter(|finding| finding.level > Level::Note);
    for finding in loud {
        let name = format!("`{}`", finding.rule);
        let said = report
            .text
            .lines()
            .filter(|line| line.contains(&name))
            .any(|line| line.replace('\\', "").contains(&finding.evidence));
        if said {
            finding.level = Level::Note;
        }
    }
}
