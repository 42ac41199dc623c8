//! `plimsoll run`: a k6 script, unchanged.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use plimsoll_engine::{AbortReason, Notice};
use plimsoll_output::header::{Header, HeaderScenario};
use plimsoll_output::output::OutputSpec;
use plimsoll_output::output_csv::TimeFormat;
use plimsoll_output::{Paint, header, progress};
use plimsoll_results::secrets::url_for_display;
use plimsoll_run::{
    Event, Extent, Listener, Load, Outcome, Prepared, Progress, Refusal, Request, Run, Script,
    THROWN, prepare,
};
use plimsoll_script::logline::Level;
use serde_json::json;

use crate::args::{GlobalArgs, RunArgs};
use crate::exit::Exit;
use crate::interrupts;
use crate::log::Log;
use crate::record_request::{place, record_request};
use crate::run_summary::{RunSummary, SummaryMode, open_export, summary_mode};
use crate::script_request::{Purpose, script_request};
use crate::scriptless::worker_threads;
use crate::talk::{mark_lost, no_color, say, screen_columns, show};
use crate::terminal::{self, Stream};

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
        Err(refusal) => log.refuse(&refusal),
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
    let request = script_request(&args.script, &args.runtime, &args.options, log, purpose)?;
    let prepared = Arc::new(prepare(request, &log.sink())?);
    let specs = args
        .out
        .iter()
        .filter(|text| !text.is_empty())
        .map(|text| OutputSpec::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Refusal::other)?;
    let export = open_export(args, mode)?;
    let needs = prepared.plan.requirements();
    let extent = Extent {
        longest: needs.duration_with_graceful_stop.unwrap_or_default(),
        users: needs.max_users,
    };
    let paint = Paint::new(!no_color(global) && std::io::stdout().is_terminal());
    let mut view = View {
        log: Arc::clone(log),
        header: announce(args, &prepared, &specs, extent),
        extent,
        paint,
        // With --json, stdout has the one document and nothing else.
        quiet: global.quiet || args.json,
        last: None,
    };
    let record = place(&args.record).map_err(Refusal::other)?.map(|place| {
        let configuration = json!({ "workers": args.runtime.workers, "io": args.io.io.name() });
        record_request(&args.record, place, configuration)
    });
    let request = Request {
        load: Load::Script(Box::new(Script {
            prepared: Arc::clone(&prepared),
            thresholds: !args.runtime.no_thresholds,
            breakdown: mode == SummaryMode::Full,
            outputs: specs,
            csv_time: csv_time()?,
            stdout: || Box::new(std::io::stdout()),
        })),
        threads: worker_threads(args.runtime.workers),
        record,
    };
    let run = Run::start(request, vec![Box::new(&mut view)])?;
    let signalled = Arc::new(AtomicI32::new(0));
    let latest = Arc::clone(&signalled);
    let lines = Arc::clone(log);
    interrupts::listen(
        run.control(),
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
    .map_err(Refusal::other)?;
    let mut outcome = run.finish();
    for message in &outcome.messages {
        say(message);
    }
    for error in &outcome.output_errors {
        log.error(error);
        mark_lost();
    }
    if outcome.aborted.is_none() && outcome.iterations == 0 {
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
            outcome: &outcome,
            mode,
            log,
        };
        summary.write(no_color(global), export, interrupted);
    }
    if let Some(last) = &view.last {
        show(last);
    }
    let signal = signalled.load(Ordering::Relaxed);
    if signal != 0 && outcome.aborted.is_none() {
        // It came while the summary was made.
        outcome.aborted = Some(AbortReason::Signal);
    }
    tell_ending(&outcome, signal, log);
    if args.linger && outcome.aborted.is_none() {
        log.warn("lingering, as asked; Ctrl-C ends it");
        loop {
            std::thread::park();
        }
    }
    Ok(outcome.ending().into())
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

fn csv_time() -> Result<TimeFormat, Refusal> {
    match std::env::var("K6_CSV_TIME_FORMAT") {
        Ok(name) => TimeFormat::parse(&name).map_err(Refusal::config),
        Err(_) => Ok(TimeFormat::default()),
    }
}

fn announce(args: &RunArgs, prepared: &Prepared, specs: &[OutputSpec], extent: Extent) -> Header {
    Header {
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
            .map(|scenario| HeaderScenario {
                name: scenario.name.clone(),
                start_time: scenario.start_time,
                description: scenario.description(),
            })
            .collect(),
    }
}

/// Says why the run ended early, or what of it failed: the last thing that is said.
fn tell_ending(outcome: &Outcome, signal: i32, log: &Log) {
    match &outcome.aborted {
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
            quoted(&outcome.crossed)
        )),
        None if outcome.marked_failed => log.error("test run was marked as failed"),
        None if !outcome.crossed.is_empty() => log.error(&format!(
            "thresholds on metrics {} have been crossed",
            quoted(&outcome.crossed)
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

/// Shows a run's progress: bars on a terminal, a few lines a second elsewhere.
struct View {
    log: Arc<Log>,
    header: Header,
    extent: Extent,
    paint: Paint,
    quiet: bool,
    /// The run's last state, to be shown when all else has been.
    last: Option<String>,
}

impl View {
    fn lines(&self, progress: &Progress, columns: Option<usize>) -> Vec<String> {
        let view = progress.bars(self.extent, plimsoll_clock::now());
        progress::lines(&view, columns, self.paint)
    }

    fn start(&self) {
        if !self.quiet {
            show(&header::banner(env!("CARGO_PKG_VERSION"), self.paint));
            show(&header::plan(&self.header, self.paint));
        }
    }

    fn progress(&self, progress: &Progress) {
        if self.quiet {
            return;
        }
        let columns = screen_columns();
        let lines = self.lines(progress, columns);
        match columns {
            Some(_) => terminal::draw(Stream::Stdout, &lines),
            None => show(&format!("{}\n", lines.join("\n"))),
        }
    }

    fn notice(&self, notice: &Notice) {
        let Notice::InsufficientUsers {
            scenario,
            users,
            executor,
        } = notice;
        self.log.line(
            Level::Warning,
            &format!("Insufficient VUs, reached {users} active VUs and cannot initialize more"),
            &[("executor", executor), ("scenario", scenario)],
        );
    }
}

impl Listener for View {
    fn interval(&self) -> Duration {
        if screen_columns().is_some() {
            Duration::from_millis(100)
        } else {
            Duration::from_secs(1)
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Starting => self.start(),
            Event::Message(text) => say(text),
            Event::Notice(notice) => self.notice(notice),
            Event::Warning(text) => self.log.warn(text),
            Event::Progress(progress) => self.progress(progress),
            Event::Done(progress) => {
                terminal::clear();
                self.last = (!self.quiet).then(|| {
                    let lines = self.lines(progress, screen_columns());
                    format!("{}\n", terminal::fitted(Stream::Stdout, &lines).join("\n"))
                });
            }
            _ => {}
        }
    }
}
