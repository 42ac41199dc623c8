//! Computes how much an emulated line with jitter contributes to a percentile of a latency.

use plimsoll_plots::number::{Place, tick};
use plimsoll_results::lab::{Cell, LinkFigures};

/// Each percentile of a latency, and the share of requests below it.
const PERCENTILES: [(&str, &str, f64); 4] = [
    ("latency_p90", "p90", 0.90),
    ("latency_p95", "p95", 0.95),
    ("latency_p99", "p99", 0.99),
    ("latency_p999", "p99.9", 0.999),
];

/// If the line contributes at least this share of a figure, the line decides the figure.
const DECISIVE_SHARE: f64 = 0.9;

/// `The emulated line decides this: it alone takes 97.44 ms at p95 (88 ± 13.8 ms).` `None` if the cells have no common line
/// with jitter, or if it contributes less to the figure.
pub fn note(cells: &[&Cell], figure: &str) -> Option<String> {
    let (_, percentile, share) = PERCENTILES.iter().find(|(name, ..)| *name == figure)?;
    let lines = cells
        .iter()
        .map(|cell| round_trip_and_jitter(cell.link.as_ref()?));
    let lines: Option<Vec<(f64, f64)>> = lines.collect();
    let lines = lines?;
    let first = *lines.first()?;
    if lines.iter().any(|line| *line != first) {
        return None;
    }
    let alone = round_trip_quantile(first, *share);
    let decides = cells.iter().all(|cell| {
        let mut figures = cell.figures.iter();
        let value = figures.find(|one| one.name == figure);
        value.is_some_and(|value| alone >= DECISIVE_SHARE * value.value)
    });
    decides.then(|| {
        format!(
            "The emulated line decides this: it alone takes {} ms at {percentile} ({} ± {} ms).",
            Place::decimals(2).print(alone),
            tick(first.0),
            tick(first.1)
        )
    })
}

/// The round trip and the jitter of a line that has both.
fn round_trip_and_jitter(link: &LinkFigures) -> Option<(f64, f64)> {
    let jitter = link.declared_jitter_ms.filter(|jitter| *jitter > 0.0)?;
    Some((link.declared_round_trip_ms?, jitter))
}

/// The quantile of the round trip for this share. Each direction has half of the jitter, uniformly distributed, so the
/// round trip has a triangular distribution.
fn round_trip_quantile((round_trip, jitter): (f64, f64), share: f64) -> f64 {
    round_trip + jitter * (1.0 - (2.0 * (1.0 - share)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::round_trip_quantile;

    #[test]
    fn the_quantile_of_a_line_is_that_of_two_even_distributions() {
        // Sums of all pairs of 1000 even steps in each direction.
        let steps = 1000;
        let one_way = |step: usize| (2.0 * (step as f64 + 0.5) / steps as f64 - 1.0) * 13.8 / 2.0;
        let pairs = (0..steps).flat_map(|out| (0..steps).map(move |back| (out, back)));
        let mut all: Vec<f64> = pairs
            .map(|(out, back)| 88.0 + one_way(out) + one_way(back))
            .collect();
        all.sort_by(f64::total_cmp);
        for share in [0.9, 0.95, 0.99] {
            let counted = all[(share * all.len() as f64) as usize];
            let computed = round_trip_quantile((88.0, 13.8), share);
            assert!(
                (counted - computed).abs() < 0.05,
                "{share}: {counted} {computed}"
            );
        }
    }
}
