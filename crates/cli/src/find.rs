//! `plimsoll find`: the Plimsoll line of a service. Each trial is a run of this very program at a rate, reached by its
//! command line and its JSON like any other tool, so that a trial is what a user would have run by hand.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use stats::limit::{Limit, LimitSearch, LimitSettings, Step};

use crate::args::{FindArgs, Objective};
use crate::exit::Exit;
use crate::talk::{complain, put, say};

/// Of the rate asked for, what must have been served.
const SERVED: f64 = 0.95;

/// Searches, and says what was found.
pub fn find(args: &FindArgs) -> Exit {
    match run(args) {
        Ok(exit) => exit,
        Err(text) => {
            complain(&text);
            Exit::GENERIC
        }
    }
}

/// One trial's figures.
struct Trial {
    rate: u64,
    soak: bool,
    served: f64,
    failed: f64,
    /// Milliseconds, in the order of the objectives.
    figures: Vec<f64>,
    verdict: String,
    reasons: Vec<String>,
    /// Why it was not kept; empty if it was.
    broken: Vec<String>,
}

fn run(args: &FindArgs) -> Result<Exit, String> {
    check(&args.command)?;
    let mut search = LimitSearch::new(LimitSettings {
        start: args.start,
        least: 1,
        most: args.most,
        precision: args.precision,
        repeats: args.repeats,
        trials: args.trials,
        seed: 1,
    });
    let mut trials: Vec<Trial> = Vec::new();
    let limit = loop {
        let step = search.step();
        let (rate, soak) = match step {
            Step::Try(rate) => (rate, false),
            Step::Soak(rate) => (rate, true),
            Step::Done(limit) => break limit,
        };
        let trial = attempt(args, rate, soak)?;
        say(&line(args, &trial));
        let kept = trial.broken.is_empty();
        // A generator that cannot make the rate says nothing about the service.
        let void = !kept
            && trial.verdict == "invalid"
            && trial
                .reasons
                .iter()
                .any(|reason| reason.starts_with("client"));
        trials.push(trial);
        if void {
            return Ok(give_up(args, &trials));
        }
        search.record(step, kept);
    };
    Ok(conclude(args, &trials, limit))
}

fn check(command: &[String]) -> Result<(), String> {
    match command.first().map(String::as_str) {
        Some("http") => {}
        Some(other) => {
            return Err(format!(
                "find cannot search with {other:?} yet; after -- comes: http URL"
            ));
        }
        None => {
            return Err("after -- comes the command, like: http http://127.0.0.1:8080/".to_owned());
        }
    }
    let ours = [
        "-r",
        "--rate",
        "-d",
        "--duration",
        "-n",
        "--requests",
        "--json",
    ];
    match command.iter().find(|word| {
        ours.iter()
            .any(|flag| word == flag || word.starts_with(&format!("{flag}=")))
    }) {
        Some(word) => Err(format!(
            "{word} is what find sets itself, by --start, --trial and --soak: leave it out"
        )),
        None => Ok(()),
    }
}

