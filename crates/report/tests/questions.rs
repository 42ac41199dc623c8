//! The questions and statements at the top of a report: verdicts follow from the figures, also in edge cases.

#[path = "questions/ranking.rs"]
mod ranking;
mod support;

use plimsoll_report::answer;
use plimsoll_results::lab::{
    Cell, CellState, Comparison, Expected, Floor, LabResult, LinkFigures, Outcome, Question,
    SameCell,
};
use ranking::question;
use serde_json::json;
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
    result.questions = vec![Question {
        text: text.into(),
        is_statement: true,
        figure: Some("latency_p50".into()),
        axis: axis.map(|axis| axis.name.clone()),
        values: axis.map(|axis| axis.values.clone()).unwrap_or_default(),
        expected: Some(expected),
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        ..Question::default()
    }];
    answer(result).swap_remove(0)
}

#[test]
fn a_statement_holds_where_the_whole_interval_is_within_its_limits() {
    let mut result = result(MEDIANS);
    let twice = |min, max| Expected::Ratio(Some(min), Some(max));
    let mut statement_text = |expected| {
        says(
            &mut result,
            "PG takes twice as long.",
            Some("store"),
            expected,
        )
    };
    let begins = |text: &str, verdict: &str| {
        let start = format!(
            "The original says: PG takes twice as long. {verdict}: median in ms, near: sqlite "
        );
        assert!(text.starts_with(&start), "{text}");
    };
    // Near 2.00 times (1.64 to 2.44), far 1.12 times (1.09 to 1.16).
    begins(&statement_text(twice(1.05, 3.0)), "Holds");
    begins(&statement_text(twice(3.0, 4.0)), "Does not hold");
    begins(&statement_text(twice(1.5, 3.0)), "Holds in 1 of 2");
    begins(
        &statement_text(twice(1.8, 4.0)),
        "Does not hold in 1 of 2, uncertain in 1",
    );
    begins(&statement_text(twice(1.1, 2.0)), "Uncertain");
    let text = statement_text(twice(1.5, 3.0));
    assert!(
        text.ends_with("near: sqlite 1.00, pg 2.00 (2.00 times, 1.64 to 2.44); far: sqlite 8.00, pg 9.00 (1.125 times, 1.086 to 1.165)."),
        "{text}"
    );
}

