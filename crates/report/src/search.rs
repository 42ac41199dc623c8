//! The report of a search for the highest rate: `plimsoll find`.

use plimsoll_plots::{LimitPlot, PlotWidth};
use plimsoll_results::environment::Environment;
use serde_json::Value;

use crate::annotations;
use crate::document::{Block, Document, Head, Plot, Section, Table, Words};
use crate::junit::{self, Case, Judged, Outcome, Suite};
use crate::{Report, html, markdown};

/// A search that has ended.
pub struct SearchReport {
    /// Version of the program.
    pub plimsoll: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// Its length in seconds.
    pub seconds: f64,
    /// The command line without secrets.
    pub command: Vec<String>,
    /// The machine.
    pub environment: Environment,
    /// The objectives as written.
    pub objectives: Vec<String>,
    /// The result in sentences.
    pub answer: String,
    /// Whether the result is certain.
    pub is_confirmed: bool,
    /// Whether the objective is met at some rate.
    pub is_met: bool,
    /// Further results, a sentence each.
    pub further: Vec<String>,
    /// The plot of the trials.
    pub plot: Option<LimitPlot>,
    /// Headings and rows of the trials.
    pub trials: (Vec<String>, Vec<Vec<String>>),
    /// The result as JSON.
    pub json: Value,
}

/// Maximum number of rows in the table of trials.
const MAX_ROWS: usize = 300;

impl SearchReport {
    fn document(&self, has_plots: bool) -> Document {
        let state = if self.is_confirmed {
            "confirmed"
        } else {
            "not confirmed"
        };
        let points = vec![
            Words::new()
                .strong(state)
                .text(format!(": {}", self.answer)),
        ];
        let machine = &self.environment;
        let mut facts = vec![
            ("objective", self.objectives.join(" and ")),
            ("command", self.command.join(" ")),
            ("when", format!("{}, {:.0} s", self.started, self.seconds)),
            (
                "where",
                [
                    machine.cpu.as_str(),
                    machine.os.as_str(),
                    machine.kernel.as_str(),
                ]
                .join(", "),
            ),
            ("versions", format!("plimsoll {}", self.plimsoll)),
        ];
        facts.retain(|(_, value)| !value.is_empty());
        let mut first = vec![Block::Points(points), Block::Facts(facts)];
        if let Some(plot) = self.plot.as_ref().filter(|_| has_plots) {
            first.push(Block::plot(Plot {
                name: "search".to_owned(),
                caption: "Each trial by its rate and its figure. The line is the objective."
                    .to_owned(),
                narrow: plot.draw(PlotWidth::Narrow),
                wide: Some(plot.draw(PlotWidth::Wide)),
                series: None,
            }));
        }
        let (head, rows) = &self.trials;
        let trials = Block::Table(Table {
            caption: "Trials by rate".to_owned(),
            head: head
                .iter()
                .map(|text| match text.as_str() {
                    "outcome" => Head::words(text),
                    _ => Head::figures(text),
                })
                .collect(),
            rows: rows
                .iter()
                .take(MAX_ROWS)
                .map(|row| row.iter().map(Words::plain).collect())
                .collect(),
            names: 1,
        });
        let further = self.further.iter().map(Words::plain).collect();
        let sections = [
            ("conclusion", "Result", first),
            ("trials", "Trials", vec![trials]),
            ("further", "Further results", vec![Block::Points(further)]),
        ];
        Document {
            title: "The highest rate that meets the objective".to_owned(),
            question: String::new(),
            sections: sections
                .into_iter()
                .filter(|(.., blocks)| !blocks.iter().all(Block::is_empty))
                .map(|(id, title, blocks)| Section {
                    id: id.to_owned(),
                    title: Words::plain(title),
                    blocks,
                })
                .collect(),
            evidence: Vec::new(),
            filter: None,
            footer: Words::plain(format!("Measured by plimsoll {}.", self.plimsoll)),
        }
    }
}

impl Report for SearchReport {
    fn html(&self) -> String {
        html::render(&self.document(true))
    }

    fn markdown(&self) -> String {
        markdown::render_single_file(&self.document(false))
    }

    fn summary(&self) -> String {
        self.markdown()
    }

    fn json(&self) -> Value {
        self.json.clone()
    }

    fn junit(&self, judged: &[Judged]) -> String {
        let mut cases = vec![
            Case {
                class: "objective",
                name: self.objectives.join(" and "),
                outcome: match (self.is_met, self.is_confirmed) {
                    (true, _) => Outcome::Passed,
                    (false, true) => Outcome::Failed(self.answer.clone()),
                    (false, false) => Outcome::Skipped(self.answer.clone()),
                },
            },
            Case {
                class: "verdict",
                name: "the result is confirmed".to_owned(),
                outcome: match self.is_confirmed {
                    true => Outcome::Passed,
                    false => Outcome::Failed(self.answer.clone()),
                },
            },
        ];
        cases.extend(junit::condition_cases(judged));
        junit::document(&[Suite {
            name: format!("find {}", self.objectives.join(" and ")),
            started: self.started.clone(),
            seconds: self.seconds,
            properties: vec![("plimsoll", self.plimsoll.clone())],
            cases,
            output: self.answer.clone(),
        }])
    }

    fn annotations(&self, judged: &[Judged]) -> Vec<String> {
        let level = match (self.is_confirmed, self.is_met) {
            (true, true) => "notice",
            (true, false) => "error",
            _ => "warning",
        };
        let mut lines = vec![annotations::workflow_command(
            level,
            "plimsoll find",
            &self.answer,
        )];
        lines.extend(annotations::condition_lines(judged));
        lines
    }
}
