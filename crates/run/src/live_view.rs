//! The live view of a run without a script, from its figures.

use std::time::Duration;

use plimsoll_output::live::{GeneratorLoad, LiveView, Quantiles};
use plimsoll_results::secrets::for_display;
use plimsoll_samples::{Values, builtin};
use plimsoll_verdict::Level;

use crate::Progress;

/// The parts of a view that are not metrics.
#[derive(Clone, Debug)]
pub struct LiveTitle {
    /// The line above the figures.
    pub title: String,
    /// Duration of the run, if time ends it.
    pub duration: Option<Duration>,
    /// Requests per second of the schedule.
    pub wanted_rate: Option<f64>,
}

impl Progress {
    /// The live view of a run without a script.
    pub fn live_view(&self, about: &LiveTitle) -> LiveView {
        let values = |metric| self.values(metric);
        let http = self.http();
        let reading = self
            .scenarios()
            .first()
            .map(|s| s.read(plimsoll_clock::now()));
        let failed = values(builtin::HTTP_REQ_FAILED)
            .and_then(|v| v.passes())
            .unwrap_or(0);
        let verdict = self.verdict();
        LiveView {
            title: about.title.clone(),
            elapsed: self.elapsed(),
            duration: about.duration,
            done: reading.map_or(0.0, |reading| reading.progress),
            users: self.state().users_active(),
            requests: self.requests() as u64,
            responses: http.responses(),
            failed,
            rates: self.rates().iter().copied().collect(),
            wanted_rate: about.wanted_rate,
            latest: None,
            overall: values(builtin::HTTP_REQ_DURATION)
                .as_ref()
                .and_then(quantiles),
            statuses: http.statuses,
            errors: http
                .errors
                .into_iter()
                .map(|error| (for_display(&error.text).into_owned(), error.count))
                .collect(),
            generator: GeneratorLoad {
                workers: self
                    .threads()
                    .iter()
                    .map(|thread| thread.cpu.as_secs_f64())
                    .collect(),
                send_lag: values(builtin::ITERATION_SEND_LAG)
                    .and_then(|values| milliseconds(values.quantile(0.99)?)),
                rss: plimsoll_machine::memory(),
                warning: (verdict.level != Level::Valid)
                    .then(|| verdict.reasons.into_iter().next().map(|reason| reason.text))
                    .flatten(),
            },
        }
    }
}

fn quantiles(values: &Values) -> Option<Quantiles> {
    Some(Quantiles {
        p50: milliseconds(values.quantile(0.5)?)?,
        p90: milliseconds(values.quantile(0.9)?)?,
        p99: milliseconds(values.quantile(0.99)?)?,
        max: milliseconds(values.max()?)?,
    })
}

fn milliseconds(value: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value / 1e3).ok()
}
