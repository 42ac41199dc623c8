//! Common mistakes. Each results in a message with its location and a fix, and in k6's exit status.

mod plimsoll;

use std::fmt::Write;
use std::fs;

use plimsoll::{plimsoll, snapshot};
use plimsoll_testkit::figures::Filters;

/// Runs each script as `script.js` in its own folder, and concatenates the messages.
fn messages_about_scripts(scripts: &[(&str, &str)]) -> String {
    let mut messages = String::new();
    for (what, script) in scripts {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("script.js"), script).unwrap();
        let ended = plimsoll(&["run", "--quiet", "--summary-mode=disabled", "script.js"])
            .inside(folder.path())
            .run();
        assert_eq!(ended.stdout, "", "{what}: messages belong on stderr");
        // The folder for temporary files may be a symbolic link.
        let place = fs::canonicalize(folder.path()).unwrap();
        let filters = Filters::none()
            .with(&regex_of(&place.to_string_lossy()), "<folder>")
            .with(&regex_of(&folder.path().to_string_lossy()), "<folder>")
            .with(r#"time="[^"]*" "#, "");
        let stderr = filters.apply(&ended.stderr);
        writeln!(
            messages,
            "# {what}\n{stderr}exit status: {:?}\n",
            ended.status
        )
        .unwrap();
    }
    messages
}

/// A pattern that matches exactly `text`.
fn regex_of(text: &str) -> String {
    text.replace('.', r"\.")
}

#[test]
fn mistakes_in_scripts() {
    let messages = messages_about_scripts(&[
        (
            "a syntax error",
            "export default function () {\n  const a = ;\n}\n",
        ),
        (
            "a throw in the init code",
            "throw new Error('too early');\nexport default function () {}\n",
        ),
        (
            "a name that is not there",
            "export default function () {}\nfrobnicate();\n",
        ),
        ("no function", "export const number = 42;\n"),
        (
            "a module that is not there",
            "import './beside.js';\nexport default function () {}\n",
        ),
        (
            "a module of k6 that is not there",
            "import nope from 'k6/nope';\nexport default function () {}\n",
        ),
        (
            "a request in the init code",
            "import http from 'k6/http';\nhttp.get('http://127.0.0.1/');\nexport default function () {}\n",
        ),
        (
            "a file that is not there",
            "open('./data.csv');\nexport default function () {}\n",
        ),
        (
            "a metric in the wrong place",
            "import { Counter } from 'k6/metrics';\nexport default function () { new Counter('late'); }\n",
        ),
        (
            "a throw in setup",
            "export function setup() { throw new Error('not ready'); }\nexport default function () {}\n",
        ),
        (
            "a throw in teardown",
            "export function teardown() { throw new Error('not done'); }\nexport default function () {}\n",
        ),
        (
            "a throw in an iteration",
            "export default function () { throw new Error('unlucky'); }\n",
        ),
        (
            "an abort",
            "import exec from 'k6/execution';\nexport default function () { exec.test.abort('enough'); }\n",
        ),
        (
            "a crossed threshold",
            "export const options = { thresholds: { iterations: ['count>1'] } };\nexport default function () {}\n",
        ),
    ]);
    snapshot("mistakes_in_scripts", &messages);
}

#[test]
fn mistakes_in_options() {
    let with = |options: &str| {
        format!("export const options = {options};\nexport default function () {{}}\n")
    };
    let scripts: Vec<(&str, String)> = [
        ("{ iteration: 5 }"),
        ("{ vus: 'many' }"),
        ("{ duration: '1 minute' }"),
        ("{ vus: -1, iterations: 0 }"),
        ("{ stages: [{ duration: '1s' }] }"),
        ("{ scenarios: { a: { executor: 'constant-vus', duration: '1s', vu: 1 } } }"),
        ("{ scenarios: { a: { executor: 'constant-vu', duration: '1s' } } }"),
        ("{ scenarios: { a: { executor: 'shared-iterations', exec: 'defalt' } } }"),
        ("{ thresholds: { http_req_durations: ['p(95)<1'] } }"),
        ("{ thresholds: { http_req_duration: ['p95<1'] } }"),
        ("{ executionSegment: '3/2' }"),
        ("{ tlsVersion: 'tls2' }"),
        ("{ hosts: { 'a.b': 'not an address' } }"),
    ]
    .map(|options| (options, with(options)))
    .to_vec();
    let scripts: Vec<(&str, &str)> = scripts
        .iter()
        .map(|(what, script)| (*what, script.as_str()))
        .collect();
    snapshot("mistakes_in_options", &messages_about_scripts(&scripts));
}

