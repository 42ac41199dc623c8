//! Lists stored runs, and finds where the level of a figure changed.

use std::path::PathBuf;

use plimsoll_plots::terminal;
use plimsoll_results::change_text::{difference, increase, p_value};
use plimsoll_results::figures::Figure;
use plimsoll_results::noise::{self, Noise};
use plimsoll_results::store::StoredRun;
use plimsoll_results::store_location;
use plimsoll_stats::change_points::{ChangePoint, change_points};
use serde_json::{Value, json};

use crate::other_runs::{OtherRuns, short};

/// Selects the runs to list.
pub struct HistorySettings {
    pub figure: &'static Figure,
    /// The start of the configuration's hash. The default is the configuration of the latest run.
    pub configuration: Option<String>,
    /// Whether to include runs from different machines.
    pub any_environment: bool,
    /// The store of runs. `None` for the default store.
    pub store: Option<PathBuf>,
}

/// The selected runs, oldest first, and what is not selected. There is at least one run.
fn runs(
    settings: &HistorySettings,
    report: &mut dyn FnMut(&str),
) -> Result<(Vec<StoredRun>, OtherRuns), String> {
    let place = store_location::place(settings.store.as_deref())?;
    let mut store = store_location::open_existing(&place)?;
    for sentence in store_location::recover(&place, &mut store) {
        report(&sentence);
    }
    let failed =
        |error: plimsoll_results::store::StoreError| format!("{}: {error}", place.display());
    let requested = settings.configuration.as_deref().unwrap_or_default();
    let mut runs = store.runs(requested).map_err(failed)?;
    let Some(latest) = runs.last().cloned() else {
        return Err(match settings.configuration {
            Some(_) => format!(
                "{}: no stored run has a configuration that begins with {requested:?}",
                place.display()
            ),
            None => format!("{}: the store contains no runs", place.display()),
        });
    };
    let is_selected = |run: &StoredRun| {
        run.configuration_hash == latest.configuration_hash
            && (settings.any_environment || run.fingerprint == latest.fingerprint)
    };
    let others = OtherRuns::of(&runs, &latest.configuration_hash, is_selected);
    runs.retain(is_selected);
    Ok((runs, others))
}

/// Runs, and the figure of each run whose result can be trusted.
pub struct History {
    figure: &'static Figure,
    runs: Vec<StoredRun>,
    /// The index of a run, and its figure.
    series: Vec<(usize, f64)>,
    changes: Vec<ChangePoint>,
    others: OtherRuns,
}

impl History {
    /// Reads the runs from the store. `report` receives a sentence for each record of a killed run that was found.
    ///
    /// # Errors
    /// If the store does not exist, or contains no such run.
    pub fn read(
        settings: &HistorySettings,
        report: &mut dyn FnMut(&str),
    ) -> Result<History, String> {
        let (runs, others) = runs(settings, report)?;
        let value = |run: &StoredRun| {
            store_location::figure(run, settings.figure)
                .filter(|_| store_location::is_followed(run))
        };
        let series: Vec<(usize, f64)> = runs
            .iter()
            .enumerate()
            .filter_map(|(index, run)| Some((index, value(run)?)))
            .collect();
        let values: Vec<f64> = series.iter().map(|(_, value)| *value).collect();
        Ok(History {
            figure: settings.figure,
            runs,
            changes: change_points(&values),
            series,
            others,
        })
    }

    /// The first run after the change.
    fn changed(&self, change: &ChangePoint) -> Option<&StoredRun> {
        let (index, _) = self.series.get(change.at)?;
        self.runs.get(*index)
    }

