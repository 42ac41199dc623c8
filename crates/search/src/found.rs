//! Shows the result of a search: sentences, plot, table and curve, or all of it as JSON.

use plimsoll_plots::terminal;
use plimsoll_stats::limit::{Limit, Outcome};
use serde_json::{Value, json};

use crate::trial::{NOT_RELIABLE, Trial};
use crate::{Settings, curve};

/// A completed search.
pub struct SearchResult {
    pub settings: Settings,
    pub trials: Vec<Trial>,
    pub limit: Limit,
    /// The result in sentences.
    pub answer: String,
}

impl SearchResult {
    /// Formats the search as text, with a plot of this many columns.
    pub fn text(&self, columns: usize) -> String {
        let mut text = format!("{}\n", self.answer);
        if self.trials.len() > 1 {
            let plot = self.plot();
            let plot = plot.map_or(String::new(), |plot| terminal::limit(&plot, columns));
            text += &format!("\n{plot}");
            text += &format!("\n{}", self.table());
            text += "\n";
            for sentence in self.additional_results() {
                text += &format!("{sentence}\n");
            }
        }
        text
    }

    /// Additional results, one sentence each: the knee, the scalability law, Little's law.
    pub fn additional_results(&self) -> Vec<String> {
        let mut sentences = vec![
            curve::knee_text(&curve::knee(&self.trials)),
            curve::fit_text(&curve::fit(&self.trials)),
        ];
        sentences.extend(self.little());
        sentences
    }

    /// The plot of the trials. `None` without an objective.
    pub fn plot(&self) -> Option<plimsoll_plots::LimitPlot> {
        let objective = self.settings.objectives.first()?;
        Some(plimsoll_plots::LimitPlot {
            title: "The search".to_owned(),
            figure: format!("{} of {}", objective.figure, self.metric()),
            unit: "ms".to_owned(),
            limit: objective.bound.as_secs_f64() * 1e3,
            trials: self
                .trials
                .iter()
                .map(|trial| plimsoll_plots::Trial {
                    rate: trial.rate as f64,
                    value: trial
                        .figures
                        .first()
                        .copied()
                        .filter(|value| value.is_finite()),
                    kept: trial.broken.is_empty(),
                    soak: trial.soak,
                })
                .collect(),
            kept: self.limit.kept.map(|rate| rate as f64),
            broken: self.limit.broken.map(|rate| rate as f64),
        })
    }

    /// The trials for a page, sorted by rate: headings and rows.
    pub fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut head: Vec<String> = ["offered/s", "served/s", "failed"]
            .map(str::to_owned)
            .into();
        let objectives = self.settings.objectives.iter();
        head.extend(objectives.map(|objective| format!("{} ms", objective.figure)));
        head.extend(["in flight", "outcome"].map(str::to_owned));
        let rows = self.sorted_trials().into_iter().map(|trial| {
            let mut row = vec![
                trial.rate.to_string(),
                format!("{:.1}", trial.served),
                format!("{:.2} %", trial.failed * 100.0),
            ];
            row.extend(trial.figure_texts());
            let soak = if trial.soak { "soak: " } else { "" };
            row.push(format!("{:.1}", trial.by_little));
            row.push(format!("{soak}{}", trial.outcome_text()));
            row
        });
        let rows = rows.collect();
        (head, rows)
    }

    fn sorted_trials(&self) -> Vec<&Trial> {
        let mut sorted_trials: Vec<&Trial> = self.trials.iter().collect();
        sorted_trials.sort_by_key(|trial| (trial.rate, trial.soak));
        sorted_trials
    }

    /// A table of the trials, sorted by rate.
    fn table(&self) -> String {
        let names: Vec<&str> = self
            .settings
            .objectives
            .iter()
            .map(|objective| objective.figure)
            .collect();
        let mut text = format!("{:>10} {:>10} {:>8}", "offered/s", "served/s", "failed");
        for name in &names {
            text += &format!(" {:>12}", format!("{name} ms"));
        }
        text += &format!(" {:>10}  outcome\n", "in flight");
        for trial in self.sorted_trials() {
            text += &format!(
                "{:>10} {:>10.1} {:>8}",
                trial.rate,
                trial.served,
                format!("{:.2}%", trial.failed * 100.0)
            );
            for figure in trial.figure_texts() {
                text += &format!(" {figure:>12}");
            }
            let soak = if trial.soak { "soak: " } else { "" };
            text += &format!(
                " {:>10.1}  {soak}{}\n",
                trial.by_little,
                trial.outcome_text()
            );
        }
        if self.is_unreliable() {
            text += &format!(
                "{NOT_RELIABLE} fewer than 10 requests above this percentile: not reliable\n"
            );
        }
        text
    }

    /// Whether a trial had too few requests for its percentile.
    fn is_unreliable(&self) -> bool {
        let mut needed = self.trials.iter().flat_map(|trial| &trial.needed);
        needed.any(Option::is_some)
    }

    /// A consistency check of the longest trial with Little's law.
    fn little(&self) -> Option<String> {
        let soak = self.trials.iter().rev().find(|trial| trial.soak);
        let checked = soak.and_then(|trial| Some((trial, trial.little_residual()?)));
        checked.map(|(trial, residual)| {
            format!(
                "Little's law in the soak: {:.1} were in flight by count and {:.1} by rate × duration ({:+.1} %).",
                trial.in_flight,
                trial.by_little,
                residual * 100.0
            )
        })
    }

    fn metric(&self) -> &'static str {
        match self.trials.first().map(|trial| trial.metric) {
            Some("http_req_response_time") => "response time",
            _ => "iteration duration",
        }
    }

    /// Formats the search as one JSON object.
    pub fn json(&self) -> Value {
        let objectives: Vec<&str> = self
            .settings
            .objectives
            .iter()
            .map(|objective| objective.text.as_str())
            .collect();
        let trials: Vec<Value> = self.trials.iter().map(|trial| self.trial(trial)).collect();
        let (knee, scalability) = curve::json(&self.trials);
        json!({
            "schema": "plimsoll/find-result/1",
            "objectives": objectives,
            "kept": self.limit.kept,
            "broken": self.limit.broken,
            "confirmed": self.limit.confirmed,
            "generator_limit": self.limit.generator,
            "drift": self.limit.drift.map(|drift| json!({
                "low": drift.low,
                "high": drift.high,
                "slower": drift.slower,
            })),
            "answer": self.answer,
            "knee": knee,
            "scalability": scalability,
            "trials": trials,
        })
    }

    fn trial(&self, trial: &Trial) -> Value {
        let figures: serde_json::Map<String, Value> = self
            .settings
            .objectives
            .iter()
            .zip(&trial.figures)
            .map(|(objective, figure)| (objective.figure.to_owned(), json!(figure)))
            .collect();
        json!({
            "rate": trial.rate,
            "soak": trial.soak,
            "kept": trial.broken.is_empty(),
            "broken_by": trial.broken,
            "counts_as": match trial.outcome() {
                Outcome::Met { .. } => "met",
                Outcome::Missed { .. } => "missed",
                Outcome::GeneratorLimit => "generator limit",
            },
            "requests_per_second": trial.served,
            "failed_share": trial.failed,
            "dropped_share": trial.dropped,
            "users": trial.users,
            "metric": trial.metric,
            "response_time_ms": figures,
            "requests_due": trial.due,
            "requests_needed": trial.needed.iter().flatten().max(),
            "in_flight": trial.in_flight,
            "in_flight_by_little": trial.by_little,
            "little_residual": trial.little_residual(),
            "verdict": trial.verdict,
            "reasons": trial.reasons,
        })
    }
}
