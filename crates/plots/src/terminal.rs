//! Plots in plain text, for terminals.

use crate::limit::LimitPlot;
use crate::number;
use crate::scale::{Scale, extent};

/// Plots a search for the limit, at most `columns` characters wide. Each row is a rate that was
/// tried, the lowest first, with a mark for each trial at its measured value.
///
/// ```text
///  rate/s   p95 of response time, ms                    │ = limit 50
///     200   ●                                           │
///     400    ●●                                         │
///     800                                          ●    │   ×
/// ```
pub fn limit(plot: &LimitPlot, columns: usize) -> String {
    let mut rates: Vec<f64> = plot.trials.iter().map(|trial| trial.rate).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let names: Vec<String> = rates.iter().map(|rate| number::short(*rate)).collect();
    let left = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0)
        .max(6);
    let across = columns.saturating_sub(left + 4).clamp(10, 120);
    let along = Scale::over(
        plot.trials
            .iter()
            .filter_map(|trial| trial.value)
            .chain([plot.limit]),
        0.0,
        (across - 1) as f64,
    );
    let place = |value: f64| along.at(value).round() as usize;
    let rule = place(plot.limit);
    let head = format!(
        "{:>left$}   {}, {}; │ is the limit of {} {}",
        "rate/s",
        plot.figure,
        plot.unit,
        number::short(plot.limit),
        plot.unit
    );
    let mut out = clip(&head, columns);
    for (rate, name) in rates.iter().zip(&names) {
        let mut row = vec![' '; across];
        set_mark(&mut row, rule, '│');
        for trial in plot.trials.iter().filter(|trial| trial.rate == *rate) {
            let mark = match (trial.kept, trial.soak) {
                (true, true) => '■',
                (true, false) => '●',
                (false, _) => '×',
            };
            set_mark(&mut row, trial.value.map_or(across - 1, place), mark);
        }
        let row: String = row.into_iter().collect();
        out += &clip(&format!("{name:>left$}   {row}"), columns);
    }
    let ends = along.ends();
    let (low, high) = (number::tick(ends.0), number::tick(ends.1));
    let gap = across.saturating_sub(low.chars().count());
    out += &clip(&format!("{:left$}   {low}{high:>gap$}", ""), columns);
    out + &clip("● met   × missed   ■ met in the soak", columns)
}

/// The values of a metric in several runs.
#[derive(Clone, Debug)]
pub struct History {
    /// The name and the unit of the metric.
    pub label: String,
    /// The name (a date or an id) and the value of each run, the oldest first.
    pub runs: Vec<(String, f64)>,
    /// The indices of the runs that start a new level.
    pub changes: Vec<usize>,
}

/// Plots a metric over several runs, at most `columns` characters wide. Each row is a run, and a
/// line marks where the level changes.
pub fn history(history: &History, columns: usize) -> String {
    let figures: Vec<String> = history
        .runs
        .iter()
        .map(|run| number::short(run.1))
        .collect();
    let width = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let names = width(&mut history.runs.iter().map(|run| run.0.chars().count()));
    let digits = width(&mut figures.iter().map(|figure| figure.chars().count()));
    let across = columns.saturating_sub(names + digits + 4).clamp(10, 100);
    let (low, high) = extent(history.runs.iter().map(|run| run.1));
    // Bars start at 0, unless all values are close together and far from 0, because the bars would
    // then look equal.
    let low = if low > 0.0 && (high - low) < low * 0.5 {
        low - (high - low).max(low * 0.02)
    } else {
        low.min(0.0)
    };
    let along = Scale::exact(low, high, 0.0, (across - 1) as f64);
    let mut out = clip(&history.label, columns);
    for (index, ((name, value), figure)) in history.runs.iter().zip(&figures).enumerate() {
        if index > 0 && history.changes.contains(&index) {
            let rule = "─".repeat(across);
            out += &clip(&format!("{:names$}  {:digits$}  {rule}", "", ""), columns);
        }
        let mut row = vec!['·'; along.at(*value).round() as usize];
        row.push('●');
        let row: String = row.into_iter().collect();
        out += &clip(
            &format!("{name:<names$}  {figure:>digits$}  {row}"),
            columns,
        );
    }
    let first = number::short(low);
    out += &clip(
        &format!("{:names$}  {:digits$}  └ {first}", "", ""),
        columns,
    );
    if !history.changes.is_empty() {
        out += &clip("─ the level changes here", columns);
    }
    out
}

fn set_mark(row: &mut [char], at: usize, mark: char) {
    if let Some(place) = row.get_mut(at) {
        *place = mark;
    }
}

/// Removes control characters and trailing spaces from a line, and cuts it to the width.
fn clip(line: &str, columns: usize) -> String {
    let line: String = line
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .take(columns)
        .collect();
    format!("{}\n", line.trim_end())
}
