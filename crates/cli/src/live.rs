//! The live view of `plimsoll http` on a terminal.

use std::time::Duration;

use plimsoll_engine::Notice;
use plimsoll_output::Paint;
use plimsoll_output::live::{GeneratorLoad, LiveView, Quantiles};
use plimsoll_results::secrets::for_display;
use plimsoll_run::{Event, Listener, Phase, Progress};
use plimsoll_samples::{Values, builtin};
use plimsoll_verdict::Level;

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

    fn view(&self, progress: &Progress) -> LiveView {
        let values = |metric| progress.values(metric);
        let http = progress.http();
        let reading = progress
            .scenarios()
            .first()
            .map(|s| s.read(plimsoll_clock::now()));
        let failed = values(builtin::HTTP_REQ_FAILED)
            .and_then(|v| v.passes())
            .unwrap_or(0);
        let verdict = progress.verdict();
        LiveView {
            title: self.title.clone(),
            elapsed: progress.elapsed(),
            duration: self.duration,
            done: reading.map_or(0.0, |reading| reading.progress),
            users: progress.state().users_active(),
            requests: progress.requests() as u64,
            responses: http.responses(),
            failed,
            rates: progress.rates().iter().copied().collect(),
            wanted_rate: self.wanted_rate,
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
                workers: progress
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

impl Listener for Live {
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Progress(progress) => {
                let Some(size) = Stream::Stderr.size() else {
                    return;
                };
                if matches!(progress.phase(), Phase::Running | Phase::TearDown) {
                    // The last column stays free.
                    let columns = size.columns.saturating_sub(1);
                    let lines =
                        plimsoll_output::live::lines(&self.view(progress), columns, self.paint);
                    terminal::draw(Stream::Stderr, &lines);
                }
            }
            Event::Done(_) => terminal::clear(),
            other => say_what_cannot_wait(other),
        }
    }
}

/// Where there is no terminal, only what cannot wait is printed.
pub struct Quiet;

impl Listener for Quiet {
    fn event(&mut self, event: Event<'_>) {
        say_what_cannot_wait(event);
    }
}

fn say_what_cannot_wait(event: Event<'_>) {
    match event {
        Event::Message(text) | Event::Warning(text) => say(text),
        Event::Notice(Notice::InsufficientUsers {
            scenario, users, ..
        }) => say(&format!(
            "Insufficient VUs, reached {users} active VUs and cannot initialize more (scenario {scenario})"
        )),
        _ => {}
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
