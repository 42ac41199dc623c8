//! Runs commands with too little memory. Each either works, or reports the shortage and a remedy.
#![cfg(target_os = "linux")]

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::program::{Ended, Program};

/// Runs the program with this many megabytes of address space.
fn limited(megabytes: u32, arguments: &str, script: &str) -> Ended {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let line = format!(
        "ulimit -c 0; ulimit -v {}; exec {program} {arguments}",
        megabytes * 1000
    );
    Program::at("sh")
        .args(["-c", &line])
        .env("HOME", "/nonexistent")
        .input(script)
        .run()
}

/// Describes what is wrong with the exit status and output of a command, if anything.
fn fault(ended: &Ended) -> Option<String> {
    let worked = ended.stdout.contains("verdict: ");
    let explained = ["memory", "ulimit"]
        .iter()
        .all(|word| ended.stderr.contains(word));
    let status = ended
        .status
        .is_some_and(|status| status < 128 || status == 255);
    (!status || !(worked || explained)).then(|| {
        format!(
            "status {:?}\nstdout: {}\nstderr: {}",
            ended.status, ended.stdout, ended.stderr
        )
    })
}

#[test]
fn little_memory_is_explained() {
    let script = "
        export const options = { vus: 20, iterations: 20 };
        const kept = 'x'.repeat(1e5) + 'y';
        export default function () { kept.split('').length; }";
    let commands = [
        "run --quiet -",
        "run --quiet --threads 8 -",
        "http -c 20 -n 40 --threads 8 http://127.0.0.1:9/",
    ];
    let mut faults = Vec::new();
    let mut tried = 0;
    for megabytes in [20, 40, 60, 80, 100, 120, 150, 200, 250, 300, 400] {
        // If the program's file cannot be mapped, the program does not start at all.
        if limited(megabytes, "version", "").status != Some(0) {
            continue;
        }
        tried += 1;
        for command in commands {
            if let Some(fault) = fault(&limited(megabytes, command, script)) {
                faults.push(format!("{megabytes} MB, {command}: {fault}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(tried > 3);
    let unlimited = plimsoll(&["run", "--quiet", "-"]).input(script).run();
    assert_eq!(unlimited.status, Some(0), "{}", unlimited.stderr);
}
