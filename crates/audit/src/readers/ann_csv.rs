//! Reads CSV exports in the layout of ann-benchmarks: one row per algorithm, parameters and data
//! set, with queries per second and percentiles in milliseconds.

use super::{BOUNDARY, Line};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_number};

const LAYOUT: &str = "ann-benchmarks CSV";

/// Maximum number of columns. Real files have about twenty.
const MAX_COLUMNS: usize = 64;

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut header: Vec<String> = Vec::new();
    for line in lines {
        if line.text == BOUNDARY {
            header.clear();
            continue;
        }
        if !line.text.contains(',') {
            continue;
        }
        if header.is_empty() {
            if line.text.contains("algorithm") && line.text.contains("qps") {
                header = split_cells(line.text);
                let has = |name: &str| header.iter().any(|column| column == name);
                if !(has("algorithm") && has("qps") && (has("k-nn") || has("recall"))) {
                    header.clear();
                }
            }
            continue;
        }
        if blocks.len() > crate::MAX_BLOCKS {
            break;
        }
        blocks.extend(read_row(&header, &split_cells(line.text), line.number));
    }
    blocks
}

fn read_row(header: &[String], cells: &[String], line: usize) -> Option<Block> {
    if cells.len() != header.len() {
        return None;
    }
    let cell = |name: &str| {
        let at = header.iter().position(|column| column == name)?;
        cells.get(at)
    };
    let figure = |name: &str, unit, scale: f64| {
        let text = cell(name)?;
        let (value, step) = parse_number(text)?;
        (value > 0.0).then(|| Quantity {
            value: value * scale,
            unit,
            step: step * scale,
            text: if unit == Unit::Time {
                format!("{text} ms")
            } else {
                text.clone()
            },
            line,
        })
    };
    let rate = figure("qps", Unit::Rate, 1.0)?;
    let mut block = Block::new(Tool::AnnBenchmarks, LAYOUT, line);
    block.titles = ["dataset", "algorithm", "parameters"]
        .iter()
        .filter_map(|name| cell(name).cloned())
        .collect();
    block.model = Model::Closed;
    let mut trend = Trend::new(Role::Request, "query", line);
    // The rate is 1 ÷ the mean time of a query.
    trend.mean = Some(Quantity {
        value: 1.0 / rate.value,
        unit: Unit::Time,
        step: rate.step / (rate.value * rate.value),
        text: format!("1 ÷ {}/s", rate.text),
        line,
    });
    for (name, quantile) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)] {
        if let Some(figure) = figure(name, Unit::Time, 1e-3) {
            trend.insert_quantile(quantile, figure);
        }
    }
    block.rate = Some(rate);
    block.trends.push(trend);
    Some(block)
}

/// The cells of a CSV line. A quoted cell may contain commas and doubled quotes.
fn split_cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                if let Some(cell) = cells.last_mut() {
                    cell.push('"');
                }
            }
            '"' => quoted = !quoted,
            ',' if !quoted => {
                if cells.len() == MAX_COLUMNS {
                    break;
                }
                cells.push(String::new());
            }
            letter => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(letter);
                }
            }
        }
    }
    for cell in &mut cells {
        *cell = cell.trim().to_owned();
    }
    cells
}
