//! `plimsoll run`: runs an unchanged k6 script.

use std::sync::Arc;

use plimsoll_live::PageSources;
use plimsoll_results::secrets::url_for_display;
use plimsoll_run::{
    ExportFile, Load, OutputChoice, Refusal, Request, Script, ScriptOptions, SummaryMode, prepare,
};
use plimsoll_terminal::exit::Exit;
use plimsoll_terminal::load_run::{Presentation, worker_threads};
use plimsoll_terminal::log::Log;
use plimsoll_terminal::messages::{print_message, print_screen};
use plimsoll_terminal::reporting::Reporting;
use plimsoll_terminal::script_run::ScriptRun;
use plimsoll_terminal::{live_page, run_outputs, script_command};
use serde_json::json;

use crate::args::{GlobalArgs, ProgressForm, RunArgs};
use crate::{fleet, script_options};

/// Runs the script and prints its summary.
pub fn run(args: &RunArgs, global: &GlobalArgs) -> Exit {
    let console = args.options.console_output.clone();
    let console = console.or_else(|| std::env::var("K6_CONSOLE_OUTPUT").ok());
    let console = console.filter(|path| !path.is_empty());
    script_command::run(global.log(), console.as_deref(), |log| {
        begin(args, global, log)
    })
}

fn begin(args: &RunArgs, global: &GlobalArgs, log: &Arc<Log>) -> Result<Exit, Refusal> {
    let runtime = &args.runtime;
    let given = |name: &str| global.given.iter().find(|(flag, _)| flag == name);
    if given("--no-summary").is_some() {
        // k6 prints this line instead of its header.
        let notice = "Flag --no-summary has been deprecated, use --summary-mode=disabled instead\n";
        print_screen(notice);
    }
    let mode = match runtime.summary_mode {
        _ if runtime.no_summary => SummaryMode::Disabled,
        mode => mode.unwrap_or(SummaryMode::Compact),
    };
    if args.profiling_enabled {
        log.warn("--profiling-enabled has no effect: profiling is not implemented");
    }
    let script = script_options::read(&args.script, runtime, &args.options, global, log)?;
    let page = PageSources {
        is_configured: script.config.has_page,
        ..args.web.sources()
    };
    let Presentation {
        record,
        mut report,
        until,
        is_json,
        is_quiet,
        ..
    } = args.record.presentation(&args.web, global);
    let exported = live_page::export(page).map_err(Refusal::config)?;
    report.reports.extend(exported);
    let reporting = Reporting::of_one_run(&report, record.store.as_deref())?;
    let traces = OutputChoice::traces(&args.traces_output).map_err(Refusal::other)?;
    let script = ScriptOptions {
        has_system_env: runtime.include_system_env_vars.unwrap_or(true),
        keep_files: args.record.is_requested()
            || reporting.needs_record()
            || args.fleet.fleet.is_some(),
        traced: traces.as_ref().and_then(OutputChoice::traced),
        ..script
    };
    let lingers = args.linger || script.config.lingers && given("--linger").is_none();
    let outputs = match args.record.out.as_slice() {
        [] => script.config.outputs.clone(),
        given => given.to_vec(),
    };
    let prepared = Arc::new(prepare(script.resolve()?, &log.sink())?);
    let (mut outputs, dashboard) = run_outputs::requested(&outputs)?;
    outputs.choices.extend(traces);
    let export = runtime.summary_export.as_deref();
    let export = export.filter(|_| mode != SummaryMode::Disabled);
    let export = ExportFile::requested("--summary-export", export)?;
    let threads = runtime.threads.threads;
    let configuration = json!({ "threads": threads, "io": args.options.connection.io.io.name() });
    let title = url_for_display(&args.script).into_owned();
    let (needs_record, warm_up) = (reporting.needs_record(), record.warm_up());
    let record = record.resolve(&title, configuration, needs_record, &mut print_message);
    let record = record.map_err(Refusal::other)?;
    let workers = fleet::workers(args, &prepared, log)?;
    let run = ScriptRun {
        header: prepared.header(&title, &outputs.choices),
        request: Request {
            load: Load::Script(Box::new(Script {
                prepared: Arc::clone(&prepared),
                thresholds: !runtime.no_thresholds,
                breakdown: mode == SummaryMode::Full,
            })),
            threads: worker_threads(threads),
            outputs,
            record,
            warm_up,
            until,
        },
        prepared,
        workers,
        title,
        mode,
        export,
        newer_json: runtime.new_machine_readable_summary,
        reporting,
        page: PageSources {
            output: dashboard,
            ..page
        },
        address: args.address.as_deref(),
        is_json,
        is_quiet,
        no_color: global.no_color(),
        has_figures: args.progress == ProgressForm::Full,
        lingers,
    };
    run.run(log)
}
