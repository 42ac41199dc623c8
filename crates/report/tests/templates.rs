//! Tables and sentences of results at the edges: one cell, suspect cells only, no failures, equal
//! values, missing cells.

mod support;

use plimsoll_report::{answer, html, prose};
use plimsoll_results::lab::{
    CellState, LabResult, LimitSearch, ObjectiveOutcome, Outcome, Published, TableLayout, Variation,
};
use support::cells::figure;
use support::{fixture, markdown};

/// A matrix of backends and places with a rate for each cell.
fn small(values: &[[f64; 3]]) -> LabResult {
    let mut result = fixture::around(
        "Rates",
        "standard",
        vec![
            fixture::axis("backend", &["sqlite", "pg"]),
            fixture::axis("place", &["near", "far"]),
        ],
    );
    let places = [
        ("sqlite", "near"),
        ("sqlite", "far"),
        ("pg", "near"),
        ("pg", "far"),
    ];
    for ((backend, place), runs) in places.into_iter().zip(values) {
        let place = vec![
            ("backend".to_owned(), backend.to_owned()),
            ("place".to_owned(), place.to_owned()),
        ];
        let mut cell = support::cells::bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        let mut rate = figure(
            "requests_per_second",
            "requests per second",
            "requests/s",
            runs.to_vec(),
            "more",
        );
        rate.value = runs[1];
        rate.interval = Some((runs[0], runs[2]));
        cell.figures = vec![rate];
        result.cells.push(cell);
    }
    result
}

/// The rows of the first table under "Results".
fn table(result: &LabResult) -> Vec<String> {
    let page = plimsoll_report::markdown(result).swap_remove(0).1;
    let results = page.split_once("## Results").expect("results").1;
    results
        .lines()
        .skip_while(|line| !line.starts_with("| "))
        .take_while(|line| line.starts_with("| "))
        .map(str::to_owned)
        .collect()
}

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

const FOUR: [[f64; 3]; 4] = [
    [990.0, 1000.0, 1010.0],
    [100.0, 110.0, 120.0],
    [480.0, 500.0, 510.0],
    [90.0, 95.0, 105.0],
];

#[test]
fn axis_values_are_rows_and_columns() {
    let mut result = small(&FOUR);
    result.cells[0].published.push(Published {
        figure: "requests_per_second".into(),
        value: 47618.11,
        note: String::new(),
    });
    assert_eq!(
        table(&result),
        [
            "| backend | near | near: published | far |",
            "| --- | --: | --: | --: |",
            "| sqlite | 1000 ±1% | 47,600 | 110 ±9% |",
            "| pg | 500 ±4% | – | 95.0 ±11% |",
        ]
    );
}

