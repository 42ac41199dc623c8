//! Compares completed runs: records and stored runs.

use std::io::BufReader;
use std::path::Path;

use plimsoll_results::compare::{self, Compared};
use plimsoll_results::differences::{self, Difference};
use plimsoll_results::fail_on::Failures;
use plimsoll_results::figures::Figure;
use plimsoll_results::noise;
use plimsoll_results::record::{self, Record};
use plimsoll_results::store_location;
use plimsoll_stats::change_points::change_points;

use crate::comparison::Comparison;
use crate::prepared_run::{PreparedRun, is_invalid};
use crate::{Noise, Settings};

/// Maximum number of runs per side.
const MAX_RUNS: usize = 500;

/// Compares the runs that `a` and `b` name. Both must name the same number of runs.
///
/// # Errors
/// If they cannot be read or compared.
pub fn stored(settings: &Settings, a: &str, b: &str) -> Result<Comparison, String> {
    if settings.noise == Some(Noise::Measure) {
        return Err("--noise measure: stored runs cannot be repeated; use a share such as 3%, or history, or compare two commands".to_owned());
    }
    sides(settings, Side::open(settings, a)?, Side::open(settings, b)?)
}

/// Compares two records. Each has a name for messages.
///
/// # Errors
/// If they cannot be compared.
pub fn records(
    settings: &Settings,
    a: (&str, Record),
    b: (&str, Record),
) -> Result<Comparison, String> {
    let side = |(name, record): (&str, Record)| Side {
        runs: vec![(name.to_owned(), record)],
    };
    sides(settings, side(a), side(b))
}

