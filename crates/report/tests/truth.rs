//! Pages match the result: every number in prose and tables is in the result, sentences follow from
//! the outcomes, and an invalid cell has no figures.

mod support;

use plimsoll_report::{answer, html, prose};
use plimsoll_results::lab::{Cell, CellState, Floor, LabResult, LinkFigures, Outcome, SameCell};
use serde_json::Value;
use support::{fixture, markdown, numbers};

/// Numbers that the text itself counts or derives, or that are fixed by the method: computed here
/// from the result, not by the code that writes the page.
fn derived(result: &LabResult) -> Vec<f64> {
    // 95 % intervals, fewer than ten values, 100 %, a ratio of 1.
    let mut all = vec![95.0, 10.0, 100.0, 0.0, 1.0, 2.0, 3.0];
    let count = |all: &mut Vec<f64>, number: usize| all.push(number as f64);
    let states =
        |is: fn(&CellState) -> bool| result.cells.iter().filter(|cell| is(&cell.state)).count();
    let measured = |state: &CellState| matches!(state, CellState::Measured | CellState::Partial(_));
    for verdict in ["valid", "suspect", "invalid"] {
        count(
            &mut all,
            result
                .cells
                .iter()
                .filter(|cell| measured(&cell.state) && cell.verdict == verdict)
                .count(),
        );
    }
    count(
        &mut all,
        states(|state| matches!(state, CellState::LeftOut)),
    );
    count(
        &mut all,
        states(|state| matches!(state, CellState::Missing)),
    );
    count(&mut all, result.cells.len());
    count(&mut all, result.comparisons.len());
    // Counts of parts of lists: pairs, cells with a figure, runs. None is larger than its list.
    let longest = result.cells.len().max(result.comparisons.len());
    all.extend((0..=longest).map(|number| number as f64));
    for cell in &result.cells {
        count(&mut all, cell.repeats.len());
        for repeat in &cell.repeats {
            if repeat.requests > 0 {
                all.push(repeat.failed as f64 / repeat.requests as f64 * 100.0);
            }
            for used in &repeat.used {
                let network = used.network_bytes.unwrap_or_default();
                for bytes in [used.peak_rss_bytes, network.0, network.1] {
                    for step in [10, 20, 30] {
                        all.push(bytes as f64 / f64::from(1 << step));
                    }
                }
            }
        }
    }
    // Half the widths of intervals, in percent, and other units of a declared table.
    for figure in result.cells.iter().flat_map(|cell| &cell.figures) {
        if let Some((low, high)) = figure.interval {
            let half = (high - figure.value).max(figure.value - low);
            all.push(half / figure.value * 100.0);
        }
    }
    for one in &result.comparisons {
        all.extend(
            [one.at_most, one.floor]
                .into_iter()
                .flatten()
                .map(|share| share * 100.0),
        );
    }
    // The example of a ratio and its interval.
    all.extend([1.3, 1.2, 1.4]);
    all.push(result.environment.memory_bytes as f64 / f64::from(1 << 30));
    for outcome in &result.objectives {
        all.push((outcome.limit - outcome.measured) / outcome.limit * 100.0);
        all.extend(outcome.within.map(|within| within * 100.0));
    }
    all
}

#[test]
fn every_number_is_in_the_result() {
    for (name, result) in [
        ("full", fixture::full()),
        ("quick", fixture::quick()),
        ("work", fixture::work()),
        ("empty", fixture::empty()),
    ] {
        let json: Value = serde_json::to_value(&result).expect("a result is JSON");
        let mut known = numbers::of_json(&json);
        known.extend(derived(&result));
        known.sort_by(f64::total_cmp);
        let mut seen = 0;
        for line in prose(&result).iter().chain(&answer(&result)) {
            for printed in numbers::of(line) {
                seen += 1;
                assert!(
                    numbers::holds(&known, &printed),
                    "{name}: {printed:?} is not in the result\n{line}"
                );
            }
        }
        assert!(name == "empty" || seen > 50, "{name}: {seen} numbers");
    }
}

