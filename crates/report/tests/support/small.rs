//! A lab of four cells, and the tables of its report.

use plimsoll_results::lab::{CellState, LabResult, TableLayout};

/// A matrix of backends and places with a rate for each cell.
pub fn small(values: &[[f64; 3]]) -> LabResult {
    let mut result = super::fixture::around(
        "Rates",
        "standard",
        vec![
            super::fixture::axis("backend", &["sqlite", "pg"]),
            super::fixture::axis("place", &["near", "far"]),
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
        let mut cell = super::cells::bare(&place, CellState::Measured, "");
        cell.verdict = "valid".into();
        let mut rate = super::cells::figure(
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
pub fn table(result: &LabResult) -> Vec<String> {
    let page = plimsoll_report::markdown(result).swap_remove(0).1;
    let results = page.split_once("## Results").expect("results").1;
    results
        .lines()
        .skip_while(|line| !line.starts_with("| "))
        .take_while(|line| line.starts_with("| "))
        .map(str::to_owned)
        .collect()
}

pub const FOUR: [[f64; 3]; 4] = [
    [990.0, 1000.0, 1010.0],
    [100.0, 110.0, 120.0],
    [480.0, 500.0, 510.0],
    [90.0, 95.0, 105.0],
];

/// The layout of a table of rates: places as rows, stores as columns.
pub fn rates(result: &LabResult, rows: &[&str], columns: &[&str]) -> TableLayout {
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

/// The table of the first screen.
pub fn small_table(result: &LabResult) -> Vec<String> {
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
