//! Writes a run down while it goes on (`--record`): what each second added, and the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plimsoll_engine::{AbortReason, InFlightReading};
use plimsoll_output::wall_clock;
use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::record::{End, FixedWork, Generator, Header, SCHEMA, Second, Writer};
use plimsoll_results::{hash, secrets};
use plimsoll_samples::{
    MetricSummary, Registry, ScenarioWork, Stretch, Summary, Values, Watch, Window,
};
use plimsoll_units::Moment;
use plimsoll_verdict::{Level, Verdict};
use serde_json::Value;

use crate::args::RecordArgs;
use crate::kept;
use crate::record_seconds::Seconds;
use crate::talk::say;

/// What was asked for, for the header.
pub struct Question<'a> {
    /// The command's name.
    pub kind: &'static str,
    pub model: Model,
    /// Every effective option. What it names is in `files`.
    pub configuration: Value,
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
    /// How much of the start is warm-up.
    warm_up: Duration,
}

impl Place {
    /// Where the flags want it; none if they want none.
    ///
    /// # Errors
    /// When there is no place for the store.
    pub fn of(args: &RecordArgs) -> Result<Option<Place>, String> {
        let store = if args.is_kept() {
            let store = kept::place(args.store.as_deref())?;
            // Better before the run than after it.
            kept::recover(&store, &mut kept::open(&store)?);
            Some(store)
        } else {
            None
        };
        let warm_up = args.warm_up.unwrap_or_default();
        Ok(match (&args.record, store) {
            (None, None) => None,
            (Some(path), store) => Some(Place {
                path: path.clone(),
                store,
                passing: false,
                warm_up,
            }),
            (None, Some(store)) => Some(Place {
                path: kept::passing(&store),
                store: Some(store),
                passing: true,
                warm_up,
            }),
        })
    }

    /// Puts the record that was written into the store.
    fn keep(&self) -> Result<(), String> {
        let Some(store) = &self.store else {
            return Ok(());
        };
        let failed = |error: &dyn std::fmt::Display| {
            format!(
                "cannot keep the run in {}: {error}; its record is in {}",
                store.display(),
                self.path.display()
            )
        };
        let bytes = plimsoll_script::read_file(&self.path).map_err(|error| failed(&error))?;
        let number = kept::open(store)?
            .keep(&bytes)
            .map_err(|error| failed(&error))?;
        if self.passing {
            let _ = std::fs::remove_file(&self.path);
        }
        say(&format!("kept as run {number} in {}", store.display()));
        Ok(())
    }
}

/// Who says when requests start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A schedule.
    Open,
    /// The answers.
    Closed,
    /// The answers, until an amount of work is done.
    Work,
}

impl Model {
    /// The model of a plan; a single open scenario makes its times those of an open model.
    pub fn of(plan: &plimsoll_plan::Plan) -> Model {
        use plimsoll_plan::Executor as E;
        let any = |wanted: fn(&E) -> bool| {
            let mut scenarios = plan.scenarios.iter();
            scenarios.any(|scenario| wanted(&scenario.executor))
        };
        if any(E::is_open) {
            Model::Open
        } else if any(|executor| {
            matches!(
                executor,
                E::ConstantUsers { .. } | E::RampingUsers { .. } | E::ExternallyControlled { .. }
            )
        }) {
            Model::Closed
        } else {
            Model::Work
        }
    }

    fn name(self) -> &'static str {
        match self {
            Model::Open => "open",
            Model::Closed => "closed",
            Model::Work => "work",
        }
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
    /// What came after the warm-up, where there is one.
    measured: Option<Stretch>,
}

