//! The reports in `docs/reports` have no finding above a note.

use std::fs;
use std::path::Path;

use plimsoll_audit::{Level, Unreadable, audit};

#[test]
fn our_own_reports_have_no_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    let mut read = 0;
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let page = entry.unwrap().path().join("report.md");
        let Ok(text) = fs::read_to_string(&page) else {
            continue;
        };
        let name = page.display().to_string();
        let findings = match audit(&name, &text) {
            Ok(audit) => audit.findings,
            Err(Unreadable::NoBlock) => panic!("{name} has no result that the audit reads"),
            Err(why) => panic!("{name}: {why}"),
        };
        read += 1;
        let loud = findings
            .iter()
            .filter(|finding| finding.level > Level::Note);
        found.extend(loud.map(|finding| format!("{name}:{} {finding:#?}", finding.line)));
    }
    assert!(read >= 5, "only {read} reports");
    assert!(found.is_empty(), "{}", found.join("\n"));
}