#[test]
fn differences_and_single_values_have_limits_too() {
    let mut result = result(MEDIANS);
    let hop = Expected::Difference(Some(6.5), Some(7.5));
    let text = says(&mut result, "A hop takes 7 ms.", Some("place"), hop);
    assert!(
        text.starts_with("The original says: A hop takes 7 ms. Holds: median in ms, sqlite: near 1.00, far 8.00 (a difference of 7.00, 6.80 to 7.20); pg: "),
        "{text}"
    );
    let text = says(
        &mut result,
        "All take at most 5 ms.",
        None,
        Expected::Value(None, Some(5.0)),
    );
    assert!(
        text.ends_with(
            "Holds in 2 of 4: median in ms (sqlite and pg, near and far): 1.00 to 9.00."
        ),
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
    let mut statement_text = |expected| says(&mut result, "So it is.", Some("store"), expected);
    for (expected, verdict) in [
        (Expected::Larger, "Holds"),
        (Expected::NotSmaller, "Holds"),
        (Expected::Smaller, "Does not hold"),
        (Expected::NotLarger, "Does not hold"),
        (Expected::Same, "Does not hold"),
    ] {
        let text = statement_text(expected);
        let start =
            format!("The original says: So it is. {verdict}: median in ms: sqlite 1.00, pg 2.00");
        assert!(text.starts_with(&start), "{text}");
        assert!(text.ends_with(" (2.00 times, 1.60 to 2.50)."), "{text}");
    }
    result.comparisons[0].outcome = Outcome::NoDifference;
    let text = says(&mut result, "So it is.", Some("store"), Expected::Same);
    assert!(
        text.contains("Holds") && text.ends_with(" (2.00 times, 1.60 to 2.50)."),
        "{text}"
    );
    result.comparisons[0].outcome = Outcome::Uncertain;
    assert!(says(&mut result, "So it is.", Some("store"), Expected::Same).contains("Uncertain:"));
}

/// Gives the near pair this interval of ratios and an uncertain outcome, in a lab with this floor.
fn uncertain_near(result: &mut LabResult, interval: (f64, f64), floor: f64) {
    result.comparisons = vec![Comparison {
        axis: "store".into(),
        cells: (result.cells[0].name.clone(), result.cells[2].name.clone()),
        place: vec![("place".into(), "near".into())],
        figure: "latency_p50".into(),
        ratio: Some((interval.0 * interval.1).sqrt()),
        interval: Some(interval),
        outcome: Outcome::Uncertain,
        floor: Some(floor),
        ..Comparison::default()
    }];
    result.cells.retain(|cell| cell.name.contains("near"));
}

/// It may be uncertain whether a value is longer or the same, while it is certain that it is not shorter.
#[test]
fn what_is_at_least_the_same_is_not_smaller() {
    for (interval, floor, verdict) in [
        ((1.1, 1.4), 0.3, "Holds"),
        ((0.8, 1.9), 0.3, "Holds"),
        ((0.7, 1.9), 0.3, "Uncertain"),
        ((0.97, 1.9), 0.01, "Holds"),
        ((0.94, 1.9), 0.01, "Uncertain"),
    ] {
        let mut result = result(MEDIANS);
        uncertain_near(&mut result, interval, floor);
        let text = says(
            &mut result,
            "So it is.",
            Some("store"),
            Expected::NotSmaller,
        );
        assert!(
            text.contains(&format!("So it is. {verdict}: ")),
            "{interval:?}: {text}"
        );
    }
}

/// 1.27 times (1.1 to 1.46), where equal cells may differ by 30 %, or by 20 %.
#[test]
fn a_difference_below_the_floor_decides_nothing() {
    let longer = Expected::Ratio(Some(1.05), None);
    let not_longer = Expected::Ratio(None, Some(1.05));
    for (expected, floor, verdict) in [
        (longer, 0.3, "Uncertain"),
        (longer, 0.2, "Holds"),
        (not_longer, 0.3, "Uncertain"),
        (not_longer, 0.2, "Does not hold"),
        (Expected::Ratio(Some(2.0), None), 0.3, "Does not hold"),
        (Expected::Ratio(Some(0.5), Some(2.0)), 0.3, "Holds"),
    ] {
        let mut result = result(MEDIANS);
        uncertain_near(&mut result, (1.1, 1.46), floor);
        let text = says(&mut result, "So it is.", Some("store"), expected);
        let start = format!("So it is. {verdict}: ");
        assert!(text.contains(&start), "{expected:?}, {floor}: {text}");
    }
}

#[test]
fn the_words_come_first_then_the_unit_with_the_load_and_the_place() {
    let mut result = result(MEDIANS);
    result.questions = vec![question(&result, "store", "place=near")];
    let load = |users: &[u64]| {
        let names = ["sqlite", "pg"].map(|store| format!("store={store} place=near"));
        let cells = names.iter().zip(users);
        let cells: Vec<_> = cells
            .map(|(name, users)| json!({ "name": name, "load": { "users": users } }))
            .collect();
        json!({ "cells": cells })
    };
    let text = |conditions: &str| {
        format!(
            "Sqlite is faster than pg: median in ms ({conditions}): sqlite 1.00, pg 2.00 (2.00 times, 1.64 to 2.44)."
        )
    };
    assert_eq!(answer(&result), [text("near")]);
    result.effective = load(&[1000, 1000]);
    assert_eq!(answer(&result), [text("near, 1000 users")]);
    result.effective = load(&[1000, 10]);
    assert_eq!(answer(&result), [text("near")]);
    // What the words state is not repeated.
    result.effective = load(&[1000, 1000]);
    result.questions[0].topic = Some("near, with 1000 users".into());
    assert_eq!(
        answer(&result),
        [
            "Near, with 1000 users: sqlite is faster than pg: median in ms: sqlite 1.00, pg 2.00 (2.00 times, 1.64 to 2.44)."
        ]
    );
}

#[test]
fn the_answer_to_a_yes_or_no_question_follows_from_its_verdict() {
    let mut result = result(MEDIANS);
    let mut answered = |max: f64, cells: &str| {
        let cells = result.cells.iter().filter(|cell| cell.name.contains(cells));
        result.questions = vec![Question {
            text: "Is it fast?".into(),
            figure: Some("latency_p50".into()),
            expected: Some(Expected::Value(None, Some(max))),
            cells: cells.map(|cell| cell.name.clone()).collect(),
            yes: Some("it is fast".into()),
            no: Some("it is slow".into()),
            ..Question::default()
        }];
        answer(&result).swap_remove(0)
    };
    assert!(answered(10.0, "").starts_with("It is fast: median in ms"));
    assert!(answered(0.5, "").starts_with("It is slow: median in ms"));
    assert!(answered(5.0, "").starts_with("Is it fast? Yes in 2 of 4: median in ms"));
    assert!(answered(1.0, "store=sqlite place=near").starts_with("Is it fast? Uncertain: "));
}

/// A line with jitter decides a percentile if it alone takes most of it.
#[test]
fn a_percentile_that_the_emulated_line_decides_is_marked() {
    let mut result = result([(96.0, 98.0, 100.0); 4]);
    for cell in &mut result.cells {
        cell.link = Some(LinkFigures {
            name: "far".into(),
            by: "relay".into(),
            declared_round_trip_ms: Some(88.0),
            declared_jitter_ms: Some(13.8),
            ..LinkFigures::default()
        });
        cell.figures[0].name = "latency_p95".into();
    }
    let mut declared = question(&result, "store", "far");
    declared.figure = Some("latency_p95".into());
    result.questions = vec![declared];
    let note = " The emulated line decides this: it alone takes 97.44 ms at p95 (88 ± 13.8 ms).";
    let text = answer(&result).swap_remove(0);
    assert!(text.ends_with(note), "{text}");
    for cell in &mut result.cells {
        cell.figures[0].value = 150.0;
        cell.figures[0].interval = Some((148.0, 152.0));
    }
    let text = answer(&result).swap_remove(0);
    assert!(!text.contains("emulated line decides"), "{text}");
}

#[test]
fn places_are_explained_before_the_questions() {
    let mut result = result(MEDIANS);
    let first_line = |result: &LabResult| {
        let page = support::markdown(result);
        let first = page
            .split_once("## Conclusion\n\n")
            .expect("a conclusion")
            .1;
        first.lines().next().expect("a line").to_owned()
    };
    result.questions = vec![question(&result, "store", "")];
    assert!(first_line(&result).starts_with("- **"));
    for cell in &mut result.cells {
        let name = cell.place[1].1.clone();
        let is_far = name == "far";
        cell.link = Some(LinkFigures {
            name,
            by: if is_far { "relay" } else { "loopback" }.into(),
            declared_round_trip_ms: is_far.then_some(26.4),
            declared_megabits_per_second: is_far.then_some(556.0),
            ..LinkFigures::default()
        });
    }
    assert_eq!(
        first_line(&result),
        "**Near**: client and system on one machine. **Far**: the same machine, with an emulated round trip of 26.4 ms \
         and at most 556 Mbit/s."
    );
}

/// The condition that the table has for a statement about the stores.
fn condition(result: &mut LabResult, expected: Expected) -> String {
    says(result, "So it is.", Some("store"), expected);
    let page = support::markdown(result);
    let row = page.lines().find(|line| line.starts_with("| So it is. |"));
    let row = row.expect("a row of the table");
    row.split('|')
        .nth(3)
        .expect("a condition")
        .trim()
        .to_owned()
}

/// The floor of the near cells (50 % or 0.5 ms) does not make far figures the same: a far latency only has to differ by 0.5 ms.
#[test]
fn each_place_has_its_own_floor() {
    let mut values = MEDIANS;
    values[3] = (8.40, 8.45, 8.50);
    values[1] = (7.98, 8.0, 8.02);
    let mut result = result(values);
    for cell in &mut result.cells {
        cell.link = Some(LinkFigures {
            name: cell.place[1].1.clone(),
            ..LinkFigures::default()
        });
    }
    result.same_cell = Some(Box::new(SameCell {
        cell: result.cells[0].name.clone(),
        copy: result.cells[0].clone(),
        floors: vec![Floor {
            figure: "latency_p50".into(),
            ratio: 1.0,
            interval: (0.7, 1.5),
            share: 0.5,
        }],
        method: String::new(),
    }));
    let mut all = result.cells.clone();
    let mut of = |all: &[Cell], place: &str, expected| {
        let cells = all.iter().filter(|cell| cell.name.contains(place));
        result.cells = cells.cloned().collect();
        let condition = condition(&mut result, expected);
        let verdict = answer(&result).swap_remove(0);
        let verdict = verdict.split("So it is. ").nth(1).expect("a verdict");
        let verdict = verdict.split(':').next().expect("a verdict").to_owned();
        (condition, verdict)
    };
    let pair = |condition: &str, verdict: &str| (condition.to_owned(), verdict.to_owned());
    // 2.00 times (1.64 to 2.44).
    assert_eq!(
        of(&all, "near", Expected::Same),
        pair("0.67 to 1.50 times (noise floor)", "Does not hold")
    );
    // 1.056 times (1.047 to 1.065): too much to be the same, too little for a difference.
    assert_eq!(
        of(&all, "far", Expected::Same),
        pair("0.95 to 1.05 times", "Uncertain")
    );
    assert_eq!(
        of(&all, "far", Expected::Larger),
        pair("longer", "Uncertain")
    );
    // 0.6 ms, or 1.075 times (1.066 to 1.084).
    let far = all
        .iter()
        .position(|cell| cell.name.contains("pg place=far"));
    let median = &mut all[far.expect("a cell")].figures[0];
    (median.value, median.interval) = (8.6, Some((8.55, 8.65)));
    assert_eq!(of(&all, "far", Expected::Larger), pair("longer", "Holds"));
}

#[test]
fn the_condition_of_a_statement_is_printed_with_its_tolerance() {
    let row = |expected, floor| {
        let mut result = result(MEDIANS);
        uncertain_near(&mut result, (0.9, 1.5), floor);
        if floor == 0.0 {
            result.comparisons.clear();
        }
        condition(&mut result, expected)
    };
    for (expected, floor, condition) in [
        (
            Expected::Ratio(Some(8.0), Some(12.0)),
            0.0,
            "8 to 12 times (chosen by the lab)",
        ),
        (
            Expected::Ratio(Some(0.95), None),
            0.0,
            "at least 0.95 times (chosen by the lab)",
        ),
        (
            Expected::Difference(None, Some(7.7)),
            0.0,
            "at most 7.7 ms more (chosen by the lab)",
        ),
        (
            Expected::Value(None, Some(50.0)),
            0.0,
            "at most 50 ms (chosen by the lab)",
        ),
        (Expected::Larger, 0.0, "longer"),
        (Expected::Same, 0.0, "0.95 to 1.05 times"),
        (Expected::Larger, 0.25, "longer"),
        (Expected::Smaller, 0.25, "shorter"),
        (
            Expected::NotSmaller,
            0.25,
            "at least 0.80 times (noise floor)",
        ),
        (
            Expected::NotLarger,
            0.25,
            "at most 1.25 times (noise floor)",
        ),
        (Expected::Same, 0.25, "0.80 to 1.25 times (noise floor)"),
    ] {
        assert_eq!(row(expected, floor), condition, "{expected:?}");
    }
}

#[test]
fn many_pairs_are_named_by_what_they_decide() {
    let near = result(MEDIANS);
    let mut result = near.clone();
    // The same stores in a third place, where the ratio is not certain.
    for (cell, interval) in near.cells.iter().step_by(2).zip([(0.5, 2.0), (1.0, 9.0)]) {
        let mut cell = cell.clone();
        cell.name = cell.name.replace("near", "away");
        cell.place[1].1 = "away".into();
        cell.figures[0].interval = Some(interval);
        result.cells.push(cell);
    }
    let text = says(
        &mut result,
        "PG takes twice as long.",
        Some("store"),
        Expected::Ratio(Some(1.5), Some(2.5)),
    );
    assert_eq!(
        text,
        "The original says: PG takes twice as long. Holds in 1 of 3, uncertain in 1: median, pg against sqlite. \
         Holds: near (2.00 times, 1.64 to 2.44). Does not hold: far (1.125 times, 1.086 to 1.165). \
         Uncertain: away (2.0 times, 0.5 to 18.0)."
    );
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
        text.ends_with("Holds: median in ms (near): sqlite 1.00, pg 2.00 (2.00 times, 1.64 to 2.44) (1 left out because of a suspect measurement)."),
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
    result.questions.push(Question {
        text: "H3 is faster.".into(),
        is_statement: true,
        note: Some("No system has it.".into()),
        ..Question::default()
    });
    let mut question = result.questions[0].clone();
    question.text = "Which store is faster?".into();
    question.is_statement = false;
    question.expected = None;
    result.questions.push(question);
    let page = support::markdown(&result);
    let first = page
        .split_once("## Conclusion\n\n")
        .expect("a conclusion")
        .1;
    assert!(
        first.starts_with(
            "- **No system has it.** Not tested: H3 is faster.\n\
             - **Near and far: sqlite is faster than pg**: median in ms, near: sqlite 1.00, pg 2.00 \
             (2.00 times, 1.64 to 2.44); far: sqlite 8.00, pg 9.00 (1.125 times, 1.086 to 1.165).\n\n\
             *Statements of the original*\n\n\
             | statement | here | holds if | measured |\n\
             | --- | --- | --- | --- |\n\
             | PG is slower. | **holds** | longer | median in ms, near: sqlite **1.00**, pg **2.00** "
        ),
        "{first}"
    );
    assert!(
        first.contains("| H3 is faster. | **not tested** | – | No system has it. |"),
        "{first}"
    );
}