#[test]
fn a_number_that_is_not_in_the_result_would_be_found() {
    let json = serde_json::to_value(fixture::full()).expect("a result is JSON");
    let known = numbers::of_json(&json);
    let is_known = |text: &str| {
        numbers::of(text)
            .iter()
            .all(|printed| numbers::holds(&known, printed))
    };
    assert!(!is_known("takes 87.654321 ms"));
    assert!(!is_known("a ratio of 7.7777"));
    assert!(is_known("7.08 ms, 963 Mbit/s and 3.910"));
    let of = |text: &str| -> Vec<f64> {
        numbers::of(text)
            .iter()
            .map(|printed| printed.value)
            .collect()
    };
    assert_eq!(
        of("p95 of 1,234.5 ms (−3 to 4), h2, 95th, 2026-11-21, users=100"),
        [1234.5, -3.0, 4.0]
    );
}

#[test]
fn an_invalid_cell_has_no_figure_anywhere() {
    let mut result = fixture::full();
    // Figures that remain in an invalid cell by mistake are not shown either.
    let telltale = 98_765.432_1;
    let cell = result
        .cells
        .iter_mut()
        .find(|cell| cell.verdict == "valid")
        .expect("one");
    cell.verdict = "invalid".into();
    cell.reasons = vec!["The generator was the limit.".into()];
    for figure in &mut cell.figures {
        figure.value = telltale;
        figure.interval = Some((telltale * 0.9, telltale * 1.1));
    }
    for page in [markdown(&result), html(&result)] {
        for trace in ["98,765", "98,77", "98765", "98,770"] {
            assert!(!page.contains(trace), "{trace} is shown");
        }
        assert!(page.contains("The generator was the limit."));
        assert!(page.contains("Its figures are not shown"));
    }
}

/// Ratio, interval, outcome.
type Made = (f64, Option<(f64, f64)>, Outcome);

fn only(outcomes: &[Made]) -> Vec<String> {
    let mut result = fixture::full();
    result.pooled.clear();
    result.comparisons.truncate(outcomes.len());
    for (comparison, (ratio, interval, outcome)) in result.comparisons.iter_mut().zip(outcomes) {
        comparison.ratio = Some(*ratio);
        comparison.interval = *interval;
        comparison.outcome = *outcome;
        comparison.at_most = (*outcome == Outcome::NoDifference).then_some(0.05);
    }
    answer(&result)
}

#[test]
fn sentences_follow_from_outcomes() {
    let larger = (1.9, Some((1.8, 2.0)), Outcome::Larger);
    let within = (1.01, Some((0.95, 1.06)), Outcome::NoDifference);
    let smaller = (0.5, Some((0.4, 0.6)), Outcome::Smaller);
    let unsure = (1.7, Some((0.9, 3.2)), Outcome::Uncertain);
    let not = (1.5, None, Outcome::NotMeasured);
    let first = |outcomes: &[_]| only(outcomes).swap_remove(0);
    let begins = |outcomes: &[_], text: &str| {
        let sentence = first(outcomes);
        assert!(sentence.starts_with(text), "{sentence}\n{text}");
        sentence
    };
    // Both figures, the ratio and its interval.
    let head = "95th percentile of response time, pgquery against sqlite: ";
    let sentence = begins(&[larger], &format!("{head}longer, "));
    assert!(
        sentence.ends_with(" ms (http, 100 users, near: 1.90 times, 1.80 to 2.00)."),
        "{sentence}"
    );
    assert!(sentence.contains(" against "), "{sentence}");
    begins(
        &[larger, (1.7, Some((1.6, 1.8)), Outcome::Larger)],
        &format!("{head}longer in both pairs, 1.70 to 1.90 times, such as "),
    );
    let sentence = begins(
        &[within, within],
        &format!("{head}no difference larger than 5.0 % in both pairs, such as "),
    );
    assert!(
        sentence.contains(": 1.010 times, 0.950 to 1.060)"),
        "{sentence}"
    );
    // Ratios far below 1 are shown as inverses.
    let less = (0.04, Some((0.025, 0.05)), Outcome::Smaller);
    let sentence = begins(&[less], &format!("{head}shorter, "));
    assert!(sentence.ends_with(": 1/25, 1/40 to 1/20)."), "{sentence}");
    begins(
        &[less, (0.5, Some((0.4, 0.6)), Outcome::Smaller)],
        &format!("{head}shorter in both pairs, 1/25.0 to 0.50 times, such as "),
    );
    begins(&[unsure], &format!("{head}uncertain, "));
    let sentence = begins(
        &[larger, smaller, within, not],
        &format!("{head}longer in 1 of 3 pairs, "),
    );
    assert!(
        sentence.contains("; shorter in 1, ")
            && sentence.ends_with("; no difference larger than 5.0 % in 1."),
        "{sentence}"
    );
    let none = only(&[not, not]);
    assert!(
        !none.iter().any(|line| line.contains("longer")),
        "{none:#?}"
    );
    assert!(
        none.iter()
            .any(|line| line.contains("No comparison counts")),
        "{none:#?}"
    );
}

