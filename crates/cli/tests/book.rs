//! The documentation and the help of all commands as a book that mdBook builds.

use std::path::Path;
use std::process::Command;

#[test]
fn the_book_is_built_and_its_links_work() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/make");
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let made = Command::new(script)
        .arg(env!("CARGO_BIN_EXE_plimsoll"))
        .arg(&output)
        .output()
        .expect("this test needs Python 3");
    let errors = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{errors}");
    let page = |name: &str| {
        let path = output.join("html").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    assert!(page("commands/run.html").contains("--summary-trend-stats"));
    assert!(page("docs/guide/outputs.html").contains("K6_PROMETHEUS_RW_SERVER_URL"));
    assert!(page("index.html").contains("docs/pictures/terminal.svg"));
    // The book includes a search.
    let files = std::fs::read_dir(output.join("html")).expect("the book");
    let mut names = files.flatten().map(|file| file.file_name());
    assert!(names.any(|name| name.to_string_lossy().starts_with("searchindex")));
}
