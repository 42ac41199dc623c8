//! Counts the cache lines that requests of a program touch, by kind.
//!
//! ```text
//! touched-lines --program PATH --script-stack BYTES --window REQUESTS --skip WINDOWS --windows WINDOWS -- ARGUMENTS
//! ```
//!
//! Runs the program under valgrind's `lackey` until enough windows of requests have passed, stops it, and prints one
//! JSON object: for each kind of memory the distinct lines of a window, as the mean of all windows.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use plimsoll_bench::arguments::Arguments;
use plimsoll_bench::symbols::Symbols;
use plimsoll_bench::touched::{Count, Kind, Regions, event};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "touched-lines: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    let split = given.iter().position(|argument| argument == "--");
    let rest = split.map(|at| given.split_off(at)).unwrap_or_default();
    let known = ["program", "script-stack", "window", "skip", "windows"];
    let arguments = Arguments::parse(given, &known)?;
    let number = |name: &str| -> Result<u64, String> {
        let missing = || format!("--{name} NUMBER is missing");
        arguments.value(name)?.ok_or_else(missing)
    };
    let program = arguments
        .text("program")
        .ok_or("--program PATH is missing")?;
    let (script_stack, window) = (number("script-stack")?, number("window")?);
    let (skip, windows) = (number("skip")?.max(1), number("windows")?.max(1));

    let nm = Command::new("nm")
        .args(["--demangle", "--defined-only", program])
        .output()
        .map_err(|error| format!("cannot run nm (Debian: binutils): {error}"))?;
    let symbols = Symbols::read(&String::from_utf8_lossy(&nm.stdout));
    let mut child = Command::new("valgrind")
        .args([
            "--tool=lackey",
            "--basic-counts=no",
            "--trace-mem=yes",
            "--trace-syscalls=yes",
        ])
        .arg(program)
        .args(rest.iter().skip(1))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot run valgrind: {error}"))?;
    let maps = format!("/proc/{}/maps", child.id());
    let trace = child.stderr.take().ok_or("valgrind has no output")?;
    let mut trace = BufReader::with_capacity(1 << 20, trace);
    let mut count = Count::new(&symbols, window, skip);
    let mut line = Vec::new();
    let mut talk = Vec::new();
    let read = loop {
        line.clear();
        match trace.read_until(b'\n', &mut line) {
            Ok(0) => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(format!("cannot read valgrind's output: {error}")),
        }
        if line.starts_with(b"==") && talk.len() < 2000 {
            talk.extend_from_slice(&line);
        }
        count.take(event(&line), || {
            let maps = std::fs::read_to_string(&maps).unwrap_or_default();
            Regions::read(&maps, program, script_stack)
        });
        if count.windows.len() as u64 >= windows {
            break Ok(());
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    read?;
    if (count.windows.len() as u64) < windows {
        return Err(format!(
            "the program ended after {} of {windows} windows of {window} requests: {}",
            count.windows.len(),
            String::from_utf8_lossy(&talk)
        ));
    }
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (kind, lines) in count.windows.iter().flatten() {
        *sums.entry(name(&symbols, kind)).or_default() += lines;
    }
    let fields: Vec<String> = sums
        .iter()
        .map(|(name, sum)| format!("\"{name}\": {:.1}", *sum as f64 / windows as f64))
        .collect();
    writeln!(io::stdout(), "{{{}}}", fields.join(", ")).map_err(|error| error.to_string())
}

fn name(symbols: &Symbols, kind: &Kind) -> String {
    match kind {
        Kind::Code(owner) => format!("code: {}", symbols.name(*owner)),
        Kind::Static => "constants and variables".to_owned(),
        Kind::ScriptStack => "stack of the script".to_owned(),
        Kind::ThreadStack => "stack of the thread".to_owned(),
        Kind::Image => "engine: image of the heap".to_owned(),
        Kind::EngineBefore => "engine: made before the first request".to_owned(),
        Kind::EngineAfter => "engine: made since".to_owned(),
        Kind::Heap(owner) => format!("heap: {}", symbols.name(*owner)),
    }
}