/// Runs the command once at `rate`.
fn attempt(args: &FindArgs, rate: u64, soak: bool) -> Result<Trial, String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let length = if soak { args.soak } else { args.trial };
    let mut child = Command::new(program)
        .args(&args.command)
        .args([
            "--quiet",
            "--json",
            "--rate",
            &rate.to_string(),
            "--duration",
            &duration(length),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run a trial: {error}"))?;
    let mut text = String::new();
    let mut talk = String::new();
    let errors = child.stderr.take();
    let reader = std::thread::spawn(move || {
        // What is not text was not meant for anybody.
        let _ = errors.map(|mut errors| errors.read_to_string(&mut talk));
        talk
    });
    let read = child
        .stdout
        .take()
        .map(|mut output| output.read_to_string(&mut text));
    let status = child
        .wait()
        .map_err(|error| format!("a trial was lost: {error}"))?;
    let talk = reader.join().unwrap_or_default();
    let result: Value = match read {
        Some(Ok(_)) => serde_json::from_str(&text).unwrap_or(Value::Null),
        _ => Value::Null,
    };
    // 0 and 1 are results; all else is a mistake in the command, or Ctrl-C.
    if !matches!(status.code(), Some(0 | 1)) || !result.is_object() {
        return Err(format!(
            "the trial at {rate}/s gave no result ({status}): {}",
            talk.trim()
        ));
    }
    Ok(judge(args, rate, soak, &result))
}

fn judge(args: &FindArgs, rate: u64, soak: bool, result: &Value) -> Trial {
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let requests = number(&result["requests"]);
    let trial_figures: Vec<f64> = args
        .objectives
        .iter()
        .map(|objective| number(&result["response_time"][objective.figure]))
        .collect();
    let served = number(&result["requests_per_second"]);
    let failed = number(&result["failed"]) / requests.max(1.0);
    let generator = &result["generator"];
    let reasons = generator["reasons"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut broken = Vec::new();
    for (objective, figure) in args.objectives.iter().zip(&trial_figures) {
        if !objective.holds(*figure) {
            broken.push(format!("not {}", objective.text));
        }
    }
    // What is no number keeps nothing.
    if failed.is_nan() || failed > args.fail_rate {
        broken.push(format!("{:.2}% failed", failed * 100.0));
    }
    if served.is_nan() || served < rate as f64 * SERVED {
        broken.push(format!("served {served:.0}/s of {rate}/s"));
    }
    Trial {
        rate,
        soak,
        served,
        failed,
        figures: trial_figures,
        verdict: generator["verdict"]
            .as_str()
            .unwrap_or("unknown")
            .to_owned(),
        reasons: reasons
            .iter()
            .map(|reason| {
                format!(
                    "{}: {}",
                    reason["cause"].as_str().unwrap_or(""),
                    reason["text"].as_str().unwrap_or("")
                )
            })
            .collect(),
        broken,
    }
}

fn line(args: &FindArgs, trial: &Trial) -> String {
    let figures: Vec<String> = args
        .objectives
        .iter()
        .zip(&trial.figures)
        .map(|(objective, figure)| format!("{}={figure:.2}ms", objective.figure))
        .collect();
    let what = if trial.soak { "soak" } else { "try" };
    let outcome = if trial.broken.is_empty() {
        "kept".to_owned()
    } else {
        trial.broken.join(", ")
    };
    let doubt = if trial.verdict == "valid" {
        String::new()
    } else {
        format!(" ({})", trial.verdict)
    };
    format!(
        "{what:>4} {:>8}/s  {}  {outcome}{doubt}",
        trial.rate,
        figures.join(" ")
    )
}

/// The generator was the bottleneck: what is known is a lower bound.
fn give_up(args: &FindArgs, trials: &[Trial]) -> Exit {
    let kept = trials
        .iter()
        .filter(|trial| trial.broken.is_empty())
        .map(|trial| trial.rate)
        .max();
    let last = trials.last();
    let why = last.map_or(String::new(), |trial| trial.reasons.join("; "));
    let rate = last.map_or(0, |trial| trial.rate);
    let known = kept.map_or("no rate was kept before".to_owned(), |kept| {
        format!("{kept}/s was kept before")
    });
    print(
        args,
        trials,
        Limit {
            kept,
            broken: None,
            confirmed: false,
        },
        &format!(
            "The limit was not found: at {rate}/s the generator was the bottleneck ({why}). {known}."
        ),
    );
    Exit::UNCERTAIN
}

fn conclude(args: &FindArgs, trials: &[Trial], limit: Limit) -> Exit {
    let objective: Vec<&str> = args
        .objectives
        .iter()
        .map(|objective: &Objective| objective.text.as_str())
        .collect();
    let objective = objective.join(" and ");
    let doubts = trials
        .iter()
        .filter(|trial| trial.verdict != "valid")
        .count();
    let mut text = match (limit.kept, limit.broken) {
        (Some(kept), Some(broken)) => {
            format!("It carries {kept}/s with {objective}, and no longer {broken}/s.")
        }
        (Some(kept), None) => format!(
            "It carries {kept}/s with {objective}, and no higher rate was tried; raise --most."
        ),
        (None, _) => {
            format!("It does not keep {objective} at any rate, not even at one request a second.")
        }
    };
    if limit.kept.is_some() {
        text += &if limit.confirmed {
            format!(
                " {kept}/s was held for {soak}; {n} trials.",
                kept = limit.kept.unwrap_or(0),
                soak = duration(args.soak),
                n = trials.len()
            )
        } else {
            format!(
                " This is not certain: {} trials were too few; raise --trials or --trial.",
                trials.len()
            )
        };
    }
    if doubts > 0 {
        text += &format!(
            " In {doubts} of {} trials the generator's own figures were in doubt.",
            trials.len()
        );
    }
    print(args, trials, limit, &text);
    match limit {
        Limit { kept: None, .. } => Exit::NOT_EVEN_THE_LEAST,
        Limit {
            confirmed: false, ..
        } => Exit::UNCERTAIN,
        _ => Exit::SUCCESS,
    }
}

fn print(args: &FindArgs, trials: &[Trial], limit: Limit, text: &str) {
    if !args.json {
        put(format!("{text}\n").as_bytes());
        return;
    }
    let objectives: Vec<&str> = args
        .objectives
        .iter()
        .map(|objective| objective.text.as_str())
        .collect();
    let trials: Vec<Value> = trials
        .iter()
        .map(|trial| {
            let figures: serde_json::Map<String, Value> = args
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
                "requests_per_second": trial.served,
                "failed_share": trial.failed,
                "response_time_ms": figures,
                "verdict": trial.verdict,
                "reasons": trial.reasons,
            })
        })
        .collect();
    let answer = json!({
        "schema": "plimsoll/find-result/1",
        "objectives": objectives,
        "kept": limit.kept,
        "broken": limit.broken,
        "confirmed": limit.confirmed,
        "answer": text,
        "trials": trials,
    });
    put(format!("{answer:#}\n").as_bytes());
}

fn duration(span: Duration) -> String {
    units::duration::format(span)
}
