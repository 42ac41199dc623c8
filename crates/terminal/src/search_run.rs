//! Runs a search for the highest rate that meets an objective, and shows its progress. Each trial starts this program
//! again, so it measures the same as a user's own run.

use std::cell::RefCell;
use std::time::SystemTime;

use plimsoll_live::{Mark, PageSources, PageTitle, RecordView, Row, Steps, StepsPage};
use plimsoll_output::{Paint, live, wall_clock};
use plimsoll_report::Judged;
use plimsoll_report::search::SearchReport;
use plimsoll_results::environment::Environment;
use plimsoll_results::record::Record;
use plimsoll_results::secrets;
use plimsoll_run::Refusal;
use plimsoll_run::child::Scratch;
use plimsoll_search::fail_on::{EarlierSearch, judge};
use plimsoll_search::{LoadCommand, SearchResult, Settings, Trial, TrialCommand, search};
use plimsoll_stats::limit::{Limit, Outcome};

use crate::exit::Exit;
use crate::live_page;
use crate::messages::{columns, print_message, print_result, table_columns};
use crate::reporting::{self, ReportRequest, Reporting};
use crate::streams::{self, Stream};

/// A search, and how to show it.
pub struct SearchRun {
    pub settings: Settings,
    /// The arguments of the command to search with.
    pub command: Vec<String>,
    pub report: ReportRequest,
    /// The live page, as in `--web`.
    pub page: Option<String>,
    /// Whether to print the result as JSON.
    pub is_json: bool,
    /// Whether to hide progress.
    pub is_quiet: bool,
    pub paint: Paint,
}

impl SearchRun {
    /// Runs the search and prints its result.
    ///
    /// # Errors
    /// Why there is no result.
    pub fn run(self) -> Result<Exit, Refusal> {
        self.settings.check().map_err(Refusal::config)?;
        let command = LoadCommand::parse(&self.command).map_err(Refusal::config)?;
        reporting::needs_baseline(&self.report)?;
        let earlier = earlier(self.report.baseline.as_deref())?;
        let reporting = Reporting::open(&self.report)?;
        let scratch = Scratch::new().map_err(Refusal::other)?;
        let (began, started) = (plimsoll_clock::now(), SystemTime::now());
        let page = self.page().map_err(Refusal::other)?;
        let page = RefCell::new(page);
        let view = TrialView {
            is_quiet: self.is_quiet || columns().is_none(),
            paint: self.paint,
        };
        let found = search(
            self.settings,
            &command,
            &mut |trial| {
                if let Some(page) = &mut *page.borrow_mut() {
                    page.update(None, |steps| steps.now = trial.name.to_owned());
                }
                let record = view.run(&scratch, trial)?;
                if let Some(page) = &mut *page.borrow_mut() {
                    page.add_run(&record);
                }
                Ok(record)
            },
            &mut |trial, line| {
                print_message(line);
                if let Some(page) = &mut *page.borrow_mut() {
                    page.update(None, |steps| steps.rows.push(row(trial)));
                }
            },
        )
        .map_err(Refusal::other)?;
        if let Some(page) = page.into_inner() {
            page.end("completed", |steps| {
                steps.result = found.answer.lines().map(str::to_owned).collect();
            });
        }
        print_result(
            self.is_json,
            || found.json(),
            || found.text(table_columns()),
        );
        let own = match found.limit {
            Limit {
                confirmed: false, ..
            } => Exit::UNCERTAIN,
            Limit { kept: None, .. } => Exit::OBJECTIVE_MISSED,
            _ => Exit::SUCCESS,
        };
        let conditions = self.report.fail_on.iter();
        let judged: Vec<Judged> = conditions
            .map(|condition| {
                let failures = judge(condition, &found, earlier.as_ref());
                (condition.clone(), failures)
            })
            .collect();
        let seconds = plimsoll_clock::now().since(began).as_secs_f64();
        reporting.write(&report(&found, started, seconds), &judged);
        Ok(reporting::exit(own, &judged))
    }

