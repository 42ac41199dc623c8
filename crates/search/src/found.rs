//! The result of a search: sentences, plot, table and curve; or all as JSON.

use plimsoll_plots::terminal;
use plimsoll_stats::limit::{Limit, Outcome};
use serde_json::{Value, json};

use crate::trial::Trial;
use crate::{Settings, curve};

/// A completed search.
pub struct Found {
    pub settings: Settings,
    pub trials: Vec<Trial>,
    pub limit: Limit,
    /// The result in sentences.
    pub answer: String,
}

impl Found {
    /// As text, with a plot of this many columns.
    pub fn text(&self, columns: usize) -> String {
        let mut text = format!("{}\n", self.answer);
        if self.trials.len() > 1 {
            text += &format!("\n{}", self.plot(columns));
            text += &format!("\n{}", self.table());
            text += &format!(
                "\n{}\n{}\n",
                curve::knee_text(&curve::knee(&self.trials)),
                curve::fit_text(&curve::fit(&self.trials))
            );
            text += &self.little();
        }
        text
    }

    fn plot(&self, columns: usize) -> String {
        let Some(objective) = self.settings.objectives.first() else {
            return String::new();
        };
        let plot = plimsoll_plots::LimitPlot {
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
        };
        terminal::limit(&plot, columns)
    }

    /// A table of the trials, sorted by rate.
    fn table(&self) -> String {
        let mut ordered: Vec<&Trial> = self.trials.iter().collect();
        ordered.sort_by_key(|trial| (trial.rate, trial.soak));
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
        for trial in ordered {
            text += &format!(
                "{:>10} {:>10.1} {:>8}",
                trial.rate,
                trial.served,
                format!("{:.2}%", trial.failed * 100.0)
            );
            for figure in &trial.figures {
                text += &format!(" {figure:>12.2}");
            }
            let soak = if trial.soak { "soak: " } else { "" };
            text += &format!(
                " {:>10.1}  {soak}{}\n",
                trial.by_little,
                trial.outcome_text()
            );
        }
        text
    }

    /// A consistency check of the longest trial.
    fn little(&self) -> String {
        let soak = self.trials.iter().rev().find(|trial| trial.soak);
        let checked = soak.and_then(|trial| Some((trial, trial.little_residual()?)));
        checked.map_or(String::new(), |(trial, residual)| {
            format!(
                "Little's law in the soak: {:.1} were in flight by count and {:.1} by rate × duration ({:+.1} %).\n",
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

    /// As one JSON object.
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
            "in_flight": trial.in_flight,
            "in_flight_by_little": trial.by_little,
            "little_residual": trial.little_residual(),
            "verdict": trial.verdict,
            "reasons": trial.reasons,
        })
    }
}
