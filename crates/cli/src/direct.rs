//! A run without a script: one scenario, one kind of user, one result.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_engine::{AbortReason, Setting, UserFactory};
use plimsoll_output::Paint;
use plimsoll_output::fixed_work::FixedWork;
use plimsoll_output::http_result::{Generator, HttpResult};
use plimsoll_plan::{Plan, Scenario};
use plimsoll_results::secrets::for_display;
use plimsoll_samples::{Registry, Summary, Totals, Watch, WatchSettings};

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::interrupts;
use crate::live::{Live, Quiet};
use crate::outputs::Outputs;
use crate::recording::{Place, Question, Recording};
use crate::session::{Ended, Session, Watcher};
use crate::talk::{columns, lose, no_color, put, say, talk};
use crate::terminal::Stream;

/// What is to be run.
pub struct Direct<'a, F> {
    pub users: F,
    pub scenario: Scenario,
    /// What stands above the figures.
    pub title: String,
    /// How long it takes, if time ends it.
    pub duration: Option<Duration>,
    /// Worker threads; `None` for one a processor.
    pub threads: Option<usize>,
    /// Where the run is written down, and what the record says of it.
    pub record: Option<(Place, Question<'a>)>,
    /// How its summary becomes a result.
    pub read: fn(&Summary, &Generator) -> HttpResult,
    /// Whether a fixed amount of work was asked for, which then is told of.
    pub is_fixed_work: bool,
}

/// What came of it.
pub struct Outcome {
    pub result: HttpResult,
    pub ended: Ended,
    title: String,
}

/// How many worker threads to use: as asked, or one for each processor that this process may use.
pub fn worker_threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(plimsoll_machine::processors).max(1)
}

/// Runs it to its end, with a live view where there is a terminal.
///
/// # Errors
/// What kept it from running.
pub fn run<F: UserFactory>(direct: Direct<'_, F>, global: &GlobalArgs) -> Result<Outcome, String> {
    let wanted_rate = match &direct.scenario.executor {
        plimsoll_plan::Executor::ConstantArrivalRate { rate, .. } => {
            Some(rate.count as f64 / rate.per.as_secs_f64())
        }
        _ => None,
    };
    let title = for_display(&direct.title).into_owned();
    let registry = Arc::new(Registry::new());
    let settings = WatchSettings {
        by_second: direct.record.is_some(),
        ..WatchSettings::default()
    };
    let watch = Watch::new(&registry, settings).map_err(|errors| errors.to_string())?;
    let watch = Arc::new(watch);
    let recording = direct
        .record
        .map(|(place, question)| Recording::begin(place, question, &registry, &watch))
        .transpose()?;
    let running = plimsoll_engine::start(Setting {
        plan: Arc::new(Plan::single(direct.scenario, Vec::new())),
        factory: Arc::new(direct.users),
        registry: Arc::clone(&registry),
        watch: Arc::clone(&watch),
        run_tags: plimsoll_samples::TagMap::new(),
        min_iteration: Duration::ZERO,
        workers: worker_threads(direct.threads),
    });
    interrupts::listen(
        Arc::clone(&running.state),
        |_| {
            say("stopping; once more to quit at once");
        },
        |_| (),
    )?;
    let totals = Totals::new(registry, watch);
    let session = Session::new(running, totals, Outputs::default())
        .record(recording)
        .of_requests();
    let mut watcher: Box<dyn Watcher> = match columns() {
        Some(_) if !global.quiet => Box::new(Live::new(
            title.clone(),
            direct.duration,
            wanted_rate,
            Paint::new(!no_color(global)),
        )),
        _ => Box::new(Quiet),
    };
    let ended = session.accompany(watcher.as_mut());
    let generator = Generator {
        cpu: plimsoll_machine::cpu_time(),
        peak_rss: plimsoll_machine::peak_memory(),
        verdict: ended.verdict.clone(),
    };
    let mut result = (direct.read)(&ended.summary, &generator);
    let mut work = ended.summary.work.iter().map(FixedWork::of);
    result.fixed_work = work.next().filter(|_| direct.is_fixed_work);
    Ok(Outcome {
        result,
        ended,
        title,
    })
}

/// Runs it, shows what came of it on standard output, and gives the exit status.
///
/// # Errors
/// What kept it from running, or from going on.
pub fn load<F: UserFactory>(
    direct: Direct<'_, F>,
    json: bool,
    global: &GlobalArgs,
) -> Result<Exit, String> {
    let outcome = run(direct, global)?;
    if let Some(AbortReason::Machine(what)) = &outcome.ended.aborted {
        return Err(what.clone());
    }
    outcome.show(if json { Show::Json } else { Show::Text }, global)?;
    outcome.tell_lost();
    Ok(outcome.exit())
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// As JSON on standard output.
    Json,
    /// As text there.
    Text,
    /// As text on standard error, as standard output has other data.
    Beside,
}

impl Outcome {
    /// Shows the result.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn show(&self, how: Show, global: &GlobalArgs) -> Result<(), String> {
        let text = |stream: Stream| {
            let size = stream.size();
            let paint = Paint::new(!no_color(global) && size.is_some());
            // The last column stays free.
            let columns = size.map(|size| size.columns.saturating_sub(1));
            plimsoll_output::http_text::render(&self.title, &self.result, paint, columns)
        };
        match how {
            Show::Json => {
                let text = serde_json::to_string_pretty(&self.result)
                    .map_err(|error| format!("cannot write the result as JSON: {error}"))?;
                put(format!("{text}\n").as_bytes());
            }
            Show::Text => put(text(Stream::Stdout).as_bytes()),
            Show::Beside => talk(&text(Stream::Stderr)),
        }
        Ok(())
    }

    /// Tells of output that could not be written.
    pub fn tell_lost(&self) {
        for error in &self.ended.output_errors {
            lose(error);
        }
    }

    /// The exit status that the result deserves.
    pub fn exit(&self) -> Exit {
        match self.ended.aborted {
            Some(AbortReason::Signal) => Exit::SIGNAL,
            _ if self.result.requests == 0 || self.result.failed > 0 => Exit::SOME_FAILED,
            _ => Exit::SUCCESS,
        }
    }
}
