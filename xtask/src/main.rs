//! Checks of the source tree: `cargo xtask tidy`.
//!
//! A developer's tool, not part of the product; it prints its findings.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <task>

Tasks:
  audit-score
         score the audit on its corpus of published pages: recall of certain errors,
         false findings, unread results, time (--details lists each miss)
  tidy   check what the compiler cannot: which crate may use which, where clocks and
         sockets may be, file sizes, names, panics, documents";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => run_tidy(),
        ["audit-score", ref rest @ ..] => run_score(rest),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("xtask: no task called '{}'\n\n{HELP}", arguments.join(" "));
            ExitCode::from(2)
        }
    }
}

fn run_tidy() -> ExitCode {
    match tidy::check(&root()) {
        Ok(findings) if findings.is_empty() => {
            println!("tidy: no findings");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            for finding in &findings {
                println!("{finding}");
            }
            println!(
                "tidy: {} to fix (CONTRIBUTING.md explains the rules)",
                findings.len()
            );
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy: {error}");
            ExitCode::from(2)
        }
    }
}

/// The score is a program in the audit crate, on which this crate does not depend.
fn run_score(arguments: &[&str]) -> ExitCode {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = std::process::Command::new(cargo)
        .args([
            "run",
            "--quiet",
            "--release",
            "-p",
            "plimsoll-audit",
            "--example",
            "score",
            "--",
        ])
        .args(arguments)
        .current_dir(root())
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("audit-score: could not run cargo: {error}");
            ExitCode::from(2)
        }
    }
}

/// The workspace's root: the directory above this crate's.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
