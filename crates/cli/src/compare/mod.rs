//! `plimsoll compare`: whether B differs from A.

mod account;
mod commands;

use std::io::BufReader;
use std::path::Path;

use results::compare::{self, Compared, Conclusion};
use results::differences::{self, Difference};
use results::figures::{Figure, RunFigures};
use results::record::{self, Record};

use crate::args::{CompareArgs, FailOn, NoiseArg};
use crate::exit::Exit;
use crate::kept;
use crate::talk::complain;
use account::Account;

/// Compares, and says what came of it.
pub fn compare(args: &CompareArgs) -> Exit {
    let account = match (&args.a, &args.b) {
        (Some(a), Some(b)) => stored(args, a, b),
        _ => of_commands(args),
    };
    match account {
        Ok(account) => {
            account.put(args.json);
            account.exit()
        }
        Err(message) => {
            complain(&message);
            Exit::NOT_COMPARED
        }
    }
}

fn of_commands(args: &CompareArgs) -> Result<Account, String> {
    if args.commands.is_empty() {
        return Err(
            "name two records or runs of the store, or two commands, each after --: plimsoll compare --help has examples"
                .to_owned(),
        );
    }
    let runs = commands::run(args)?;
    let known = |figure: &Figure| match args.noise {
        Some(NoiseArg::Known(share)) => Some(share),
        Some(NoiseArg::Measure) => commands::noise(&runs, figure),
        None => None,
    };
    let compared = compare::pairs(&runs.pairs, &args.figures, &known);
    let times = runs.pairs.first().map_or("times", |(a, _)| a.times);
    Ok(Account {
        method: format!(
            "{} pairs of runs in turns (ABBA), Wilcoxon's exact test, Holm over the figures",
            runs.pairs.len()
        ),
        times,
        failures: failures(&args.fail_on, &compared),
        compared,
        differences: Vec::new(),
        doubts: runs.doubts,
    })
}

fn stored(args: &CompareArgs, a: &str, b: &str) -> Result<Account, String> {
    if args.noise == Some(NoiseArg::Measure) {
        return Err("--noise measure: there is nothing to run; give a share, like 3%, or compare two commands".to_owned());
    }
    let (one, other) = (open(args, a)?, open(args, b)?);
    let differences = refuse_or_tell(args, &one, &other)?;
    let figures = |name: &str, record: &Record| {
        RunFigures::of(record, args.skip).map_err(|why| format!("{name}: {why}"))
    };
    let (first, second) = (figures(a, &one)?, figures(b, &other)?);
    if first.times != second.times {
        return Err(format!(
            "A has the {} and B the {}, which are not the same thing: run both in the same model",
            first.times, second.times
        ));
    }
    let known = |_: &Figure| match args.noise {
        Some(NoiseArg::Known(share)) => Some(share),
        _ => None,
    };
    let doubts: Vec<String> = [(a, &one), (b, &other)]
        .into_iter()
        .filter_map(|(name, record)| doubt(name, record))
        .collect();
    let mut compared = compare::single(&first, &second, &args.figures, &known);
    if [&one, &other].iter().any(|record| is_invalid(record)) {
        for one in &mut compared {
            one.conclusion = Conclusion::NotJudged;
            one.why = Some("a run's verdict is invalid".to_owned());
        }
    }
    let noise = match args.noise {
        Some(NoiseArg::Known(share)) => format!("a noise of {:.1} % as given", share * 100.0),
        _ => format!(
            "an assumed noise of {:.0} % (--noise says otherwise)",
            compare::ASSUMED_NOISE * 100.0
        ),
    };
    Ok(Account {
        method: format!(
            "one run each: moving-block bootstrap over its seconds, and {noise}; --pairs with two commands knows how runs differ"
        ),
        times: first.times,
        failures: failures(&args.fail_on, &compared),
        compared,
        differences,
        doubts,
    })
}

