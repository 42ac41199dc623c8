//! Secrets in URLs, headers and messages. By default, all output hides them.

mod plimsoll;

use std::fs;

use plimsoll::plimsoll;

/// Nothing listens there, so nothing is sent.
const URL: &str = "http://kim:hunter2@127.0.0.1:1/a?api_key=sesame&pwd=abracadabra&page=3";
const SECRETS: [&str; 3] = ["hunter2", "sesame", "abracadabra"];

#[track_caller]
fn hides(what: &str, text: &str) {
    for secret in SECRETS {
        assert!(!text.contains(secret), "{what} has {secret}: {text}");
    }
    assert!(text.contains("***"), "{what} hides nothing: {text}");
    assert!(text.contains("page=3"), "{what} hides too much: {text}");
}

#[test]
fn secrets_in_titles_are_hidden_by_default() {
    let ended = plimsoll(&["http", "-n", "1", URL]).run();
    hides("http", &ended.stdout);
    let ended = plimsoll(&["http", "-n", "1", "--show-secrets", URL]).run();
    assert!(ended.stdout.contains("sesame"), "{}", ended.stdout);
    let ended = plimsoll(&["http", "-n", "1", URL])
        .env("PLIMSOLL_SHOW_SECRETS", "true")
        .run();
    assert!(ended.stdout.contains("sesame"), "{}", ended.stdout);
}

#[test]
fn results_of_an_attack_hide_secrets() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t"), format!("GET {URL}\n")).unwrap();
    let attack = ["attack", "-targets=t", "-rate=20", "-duration=100ms"];
    let run = |flags: &[&str]| {
        plimsoll(&[&attack[..], flags].concat())
            .inside(folder.path())
            .run()
    };
    let ended = run(&["-output=results.bin"]);
    hides("the title", &ended.stdout);
    let encode = ["vegeta", "encode", "-to=json", "results.bin"];
    let results = plimsoll(&encode).inside(folder.path()).run();
    hides("the results", &results.stdout);
    run(&["-output=results.bin", "--show-secrets"]);
    let results = plimsoll(&encode).inside(folder.path()).run();
    assert!(results.stdout.contains("sesame"), "{}", results.stdout);
}

#[test]
fn samples_and_logs_of_a_script_hide_secrets_but_its_console_file_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "import http from 'k6/http';\n\
         export default function () {{\n\
           http.get('{URL}');\n\
           console.log('went to {URL}');\n\
           console.log('{{\"user\":\"page=3\",\"pin\":\"sesame\"}}');\n\
         }}\n"
    );
    fs::write(folder.path().join("script.js"), script).unwrap();
    let run = |flags: &[&str]| {
        let arguments = [&["run", "--quiet", "script.js"][..], flags].concat();
        plimsoll(&arguments).inside(folder.path()).run()
    };
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let ended = run(&["--out", "json=s.json", "--out", "csv=s.csv"]);
    hides("the log", &ended.stderr);
    hides("JSON samples", &read("s.json"));
    hides("CSV samples", &read("s.csv"));
    // A file that the script itself writes is the script's own data.
    run(&["--console-output", "console.log"]);
    assert!(read("console.log").contains("sesame"));
    let ended = run(&["--show-secrets", "--out", "json=shown.json"]);
    assert!(ended.stderr.contains("hunter2"), "{}", ended.stderr);
    assert!(read("shown.json").contains("sesame"));
}

#[test]
fn complaints_hide_them() {
    let ended = plimsoll(&["http", "-H", "X-Token=hunter2", "http://h/"]).run();
    assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
    assert!(ended.stderr.contains("X-Token=***"), "{}", ended.stderr);
    let url = "http://user:hunter2@h/?token=hunter2";
    for arguments in [
        ["http", "http://h/", url],
        ["link", "--to", url],
        ["probe", url, "--json"],
    ] {
        let ended = plimsoll(&arguments).run();
        assert_eq!(ended.status, Some(104), "{}", ended.stderr);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        let shown = plimsoll(&[&arguments[..], &["--show-secrets"][..]].concat()).run();
        assert!(shown.stderr.contains("hunter2"), "{}", shown.stderr);
    }
}
