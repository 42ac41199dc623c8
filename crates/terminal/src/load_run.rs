//! Runs a load without a script and shows its result.

use plimsoll_engine::AbortReason;
use plimsoll_live::{PageSources, PageTitle, TerminalView};
use plimsoll_output::Paint;
use plimsoll_output::fixed_work::FixedWork;
use plimsoll_output::http_result::{Generator, HttpResult};
use plimsoll_plan::Executor;
use plimsoll_results::secrets::for_display;
#[cfg(not(feature = "scripts"))]
use plimsoll_run::OutputRequest;
use plimsoll_run::{
    Listener, NoResponse, Outcome, PrecisionGoal, RecordOptions, Refusal, Request, ResolvedLoad,
    Run, Workers,
};
use plimsoll_samples::Summary;

use crate::exit::Exit;
use crate::live_page;
use crate::load_view::{LoadView, Quiet};
use crate::messages::{
    columns, print_error, print_message, print_stderr, print_stdout, report_lost,
};
use crate::reporting::{ReportRequest, Reporting};
#[cfg(feature = "scripts")]
use crate::run_outputs;
use crate::signals::StopSignal;
use crate::streams::Stream;

/// Printed at the first signal.
pub const STOPPING: &str = "Stopping gracefully. Press Ctrl-C again to exit immediately.";

/// How to show a run, and which results to keep.
#[derive(Clone, Debug, Default)]
pub struct Presentation {
    /// The outputs of all samples, as in `--out`.
    #[cfg(feature = "scripts")]
    pub outputs: Vec<String>,
    pub record: RecordOptions,
    pub report: ReportRequest,
    /// The live page, as in `--web`.
    pub page: Option<String>,
    /// The precision at which the run ends early.
    pub until: Option<PrecisionGoal>,
    /// Whether to print the result as JSON.
    pub is_json: bool,
    /// Whether to hide progress.
    pub is_quiet: bool,
    pub paint: Paint,
}

/// A function that finds the workers of a load: in this process, or on agents.
pub type FindWorkers<'a> = Box<dyn FnOnce(&ResolvedLoad) -> Result<Workers, Refusal> + 'a>;

/// A load, and where its users run.
pub struct PlacedLoad<'a> {
    pub resolved: ResolvedLoad,
    pub workers: FindWorkers<'a>,
}

impl PlacedLoad<'_> {
    /// A load whose users run in this process.
    pub fn local(resolved: ResolvedLoad) -> Self {
        PlacedLoad {
            resolved,
            workers: Box::new(|_| Ok(Workers::Local)),
        }
    }
}

/// A run that has ended.
struct FinishedRun {
    result: HttpResult,
    outcome: Outcome,
    title: String,
    reporting: Reporting,
    paint: Paint,
}

/// The number of worker threads. The default is one per processor that this process may use.
pub fn worker_threads(given: Option<usize>) -> usize {
    given.unwrap_or_else(plimsoll_machine::processors).max(1)
}