/// The layout of a table of rates: places as rows, stores as columns.
fn rates(result: &LabResult, rows: &[&str], columns: &[&str]) -> TableLayout {
    let owned = |axes: &[&str]| axes.iter().map(|axis| (*axis).to_owned()).collect();
    TableLayout {
        title: "How many checks per second?".into(),
        rows: owned(rows),
        columns: owned(columns),
        figures: vec!["requests_per_second".into()],
        unit: None,
        buckets: Vec::new(),
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        note: None,
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

/// The table of the first screen.
fn small_table(result: &LabResult) -> Vec<String> {
    let page = plimsoll_report::markdown(result).swap_remove(0).1;
    let first = page.split_once("## Results").expect("results").0;
    let lines = first
        .lines()
        .skip_while(|line| !line.starts_with("*How many"));
    lines
        .take_while(|line| !line.starts_with("| | |"))
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_first_screen_has_a_small_table_with_the_published_figures() {
    let mut result = small(&FOUR);
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    result.tables[0].note = Some("Both stores keep everything in memory.".into());
    result.cells[0].published.push(Published {
        figure: "requests_per_second".into(),
        value: 47618.11,
        note: String::new(),
    });
    result.cells[3].verdict = "suspect".into();
    result.cells[3].reasons = vec!["a worker used 93% of its processor".into()];
    assert_eq!(
        small_table(&result),
        [
            "*How many checks per second? Requests per second, requests/s (the published figure in parentheses)*",
            "| backend | near | far |",
            "| --- | --: | --: |",
            "| sqlite | 1000 (47,600) | 110 |",
            "| pg | 500 | suspect <sup>a</sup> |",
            "- **a** suspect: A worker used 93% of its processor.",
            "Both stores keep everything in memory.",
        ]
    );
    // A field without a cell is explained.
    result.tables[0].cells.truncate(3);
    assert_eq!(
        small_table(&result)[3..],
        [
            "| sqlite | 1000 (47,600) | 110 |",
            "| pg | 500 | – |",
            "Both stores keep everything in memory. –: the lab has no such cell.",
        ]
    );
    // A single row is a sentence.
    result.tables[0].cells.truncate(2);
    assert!(small_table(&result).is_empty());
    let sentence =
        "How many checks per second? near **1000** (published 47,600), far **110** requests/s.";
    assert!(
        markdown(&result).contains(sentence),
        "{}",
        markdown(&result)
    );
}

#[test]
fn a_heading_says_which_figure_an_objective_judges() {
    let mut result = small(&FOUR);
    result.objectives = result
        .cells
        .iter()
        .zip([900.0, 100.0, 900.0, 100.0])
        .map(|(cell, limit)| ObjectiveOutcome {
            objective: "requests_per_second at least it".into(),
            cell: cell.name.clone(),
            measured: cell.figures[0].value,
            limit,
            unit: "requests/s".into(),
            verdict: "kept".into(),
            within: None,
            interval_from: None,
        })
        .collect();
    for cell in &mut result.cells {
        let mut other = cell.figures[0].clone();
        other.name = "iterations_per_second".into();
        other.label = "iterations per second".into();
        cell.figures.push(other);
    }
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    let page = |result: &LabResult| plimsoll_report::markdown(result).swap_remove(0).1;
    let caption = "requests/s (objective: at least 900 requests/s or at least 100 requests/s)";
    assert!(page(&result).contains(caption), "{}", page(&result));
    result.tables[0]
        .figures
        .push("iterations_per_second".into());
    assert_eq!(
        table(&result)[0],
        "| backend | near: rate, requests/s (objective: at least 900 requests/s) \
         | near: iterations per second, requests/s \
         | far: rate, requests/s (objective: at least 100 requests/s) \
         | far: iterations per second, requests/s |"
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
    let said = |users: &[&str]| {
        let mut result = for_users(small(&FOUR), users);
        result.tables = vec![rates(&result, &["users"], &["place", "backend"])];
        answer(&result).swap_remove(0)
    };
    assert_eq!(
        said(&["10", "100"]),
        "How many checks per second? 10 users, near: sqlite 1000, pg 500; 10 users, far: sqlite 110, pg 95.0; \
         100 users, near: sqlite 1000, pg 500; 100 users, far: sqlite 110, pg 95.0 requests/s."
    );
    // Five groups of two are too many for a sentence.
    assert_eq!(
        said(&["10", "100", "200"]),
        "How many checks per second? 10 users, near: sqlite 1000, pg 500; 10 users, far: sqlite 110, pg 95.0; \
         100 users, near: sqlite 1000, pg 500; 100 users, far: sqlite 110, pg 95.0 requests/s."
    );
    // Sixteen rows are too many for a small table: of the last of the other axes only the first value is left.
    assert_eq!(
        said(&["10", "20", "30", "40", "50", "60", "70", "80"]),
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
fn a_declared_table_has_its_own_axes_figures_and_unit() {
    let mut result = small(&FOUR);
    for cell in &mut result.cells {
        let mut cpu = cell.figures[0].clone();
        cpu.name = "cpu_time_per_request".into();
        cpu.label = "CPU time per request".into();
        cpu.unit = "CPU µs".into();
        cpu.value = 250_000.0;
        cpu.interval = None;
        cell.figures.push(cpu);
    }
    result.tables = vec![TableLayout {
        title: "What does a request cost?".into(),
        rows: vec!["place".into()],
        columns: vec!["backend".into()],
        figures: vec![
            "requests_per_second".into(),
            "cpu_time_per_request".into(),
            "no_such_figure".into(),
        ],
        unit: Some("CPU ms".into()),
        buckets: Vec::new(),
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        note: Some("Both stores keep everything in memory.".into()),
    }];
    assert_eq!(
        table(&result),
        [
            "| place | sqlite: rate, requests/s | sqlite: CPU, CPU ms | pg: rate, requests/s | pg: CPU, CPU ms |",
            "| --- | --: | --: | --: | --: |",
            "| near | 1000 ±1% | 250 | 500 ±4% | 250 |",
            "| far | 110 ±9% | 250 | 95.0 ±11% | 250 |",
        ]
    );
}

#[test]
fn buckets_have_the_share_of_requests_in_each() {
    let mut result = fixture::full();
    result.cells.truncate(1);
    let repeats = &mut result.cells[0].repeats;
    repeats.truncate(1);
    repeats[0].latency.buckets = vec![(0.5, 10), (1.0, 20), (1.9, 20), (5.0, 50)];
    result.tables = vec![TableLayout {
        title: "Where do the latencies lie?".into(),
        buckets: vec![1.0, 2.0],
        cells: vec![result.cells[0].name.clone()],
        ..TableLayout::default()
    }];
    assert_eq!(
        table(&result),
        [
            "| latency | share, % |",
            "| --- | --: |",
            "| below 1 ms | 10.00 |",
            "| 1 to 2 ms | 40.00 |",
            "| 2 ms or more | 50.00 |",
        ]
    );
}

#[test]
fn empty_buckets_at_both_ends_are_left_out() {
    let mut result = fixture::full();
    result.cells.truncate(1);
    let repeats = &mut result.cells[0].repeats;
    repeats.truncate(1);
    repeats[0].latency.buckets = vec![(2.5, 30), (4.5, 10)];
    result.tables = vec![TableLayout {
        title: "Where do the latencies lie?".into(),
        buckets: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        cells: vec![result.cells[0].name.clone()],
        ..TableLayout::default()
    }];
    assert_eq!(
        table(&result)[2..],
        [
            "| 2 to 3 ms | 75.00 |",
            "| 3 to 4 ms | 0 |",
            "| 4 to 5 ms | 25.00 |",
        ]
    );
}

#[test]
fn a_table_too_wide_for_a_page_is_split_by_its_columns() {
    let mut result = small(&FOUR);
    for cell in &mut result.cells {
        for number in 1..=4 {
            let mut figure = cell.figures[0].clone();
            figure.name = format!("rate_{number}");
            figure.label = format!("rate {number}");
            cell.figures.push(figure);
        }
    }
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    let more = (1..=4).map(|number| format!("rate_{number}"));
    result.tables[0].figures.extend(more);
    let page = plimsoll_report::markdown(&result).swap_remove(0).1;
    let results = page.split_once("## Results").expect("results").1;
    for place in ["near", "far"] {
        let title = format!("*How many checks per second? ({place})*");
        assert!(results.contains(&title), "{results}");
    }
    assert_eq!(
        table(&result),
        [
            "| backend | rate, requests/s | rate 1, requests/s | rate 2, requests/s | rate 3, requests/s | rate 4, requests/s |",
            "| --- | --: | --: | --: | --: | --: |",
            "| sqlite | 1000 ±1% | 1000 ±1% | 1000 ±1% | 1000 ±1% | 1000 ±1% |",
            "| pg | 500 ±4% | 500 ±4% | 500 ±4% | 500 ±4% | 500 ±4% |",
        ]
    );
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
    // One of them valid again: the comparison still does not count.
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
fn a_rate_that_no_trial_missed_is_a_lower_bound_in_tables() {
    let mut result = small(&FOUR);
    for (cell, broken) in result.cells.iter_mut().zip([None, Some(120.0), None, None]) {
        let kept = cell.figures[0].value;
        cell.figures[0].name = "limit".into();
        cell.limit = Some(LimitSearch {
            objective: "p95<100ms".into(),
            kept: Some(kept),
            broken,
            confirmed: true,
            ..LimitSearch::default()
        });
    }
    let mut limits = rates(&result, &["backend"], &["place"]);
    limits.figures = vec!["limit".into()];
    result.tables = vec![limits];
    assert_eq!(small_table(&result)[3], "| sqlite | ≥ 1000 | 110 |");
    let row = &table(&result)[2];
    assert!(
        row.starts_with("| sqlite | ≥ 1000") && !row.contains("≥ 110"),
        "{row}"
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
        });
    }
    // That nothing failed is a fact; anything else is a sentence.
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