    /// Formats the history as text, with a plot of this many columns.
    pub fn text(&self, columns: usize) -> String {
        let Some(latest) = self.runs.last() else {
            return String::new();
        };
        let figure = self.figure;
        let mut text = format!(
            "{}\nconfiguration {}, environment {}, {} run{}\n\n",
            latest.command,
            short(&latest.configuration_hash),
            short(&latest.fingerprint),
            self.runs.len(),
            if self.runs.len() == 1 { "" } else { "s" }
        );
        for run in self.runs.iter().filter(|run| !self.is_followed(run)) {
            text += &format!(
                "left out: run {} of {} ({})\n",
                run.id,
                run.started,
                self.why(run)
            );
        }
        if self.series.is_empty() {
            return text + "no run has this figure\n" + &self.others.text();
        }
        let plot = terminal::History {
            label: match figure.unit {
                // "requests per second" already says it.
                "" | "/s" => figure.label.to_owned(),
                unit => format!("{}, {unit}", figure.label),
            },
            runs: self
                .series
                .iter()
                .filter_map(|(index, value)| {
                    let run = self.runs.get(*index)?;
                    Some((
                        format!("{:>5} {} {}", run.id, run.started, run.verdict),
                        *value,
                    ))
                })
                .collect(),
            changes: self.changes.iter().map(|change| change.at).collect(),
        };
        text += &terminal::history(&plot, columns);
        for change in &self.changes {
            if let Some(run) = self.changed(change) {
                text += &format!(
                    "run {} of {}: {} went from {:.2} to {:.2} {} ({}, {})\n",
                    run.id,
                    run.started,
                    figure.name,
                    change.before,
                    change.after,
                    figure.unit,
                    increase(change.after / change.before),
                    p_value(change.p)
                );
            }
        }
        if self.changes.is_empty() {
            text += "no change of level\n";
        }
        text + &self.noise_text() + &self.others.text()
    }

    fn noise(&self) -> Option<Noise> {
        let values: Vec<f64> = self.series.iter().map(|(_, value)| *value).collect();
        let changes: Vec<usize> = self.changes.iter().map(|change| change.at).collect();
        noise::between_runs(&values, &changes, self.figure)
    }

    fn noise_text(&self) -> String {
        match self.noise() {
            Some(noise) => format!(
                "noise between runs of a level: ±{:.1} % (standard deviation of {} runs); two equal runs differ by up to {} (95 %)\n",
                noise.spread * 100.0,
                noise.runs,
                difference(noise.between_two)
            ),
            None => "the noise between runs is unknown: it needs six runs of a level\n".to_owned(),
        }
    }

    fn is_followed(&self, run: &StoredRun) -> bool {
        self.series
            .iter()
            .filter_map(|(index, _)| self.runs.get(*index))
            .any(|followed| followed.id == run.id)
    }

    fn why(&self, run: &StoredRun) -> &'static str {
        match run.verdict.as_str() {
            "invalid" => "its verdict is invalid",
            "killed" => "it was killed",
            _ => "too few samples for the figure",
        }
    }

    /// Formats the history as one JSON object.
    pub fn json(&self) -> Value {
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                let figures: serde_json::Map<String, Value> = run
                    .figures
                    .iter()
                    .map(|(name, value)| (name.clone(), json!(value)))
                    .collect();
                json!({
                    "id": run.id,
                    "started": run.started,
                    "kind": run.kind,
                    "command": run.command,
                    "configuration_hash": run.configuration_hash,
                    "fingerprint": run.fingerprint,
                    "verdict": run.verdict,
                    "followed": self.is_followed(run),
                    "figures": figures,
                })
            })
            .collect();
        let changes: Vec<Value> = self
            .changes
            .iter()
            .filter_map(|change| {
                let run = self.changed(change)?;
                Some(json!({
                    "run": run.id,
                    "before": change.before,
                    "after": change.after,
                    "p": change.p,
                }))
            })
            .collect();
        json!({
            "schema": "plimsoll/history/1",
            "figure": self.figure.name,
            "unit": self.figure.unit,
            "runs": runs,
            "change_points": changes,
            "noise": self.noise().map(|noise| json!({
                "runs": noise.runs,
                "levels": noise.levels,
                "standard_deviation": noise.spread,
                "between_two_runs": noise.between_two,
            })),
        })
    }
}
