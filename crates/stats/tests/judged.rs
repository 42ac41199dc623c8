//! Compares our results with those of numpy, scipy, statsmodels and kneed, and with worked examples
//! from the literature. `judge/judge.py` computes the reference results; `judge/judged.json`
//! contains them.

use std::path::Path;
use std::process::Command;

use plimsoll_stats::change_points::best_split;
use plimsoll_stats::comparison::holm;
use plimsoll_stats::knee::knee;
use plimsoll_stats::scalability::{FitError, scalability};
use plimsoll_stats::student;
use plimsoll_stats::warm_up::{warm_up, welch};
use serde_json::Value;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge")
}

fn judged() -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("judged.json")).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

#[track_caller]
fn close(ours: f64, theirs: f64, relative: f64) {
    let apart = (ours - theirs).abs();
    assert!(
        apart <= relative * theirs.abs().max(1e-12),
        "{ours} and {theirs}"
    );
}

#[test]
fn students_t_is_scipys() {
    let judged = judged();
    for row in judged["t_quantile"].as_array().unwrap() {
        let [confidence, freedom, theirs] = numbers(row)[..] else {
            panic!()
        };
        close(student::quantile(confidence, freedom), theirs, 1e-9);
    }
    for row in judged["t_two_sided"].as_array().unwrap() {
        let [t, freedom, theirs] = numbers(row)[..] else {
            panic!()
        };
        close(student::two_sided(t, freedom), theirs, 1e-9);
    }
}

#[test]
fn holm_is_statsmodels() {
    let judged = judged();
    let adjusted = holm(&numbers(&judged["holm"]["p"]));
    for (ours, theirs) in adjusted.iter().zip(numbers(&judged["holm"]["adjusted"])) {
        close(*ours, theirs, 1e-12);
    }
}

#[test]
fn welch_is_scipys() {
    let judged = judged();
    let case = &judged["welch"];
    close(
        welch(&numbers(&case["a"]), &numbers(&case["b"])),
        case["p"].as_f64().unwrap(),
        1e-9,
    );
}

#[test]
fn the_scalability_law_is_fitted_as_scipy_fits_it() {
    let judged = judged();
    for case in judged["usl"].as_array().unwrap() {
        let points: Vec<(f64, f64)> = numbers(&case["load"])
            .into_iter()
            .zip(numbers(&case["throughput"]))
            .collect();
        let (at, half) = (numbers(&case["at"]), numbers(&case["half"]));
        match scalability(&points) {
            Ok(fit) => {
                for (k, interval) in [fit.alone, fit.contention, fit.coherence]
                    .into_iter()
                    .enumerate()
                {
                    close(interval.estimate, at[k], 1e-3);
                    close(interval.high - interval.estimate, half[k], 1e-2);
                    assert!(interval.low > 0.0);
                }
                let peak = ((1.0 - at[1]) / at[2]).sqrt();
                close(fit.peak.0, peak, 1e-3);
            }
            Err(FitError::SpansZero {
                contention,
                coherence,
            }) => {
                close(contention.estimate, at[1], 1e-3);
                assert!(contention.low <= 0.0 || coherence.low <= 0.0);
                assert!(
                    at[1] <= half[1] || at[2] <= half[2],
                    "scipy's intervals span no 0"
                );
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    let judge = &judged["usl"][1];
    let few: Vec<(f64, f64)> = numbers(&judge["load"])
        .into_iter()
        .zip(numbers(&judge["throughput"]))
        .take(5)
        .collect();
    assert_eq!(scalability(&few), Err(FitError::TooFewPoints));
    assert!(
        scalability(&few.repeat(4)).is_err(),
        "five loads, often, are five loads"
    );
    // Throughput that grows with the load shows no limit.
    let straight: Vec<(f64, f64)> = (1..20)
        .map(|n| (f64::from(n), 50.0 * f64::from(n) + f64::from(n % 3)))
        .collect();
    assert!(
        matches!(scalability(&straight), Err(FitError::SpansZero { .. })),
        "{:?}",
        scalability(&straight)
    );
}

/// The first example is figure 2 of the paper (knee at 0.22).
#[test]
fn the_knee_is_where_kneed_has_it() {
    let judged = judged();
    for case in judged["knee"].as_array().unwrap() {
        let points: Vec<(f64, f64)> = numbers(&case["x"])
            .into_iter()
            .zip(numbers(&case["y"]))
            .collect();
        assert_eq!(knee(&points), case["knee"].as_f64(), "{case}");
    }
    let paper = numbers(&judged["knee"][0]["x"]);
    assert!(
        (paper[2] - 0.2222).abs() < 1e-3 && judged["knee"][0]["knee"].as_f64() == Some(paper[2])
    );
}

#[test]
fn the_energy_distance_is_numpys() {
    let judged = judged();
    let case = &judged["energy"];
    let (at, energy) = best_split(&numbers(&case["series"])).unwrap();
    assert_eq!(at as u64, case["best"][0].as_u64().unwrap());
    close(energy, case["best"][1].as_f64().unwrap(), 1e-9);
}

#[test]
fn the_warm_up_ends_where_numpy_ends_it() {
    let judged = judged();
    let case = &judged["mser5"];
    let found = warm_up(&numbers(&case["windows"])).unwrap();
    assert_eq!(found.cut as u64, case["cut"].as_u64().unwrap());
}

/// If the libraries are installed, they must still produce the recorded results.
#[test]
fn the_detectors_have_the_stated_error_rates() {
    let python = std::env::var("PLIMSOLL_JUDGE").unwrap_or_else(|_| "python3".into());
    let installed = Command::new(&python)
        .args(["-c", "import numpy, scipy, statsmodels, kneed"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !installed {
        return;
    }
    let output = Command::new(&python)
        .arg(folder().join("judge.py"))
        .output()
        .unwrap();
    let again: Value = serde_json::from_slice(&output.stdout).unwrap();
    same(&again, &judged());
}

/// Whether two numbers are equal except for the last digits, which differ between processors.
#[track_caller]
fn same(one: &Value, other: &Value) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            assert_eq!(one.len(), other.len());
            one.iter().for_each(|(key, value)| same(value, &other[key]));
        }
        (Value::Array(one), Value::Array(other)) => {
            assert_eq!(one.len(), other.len());
            one.iter()
                .zip(other)
                .for_each(|(one, other)| same(one, other));
        }
        (Value::Number(one), Value::Number(other)) => {
            close(one.as_f64().unwrap(), other.as_f64().unwrap(), 1e-6);
        }
        _ => assert_eq!(one, other),
    }
}
