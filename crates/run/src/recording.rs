//! Writes the record of a run during the run (`--record`): what each second added, and the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plimsoll_engine::AbortReason;
use plimsoll_output::wall_clock;
use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::record::{End, FixedWork, Generator, Header, SCHEMA, Second, Writer};
use plimsoll_results::{hash, secrets, store_location};
use plimsoll_samples::{MetricSummary, Registry, ScenarioWork, Summary, Values, Watch};
use plimsoll_verdict::{Level, Verdict};
use serde_json::Value;

use crate::Phase;
use crate::event::{Event, Finished, Listener};
use crate::record_seconds::Seconds;
use crate::request::{Model, RecordRequest};

/// What a run sends, for the header.
pub struct Contents<'a> {
    /// The command's name.
    pub kind: &'static str,
    /// The contents of files that the run depends on, by name.
    pub files: Vec<(String, &'a [u8])>,
}

/// Where a record goes.
#[derive(Clone, Debug)]
pub struct Place {
    path: PathBuf,
    /// The store that takes the run too.
    store: Option<PathBuf>,
    /// The file was asked for by nobody, and goes when the store has it.
    passing: bool,
}

impl Place {
    /// A file that stays; the run is kept in `store` too, if there is one.
    pub fn file(path: PathBuf, store: Option<PathBuf>) -> Place {
        Place {
            path,
            store,
            passing: false,
        }
    }

    /// The store alone. During the run, its record is in a file next to the store.
    pub fn store(store: PathBuf) -> Place {
        Place {
            path: store_location::passing(&store),
            store: Some(store),
            passing: true,
        }
    }

    /// Puts the record that was written into the store, and says so.
    fn keep(&self) -> Result<Option<String>, String> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let failed = |error: &dyn std::fmt::Display| {
            format!(
                "cannot keep the run in {}: {error}; its record is in {}",
                store.display(),
                self.path.display()
            )
        };
        let bytes = plimsoll_script::read_file(&self.path).map_err(|error| failed(&error))?;
        let number = store_location::open(store)?
            .keep(&bytes)
            .map_err(|error| failed(&error))?;
        if self.passing {
            let _ = std::fs::remove_file(&self.path);
        }
        Ok(Some(format!("kept as run {number} in {}", store.display())))
    }
}

/// A record that is being written.
pub struct Recording {
    writer: Option<Writer<File>>,
    /// What went wrong, and the file that it went wrong with.
    error: Option<String>,
    place: Place,
    seconds: Seconds,
    cpu: Duration,
    /// That the run was kept.
    message: Option<String>,
}

impl Recording {
    /// Begins the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(
        request: RecordRequest,
        contents: Contents<'_>,
        model: Model,
        registry: &Arc<Registry>,
        watch: &Arc<Watch>,
    ) -> Result<Recording, String> {
        let place = request.place;
        let failed = |error: std::io::Error| {
            format!(
                "--record {}: cannot write it: {error}; name a file in a folder that you may write to",
                place.path.display()
            )
        };
        let header = header(request.configuration, request.command, &contents, model);
        let file = File::create(&place.path).map_err(failed)?;
        // A locked file belongs to a run that is not over. Where files cannot be locked, no file is
        // taken for a killed run's.
        let _ = file.lock();
        let writer = Writer::begin(file, &header).map_err(failed)?;
        Ok(Recording {
            writer: Some(writer),
            error: None,
            place,
            seconds: Seconds::new(registry, watch),
            cpu: plimsoll_machine::cpu_time(),
            message: None,
        })
    }

    /// Says how long iterations may start; none where an amount of work decides that.
    pub fn set_load(&mut self, load: Option<Duration>) {
        self.seconds.set_load(load);
    }

    /// The users at a second's end. Call it for each second, as it ends.
    fn second_ended(&mut self, users: u32) {
        let cpu = plimsoll_machine::cpu_time();
        let used = cpu.saturating_sub(std::mem::replace(&mut self.cpu, cpu));
        self.seconds.second_ended(users, used);
    }

    /// Writes the seconds that are over for good after `elapsed` of the run.
    fn write_due(&mut self, elapsed: Duration) {
        let lines = self.seconds.due(elapsed);
        self.write(&lines);
    }

    /// Writes what remains, and the end.
    fn end(&mut self, elapsed: Duration, end: &End) {
        let cpu = plimsoll_machine::cpu_time().saturating_sub(self.cpu);
        let lines = self.seconds.rest(elapsed, cpu);
        self.write(&lines);
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.end(end)
        {
            self.fail(&error);
        }
        if self.error.is_none() {
            match self.place.keep() {
                Ok(message) => self.message = message,
                Err(error) => self.error = Some(error),
            }
        }
    }

    fn write(&mut self, lines: &[Second]) {
        for line in lines {
            if let Some(writer) = &mut self.writer
                && let Err(error) = writer.second(line)
            {
                self.fail(&error);
            }
        }
    }

    /// A full disk does not end the run; it is reported at its end.
    fn fail(&mut self, error: &std::io::Error) {
        self.writer = None;
        self.error = Some(format!(
            "--record {}: cannot write it: {error}; what came later is not in it",
            self.place.path.display()
        ));
    }
}

impl Listener for Recording {
    /// Seconds are written soon after they are over.
    fn interval(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Window(window) => {
                for (second, part) in window.window.seconds() {
                    self.seconds.add(second, part);
                }
                self.seconds.add_in_flight(window.in_flight, window.started);
            }
            Event::Second(progress) => self.second_ended(progress.state().users_active()),
            Event::Progress(progress) if progress.phase() == Phase::Running => {
                self.write_due(progress.elapsed());
            }
            Event::Judged(judged) => {
                let end = end(judged.summary, judged.verdict, judged.aborted);
                self.end(judged.elapsed, &end);
            }
            _ => {}
        }
    }

    fn finish(&mut self) -> Finished {
        Finished {
            errors: self.error.take().into_iter().collect(),
            messages: self.message.take().into_iter().collect(),
        }
    }
}