impl Recording {
    /// Begins the file.
    ///
    /// # Errors
    /// When it cannot be written, with the way out.
    pub fn begin(
        place: Place,
        question: Question<'_>,
        registry: &Arc<Registry>,
        watch: &Arc<Watch>,
    ) -> Result<Recording, String> {
        let failed = |error: std::io::Error| {
            format!(
                "--record {}: cannot write it: {error}; name a file in a folder that you may write to",
                place.path.display()
            )
        };
        let header = header(question);
        let file = File::create(&place.path).map_err(failed)?;
        // What is locked is of a run that goes on. Where files cannot be locked nothing is
        // taken for a killed run's either.
        let _ = file.lock();
        let writer = Writer::begin(file, &header).map_err(failed)?;
        let measured = (!place.warm_up.is_zero())
            .then(|| Stretch::new(Arc::clone(registry), Arc::clone(watch)));
        Ok(Recording {
            measured,
            writer: Some(writer),
            error: None,
            place,
            seconds: Seconds::new(registry, watch),
            cpu: plimsoll_machine::cpu_time(),
        })
    }

    /// Says how long iterations may start; none where an amount of work decides that.
    pub fn set_load(&mut self, load: Option<Duration>) {
        self.seconds.set_load(load);
    }

    /// Takes down a worker's window of scenarios that began at `started`.
    pub fn window(&mut self, window: &Window, in_flight: &InFlightReading, started: Moment) {
        let warm_up = self.place.warm_up.as_secs();
        for (second, part) in window.seconds() {
            if let Some(measured) = &mut self.measured
                && second.number >= warm_up
            {
                measured.add(part);
            }
            self.seconds.add(second, part);
        }
        self.seconds.add_in_flight(in_flight, started);
    }

    /// How much of the run's start is warm-up, in whole seconds.
    pub fn warm_up(&self) -> Duration {
        Duration::from_secs(self.place.warm_up.as_secs())
    }

    /// What was recorded after the warm-up; none where there is none.
    pub fn measured(&self) -> Option<&Stretch> {
        self.measured.as_ref()
    }

    /// The users at a second's end. Call it for each second, as it ends.
    pub fn second_ended(&mut self, users: u32) {
        let cpu = plimsoll_machine::cpu_time();
        let used = cpu.saturating_sub(std::mem::replace(&mut self.cpu, cpu));
        self.seconds.second_ended(users, used);
    }

    /// Writes the seconds that are over for good after `elapsed` of the run.
    pub fn write_due(&mut self, elapsed: Duration) {
        let lines = self.seconds.due(elapsed);
        self.write(&lines);
    }

    /// Writes what remains, and the end. Gives back what went wrong, if anything did.
    pub fn end(mut self, elapsed: Duration, end: &End) -> Option<String> {
        let cpu = plimsoll_machine::cpu_time().saturating_sub(self.cpu);
        let lines = self.seconds.rest(elapsed, cpu);
        self.write(&lines);
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.end(end)
        {
            self.fail(&error);
        }
        self.error.or_else(|| self.place.keep().err())
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

    /// A disk that is full does not end the run, and is told at its end.
    fn fail(&mut self, error: &std::io::Error) {
        self.writer = None;
        self.error = Some(format!(
            "--record {}: cannot write it: {error}; what came later is not in it",
            self.place.path.display()
        ));
    }
}

fn header(question: Question<'_>) -> Header {
    let mut configuration = question.configuration;
    secrets::in_json(&mut configuration);
    let text = configuration.to_string();
    let files = question
        .files
        .iter()
        .flat_map(|(name, content)| [name.as_bytes(), *content]);
    Header {
        schema: SCHEMA.to_owned(),
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        kind: question.kind.to_owned(),
        command: secrets::in_arguments(
            std::env::args_os().map(|word| word.to_string_lossy().into_owned()),
        ),
        started: wall_clock::rfc3339(SystemTime::now(), 0),
        model: question.model.name().to_owned(),
        configuration_hash: hash::hash(
            [question.kind.as_bytes(), text.as_bytes()]
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
        // A script's metric comes before one of ours with the same name, and stays.
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
pub fn end(summary: &Summary, verdict: &Verdict, aborted: Option<&AbortReason>) -> End {
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
