//! A machine that refuses to create threads. A command either works, or reports what was refused and how to raise the
//! limit.
#![cfg(target_os = "linux")]

mod plimsoll;

use plimsoll_testkit::ports;
use plimsoll_testkit::program::{Ended, Program};

/// Runs the program as a user with this limit of threads. The limit does not apply to root, so root switches to a user
/// that owns nothing else. That user may not have access to the program's folder, so it runs the open file.
fn limited(threads: u32, arguments: &str, input: &str) -> Ended {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    let line = format!(
        "exec 3<{program}; user=; \
         test $(id -u) = 0 && user='setpriv --reuid=54321 --regid=54321 --clear-groups --inh-caps=-all'; \
         exec $user prlimit --nproc={threads} /proc/self/fd/3 {arguments}"
    );
    Program::at("sh")
        .args(["-c", &line])
        .env("HOME", "/proc/nonexistent")
        .input(input)
        .run()
}

/// Describes what is wrong with how a command ended that should have done nothing, if anything.
fn fault(ended: &Ended) -> Option<String> {
    let is_explained = ["error", "thread", "ulimit -u"]
        .iter()
        .all(|word| ended.stderr.contains(word));
    // Only the client can be the cause.
    let is_blamed = !ended.stdout.contains("server");
    (ended.status != Some(255) || !is_explained || !is_blamed).then(|| format!("{ended:?}"))
}

#[test]
fn refused_threads_are_explained_with_the_status_of_a_failed_run() {
    let address = ports::closed();
    let target = format!("GET http://{address}/\n");
    let mut faults = Vec::new();
    for (command, input) in [
        (format!("http --threads 4 -c 4 -n 8 http://{address}/"), ""),
        (
            "attack --json --rate 20 --duration 200ms".to_owned(),
            target.as_str(),
        ),
        (
            "run --threads 2 -u 2 -i 4 -".to_owned(),
            "export default function () {}",
        ),
    ] {
        let (mut refused, mut worked) = (0, 0);
        for threads in 1..=12 {
            let ended = limited(threads, &command, input);
            // A run with fewer threads would generate a smaller load than requested.
            if matches!(ended.status, Some(0 | 1)) {
                worked += 1;
                continue;
            }
            refused += 1;
            faults.extend(fault(&ended).map(|fault| format!("{command}, {threads}: {fault}")));
        }
        // At least the main thread, the workers and a thread that runs the test are needed.
        assert!(refused >= 3, "{command}: {refused} refused");
        // If the test does not run as root, other programs of the user also count.
        let is_root = rustix::process::getuid().is_root();
        assert!(worked > 0 || !is_root, "{command}: {worked} worked");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