/// A sentence that finds no difference names the noise floor, once.
#[test]
fn no_difference_names_the_noise_floor() {
    let mut result = fixture::full();
    result.pooled.clear();
    result.comparisons.truncate(3);
    let outcomes = [
        (1.9, (1.8, 2.0), Outcome::Larger),
        (1.01, (0.95, 1.06), Outcome::NoDifference),
        (1.2, (0.9, 1.6), Outcome::Uncertain),
    ];
    for (comparison, (ratio, interval, outcome)) in result.comparisons.iter_mut().zip(outcomes) {
        comparison.ratio = Some(ratio);
        comparison.interval = Some(interval);
        comparison.outcome = outcome;
        comparison.floor = Some(0.556);
        comparison.at_most = (outcome == Outcome::NoDifference).then_some(0.06);
    }
    let sentence = answer(&result).swap_remove(0);
    assert!(
        sentence.ends_with(
            "; no difference above the noise floor in 1 (less than 6.0 % apart); uncertain in 1. Noise floor: 55.6 %."
        ),
        "{sentence}"
    );
    assert_eq!(sentence.matches("55.6").count(), 1);
    let page = markdown(&result);
    assert!(
        page.contains("no difference above the floor of 55.6 % (at most 6.0 %)"),
        "{page}"
    );
}

/// All values that are compared with the same base share one sentence.
#[test]
fn values_with_the_same_base_share_a_sentence() {
    let mut result = fixture::full();
    result.pooled.clear();
    let base = result.comparisons[0].cells.0.clone();
    result
        .comparisons
        .retain(|one| one.axis == "backend" && one.cells.0 == base && one.cells.1 != base);
    let others: Vec<&str> = result
        .comparisons
        .iter()
        .map(|one| one.cells.1.split(' ').next().unwrap_or_default())
        .collect();
    assert_eq!(others, ["backend=pgquery", "backend=pgfunc"]);
    for comparison in &mut result.comparisons {
        comparison.ratio = Some(1.9);
        comparison.interval = Some((1.8, 2.0));
        comparison.outcome = Outcome::Larger;
        comparison.at_most = None;
    }
    let sentence = answer(&result).swap_remove(0);
    let head = "95th percentile of response time, against sqlite. pgquery: longer, ";
    assert!(sentence.starts_with(head), "{sentence}");
    assert!(sentence.contains(". pgfunc: longer, "), "{sentence}");
}

/// The compared cells determine the label: total time if their latency includes connecting, whatever other cells include.
#[test]
fn a_comparison_has_the_label_of_its_own_cells() {
    let mut result = fixture::full();
    result.pooled.clear();
    result.comparisons.truncate(1);
    let one = &mut result.comparisons[0];
    (one.ratio, one.interval, one.outcome) = (Some(1.9), Some((1.8, 2.0)), Outcome::Larger);
    let compared = [one.cells.0.clone(), one.cells.1.clone()];
    for cell in &mut result.cells {
        for figure in &mut cell.figures {
            let kind = match compared.contains(&cell.name) {
                true => "total time",
                false => "service time",
            };
            figure.label = figure.label.replace("response time", kind);
        }
    }
    // An earlier cell has the other label.
    result.cells.rotate_right(1);
    let sentence = answer(&result).swap_remove(0);
    assert!(
        sentence.starts_with("95th percentile of total time, "),
        "{sentence}"
    );
}