fn sides(settings: &Settings, a: Side, b: Side) -> Result<Comparison, String> {
    if a.runs.len() != b.runs.len() {
        return Err(format!(
            "A has {} runs and B has {}: they are compared in pairs, so name the same number of each",
            a.runs.len(),
            b.runs.len()
        ));
    }
    let differences = a.check_differences(&b, settings)?;
    let (mut doubts, mut left_out, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    let mut failures = Failures::default();
    for ((name, one), (other_name, other)) in a.runs.iter().zip(&b.runs) {
        let mut settle = |name: &str, record: &Record| {
            let prepared_run = PreparedRun::of(settings, name, record)?;
            doubts.extend(prepared_run.doubts);
            left_out.extend(prepared_run.left_out);
            failures.add(prepared_run.failures);
            Ok::<_, String>(prepared_run.figures)
        };
        let pair = (settle(name, one)?, settle(other_name, other)?);
        if pair.0.times != pair.1.times {
            return Err(format!(
                "A has the {} and B the {}, which cannot be compared: run both in the same model",
                pair.0.times, pair.1.times
            ));
        }
        pairs.push(pair);
    }
    let (noise, method) = noise_of(settings, &a)?;
    let mut compared = match &pairs[..] {
        [(first, second)] => compare::single(first, second, &settings.figures, &*noise),
        _ => compare::pairs(&pairs, &settings.figures, &*noise),
    };
    refuse_invalid(&mut compared, &a, &b);
    failures.add(crate::failures::failures(&settings.fail_on, &compared));
    Ok(Comparison {
        method: match pairs.len() {
            1 => format!(
                "one run each: moving-block bootstrap over its seconds, and {method}; --pairs with two commands also measures how runs differ"
            ),
            count => format!(
                "{count} pairs of runs in the order given, Student's paired t-test on log ratios, Holm over the figures"
            ),
        },
        times: pairs.first().map_or("times", |(a, _)| a.times),
        failures,
        compared,
        differences,
        left_out,
        doubts,
    })
}

/// A function that returns the noise of a figure, if it is known.
type NoiseByFigure = Box<dyn Fn(&Figure) -> Option<f64>>;

/// The source of the noise, and how to describe it in the output.
fn noise_of(settings: &Settings, a: &Side) -> Result<(NoiseByFigure, String), String> {
    Ok(match settings.noise {
        Some(Noise::Known(share)) => (
            Box::new(move |_: &Figure| Some(share)),
            format!("the given noise of {:.1} %", share * 100.0),
        ),
        Some(Noise::History) => {
            let known = history(settings, a)?;
            let method = format!("the noise between {} runs of A's configuration", known.runs);
            (Box::new(move |figure: &Figure| known.of(figure)), method)
        }
        _ => (
            Box::new(|_: &Figure| None),
            format!(
                "an assumed noise of {:.0} % (set another with --noise)",
                compare::ASSUMED_NOISE * 100.0
            ),
        ),
    })
}

/// The noise of each figure, by name.
struct History {
    runs: usize,
    noise: Vec<(&'static str, f64)>,
}

impl History {
    fn of(&self, figure: &Figure) -> Option<f64> {
        let found = self.noise.iter().find(|(name, _)| *name == figure.name);
        found.map(|(_, noise)| *noise)
    }
}

/// The differences between stored runs with A's configuration on A's machine.
fn history(settings: &Settings, a: &Side) -> Result<History, String> {
    let place = store_location::place(settings.store.as_deref())?;
    let store = store_location::open_existing(&place)?;
    let header = &a.first().header;
    let mut runs = store
        .runs(&header.configuration_hash)
        .map_err(|error| format!("{}: {error}", place.display()))?;
    runs.retain(|run| {
        store_location::is_followed(run)
            && (settings.any_environment || run.fingerprint == header.environment.fingerprint)
    });
    let mut noise = Vec::new();
    for figure in &settings.figures {
        let values: Vec<f64> = runs
            .iter()
            .filter_map(|run| store_location::figure(run, figure))
            .collect();
        if let Some(found) = noise::between_runs(
            &values,
            &change_points(&values)
                .iter()
                .map(|change| change.at)
                .collect::<Vec<_>>(),
            figure,
        ) {
            noise.push((figure.name, found.between_two));
        }
    }
    if noise.is_empty() {
        return Err(format!(
            "--noise history: {} has only {} runs of A's configuration, but the noise needs six runs at one level; store more runs, or use a share such as 3%",
            place.display(),
            runs.len()
        ));
    }
    Ok(History {
        runs: runs.len(),
        noise,
    })
}

/// The figures of an invalid run do not describe the service.
fn refuse_invalid(compared: &mut [Compared], a: &Side, b: &Side) {
    let runs = a.runs.iter().chain(&b.runs);
    let Some((name, _)) = runs.into_iter().find(|(_, record)| is_invalid(record)) else {
        return;
    };
    let why = if a.runs.len() == 1 {
        "a run's verdict is invalid".to_owned()
    } else {
        format!("a run's verdict is invalid: {name}")
    };
    for one in compared {
        one.refuse(why.clone());
    }
}

/// The runs of A or of B, each with its name. There is at least one.
struct Side {
    runs: Vec<(String, Record)>,
}

impl Side {
    fn open(settings: &Settings, named: &str) -> Result<Side, String> {
        let names = names(named)?;
        let runs: Vec<(String, Record)> = names
            .into_iter()
            .map(|name| {
                let record = open(settings.store.as_deref(), &name)?;
                Ok((name, record))
            })
            .collect::<Result<_, String>>()?;
        let side = Side { runs };
        let first = side.first();
        for (name, record) in &side.runs {
            if !settings.any_configuration
                && !differences::configuration(&first.header, &record.header).is_empty()
            {
                return Err(format!(
                    "{name} has a different configuration than the other runs of {named}; use --any-configuration to compare them anyway"
                ));
            }
        }
        Ok(side)
    }

    fn first(&self) -> &Record {
        &self.runs[0].1
    }

    /// Rejects runs that cannot be compared. Returns the allowed differences between the others.
    fn check_differences(
        &self,
        other: &Side,
        settings: &Settings,
    ) -> Result<Vec<Difference>, String> {
        let (a, b) = (&self.first().header, &other.first().header);
        let configuration = differences::configuration(a, b);
        let all = || self.runs.iter().chain(&other.runs);
        let elsewhere = all()
            .find(|(_, record)| record.header.environment.fingerprint != a.environment.fingerprint);
        let environment = elsewhere.map_or(Vec::new(), |(_, record)| {
            a.environment.differences(&record.header.environment)
        });
        let listed = |differences: &[Difference]| -> String {
            differences
                .iter()
                .map(|(name, a, b)| format!("\n  {name}: {a} | {b}"))
                .collect()
        };
        let mut refusals = Vec::new();
        if !configuration.is_empty() && !settings.any_configuration {
            refusals.push(format!(
                "the runs have different configurations:{}\nUse --any-configuration to compare them anyway.",
                listed(&configuration)
            ));
        }
        if !environment.is_empty() && !settings.any_environment {
            refusals.push(format!(
                "the runs have different environments:{}\nUse --any-environment to compare them anyway.",
                listed(&environment)
            ));
        }
        if refusals.is_empty() {
            Ok([configuration, environment].concat())
        } else {
            Err(refusals.join("\n"))
        }
    }
}

/// The named runs: a file, or names separated by commas. `3..8` means the runs 3 to 8 in the store.
fn names(named: &str) -> Result<Vec<String>, String> {
    if Path::new(named).exists() {
        return Ok(vec![named.to_owned()]);
    }
    let mut names = Vec::new();
    for name in named.split(',') {
        let range = name
            .split_once("..")
            .and_then(|(from, to)| Some((from.parse::<u32>().ok()?, to.parse::<u32>().ok()?)));
        match range {
            Some((from, to)) if from <= to && ((to - from) as usize) < MAX_RUNS => {
                names.extend((from..=to).map(|number| number.to_string()));
            }
            Some(_) => {
                return Err(format!(
                    "{name:?}: a range goes from a lower to a higher number, with at most {MAX_RUNS} runs"
                ));
            }
            None => names.push(name.to_owned()),
        }
    }
    if names.len() > MAX_RUNS {
        return Err(format!("{named:?} names more than {MAX_RUNS} runs"));
    }
    Ok(names)
}

/// Reads the file of a record, or a stored run.
///
/// # Errors
/// If the file or run does not exist or cannot be read.
pub fn open(store: Option<&Path>, name: &str) -> Result<Record, String> {
    let path = Path::new(name);
    if path.exists() {
        let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        return record::read(BufReader::new(file)).map_err(|error| format!("{name}: {error}"));
    }
    if name.parse::<i64>().is_err() && !name.starts_with("latest") {
        return Err(format!(
            "there is no file {name}, and the store has no such run: use a number, latest or latest~1"
        ));
    }
    let place = store_location::place(store)?;
    let store = store_location::open_existing(&place)?;
    store
        .resolve(name)
        .and_then(|id| store.record(id))
        .map_err(|error| format!("{}: {error}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_one_by_one_or_in_ranges() {
        let of = |named: &str| names(named).expect("names");
        assert_eq!(of("a.jsonl"), ["a.jsonl"]);
        assert_eq!(of("3..5,latest,b"), ["3", "4", "5", "latest", "b"]);
        assert_eq!(of("../a"), ["../a"]);
        for wrong in ["5..3", "1..9999999"] {
            assert!(names(wrong).expect_err(wrong).contains("range"));
        }
        assert!(names(&"a,".repeat(600)).is_err());
    }
}
