//! Plots latency over time in one HTML file that loads no other resources.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::hit::Hit;

/// Collects the points of a plot: 16 bytes per hit.
#[derive(Debug, Default)]
pub struct Plot {
    /// Dates and latencies in nanoseconds, by attack and by whether hits failed.
    series: BTreeMap<(String, bool), Vec<(i64, u64)>>,
}

const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 560.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 50.0;

/// Colors for successes, then for failures. They can be distinguished in grayscale, too.
const COLORS: [[&str; 4]; 2] = [
    ["#1668c4", "#1d8a5b", "#7a4fc4", "#8a6d1d"],
    ["#d1242f", "#e36209", "#b5179e", "#7d1a1a"],
];

impl Plot {
    pub fn add(&mut self, hit: &Hit) {
        let latency = u64::try_from(hit.latency.as_nanos()).unwrap_or(u64::MAX);
        let key = (hit.attack.clone(), !hit.error.is_empty());
        let points = match self.series.get_mut(&key) {
            Some(points) => points,
            None => self.series.entry(key).or_default(),
        };
        points.push((hit.date.unix_nanos(), latency));
    }

    /// The page with `title`, the plot with at most `threshold` points per series, and the printed `report`.
    pub fn html(&mut self, title: &str, threshold: usize, report: &str) -> String {
        let title = escape(title);
        let report = escape(report);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             {}<pre>{report}</pre>\n</body>\n</html>\n",
            self.svg(threshold)
        )
    }

    fn svg(&mut self, threshold: usize) -> String {
        for points in self.series.values_mut() {
            points.sort_unstable();
        }
        let all = || self.series.values().flatten();
        let start = all().map(|(date, _)| *date).min().unwrap_or(0);
        let end = all().map(|(date, _)| *date).max().unwrap_or(0);
        let seconds = (end.saturating_sub(start) as f64 / 1e9).max(1e-3);
        // The latency axis is logarithmic, in whole decades of milliseconds.
        let milliseconds = |nanos: u64| nanos.max(1) as f64 / 1e6;
        let least = all()
            .map(|(_, latency)| *latency)
            .min()
            .unwrap_or(1_000_000);
        let most = all()
            .map(|(_, latency)| *latency)
            .max()
            .unwrap_or(1_000_000);
        let bottom = milliseconds(least).log10().floor();
        let top = milliseconds(most).log10().ceil().max(bottom + 1.0);
        let x = |at: f64| LEFT + at / seconds * (WIDTH - LEFT - RIGHT);
        let y = |milliseconds: f64| {
            TOP + (top - milliseconds.log10()) / (top - bottom) * (HEIGHT - TOP - BOTTOM)
        };
        let mut svg = format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Latency over time\">\n"
        );
        let (floor, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        let mut decade = bottom;
        while decade <= top {
            let at = y(10_f64.powf(decade));
            let label = label(10_f64.powf(decade));
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 8.0,
                at + 4.0
            );
            decade += 1.0;
        }
        let step = step(seconds);
        let mut tick = 0.0;
        while tick <= seconds * 1.000_001 {
            let at = x(tick);
            let shown = crate::json::number((tick * 1e6).round() / 1e6);
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{at:.1} {TOP}V{floor}\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{shown} s</text>",
                floor + 20.0
            );
            tick += step;
        }
        let mut legend = String::new();
        for (place, ((attack, failed), points)) in self.series.iter().enumerate() {
            let colors = COLORS[usize::from(*failed)];
            let color = colors[place % colors.len()];
            let mut path = String::new();
            for (at, latency) in thinned(points, threshold) {
                let at = x(at.saturating_sub(start) as f64 / 1e9);
                let _ = write!(path, "M{at:.1} {:.1}h0", y(milliseconds(latency)));
            }
            let _ = writeln!(
                svg,
                "<path class=\"points\" stroke=\"{color}\" d=\"{path}\"/>"
            );
            let name = if attack.is_empty() { "hits" } else { attack };
            let what = if *failed { "failed" } else { "succeeded" };
            let _ = write!(
                legend,
                "<li><span style=\"background:{color}\"></span>{}: {what} ({})</li>",
                escape(name),
                points.len()
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">since the first hit; latency on a logarithmic axis</text>\n</svg>",
            WIDTH / 2.0,
            HEIGHT - 8.0
        );
        format!("{svg}<ul>{legend}</ul>\n")
    }
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:80rem;padding:0 1rem;color:#1f2328;background:#fff}
svg{width:100%;height:auto}
svg text{font-size:13px;fill:currentColor}
.grid{stroke:currentColor;stroke-opacity:.15;fill:none}
.points{stroke-width:3;stroke-linecap:round;stroke-opacity:.6;fill:none}
ul{list-style:none;display:flex;flex-wrap:wrap;gap:1.5rem;padding:0}
li span{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em}
pre{overflow-x:auto;padding:1rem;border:1px solid #8884;border-radius:6px}
@media (prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}}
";