fn header(
    mut configuration: Value,
    command: Vec<String>,
    contents: &Contents<'_>,
    model: Model,
) -> Header {
    secrets::in_json(&mut configuration);
    let text = configuration.to_string();
    let files = contents
        .files
        .iter()
        .flat_map(|(name, content)| [name.as_bytes(), *content]);
    Header {
        schema: SCHEMA.to_owned(),
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        kind: contents.kind.to_owned(),
        command: secrets::in_arguments(command),
        started: wall_clock::rfc3339(SystemTime::now(), 0),
        model: model.name().to_owned(),
        configuration_hash: hash::hash(
            [contents.kind.as_bytes(), text.as_bytes()]
                .into_iter()
                .chain(files),
        ),
        configuration,
        environment: Environment::here(),
    }
}

/// Metrics on paper, by kind.
#[derive(Default)]
pub struct Figures {
    pub counters: BTreeMap<String, f64>,
    pub rates: BTreeMap<String, (u64, u64)>,
    pub gauges: BTreeMap<String, (f64, f64, f64)>,
    pub trends: BTreeMap<String, Distribution>,
}

impl Figures {
    /// The figures of some metrics.
    pub fn of(metrics: &[MetricSummary]) -> Figures {
        let mut figures = Figures::default();
        // A script's metric comes before our own metric of the same name, and stays.
        for metric in metrics.iter().rev() {
            let name = metric.name.clone();
            match &metric.values {
                Values::Counter { count, .. } => {
                    figures.counters.insert(name, *count);
                }
                Values::Gauge { value, min, max } => {
                    figures.gauges.insert(name, (*value, *min, *max));
                }
                Values::Rate { passes, fails } => {
                    figures.rates.insert(name, (*passes, passes + fails));
                }
                Values::Trend(histogram) => {
                    figures.trends.insert(name, Distribution::of(histogram));
                }
            }
        }
        figures
    }
}

/// The last line of a record.
fn end(summary: &Summary, verdict: &Verdict, aborted: Option<&AbortReason>) -> End {
    let figures = Figures::of(&summary.metrics);
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for error in &summary.http.errors {
        *errors.entry(secrets::in_text(&error.text)).or_default() += error.count;
    }
    if summary.http.other_errors > 0 {
        errors.insert("others".to_owned(), summary.http.other_errors);
    }
    End {
        duration_seconds: summary.elapsed.as_secs_f64(),
        aborted: aborted.map(why),
        counters: figures.counters,
        rates: figures.rates,
        gauges: figures.gauges,
        trends: figures.trends,
        checks: summary
            .checks
            .iter()
            .map(|check| (check.name.clone(), (check.passes, check.fails)))
            .collect(),
        thresholds: summary
            .metrics
            .iter()
            .flat_map(|metric| {
                metric
                    .thresholds
                    .iter()
                    .map(|threshold| (metric.name.clone(), threshold.source.clone(), threshold.ok))
            })
            .collect(),
        statuses: summary
            .http
            .statuses
            .iter()
            .filter(|(status, _)| *status != 0)
            .map(|(status, count)| (plimsoll_output::grpc_status::name(*status), *count))
            .collect(),
        errors,
        protocols: summary.http.protocols.iter().cloned().collect(),
        tls_versions: summary.http.tls_versions.iter().cloned().collect(),
        tls_cipher_suites: summary.http.tls_cipher_suites.iter().cloned().collect(),
        connections_opened: summary.http.connections_opened,
        requests_resent: summary.http.resent,
        fixed_work: summary
            .work
            .iter()
            .map(|work| (work.scenario.clone(), fixed_work(work)))
            .collect(),
        generator: Generator {
            cpu_seconds: plimsoll_machine::cpu_time().as_secs_f64(),
            peak_rss_bytes: plimsoll_machine::peak_memory().get(),
            verdict: match verdict.level {
                Level::Valid => "valid",
                Level::Suspect => "suspect",
                Level::Invalid => "invalid",
            }
            .to_owned(),
            reasons: verdict
                .reasons
                .iter()
                .map(|reason| (cause(reason.cause).to_owned(), reason.text.clone()))
                .collect(),
        },
    }
}

fn fixed_work(work: &ScenarioWork) -> FixedWork {
    FixedWork {
        workers: work.workers,
        iterations_wanted: work.wanted(),
        iterations: work.iterations,
        calls: work.done.calls,
        failed_calls: work.done.failed,
        makespan_seconds: work.done.makespan.as_secs_f64(),
        payload_bytes_sent: work.done.sent.get(),
        payload_bytes_received: work.done.received.get(),
    }
}

fn cause(cause: plimsoll_verdict::Cause) -> &'static str {
    match cause {
        plimsoll_verdict::Cause::Client => "client",
        plimsoll_verdict::Cause::Server => "server",
        plimsoll_verdict::Cause::Network => "network",
        plimsoll_verdict::Cause::Clock => "clock",
    }
}

fn why(reason: &AbortReason) -> String {
    match reason {
        AbortReason::Signal => "a signal".to_owned(),
        AbortReason::Threshold => "a threshold with abortOnFail was crossed".to_owned(),
        AbortReason::ByScript(text)
        | AbortReason::ScriptException(text)
        | AbortReason::UserException(_, text)
        | AbortReason::SetupTimeout(text)
        | AbortReason::TeardownTimeout(text)
        | AbortReason::Failed(text)
        | AbortReason::Machine(text) => secrets::in_text(text),
    }
}
