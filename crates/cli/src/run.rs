//! `plimsoll run`: a k6 script, unchanged.

use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use engine::{AbortReason, Notice, Setting};
use report::output::{OutputSetting, OutputSpec};
use report::summary_data::Circumstances;
use report::summary_machine::RunIdentity;
use report::{Paint, Style, catalog, header, output_csv, progress, summary_text, wall_clock};
use samples::{Totals, Watch, WatchSettings};
use script::ScriptUsers;

use crate::args::{GlobalArgs, RunArgs};
use crate::exit::Exit;
use crate::log::Log;
use crate::outputs::Outputs;
use crate::prepared::{Prepared, Refusal, prepare};
use crate::progress_view::{self, Extent};
use crate::session::{Ended, Session, Watcher};
use crate::talk::{no_color, put, screen_columns, show, talk};
use crate::{interrupts, machine};

/// Whose interface is kept.
const K6_VERSION: &str = "1.8.1";

/// How the summary at the end looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SummaryMode {
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
            return Exit::INVALID_CONFIG;
        }
    };
    if let Some(path) = &args.options.console_output
        && let Err(message) = log.console_to(path)
    {
        log.error(&message);
        return Exit::INVALID_CONFIG;
    }
    let log = Arc::new(log);
    match begin(args, global, &log) {
        Ok(exit) => exit,
        Err(refusal) => {
            log.error(&refusal.message);
            refusal.exit
        }
    }
}

fn begin(args: &RunArgs, global: &GlobalArgs, log: &Arc<Log>) -> Result<Exit, Refusal> {
    let mode = summary_mode(args)?;
    let prepared = prepare(&args.script, &args.runtime, &args.options, log, true)?;
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
    let watch = Watch::new(
        &prepared.registry,
        WatchSettings {
            thresholds: thresholds.clone(),
            system_tags: prepared.system_tags,
            run_tags: prepared.run_tags.clone(),
            outputs: !specs.is_empty(),
            output_extra: false,
            breakdown: mode == SummaryMode::Full,
        },
    )
    .map_err(Refusal::config)?;
    let watch = Arc::new(watch);
    let outputs = open_outputs(&specs, &prepared, &thresholds)?;
    let needs = prepared.plan.requirements();
    let extent = Extent {
        longest: needs.duration_with_graceful_stop.unwrap_or_default(),
        users: needs.max_users,
    };
    let paint = Paint::new(!no_color(global) && std::io::stdout().is_terminal());
    if !global.quiet {
        show(&header::banner(env!("CARGO_PKG_VERSION"), paint));
        show(&header::plan(
            &announce(args, &prepared, &specs, extent),
            paint,
        ));
    }
    let running = engine::start(Setting {
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
        workers: machine::workers(args.runtime.workers),
    });
    let lines = Arc::clone(log);
    interrupts::listen(Arc::clone(&running.state), move |signal| {
        lines.error(&format!(
            "test run was aborted because plimsoll received a '{signal}' signal"
        ));
    })
    .map_err(Refusal::generic)?;
    let totals = Totals::new(Arc::clone(&prepared.registry), watch);
    let mut watcher = Progress {
        log: Arc::clone(log),
        extent,
        paint,
        quiet: global.quiet,
        last: None,
    };
    let ended = Session::new(running, totals, outputs).accompany(&mut watcher);
    for error in &ended.output_errors {
        log.error(error);
    }
    tell_ending(&ended, log);
    if mode != SummaryMode::Disabled {
        summarize(args, global, &prepared, &ended, mode, log);
    }
    if let Some(last) = &watcher.last {
        show(last);
    }
    if args.linger && ended.aborted.is_none() {
        log.warn("lingering, as asked; Ctrl-C ends it");
        loop {
            std::thread::park();
        }
    }
    Ok(exit_status(&ended))
}

fn summary_mode(args: &RunArgs) -> Result<SummaryMode, Refusal> {
    if args.runtime.no_summary {
        return Ok(SummaryMode::Disabled);
    }
    match args.runtime.summary_mode.as_deref() {
        None | Some("" | "compact") => Ok(SummaryMode::Compact),
        Some("full") => Ok(SummaryMode::Full),
        Some("legacy") => Ok(SummaryMode::Legacy),
        Some("disabled") => Ok(SummaryMode::Disabled),
        Some(other) => Err(Refusal::config(format!(
            "--summary-mode {other}: use compact, full, legacy or disabled"
        ))),
    }
}

