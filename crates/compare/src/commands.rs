//! Compares two commands by running them alternately.

use plimsoll_results::compare;
use plimsoll_results::fail_on::Failures;
use plimsoll_results::figures::{Figure, RunFigures};
use plimsoll_stats::comparison::{MIN_PAIRS, Side, order};

use crate::comparison::Comparison;
use crate::prepared_run::{ExcludedWarmUp, PreparedRun};
use crate::{Noise, RunCommand, Settings};

/// Commands that can write a record.
const COMMANDS: [&str; 4] = ["http", "run", "attack", "grpc"];

/// Flags for a single run. A comparison has many runs, so it does not support them.
const OWN_FLAGS: [&str; 9] = [
    "--record",
    "--keep",
    "--store",
    "--report",
    "--export-markdown",
    "--junit",
    "--fail-on",
    "--baseline",
    "--github",
];

/// Runs two commands alternately and compares them. `words` are `-- A… -- B…` without the first `--`. `run` runs a
/// command, and `report` receives a line about each run.
///
/// # Errors
/// If the settings or the commands are invalid, or a run fails.
pub fn commands(
    settings: &Settings,
    words: &[String],
    run: &mut RunCommand<'_>,
    report: &mut dyn FnMut(&str),
) -> Result<Comparison, String> {
    if words.is_empty() {
        return Err(
            "name two records or stored runs, or two commands, each after --: plimsoll compare --help has examples"
                .to_owned(),
        );
    }
    if settings.noise == Some(Noise::History) {
        return Err(
            "--noise history needs stored runs; for commands, use --noise measure".to_owned(),
        );
    }
    if settings.pairs < MIN_PAIRS {
        return Err(format!(
            "--pairs {}: too few to show any difference; use at least {MIN_PAIRS}",
            settings.pairs
        ));
    }
    let runs = run_all(settings, words, run, report)?;
    let known = |figure: &Figure| match settings.noise {
        Some(Noise::Known(share)) => Some(share),
        Some(Noise::Measure) => compare::measured_noise(&runs.same, figure),
        Some(Noise::History) | None => None,
    };
    let compared = compare::pairs(&runs.pairs, &settings.figures, &known);
    let times = runs.pairs.first().map_or("times", |(a, _)| a.times);
    let mut failures = runs.failures;
    failures.add(crate::failures::failures(&settings.fail_on, &compared));
    Ok(Comparison {
        method: format!(
            "{} pairs of alternating runs (ABBA), Student's paired t-test on log ratios, Holm over the figures",
            runs.pairs.len()
        ),
        times,
        failures,
        compared,
        differences: Vec::new(),
        left_out: runs.left_out,
        doubts: runs.doubts,
    })
}

/// The runs of both commands.
struct Runs {
    pub pairs: Vec<(RunFigures, RunFigures)>,
    /// Pairs of A and A, if the noise is being measured.
    pub same: Vec<(RunFigures, RunFigures)>,
    /// Warm-ups that are excluded from the figures.
    pub left_out: Vec<ExcludedWarmUp>,
    /// Reasons to doubt runs, each with the name of the run.
    pub doubts: Vec<String>,
    /// The conditions that concern single runs.
    pub failures: Failures,
}

/// Runs both commands the requested number of times, in the order ABBA. To measure the noise, also runs A again after
/// each of its runs, and compares the two.
///
/// # Errors
/// If the commands are invalid, or a run fails.
fn run_all(
    settings: &Settings,
    words: &[String],
    run: &mut RunCommand<'_>,
    report: &mut dyn FnMut(&str),
) -> Result<Runs, String> {
    let (a, b) = split(words)?;
    let pairs = settings.pairs;
    let mut runs = Runs {
        pairs: Vec::new(),
        same: Vec::new(),
        left_out: Vec::new(),
        doubts: Vec::new(),
        failures: Failures::default(),
    };
    let mut waiting: Option<(Side, RunFigures)> = None;
    let mut waiting_same: Option<RunFigures> = None;
    for (at, side) in order(pairs).into_iter().enumerate() {
        let (name, command) = match side {
            Side::A => ("A", &a),
            Side::B => ("B", &b),
        };
        let figures = one(
            settings,
            run,
            report,
            &format!("run {} of {}, {name}", at + 1, 2 * pairs),
            command,
            &mut runs,
        )?;
        waiting = match (waiting.take(), side) {
            (None, _) => Some((side, figures)),
            (Some((Side::A, first)), _) => {
                runs.pairs.push((first, figures));
                None
            }
            (Some((Side::B, first)), _) => {
                runs.pairs.push((figures, first));
                None
            }
        };
        if settings.noise == Some(Noise::Measure) {
            let again = one(settings, run, report, "a run of A against A", &a, &mut runs)?;
            match waiting_same.take() {
                None => waiting_same = Some(again),
                Some(first) => runs.same.push((first, again)),
            }
        }
    }
    Ok(runs)
}

fn one(
    settings: &Settings,
    run: &mut RunCommand<'_>,
    report: &mut dyn FnMut(&str),
    name: &str,
    command: &[String],
    runs: &mut Runs,
) -> Result<RunFigures, String> {
    let record = run(name, command)?;
    let prepared_run = PreparedRun::of(settings, name, &record)?;
    let p95 = plimsoll_results::figures::find("p95")?;
    let shown = prepared_run
        .figures
        .value(p95)
        .map_or(String::new(), |value| format!("  p95 {value:.2} ms"));
    report(&format!("{name}{shown}"));
    runs.left_out.extend(prepared_run.left_out);
    runs.doubts.extend(prepared_run.doubts);
    runs.failures.add(prepared_run.failures);
    Ok(prepared_run.figures)
}

/// Splits `CMD_A -- CMD_B`, and prepares both commands.
fn split(words: &[String]) -> Result<(Vec<String>, Vec<String>), String> {
    let Some(at) = words.iter().position(|word| word == "--") else {
        return Err(
            "name two commands, each after --, for example: compare -- http URL -- http URL"
                .to_owned(),
        );
    };
    Ok((prepare(&words[..at])?, prepare(&words[at + 1..])?))
}

fn prepare(words: &[String]) -> Result<Vec<String>, String> {
    let words = match words.split_first() {
        Some((first, rest)) if first == "plimsoll" => rest,
        _ => words,
    };
    let Some((name, rest)) = words.split_first() else {
        return Err("a command is missing; write -- before each command".to_owned());
    };
    if !COMMANDS.contains(&name.as_str()) {
        return Err(format!(
            "compare cannot run {name:?}; it runs plimsoll's own {}",
            COMMANDS.join(", ")
        ));
    }
    if let Some(word) = rest.iter().find(|word| {
        OWN_FLAGS
            .iter()
            .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
    }) {
        return Err(format!("compare sets {word} itself; remove it"));
    }
    Ok([words, &["--quiet".to_owned()]].concat())
}
