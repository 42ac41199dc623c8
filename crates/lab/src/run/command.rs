//! The command line that generates a cell's load, with this program or another tool.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::names::Names;
use super::server::{program_path, with_program};
use super::service::find;
use crate::problem::{Location, Problem};
use crate::resolve::Cell;
use crate::resolve::load::{Grpc, Http, Load, Source, Template, Throughput};

/// A command, and the location of its results.
#[derive(Clone, Debug, Default)]
pub struct Invocation {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Environment variables.
    pub environment: Vec<(String, String)>,
    /// A second command that prints the results, if the first one does not.
    pub afterwards: Vec<String>,
    /// The record, if the command writes one.
    pub record: Option<PathBuf>,
    /// Exit statuses that are also results, for example that of a load with failed requests.
    pub results: Vec<i32>,
}

/// The name of the record file of a repeat.
pub const RECORD: &str = "record.jsonl";

/// Variables for the command of a load.
pub fn names_of(cell: &Cell, repeat: u32, names: &Names) -> Names {
    let load = &cell.load;
    let mut names = names.clone();
    let format = plimsoll_units::duration::format;
    names.set("cell", &cell.name);
    names.set("repeat", repeat.to_string());
    names.set("seconds", seconds(load.whole()));
    names.set("duration", format(load.duration));
    names.set("warmup", format(load.warmup));
    names.set("users", load.users.unwrap_or(1).to_string());
    names.set("rate", load.rate.unwrap_or(0.0).to_string());
    names
}

/// The command line of a run that writes its results to `directory`.
///
/// # Errors
/// If a program is missing or a name is unknown.
pub fn of(cell: &Cell, names: &Names, directory: &Path) -> Result<Invocation, Problem> {
    let load = &cell.load;
    let place = &load.place_of_source;
    let mut invocation = match (&load.source, load.tool.as_str()) {
        (Source::Command(words), _) => {
            let words = names.fill_all(words, place)?;
            Invocation {
                words: with_program(words).map_err(|why| place.problem(why))?,
                environment: names.fill_pairs(&load.environment, place)?,
                results: results_of(load),
                ..Invocation::default()
            }
        }
        (_, "plimsoll") => own_command(load, names, place, directory)?,
        _ => tool_command(load, names, place, directory)?,
    };
    // A flag must come before the name of a script.
    let arguments = names.fill_all(&load.arguments, place)?;
    let at = match load.source {
        Source::Script(_) => invocation.words.len().saturating_sub(1),
        _ => invocation.words.len(),
    };
    invocation.words.splice(at..at, arguments);
    Ok(invocation)
}

/// Exit statuses of our own command that are also results. `find` has a result even if no rate met
/// the objective (1) or if the result is not certain (3).
fn results_of(load: &Load) -> Vec<i32> {
    match load.is_search() {
        true => vec![1, 3],
        false => Vec::new(),
    }
}

