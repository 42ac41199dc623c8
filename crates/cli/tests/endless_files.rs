//! Endless files, wherever a command or a script accepts a file. They are refused quickly, with a reason.

mod plimsoll;

use plimsoll::plimsoll;

const ZERO: &str = "/dev/zero";

/// Every flag and argument that accepts a file, with an endless device.
const COMMANDS: &[&[&str]] = &[
    &["run", ZERO],
    &["inspect", ZERO],
    &["archive", "-O", "out.tar", ZERO],
    &["run", "--config", ZERO, "script.js"],
    &["run", "--import-map", ZERO, "script.js"],
    &["http", "-n", "1", "-b", "@/dev/zero", "http://127.0.0.1:9/"],
    &[
        "http",
        "-n",
        "1",
        "--cert",
        ZERO,
        "--key",
        ZERO,
        "https://127.0.0.1:9/",
    ],
    &["attack", "-targets", ZERO, "-duration", "1s"],
    &["attack", "-targets", ZERO, "-lazy", "-duration", "1s"],
    &["attack", "-targets", "targets.txt", "-duration", "1s"],
    &[
        "attack",
        "-targets",
        "list.txt",
        "-body",
        ZERO,
        "-duration",
        "1s",
    ],
    &[
        "attack",
        "-targets",
        "list.txt",
        "-root-certs",
        ZERO,
        "-duration",
        "1s",
    ],
    &[
        "grpc",
        "--plaintext",
        "-n",
        "1",
        "--proto",
        ZERO,
        "127.0.0.1:9",
        "a.B/C",
    ],
    &[
        "grpc",
        "--plaintext",
        "-n",
        "1",
        "--protoset",
        ZERO,
        "127.0.0.1:9",
        "a.B/C",
    ],
    &[
        "grpc",
        "--plaintext",
        "-n",
        "1",
        "--data",
        "@/dev/zero",
        "127.0.0.1:9",
        "a.B/C",
    ],
    &["grpc", "--ca", ZERO, "-n", "1", "127.0.0.1:9", "a.B/C"],
    &["http", "--ca", ZERO, "-n", "1", "https://127.0.0.1:9"],
    &["probe", "--tls", "--ca", ZERO, "127.0.0.1:9"],
    &["new", "new.js", "--template", ZERO],
    &["lab", "plan", ZERO],
    &["audit", ZERO],
    &["compare", ZERO, ZERO],
];

/// Scripts that read the device.
const SCRIPTS: &[&str] = &[
    "open('/dev/zero')",
    "new (require('k6/net/grpc').Client)().load([], '/dev/zero')",
    "new (require('k6/net/grpc').Client)().load(['/dev'], 'zero')",
    "new (require('k6/net/grpc').Client)().loadProtoset('/dev/zero')",
    "import { open } from 'k6/experimental/fs'; await open('/dev/zero')",
];

/// Describes what is wrong with how a command ended, if anything.
fn fault(status: Option<i32>, stderr: &str) -> Option<String> {
    let printed = stderr.contains("/dev/zero") || stderr.contains("zero:");
    // Lists, records and result files have their own limits for the length of lines.
    let limited = ["256 MiB", "KiB", "bytes", "larger than", "longer than"];
    let limited = limited.iter().any(|part| stderr.contains(part));
    let failed = status.is_some_and(|status| status != 0 && status < 128 || status == 255);
    (!failed || !printed || !limited).then(|| format!("status {status:?}\n{stderr}"))
}

#[test]
fn no_command_reads_an_endless_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("script.js", "export default function () {}");
    write("targets.txt", "POST http://127.0.0.1:9/\n@/dev/zero\n");
    write("list.txt", "GET http://127.0.0.1:9/\n");
    let mut faults = Vec::new();
    let mut check = |what: &str, arguments: &[&str], script: &str| {
        let ended = plimsoll(arguments)
            .inside(folder.path())
            .input(script)
            .run();
        if let Some(fault) = fault(ended.status, &ended.stderr) {
            faults.push(format!("{what}: {fault}"));
        }
    };
    for arguments in COMMANDS {
        check(&arguments.join(" "), arguments, "");
    }
    for script in SCRIPTS {
        let whole = format!("{script}; export default function () {{}}");
        check(script, &["run", "--quiet", "-"], &whole);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    assert!(!folder.path().join("new.js").exists());
}
