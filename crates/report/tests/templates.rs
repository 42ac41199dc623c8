//! Tables and sentences in edge cases: one cell, suspect cells only, no failures, equal values,
//! missing cells.

mod support;

use plimsoll_report::{answer, html, prose};
use plimsoll_results::lab::{
    CellState, LabResult, LimitSearch, ObjectiveOutcome, Outcome, Variation,
};
use support::small::{FOUR, rates, small, table};
use support::{fixture, markdown};

fn never_the_same_range(result: &LabResult) {
    for line in prose(result).iter().chain(&answer(result)) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for at in 0..words.len() {
            if words[at] == "from" {
                for to in at + 1..words.len().min(at + 5) {
                    let (from, until) = (&words[at + 1..to], &words[to..]);
                    assert!(
                        words[to] != "to" || !until[1..].starts_with(from),
                        "a range from a value to itself: {line}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_conclusion_begins_with_the_answer_to_a_tables_question() {
    let mut result = small(&FOUR);
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    assert_eq!(
        answer(&result)[0],
        "How many checks per second? sqlite: near 1000, far 110; pg: near 500, far 95.0 requests/s."
    );
    result.tables = vec![rates(&result, &["backend", "place"], &[])];
    assert_eq!(
        answer(&result)[0],
        "How many checks per second? sqlite: near 1000, far 110; pg: near 500, far 95.0 requests/s."
    );
}

#[test]
fn cells_have_the_words_of_the_lab() {
    let mut result = small(&FOUR);
    for (value, words) in [("sqlite", "SQLite"), ("pg", "PostgreSQL")] {
        result.axes[0].words.insert(value.into(), words.into());
    }
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    let pages = plimsoll_report::markdown(&result);
    let page = &pages[0].1;
    for part in [
        "| SQLite | 1000 ±1% | 110 ±9% |",
        "| SQLite | 1000 | 110 |",
        "[PostgreSQL, far](cells/cell-4-backend-pg-place-far.md)",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let first = page.split_once("## Audit").expect("an audit").0;
    assert!(
        !first.contains("backend=") && !first.contains("place="),
        "{first}"
    );
    let (path, text) = pages
        .iter()
        .find(|(path, _)| path.contains("cell-4"))
        .expect("a page");
    assert!(
        text.starts_with("# PostgreSQL, far **valid**"),
        "{path}: {text}"
    );
    assert!(
        text.contains("Its name in the lab: `backend=pg place=far`"),
        "{text}"
    );
    assert_eq!(
        answer(&result)[0],
        "How many checks per second? SQLite: near 1000, far 110; PostgreSQL: near 500, far 95.0 requests/s."
    );
}

/// The cells of `result` for each number of users.
fn for_users(mut result: LabResult, users: &[&str]) -> LabResult {
    let cells = std::mem::take(&mut result.cells);
    for (number, cell) in users
        .iter()
        .flat_map(|number| cells.iter().map(move |cell| (number, cell)))
    {
        let mut cell = cell.clone();
        cell.place.push(("users".to_owned(), (*number).to_owned()));
        cell.name = format!("{} users={number}", cell.name);
        result.cells.push(cell);
    }
    result.axes.push(fixture::axis("users", users));
    result
}

#[test]
fn the_answer_to_a_question_holds_the_compared_values_and_few_of_the_others() {
    let answer_text = |users: &[&str]| {
        let mut result = for_users(small(&FOUR), users);
        result.tables = vec![rates(&result, &["users"], &["place", "backend"])];
        answer(&result).swap_remove(0)
    };
    assert_eq!(
        answer_text(&["10", "100"]),
        "How many checks per second? 10 users, near: sqlite 1000, pg 500; 10 users, far: sqlite 110, pg 95.0; \
         100 users, near: sqlite 1000, pg 500; 100 users, far: sqlite 110, pg 95.0 requests/s."
    );
    // Six groups of two values are too many for a sentence, so only those of the first two numbers of users remain.
    assert_eq!(
        answer_text(&["10", "100", "200"]),
        "How many checks per second? 10 users, near: sqlite 1000, pg 500; 10 users, far: sqlite 110, pg 95.0; \
         100 users, near: sqlite 1000, pg 500; 100 users, far: sqlite 110, pg 95.0 requests/s."
    );
    // Sixteen rows are too many for a small table, so only the first value of the last axis remains.
    assert_eq!(
        answer_text(&["10", "20", "30", "40", "50", "60", "70", "80"]),
        "How many checks per second? With near: 10 users: sqlite 1000, pg 500; 20 users: sqlite 1000, pg 500; \
         30 users: sqlite 1000, pg 500; 40 users: sqlite 1000, pg 500 requests/s."
    );
}

#[test]
fn the_question_of_a_table_is_answered_only_by_valid_cells() {
    let mut result = small(&FOUR);
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    result.cells[0].verdict = "suspect".into();
    assert_eq!(
        answer(&result)[0],
        "How many checks per second? sqlite: far 110; pg: near 500, far 95.0 requests/s."
    );
    for cell in &mut result.cells[1..3] {
        cell.verdict = "suspect".into();
    }
    assert!(
        !answer(&result)
            .iter()
            .any(|line| line.starts_with("How many"))
    );
}

#[test]
fn sentences_beyond_the_first_150_words_are_collapsed() {
    let mut result = fixture::full();
    let page = markdown(&result);
    let conclusion = page.split_once("## Conclusion").expect("a conclusion").1;
    let (shown, rest) = conclusion
        .split_once("<details>")
        .expect("collapsed sentences");
    assert!(
        rest.starts_with("<summary>") && rest.contains("in full</summary>"),
        "{rest}"
    );
    let points = shown.lines().filter(|line| line.starts_with("- "));
    let words: usize = points.map(|line| line.split_whitespace().count() - 1).sum();
    assert!((50..=150).contains(&words), "{words}");
    // At least one sentence stays visible.
    result.comparisons.clear();
    let page = markdown(&result);
    let conclusion = page.split_once("## Conclusion").expect("a conclusion").1;
    let before_facts = conclusion.split("| | |").next().expect("a text");
    assert!(before_facts.contains("\n- "), "{before_facts}");
}

#[test]
fn one_cell_is_a_table_of_one_row() {
    let result = small(&FOUR[..1]);
    assert_eq!(
        table(&result),
        [
            "|   | measured, requests/s |",
            "| --- | --: |",
            "| all | 1000 ±1% |",
        ]
    );
    assert_eq!(
        answer(&result),
        ["Requests per second is 1000 requests/s (990 to 1010) with sqlite, near."]
    );
    never_the_same_range(&result);
}

#[test]
fn suspect_cells_are_marked_with_one_footnote_per_reason_and_excluded_from_the_conclusion() {
    let mut result = small(&FOUR);
    for (cell, share) in result.cells.iter_mut().zip([93, 95, 97, 91]) {
        cell.verdict = "suspect".into();
        cell.reasons = vec![format!(
            "repeat 1: client: a worker used {share}% of its processor"
        )];
    }
    result.comparisons = fixture::full().comparisons;
    result.comparisons.truncate(1);
    result.comparisons[0].cells = (result.cells[0].name.clone(), result.cells[2].name.clone());
    assert_eq!(
        table(&result)[2],
        "| sqlite | 1000 ±1% <sup>a</sup> | 110 ±9% <sup>a</sup> |"
    );
    let page = markdown(&result);
    assert_eq!(
        page.matches("- **a** suspect: A worker used 91 to 97% of its processor.")
            .count(),
        1
    );
    assert_eq!(
        answer(&result),
        [
            "No conclusion: no cell of this run is valid. The tables show what was measured, and why it is doubtful."
        ]
    );
    // With one of the two cells valid again, the comparison still does not count.
    result.cells[0].verdict = "valid".into();
    result.cells[0].reasons.clear();
    let lines = answer(&result);
    assert!(!lines[0].contains("longer"), "{lines:#?}");
    assert_eq!(
        lines.last().map(String::as_str),
        Some("No comparison counts: 1 with a cell that is not valid.")
    );
}

#[test]
fn a_suspect_search_is_not_in_the_conclusion() {
    let mut result = small(&FOUR);
    result.cells[0].limit = Some(LimitSearch {
        objective: "p95<100ms".into(),
        kept: Some(12_800.0),
        broken: Some(14_035.0),
        confirmed: true,
        ..LimitSearch::default()
    });
    assert!(answer(&result).iter().any(|line| line
        == "Sqlite, near: the highest rate that meets p95<100ms is between 12,800 and 14,035 requests/s."));
    result.cells[0].verdict = "suspect".into();
    let lines = answer(&result);
    assert!(
        !lines.iter().any(|line| line.contains("12,800")),
        "{lines:#?}"
    );
}

#[test]
fn zero_failures_and_equal_values_are_not_a_range() {
    let mut result = small(&[[0.0, 0.0, 0.0]; 4]);
    for cell in &mut result.cells {
        cell.figures[0].name = "failed_share".into();
        cell.figures[0].label = "share of failed requests".into();
        cell.figures[0].unit = "%".into();
        result.objectives.push(ObjectiveOutcome {
            objective: "failed_share at most 0".into(),
            cell: cell.name.clone(),
            measured: 0.0,
            limit: 0.0,
            unit: "%".into(),
            verdict: "kept".into(),
            within: None,
            interval_from: None,
            too_few: None,
        });
    }
    // "Nothing failed" is in the list of facts; any other result is a sentence.
    assert_eq!(
        answer(&result),
        ["Share of failed requests is 0 % in all 4 valid cells."]
    );
    assert!(
        markdown(&result).contains(
            "| failed requests | none in the 4 valid cells for which the lab allows none |"
        )
    );
    result.objectives[3].verdict = "broken".into();
    result.objectives[3].measured = 0.5;
    assert_eq!(
        answer(&result)[1],
        "Objective “share of failed requests at most 0”: met in 3 of its 4 valid cells; \
         missed in 1: 0.500 % with pg, far."
    );
    assert!(!markdown(&result).contains("| failed requests |"));
    result.objectives[3].verdict = "kept".into();
    result.objectives[3].measured = 0.0;
    for objective in &mut result.objectives {
        objective.objective = "requests_per_second at most 1".into();
        objective.interval_from = Some(Variation::OneRun);
    }
    assert!(answer(&result)[1].ends_with("met in all of its 4 valid cells (one run each)."));
    assert_eq!(table(&result)[2], "| sqlite | 0 | 0 |");
    for page in [markdown(&result), html(&result)] {
        assert!(!page.contains("from 0.00 % to 0.00 %"));
        assert!(!page.contains("NaN") && !page.contains("inf "));
    }
    never_the_same_range(&result);
    let equal = small(&[[500.0, 500.0, 500.0]; 4]);
    assert_eq!(
        answer(&equal),
        ["Requests per second is 500 requests/s in all 4 valid cells."]
    );
    never_the_same_range(&equal);
}

#[test]
fn missing_cells_say_so_in_their_place() {
    let mut result = small(&FOUR);
    result.cells[1].state = CellState::Missing;
    result.cells[1].figures.clear();
    result.cells[1].verdict.clear();
    result.cells[2].state = CellState::Failed("the database refused the connection".into());
    result.cells[2].figures.clear();
    result.cells[2].verdict.clear();
    // The lab has no such cell.
    result.cells.truncate(3);
    assert_eq!(
        table(&result),
        [
            "| backend | near | far |",
            "| --- | --: | --: |",
            "| sqlite | 1000 ±1% | no value <sup>a</sup> |",
            "| pg | no value <sup>b</sup> | – |",
        ]
    );
    let page = markdown(&result);
    assert!(page.contains("- **a** not measured: Not run yet."));
    assert!(page.contains("- **b** failed: The database refused the connection."));
    assert!(page.contains("1 of 3 cells; 1 failed; 1 not run yet"));
}

#[test]
fn no_fixture_has_a_range_from_a_value_to_itself() {
    for (_, result) in fixture::all() {
        never_the_same_range(&result);
    }
    let mut result = fixture::full();
    for comparison in &mut result.comparisons {
        comparison.outcome = Outcome::Larger;
        comparison.ratio = Some(1.5);
        comparison.interval = Some((1.4, 1.6));
    }
    never_the_same_range(&result);
}

#[test]
fn the_legend_says_how_values_follow_from_runs() {
    let mut result = small(&[[9.0, 10.0, 11.0]]);
    let page = |result: &LabResult| plimsoll_report::markdown(result).swap_remove(0).1;
    assert!(page(&result).contains("is the geometric mean over the restarts of a cell"));
    // Earlier versions had no restarts.
    result.cells[0].figures[0].restarts.clear();
    assert!(page(&result).contains("is the median over the runs of a cell"));
    let from_one_run = "The interval of a single run shows only how much its seconds differ.";
    assert!(!page(&result).contains(from_one_run));
    result.cells[0].figures[0].interval_from = Some(Variation::OneRun);
    assert!(page(&result).contains(from_one_run));
}
