//! `plimsoll run`: a k6 script, unchanged.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use log::Level;
use plimsoll_engine::AbortReason;
use plimsoll_exporters::Variables;
use plimsoll_live::{API_PORT, Api, PageTitle, TerminalView, WebAddress};
use plimsoll_output::Paint;
use plimsoll_output::output_csv::TimeFormat;
use plimsoll_plan::Executor;
use plimsoll_results::secrets::url_for_display;
use plimsoll_run::{
    EndSummary, ExportFile, Listener, Load, NoResponse, OutputChoice, Prepared, Refusal, Request,
    Run, Screen, Script, SummaryMode,
};
use plimsoll_terminal::log::Log;
use plimsoll_terminal::messages::{mark_lost, say, screen_columns, show, talk};
use plimsoll_terminal::script_view::ScriptView;
use plimsoll_terminal::signals;
use serde_json::json;

use crate::args::{GlobalArgs, ProgressForm, RunArgs};
use crate::exit::Exit;
use crate::fleet;
use crate::record_request::record_request;
use crate::reporting::Reporting;
use crate::run_summary::{RunSummary, summary_mode};
use crate::script_request::{Purpose, prepared};
use crate::scriptless::{STOPPING, worker_threads};
use crate::web;

/// Runs the script and prints its summary.
pub fn run(args: &RunArgs, global: &GlobalArgs) -> Exit {
    let mut log = match global.log() {
        Ok(log) => log,
        Err(message) => {
            plimsoll_terminal::messages::complain(&message);
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
    let exit = match begin(args, global, &log) {
        Ok(exit) => exit,
        Err(refusal) => Exit::of_refusal(&refusal, &log),
    };
    log.report_repeated();
    exit
}

fn begin(args: &RunArgs, global: &GlobalArgs, log: &Arc<Log>) -> Result<Exit, Refusal> {
    let mode = summary_mode(&args.runtime)?;
    warn_of_missing(args, log);
    if mode == SummaryMode::Legacy {
        log.warn("k6 2.0 has no \"legacy\" summary mode any more; \"compact\" and \"full\" have taken its place");
    }
    let reporting = Reporting::of_one_run(&args.record.report, args.record.store.as_deref())?;
    let purpose = Purpose {
        has_system_env: true,
        keep_files: args.record.is_asked()
            || reporting.needs_record()
            || args.fleet.fleet.is_some(),
        is_only_read: false,
    };
    let prepared = prepared(&args.script, &args.runtime, &args.options, log, purpose)?;
    let prepared = Arc::new(prepared);
    let variables: Vec<_> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let specs = args
        .out
        .iter()
        .filter(|text| !text.is_empty() && dashboard(text).is_none())
        .map(|text| OutputChoice::parse(text, Variables::new(&variables)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(Refusal::other)?;
    let export = args.runtime.summary_export.as_deref();
    let export = export.filter(|_| mode != SummaryMode::Disabled);
    let export = export.map(|path| ExportFile::open("--summary-export", path));
    let export = export.transpose()?;
    let extent = prepared.extent();
    let paint = Paint::new(!global.no_color() && std::io::stdout().is_terminal());
    let page = PageTitle {
        title: url_for_display(&args.script).into_owned(),
        duration: Some(extent.longest),
    };
    let mut view = ScriptView {
        log: Arc::clone(log),
        version: env!("CARGO_PKG_VERSION"),
        header: prepared.header(&page.title, &specs),
        extent,
        paint,
        // With --json, stdout has the one document and nothing else.
        quiet: global.quiet || args.record.json,
        figures: (args.progress == ProgressForm::Full && screen_columns().is_some())
            .then(|| TerminalView::new(page.clone(), None)),
        last: None,
    };
    let threads = args.runtime.threads.threads;
    let io = args.options.connection.io.io.name();
    let configuration = json!({ "threads": threads, "io": io });
    let title = url_for_display(&args.script);
    let record = record_request(
        &args.record,
        &title,
        configuration,
        reporting.needs_record(),
    );
    let record = record.map_err(Refusal::other)?;
    let request = Request {
        load: Load::Script(Box::new(Script {
            prepared: Arc::clone(&prepared),
            thresholds: !args.runtime.no_thresholds,
            breakdown: mode == SummaryMode::Full,
            outputs: specs,
            csv_time: csv_time()?,
            stdout: || Box::new(std::io::stdout()),
        })),
        threads: worker_threads(threads),
        record,
        until: args.record.until,
    };
    let workers = fleet::workers(args, &prepared, log)?;
    let output = args.out.iter().find_map(|text| dashboard(text));
    let mut listeners: Vec<Box<dyn Listener + '_>> = Vec::new();
    listeners.extend(web::open(&args.web, output, page)?);
    listeners.push(Box::new(&mut view));
    let api = api(args, &prepared, log)?;
    listeners.extend(api.as_ref().map(Api::listener));
    let warnings = Arc::clone(log);
    listeners.push(Box::new(NoResponse::new(false, move |text| {
        warnings.warn(text);
    })));
    let run = Run::start_on(workers, request, listeners)?;
    let signaled = Arc::new(AtomicI32::new(0));
    let latest = Arc::clone(&signaled);
    let lines = Arc::clone(log);
    let control = run.control();
    if let Some(api) = &api {
        let prepared = Arc::clone(&prepared);
        api.attach(control.clone(), move || prepared.program.setup_data());
    }
    signals::on_signals(
        move |signal| {
            latest.store(signal, Ordering::Relaxed);
            if std::io::stderr().is_terminal() {
                say(STOPPING);
            }
            control.stop();
        },
        move |signal| {
            lines.failure(
                "exiting immediately because of a second signal; the measurements are lost",
                "sig",
                Some(signals::name(signal)),
            );
        },
        Exit::SIGNAL.code(),
    )
    .map_err(Refusal::other)?;
    let mut outcome = run.finish();
    log.report_repeated();
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
        let was_interrupted = signaled.load(Ordering::Relaxed) != 0;
        let latest = Arc::clone(&signaled);
        let interrupted: plimsoll_k6::user::Interrupted =
            Arc::new(move || !was_interrupted && latest.load(Ordering::Relaxed) != 0);
        let screen = Screen {
            is_plain: global.no_color(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        };
        let newer = args.runtime.new_machine_readable_summary;
        let summary = RunSummary {
            summary: EndSummary::new(&prepared, &outcome, screen, newer),
            outcome: &outcome,
            mode,
            json: args.record.json,
            log,
        };
        summary.write(export, interrupted);
    }
    if let Some(last) = &view.last {
        show(last);
    }
    let signal = signaled.load(Ordering::Relaxed);
    if signal != 0 && outcome.aborted.is_none() {
        // The signal arrived while the summary was being made.
        outcome.aborted = Some(AbortReason::Signal);
    }
    if let Some(what) = outcome.explanation(signals::name(signal)) {
        log.failure(&what.text, "hint", what.hint.as_deref());
    }
    let exit = reporting.finish(outcome.record.as_deref(), outcome.ending().into());
    if args.linger && outcome.aborted.is_none() {
        log.warn("lingering (--linger); press Ctrl-C to exit");
        loop {
            std::thread::park();
        }
    }
    Ok(exit)
}

/// Serves the run's API if it is requested, or if the run cannot do without it.
fn api(args: &RunArgs, prepared: &Prepared, log: &Log) -> Result<Option<Api>, Refusal> {
    let is_paused = prepared.plan.options.paused == Some(true);
    let is_controlled = (prepared.plan.scenarios.iter())
        .any(|one| matches!(one.executor, Executor::ExternallyControlled { .. }));
    let given = args.address.as_deref().filter(|text| !text.is_empty());
    if given.is_none() && !is_paused && !is_controlled {
        return Ok(None);
    }
    let address = WebAddress::parse_with(given.unwrap_or_default(), API_PORT)
        .map_err(|error| Refusal::config(format!("--address {error}")))?
        .with_token(std::env::var("PLIMSOLL_WEB_TOKEN").ok());
    let api = Api::open(&address, "--address");
    // As in k6: another run may use the default address, which nobody asked for.
    if let (Err(message), None, false) = (&api, given, is_paused) {
        log.warn(message);
        return Ok(None);
    }
    let api = api.map_err(Refusal::api)?;
    if is_paused {
        log.line(
            Level::Info,
            "the run is paused; plimsoll resume starts it",
            &[("address", api.address().to_string().as_str())],
        );
    }
    // Not through `say`, which hides tokens. Users of k6 expect no line about the usual address.
    if given.is_some() || is_paused {
        talk(&format!("control API: {}\n", api.url()));
    }
    Ok(Some(api))
}

/// Warns of flags that are accepted because k6 has them, but have no effect yet.
fn warn_of_missing(args: &RunArgs, log: &Log) {
    let has_traces = !matches!(args.traces_output.as_deref(), None | Some("" | "none"));
    for (flag, what, is_given) in [
        ("--profiling-enabled", "profiling", args.profiling_enabled),
        ("--traces-output", "tracing", has_traces),
    ] {
        if is_given {
            log.warn(&format!("{flag} has no effect: there is no {what} yet"));
        }
    }
}

/// The settings of `--out web-dashboard`, k6's way to request the live page.
fn dashboard(output: &str) -> Option<&str> {
    let (name, settings) = output.split_once('=').unwrap_or((output, ""));
    (name == "web-dashboard").then_some(settings)
}

fn csv_time() -> Result<TimeFormat, Refusal> {
    match std::env::var("K6_CSV_TIME_FORMAT") {
        Ok(name) => TimeFormat::parse(&name).map_err(Refusal::config),
        Err(_) => Ok(TimeFormat::default()),
    }
}
