//! Runs a script, and reads its log lines and counters.

#![allow(dead_code)]

use plimsoll_testkit::program::{Ended, Program};
use serde_json::Value;

/// Runs a script with the variable URL. Prints the summary as JSON.
pub fn run(script: &str, url: &str) -> Ended {
    run_with(script, url, &[])
}

/// Runs a script with additional flags.
pub fn run_with(script: &str, url: &str, more: &[&str]) -> Ended {
    program(script, url, more).run()
}

/// The program that runs the script.
pub fn program(script: &str, url: &str, more: &[&str]) -> Program {
    let script = format!(
        "{script}\nexport function handleSummary(data) {{ return {{ stdout: JSON.stringify(data.metrics) }}; }}"
    );
    Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["run", "-q", "--log-format", "raw"])
        .args(more)
        .args(["-e", &format!("URL={url}")])
        .arg("-")
        .input(script.into_bytes())
}

/// The log lines, without the verdict at the end and its other reasons.
pub fn lines(ended: &Ended) -> Vec<String> {
    let lines = ended.stderr.lines();
    let logged = lines.take_while(|line| !line.starts_with("verdict: "));
    logged.map(str::to_owned).collect()
}

/// The counts of counters and the rates of rates. `None` for a metric without values.
#[track_caller]
pub fn counted(ended: &Ended, names: &[&str]) -> Vec<Option<f64>> {
    let start = ended
        .stdout
        .find('{')
        .unwrap_or_else(|| panic!("{ended:?}"));
    let mut stream = serde_json::Deserializer::from_str(&ended.stdout[start..]).into_iter();
    let metrics: Value = stream.next().unwrap().unwrap();
    let value = |name: &&str| {
        let values = metrics.get(*name)?.get("values")?;
        let value = ["count", "rate", "avg"]
            .iter()
            .find_map(|key| values.get(*key));
        value?.as_f64()
    };
    names.iter().map(value).collect()
}
