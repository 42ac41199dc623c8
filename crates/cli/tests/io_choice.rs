//! `--io` and `PLIMSOLL_IO`: the kernel interface for plain TCP.
#![cfg(target_os = "linux")]

mod plimsoll;

use plimsoll::plimsoll;
use plimsoll_testkit::cases::suite::Server;
use plimsoll_testkit::logged_server::{Behavior, LoggedServer};
use plimsoll_testkit::program::{Ended, Program};

/// Runs its arguments as a program on a kernel without io_uring. A seccomp filter makes `io_uring_setup` (425 on every
/// architecture) fail with ENOSYS.
const WITHOUT_URING: &str = "
import ctypes, os, struct, sys
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ENOSYS = 0x7fff0000, 0x00050026
code = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, 425), (RETURN, 0, 0, ENOSYS), (RETURN, 0, 0, ALLOW)]
filter = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *line) for line in code))
program = struct.pack('HxxxxxxQ', len(code), ctypes.addressof(filter))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0, 'no_new_privs'
assert libc.prctl(22, 2, program, 0, 0) == 0, 'seccomp'
os.execv(sys.argv[1], sys.argv[1:])
";

fn without_uring(arguments: &[&str]) -> Program {
    Program::at("python3")
        .args(["-c", WITHOUT_URING, env!("CARGO_BIN_EXE_plimsoll")])
        .args(arguments)
        .env("HOME", "/proc/nonexistent")
}

fn commands(url: &str) -> Vec<Vec<&str>> {
    vec![
        vec!["http", "-q", "-n", "20", "-c", "2", url],
        vec!["run", "-q", "-i", "3", "-"],
        vec!["attack", "-q", "-duration=200ms", "-json"],
    ]
}

fn script(url: &str) -> String {
    format!(
        "import http from 'k6/http';
         export default function () {{
            if (http.get('{url}').status !== 200) throw new Error('no response');
         }}"
    )
}

/// Runs each load command against one server.
fn run_all(add: &[&str], environment: &[(&str, &str)], is_without_uring: bool) -> Vec<Ended> {
    let server = Server::start().unwrap();
    let mut variables = server.addresses.variables.iter();
    let (_, base) = variables.find(|(name, _)| name == "BASE").unwrap();
    let url = format!("{base}/get");
    let mut ended = Vec::new();
    for mut command in commands(&url) {
        let input = match command[0] {
            "run" => script(&url),
            _ => format!("GET {url}\n"),
        };
        command.splice(1..1, add.iter().copied());
        let program = match is_without_uring {
            true => without_uring(&command),
            false => plimsoll(&command),
        };
        let set = |program: Program, (name, value): &(&str, &str)| program.env(name, value);
        let program = environment.iter().fold(program, set);
        ended.push(program.input(input).run());
    }
    ended
}

#[test]
fn an_unknown_mode_is_refused_by_flag_and_by_variable() {
    let grpc = plimsoll(&["grpc", "--io", "fast", "127.0.0.1:1", "a.B/C"]).run();
    let by_flag = run_all(&["--io", "fast"], &[], false);
    let by_variable = run_all(&[], &[("PLIMSOLL_IO", "fast")], false);
    for ended in by_flag.iter().chain(&by_variable).chain([&grpc]) {
        assert_ne!(ended.status, Some(0));
        let message = &ended.stderr;
        assert!(message.contains("use auto, epoll or uring"), "{message}");
    }
}

#[test]
fn every_mode_transfers_requests() {
    let is_refused = |ended: &Ended| ended.stderr.contains("io_uring is not available here");
    for mode in ["auto", "epoll", "uring", ""] {
        let by_flag = run_all(&["--io", mode], &[], false);
        let by_variable = run_all(&[], &[("PLIMSOLL_IO", mode)], false);
        for ended in by_flag.iter().chain(&by_variable) {
            // A kernel may not allow io_uring in tests.
            let refused = mode == "uring" && is_refused(ended);
            assert!(ended.status == Some(0) || refused, "{mode}: {ended:?}");
        }
    }
}

#[test]
fn without_io_uring_only_that_mode_is_refused() {
    for mode in ["auto", "epoll"] {
        for ended in run_all(&["--io", mode], &[], true) {
            assert_eq!(ended.status, Some(0), "{mode}: {ended:?}");
        }
    }
    for ended in run_all(&["--io", "uring"], &[], true) {
        assert_eq!(ended.status, Some(104), "{ended:?}");
        let message = &ended.stderr;
        assert!(message.contains("--io uring: io_uring is not"), "{message}");
        assert!(message.contains("Use --io epoll"), "{message}");
    }
}

/// Four users of a WebSocket server receive messages faster than their handlers process them, and four users of another
/// server send requests on the same worker. The second server is healthy, so none of its requests may fail.
#[test]
fn an_unread_flood_does_not_fail_requests_to_another_server() {
    const SCRIPT: &str = "
        import http from 'k6/http';
        import { check, sleep } from 'k6';
        import { WebSocket } from 'k6/websockets';
        const perUser = (exec, iterations) => ({
            executor: 'per-vu-iterations', vus: 4, iterations, maxDuration: '60s', exec,
        });
        export const options = { scenarios: { flooded: perUser('flooded', 1), healthy: perUser('healthy', 20) } };
        export function flooded() {
            const socket = new WebSocket(__ENV.FLOOD);
            const end = Date.now() + 3000;
            socket.onmessage = () => {
                sleep(0.2);
                if (Date.now() > end) socket.close();
            };
        }
        export function healthy() {
            const response = http.get(__ENV.HEALTHY, { timeout: '10s' });
            check(response, { 'has a response': (r) => r.status === 200 });
            sleep(0.1);
        }";
    for mode in ["epoll", "uring"] {
        let (flood, healthy) = (
            LoggedServer::start(Behavior::Flood(64 << 20)).unwrap(),
            LoggedServer::start(Behavior::Prompt).unwrap(),
        );
        let (folder, flags) = (
            tempfile::tempdir().unwrap(),
            ["run", "-q", "--threads", "1"],
        );
        let export = folder.path().join("export.json");
        let ended = plimsoll(&flags)
            .args(["--io", mode, "--summary-export", export.to_str().unwrap()])
            .args(["-e", &format!("FLOOD={}", flood.websocket_url())])
            .args(["-e", &format!("HEALTHY={}", healthy.http_url()), "-"])
            .input(SCRIPT)
            .run();
        if mode == "uring" && ended.stderr.contains("io_uring is not available here") {
            continue;
        }
        assert_eq!(ended.status, Some(0), "{mode}: {ended:?}");
        let export = std::fs::read_to_string(&export).unwrap();
        let export: serde_json::Value = serde_json::from_str(&export).unwrap();
        let checks = &export["metrics"]["checks"];
        assert_eq!(checks["passes"], 80, "{mode}: {export}");
        assert_eq!(checks["fails"], 0, "{mode}: {export}");
        assert_eq!(healthy.settled_log().entries.len(), 80, "{mode}");
    }
}
