//! Runs every case in `cases/` and compares the result with a recording of the real k6.
//!
//! `cases/pending.txt` lists the cases that still differ, one per line. All others must match. If a listed case
//! matches, the output names it, so that it can be removed from the list.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::path::Path;

use plimsoll_testkit::cases::Case;
use plimsoll_testkit::cases::suite;

/// Most cases wait for timers and servers, but two concurrent cases can use both cores.
const AT_ONCE: usize = 2;

#[test]
fn every_case_matches_its_recording() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let program = Path::new(env!("CARGO_BIN_EXE_plimsoll"));
    let pending = fs::read_to_string(root.join("pending.txt")).unwrap_or_default();
    let pending: BTreeSet<&str> = pending.lines().map(str::trim).collect();

    let mut report = String::new();
    let mut wrong = 0;
    let outcomes = suite::run(Case::read_all(&root, &[])?, program, AT_ONCE)?;
    for outcome in &outcomes {
        let name = outcome.case.name.as_str();
        match (outcome.passed(), pending.contains(name)) {
            (true, false) => {}
            (true, true) => {
                report += &format!("\n{name} matches now: remove it from cases/pending.txt")
            }
            (false, true) => {}
            (false, false) => {
                wrong += 1;
                report += &format!("\n{name}: {}", outcome.case.settings.about);
                for difference in &outcome.differences {
                    report += &format!("\n    {difference}");
                }
            }
        }
    }
    assert!(
        wrong == 0,
        "{wrong} of {} cases differ from cases/*/*/expected.json:{report}",
        outcomes.len()
    );
    assert!(
        outcomes.len() >= 150,
        "only {} cases were found",
        outcomes.len()
    );
    Ok(())
}
