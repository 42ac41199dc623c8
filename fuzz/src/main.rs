//! Feeds the fuzz targets: `cargo run -p plimsoll-fuzz -- --seconds 10 [target…]`.
//!
//! Each target runs in a process of its own, so that a stack overflow or an abort ends
//! only that. Inputs follow from a seed alone; a target that died is run again with
//! each input written to a file first, and the last one is printed.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod feed;

use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

use plimsoll_fuzz::{TARGETS, Target, target};

const HELP: &str = "\
Usage: cargo run -p plimsoll-fuzz -- [options] [target…]

Options:
  --seconds N     for how long each target is fed (default 10)
  --seed N        begin elsewhere (default: another at each run; it is printed)
  --input HEX     run one input, as it was printed, through one target
  --list          name the targets";

#[derive(Default)]
struct Arguments {
    seconds: Option<u64>,
    seed: Option<u64>,
    input: Option<Vec<u8>>,
    list: bool,
    /// Inside the process of one target; with `trace`, write each input there first.
    inside: bool,
    trace: Option<PathBuf>,
    targets: Vec<&'static Target>,
}

fn main() -> ExitCode {
    let arguments = match read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("fuzz: {message}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    if arguments.list {
        TARGETS
            .iter()
            .for_each(|target| println!("{}", target.name));
        return ExitCode::SUCCESS;
    }
    if let (Some(input), [target]) = (&arguments.input, &arguments.targets[..]) {
        (target.run)(input);
        println!("{}: {} bytes, nothing happened", target.name, input.len());
        return ExitCode::SUCCESS;
    }
    let seconds = arguments.seconds.unwrap_or(10);
    let seed = arguments.seed.unwrap_or_else(feed::another_seed);
    if let (true, [target]) = (arguments.inside, &arguments.targets[..]) {
        return feed::feed(target, seconds, seed, arguments.trace.as_deref());
    }
    let chosen = if arguments.targets.is_empty() {
        TARGETS
    } else {
        &arguments.targets[..]
    };
    let mut broken = 0;
    for target in chosen {
        match feed_apart(target, seconds, seed) {
            Ok(true) => {}
            Ok(false) => broken += 1,
            Err(error) => {
                eprintln!("fuzz: {}: {error}", target.name);
                broken += 1;
            }
        }
    }
    println!("fuzz: {} targets, {broken} broken", chosen.len());
    if broken == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Feeds a target in a process of its own; whether it survived.
fn feed_apart(target: &Target, seconds: u64, seed: u64) -> std::io::Result<bool> {
    let inside = |trace: Option<&PathBuf>| -> std::io::Result<ExitStatus> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--inside", target.name, "--seed", &seed.to_string()]);
        command.args(["--seconds", &seconds.to_string()]);
        if let Some(trace) = trace {
            // Writing takes time; the same input comes later.
            command
                .args(["--seconds", &(20 * seconds + 20).to_string(), "--trace"])
                .arg(trace);
        }
        command.status()
    };
    let status = inside(None)?;
    if status.success() {
        return Ok(true);
    }
    // With an exit status it has said itself what happened.
    if status.code().is_none() {
        eprintln!("{}: ended by {status}; looking for the input", target.name);
        let trace = std::env::temp_dir().join(format!("plimsoll-fuzz-{}", std::process::id()));
        let again = inside(Some(&trace))?;
        if again.success() {
            eprintln!("{}: it did not happen again (seed {seed})", target.name);
        } else {
            feed::report(target.name, &std::fs::read(&trace)?, "the process died");
        }
        std::fs::remove_file(trace)?;
    }
    Ok(false)
}

fn read(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--seconds" => arguments.seconds = Some(number(&value()?)?),
            "--seed" => arguments.seed = Some(number(&value()?)?),
            "--input" => arguments.input = Some(unhex(&value()?)?),
            "--trace" => arguments.trace = Some(value()?.into()),
            "--inside" => arguments.inside = true,
            "--list" => arguments.list = true,
            name => arguments.targets.push(target(name).ok_or_else(|| {
                format!("no target or option called '{name}'; --list names the targets")
            })?),
        }
    }
    if arguments.input.is_some() && arguments.targets.len() != 1 {
        return Err("--input needs exactly one target".to_owned());
    }
    Ok(arguments)
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is no whole number"))
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect::<Option<_>>()
        .ok_or_else(|| "the input is no row of pairs of hexadecimal digits".to_owned())
}
