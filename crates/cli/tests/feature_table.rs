//! Checks the table of features of Plimsoll and other tools. Every feature that it claims for Plimsoll exists, and
//! every feature that two other tools have exists or is explained.

mod plimsoll;

use std::collections::BTreeSet;
use std::path::Path;

use plimsoll::plimsoll;

/// The rows of all tables: the feature, Plimsoll's cell, and the other tools' cells.
fn rows() -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/features.md");
    let text = std::fs::read_to_string(path).expect("the table");
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let rows = rows.filter(|line| !line.starts_with("| |") && !line.starts_with("|---"));
    rows.map(|line| {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    })
    .collect()
}

/// The strings between backticks.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn help(arguments: &[&str]) -> String {
    let ended = plimsoll(arguments).arg("--help").run();
    assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.stderr);
    ended.stdout
}

#[test]
fn the_features_in_the_table_exist() {
    let commands: BTreeSet<String> = help(&[])
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    let all: String = ["run", "http", "attack", "grpc", "find", "compare", "new"]
        .iter()
        .map(|command| help(&[command]))
        .collect();
    let mut count = 0;
    for row in rows() {
        for code in code(&row[1]) {
            count += 1;
            let mut words = code.split(' ');
            let first = words.next().unwrap_or_default();
            let rest: Vec<&str> = words.collect();
            let is_known = if first.starts_with("--") {
                all.contains(first)
            } else if rest.is_empty() && !commands.contains(first) {
                // The name of a format, which belongs to the preceding command.
                all.contains(first)
            } else {
                commands.contains(first) && rest.iter().all(|word| all.contains(word))
            };
            assert!(is_known, "{code} in the row {}", row[0]);
        }
    }
    assert!(count > 15, "{count}");
}

#[test]
fn features_that_two_other_tools_have_exist_or_are_explained() {
    let has = |cell: &str| !cell.starts_with('–') && !cell.starts_with("ext.") && cell != "paid";
    for row in rows() {
        assert_eq!(row.len(), 7, "{row:?}");
        let others = row.iter().skip(2).filter(|cell| has(cell)).count();
        // A note or a workaround.
        let is_explained = row[1].chars().count() > 1;
        assert!(others < 2 || has(&row[1]) || is_explained, "{row:?}");
    }
}
