//! The page of a command with many runs: a search or a lab.

use std::sync::Arc;

use plimsoll_results::record::{Record, Second};
use plimsoll_stats::Histogram;
use plimsoll_units::Moment;

use crate::collector::Update;
use crate::display::LATENCIES;
use crate::hub::Hub;
use crate::point::{Latency, Point};
use crate::state::State;
use crate::steps::Steps;

/// Shows steps on a page, and the seconds of their runs in the page's charts.
pub struct StepsPage {
    hub: Arc<Hub>,
    began: Moment,
    title: String,
    steps: Steps,
    /// The completed share, from 0 to 1. `None` if unknown.
    done: Option<f64>,
    /// The end of the latest run in the charts, in seconds.
    shown: f64,
}

impl StepsPage {
    pub(crate) fn new(hub: Arc<Hub>, title: String, steps: Steps) -> StepsPage {
        let page = StepsPage {
            hub,
            began: plimsoll_clock::now(),
            title,
            steps,
            done: None,
            shown: 0.0,
        };
        page.publish(None, None);
        page
    }

    /// Changes the page, and sends it to viewers. `done` is the completed share, if known.
    pub fn update(&mut self, done: Option<f64>, change: impl FnOnce(&mut Steps)) {
        change(&mut self.steps);
        self.done = done;
        self.publish(None, None);
    }

    /// Adds the seconds of a run that has just ended to the charts.
    pub fn add_run(&mut self, record: &Record) {
        let seconds: Vec<&Second> = record.seconds.iter().chain(&record.tail).collect();
        let length: f64 = seconds.iter().map(|second| length(second)).sum();
        // Runs do not overlap. This only corrects differences between clocks.
        let mut start = (self.elapsed() - length).max(self.shown);
        for second in seconds {
            let point = point(second, start, &record.header.model);
            start += point.span;
            self.publish(Some(point), None);
        }
        self.shown = start;
    }

    /// Shows the result, and ends the event streams of all viewers.
    pub fn end(mut self, text: &str, change: impl FnOnce(&mut Steps)) {
        change(&mut self.steps);
        self.steps.now = String::new();
        self.done = Some(1.0);
        self.publish(None, Some(text.to_owned()));
        self.hub.close();
    }

    fn elapsed(&self) -> f64 {
        plimsoll_clock::now().since(self.began).as_secs_f64()
    }

    fn publish(&self, point: Option<Point>, ended: Option<String>) {
        self.hub.publish(Update {
            point,
            is_rest: false,
            latency_changed: false,
            state: State {
                title: self.title.clone(),
                phase: if ended.is_some() { "ended" } else { "running" },
                elapsed: self.elapsed(),
                done: self.done.unwrap_or(0.0),
                steps: Some(self.steps.clone()),
                ended,
                ..State::default()
            },
        });
    }
}

fn length(second: &Second) -> f64 {
    second.lasted.unwrap_or(1.0)
}

/// Converts a second of a record to a point that starts at `start`.
pub fn point(second: &Second, start: f64, model: &str) -> Point {
    let count = |name: &str| second.counters.get(name).copied().unwrap_or(0.0) as u64;
    let latency = latency(second).map(|(_, histogram)| histogram);
    let (iterations, dropped) = (count("iterations"), count("dropped_iterations"));
    // A record does not tell scenarios apart. The runs of searches and labs have one.
    let scheduled = if model == "open" { iterations } else { 0 };
    Point {
        start,
        span: length(second),
        offered: (model == "open").then_some(iterations + dropped),
        scheduled_started: scheduled,
        scheduled_finished: scheduled,
        started: iterations,
        finished: iterations,
        dropped,
        requests: match second.rates.get("grpc_req_failed") {
            Some((_, calls)) if !second.counters.contains_key("http_reqs") => *calls,
            _ => count("http_reqs"),
        },
        failed: second.failed(),
        received: count("data_received"),
        sent: count("data_sent"),
        users: second.users,
        in_flight: second.in_flight,
        latency: latency.as_ref().map(Latency::of),
        lag: trend(second, "iteration_send_lag").map(|lag| lag.quantile(0.99)),
        ..Point::default()
    }
}

/// The metric that is shown as the latency, and its values.
pub fn latency(second: &Second) -> Option<(&'static str, Histogram)> {
    let mut metrics = LATENCIES.iter();
    metrics.find_map(|(_, name)| Some((*name, trend(second, name)?)))
}

/// The values of a trend, if there are any.
pub fn trend(second: &Second, name: &str) -> Option<Histogram> {
    let histogram = second.trends.get(name)?.histogram()?;
    (!histogram.is_empty()).then_some(histogram)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::steps::{Mark, Row};

    #[test]
    fn steps_reach_viewers_and_the_end_ends_their_streams() {
        let hub = Hub::new(Duration::from_secs(1));
        let (messages, watching) = hub.watch();
        let steps = Steps {
            title: "Trials".to_owned(),
            columns: vec!["rate".to_owned()],
            ..Steps::default()
        };
        let mut page = StepsPage::new(Arc::clone(&hub), "a search".to_owned(), steps);
        page.update(None, |steps| {
            steps.rows.push(Row {
                cells: vec!["100".to_owned()],
                mark: Mark::Good,
            });
        });
        let viewer = std::thread::spawn(move || {
            let texts: Vec<String> = messages.iter().map(|text| text.to_string()).collect();
            drop(watching);
            texts
        });
        page.end("completed", |steps| steps.result.push("100/s".to_owned()));
        let texts = viewer.join().unwrap();
        assert_eq!(texts.len(), 4);
        assert!(texts[2].contains(r#""rows":[{"cells":["100"],"mark":"good"}]"#));
        assert!(texts[3].contains(r#""result":["100/s"]"#));
        assert!(texts[3].contains(r#""ended":"completed""#));
    }

    #[test]
    fn a_second_of_a_record_becomes_a_point() {
        let mut histogram = Histogram::new();
        histogram.record(10.0);
        histogram.record(20.0);
        let mut second = Second {
            second: 3,
            users: 7,
            in_flight: 0.5,
            ..Second::default()
        };
        let distribution = plimsoll_results::distribution::Distribution::of(&histogram);
        second
            .trends
            .insert("http_req_duration".to_owned(), distribution);
        for (name, count) in [
            ("iterations", 2.0),
            ("http_reqs", 2.0),
            ("dropped_iterations", 3.0),
        ] {
            second.counters.insert(name.to_owned(), count);
        }
        second.rates.insert("http_req_failed".to_owned(), (1, 2));
        let point = point(&second, 40.0, "open");
        assert_eq!((point.start, point.span, point.users), (40.0, 1.0, 7));
        assert_eq!((point.offered, point.started), (Some(5), 2));
        assert_eq!((point.requests, point.failed, point.dropped), (2, 1, 3));
        let latency = point.latency.unwrap();
        assert!((latency.max - 20.0).abs() < 0.1, "{latency:?}");
    }
}
