//! Runs a script and shows the run, from its header to its summary.

use std::io::IsTerminal;
use std::sync::Arc;

use plimsoll_engine::AbortReason;
use plimsoll_live::{PageSources, PageTitle, TerminalView};
use plimsoll_output::Paint;
use plimsoll_output::header::Header;
use plimsoll_run::{
    EndSummary, ExportFile, Interrupted, Listener, NoResponse, PreparedScript, Refusal, Request,
    Run, Screen, SummaryMode, Workers,
};

use crate::control_api::{self, SetupOf};
use crate::exit::Exit;
use crate::live_page;
use crate::load_run::STOPPING;
use crate::log::Log;
use crate::messages::{mark_lost, print_message, print_screen, screen_columns};
use crate::reporting::Reporting;
use crate::script_summary::ScriptSummary;
use crate::script_view::ScriptView;
use crate::signals::{self, StopSignal};

/// A script's run, and how it is shown.
pub struct ScriptRun<'a> {
    pub request: Request,
    pub prepared: Arc<PreparedScript>,
    pub workers: Workers,
    /// The script's name on pages.
    pub title: String,
    pub header: Header,
    /// The summary, the file to export it to, and whether to use the newer JSON.
    pub mode: SummaryMode,
    pub export: Option<ExportFile>,
    pub newer_json: bool,
    pub reporting: Reporting,
    pub page: PageSources<'a>,
    /// The address of the API.
    pub address: Option<&'a str>,
    /// Whether to print only JSON to stdout.
    pub is_json: bool,
    pub is_quiet: bool,
    pub no_color: bool,
    /// Whether to show figures below k6's bars.
    pub has_figures: bool,
    /// Whether to keep running after the run.
    pub lingers: bool,
}

impl ScriptRun<'_> {
    /// Runs the script to its end, and prints its summary.
    ///
    /// # Errors
    /// Why it did not run.
    pub fn run(self, log: &Arc<Log>) -> Result<Exit, Refusal> {
        let ScriptRun { prepared, mode, .. } = self;
        if mode == SummaryMode::Legacy {
            log.warn("k6 2.0 has no \"legacy\" summary mode any more; \"compact\" and \"full\" have taken its place");
        }
        let extent = prepared.extent();
        let page = PageTitle {
            title: self.title,
            duration: Some(extent.longest),
        };
        let mut view = ScriptView {
            log: Arc::clone(log),
            version: env!("CARGO_PKG_VERSION"),
            header: self.header,
            extent,
            paint: Paint::new(!self.no_color && std::io::stdout().is_terminal()),
            quiet: self.is_quiet || self.is_json,
            figures: (self.has_figures && screen_columns().is_some())
                .then(|| TerminalView::new(page.clone(), None)),
            last: None,
            memory: None,
        };
        let mut listeners: Vec<Box<dyn Listener + '_>> = Vec::new();
        listeners.extend(live_page::open(self.page, page)?);
        listeners.push(Box::new(&mut view));
        let api = control_api::open(self.address, &prepared.plan, log)?;
        listeners.extend(api.as_ref().map(plimsoll_live::Api::listener));
        let warnings = Arc::clone(log);
        listeners.push(Box::new(NoResponse::new(false, move |text| {
            warnings.warn(text);
        })));
        // Handle signals before the run starts, because its users may already work when `start` returns. A signal would
        // otherwise end the program.
        let stop = stop_signal(log)?;
        let run = Run::start_on(self.workers, self.request, listeners)?;
        let control = run.control();
        stop.follow(control.clone());
        if let Some(api) = &api {
            api.attach(control, SetupOf(Arc::clone(&prepared)));
        }
        let mut outcome = run.finish();
        log.report_repeated();
        for message in &outcome.messages {
            print_message(message);
        }
        for error in &outcome.output_errors {
            log.error(error);
            mark_lost();
        }
        if outcome.aborted.is_none() && outcome.iterations == 0 {
            log.warn(
                "No script iterations fully finished, consider making the test duration longer",
            );
        }
        if mode != SummaryMode::Disabled {
            let was_interrupted = stop.number() != 0;
            let stop = stop.clone();
            let interrupted: Interrupted = Arc::new(move || !was_interrupted && stop.number() != 0);
            let screen = Screen {
                is_plain: self.no_color,
                stdout_is_terminal: std::io::stdout().is_terminal(),
                stderr_is_terminal: std::io::stderr().is_terminal(),
            };
            let summary = ScriptSummary {
                summary: EndSummary::new(&prepared, &outcome, screen, self.newer_json),
                outcome: &outcome,
                mode,
                json: self.is_json,
                log,
            };
            summary.write(self.export, interrupted);
        }
        if let Some(last) = &view.last {
            print_screen(last);
        }
        let signal = stop.number();
        if signal != 0 && outcome.aborted.is_none() {
            // The signal arrived while the summary was being created.
            outcome.aborted = Some(AbortReason::Signal);
        }
        if let Some(what) = outcome.explanation(signals::name(signal)) {
            log.failure(&what.text, "hint", what.hint.as_deref());
        }
        let own = outcome.ending().into();
        let exit = self.reporting.finish(outcome.record.as_deref(), own);
        if self.lingers && outcome.aborted.is_none() {
            log.warn("lingering (--linger); press Ctrl-C to exit");
            loop {
                std::thread::park();
            }
        }
        Ok(exit)
    }
}

/// Announces the stop on a terminal, and logs a second signal.
fn stop_signal(log: &Arc<Log>) -> Result<StopSignal, Refusal> {
    let log = Arc::clone(log);
    StopSignal::listen(
        || {
            if std::io::stderr().is_terminal() {
                print_message(STOPPING);
            }
        },
        move |signal| {
            log.failure(
                "exiting immediately because of a second signal; the measurements are lost",
                "sig",
                Some(signals::name(signal)),
            );
        },
    )
}
