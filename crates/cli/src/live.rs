//! The live view of `plimsoll http` on a terminal.

use std::time::Duration;

use plimsoll_engine::Notice;
use plimsoll_output::Paint;
use plimsoll_output::live::{GeneratorLoad, LiveView, Quantiles};
use plimsoll_results::secrets::for_display;
use plimsoll_samples::{Values, builtin};
use plimsoll_verdict::Level;

use crate::http;
use crate::session::{Phase, Session, Watcher};
use crate::talk::say;
use crate::terminal::{self, Stream};

/// Draws the view anew ten times a second.
pub struct Live {
    title: String,
    duration: Option<Duration>,
    wanted_rate: Option<f64>,
    paint: Paint,
}

impl Live {
    pub fn new(
        title: String,
        duration: Option<Duration>,
        wanted_rate: Option<f64>,
        paint: Paint,
    ) -> Self {
        Live {
            title,
            duration,
            wanted_rate,
            paint,
        }
    }

    fn view(&self, session: &Session) -> LiveView {
        let elapsed = session.elapsed();
        let values = |metric| session.totals.values(metric, elapsed);
        let http = session.totals.http();
        let reading = session
            .running
            .scenarios
            .first()
            .map(|s| s.read(plimsoll_clock::now()));
        let failed = values(builtin::HTTP_REQ_FAILED)
            .and_then(|v| v.passes())
            .unwrap_or(0);
        let verdict = session.evidence.judge();
        LiveView {
            title: self.title.clone(),
            elapsed,
            duration: self.duration,
            done: reading.map_or(0.0, |reading| reading.progress),
            users: session.running.state.users_active(),
            requests: session.requests() as u64,
            responses: http.responses(),
            failed,
            rates: session.rates.iter().copied().collect(),
            wanted_rate: self.wanted_rate,
            latest: None,
            overall: values(http::latency_metric()).as_ref().and_then(quantiles),
            statuses: http.statuses,
            errors: http
                .errors
                .into_iter()
                .map(|error| (for_display(&error.text).into_owned(), error.count))
                .collect(),
            generator: GeneratorLoad {
                workers: session
                    .threads
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

impl Watcher for Live {
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn notice(&mut self, notice: &Notice) {
        say(&http::tell(notice));
    }

    fn warn(&mut self, message: &str) {
        say(message);
    }

    fn look(&mut self, session: &Session) {
        let Some(size) = Stream::Stderr.size() else {
            return;
        };
        if matches!(session.phase, Phase::Running | Phase::TearDown) {
            // The last column stays free.
            let columns = size.columns.saturating_sub(1);
            let lines = plimsoll_output::live::lines(&self.view(session), columns, self.paint);
            terminal::draw(Stream::Stderr, &lines);
        }
    }

    fn last_look(&mut self, _: &Session) {
        terminal::clear();
    }
}

/// Where there is no terminal, only what cannot wait is told.
pub struct Quiet;

impl Watcher for Quiet {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn notice(&mut self, notice: &Notice) {
        say(&http::tell(notice));
    }

    fn warn(&mut self, message: &str) {
        say(message);
    }

    fn look(&mut self, _: &Session) {}
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