    /// The live page of the search, if it is requested.
    fn page(&self) -> Result<Option<StepsPage>, String> {
        let objectives = self.settings.objectives.iter();
        let figures = objectives.map(|objective| format!("{} ms", objective.figure));
        let columns = ["offered/s", "served/s", "failed"].map(str::to_owned);
        let steps = Steps {
            title: "Trials".to_owned(),
            columns: columns
                .into_iter()
                .chain(figures)
                .chain(["outcome".to_owned()])
                .collect(),
            ..Steps::default()
        };
        let objectives = self.settings.objectives.iter();
        let objectives: Vec<&str> = objectives
            .map(|objective| objective.text.as_str())
            .collect();
        let title = format!(
            "find {}: {}",
            objectives.join(", "),
            secrets::in_arguments(self.command.clone()).join(" ")
        );
        let sources = PageSources {
            flag: self.page.as_deref(),
            ..PageSources::default()
        };
        let page = live_page::page(sources).map_err(|refusal| refusal.message)?;
        Ok(page.map(|page| page.steps(&title, steps)))
    }
}

/// How to show trials.
struct TrialView {
    is_quiet: bool,
    paint: Paint,
}

impl TrialView {
    /// Runs a trial. Shows its figures during the run if there is a terminal.
    fn run(&self, scratch: &Scratch, trial: &TrialCommand<'_>) -> Result<Record, String> {
        if self.is_quiet {
            return scratch.run(trial.name, trial.words);
        }
        let title = PageTitle {
            title: trial.name.to_owned(),
            duration: Some(trial.duration),
        };
        let mut view = RecordView::new(title, trial.rate as f64);
        let draw = |view: &RecordView| {
            if let Some(columns) = columns() {
                // The last column stays empty.
                let lines = live::lines(&view.view(), columns.saturating_sub(1), self.paint);
                streams::draw(Stream::Stderr, &lines);
            }
        };
        draw(&view);
        let record = scratch.watch(trial.name, trial.words, |second| {
            view.add(second);
            draw(&view);
        });
        streams::clear();
        record
    }
}

/// The row of a trial on the page.
fn row(trial: &Trial) -> Row {
    let soak = if trial.soak { "soak: " } else { "" };
    let first = [
        trial.rate.to_string(),
        format!("{:.1}", trial.served),
        format!("{:.2}%", trial.failed * 100.0),
    ];
    Row {
        cells: first
            .into_iter()
            .chain(trial.figure_texts())
            .chain([format!("{soak}{}", trial.outcome_text())])
            .collect(),
        mark: match trial.outcome() {
            Outcome::Met { sure: true } => Mark::Good,
            Outcome::Missed { sure: true } => Mark::Bad,
            _ => Mark::Doubt,
        },
    }
}

/// Reads the search that `--baseline` names.
fn earlier(baseline: Option<&str>) -> Result<Option<EarlierSearch>, Refusal> {
    let Some(path) = baseline else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string());
    text.and_then(|text| EarlierSearch::parse(&text))
        .map(Some)
        .map_err(|error| Refusal::config(format!("--baseline {path}: {error}")))
}

/// The report of a search that took `seconds`.
fn report(found: &SearchResult, started: SystemTime, seconds: f64) -> SearchReport {
    let objectives = found.settings.objectives.iter();
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    SearchReport {
        plimsoll: env!("CARGO_PKG_VERSION").to_owned(),
        started: wall_clock::rfc3339(started, 0),
        seconds,
        command: secrets::in_arguments(words),
        environment: Environment::here(),
        objectives: objectives.map(|objective| objective.text.clone()).collect(),
        answer: found.answer.clone(),
        is_confirmed: found.limit.confirmed,
        is_met: found.limit.kept.is_some(),
        further: if found.trials.len() > 1 {
            found.additional_results()
        } else {
            Vec::new()
        },
        plot: found.plot().filter(|_| found.trials.len() > 1),
        trials: found.rows(),
        json: found.json(),
    }
}
