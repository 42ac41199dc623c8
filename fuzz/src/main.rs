//! The libFuzzer harness: one binary for all targets of a workspace, built and driven by `fuzz/run`.
//!
//! libFuzzer provides `main` and reads the command line. The environment selects the task:
//! `FUZZ_TARGET` names the target to run; `FUZZ_EXPORT` instead writes each target's first inputs and
//! dictionary to that directory and exits.

#![no_main]
#![allow(clippy::print_stderr)]
// libFuzzer calls the target through an exported C symbol.
#![allow(unsafe_code)]

use std::path::Path;
use std::process::exit;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use plimsoll_fuzz::{TARGETS, Target, export, target};

static CHOSEN: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(
    init: choose(),
    |data: &[u8]| {
        if let Some(target) = CHOSEN.get() {
            (target.run)(data);
        }
    }
);

/// Reads the environment once, before libFuzzer starts.
fn choose() {
    if let Some(directory) = std::env::var_os("FUZZ_EXPORT") {
        match export::write_all(Path::new(&directory)) {
            Ok(()) => exit(0),
            Err(error) => fail(&format!("cannot write the first inputs: {error}")),
        }
    }
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    match target::named(&name) {
        Some(target) => {
            let _ = CHOSEN.set(target);
        }
        None => {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            fail(&format!(
                "FUZZ_TARGET={name:?} is unknown; targets: {}",
                names.join(" ")
            ));
        }
    }
}

fn fail(message: &str) -> ! {
    eprintln!("fuzz: {message}");
    exit(2)
}