#[test]
fn mistakes_on_the_command_line() {
    let mut messages = String::new();
    for arguments in [
        &["rum", "script.js"][..],
        &["run"],
        &["run", "absent.js"],
        &["run", "--vuss", "3", "absent.js"],
        &["run", "--duration", "soon", "absent.js"],
        &["http"],
        &["http", "ftp://127.0.0.1/"],
        &["http", "127.0.0.1:70000"],
        &["http", "http://127.0.0.1/", "--conections", "3"],
        &["http", "http://127.0.0.1/", "-c", "0"],
        &["http", "http://127.0.0.1/", "-d", "soon"],
        &["http", "http://127.0.0.1/", "-d", "5"],
        &["http", "http://127.0.0.1/", "--timeout", "5"],
        &["http", "http://127.0.0.1/", "--warm-up", "5"],
        &["http", "http://127.0.0.1/", "-d", "2s", "--warm-up", "2s"],
        &["http", "http://127.0.0.1/", "-r", "10,5"],
        &["attack", "-duration", "5"],
        &["attack", "-timeout=5"],
        &["attack", "-rate=fast"],
        &["attack", "-raet=5"],
        &["grpc", "--plaintext", "127.0.0.1:1", "a.B/C", "-d", "5"],
        &["grpc", "--plaintext", "127.0.0.1:1", "a.B/C", "-d", "{}"],
        &[
            "http",
            "http://127.0.0.1/",
            "--workers",
            "4",
            "--loops",
            "5",
        ],
        &["http", "http://127.0.0.1/", "-u", "5", "-c", "2", "--h2c"],
        &["http", "http://127.0.0.1/", "-u", "4", "-c", "2"],
        &[
            "grpc",
            "--plaintext",
            "127.0.0.1:1",
            "a.B/C",
            "--timeout",
            "5",
        ],
        &["run", "-d", "5", "absent.js"],
        &[
            "find",
            "--trial",
            "5",
            "--objective",
            "p95<1s",
            "--",
            "http",
            "h",
        ],
        &["probe", "--timeout", "5", "127.0.0.1:1"],
        &["link", "--round-trip", "5"],
        &["audit", "--nope"],
        &["vegeta", "report", "-nope"],
        &["compare", "--nope"],
        &["http", "http://127.0.0.1/", "--h1", "--h2"],
        &["http", "http://127.0.0.1/", "-H", "no colon"],
        &["http", "http://127.0.0.1/", "-b", "@/nonexistent/body"],
        &[
            "http",
            "https://127.0.0.1/",
            "--cert",
            "/nonexistent/a",
            "--key",
            "/nonexistent/b",
        ],
        &["inspect", "absent.js"],
    ] {
        let ended = plimsoll(arguments).run();
        assert_eq!(ended.stdout, "", "{arguments:?}");
        let stderr = Filters::none()
            .with(r#"time="[^"]*" "#, "")
            .apply(&ended.stderr);
        writeln!(
            messages,
            "$ plimsoll {}\n{stderr}exit status: {:?}\n",
            arguments.join(" "),
            ended.status
        )
        .unwrap();
    }
    snapshot("mistakes_on_the_command_line", &messages);
}

#[test]
fn a_script_that_nests_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let depth = 20_000;
    for (name, text) in [
        (
            "deep.js",
            format!("const a = {}1{};", "(".repeat(depth), ")".repeat(depth)),
        ),
        (
            "deep.ts",
            format!(
                "const a: any = {}1{};",
                "[".repeat(depth),
                "]".repeat(depth)
            ),
        ),
        (
            "deep.json.js",
            "JSON.parse('['.repeat(1000000));".to_owned(),
        ),
        (
            "deep.regex.js",
            "new RegExp('('.repeat(100000));".to_owned(),
        ),
    ] {
        fs::write(
            folder.path().join(name),
            text + "\nexport default function () {}\n",
        )
        .unwrap();
        let ended = plimsoll(&["run", "--quiet", name])
            .inside(folder.path())
            .run();
        // The program has an exit status, so no signal has killed it.
        assert_eq!(ended.status, Some(107), "{name}: {}", ended.stderr);
    }
}
