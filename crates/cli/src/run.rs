//! `plimsoll run`: a k6 script, unchanged.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, SystemTime};

use plimsoll_engine::{AbortReason, Notice, Setting};
use plimsoll_output::output::{OutputSetting, OutputSpec};
use plimsoll_output::{Paint, catalog, header, output_csv, progress, wall_clock};
use plimsoll_results::secrets::url_for_display;
use plimsoll_samples::{Totals, Watch, WatchSettings};
use plimsoll_script::ScriptUsers;

use crate::args::{GlobalArgs, RunArgs};
use crate::direct::worker_threads;
use crate::exit::Exit;
use crate::log::Log;
use crate::outputs::Outputs;
use crate::prepared::{Prepared, Purpose, Refusal, THROWN, prepare};
use crate::progress_view::{self, Extent};
use crate::recording::Place;
use crate::run_summary::{RunSummary, open_export};
use crate::session::{Ended, Session, Watcher};
use crate::talk::{mark_lost, no_color, screen_columns, show};
use crate::terminal::{self, Stream};
use crate::{interrupts, record_of_script};

/// How the summary at the end looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryMode {
    Compact,
    Full,
    Legacy,
    Disabled,
}

/// Runs the script, and says what came of it.
pub fn run(args: &RunArgs, global: &GlobalArgs) -> Exit {
    let mut log = match Log::new(global) {
        Ok(log) => log,
        Err(message) => {
            crate::talk::complain(&message);
            return Exit::GENERIC;
        }
    };
    let console = args.options.console_output.clone();
    let console = console.or_else(|| std::env::var("K6_CONSOLE_OUTPUT").ok());
    if let Some(path) = console.filter(|path| !path.is_empty())
        && let Err(message) = log.console_to(&path)
    {
        log.error(&message);
        return Exit::GENERIC;
    }
    let log = Arc::new(log);
    match begin(args, global, &log) {
        Ok(exit) => exit,
        Err(refusal) => refusal.tell(&log),
    }
}

fn begin(args: &RunArgs, global: &GlobalArgs, log: &Arc<Log>) -> Result<Exit, Refusal> {
    let mode = summary_mode(args)?;
    warn_of_missing(args, log);
    if mode == SummaryMode::Legacy {
        log.warn("k6 2.0 has no \"legacy\" summary mode any more; \"compact\" and \"full\" have taken its place");
    }
    let purpose = Purpose {
        system_env: true,
        keep_files: args.record.is_asked(),
        io: args.io.io,
    };
    let prepared = prepare(&args.script, &args.runtime, &args.options, log, purpose)?;
    let thresholds = if args.runtime.no_thresholds {
        Vec::new()
    } else {
        prepared.plan.thresholds.clone()
    };
    let specs = args
        .out
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| OutputSpec::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Refusal::generic)?;
    let export = open_export(args, mode)?;
    let watch = Watch::new(
        &prepared.registry,
        WatchSettings {
            thresholds: thresholds.clone(),
            system_tags: prepared.system_tags,
            run_tags: prepared.run_tags.clone(),
            outputs: !specs.is_empty(),
            output_extra: false,
            breakdown: mode == SummaryMode::Full,
            by_second: args.record.is_asked(),
        },
    )
    .map_err(Refusal::config)?;
    let watch = Arc::new(watch);
    let outputs = open_outputs(&specs, &prepared)?;
    let needs = prepared.plan.requirements();
    let extent = Extent {
        longest: needs.duration_with_graceful_stop.unwrap_or_default(),
        users: needs.max_users,
    };
    let paint = Paint::new(!no_color(global) && std::io::stdout().is_terminal());
    // With --json, stdout has the one document and nothing else.
    let quiet = global.quiet || args.json;
    if !quiet {
        show(&header::banner(env!("CARGO_PKG_VERSION"), paint));
        show(&header::plan(
            &announce(args, &prepared, &specs, extent),
            paint,
        ));
    }
    let recording = Place::of(&args.record)
        .and_then(|place| {
            place
                .map(|place| record_of_script::begin(place, args, &prepared, &watch))
                .transpose()
        })
        .map_err(Refusal::generic)?;
    let running = plimsoll_engine::start(Setting {
        plan: Arc::new(prepared.plan.clone()),
        factory: Arc::new(ScriptUsers::new(prepared.program.clone())),
        registry: Arc::clone(&prepared.registry),
        watch: Arc::clone(&watch),
        run_tags: prepared.run_tags.clone(),
        min_iteration: prepared
            .plan
            .options
            .min_iteration_duration
            .unwrap_or(Duration::ZERO),
        workers: worker_threads(args.runtime.workers),
    });
    let signalled = Arc::new(AtomicI32::new(0));
    let latest = Arc::clone(&signalled);
    let lines = Arc::clone(log);
    interrupts::listen(
        Arc::clone(&running.state),
        move |signal| {
            latest.store(signal, Ordering::Relaxed);
            if std::io::stderr().is_terminal() {
                crate::talk::say("stopping; once more ends it at once");
            }
        },
        move |signal| {
            lines.failure(
                "ending at once, as a second signal asks for; what was measured is lost",
                "sig",
                Some(interrupts::name(signal)),
            );
        },
    )
    .map_err(Refusal::generic)?;
    let totals = Totals::new(Arc::clone(&prepared.registry), watch);
    let mut watcher = Progress {
        log: Arc::clone(log),
        extent,
        paint,
        quiet,
        last: None,
    };
    let mut ended = Session::new(running, totals, outputs)
        .record(recording)
        .accompany(&mut watcher);
    for error in &ended.output_errors {
        log.error(error);
        mark_lost();
    }
    if ended.aborted.is_none() && ended.iterations == 0 {
        log.warn("No script iterations fully finished, consider making the test duration longer");
    }
    if mode != SummaryMode::Disabled {
        let told_before = signalled.load(Ordering::Relaxed) != 0;
        let latest = Arc::clone(&signalled);
        let interrupted: plimsoll_script::Interrupted =
            Arc::new(move || !told_before && latest.load(Ordering::Relaxed) != 0);
        let summary = RunSummary {
            args,
            prepared: &prepared,
            ended: &ended,
            mode,
            log,
        };
        summary.write(no_color(global), export, interrupted);
    }
    if let Some(last) = &watcher.last {
        show(last);
    }
    let signal = signalled.load(Ordering::Relaxed);
    if signal != 0 && ended.aborted.is_none() {
        // It came while the summary was made.
        ended.aborted = Some(AbortReason::Signal);
    }
    tell_ending(&ended, signal, log);
    if args.linger && ended.aborted.is_none() {
        log.warn("lingering, as asked; Ctrl-C ends it");
        loop {
            std::thread::park();
        }
    }
    Ok(exit_status(&ended))
}