/// Runs the load to its end, with a live view if there is a terminal. `read` creates a result from the summary.
fn run(
    load: PlacedLoad<'_>,
    read: fn(&Summary, &Generator) -> HttpResult,
    presentation: Presentation,
) -> Result<FinishedRun, Refusal> {
    let Presentation { record, paint, .. } = presentation;
    let reporting = Reporting::of_one_run(&presentation.report, record.store.as_deref())?;
    #[cfg(feature = "scripts")]
    let (outputs, dashboard) = run_outputs::requested(&presentation.outputs)?;
    #[cfg(not(feature = "scripts"))]
    let (outputs, dashboard) = (OutputRequest::default(), None);
    let PlacedLoad { resolved, workers } = load;
    let scenario = resolved.load.scenario();
    let wanted_rate = match scenario.map(|scenario| &scenario.executor) {
        Some(Executor::ConstantArrivalRate { rate, .. }) => Some(rate.per_second()),
        _ => None,
    };
    let title = for_display(&resolved.title).into_owned();
    let page = PageTitle {
        title: title.clone(),
        duration: resolved.duration,
    };
    let view: Box<dyn Listener> = match columns() {
        Some(_) if !presentation.is_quiet => Box::new(LoadView::new(
            TerminalView::new(page.clone(), wanted_rate),
            paint,
        )),
        _ => Box::new(Quiet),
    };
    let workers = workers(&resolved)?;
    let request = Request {
        load: resolved.load,
        threads: worker_threads(resolved.threads),
        outputs,
        until: presentation.until,
        warm_up: record.warm_up(),
        record: record
            .resolve(
                &title,
                resolved.configuration,
                reporting.needs_record(),
                &mut |sentence| print_message(sentence),
            )
            .map_err(Refusal::config)?,
    };
    let mut listeners = vec![view];
    let sources = PageSources {
        flag: presentation.page.as_deref(),
        output: dashboard,
        is_configured: false,
    };
    listeners.extend(live_page::open(sources, page)?);
    // A slower schedule may not send any request for a while.
    let sends_always = wanted_rate.is_none_or(|rate| rate >= 1.0);
    listeners.push(Box::new(NoResponse::new(sends_always, print_message)));
    // Handle signals before the run starts, because its users may already work when `start` returns. A signal would
    // otherwise end the program.
    let stop = StopSignal::listen(|| print_message(STOPPING), |_| {})?;
    let run = Run::start_on(workers, request, listeners)?;
    stop.follow(run.control());
    let outcome = run.finish();
    for message in &outcome.messages {
        print_message(message);
    }
    let generator = Generator {
        cpu: plimsoll_machine::cpu_time() + outcome.remote_cpu,
        peak_rss: plimsoll_machine::peak_memory(),
        verdict: outcome.verdict.clone(),
    };
    let mut result = read(&outcome.summary, &generator);
    let mut work = outcome.summary.work.iter().map(FixedWork::of);
    result.fixed_work = work.next().filter(|_| resolved.is_fixed_work);
    Ok(FinishedRun {
        result,
        outcome,
        title,
        reporting,
        paint,
    })
}

/// Runs the load, prints its result as JSON to stdout or as text to `text_to`, and returns the exit status.
pub fn run_and_print(
    load: Result<PlacedLoad<'_>, Refusal>,
    read: fn(&Summary, &Generator) -> HttpResult,
    presentation: Presentation,
    text_to: Stream,
) -> Exit {
    let is_json = presentation.is_json;
    let exit = load
        .and_then(|load| run(load, read, presentation))
        .and_then(|finished| {
            match is_json {
                true => finished.print_json()?,
                false => finished.print_text(text_to),
            }
            finished.exit()
        });
    exit.unwrap_or_else(|refusal| Exit::refuse(&refusal))
}

impl FinishedRun {
    fn print_json(&self) -> Result<(), Refusal> {
        let text = serde_json::to_string_pretty(&self.result)
            .map_err(|error| Refusal::other(format!("cannot write the result as JSON: {error}")))?;
        print_stdout(format!("{text}\n").as_bytes());
        Ok(())
    }

    fn print_text(&self, stream: Stream) {
        let size = stream.size();
        let paint = match size {
            Some(_) => self.paint,
            None => Paint::OFF,
        };
        // The last column stays empty.
        let columns = size.map(|size| size.columns.saturating_sub(1));
        let text = plimsoll_output::http_text::render(&self.title, &self.result, paint, columns);
        match stream {
            Stream::Stdout => print_stdout(text.as_bytes()),
            Stream::Stderr => print_stderr(&text),
        }
    }

    /// Writes the reports, and returns the exit status. Also reports outputs that could not be written and targets that
    /// could not be read.
    fn exit(self) -> Result<Exit, Refusal> {
        let own = self.own_exit()?;
        let exit = self.reporting.finish(self.outcome.record.as_deref(), own);
        Ok(match self.outcome.input_error {
            Some(_) => Exit::INVALID_CONFIG,
            None => exit,
        })
    }

    /// The exit status without reports.
    fn own_exit(&self) -> Result<Exit, Refusal> {
        for error in &self.outcome.output_errors {
            report_lost(error);
        }
        if let Some(error) = &self.outcome.input_error {
            print_error(error);
        }
        match &self.outcome.aborted {
            Some(AbortReason::Machine(reason)) => Err(Refusal::other(reason)),
            Some(AbortReason::Signal) => Ok(Exit::SIGNAL),
            // For example, a fleet lost an agent. The results are printed, but they are not those of the whole run.
            Some(AbortReason::Failed(reason)) if self.outcome.input_error.is_none() => {
                print_error(reason);
                Ok(Exit::GENERIC)
            }
            _ if self.result.requests == 0 || self.result.failed > 0 => Ok(Exit::SOME_FAILED),
            _ => Ok(Exit::SUCCESS),
        }
    }
}
