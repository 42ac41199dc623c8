//! Ends a run once a figure is known precisely enough (`--until "p99 ±5%"`).

use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_samples::{MetricId, Values, builtin};
use plimsoll_stats::{Histogram, Interval, Looks, interval};
use plimsoll_units::three_digits;

use crate::event::{Event, Listener, ListenerReport};

/// A figure, and the precision at which the run ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionGoal {
    pub figure: PreciseFigure,
    /// The distance of the interval's ends from the figure, as a share of the figure.
    pub precision: f64,
}

/// A figure of the run's latency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PreciseFigure {
    Mean,
    /// A quantile, from 0 to 1.
    Quantile(f64),
}

impl PrecisionGoal {
    /// Parses `p99 ±5%`; `+-` and a space are also accepted for `±`.
    ///
    /// # Errors
    /// Describes the problem and gives an example.
    pub fn parse(text: &str) -> Result<PrecisionGoal, String> {
        const USAGE: &str = "give a figure and a precision, like \"p99 ±5%\"";
        let (figure, precision) = text.trim().split_once([' ', '±', '+']).ok_or(USAGE)?;
        let figure = match figure {
            "mean" | "avg" => PreciseFigure::Mean,
            "median" | "med" => PreciseFigure::Quantile(0.5),
            _ => figure
                .strip_prefix('p')
                .and_then(|percent| percent.parse::<f64>().ok())
                .filter(|percent| *percent > 0.0 && *percent < 100.0)
                .map(|percent| PreciseFigure::Quantile(percent / 100.0))
                .ok_or_else(|| {
                    format!("{figure} is not a figure: use mean, median or a percentile like p95")
                })?,
        };
        let precision = precision
            .trim_matches([' ', '±', '+', '-'])
            .strip_suffix('%')
            .and_then(|percent| percent.trim().parse::<f64>().ok())
            .filter(|percent| *percent > 0.0 && *percent < 100.0)
            .map(|percent| percent / 100.0)
            .ok_or_else(|| format!("{precision} is not a precision: {USAGE}"))?;
        Ok(PrecisionGoal { figure, precision })
    }

    fn interval(self, windows: &[Histogram], confidence: f64) -> Option<Interval> {
        // The seed only has to be the same for the same data.
        let seed = windows.len() as u64;
        match self.figure {
            PreciseFigure::Mean => interval::mean(windows, confidence, seed),
            PreciseFigure::Quantile(q) => interval::quantile(windows, q, confidence, seed),
        }
        .ok()
    }
}

impl std::fmt::Display for PrecisionGoal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let figure = match self.figure {
            PreciseFigure::Mean => "mean".to_owned(),
            PreciseFigure::Quantile(q) => format!("p{}", round(q * 100.0)),
        };
        write!(f, "{figure} ±{}%", round(self.precision * 100.0))
    }
}

/// Removes the digits that binary fractions add.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The metrics that can be the latency of a run. The first one with samples is used.
const LATENCIES: [MetricId; 4] = [
    builtin::HTTP_REQ_RESPONSE_TIME,
    builtin::HTTP_REQ_DURATION,
    builtin::GRPC_REQ_DURATION,
    builtin::ITERATION_DURATION,
];
/// The minimum number of windows for an interval.
const MIN_WINDOWS: usize = 10;
/// The maximum number of windows. Above it, neighbors are merged, so that memory does not grow with the run.
const MAX_WINDOWS: usize = 600;

/// Collects the latencies of each second, and ends the run.
pub(crate) struct Watcher {
    until: PrecisionGoal,
    warm_up: Duration,
    looks: Looks,
    /// The number of seconds since the end of the warm-up.
    seconds: usize,
    /// The latencies of this second, in the order of [`LATENCIES`].
    current: [Histogram; LATENCIES.len()],
    /// Windows of equal length, in the order of [`LATENCIES`]; the oldest is first.
    windows: [Vec<Histogram>; LATENCIES.len()],
    /// The number of seconds in a window, and in the last one.
    length: usize,
    filled: usize,
    reached: Option<Interval>,
}

impl Watcher {
    /// `limit`: the maximum duration of the run including the warm-up. If it is unknown, an hour is assumed.
    pub fn new(until: PrecisionGoal, warm_up: Duration, limit: Option<Duration>) -> Watcher {
        let limit = limit.unwrap_or(Duration::from_secs(3600));
        let seconds = limit.saturating_sub(warm_up).as_secs();
        Watcher {
            until,
            warm_up,
            looks: Looks::new(MIN_WINDOWS, usize::try_from(seconds).unwrap_or(usize::MAX)),
            seconds: 0,
            current: std::array::from_fn(|_| Histogram::new()),
            windows: std::array::from_fn(|_| Vec::new()),
            length: 1,
            filled: 0,
            reached: None,
        }
    }

    /// Ends a second. Returns the interval if the figure is precise enough now.
    fn second_ended(&mut self) -> Option<Interval> {
        self.seconds += 1;
        if self.filled == 0 {
            self.windows
                .iter_mut()
                .for_each(|windows| windows.push(Histogram::new()));
        }
        for (windows, current) in self.windows.iter_mut().zip(&mut self.current) {
            if let Some(last) = windows.last_mut() {
                last.merge(current);
            }
            current.clear();
        }
        self.filled = (self.filled + 1) % self.length;
        if self.filled == 0 && self.windows[0].len() >= MAX_WINDOWS {
            self.windows.iter_mut().for_each(merge_pairs);
            self.length *= 2;
        }
        let confidence = self.looks.due(self.seconds)?;
        self.interval_so_far(confidence)
            .filter(|found| found.relative() <= self.until.precision)
    }