/// What is taken because k6 has it, and does nothing yet.
fn warn_of_missing(args: &RunArgs, log: &Log) {
    let missing = [
        (
            "--address",
            "no control interface",
            args.address.as_deref().is_some_and(|a| !a.is_empty()),
        ),
        (
            "--profiling-enabled",
            "no profiling",
            args.profiling_enabled,
        ),
        (
            "--secret-source",
            "no k6/secrets",
            !args.secret_source.is_empty(),
        ),
        (
            "--traces-output",
            "no tracing",
            args.traces_output
                .as_deref()
                .is_some_and(|to| !matches!(to, "" | "none")),
        ),
    ];
    for (flag, what, _) in missing.iter().filter(|(.., given)| *given) {
        log.warn(&format!("{flag} does nothing: there is {what} yet"));
    }
}

fn summary_mode(args: &RunArgs) -> Result<SummaryMode, Refusal> {
    if args.runtime.no_summary {
        // k6's users find it where its header would be.
        show("Flag --no-summary has been deprecated, use --summary-mode=disabled instead\n");
    }
    let unwanted = |value: std::ffi::OsString| {
        !["", "0", "f", "false", "no", "off"]
            .iter()
            .any(|no| value.eq_ignore_ascii_case(no))
    };
    let no_summary =
        args.runtime.no_summary || std::env::var_os("K6_NO_SUMMARY").is_some_and(unwanted);
    let mode = match args.runtime.summary_mode.as_deref() {
        None | Some("" | "compact") => SummaryMode::Compact,
        Some("full") => SummaryMode::Full,
        Some("legacy") => SummaryMode::Legacy,
        Some("disabled") => SummaryMode::Disabled,
        Some(other) => {
            return Err(Refusal::generic(format!(
                "--summary-mode {other}: use compact, full, legacy or disabled"
            )));
        }
    };
    Ok(if no_summary {
        SummaryMode::Disabled
    } else {
        mode
    })
}

fn open_outputs(specs: &[OutputSpec], prepared: &Prepared) -> Result<Outputs, Refusal> {
    let csv_time = match std::env::var("K6_CSV_TIME_FORMAT") {
        Ok(name) => output_csv::TimeFormat::parse(&name).map_err(Refusal::config)?,
        Err(_) => output_csv::TimeFormat::default(),
    };
    // Thresholds are what was asked for even where nobody judges them.
    let mut catalog = catalog::Catalog::new(
        Arc::clone(&prepared.registry),
        prepared
            .plan
            .thresholds
            .iter()
            .map(|threshold| (&threshold.metric, threshold.source.as_str())),
    );
    if !prepared
        .system_tags
        .has(plimsoll_samples::SystemTag::ExpectedResponse)
    {
        catalog = catalog.without_expected_responses();
    }
    let setting = OutputSetting {
        catalog,
        clock: wall_clock::WallClock::reading(plimsoll_clock::now(), SystemTime::now()),
        system_tags: plimsoll_samples::SystemTag::ALL
            .into_iter()
            .filter(|tag| prepared.system_tags.has(*tag))
            .collect(),
        csv_time,
        shown_url: url_for_display,
    };
    let opened = specs
        .iter()
        .map(|spec| spec.open(&setting, || Box::new(std::io::stdout())))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Refusal::generic)?;
    Outputs::start(opened).map_err(Refusal::generic)
}