fn label(milliseconds: f64) -> String {
    let (value, unit) = if milliseconds < 0.999e-3 {
        (milliseconds * 1e6, "ns")
    } else if milliseconds < 0.999 {
        (milliseconds * 1e3, "µs")
    } else if milliseconds < 999.0 {
        (milliseconds, "ms")
    } else {
        (milliseconds / 1e3, "s")
    };
    format!("{value:.0} {unit}")
}

/// A round step of about a tenth of the range.
fn step(whole: f64) -> f64 {
    let rough = whole / 10.0;
    let decade = 10_f64.powf(rough.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * decade)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * decade)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Reduces the points to this number while keeping the shape of the line: S. Steinarsson, "Downsampling Time Series for
/// Visual Representation" (2013), largest triangle three buckets.
fn thinned(points: &[(i64, u64)], threshold: usize) -> Vec<(i64, u64)> {
    let threshold = threshold.max(3);
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Vec::new();
    };
    if points.len() <= threshold {
        return points.to_vec();
    }
    let inner = &points[1..points.len() - 1];
    let buckets = threshold - 2;
    let bucket = |number: usize| {
        let cut = |number: usize| number * inner.len() / buckets;
        &inner[cut(number)..cut(number + 1)]
    };
    let mut kept = vec![*first];
    let mut last_kept = *first;
    for number in 0..buckets {
        let next = if number + 1 < buckets {
            bucket(number + 1)
        } else {
            std::slice::from_ref(last)
        };
        let count = next.len().max(1) as f64;
        let mean_at = next
            .iter()
            .map(|(at, _)| (at - last_kept.0) as f64)
            .sum::<f64>()
            / count;
        let mean = next.iter().map(|(_, value)| *value as f64).sum::<f64>() / count;
        let area = |&(at, value): &(i64, u64)| {
            let across = mean_at * (value as f64 - last_kept.1 as f64);
            let along = (at - last_kept.0) as f64 * (mean - last_kept.1 as f64);
            (across - along).abs()
        };
        let best = bucket(number)
            .iter()
            .max_by(|one, other| area(one).total_cmp(&area(other)));
        if let Some(best) = best {
            kept.push(*best);
            last_kept = *best;
        }
    }
    kept.push(*last);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date::Date;
    use std::time::Duration;

    fn hit(at: i64, latency: u64, error: &str) -> Hit {
        Hit {
            attack: "<b>".to_owned(),
            date: Date::from_unix_nanos(at),
            latency: Duration::from_nanos(latency),
            error: error.to_owned(),
            ..Hit::default()
        }
    }

    #[test]
    fn the_page_is_self_contained_and_escapes_markup() {
        let mut plot = Plot::default();
        for n in 0..10_000_i64 {
            let error = if n % 10 == 0 { "no" } else { "" };
            plot.add(&hit(n * 1_000_000, 1_000_000 + n as u64 % 977, error));
        }
        let page = plot.html("a <script>", 100, "report & more");
        assert!(page.contains("a &lt;script&gt;") && !page.contains("<script"));
        assert!(page.contains("&lt;b&gt;: failed (1000)"));
        assert!(page.contains("report &amp; more"));
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert_eq!(page.matches("h0").count(), 200, "a hundred points a series");
    }

    #[test]
    fn thinning_keeps_the_peak() {
        let mut points: Vec<_> = (0..5_000).map(|n| (n, 10)).collect();
        points[2_345].1 = 1_000;
        let kept = thinned(&points, 50);
        assert_eq!(kept.len(), 50);
        assert!(kept.contains(&(2_345, 1_000)));
    }

    #[test]
    fn an_empty_result_makes_a_page() {
        assert!(Plot::default().html("none", 0, "").contains("<svg"));
    }
}