    /// The current interval, computed from complete windows.
    fn interval_so_far(&self, confidence: f64) -> Option<Interval> {
        let whole = |windows: &Vec<Histogram>| windows.len() - usize::from(self.filled > 0);
        let mut all = self.windows.iter();
        let windows = all.find(|windows| windows.iter().any(|window| !window.is_empty()))?;
        self.until
            .interval(windows.get(..whole(windows))?, confidence)
    }
}

/// Merges pairs of neighboring windows.
fn merge_pairs(windows: &mut Vec<Histogram>) {
    let merged = windows.chunks(2).map(|pair| {
        let mut sum = Histogram::new();
        pair.iter().for_each(|one| sum.merge(one));
        sum
    });
    *windows = merged.collect();
}

impl Listener for Watcher {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Window(window) => {
                for (metric, into) in LATENCIES.iter().zip(&mut self.current) {
                    if let Some(Values::Trend(histogram)) =
                        window.window.values(*metric, Duration::from_secs(1))
                    {
                        into.merge(&histogram);
                    }
                }
            }
            Event::Second(progress) if self.reached.is_none() => {
                // The last samples of a second arrive shortly after its end. They belong to the next window.
                let elapsed = progress.elapsed() + Duration::from_millis(500);
                if elapsed.as_secs() <= self.warm_up.as_secs() {
                    self.current.iter_mut().for_each(Histogram::clear);
                    return;
                }
                self.reached = self.second_ended();
                if self.reached.is_some() {
                    progress.state().abort(AbortReason::Precise);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> ListenerReport {
        let text = |found: &Interval| {
            format!(
                "{} ms, {} to {} ms with 95 % confidence over all looks, within this run",
                three_digits(found.estimate),
                three_digits(found.low),
                three_digits(found.high)
            )
        };
        let message = match &self.reached {
            Some(found) => format!(
                "{} is reached after {} s: {}",
                self.until,
                self.seconds + self.warm_up.as_secs() as usize,
                text(found)
            ),
            None => match self.interval_so_far(self.looks.confidence()) {
                Some(found) => format!(
                    "{} was not reached: {}; run longer with -d",
                    self.until,
                    text(&found)
                ),
                None => format!(
                    "{} was not reached: an interval needs at least {MIN_WINDOWS} seconds with enough samples; run longer with -d",
                    self.until
                ),
            },
        };
        ListenerReport {
            messages: vec![message],
            ..ListenerReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_stats::Random;

    use super::*;

    fn until(text: &str) -> Result<PrecisionGoal, String> {
        PrecisionGoal::parse(text)
    }

    #[test]
    fn figures_and_precisions_are_read_in_several_forms() {
        let wanted = PrecisionGoal {
            figure: PreciseFigure::Quantile(0.99),
            precision: 0.05,
        };
        for text in [
            "p99 ±5%",
            "p99±5%",
            "p99 +-5%",
            "p99+-5%",
            "p99 5%",
            " p99 ± 5 % ",
        ] {
            assert_eq!(until(text), Ok(wanted), "{text}");
        }
        assert_eq!(wanted.to_string(), "p99 ±5%");
        assert_eq!(
            until("mean ±2.5%").map(|it| it.to_string()),
            Ok("mean ±2.5%".to_owned())
        );
        for text in [
            "",
            "p99",
            "p0 ±5%",
            "p100 ±5%",
            "p99 ±5",
            "p99 ±0%",
            "q ±5%",
            "p99 ±100%",
        ] {
            assert!(until(text).is_err(), "{text}");
        }
    }

    fn feed(watcher: &mut Watcher, seconds: usize, spread: f64) -> Option<usize> {
        let mut random = Random::new(7);
        for second in 1..=seconds {
            for _ in 0..200 {
                watcher.current[1].record((spread * random.normal()).exp());
            }
            if watcher.second_ended().is_some() {
                return Some(second);
            }
        }
        None
    }

    fn watcher(text: &str, limit: u64) -> Watcher {
        let until = PrecisionGoal::parse(text).expect("valid");
        Watcher::new(until, Duration::ZERO, Some(Duration::from_secs(limit)))
    }

    #[test]
    fn a_run_ends_as_soon_as_the_figure_is_precise_and_not_before() {
        assert_eq!(feed(&mut watcher("p50 ±10%", 300), 300, 0.1), Some(10));
        let later = feed(&mut watcher("p50 ±2%", 300), 300, 0.3).expect("precise at some time");
        assert!((13..300).contains(&later), "{later}");
        assert_eq!(feed(&mut watcher("p99.9 ±0.1%", 60), 60, 0.5), None);
    }

    #[test]
    fn a_long_run_keeps_a_bounded_number_of_windows() {
        let mut long = watcher("p99 ±0.01%", 5_000);
        assert_eq!(feed(&mut long, 5_000, 1.0), None);
        assert!(
            long.windows[1].len() <= MAX_WINDOWS,
            "{}",
            long.windows[1].len()
        );
        let kept: u64 = long.windows[1].iter().map(Histogram::count).sum();
        assert_eq!(kept, 5_000 * 200);
    }
}