fn own_command(
    load: &Load,
    names: &Names,
    place: &Location,
    directory: &Path,
) -> Result<Invocation, Problem> {
    let record = directory.join(RECORD);
    let recorded = record_flags(load, &record);
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let mut words = vec![program_path().map_err(|why| place.problem(why))?];
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    let whole = plimsoll_units::duration::format(load.whole());
    let mut afterwards = Vec::new();
    match &load.source {
        Source::Script(script) => {
            add(&["run", "--quiet", "--no-color"]);
            add(&recorded);
            for (name, value) in script_environment(load, names, place)? {
                add(&["-e", &format!("{name}={value}")]);
            }
            if let Some(users) = load.users.filter(|_| load.rate.is_none()) {
                add(&["--vus", &users.to_string(), "--duration", &whole]);
            }
            add(&[&absolute(script)]);
        }
        Source::Http(http) => {
            add(&["http", "--quiet"]);
            add(&recorded);
            match load.work {
                Some(work) => {
                    let (workers, loops) = (work.workers.to_string(), work.loops.to_string());
                    add(&["--users", &workers, "--loops", &loops]);
                    add(&["--connections", &http.connections]);
                    if http.include_connecting {
                        add(&["--include-connecting"]);
                    }
                }
                None => {
                    if http.connections == "fresh" {
                        add(&["--no-keepalive"]);
                    }
                    add(&["-d", &whole]);
                    match load.rate {
                        Some(rate) => add(&["-r", &format!("{rate:.0}")]),
                        None => add(&["-c", &load.users.unwrap_or(50).to_string()]),
                    }
                }
            }
            let request = http_flags(http, load.protocol.as_deref(), names, place, directory)?;
            add(&request.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Source::Targets(targets) => {
            let rate = load.rate.unwrap_or(0.0);
            let list = write_filled(targets, names, place, directory, "targets.txt")?;
            add(&["attack", &format!("--targets={list}")]);
            add(&[&format!("--rate={rate:.0}"), &format!("--duration={whole}")]);
            if let Some(users) = load.users {
                add(&[
                    &format!("--workers={users}"),
                    &format!("--max-workers={users}"),
                ]);
            }
            add(&recorded);
            // Agents send sums, so a fleet writes no file with single results.
            if !uses_fleet(load) {
                let output = directory.join("results.bin").display().to_string();
                add(&[&format!("--output={output}")]);
                afterwards = vec![
                    program_path().map_err(|why| place.problem(why))?,
                    "vegeta".to_owned(),
                    "report".to_owned(),
                    output,
                ];
            }
        }
        Source::Grpc(grpc) => {
            add(&["grpc", "--quiet"]);
            add(&recorded);
            let flags = grpc_flags(load, grpc, names, place, &whole, directory)?;
            add(&flags.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Source::Throughput(throughput) => {
            add(&["throughput"]);
            let flags = throughput_flags(throughput, load, names, place)?;
            add(&flags.iter().map(String::as_str).collect::<Vec<_>>());
            return Ok(Invocation {
                words,
                ..Invocation::default()
            });
        }
        Source::Command(_) => {}
    }
    Ok(Invocation {
        words,
        afterwards,
        record: Some(record),
        // A run with failed requests or crossed thresholds also has results.
        results: vec![1, 99],
        ..Invocation::default()
    })
}

/// Whether the load's own arguments make agents generate it.
fn uses_fleet(load: &Load) -> bool {
    let fleet = |word: &String| word == "--fleet" || word.starts_with("--fleet=");
    load.arguments.iter().any(fleet)
}

/// Flags for writing the record.
fn record_flags(load: &Load, record: &Path) -> Vec<String> {
    let mut flags = vec!["--record".to_owned(), record.display().to_string()];
    if load.work.is_none() && !load.warmup.is_zero() {
        let warmup = plimsoll_units::duration::format(load.warmup);
        flags.extend(["--warm-up".to_owned(), warmup]);
    }
    flags
}

fn tool_command(
    load: &Load,
    names: &Names,
    place: &Location,
    directory: &Path,
) -> Result<Invocation, Problem> {
    let name = load.program.as_deref().unwrap_or(&load.tool);
    let program = find(name, &[]).ok_or_else(|| {
        place.problem(format!(
            "the program {name} is missing: install it, set its path with program = \"…\", or remove tool"
        ))
    })?;
    let mut words = vec![program.display().to_string()];
    let mut add = |more: &[&str]| words.extend(more.iter().map(|word| (*word).to_owned()));
    let mut afterwards = Vec::new();
    match &load.source {
        Source::Script(script) => {
            add(&["run", "--quiet", "--no-color"]);
            for (name, value) in script_environment(load, names, place)? {
                add(&["-e", &format!("{name}={value}")]);
            }
            if let Some(users) = load.users.filter(|_| load.rate.is_none()) {
                let whole = plimsoll_units::duration::format(load.whole());
                add(&["--vus", &users.to_string(), "--duration", &whole]);
            }
            add(&[&absolute(script)]);
        }
        Source::Http(http) => {
            let users = load.users.unwrap_or(50).to_string();
            add(&[
                "-t1",
                "-c",
                &users,
                "-d",
                &format!("{}s", seconds(load.whole())),
                "--latency",
            ]);
            for (name, value) in names.fill_pairs(&http.headers, place)? {
                add(&["-H", &format!("{name}: {value}")]);
            }
            add(&[&names.fill(&http.url, place)?]);
        }
        Source::Targets(targets) => {
            let output = directory.join("results.bin").display().to_string();
            afterwards = vec![
                program.display().to_string(),
                "report".to_owned(),
                output.clone(),
            ];
            add(&[
                "attack",
                &format!(
                    "-targets={}",
                    write_filled(targets, names, place, directory, "targets.txt")?
                ),
                &format!("-output={output}"),
            ]);
            add(&[
                &format!("-rate={:.0}", load.rate.unwrap_or(50.0)),
                &format!("-duration={}s", seconds(load.whole())),
            ]);
        }
        Source::Throughput(throughput) => {
            let flags = throughput_flags(throughput, load, names, place)?;
            add(&flags.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Source::Grpc(_) | Source::Command(_) => {}
    }
    Ok(Invocation {
        words,
        afterwards,
        // The exit status of k6 for crossed thresholds.
        results: vec![99],
        ..Invocation::default()
    })
}

/// The path of a file. If the file contains variables, it is written to the directory of the run.
fn write_filled(
    file: &Template,
    names: &Names,
    place: &Location,
    directory: &Path,
    name: &str,
) -> Result<String, Problem> {
    let Some(template) = &file.template else {
        return Ok(absolute(&file.file));
    };
    let path = directory.join(name);
    std::fs::write(&path, names.fill(template, place)?)
        .map_err(|error| place.problem(format!("cannot write {}: {error}", path.display())))?;
    Ok(absolute(&path))
}

/// The variables of a script's `__ENV`.
pub fn script_environment(
    load: &Load,
    names: &Names,
    place: &Location,
) -> Result<Vec<(String, String)>, Problem> {
    let mut all = vec![
        (
            "DURATION".to_owned(),
            plimsoll_units::duration::format(load.whole()),
        ),
        (
            "WARMUP".to_owned(),
            plimsoll_units::duration::format(load.warmup),
        ),
    ];
    if let Some(users) = load.users {
        all.push(("USERS".to_owned(), users.to_string()));
    }
    if let Some(rate) = load.rate {
        all.push(("RATE".to_owned(), rate.to_string()));
    }
    all.extend(names.fill_pairs(&load.environment, place)?);
    Ok(all)
}

/// Flags of `plimsoll http` that define the request.
pub fn http_flags(
    http: &Http,
    protocol: Option<&str>,
    names: &Names,
    place: &Location,
    directory: &Path,
) -> Result<Vec<String>, Problem> {
    let url = names.fill(&http.url, place)?;
    let mut flags = vec!["-m".to_owned(), http.method.clone()];
    for (name, value) in names.fill_pairs(&http.headers, place)? {
        flags.extend(["-H".to_owned(), format!("{name}: {value}")]);
    }
    if let Some(body) = &http.body {
        flags.extend(["-b".to_owned(), names.fill(body, place)?]);
    }
    if let Some(lines) = &http.body_lines {
        let path = write_filled(lines, names, place, directory, "bodies.txt")?;
        flags.extend(["--body-lines".to_owned(), path]);
    }
    flags.extend(connection_flags(http, protocol, names, place)?);
    flags.push(url);
    Ok(flags)
}

/// Flags of `plimsoll http` and `plimsoll run` for the request's connection.
pub fn connection_flags(
    http: &Http,
    protocol: Option<&str>,
    names: &Names,
    place: &Location,
) -> Result<Vec<String>, Problem> {
    let url = names.fill(&http.url, place)?;
    let mut flags = Vec::new();
    match protocol {
        Some("HTTP/1.1") => flags.push("--h1".to_owned()),
        Some("HTTP/2") if url.starts_with("http://") => flags.push("--h2c".to_owned()),
        Some("HTTP/2") => flags.push("--h2".to_owned()),
        Some(_) => flags.push("--h3".to_owned()),
        None => {}
    }
    if http.insecure {
        flags.push("-k".to_owned());
    }
    if let Some((cert, key)) = &http.identity {
        let (cert, key) = (names.fill(cert, place)?, names.fill(key, place)?);
        flags.extend(["--cert".to_owned(), cert, "--key".to_owned(), key]);
    }
    Ok(flags)
}

fn grpc_flags(
    load: &Load,
    grpc: &Grpc,
    names: &Names,
    place: &Location,
    whole: &str,
    directory: &Path,
) -> Result<Vec<String>, Problem> {
    let mut flags = Vec::new();
    let mut add = |flag: &str, value: String| flags.extend([flag.to_owned(), value]);
    match (load.work, load.rate) {
        (Some(work), _) => {
            add("-u", work.workers.to_string());
            add("--loops", work.loops.to_string());
            // The work must be completed, however long it takes.
            add("-d", plimsoll_units::duration::format(load.within));
        }
        (None, rate) => {
            add("-d", whole.to_owned());
            match rate {
                Some(rate) => {
                    add("-r", format!("{rate:.0}"));
                    add("-u", "50".to_owned());
                }
                None => add("-u", load.users.unwrap_or(50).to_string()),
            }
        }
    }
    if let Some(proto) = &grpc.proto {
        flags.extend(["--proto".to_owned(), absolute(Path::new(proto))]);
    }
    match (&grpc.size, grpc.data.strip_prefix('@')) {
        (Some(size), _) => {
            let size = names.fill(size, place)?;
            let file = payload(&size, directory).map_err(|why| place.problem(why))?;
            flags.extend(["-D".to_owned(), file]);
        }
        (None, Some(file)) => flags.extend(["-D".to_owned(), file.to_owned()]),
        (None, None) => flags.extend(["--data".to_owned(), names.fill(&grpc.data, place)?]),
    }
    if !grpc.metadata.is_empty() {
        let fields: serde_json::Map<String, serde_json::Value> = names
            .fill_pairs(&grpc.metadata, place)?
            .into_iter()
            .map(|(name, value)| (name, value.into()))
            .collect();
        let fields = serde_json::Value::Object(fields).to_string();
        flags.extend(["-m".to_owned(), fields]);
    }
    if !grpc.tls {
        flags.push("--plaintext".to_owned());
    }
    if grpc.insecure {
        flags.push("-k".to_owned());
    }
    flags.extend(["--connections".to_owned(), grpc.connections.clone()]);
    if grpc.include_connecting && load.work.is_some() {
        flags.push("--include-connecting".to_owned());
    }
    flags.push(names.fill(&grpc.address, place)?);
    flags.push(grpc.call.clone());
    Ok(flags)
}

/// Writes a message with this number of bytes in its field `data` to a file, because a megabyte is
/// too long for an argument.
fn payload(size: &str, directory: &Path) -> Result<String, String> {
    const MAX_SIZE: usize = 64 << 20;
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = match size.get(digits.len()..).unwrap_or_default().trim() {
        "" | "B" => 1,
        "KB" | "kB" => 1000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        other => {
            return Err(format!(
                "{other:?} is not a unit of bytes: write size like 4KiB or 1MiB"
            ));
        }
    };
    let bytes = digits
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|count| count.checked_mul(unit))
        .filter(|bytes| *bytes <= MAX_SIZE)
        .ok_or_else(|| format!("{size:?} is not a size up to 64MiB: write it like 4KiB"))?;
    // Base64 of zero bytes (RFC 4648), which is how protobuf's JSON represents bytes.
    let text = match bytes % 3 {
        0 => "A".repeat(bytes / 3 * 4),
        1 => "A".repeat(bytes / 3 * 4 + 2) + "==",
        _ => "A".repeat(bytes / 3 * 4 + 3) + "=",
    };
    let path = directory.join("message.json");
    std::fs::write(&path, format!("{{\"data\":\"{text}\"}}"))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path.display().to_string())
}

fn throughput_flags(
    throughput: &Throughput,
    load: &Load,
    names: &Names,
    place: &Location,
) -> Result<Vec<String>, Problem> {
    let to = names.fill(&throughput.to, place)?;
    let (host, port) = to
        .rsplit_once(':')
        .ok_or_else(|| place.problem(format!("{to:?} has no port: write to = \"HOST:PORT\"")))?;
    let mut flags = ["-c", host, "-p", port, "-J", "-t"]
        .map(str::to_owned)
        .to_vec();
    flags.push(seconds(load.duration.max(Duration::from_secs(1))));
    // iperf3 itself omits the first seconds.
    if !load.warmup.is_zero() {
        flags.extend([
            "-O".to_owned(),
            seconds(load.warmup.max(Duration::from_secs(1))),
        ]);
    }
    if throughput.protocol == "udp" {
        flags.push("-u".to_owned());
    }
    if throughput.reverse {
        flags.push("-R".to_owned());
    }
    Ok(flags)
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path)
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

/// A duration in whole seconds, rounded up.
fn seconds(time: Duration) -> String {
    time.as_secs_f64().ceil().to_string()
}
