//! Figures in the units of a table, and short names for the headings of its columns.

use plimsoll_results::lab::LabResult;

/// The factor from a figure's unit to the unit that a table asks for; `None` if there is none.
pub fn conversion_factor(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    match (from, to) {
        ("ms", "s") => Some(1e-3),
        ("ms", "µs") | ("s", "ms") => Some(1e3),
        // Megabits and megabytes are both powers of ten.
        ("Mbit/s", "MB/s") => Some(0.125),
        ("Mbit/s", "Gbit/s") => Some(1e-3),
        ("MB/s", "Mbit/s") => Some(8.0),
        ("CPU µs", "CPU ms") => Some(1e-3),
        _ => None,
    }
}

/// The computation of a cell's value from its runs.
pub fn value_over_runs(result: &LabResult) -> &'static str {
    let mut figures = result.cells.iter().flat_map(|cell| &cell.figures);
    // Versions without restarts used the median.
    if figures.any(|figure| !figure.restarts.is_empty()) {
        "the geometric mean over the restarts of a cell (the arithmetic one if a run has a value of 0)"
    } else {
        "the median over the runs of a cell"
    }
}

/// A heading for a figure in a narrow column.
pub fn short_label<'a>(name: &str, label: &'a str) -> &'a str {
    match name {
        "latency_p50" => "median",
        "latency_p90" => "p90",
        "latency_p95" => "p95",
        "latency_p99" => "p99",
        "latency_p999" => "p99.9",
        "latency_mean" => "mean",
        "latency_max" => "longest",
        "requests_per_second" => "rate",
        "references_per_second" => "references",
        "cpu_time_per_request" => "CPU",
        "makespan" => "time",
        _ => label,
    }
}

#[cfg(test)]
mod tests {
    use super::conversion_factor;

    #[test]
    fn units_convert_and_unrelated_ones_do_not() {
        assert_eq!(
            conversion_factor("CPU µs", "CPU ms").map(|by| 250.0 * by),
            Some(0.25)
        );
        // A published report printed 552 Mbit/s as MB/s.
        assert_eq!(
            conversion_factor("Mbit/s", "MB/s").map(|by| 552.0 * by),
            Some(69.0)
        );
        assert_eq!(conversion_factor("ms", "ms"), Some(1.0));
        assert_eq!(conversion_factor("ms", "MB/s"), None);
    }
}
