//! The published results contain the questions, statements, words and tables of the lab files, and
//! the rules of this version judge their comparisons. All of these can change without a new run.
//! `UPDATE_SNAPSHOTS=1` updates the results.

use std::fs;
use std::path::Path;

use plimsoll_lab::conclude::compare_again;
use plimsoll_lab::{Lab, Which};
use plimsoll_results::lab::{Asked, Comparison, LabResult, TableLayout};

#[test]
fn published_results_ask_what_their_labs_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in ["zanzibar", "timezone", "statuslist", "payload", "gateway"] {
        let lab = Lab::read(&root.join("labs").join(name), Which::Standard).expect(name);
        let asked: Vec<Asked> = lab
            .asked
            .iter()
            .map(|one| one.of_cells(lab.matrix()))
            .collect();
        assert!(!asked.is_empty(), "{name} has no questions");
        for one in &asked {
            assert!(
                one.figure.is_none() || !one.cells.is_empty(),
                "{name}: no cell provides the figure of {:?}",
                one.text
            );
            // Figures must come from the cells.
            let note = one.note.as_deref().unwrap_or_default();
            assert!(
                !note.contains(|c: char| c.is_ascii_digit()),
                "{name}: the note {note:?} contains a number"
            );
        }
        let tables = lab.tables.iter().map(|one| one.layout(lab.matrix()));
        let tables: Vec<TableLayout> = tables.collect();
        let path = root.join("docs/reports").join(name).join("result.json");
        let text = fs::read_to_string(&path).expect("a published result");
        let mut result: LabResult = serde_json::from_str(&text).expect("a result");
        let mut judged = result.clone();
        compare_again(&lab, &mut judged);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            result.asked.clone_from(&asked);
            result.tables.clone_from(&tables);
            result.comparisons.clone_from(&judged.comparisons);
            result.pooled.clone_from(&judged.pooled);
            for axis in &mut result.axes {
                axis.words = lab.words.get(&axis.name).cloned().unwrap_or_default();
            }
            let text = serde_json::to_string(&result).expect("a result");
            fs::write(&path, text).expect("a published result");
        }
        let words = |name: &str| lab.words.get(name).cloned().unwrap_or_default();
        assert!(
            result.asked == asked
                && result.tables == tables
                && result
                    .axes
                    .iter()
                    .all(|axis| axis.words == words(&axis.name))
                && are_alike(&result.comparisons, &judged.comparisons),
            "{} does not match labs/{name}: correct it with UPDATE_SNAPSHOTS=1, and render the report again",
            path.display()
        );
    }
}

/// Whether comparisons are equal except for rounding in JSON.
fn are_alike(one: &[Comparison], other: &[Comparison]) -> bool {
    let rounded = |comparison: &Comparison| {
        let round = |value: f64| format!("{value:.9e}");
        let interval = comparison
            .interval
            .map(|(low, high)| [round(low), round(high)]);
        let figures = [
            comparison.ratio,
            comparison.floor,
            comparison.p,
            comparison.at_most,
        ];
        let words = Comparison {
            ratio: None,
            interval: None,
            floor: None,
            p: None,
            at_most: None,
            ..comparison.clone()
        };
        (words, interval, figures.map(|value| value.map(round)))
    };
    one.iter().map(rounded).eq(other.iter().map(rounded))
}
