//! The parts of a run's report, in order.

use super::view::RunView;
use super::{RunReport, charts, conclusion, conditions, pair, tables};
use crate::document::{Block, Document, Section, Words, non_empty_sections};

/// The page with plots. Details are collapsed.
pub fn page(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut over_time: Vec<Block> = charts::over_time(runs).into_iter().collect();
    over_time.extend(charts::heat_maps(runs));
    let mut latency: Vec<Block> = charts::percentile_plot(runs).into_iter().collect();
    latency.extend(blocks_per_run(runs, tables::figures));
    let mut sections = first_screen(report);
    sections.extend(non_empty_sections([
        ("over-time", "Over time", over_time),
        ("latency", &tables::latency_title(runs), latency),
        (
            "names",
            "Requests by name",
            blocks_per_run(runs, tables::names),
        ),
        (
            "thresholds",
            "Thresholds",
            blocks_per_run(runs, tables::thresholds),
        ),
        ("checks", "Checks", blocks_per_run(runs, tables::checks)),
        (
            "errors",
            "Errors and statuses",
            blocks_per_run(runs, tables::errors),
        ),
        (
            "work",
            "Fixed work",
            blocks_per_run(runs, tables::fixed_work),
        ),
    ]));
    Document {
        sections,
        evidence: non_empty_sections([
            (
                "generator",
                "Users and generator",
                charts::generator_plots(runs),
            ),
            (
                "metrics",
                "All metrics",
                blocks_per_run(runs, tables::metrics),
            ),
            (
                "conditions",
                "Conditions",
                blocks_per_run(runs, conditions::environment),
            ),
            (
                "configuration",
                "Configuration",
                blocks_per_run(runs, conditions::configuration),
            ),
        ]),
        ..empty_document(report)
    }
}

/// All parts without plots: the course of the run is a table.
pub fn text_document(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut sections = first_screen(report);
    sections.extend(non_empty_sections([
        (
            "latency",
            &tables::latency_title(runs),
            blocks_per_run(runs, tables::figures),
        ),
        (
            "over-time",
            "Over time",
            blocks_per_run(runs, tables::over_time),
        ),
        (
            "names",
            "Requests by name",
            blocks_per_run(runs, tables::names),
        ),
        (
            "thresholds",
            "Thresholds",
            blocks_per_run(runs, tables::thresholds),
        ),
        ("checks", "Checks", blocks_per_run(runs, tables::checks)),
        (
            "errors",
            "Errors and statuses",
            blocks_per_run(runs, tables::errors),
        ),
        (
            "work",
            "Fixed work",
            blocks_per_run(runs, tables::fixed_work),
        ),
        (
            "metrics",
            "All metrics",
            blocks_per_run(runs, tables::metrics),
        ),
        (
            "conditions",
            "Conditions",
            blocks_per_run(runs, conditions::environment),
        ),
        (
            "configuration",
            "Configuration",
            blocks_per_run(runs, conditions::configuration),
        ),
    ]));
    Document {
        sections,
        ..empty_document(report)
    }
}

/// The first screen and the failures, for use between other output.
pub fn summary(report: &RunReport<'_>) -> Document {
    let runs = &report.runs;
    let mut sections = first_screen(report);
    sections.extend(non_empty_sections([
        (
            "latency",
            &tables::latency_title(runs),
            blocks_per_run(runs, tables::figures),
        ),
        (
            "thresholds",
            "Thresholds",
            blocks_per_run(runs, tables::thresholds),
        ),
        ("checks", "Checks", blocks_per_run(runs, tables::checks)),
        (
            "errors",
            "Errors and statuses",
            blocks_per_run(runs, tables::errors),
        ),
    ]));
    Document {
        sections,
        ..empty_document(report)
    }
}

/// Title and footer.
fn empty_document(report: &RunReport<'_>) -> Document {
    let mut titles: Vec<String> = report.runs.iter().map(conditions::report_title).collect();
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
fn first_screen(report: &RunReport<'_>) -> Vec<Section> {
    let runs = &report.runs;
    let mut blocks = Vec::new();
    match report.comparison {
        None => {
            for run in runs {
                blocks.push(Block::Points(conclusion::points(run)));
                blocks.push(Block::Facts(conclusion::fact_list(run)));
            }
        }
        Some(comparison) => {
            blocks.push(Block::Points(pair::conclusion_points(runs, comparison)));
            blocks.extend(pair::comparison_table(comparison));
            blocks.extend(pair::difference_blocks(comparison));
        }
    }
    non_empty_sections([("conclusion", "Result", blocks)])
}

fn blocks_per_run(runs: &[RunView<'_>], make: impl Fn(&RunView<'_>) -> Vec<Block>) -> Vec<Block> {
    runs.iter().flat_map(make).collect()
}
