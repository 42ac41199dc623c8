//! The questions and statements at the top of a report: verdicts follow from figures, at the edges too.

mod support;

use plimsoll_report::answer;
use plimsoll_results::lab::{Asked, CellState, Comparison, Expected, LabResult, Outcome};
use support::cells::figure;
use support::fixture;

/// Two stores near and far, with the median of each cell and its interval.
fn result(values: [(f64, f64, f64); 4]) -> LabResult {
    let axes = vec![
        fixture::axis("store", &["sqlite", "pg"]),
        fixture::axis("place", &["near", "far"]),
    ];
    let mut result = fixture::around("Medians", "standard", axes);
    let places = [
        ("sqlite", "near"),
        ("sqlite", "far"),
        ("pg", "near"),
        ("pg", "far"),
    ];
    for ((store, place), (low, value, high)) in places.into_iter().zip(values) {
        let place = vec![
            ("store".to_owned(), store.to_owned()),
            ("place".to_owned(), place.to_owned()),
        ];
        let mut cell = support::cells::bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        let mut median = figure(
            "latency_p50",
            "median",
            "ms",
            vec![low, value, high],
            "less",
        );
        median.value = value;
        median.interval = Some((low, high));
        cell.figures = vec![median];
        result.cells.push(cell);
    }
    result
}

const MEDIANS: [(f64, f64, f64); 4] = [
    (0.9, 1.0, 1.1),
    (7.9, 8.0, 8.1),
    (1.8, 2.0, 2.2),
    (8.8, 9.0, 9.2),
];

fn says(result: &mut LabResult, text: &str, axis: Option<&str>, expected: Expected) -> String {
    let axis = axis.and_then(|name| result.axes.iter().find(|axis| axis.name == name));
    result.asked = vec![Asked {
        text: text.into(),
        is_statement: true,
        figure: Some("latency_p50".into()),
        axis: axis.map(|axis| axis.name.clone()),
        values: axis.map(|axis| axis.values.clone()).unwrap_or_default(),
        expected: Some(expected),
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        note: None,
    }];
    answer(result).swap_remove(0)
}

#[test]
fn a_statement_holds_where_the_whole_interval_is_within_its_limits() {
    let mut result = result(MEDIANS);
    let twice = |least, most| Expected::Ratio(Some(least), Some(most));
    let mut said = |expected| {
        says(
            &mut result,
            "PG takes twice as long.",
            Some("store"),
            expected,
        )
    };
    let begins = |text: &str, verdict: &str| {
        let start =
            format!("The original says: PG takes twice as long. {verdict}: median: near: sqlite ");
        assert!(text.starts_with(&start), "{text}");
    };
    // Near 2.00 times (1.64 to 2.44), far 1.12 times (1.09 to 1.16).
    begins(&said(twice(1.05, 3.0)), "Holds");
    begins(&said(twice(3.0, 4.0)), "Does not hold");
    begins(&said(twice(1.5, 3.0)), "Holds in 1 of 2");
    begins(
        &said(twice(1.8, 4.0)),
        "Does not hold in 1 of 2, uncertain in 1",
    );
    begins(&said(twice(1.1, 2.0)), "Uncertain");
    let text = said(twice(1.5, 3.0));
    assert!(
        text.ends_with("near: sqlite 1.00, pg 2.00 (2.00 times, 1.64 to 2.44); far: sqlite 8.00, pg 9.00 ms (1.125 times, 1.086 to 1.165)."),
        "{text}"
    );
}

#[test]
fn differences_and_single_values_have_limits_too() {
    let mut result = result(MEDIANS);
    let hop = Expected::Difference(Some(6.5), Some(7.5));
    let text = says(&mut result, "A hop takes 7 ms.", Some("place"), hop);
    assert!(
        text.starts_with("The original says: A hop takes 7 ms. Holds: median: sqlite: near 1.00, far 8.00 (a difference of 7.00); pg: "),
        "{text}"
    );
    let text = says(
        &mut result,
        "All take at most 5 ms.",
        None,
        Expected::Value(None, Some(5.0)),
    );
    assert!(
        text.ends_with("Holds in 2 of 4: median 1.00 to 9.00 ms in 4 cells."),
        "{text}"
    );
}

