//! The published results have the questions, statements, words, tables and published figures of the lab files, and their
//! comparisons and warnings about means are judged by the rules of this version: all of these can change without a new run.
//! What was measured stays as it is. `UPDATE_SNAPSHOTS=1` writes them into the results.

use std::fs;
use std::path::Path;

use plimsoll_lab::conclude::{compare_again, findings};
use plimsoll_lab::{FormName, Lab};
use plimsoll_results::lab::{Comparison, LabResult, Published, PublishedError, Question};

/// The folder of each published report, its lab and its form.
const REPORTS: [(&str, &str, FormName); 6] = [
    ("zanzibar", "zanzibar", FormName::Standard),
    ("timezone", "timezone", FormName::Standard),
    ("statuslist", "statuslist", FormName::Standard),
    ("payload", "payload", FormName::Standard),
    ("payload-full", "payload", FormName::Full),
    ("gateway", "gateway", FormName::Standard),
];

#[test]
fn published_results_match_their_labs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (report, name, form) in REPORTS {
        let lab = Lab::read(&root.join("labs").join(name), form).expect(name);
        let path = root.join("docs/reports").join(report).join("result.json");
        let text = fs::read_to_string(&path).expect("a published result");
        let result: LabResult = serde_json::from_str(&text).expect("a result");
        let current = with_declarations(&lab, &result);
        assert!(!current.questions.is_empty(), "{name} asks nothing");
        for one in &current.questions {
            check(name, one);
        }
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            let text = serde_json::to_string(&current).expect("a result");
            fs::write(&path, text).expect("a published result");
            continue;
        }
        assert!(
            result == current,
            "{} is not what labs/{name} says: UPDATE_SNAPSHOTS=1 corrects it, and the report is rendered again",
            path.display()
        );
    }
}

/// The result with what the lab file declares now, and with its comparisons judged again.
fn with_declarations(lab: &Lab, result: &LabResult) -> LabResult {
    let mut current = result.clone();
    current.title.clone_from(&lab.title);
    current.question.clone_from(&lab.question);
    let questions = lab.questions.iter().map(|one| one.of_cells(lab.matrix()));
    current.questions = questions.collect();
    let tables = lab.tables.iter().map(|one| one.layout(lab.matrix()));
    current.tables = tables.collect();
    for axis in &mut current.axes {
        axis.words = lab.words.get(&axis.name).cloned().unwrap_or_default();
    }
    let avoided = lab.avoided.iter().map(|one| PublishedError {
        wrong: one.wrong.clone(),
        avoided: one.avoided.clone(),
    });
    current.published_errors = avoided.collect();
    for cell in &mut current.cells {
        findings::lower_about_means(lab, &mut cell.findings);
        let Some(declared) = lab.matrix().iter().find(|one| one.name == cell.name) else {
            continue;
        };
        let published = lab
            .published
            .iter()
            .filter(|one| one.when.holds(&declared.coordinates));
        cell.published = published
            .map(|one| Published {
                figure: one.figure.clone(),
                value: one.value,
                note: one.note.clone(),
            })
            .collect();
    }
    let mut judged = current.clone();
    compare_again(lab, &mut judged);
    // Numbers in JSON are rounded: equal comparisons stay as they are.
    if !are_alike(&current.comparisons, &judged.comparisons) {
        current.comparisons = judged.comparisons;
        current.pooled = judged.pooled;
    }
    current
}

/// A question has cells, and the figures in its answer come from them.
fn check(name: &str, one: &Question) {
    assert!(
        one.figure.is_none() || !one.cells.is_empty(),
        "{name}: no cell decides {:?}",
        one.text
    );
    let note = one.note.as_deref().unwrap_or_default();
    assert!(
        !note.contains(|c: char| c.is_ascii_digit()),
        "{name}: a number in {note:?}"
    );
}

/// Whether comparisons are equal except for the rounding of numbers in JSON.
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