fn open_outputs(
    specs: &[OutputSpec],
    prepared: &Prepared,
    thresholds: &[plan::Threshold],
) -> Result<Outputs, Refusal> {
    let csv_time = match std::env::var("K6_CSV_TIME_FORMAT") {
        Ok(name) => output_csv::TimeFormat::parse(&name).map_err(Refusal::config)?,
        Err(_) => output_csv::TimeFormat::default(),
    };
    let mut catalog = catalog::Catalog::new(
        Arc::clone(&prepared.registry),
        thresholds
            .iter()
            .map(|threshold| (&threshold.metric, threshold.source.as_str())),
    );
    if !prepared
        .system_tags
        .has(samples::SystemTag::ExpectedResponse)
    {
        catalog = catalog.without_expected_responses();
    }
    let setting = OutputSetting {
        catalog,
        clock: wall_clock::WallClock::reading(clock::now(), SystemTime::now()),
        system_tags: samples::SystemTag::ALL
            .into_iter()
            .filter(|tag| prepared.system_tags.has(*tag))
            .collect(),
        csv_time,
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
        script: args.script.clone(),
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

fn tell_ending(ended: &Ended, log: &Log) {
    match &ended.aborted {
        Some(
            AbortReason::ScriptException(text)
            | AbortReason::Failed(text)
            | AbortReason::Machine(text),
        ) => log.error(text),
        Some(AbortReason::SetupTimeout(text) | AbortReason::TeardownTimeout(text)) => {
            log.error(text)
        }
        Some(AbortReason::ByScript(text)) => log.error(text),
        Some(AbortReason::Threshold | AbortReason::Signal) | None => {}
    }
    if !ended.crossed.is_empty() {
        let metrics: Vec<String> = ended
            .crossed
            .iter()
            .map(|name| format!("'{name}'"))
            .collect();
        let what = if matches!(ended.aborted, Some(AbortReason::Threshold)) {
            "were crossed; at least one has abortOnFail enabled, stopping test prematurely"
        } else {
            "have been crossed"
        };
        log.error(&format!(
            "thresholds on metrics {} {what}",
            metrics.join(", ")
        ));
    }
}

fn exit_status(ended: &Ended) -> Exit {
    match &ended.aborted {
        Some(AbortReason::Signal) => Exit::SIGNAL,
        Some(AbortReason::ByScript(_)) => Exit::ABORTED_BY_SCRIPT,
        Some(AbortReason::ScriptException(_)) => Exit::SCRIPT_EXCEPTION,
        Some(AbortReason::SetupTimeout(_)) => Exit::SETUP_TIMEOUT,
        Some(AbortReason::TeardownTimeout(_)) => Exit::TEARDOWN_TIMEOUT,
        Some(AbortReason::Failed(_) | AbortReason::Machine(_)) => Exit::GENERIC,
        Some(AbortReason::Threshold) => Exit::THRESHOLDS,
        None if !ended.crossed.is_empty() => Exit::THRESHOLDS,
        None if ended.marked_failed => Exit::FAILED_BY_SCRIPT,
        None => Exit::SUCCESS,
    }
}

/// Prints the summary, or what the script's own `handleSummary` wants.
fn summarize(
    args: &RunArgs,
    global: &GlobalArgs,
    prepared: &Prepared,
    ended: &Ended,
    mode: SummaryMode,
    log: &Log,
) {
    let options = &prepared.plan.options;
    let plain = no_color(global);
    let style = Style::new(
        options,
        Paint::new(!plain && std::io::stdout().is_terminal()),
    );
    let about = Circumstances {
        trend_stats: style.trend_stats.clone(),
        time_unit: style.time_unit,
        no_color: plain,
        stdout_is_terminal: std::io::stdout().is_terminal(),
        stderr_is_terminal: std::io::stderr().is_terminal(),
        setup_data: prepared.program.setup_data(),
        verdict: Some(ended.verdict.clone()),
    };
    let machine_readable = || {
        let run = RunIdentity {
            script: prepared.source.clone(),
            generated_at: SystemTime::now(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            k6_version: K6_VERSION.to_owned(),
        };
        report::summary_machine::machine_readable(&ended.summary, &run, &about)
    };
    let newer = args.runtime.new_machine_readable_summary;
    let data = if newer {
        machine_readable()
    } else {
        report::summary_data::handle_summary_argument(&ended.summary, &about)
    };
    let own = prepared
        .program
        .handle_summary(&data)
        .unwrap_or_else(|error| {
            log.error(&error.to_string());
            None
        });
    match own {
        Some(outputs) => outputs.iter().for_each(|output| write_output(output, log)),
        None => {
            let text = match mode {
                SummaryMode::Legacy => {
                    report::summary_legacy::render(&ended.summary, Some(&ended.verdict), &style)
                }
                SummaryMode::Full => summary_text::render(
                    &ended.summary,
                    Some(&ended.verdict),
                    summary_text::Detail::Full,
                    &style,
                ),
                SummaryMode::Compact | SummaryMode::Disabled => summary_text::render(
                    &ended.summary,
                    Some(&ended.verdict),
                    summary_text::Detail::Compact,
                    &style,
                ),
            };
            put(text.as_bytes());
        }
    }
    if let Some(file) = &args.runtime.summary_export {
        let data = if newer {
            machine_readable()
        } else {
            report::summary_export::summary_export(&ended.summary, &about)
        };
        let written = std::fs::write(file, report::pretty_json(&data));
        if let Err(error) = written {
            log.error(&format!(
                "cannot write the summary to {}: {error}",
                file.display()
            ));
        }
    }
}

fn write_output(output: &script::SummaryOutput, log: &Log) {
    match output.place.as_str() {
        "stdout" => put(&output.bytes),
        "stderr" => talk(&String::from_utf8_lossy(&output.bytes)),
        path => {
            if let Err(error) = std::fs::write(path, &output.bytes) {
                log.error(&format!("handleSummary: cannot write {path}: {error}"));
            }
        }
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
            script::logline::Level::Warning,
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
        let view = progress_view::view(session, self.extent, clock::now());
        let columns = screen_columns();
        let lines = progress::lines(&view, columns, self.paint);
        match columns {
            Some(columns) => show(&progress::frame(&lines, columns)),
            None => show(&format!("{}\n", lines.join("\n"))),
        }
    }

    fn last_look(&mut self, session: &Session) {
        self.last = (!self.quiet).then(|| {
            let view = progress_view::view(session, self.extent, clock::now());
            let lines = progress::lines(&view, screen_columns(), self.paint);
            format!("{}\n", lines.join("\n"))
        });
    }
}