/// A record's file, or a run of the store.
fn open(args: &CompareArgs, name: &str) -> Result<Record, String> {
    let path = Path::new(name);
    if path.exists() {
        let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        return record::read(BufReader::new(file)).map_err(|error| format!("{name}: {error}"));
    }
    if name.parse::<i64>().is_err() && !name.starts_with("latest") {
        return Err(format!(
            "there is no file {name}, and it is no run of the store either: those are numbers, latest, latest~1"
        ));
    }
    let place = kept::place(args.store.as_deref())?;
    let store = kept::open_existing(&place)?;
    store
        .resolve(name)
        .and_then(|id| store.record(id))
        .map_err(|error| format!("{}: {error}", place.display()))
}

/// Runs that cannot be set beside each other are refused; what differs is told either way.
fn refuse_or_tell(args: &CompareArgs, a: &Record, b: &Record) -> Result<Vec<Difference>, String> {
    let (a, b) = (&a.header, &b.header);
    let configuration = differences::configuration(a, b);
    let environment = if a.environment.fingerprint == b.environment.fingerprint {
        Vec::new()
    } else {
        a.environment.differences(&b.environment)
    };
    let listed = |differences: &[Difference]| -> String {
        differences
            .iter()
            .map(|(name, a, b)| format!("\n  {name}: {a} | {b}"))
            .collect()
    };
    let mut refusals = Vec::new();
    if !configuration.is_empty() && !args.any_configuration {
        refusals.push(format!(
            "the runs were asked different questions:{}\nUse --any-configuration if that is what you compare.",
            listed(&configuration)
        ));
    }
    if !environment.is_empty() && !args.any_environment {
        refusals.push(format!(
            "the runs took place in different environments:{}\nUse --any-environment if that is what you compare.",
            listed(&environment)
        ));
    }
    if refusals.is_empty() {
        Ok([configuration, environment].concat())
    } else {
        Err(refusals.join("\n"))
    }
}

fn is_invalid(record: &Record) -> bool {
    record
        .end
        .as_ref()
        .is_some_and(|end| end.generator.verdict == "invalid")
}

/// What speaks against a run's own figures.
fn doubt(name: &str, record: &Record) -> Option<String> {
    let Some(end) = &record.end else {
        return Some(format!("{name} was killed: what it did last is not in it"));
    };
    let generator = &end.generator;
    (generator.verdict != "valid").then(|| {
        let reason = generator
            .reasons
            .first()
            .map_or(String::new(), |(cause, text)| format!(" ({cause}: {text})"));
        format!("{name} is {}{reason}", generator.verdict)
    })
}

/// What --fail-on found.
#[derive(Debug, Default, PartialEq)]
struct Failures {
    /// Each a sentence.
    found: Vec<String>,
    /// What could not be judged.
    open: Vec<String>,
}

fn failures(conditions: &[FailOn], compared: &[Compared]) -> Failures {
    let mut failures = Failures::default();
    for condition in conditions {
        let (text, of): (&str, Vec<&Compared>) = match condition {
            FailOn::Regression => ("regression", compared.iter().collect()),
            FailOn::Difference => ("difference", compared.iter().collect()),
            FailOn::Beyond { text, figure, .. } => (
                text,
                compared
                    .iter()
                    .filter(|one| one.figure.name == figure.name)
                    .collect(),
            ),
        };
        if of.is_empty() {
            failures
                .open
                .push(format!("{text}: the figure is not among --figures"));
        }
        for one in of {
            let name = one.figure.name;
            if one.conclusion == Conclusion::NotJudged {
                let why = one.why.as_deref().unwrap_or("it could not be compared");
                failures.open.push(format!("{text}: {name}: {why}"));
                continue;
            }
            let met = match condition {
                FailOn::Regression => one.is_worse(),
                FailOn::Difference => true,
                FailOn::Beyond { bound, .. } => {
                    if *bound >= 0.0 {
                        one.effect() > *bound
                    } else {
                        one.effect() < *bound
                    }
                }
            };
            if met && one.conclusion == Conclusion::Different {
                failures.found.push(format!(
                    "{text}: {name} changed by {:+.1} {}",
                    one.effect() * 100.0,
                    if one.is_difference() { "points" } else { "%" }
                ));
            }
        }
    }
    failures
}
