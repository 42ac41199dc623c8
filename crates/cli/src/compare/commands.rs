//! Two commands, run in turns.

use plimsoll_results::compare;
use plimsoll_results::figures::RunFigures;
use plimsoll_stats::comparison::{Side, order};

use super::settled::{LeftOut, Settled};
use crate::args::{CompareArgs, NoiseArg};
use crate::talk::say;
use plimsoll_run::child::Scratch;

/// Commands that leave a record.
const KNOWN: [&str; 4] = ["http", "run", "attack", "grpc"];

/// What came of the runs.
pub struct Runs {
    pub pairs: Vec<(RunFigures, RunFigures)>,
    /// Pairs of A and A, where the noise is to be measured.
    pub same: Vec<(RunFigures, RunFigures)>,
    /// Warm-ups that are not in the figures.
    pub left_out: Vec<LeftOut>,
    /// What speaks against runs, each with the run's name.
    pub doubts: Vec<String>,
}

/// Runs both commands as often as asked, in the order ABBA; where the noise is to be
/// measured, as many runs of A again, in pairs with A.
///
/// # Errors
/// What is wrong with the commands, or with a run.
pub fn run(args: &CompareArgs) -> Result<Runs, String> {
    let (a, b) = split(&args.commands)?;
    let pairs = args.pairs as usize;
    let scratch = Scratch::new()?;
    let mut runs = Runs {
        pairs: Vec::new(),
        same: Vec::new(),
        left_out: Vec::new(),
        doubts: Vec::new(),
    };
    let mut waiting: Option<(Side, RunFigures)> = None;
    let mut waiting_same: Option<RunFigures> = None;
    for (at, side) in order(pairs).into_iter().enumerate() {
        let (name, command) = match side {
            Side::A => ("A", &a),
            Side::B => ("B", &b),
        };
        let figures = one(
            args,
            &scratch,
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
        if args.noise == Some(NoiseArg::Measure) {
            let again = one(args, &scratch, "a run of A against A", &a, &mut runs)?;
            match waiting_same.take() {
                None => waiting_same = Some(again),
                Some(first) => runs.same.push((first, again)),
            }
        }
    }
    Ok(runs)
}

fn one(
    args: &CompareArgs,
    scratch: &Scratch,
    name: &str,
    command: &[String],
    runs: &mut Runs,
) -> Result<RunFigures, String> {
    let record = scratch.run(name, command)?;
    let settled = Settled::of(args, name, &record)?;
    let p95 = plimsoll_results::figures::find("p95")?;
    let shown = settled
        .figures
        .value(p95)
        .map_or(String::new(), |value| format!("  p95 {value:.2} ms"));
    say(&format!("{name}{shown}"));
    runs.left_out.extend(settled.left_out);
    runs.doubts.extend(settled.doubts);
    Ok(settled.figures)
}

/// Cuts `CMD_A -- CMD_B` in two, and readies each.
fn split(words: &[String]) -> Result<(Vec<String>, Vec<String>), String> {
    let Some(at) = words.iter().position(|word| word == "--") else {
        return Err(
            "two commands are compared, each after --, like: compare -- http URL -- http URL"
                .to_owned(),
        );
    };
    Ok((ready(&words[..at])?, ready(&words[at + 1..])?))
}

fn ready(words: &[String]) -> Result<Vec<String>, String> {
    let words = match words.split_first() {
        Some((first, rest)) if first == "plimsoll" => rest,
        _ => words,
    };
    let Some((name, rest)) = words.split_first() else {
        return Err("a command is missing: each comes after --".to_owned());
    };
    if !KNOWN.contains(&name.as_str()) {
        return Err(format!(
            "compare cannot run {name:?}; it runs plimsoll's own {}",
            KNOWN.join(", ")
        ));
    }
    if let Some(word) = rest.iter().find(|word| {
        ["--record", "--keep", "--store"]
            .iter()
            .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
    }) {
        return Err(format!("{word} is what compare sets itself: leave it out"));
    }
    Ok([words, &["--quiet".to_owned()]].concat())
}

/// What pairs of A and A say of a figure's noise.
pub fn noise(runs: &Runs, figure: &plimsoll_results::figures::Figure) -> Option<f64> {
    compare::measured_noise(&runs.same, figure)
}
