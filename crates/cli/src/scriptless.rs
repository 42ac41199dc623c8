//! A load without a script: one scenario, one kind of user, one result.

use std::time::Duration;

use plimsoll_engine::AbortReason;
use plimsoll_output::Paint;
use plimsoll_output::fixed_work::FixedWork;
use plimsoll_output::http_result::{Generator, HttpResult};
use plimsoll_plan::Executor;
use plimsoll_results::secrets::for_display;
use plimsoll_run::{Listener, LiveTitle, Outcome, Request, Run};
use plimsoll_samples::Summary;

use crate::args::GlobalArgs;
use crate::exit::Exit;
use crate::interrupts;
use crate::live::{Live, Quiet};
use crate::talk::{columns, lose, no_color, put, say, talk};
use crate::terminal::Stream;

/// What is run, and how it is shown.
pub struct Scriptless {
    pub request: Request,
    /// The line above the figures.
    pub title: String,
    /// How long it takes, if time ends it.
    pub duration: Option<Duration>,
    /// How its summary becomes a result.
    pub read: fn(&Summary, &Generator) -> HttpResult,
    /// Whether a fixed amount of work was asked for, which the result then has.
    pub is_fixed_work: bool,
}

/// A run that is over.
pub struct Finished {
    pub result: HttpResult,
    pub outcome: Outcome,
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
pub fn run(load: Scriptless, global: &GlobalArgs) -> Result<Finished, String> {
    let scenario = load.request.load.scenario();
    let wanted_rate = match scenario.map(|scenario| &scenario.executor) {
        Some(Executor::ConstantArrivalRate { rate, .. }) => {
            Some(rate.count as f64 / rate.per.as_secs_f64())
        }
        _ => None,
    };
    let title = for_display(&load.title).into_owned();
    let view: Box<dyn Listener> = match columns() {
        Some(_) if !global.quiet => Box::new(Live::new(
            LiveTitle {
                title: title.clone(),
                duration: load.duration,
                wanted_rate,
            },
            Paint::new(!no_color(global)),
        )),
        _ => Box::new(Quiet),
    };
    let run = Run::start(load.request, vec![view]).map_err(|refusal| refusal.message)?;
    interrupts::listen(
        run.control(),
        |_| {
            say("stopping; once more to quit at once");
        },
        |_| (),
    )?;
    let outcome = run.finish();
    for message in &outcome.messages {
        say(message);
    }
    let generator = Generator {
        cpu: plimsoll_machine::cpu_time(),
        peak_rss: plimsoll_machine::peak_memory(),
        verdict: outcome.verdict.clone(),
    };
    let mut result = (load.read)(&outcome.summary, &generator);
    let mut work = outcome.summary.work.iter().map(FixedWork::of);
    result.fixed_work = work.next().filter(|_| load.is_fixed_work);
    Ok(Finished {
        result,
        outcome,
        title,
    })
}

/// Runs it, prints its result to stdout, and returns the exit status.
///
/// # Errors
/// What kept it from running, or from going on.
pub fn run_and_print(load: Scriptless, json: bool, global: &GlobalArgs) -> Result<Exit, String> {
    let finished = run(load, global)?;
    if let Some(AbortReason::Machine(what)) = &finished.outcome.aborted {
        return Err(what.clone());
    }
    finished.show(if json { Show::Json } else { Show::Text }, global)?;
    finished.tell_lost();
    Ok(finished.exit())
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

impl Finished {
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

    /// Reports output that could not be written.
    pub fn tell_lost(&self) {
        for error in &self.outcome.output_errors {
            lose(error);
        }
    }

    /// The exit status that the result deserves.
    pub fn exit(&self) -> Exit {
        match self.outcome.aborted {
            Some(AbortReason::Signal) => Exit::SIGNAL,
            _ if self.result.requests == 0 || self.result.failed > 0 => Exit::SOME_FAILED,
            _ => Exit::SUCCESS,
        }
    }
}
