//! A report stays short enough to read, however many cells the lab has.

mod support;

use plimsoll_report::{html, markdown};
use plimsoll_results::lab::LabResult;
use support::fixture;

const MARKDOWN_BYTES: usize = 60_000;
const MARKDOWN_LINES: usize = 400;
const PAGE_BYTES: usize = 600_000;

fn check(name: &str, result: &LabResult) {
    let files = markdown(result);
    let (path, report) = &files[0];
    assert_eq!(path, "report.md");
    assert!(
        report.len() <= MARKDOWN_BYTES && report.lines().count() <= MARKDOWN_LINES,
        "{name}: report.md has {} bytes and {} lines",
        report.len(),
        report.lines().count()
    );
    let page = html(result);
    assert!(
        page.len() <= PAGE_BYTES,
        "{name}: report.html has {} bytes",
        page.len()
    );
    // Nothing is lost: every cell has a file with its runs, and a heading on the page.
    for (number, cell) in result.cells.iter().enumerate() {
        let file = files
            .iter()
            .find(|(path, _)| path.starts_with(&format!("cells/cell-{}-", number + 1)));
        let (_, text) = file.unwrap_or_else(|| panic!("{name}: no file of {}", cell.name));
        assert!(text.contains("*Runs*"), "{name}: {}", cell.name);
        assert!(page.contains(&format!("id=\"cell-{}-", number + 1)));
    }
}

/// As many cells as the largest of the five labs, with as many runs, and four times as many.
#[test]
fn reports_stay_within_their_budgets() {
    let full = fixture::full();
    for copies in [1, 3, 10] {
        let result = fixture::repeated(&full, copies);
        check(&format!("{} cells", result.cells.len()), &result);
    }
}

#[test]
fn a_small_report_has_all_evidence_on_its_page() {
    let mut result = fixture::full();
    result.cells.truncate(4);
    let page = html(&result);
    assert!(!page.contains("also have:"));
    for part in ["Every request of", "Output of run 6", "Resource usage"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn links_between_files_lead_to_files() {
    let files = markdown(&fixture::full());
    let mut links = 0;
    for (path, text) in &files {
        let up = if path.starts_with("cells/") {
            "../"
        } else {
            ""
        };
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|target| target.contains(".md"))
        {
            let target = target.split('#').next().unwrap_or_default();
            let target = target.strip_prefix(up).unwrap_or(target);
            links += 1;
            assert!(
                files.iter().any(|(path, _)| path == target),
                "{path}: {target}"
            );
        }
    }
    assert!(links > 20, "{links}");
}
