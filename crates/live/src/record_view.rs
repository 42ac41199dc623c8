//! Describes a run in another process for a terminal, based on the seconds of its record.

use std::collections::VecDeque;
use std::time::Duration;

use plimsoll_output::live::{Counted, GeneratorLoad, LiveFigures, LiveView, Offered};
use plimsoll_results::record::Second;
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::page_title::PageTitle;
use crate::point::Point;
use crate::steps_page::{latency, point, trend};
use crate::terminal_view::{RATES, average, milliseconds, quantiles, traffic};

/// Follows the record of an open model, and describes its run for a terminal.
pub struct RecordView {
    title: PageTitle,
    offered_rate: f64,
    began: Moment,
    /// Requests and finished iterations per second, oldest first.
    rates: VecDeque<(f64, f64)>,
    /// The latest second. Its start is the time of the run.
    latest: Point,
    totals: Totals,
    latency: Histogram,
    latency_metric: &'static str,
    lag: Histogram,
}

/// The figures of the run so far.
#[derive(Default)]
struct Totals {
    iterations: u64,
    dropped: u64,
    requests: u64,
    failed: u64,
    received: u64,
    sent: u64,
}

impl RecordView {
    /// Creates a view of a run that starts now. `offered_rate` is the rate of its schedule.
    pub fn new(title: PageTitle, offered_rate: f64) -> RecordView {
        RecordView {
            title,
            offered_rate,
            began: plimsoll_clock::now(),
            rates: VecDeque::new(),
            latest: Point::default(),
            totals: Totals::default(),
            latency: Histogram::new(),
            latency_metric: "",
            lag: Histogram::new(),
        }
    }

    /// Adds a second of the record, or late data of an earlier second.
    pub fn add(&mut self, second: &Second) {
        let start = self.latest.start + self.latest.span;
        let point = point(second, start, "open");
        let totals = &mut self.totals;
        totals.iterations += point.started;
        totals.dropped += point.dropped;
        totals.requests += point.requests;
        totals.failed += point.failed;
        totals.received += point.received;
        totals.sent += point.sent;
        if let Some((metric, histogram)) = latency(second) {
            self.latency.merge(&histogram);
            self.latency_metric = metric;
        }
        if let Some(lag) = trend(second, "iteration_send_lag") {
            self.lag.merge(&lag);
        }
        if second.late || point.span <= 0.0 {
            return;
        }
        if self.rates.len() == RATES {
            self.rates.pop_front();
        }
        let per_second = |count: u64| count as f64 / point.span;
        let rates = (per_second(point.requests), per_second(point.finished));
        self.rates.push_back(rates);
        self.latest = point;
    }

    /// Describes the run and its progress at this moment.
    pub fn view(&self) -> LiveView {
        let elapsed = plimsoll_clock::now().since(self.began);
        let whole = self.title.duration.unwrap_or(Duration::ZERO);
        let elapsed = if whole.is_zero() {
            elapsed
        } else {
            elapsed.min(whole)
        };
        LiveView {
            title: self.title.title.clone(),
            elapsed,
            duration: self.title.duration,
            done: elapsed.as_secs_f64() / whole.as_secs_f64().max(1e-9),
            figures: (!self.rates.is_empty()).then(|| self.figures()),
        }
    }

    fn figures(&self) -> LiveFigures {
        let (totals, point) = (&self.totals, &self.latest);
        let has_requests = totals.requests > 0;
        let (counted, total, failed) = if has_requests {
            (Counted::Requests, totals.requests, totals.failed)
        } else {
            (Counted::Iterations, totals.iterations, 0)
        };
        let rates = self.rates.iter();
        let rates = rates.map(|(requests, iterations)| match has_requests {
            true => *requests,
            false => *iterations,
        });
        LiveFigures {
            counted,
            total,
            failed,
            rates: rates.collect(),
            average_rate: average(total, point),
            offered_rate: Some(self.offered_rate),
            latest: point
                .latency
                .as_ref()
                .map(|latency| quantiles([latency.p50, latency.p95, latency.p99, latency.max])),
            overall: (!self.latency.is_empty()).then(|| {
                let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|q| self.latency.quantile(q));
                quantiles([p50, p95, p99, self.latency.max()])
            }),
            latency_metric: self.latency_metric,
            users: (point.users, point.users),
            in_flight: point.in_flight,
            received: traffic(point.received, point, totals.received),
            sent: traffic(point.sent, point, totals.sent),
            offered: Some(Offered {
                offered: totals.iterations + totals.dropped,
                started: totals.iterations,
                dropped: totals.dropped,
            }),
            generator: GeneratorLoad {
                send_lag: (!self.lag.is_empty()).then(|| milliseconds(self.lag.quantile(0.99))),
                ..GeneratorLoad::default()
            },
            ..LiveFigures::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_results::distribution::Distribution;

    use super::*;

    fn second(number: u64, requests: u32, late: bool) -> Second {
        let mut second = Second {
            second: number,
            late,
            users: 4,
            ..Second::default()
        };
        let count = f64::from(requests);
        for name in ["iterations", "http_reqs"] {
            second.counters.insert(name.to_owned(), count);
        }
        let failed = ("http_req_failed".to_owned(), (1, u64::from(requests)));
        second.rates.extend([failed]);
        let mut times = Histogram::new();
        (0..requests).for_each(|_| times.record(20.0));
        let times = Distribution::of(&times);
        second
            .trends
            .extend([("http_req_duration".to_owned(), times)]);
        second
    }

    #[test]
    fn seconds_add_up_and_late_ones_only_count_in_the_totals() {
        let title = PageTitle {
            title: "a trial".to_owned(),
            duration: Some(Duration::from_secs(10)),
        };
        let mut view = RecordView::new(title, 100.0);
        assert_eq!(view.view().figures, None);
        view.add(&second(0, 90, false));
        view.add(&second(1, 100, false));
        view.add(&second(0, 10, true));
        let shown = view.view();
        assert_eq!(shown.duration, Some(Duration::from_secs(10)));
        let figures = shown.figures.unwrap();
        assert_eq!((figures.total, figures.failed), (200, 3));
        assert_eq!(figures.rates, [90.0, 100.0]);
        assert_eq!((figures.average_rate, figures.users), (100.0, (4, 4)));
        assert_eq!(figures.latency_metric, "http_req_duration");
        let p99 = figures.overall.unwrap().p99;
        assert!(p99.abs_diff(Duration::from_millis(20)) < Duration::from_micros(50));
    }
}
