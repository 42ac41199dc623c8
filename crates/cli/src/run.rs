//! `plimsoll run`: a k6 script, unchanged.

use std::sync::Arc;

use plimsoll_output::output_csv::TimeFormat;
use plimsoll_results::secrets::url_for_display;
use plimsoll_run::{ExportFile, Load, OutputChoice, Refusal, Request, Script, SummaryMode};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run::{Presentation, worker_threads};
use plimsoll_terminal::log::Log;
use plimsoll_terminal::messages::{say, show};
use plimsoll_terminal::reporting::Reporting;
use plimsoll_terminal::script_run::ScriptRun;
use serde_json::json;

use crate::args::{GlobalArgs, ProgressForm, RunArgs};
use crate::fleet;
use crate::script_request::{Purpose, prepared};

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
    let runtime = &args.runtime;
    if runtime.no_summary {
        // k6 prints it where its header would be.
        show("Flag --no-summary has been deprecated, use --summary-mode=disabled instead\n");
    }
    let mode = SummaryMode::select(runtime.summary_mode.as_deref(), runtime.no_summary)?;
    warn_of_missing(args, log);
    if mode == SummaryMode::Legacy {
        log.warn("k6 2.0 has no \"legacy\" summary mode any more; \"compact\" and \"full\" have taken its place");
    }
    let Presentation {
        record,
        report,
        page,
        until,
        is_json,
        is_quiet,
        ..
    } = args.record.presentation(&args.web, global);
    let reporting = Reporting::of_one_run(&report, record.store.as_deref())?;
    let purpose = Purpose {
        has_system_env: true,
        keep_files: args.record.is_asked()
            || reporting.needs_record()
            || args.fleet.fleet.is_some(),
        is_only_read: false,
    };
    let prepared = Arc::new(prepared(
        &args.script,
        runtime,
        &args.options,
        log,
        purpose,
    )?);
    let outputs = OutputChoice::parse_all(&args.out).map_err(Refusal::other)?;
    let export = runtime.summary_export.as_deref();
    let export = export.filter(|_| mode != SummaryMode::Disabled);
    let export = export.map(|path| ExportFile::open("--summary-export", path));
    let export = export.transpose()?;
    let threads = runtime.threads.threads;
    let io = args.options.connection.io.io.name();
    let configuration = json!({ "threads": threads, "io": io });
    let title = url_for_display(&args.script).into_owned();
    let needs_record = reporting.needs_record();
    let record = record.resolve(&title, configuration, needs_record, &mut |text| say(text));
    let record = record.map_err(Refusal::other)?;
    let workers = fleet::workers(args, &prepared, log)?;
    let run = ScriptRun {
        header: prepared.header(&title, &outputs.choices),
        request: Request {
            load: Load::Script(Box::new(Script {
                prepared: Arc::clone(&prepared),
                thresholds: !runtime.no_thresholds,
                breakdown: mode == SummaryMode::Full,
                outputs: outputs.choices,
                csv_time: TimeFormat::from_environment().map_err(Refusal::config)?,
                stdout: || Box::new(std::io::stdout()),
            })),
            threads: worker_threads(threads),
            record,
            until,
        },
        prepared,
        workers,
        title,
        mode,
        export,
        newer_json: runtime.new_machine_readable_summary,
        reporting,
        page,
        dashboard: outputs.dashboard,
        address: args.address.as_deref(),
        is_json,
        is_quiet,
        no_color: global.no_color(),
        has_figures: args.progress == ProgressForm::Full,
        lingers: args.linger,
    };
    run.run(log)
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
