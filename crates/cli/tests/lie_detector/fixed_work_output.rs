//! Reads the figures of fixed work from every output format.

use std::path::Path;

use serde_json::Value;

/// The figures of one scenario in one output.
#[derive(Clone, Debug)]
pub struct Figures {
    pub source: &'static str,
    pub iterations: u64,
    /// `None` if the output contains only iterations, each of which is one call.
    pub calls: Option<u64>,
    pub failed: u64,
    pub sent: u64,
    pub received: u64,
    /// The makespan in seconds.
    pub makespan: f64,
    /// The rate of the payload in both directions. `None` if it is rounded.
    pub megabits_per_second: Option<f64>,
    /// The rounding error of the printed makespan, in seconds.
    pub rounding: f64,
    /// The message that the work is incomplete, if any.
    pub unfinished: Option<String>,
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON: {error}\n{text}"))
}

fn of_value(source: &'static str, work: &Value) -> Figures {
    let count = |name: &str| {
        let count = work[name].as_u64();
        count.unwrap_or_else(|| panic!("{source} has no {name}: {work:#}"))
    };
    let (wanted, iterations) = (count("iterations_wanted"), count("iterations"));
    Figures {
        source,
        iterations,
        calls: Some(count("calls")),
        failed: count("failed_calls"),
        sent: count("payload_bytes_sent"),
        received: count("payload_bytes_received"),
        makespan: work["makespan_seconds"].as_f64().unwrap_or(f64::NAN),
        megabits_per_second: work["megabits_per_second"].as_f64(),
        rounding: 1e-9,
        unfinished: (wanted != iterations).then(|| format!("{iterations} of {wanted} iterations")),
    }
}

/// Reads `--json` of http and grpc.
pub fn of_json(text: &str) -> Figures {
    of_value("--json", &parse(text))
}

/// Reads `--summary-export` of a script.
pub fn of_summary(path: &Path) -> Figures {
    let summary = parse(&read(path));
    of_value(
        "--summary-export",
        &summary["plimsoll"]["fixed_work"]["work"],
    )
}

/// Reads `--record`. Its counters are recorded separately and must agree.
pub fn of_record(path: &Path) -> Figures {
    let text = read(path);
    let end = parse(text.lines().last().unwrap_or_default());
    let works: Vec<&Value> = end["fixed_work"]
        .as_object()
        .into_iter()
        .flat_map(|works| works.values())
        .collect();
    let [work] = works[..] else {
        panic!("not one scenario: {end:#}");
    };
    let mut figures = of_value("--record", work);
    for (metric, count) in [
        ("iterations", Some(figures.iterations)),
        ("http_reqs", figures.calls),
        ("ws_sessions", figures.calls),
    ] {
        let counter = end["counters"][metric].as_f64();
        if counter.is_some() && counter != count.map(|count| count as f64) {
            figures.unfinished = Some(format!("{metric} is {counter:?}, not {count:?}"));
        }
    }
    figures
}

/// Reads the text of any command: one line each for the work, its makespan and its payload.
pub fn of_text(text: &str) -> Figures {
    let line = |name: &str| {
        let mut lines = text.lines().map(str::trim_start);
        let rest = lines.find_map(|line| line.strip_prefix(name)?.split_once(' '));
        rest.unwrap_or_else(|| panic!("no line \"{name}\":\n{text}"))
            .1
            .trim_start()
    };
    // Commands print columns, and scripts print a colon. Every number is followed by its unit.
    let work = line("work");
    let before = |text: &str, what: &str| -> Option<u64> {
        let (before, _) = text.split_once(what)?;
        before.split_whitespace().last()?.parse().ok()
    };
    let calls = before(work, " call");
    let payload = line("payload");
    let bytes = |direction: &str| {
        let count = before(payload, &format!(" B {direction}"));
        count.unwrap_or_else(|| panic!("no bytes {direction}: {payload}"))
    };
    let makespan = line("makespan").split(' ').next().unwrap_or_default();
    Figures {
        source: "text",
        iterations: before(work, " iteration").or(calls).unwrap_or(0),
        calls,
        failed: before(payload, " failed call").unwrap_or(0),
        sent: bytes("sent"),
        received: bytes("received"),
        makespan: seconds(makespan),
        megabits_per_second: None,
        rounding: 0.01,
        unfinished: work.contains(" of ").then(|| work.to_owned()),
    }
}

/// Converts a time like 1.5s or 20ms to seconds.
fn seconds(text: &str) -> f64 {
    let split = text.find(|letter: char| letter.is_alphabetic());
    let (number, unit) = text.split_at(split.unwrap_or(text.len()));
    let unit = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        _ => f64::NAN,
    };
    number.parse().unwrap_or(f64::NAN) * unit
}
