//! The parts of a run's report, in order.

use super::view::RunView;
use super::{RunReport, charts, conclusion, conditions, pair, tables};
use crate::document::{Block, Document, Section, Words, parts};

/// The page with plots. Details are collapsed.
pub fn page(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut over_time: Vec<Block> = charts::over_time(runs).into_iter().collect();
    over_time.extend(charts::heat_maps(runs));
    let mut latency: Vec<Block> = charts::percentiles(runs).into_iter().collect();
    latency.extend(each(runs, tables::figures));
    let mut sections = first(report);
    sections.extend(parts([
        ("over-time", "Over time", over_time),
        ("latency", &tables::latency_title(runs), latency),
        ("names", "Requests by name", each(runs, tables::names)),
        ("thresholds", "Thresholds", each(runs, tables::thresholds)),
        ("checks", "Checks", each(runs, tables::checks)),
        ("errors", "Errors and statuses", each(runs, tables::errors)),
        ("work", "Fixed work", each(runs, tables::fixed_work)),
    ]));
    Document {
        sections,
        evidence: parts([
            ("generator", "Users and generator", charts::generator(runs)),
            ("metrics", "All metrics", each(runs, tables::metrics)),
            (
                "conditions",
                "Conditions",
                each(runs, conditions::environment),
            ),
            (
                "configuration",
                "Configuration",
                each(runs, conditions::configuration),
            ),
        ]),
        ..frame(report)
    }
}

/// All parts without plots: the course of the run is a table.
pub fn text(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut sections = first(report);
    sections.extend(parts([
        (
            "latency",
            &tables::latency_title(runs),
            each(runs, tables::figures),
        ),
        ("over-time", "Over time", each(runs, tables::over_time)),
        ("names", "Requests by name", each(runs, tables::names)),
        ("thresholds", "Thresholds", each(runs, tables::thresholds)),
        ("checks", "Checks", each(runs, tables::checks)),
        ("errors", "Errors and statuses", each(runs, tables::errors)),
        ("work", "Fixed work", each(runs, tables::fixed_work)),
        ("metrics", "All metrics", each(runs, tables::metrics)),
        (
            "conditions",
            "Conditions",
            each(runs, conditions::environment),
        ),
        (
            "configuration",
            "Configuration",
            each(runs, conditions::configuration),
        ),
    ]));
    Document {
        sections,
        ..frame(report)
    }
}

/// The first screen and the failures, for use between other output.
pub fn summary(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut sections = first(report);
    sections.extend(parts([
        (
            "latency",
            &tables::latency_title(runs),
            each(runs, tables::figures),
        ),
        ("thresholds", "Thresholds", each(runs, tables::thresholds)),
        ("checks", "Checks", each(runs, tables::checks)),
        ("errors", "Errors and statuses", each(runs, tables::errors)),
    ]));
    Document {
        sections,
        ..frame(report)
    }
}

/// Title and footer.
fn frame(report: &RunReport<'_>) -> Document {
    let mut titles: Vec<String> = report.runs.iter().map(conditions::title).collect();
    titles.dedup();
    let (version, schema) = report.runs.first().map_or(("", ""), |run| {
        (run.header.plimsoll.as_str(), run.header.schema.as_str())
    });
    let from = match report.runs.len() {
        1 => "the record of the run",
        _ => "the records of two runs",
    };
    Document {
        title: titles.join(" | "),
        question: String::new(),
        sections: Vec::new(),
        evidence: Vec::new(),
        filter: None,
        footer: Words::plain(format!(
            "Measured by plimsoll {version}. Made from {from} ({schema})."
        )),
    }
}

/// The first screen; of a pair, also the table of differences.
fn first(report: &RunReport<'_>) -> Vec<Section> {
    let runs = &report.runs;
    let mut blocks = Vec::new();
    match report.comparison {
        None => {
            for run in runs {
                blocks.push(Block::Points(conclusion::points(run)));
                blocks.push(Block::Facts(conclusion::facts(run)));
            }
        }
        Some(comparison) => {
            blocks.push(Block::Points(pair::points(runs, comparison)));
            blocks.extend(pair::table(comparison));
            blocks.extend(pair::differences(comparison));
        }
    }
    parts([("conclusion", "Result", blocks)])
}

fn each(runs: &[RunView<'_>], make: impl Fn(&RunView<'_>) -> Vec<Block>) -> Vec<Block> {
    runs.iter().flat_map(make).collect()
}
