//! The published results have the questions, statements and tables of the lab files: their words can change without a new
//! run.
//! `UPDATE_SNAPSHOTS=1` writes them into the results.

use std::fs;
use std::path::Path;

use plimsoll_lab::{Lab, Which};
use plimsoll_results::lab::{Asked, LabResult, TableLayout};

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
        assert!(!asked.is_empty(), "{name} asks nothing");
        for one in &asked {
            assert!(
                one.figure.is_none() || !one.cells.is_empty(),
                "{name}: no cell decides {:?}",
                one.text
            );
            // Figures come from the cells.
            let note = one.note.as_deref().unwrap_or_default();
            assert!(
                !note.contains(|c: char| c.is_ascii_digit()),
                "{name}: a number in {note:?}"
            );
        }
        let tables = lab.tables.iter().map(|one| one.layout(lab.matrix()));
        let tables: Vec<TableLayout> = tables.collect();
        let path = root.join("docs/reports").join(name).join("result.json");
        let text = fs::read_to_string(&path).expect("a published result");
        let mut result: LabResult = serde_json::from_str(&text).expect("a result");
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            result.asked.clone_from(&asked);
            result.tables.clone_from(&tables);
            let text = serde_json::to_string(&result).expect("a result");
            fs::write(&path, text).expect("a published result");
        }
        assert!(
            result.asked == asked && result.tables == tables,
            "{} is not what labs/{name} says: UPDATE_SNAPSHOTS=1 corrects it, and the report is rendered again",
            path.display()
        );
    }
}
