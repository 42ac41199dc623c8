//! The tables of a report: their axes, figures, units and marks.

mod support;

use plimsoll_report::answer;
use plimsoll_results::lab::{
    Comparison, LabResult, LimitSearch, ObjectiveOutcome, Outcome, Placed, Published, TableLayout,
};
use support::small::{FOUR, rates, small, small_table, table};
use support::{fixture, markdown};

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
            too_few: None,
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

/// The rates of [`small`], with a median and the CPU time that each request takes.
fn with_cpu(micros: [f64; 4]) -> LabResult {
    let mut result = small(&FOUR);
    for (cell, micros) in result.cells.iter_mut().zip(micros) {
        for (name, label, unit, value) in [
            ("latency_p50", "median", "ms", 5.0),
            (
                "cpu_time_per_request",
                "CPU time per request",
                "CPU µs",
                micros,
            ),
        ] {
            let mut figure = cell.figures[0].clone();
            figure.name = name.into();
            figure.label = label.into();
            figure.unit = unit.into();
            figure.value = value;
            figure.interval = None;
            cell.figures.push(figure);
        }
    }
    result
}

#[test]
fn an_overloaded_service_is_marked_where_its_latency_is_shown() {
    // 1000 requests per second at 980 µs each use 98 % of one processor. The other services are not overloaded.
    let mut result = with_cpu([980.0, 980.0, 980.0, 980.0]);
    result.topology = ["authz", "generator"]
        .map(|name| Placed {
            name: name.into(),
            cpus: vec![u32::from(name == "generator")],
            command: String::new(),
            version: None,
            settings: Vec::new(),
        })
        .into();
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    result.tables[0].figures = vec!["latency_p50".into()];
    let note = "† **Overloaded** (sqlite, near): the service used 98 % of its processor, so requests waited for it, and the \
                latency depends on how many wait.";
    assert_eq!(
        small_table(&result)[3..],
        [
            "| sqlite | 5.00 <sup>†</sup> | 5.00 |",
            "| pg | 5.00 | 5.00 |",
            &format!("- {note}"),
        ]
    );
    let page = markdown(&result);
    let results = page.split_once("## Results").expect("results").1;
    assert!(
        results.contains("| sqlite | 5.00 <sup>†</sup> | 5.00 |"),
        "{results}"
    );
    assert!(results.contains(note), "{results}");
    // Not marked: this load keeps all services busy on purpose.
    for (cell, rate) in result.cells.iter_mut().zip([1000.0, 110.0, 500.0, 95.0]) {
        cell.figures[2].value = 0.97e6 / rate;
    }
    assert!(!markdown(&result).contains("Overloaded"));
    // Not marked: only latencies, not rates, suffer from a queue.
    let mut of_rates = with_cpu([980.0, 980.0, 980.0, 980.0]);
    of_rates.topology.clone_from(&result.topology);
    of_rates.tables = vec![rates(&of_rates, &["backend"], &["place"])];
    assert!(!markdown(&of_rates).contains("Overloaded"));
}

#[test]
fn cpu_time_per_request_is_shown_with_its_rates() {
    let mut result = with_cpu([100.0, 200.0, 150.0, 300.0]);
    result.tables = vec![rates(&result, &["backend"], &["place"])];
    result.tables[0].figures = vec!["cpu_time_per_request".into()];
    let page = markdown(&result);
    let caption = "CPU time per request, CPU µs at 95 to 1000 requests/s";
    assert_eq!(page.matches(caption).count(), 2, "{page}");
    result.comparisons = vec![Comparison {
        axis: "place".into(),
        cells: (result.cells[0].name.clone(), result.cells[1].name.clone()),
        place: vec![("backend".into(), "sqlite".into())],
        figure: "cpu_time_per_request".into(),
        ratio: Some(2.0),
        interval: Some((1.8, 2.2)),
        outcome: Outcome::Larger,
        ..Comparison::default()
    }];
    let sentence = "CPU time per request, far against near: higher, 200 against 100.0 CPU µs at 110 to 1000 requests/s (";
    assert!(
        answer(&result)
            .iter()
            .any(|line| line.starts_with(sentence)),
        "{:#?}",
        answer(&result)
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
