//! `plimsoll compare`: whether B differs from A.

mod account;
mod commands;
mod settled;
mod stored;

use plimsoll_results::compare::{self, Compared};
use plimsoll_results::figures::Figure;
use plimsoll_results::record::Record;
use plimsoll_stats::comparison::{LEAST_PAIRS, Outcome};

use crate::args::{CompareArgs, FailOn, NoiseArg};
use crate::exit::Exit;
use crate::talk::complain;
use account::Account;

/// Compares, and says what came of it.
pub fn compare(args: &CompareArgs) -> Exit {
    let account = match (&args.a, &args.b) {
        (Some(a), Some(b)) => stored::compare(args, a, b),
        _ => of_commands(args),
    };
    match account {
        Ok(account) => {
            account.put(args.stored.json);
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
    if args.noise == Some(NoiseArg::History) {
        return Err(
            "--noise history is of runs of the store; commands are run again with --noise measure"
                .to_owned(),
        );
    }
    if (args.pairs as usize) < LEAST_PAIRS {
        return Err(format!(
            "--pairs {}: so few cannot show a difference of any size; use at least {LEAST_PAIRS}",
            args.pairs
        ));
    }
    let runs = commands::run(args)?;
    let known = |figure: &Figure| match args.noise {
        Some(NoiseArg::Known(share)) => Some(share),
        Some(NoiseArg::Measure) => commands::noise(&runs, figure),
        Some(NoiseArg::History) | None => None,
    };
    let compared = compare::pairs(&runs.pairs, &args.figures, &known);
    let times = runs.pairs.first().map_or("times", |(a, _)| a.times);
    Ok(Account {
        method: format!(
            "{} pairs of runs in turns (ABBA), Student's paired t-test on log ratios, Holm over the figures",
            runs.pairs.len()
        ),
        times,
        failures: failures(&args.fail_on, &compared),
        compared,
        differences: Vec::new(),
        left_out: runs.left_out,
        doubts: runs.doubts,
    })
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
            FailOn::Uncertain => ("uncertain", compared.iter().collect()),
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
            if one.outcome == Outcome::Uncertain && *condition == FailOn::Uncertain {
                failures.found.push(format!("{text}: {name}"));
                continue;
            }
            if one.outcome == Outcome::NotMeasured {
                let why = one.why.as_deref().unwrap_or("it could not be compared");
                failures.open.push(format!("{text}: {name}: {why}"));
                continue;
            }
            let met = match condition {
                FailOn::Regression => one.is_worse(),
                FailOn::Difference => true,
                FailOn::Uncertain => false,
                FailOn::Beyond { bound, .. } => {
                    if *bound >= 0.0 {
                        one.effect() > *bound
                    } else {
                        one.effect() < *bound
                    }
                }
            };
            if met && one.is_different() {
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