#[test]
fn comparisons_that_decide_no_question_are_collapsed() {
    let mut result = fixture::full();
    result.pooled.clear();
    result.comparisons.truncate(2);
    for (comparison, figure) in result
        .comparisons
        .iter_mut()
        .zip(["latency_p95", "cpu_time_per_request"])
    {
        comparison.figure = figure.into();
        comparison.ratio = Some(1.9);
        comparison.interval = Some((1.8, 2.0));
        comparison.outcome = Outcome::Larger;
    }
    let mut many = result.comparisons.clone();
    // More topics than fit into the conclusion.
    for (at, axis) in ["wire", "users", "place", "none"].iter().enumerate() {
        for one in &result.comparisons {
            let mut one = one.clone();
            one.axis = (*axis).into();
            one.ratio = Some(2.0 + at as f64);
            many.push(one);
        }
    }
    result.comparisons = many;
    let more = |result: &LabResult| {
        let page = plimsoll_report::markdown(result).swap_remove(0).1;
        let page = page
            .split_once("## Further comparisons")
            .expect("the section")
            .1;
        let page = page
            .split_once("## ")
            .expect("another section")
            .0
            .to_owned();
        let (open, folded) = page.split_once("<details>").unwrap_or((&page, ""));
        (open.matches("\n- ").count(), folded.matches("\n- ").count())
    };
    let (open, folded) = more(&result);
    assert!(open > 0 && folded == 0, "{open} {folded}");
    result.tables = vec![plimsoll_results::lab::TableLayout {
        title: "How long?".into(),
        rows: vec![
            "backend".into(),
            "wire".into(),
            "users".into(),
            "place".into(),
        ],
        figures: vec!["latency_p95".into()],
        cells: result.cells.iter().map(|cell| cell.name.clone()).collect(),
        ..plimsoll_results::lab::TableLayout::default()
    }];
    let (open, folded) = more(&result);
    assert!(folded > 0, "{open} {folded}");
    for comparison in &mut result.comparisons {
        comparison.primary = true;
    }
    assert!(more(&result).1 < folded);
}

#[test]
fn a_factor_of_170_is_printed_as_one() {
    let mut result = fixture::far_apart();
    result.comparisons.truncate(2);
    let larger = result.comparisons[..1].to_vec();
    for page in [markdown(&result), html(&result)] {
        // In the text that describes the plot, and in the table.
        assert!(page.matches("×170 (80 to 390)").count() >= 2);
        assert!(page.contains("170 times, 80 to 390"));
        assert!(page.contains("8 repeats would decide"), "{page}");
        assert!(!page.contains("no difference") && !page.contains("noise"));
    }
    result.comparisons = larger;
    let first = answer(&result).swap_remove(0);
    assert!(first.contains("170 times, 80 to 390"), "{first}");
}

#[test]
fn objectives_list_the_cells_that_miss_them() {
    let result = fixture::full();
    let line = answer(&result)
        .into_iter()
        .find(|line| line.contains("at most 9ms"))
        .expect("a sentence about the objective");
    let is_valid = |name: &str| {
        let mut cells = result.cells.iter();
        cells.any(|cell| cell.name == name && cell.verdict == "valid")
    };
    let of = |verdict: &str| {
        result
            .objectives
            .iter()
            .filter(|outcome| outcome.verdict == verdict && is_valid(&outcome.cell))
            .count()
    };
    let valid = of("kept") + of("broken") + of("undecided");
    assert!(
        line.contains(&format!("met in {} of its {valid} valid cells", of("kept"),)),
        "{line}"
    );
    assert!(
        of("broken") == 0 || line.contains(&format!("missed in {}", of("broken"))),
        "{line}"
    );
}

