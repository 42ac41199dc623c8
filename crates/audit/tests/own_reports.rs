//! The reports in `docs/reports` have no findings above a note.

use std::fs;
use std::path::{Path, PathBuf};

use plimsoll_audit::{Level, Unreadable, audit};

#[test]
fn our_own_reports_have_no_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reports");
    let mut read = 0;
    let mut found = Vec::new();
    for page in pages(&folder) {
        let text = fs::read_to_string(&page).unwrap();
        let name = page.display().to_string();
        let findings = match audit(&name, &text) {
            Ok(audit) => audit.findings,
            // The cells contain raw output. The audit cannot read the output of `plimsoll http`.
            Err(Unreadable::NoBlock) => continue,
            Err(why) => panic!("{name}: {why}"),
        };
        read += 1;
        let loud = findings
            .iter()
            .filter(|finding| finding.level > Level::Note);
        found.extend(loud.map(|finding| format!("{name}:{} {finding:#?}", finding.line)));
    }
    assert!(read >= 20, "only {read} pages");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The report of each lab, its page and its cells.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path());
    let all = folders.flat_map(|lab| {
        let cells = fs::read_dir(lab.join("cells")).into_iter().flatten();
        let cells = cells.map(|one| one.unwrap().path());
        let reports = ["report.md", "report.html"].map(|name| lab.join(name));
        reports.into_iter().chain(cells).collect::<Vec<_>>()
    });
    all.filter(|page| page.is_file()).collect()
}
