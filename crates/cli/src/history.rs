//! `plimsoll history`: the runs that were kept, and where a figure's level changed.

use plimsoll_plots::terminal;
use plimsoll_results::noise::{self, Noise};
use plimsoll_results::store::Kept;
use plimsoll_results::store_location;
use plimsoll_stats::change_points::{ChangePoint, change_points};
use serde_json::{Value, json};

use crate::args::HistoryArgs;
use crate::exit::Exit;
use crate::talk::{complain, put, say, screen_columns};

/// Columns where there is no terminal.
const COLUMNS: usize = 100;
/// How much of a hash is shown.
const HASH: usize = 8;

/// Lists the runs.
pub fn history(args: &HistoryArgs) -> Exit {
    match runs(args) {
        Ok(runs) => {
            let history = History::of(args, &runs);
            let text = if args.stored.json {
                format!("{:#}\n", history.json())
            } else {
                history.text()
            };
            put(text.as_bytes());
            Exit::SUCCESS
        }
        Err(message) => {
            complain(&message);
            Exit::NOT_COMPARED
        }
    }
}

/// The runs that are asked for, the oldest first; at least one.
fn runs(args: &HistoryArgs) -> Result<Vec<Kept>, String> {
    let place = store_location::place(args.stored.store.as_deref())?;
    let mut store = store_location::open_existing(&place)?;
    for sentence in store_location::recover(&place, &mut store) {
        say(&sentence);
    }
    let failed =
        |error: plimsoll_results::store::StoreError| format!("{}: {error}", place.display());
    let asked = args.configuration.as_deref().unwrap_or_default();
    let mut runs = store.runs(asked).map_err(failed)?;
    let Some(latest) = runs.last().cloned() else {
        return Err(match args.configuration {
            Some(_) => format!(
                "{}: no run's configuration begins with {asked:?}",
                place.display()
            ),
            None => format!("{}: no run was kept yet", place.display()),
        });
    };
    runs.retain(|run| {
        run.configuration_hash == latest.configuration_hash
            && (args.stored.any_environment || run.fingerprint == latest.fingerprint)
    });
    Ok(runs)
}

/// Runs, and the figure of those that have one that can be believed.
struct History<'a> {
    args: &'a HistoryArgs,
    runs: &'a [Kept],
    series: Vec<(&'a Kept, f64)>,
    changes: Vec<ChangePoint>,
}

impl<'a> History<'a> {
    fn of(args: &'a HistoryArgs, runs: &'a [Kept]) -> History<'a> {
        let value = |run: &Kept| {
            store_location::figure(run, args.figure).filter(|_| store_location::is_followed(run))
        };
        let series: Vec<(&Kept, f64)> = runs
            .iter()
            .filter_map(|run| Some((run, value(run)?)))
            .collect();
        let values: Vec<f64> = series.iter().map(|(_, value)| *value).collect();
        History {
            args,
            runs,
            changes: change_points(&values),
            series,
        }
    }

    fn text(&self) -> String {
        let Some(latest) = self.runs.last() else {
            return String::new();
        };
        let figure = self.args.figure;
        let mut text = format!(
            "{}\nconfiguration {}, environment {}, {} runs\n\n",
            latest.command,
            short(&latest.configuration_hash),
            short(&latest.fingerprint),
            self.runs.len()
        );
        for run in self.runs.iter().filter(|run| !self.is_followed(run)) {
            text += &format!(
                "left out: run {} of {} ({})\n",
                run.id,
                run.started,
                self.why(run)
            );
        }
        let plot = terminal::History {
            label: format!("{}, {}", figure.label, figure.unit),
            runs: self
                .series
                .iter()
                .map(|(run, value)| {
                    (
                        format!("{:>5} {} {}", run.id, run.started, run.verdict),
                        *value,
                    )
                })
                .collect(),
            changes: self.changes.iter().map(|change| change.at).collect(),
        };
        text += &terminal::history(&plot, screen_columns().unwrap_or(COLUMNS));
        for change in &self.changes {
            if let Some((run, _)) = self.series.get(change.at) {
                text += &format!(
                    "run {} of {}: {} went from {:.2} to {:.2} {} ({:+.1} %, p {:.1e})\n",
                    run.id,
                    run.started,
                    figure.name,
                    change.before,
                    change.after,
                    figure.unit,
                    (change.after / change.before - 1.0) * 100.0,
                    change.p
                );
            }
        }
        if self.changes.is_empty() {
            text += "no change of level\n";
        }
        text + &self.noise_text()
    }

    fn noise(&self) -> Option<Noise> {
        let values: Vec<f64> = self.series.iter().map(|(_, value)| *value).collect();
        let changes: Vec<usize> = self.changes.iter().map(|change| change.at).collect();
        noise::between_runs(&values, &changes, self.args.figure)
    }

    fn noise_text(&self) -> String {
        match self.noise() {
            Some(noise) => format!(
                "noise between runs of a level: ±{:.1} % (standard deviation of {} runs); two runs of the same differ by up to {:.1} % (95 %)\n",
                noise.spread * 100.0,
                noise.runs,
                noise.between_two * 100.0
            ),
            None => "fewer than six runs of a level tell no noise between runs\n".to_owned(),
        }
    }

    fn is_followed(&self, run: &Kept) -> bool {
        self.series
            .iter()
            .any(|(followed, _)| followed.id == run.id)
    }

    fn why(&self, run: &Kept) -> &'static str {
        match run.verdict.as_str() {
            "invalid" => "its verdict is invalid",
            "killed" => "it was killed",
            _ => "too few samples for the figure",
        }
    }

    fn json(&self) -> Value {
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
                let (run, _) = self.series.get(change.at)?;
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
            "figure": self.args.figure.name,
            "unit": self.args.figure.unit,
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

fn short(hash: &str) -> &str {
    hash.get(..HASH).unwrap_or(hash)
}