#[test]
fn an_outcome_of_a_comparison_decides_in_either_direction() {
    let mut result = result(MEDIANS);
    result.comparisons = vec![Comparison {
        axis: "store".into(),
        cells: (result.cells[2].name.clone(), result.cells[0].name.clone()),
        place: vec![("place".into(), "near".into())],
        figure: "latency_p50".into(),
        ratio: Some(0.5),
        interval: Some((0.4, 0.625)),
        outcome: Outcome::Smaller,
        floor: Some(0.1),
        ..Comparison::default()
    }];
    result.cells.retain(|cell| cell.name.contains("near"));
    let mut said = |expected| says(&mut result, "So it is.", Some("store"), expected);
    for (expected, verdict) in [
        (Expected::Larger, "Holds"),
        (Expected::NotSmaller, "Holds"),
        (Expected::Smaller, "Does not hold"),
        (Expected::NotLarger, "Does not hold"),
        (Expected::Same, "Does not hold"),
    ] {
        let text = said(expected);
        let start =
            format!("The original says: So it is. {verdict}: median: sqlite 1.00, pg 2.00 ms");
        assert!(text.starts_with(&start), "{text}");
        assert!(text.ends_with(" (2.00 times, 1.60 to 2.50)."), "{text}");
    }
    result.comparisons[0].outcome = Outcome::NoDifference;
    let text = says(&mut result, "So it is.", Some("store"), Expected::Same);
    assert!(
        text.contains("Holds") && text.ends_with("; noise floor 10 %)."),
        "{text}"
    );
    result.comparisons[0].outcome = Outcome::Uncertain;
    assert!(says(&mut result, "So it is.", Some("store"), Expected::Same).contains("Uncertain:"));
}

#[test]
fn suspect_cells_decide_nothing() {
    let mut result = result(MEDIANS);
    result.cells[3].verdict = "suspect".into();
    let text = says(
        &mut result,
        "PG is slower.",
        Some("store"),
        Expected::Larger,
    );
    assert!(
        text.ends_with("Holds: median: sqlite 1.00, pg 2.00 ms (2.00 times, 1.64 to 2.44) (1 with a suspect cell not counted)."),
        "{text}"
    );
    for cell in &mut result.cells {
        cell.verdict = "suspect".into();
    }
    let text = says(
        &mut result,
        "PG is slower.",
        Some("store"),
        Expected::Larger,
    );
    let expected = "No conclusion: no cell of this run is valid. The tables show what was measured, and why it is doubtful.";
    assert_eq!(text, expected);
}

#[test]
fn a_report_begins_with_its_questions_and_the_statements_of_the_source() {
    let mut result = result(MEDIANS);
    says(
        &mut result,
        "PG is slower.",
        Some("store"),
        Expected::Larger,
    );
    result.asked.push(Asked {
        text: "H3 is faster.".into(),
        is_statement: true,
        note: Some("No system has it.".into()),
        ..Asked::default()
    });
    let mut question = result.asked[0].clone();
    question.text = "Which store is faster?".into();
    question.is_statement = false;
    question.expected = None;
    result.asked.push(question);
    let page = support::markdown(&result);
    let first = page
        .split_once("## Conclusion\n\n")
        .expect("a conclusion")
        .1;
    assert!(
        first.starts_with(
            "- **Which store is faster?** median: near: sqlite **1.00**, pg **2.00**; \
             far: sqlite **8.00**, pg **9.00** ms.\n\n\
             *Statements of the original*\n\n\
             | statement | here | measured |\n\
             | --- | --- | --- |\n\
             | PG is slower. | **holds** | median: near: sqlite **1.00**, pg **2.00** "
        ),
        "{first}"
    );
    assert!(
        first.contains("| H3 is faster. | **not tested** | No system has it. |"),
        "{first}"
    );
}