#[test]
fn the_form_is_named_and_short_runs_are_called_short() {
    let quick = fixture::quick();
    for page in [markdown(&quick), html(&quick)] {
        assert!(page.contains("quick form") && page.contains("short"));
        assert!(page.contains("not finished"));
        assert!(page.contains("not part of this form") && page.contains("not run yet"));
    }
    assert!(!markdown(&fixture::full()).contains("quick form"));
}

#[test]
fn both_pages_have_every_part() {
    let result = fixture::full();
    let parts = [
        "Conclusion",
        "Results",
        "Further comparisons",
        "Audit",
        "Comparisons",
        "Objectives",
        "Percentile curves",
        "CPU time per request",
        "Published and measured figures",
        "Errors in the published report",
        "Audit findings",
        "Test environment",
        "Processes and links",
        "Reproducing the results",
        "Evidence",
        "Example CPU 9000",
        "The machines differ.",
        "963 Mbit/s",
        "The lab file, lab.toml",
        "Every effective value",
        "http_reqs......................:",
        "MSER-5",
        "2 runs; 3 are needed",
        "the 95th percentile needs 200",
        "POST /Check: status 503, not 200",
        "the database refused the connection",
        "4 of 6 runs; the machine was restarted.",
        "n2-standard-4",
        "generator-busy",
    ];
    let mut with_quick = fixture::quick();
    with_quick.cells.extend(result.cells.clone());
    let markdown = markdown(&result) + &markdown(&with_quick);
    let html = html(&result) + &html(&with_quick);
    for part in parts {
        assert!(html.contains(part), "HTML lacks {part:?}");
        let plain = markdown.replace('\\', "");
        assert!(plain.contains(part), "Markdown lacks {part:?}");
    }
}

#[test]
fn the_floor_is_on_the_first_screen_and_with_the_comparisons() {
    let mut result = fixture::full();
    let (cell, figure) = {
        let one = &result.comparisons[0];
        (one.cells.0.clone(), one.figure.clone())
    };
    let copy = result.cells[0].clone();
    result.same_cell = Some(Box::new(SameCell {
        cell,
        copy,
        floors: vec![Floor {
            figure,
            ratio: 1.02,
            interval: (0.98, 1.062),
            share: 0.062,
        }],
        method: "3 pairs of restarts of one cell".to_owned(),
    }));
    let page = |result: &LabResult| -> String {
        let pages = plimsoll_report::markdown(result).into_iter();
        pages.map(|(_, text)| text).collect()
    };
    let first = page(&result);
    let floor = "| noise floor | 6.20 % in 95th percentile of response time: two measurements of one cell (sqlite, \
                 http, 100 users, near) may differ by this much, so a smaller difference does not count |";
    assert!(first.contains(floor), "{first}");
    assert!(
        first.contains(
            "A ratio up to the floor is not a difference: 3 pairs of restarts of one cell."
        ),
        "{first}"
    );
    // A place without such a cell has no floor of its own.
    let near = |cell: &mut Cell| {
        cell.link = Some(LinkFigures {
            name: "near".to_owned(),
            ..cell.link.clone().unwrap_or_default()
        });
    };
    if let Some(same) = &mut result.same_cell {
        near(&mut same.copy);
    }
    let of_near = page(&result);
    let other = "a smaller difference does not count; it was measured near only: far, latencies must differ by the same \
                 time and by more than 5 %, up to which figures count as equal there |";
    assert!(of_near.contains(other), "{of_near}");
    result.cells.iter_mut().for_each(near);
    assert!(!page(&result).contains("it was measured near only"));
    if let Some(same) = &mut result.same_cell {
        same.floors.clear();
        same.method = "the runs have too few figures".to_owned();
    }
    let without = page(&result);
    assert!(
        without.contains(
            "(sqlite, http, 100 users, near) was measured twice, but the runs have too few figures"
        ),
        "{without}"
    );
    assert!(!without.contains("A ratio up to the floor"));
}
