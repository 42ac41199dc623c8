//! `plimsoll find`: the highest rate that meets an objective. Each trial is a run of this very program,
//! so a trial is what a user would have run.

use std::cell::RefCell;
use std::time::SystemTime;

use plimsoll_live::{Mark, PageTitle, RecordView, Row, Steps, StepsPage};
use plimsoll_output::{Paint, live};
use plimsoll_report::Judged;
use plimsoll_results::record::Record;
use plimsoll_results::secrets;
use plimsoll_run::Refusal;
use plimsoll_run::child::Scratch;
use plimsoll_search::fail_on::judge;
use plimsoll_search::{LoadCommand, Settings, Trial, TrialCommand, search};
use plimsoll_stats::limit::{Limit, Outcome};
use plimsoll_terminal::messages::{columns, put, say, screen_columns};
use plimsoll_terminal::streams::{self, Stream};

use crate::args::{FindArgs, GlobalArgs};
use crate::exit::Exit;
use crate::find_report::{earlier, report};
use crate::reporting::{self, Reporting};
use crate::scriptless::refuse;
use crate::web;

/// Columns where there is no terminal.
const COLUMNS: usize = 100;

/// Searches, and prints what was found.
pub fn find(args: &FindArgs, global: &GlobalArgs) -> Exit {
    run(args, global).unwrap_or_else(|refusal| refuse(&refusal))
}

fn run(args: &FindArgs, global: &GlobalArgs) -> Result<Exit, Refusal> {
    let command = LoadCommand::parse(&args.command).map_err(Refusal::config)?;
    reporting::needs_baseline(&args.report)?;
    let earlier = earlier(&args.report)?;
    let reporting = Reporting::open(&args.report)?;
    let scratch = Scratch::new().map_err(Refusal::other)?;
    let (began, started) = (plimsoll_clock::now(), SystemTime::now());
    let settings = args.settings();
    let page = page(args, &settings).map_err(Refusal::other)?;
    let page = RefCell::new(page);
    let found = search(
        settings,
        &command,
        &mut |trial| {
            if let Some(page) = &mut *page.borrow_mut() {
                page.update(None, |steps| steps.now = trial.name.to_owned());
            }
            let record = run_trial(&scratch, trial, global)?;
            if let Some(page) = &mut *page.borrow_mut() {
                page.add_run(&record);
            }
            Ok(record)
        },
        &mut |trial, line| {
            say(line);
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
    let text = if args.json {
        format!("{:#}\n", found.json())
    } else {
        found.text(screen_columns().unwrap_or(COLUMNS))
    };
    put(text.as_bytes());
    let own = match found.limit {
        Limit {
            confirmed: false, ..
        } => Exit::UNCERTAIN,
        Limit { kept: None, .. } => Exit::NOT_EVEN_THE_LEAST,
        _ => Exit::SUCCESS,
    };
    let conditions = args.report.fail_on.iter();
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

/// Runs a trial. On a terminal, its figures are shown while it runs.
fn run_trial(
    scratch: &Scratch,
    trial: &TrialCommand<'_>,
    global: &GlobalArgs,
) -> Result<Record, String> {
    if global.quiet || columns().is_none() {
        return scratch.run(trial.name, trial.words);
    }
    let title = PageTitle {
        title: trial.name.to_owned(),
        duration: Some(trial.duration),
    };
    let paint = Paint::new(!global.no_color());
    let mut view = RecordView::new(title, trial.rate as f64);
    let draw = |view: &RecordView| {
        if let Some(columns) = columns() {
            // The last column stays free.
            let lines = live::lines(&view.view(), columns.saturating_sub(1), paint);
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

/// The live page of the search, if it is requested.
fn page(args: &FindArgs, settings: &Settings) -> Result<Option<StepsPage>, String> {
    let objectives = settings.objectives.iter();
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
    let objectives = settings.objectives.iter();
    let objectives: Vec<&str> = objectives
        .map(|objective| objective.text.as_str())
        .collect();
    let title = format!(
        "find {}: {}",
        objectives.join(", "),
        secrets::in_arguments(args.command.clone()).join(" ")
    );
    let page = web::page(&args.web, None).map_err(|refusal| refusal.message)?;
    Ok(page.map(|page| page.steps(&title, steps)))
}

/// The row of a trial on the page.
fn row(trial: &Trial) -> Row {
    let soak = if trial.soak { "soak: " } else { "" };
    let figures = trial.figures.iter().map(|figure| format!("{figure:.2}"));
    let first = [
        trial.rate.to_string(),
        format!("{:.1}", trial.served),
        format!("{:.2}%", trial.failed * 100.0),
    ];
    Row {
        cells: first
            .into_iter()
            .chain(figures)
            .chain([format!("{soak}{}", trial.outcome_text())])
            .collect(),
        mark: match trial.outcome() {
            Outcome::Met { sure: true } => Mark::Good,
            Outcome::Missed { sure: true } => Mark::Bad,
            _ => Mark::Doubt,
        },
    }
}
