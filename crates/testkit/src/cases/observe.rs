//! Runs one case with one program, and records everything that can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::{Case, Signal};
use super::metrics::{self, Metric};
use super::normalize::Normalizer;
use super::{archive, logs, screen};
use crate::case_server::Addresses;

/// The results of a run, without data that may differ between runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The exit status; -1 if a signal killed the program, -2 if it exceeded the time limit.
    pub exit: i32,
    pub logs: Vec<String>,
    pub screen: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, Vec<String>>,
}

impl Observation {
    /// The observation without the parts that are not compared.
    pub fn without(mut self, parts: &[String]) -> Observation {
        for part in parts {
            match part.as_str() {
                "logs" => self.logs.clear(),
                "screen" => self.screen.clear(),
                "metrics" => self.metrics.clear(),
                part => {
                    if let Some(name) = part.strip_prefix("metric:") {
                        self.metrics.remove(name);
                    }
                }
            }
        }
        self
    }

    /// The parts of the observation in which a case intentionally differs.
    pub fn differing(mut self, case: &Case) -> Observation {
        if !case.differs("exit") {
            self.exit = 0;
        }
        if !case.differs("logs") {
            self.logs.clear();
        }
        if !case.differs("screen") {
            self.screen.clear();
        }
        if !case.differs("metrics") {
            let differs = |name: &String| case.differs(&format!("metric:{name}"));
            self.metrics.retain(|name, _| differs(name));
        }
        self.files.retain(|name, _| case.differs(name));
        self
    }
}

/// Runs `case` with `program` in a copy of its directory.
pub fn observe(case: &Case, program: &Path, server: &Addresses) -> Result<Observation, String> {
    let problem =
        |what: &str, error: &dyn std::fmt::Display| format!("{}: {what}: {error}", case.name);
    let scratch =
        tempfile::tempdir().map_err(|error| problem("creating the working directory", &error))?;
    let folder = scratch.path().join("case");
    copy(&case.folder, &folder).map_err(|error| problem("copying the case", &error))?;
    let normalizer =
        Normalizer::new(case, &folder, server).map_err(|error| problem("case.json", &error))?;

    let child = command(case, program, server, &folder, scratch.path())
        .spawn()
        .map_err(|error| problem(&program.display().to_string(), &error))?;
    let ended = attend(child, case.settings.signal.clone())
        .map_err(|error| problem("waiting for the program", &error))?;

    let read = |name: &str| fs::read_to_string(folder.join(name));
    let metrics = read(METRICS)
        .map(|text| metrics::read(&text, &normalizer))
        .unwrap_or_default();
    let mut files = BTreeMap::new();
    for name in &case.settings.files {
        let text = if name.ends_with(".tar") {
            archive::listing(&folder.join(name))
        } else {
            read(name)
        };
        let text = text.unwrap_or_else(|_| "(no such file)".to_owned());
        files.insert(name.clone(), file_lines(&text, &normalizer));
    }
    Ok(Observation {
        exit: ended.exit,
        logs: logs::lines(&ended.stderr, case, &normalizer),
        screen: screen::lines(&ended.stdout, case, &normalizer),
        metrics,
        files,
    })
}

const METRICS: &str = ".metrics.json";

fn command(case: &Case, program: &Path, server: &Addresses, folder: &Path, home: &Path) -> Command {
    let settings = &case.settings;
    let mut command = Command::new(program);
    // Pass only the environment of the case: neither the user's settings nor a proxy may have an
    // effect.
    command.env_clear().current_dir(folder).env("HOME", home);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("K6_NO_USAGE_REPORT", "true")
        // k6 masks nothing in logs and samples. Masking is tested separately.
        .env("PLIMSOLL_SHOW_SECRETS", "true");
    // All cases can be run with heap images (docs/decisions/0015).
    if let Some(choice) = std::env::var_os("PLIMSOLL_IMAGE") {
        command.env("PLIMSOLL_IMAGE", choice);
    }
    command.envs(settings.env.iter().map(|(name, value)| {
        let value = value.replace("$CERTS", &server.certificates);
        (name, value)
    }));
    command.arg(&settings.command);
    if settings.command == "run" {
        if !settings.loud {
            command.arg("--quiet");
        }
        if !settings.no_metrics {
            command.arg("--out").arg(format!("json={METRICS}"));
        }
    }
    if !settings.script.is_empty() {
        for (name, value) in &server.variables {
            command.arg("-e").arg(format!("{name}={value}"));
        }
    }
    command.args(&settings.flags);
    if !settings.script.is_empty() {
        command.arg(&settings.script);
    }
    let input = settings
        .stdin
        .as_ref()
        .and_then(|name| fs::File::open(folder.join(name)).ok());
    command.stdin(input.map_or(Stdio::null(), Stdio::from));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

struct Ended {
    exit: i32,
    stdout: String,
    stderr: String,
}

/// Collects a program's output, sends the configured signal, and kills the program at the time
/// limit.
fn attend(mut child: Child, signal: Option<Signal>) -> std::io::Result<Ended> {
    let id = child.id();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let screen = thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stdout) = stdout {
            let _ = stdout.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let logs = thread::spawn(move || {
        let mut text = String::new();
        let mut signal = signal;
        let mut lines = stderr.map(BufReader::new);
        let mut line = Vec::new();
        while let Some(reader) = &mut lines {
            line.clear();
            if reader.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            let line = String::from_utf8_lossy(&line);
            if signal
                .as_ref()
                .is_some_and(|signal| line.contains(&signal.after))
                && let Some(signal) = signal.take()
            {
                thread::spawn(move || send(id, &signal));
            }
            text.push_str(&line);
        }
        text
    });
    let started = Instant::now();
    let exit = loop {
        if let Some(status) = child.try_wait()? {
            break status.code().unwrap_or(-1);
        }
        if started.elapsed() > Case::LIMIT {
            child.kill()?;
            child.wait()?;
            break -2;
        }
        thread::sleep(Duration::from_millis(5));
    };
    Ok(Ended {
        exit,
        stdout: screen.join().unwrap_or_default(),
        stderr: logs.join().unwrap_or_default(),
    })
}

fn send(id: u32, signal: &Signal) {
    for _ in 0..signal.times {
        let _ = Command::new("kill")
            .arg(format!("-{}", signal.name))
            .arg(id.to_string())
            .status();
        thread::sleep(Duration::from_millis(250));
    }
}

/// The lines of a file. JSON has sorted keys and one value per line.
fn file_lines(text: &str, normalizer: &Normalizer) -> Vec<String> {
    let text = match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            drop_own(&mut value);
            value.sort_all_objects();
            serde_json::to_string_pretty(&value).unwrap_or_default()
        }
        Err(_) => {
            let lines = text.lines();
            let lines = lines.filter(|line| !is_own(line.split(',').next().unwrap_or_default()));
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    normalizer.text(&text).lines().map(str::to_owned).collect()
}

/// Removes Plimsoll's additional metrics, and metrics that are sampled at intervals.
fn drop_own(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|name, _| !is_own(name));
            map.values_mut().for_each(drop_own);
        }
        Value::Array(values) => {
            values.retain(|value| !is_own(value["name"].as_str().unwrap_or_default()));
            // Lists of named items may have any order.
            values.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
            values.iter_mut().for_each(drop_own);
        }
        _ => {}
    }
}

/// Names of metrics or object keys that only one of the two programs outputs.
fn is_own(name: &str) -> bool {
    ["plimsoll", "plimsoll_version", "k6_version"].contains(&name)
        || metrics::ADDITIONAL.contains(&name)
        || metrics::SAMPLED.contains(&name)
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