fn announce(
    args: &RunArgs,
    prepared: &Prepared,
    specs: &[OutputSpec],
    extent: Extent,
) -> header::Header {
    header::Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        script: url_for_display(&args.script).into_owned(),
        outputs: specs.iter().map(OutputSpec::describe).collect(),
        share: prepared.plan.segment.length(),
        users_max: extent.users,
        longest: extent.longest,
        scenarios: prepared
            .plan
            .scenarios
            .iter()
            .map(|scenario| header::HeaderScenario {
                name: scenario.name.clone(),
                start_time: scenario.start_time,
                description: scenario.description(),
            })
            .collect(),
    }
}

/// Says why the run ended early, or what of it failed: the last thing that is said.
fn tell_ending(ended: &Ended, signal: i32, log: &Log) {
    match &ended.aborted {
        Some(AbortReason::ScriptException(text)) => log.failure(text, "hint", Some(THROWN)),
        Some(AbortReason::UserException(user, text)) => {
            let hint = format!("error while initializing VU #{} ({THROWN})", user.0);
            log.failure(text, "hint", Some(&hint));
        }
        Some(AbortReason::SetupTimeout(text)) => {
            log.failure(text, "hint", Some(&more_time("setupTimeout")));
        }
        Some(AbortReason::TeardownTimeout(text)) => {
            log.failure(text, "hint", Some(&more_time("teardownTimeout")));
        }
        Some(
            AbortReason::Failed(text) | AbortReason::Machine(text) | AbortReason::ByScript(text),
        ) => log.error(text),
        Some(AbortReason::Signal) => log.error(&format!(
            "test run was aborted because plimsoll received a '{}' signal",
            interrupts::name(signal)
        )),
        Some(AbortReason::Threshold) => log.error(&format!(
            "thresholds on metrics {} were crossed; at least one has abortOnFail enabled, stopping test prematurely",
            quoted(&ended.crossed)
        )),
        None if ended.marked_failed => log.error("test run was marked as failed"),
        None if !ended.crossed.is_empty() => log.error(&format!(
            "thresholds on metrics {} have been crossed",
            quoted(&ended.crossed)
        )),
        None => {}
    }
}

fn more_time(option: &str) -> String {
    format!("You can increase the time limit via the {option} option")
}

fn quoted(names: &[String]) -> String {
    format!("'{}'", names.join(", "))
}

fn exit_status(ended: &Ended) -> Exit {
    match &ended.aborted {
        Some(AbortReason::Signal) => Exit::SIGNAL,
        Some(AbortReason::ByScript(_)) => Exit::ABORTED_BY_SCRIPT,
        Some(AbortReason::ScriptException(_) | AbortReason::UserException(..)) => {
            Exit::SCRIPT_EXCEPTION
        }
        Some(AbortReason::SetupTimeout(_)) => Exit::SETUP_TIMEOUT,
        Some(AbortReason::TeardownTimeout(_)) => Exit::TEARDOWN_TIMEOUT,
        Some(AbortReason::Failed(_) | AbortReason::Machine(_)) => Exit::GENERIC,
        Some(AbortReason::Threshold) => Exit::THRESHOLDS,
        None if ended.marked_failed => Exit::FAILED_BY_SCRIPT,
        None if !ended.crossed.is_empty() => Exit::THRESHOLDS,
        None => Exit::SUCCESS,
    }
}

/// Shows a run's progress: bars on a terminal, a few lines a second elsewhere.
struct Progress {
    log: Arc<Log>,
    extent: Extent,
    paint: Paint,
    quiet: bool,
    /// The run's last state, to be shown when all else has been.
    last: Option<String>,
}

impl Watcher for Progress {
    fn interval(&self) -> Duration {
        if screen_columns().is_some() {
            Duration::from_millis(100)
        } else {
            Duration::from_secs(1)
        }
    }

    fn notice(&mut self, notice: &Notice) {
        let Notice::InsufficientUsers {
            scenario,
            users,
            executor,
        } = notice;
        self.log.line(
            plimsoll_script::logline::Level::Warning,
            &format!("Insufficient VUs, reached {users} active VUs and cannot initialize more"),
            &[("executor", executor), ("scenario", scenario)],
        );
    }

    fn warn(&mut self, message: &str) {
        self.log.warn(message);
    }

    fn look(&mut self, session: &Session) {
        if self.quiet {
            return;
        }
        let view = progress_view::view(session, self.extent, plimsoll_clock::now());
        let columns = screen_columns();
        let lines = progress::lines(&view, columns, self.paint);
        match columns {
            Some(_) => terminal::draw(Stream::Stdout, &lines),
            None => show(&format!("{}\n", lines.join("\n"))),
        }
    }

    fn last_look(&mut self, session: &Session) {
        terminal::clear();
        self.last = (!self.quiet).then(|| {
            let view = progress_view::view(session, self.extent, plimsoll_clock::now());
            let lines = progress::lines(&view, screen_columns(), self.paint);
            format!("{}\n", terminal::fitted(Stream::Stdout, &lines).join("\n"))
        });
    }
}
