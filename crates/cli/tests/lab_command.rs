//! `plimsoll lab`: runs, mistakes, and recovery after it was killed.
#![cfg(target_os = "linux")]

mod tiny_lab;

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tiny_lab::{Lab, SCRIPT, TINY, one_cell};

#[test]
fn a_tiny_lab_runs_and_has_conclusions() {
    let lab = Lab::new(TINY);
    let result = lab.run_well();
    let cells = result["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 4);
    for cell in cells {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        let repeat = &cell["repeats"][0];
        assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
        assert_eq!(repeat["failed"], 0);
        assert_eq!(repeat["used"][0]["name"], "pages");
        let seconds = repeat["seconds"].as_array().expect("seconds");
        let counted: u64 = seconds
            .iter()
            .filter_map(|second| second["requests"].as_u64())
            .sum();
        assert_eq!(
            repeat["requests"].as_u64(),
            Some(counted),
            "no warm-up was removed"
        );
        // On a busy machine, the generator may doubt its figures. In that case they are missing.
        let figures = cell["figures"].as_array().expect("figures");
        assert_eq!(figures.is_empty(), cell["verdict"] == "invalid", "{cell:#}");
        assert!(
            cell["sanity"].as_str().expect("sanity").contains("one "),
            "{cell:#}"
        );
    }
    // A single short run has no interval, but is far from the limit.
    for objective in result["objectives"].as_array().expect("objectives") {
        assert_eq!(objective["verdict"], "kept", "{objective:#}");
        assert_eq!(objective["interval_from"], "one-run", "{objective:#}");
    }
    let again = lab.run(&["report", lab.the_run().to_str().expect("text")]);
    assert_eq!(again.status.code(), Some(0));
    assert!(
        lab.result() == result,
        "repeating the conclusions does not change them"
    );
    let list = lab.run(&["list"]);
    assert!(String::from_utf8_lossy(&list.stdout).contains("4 cells"));

    // The page does not depend on the directory from which it is rendered, and does not contain it.
    let files = ["result.json", "report.md", "report.html"];
    let read = || files.map(|name| fs::read(lab.the_run().join(name)).expect(name));
    let before = read();
    let elsewhere = tempfile::tempdir().expect("a directory");
    let rendered = lab
        .command(&["report", lab.the_run().to_str().expect("text")])
        .current_dir(elsewhere.path())
        .output()
        .expect("the program runs");
    assert_eq!(rendered.status.code(), Some(0));
    let here = lab.directory.path().canonicalize().expect("a path");
    for ((name, before), after) in files.iter().zip(before).zip(read()) {
        assert!(before == after, "{name} depends on the working directory");
        let text = String::from_utf8_lossy(&after).into_owned();
        assert!(!text.contains(here.to_str().expect("text")), "{name}");
    }
    assert!(
        lab.the_run()
            .join("cells")
            .read_dir()
            .is_ok_and(|mut files| {
                files.any(|file| {
                    file.is_ok_and(|file| file.path().extension().is_some_and(|end| end == "md"))
                })
            })
    );
    a_result_alone_gives_the_same_report(&lab);
    the_path_of_the_program_that_ran_a_lab_is_not_shown(&lab);
}

fn a_result_alone_gives_the_same_report(lab: &Lab) {
    let published = tempfile::tempdir().expect("a directory");
    let at = |name: &str| published.path().join(name);
    let file = |name: &str| fs::read(lab.the_run().join(name)).expect(name);
    fs::write(at("result.json"), file("result.json")).expect("a file");
    let rendered = lab.run(&["report", published.path().to_str().expect("text")]);
    assert_eq!(rendered.status.code(), Some(0));
    for name in ["result.json", "report.md", "report.html"] {
        assert!(fs::read(at(name)).expect(name) == file(name), "{name}");
    }
}

fn the_path_of_the_program_that_ran_a_lab_is_not_shown(lab: &Lab) {
    let program = env!("CARGO_BIN_EXE_plimsoll");
    for cell in 1..=4 {
        let facts = lab.the_run().join(format!("cells/{cell}/1/facts.json"));
        let text = fs::read_to_string(&facts).expect("facts");
        assert!(text.contains(program), "no command of the program");
        fs::write(&facts, text.replace(program, "/opt/older/plimsoll")).expect("a file");
    }
    let run = lab.the_run();
    lab.run(&["report", run.to_str().expect("text")]);
    for name in ["result.json", "report.md", "report.html"] {
        let text = fs::read_to_string(run.join(name)).expect(name);
        assert!(!text.contains("/opt/older"), "{name}");
    }
}

#[test]
fn fixed_work_reports_makespan_and_payload() {
    let users = "users = \"{users}\"\nwarmup = \"0s\"\nduration = \"1s\"\n";
    assert!(TINY.contains(users));
    let lab = TINY.replace(users, "work = { workers = \"{users}\", loops = 50 }\n");
    let lab = lab.replace("how = [\"script\", \"http\"]", "how = [\"http\"]");
    let lab = lab.replace(
        "script = \"get.js\"\nenvironment = { BASE = \"{pages.url}/\" }\n",
        "",
    );
    let result = Lab::new(&lab).run_well();
    for (cell, users) in result["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .zip([1.0, 2.0])
    {
        let extra = &cell["repeats"][0]["extra"];
        let value = |name: &str| extra[name].as_f64().unwrap_or(f64::NAN);
        // Fifty responses of eleven bytes for each user.
        let megabytes = users * 50.0 * 11.0 / 1e6 / (value("makespan") / 1e3);
        assert!(
            (value("payload_megabytes_per_second") / megabytes - 1.0).abs() < 1e-6,
            "{cell:#}"
        );
        assert!((value("payload_megabits_per_second") / megabytes / 8.0 - 1.0).abs() < 1e-6);
        // On a busy machine, the generator may doubt its figures. In that case they are missing.
        for figure in cell["figures"].as_array().expect("figures") {
            match figure["name"].as_str() {
                Some("payload_megabits_per_second") => assert_eq!(figure["unit"], "Mbit/s"),
                Some("payload_megabytes_per_second") => assert_eq!(figure["unit"], "MB/s"),
                _ => {}
            }
        }
    }
}

/// Changes the tiny lab, runs it, and returns its messages. No process or file may remain.
fn mistake(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    let lab = Lab::new(&TINY.replace(from, to));
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    lab.assert_nothing_is_left();
    stderr
}

#[test]
fn the_sanity_request_is_the_request_of_the_load() {
    let put = r#"http = { url = "{pages.url}/", method = "PUT", body = "x" }"#;
    let lab = Lab::new(
        &TINY
            .replace(r#"http = { url = "{pages.url}/" }"#, put)
            .replace("\"/ok\" = true", "\"/ok\" = \"PUT\"")
            .replace("how = [\"script\", \"http\"]", "how = [\"http\"]")
            .replace("[1, 2]", "[1]"),
    );
    let cell = lab.cell();
    let sanity = cell["sanity"].as_str().expect("what was checked");
    assert_eq!(sanity, "one request; passed: /ok = PUT; status 200");
}

#[test]
fn each_mistake_results_in_one_message() {
    let printed = mistake("pause =", "puase =");
    assert!(
        printed.contains("lab.toml:4: unknown key \"puase\" in [lab]; did you mean \"pause\"?"),
        "{printed}"
    );
    let printed = mistake("users = [1, 2]", "users = []");
    assert!(
        printed.contains("lab.toml:8: the axis \"users\" is empty"),
        "{printed}"
    );
    let printed = mistake("\"SYSTEM\"", "\"no-such-program --x\"");
    assert!(
        printed.contains("lab.toml:12: the program no-such-program is missing: install it"),
        "{printed}"
    );

    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let printed = mistake(
        "name = \"pages\"",
        &format!("name = \"pages\"\nport = {port}"),
    );
    assert!(
        printed.contains(&format!("lab.toml:12: pages cannot use port {port}")),
        "{printed}"
    );
    drop(taken);

    let printed = mistake(
        "[[system]]",
        &format!(
            "[[service]]\nname = \"db\"\nkind = \"postgres\"\nurl = \"postgres://me@127.0.0.1:{port}/x\"\n\n[[system]]"
        ),
    );
    assert!(
        printed.contains("lab.toml:13: db does not accept connections: 127.0.0.1:"),
        "{printed}"
    );
    assert!(printed.contains("start it, or remove url"), "{printed}");

    let printed = mistake(
        "[[load]]\nscript",
        "[seed]\ncommand = \"echo '{\\\"written\\\": 7}'\"\nexpect = { written = 8 }\n\n[[load]]\nscript",
    );
    assert!(
        printed.contains("lab.toml:17: the seed seed is incomplete: written should be 8, but is 7"),
        "{printed}"
    );

    let lab = Lab::new(
        &TINY
            .replace("\"/ok\" = true", "\"/ok\" = false")
            .replace("how = [\"script\", \"http\"]", "how = [\"http\"]")
            .replace("[1, 2]", "[1]"),
    );
    let output = lab.run(&["run", "lab.toml"]);
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert_eq!(printed.matches("error: ").count(), 1, "{printed}");
    assert!(
        printed.contains("the check /ok = false failed (responses: 200): "),
        "{printed}"
    );
    assert!(
        printed.contains(r#"the response was 200 over HTTP/1.1: "{\"ok\":true}""#),
        "{printed}"
    );
    assert!(
        printed.contains("lab.toml:27: the sanity request of how=http users=1 failed"),
        "{printed}"
    );
    assert_eq!(lab.result()["cells"][0]["state"]["state"], "insane");
    assert_eq!(lab.result()["cells"][0]["figures"], serde_json::json!([]));
    lab.assert_nothing_is_left();
}

const NO_SANITY: &str = "[sanity]\nexpect = { json = { \"/ok\" = true } }\n";

#[test]
fn a_search_is_the_result_of_its_cell() {
    let search = "command = \"plimsoll find --json --objective p95<OBJECTIVE --start START --most 50 \
        --trial 1s --soak 1s --repeats 1 --trials 6 -- http -m GET {pages.url}/\"";
    let text = one_cell()
        .replace("script = \"get.js\"", search)
        .replace("environment = { BASE = \"{pages.url}/\" }\n", "")
        .replace(
            "[[load]]\nwhen = { how = \"http\" }\nhttp = { url = \"{pages.url}/\" }\n",
            "",
        )
        .replace(NO_SANITY, "");

    let cell = Lab::new(&text.replace("OBJECTIVE", "20s").replace("START", "40")).cell();
    let limit = &cell["limit"];
    assert_eq!(limit["objective"], "p95<20s");
    assert_eq!(
        (&limit["limit"], &limit["unit"]),
        (&20_000.0.into(), &"ms".into())
    );
    let trials = limit["trials"].as_array().expect("trials");
    assert!(!trials.is_empty(), "{cell:#}");
    // On a very busy machine, it is possible that no rate meets the objective.
    if limit["kept"].is_number() && cell["verdict"] != "invalid" {
        assert_eq!(cell["figures"][0]["name"], "limit", "{cell:#}");
        assert_eq!(cell["figures"][0]["value"], limit["kept"]);
    }
    let raw = cell["repeats"][0]["raw"].as_str().expect("text");
    assert!(raw.contains("plimsoll/find-result/1"), "{raw}");

    // A search may find that no rate meets the objective.
    let cell = Lab::new(&text.replace("OBJECTIVE", "1ns").replace("START", "1")).cell();
    assert_eq!(cell["limit"]["kept"], Value::Null);
}

#[test]
fn a_cell_whose_checks_failed_has_no_figures() {
    // The first response, the only one that the sanity request receives, is correct.
    let script = "import http from 'k6/http';\nimport { check } from 'k6';\n\
        export default function () {\n  const r = http.get(__ENV.BASE);\n  \
        check(r, { 'is first': (r) => r.status === 200 && __ITER === 0 });\n}\n";
    let lab = Lab::new(&one_cell());
    fs::write(lab.directory.path().join("get.js"), script).expect("a file");
    let cell = lab.cell();
    assert_eq!(cell["verdict"], "invalid", "{cell:#}");
    assert_eq!(cell["figures"], serde_json::json!([]));
    let findings = cell["findings"].as_array().expect("findings");
    let found = findings
        .iter()
        .find(|finding| finding["rule"] == "failed-checks")
        .expect("it is found");
    let text = found["text"].as_str().expect("text");
    assert!(text.contains("(is first)"), "{text}");
}

#[test]
fn target_lists_are_templates_and_cpu_time_can_exclude_processes() {
    let text = one_cell()
        .replace(
            "script = \"get.js\"",
            "targets = \"targets.txt\"\nrate = 20",
        )
        .replace("environment = { BASE = \"{pages.url}/\" }\n", "")
        .replace("users = \"{users}\"\n", "")
        .replace(NO_SANITY, "")
        .replace(
            "[[system]]",
            "[[service]]\nname = \"behind\"\ncounts = false\ncommand = \"SYSTEM\"\n\
             environment = { LAB_TEST_PORT = \"{port}\" }\n\n[[system]]",
        );
    let lab = Lab::new(&text);
    let path = lab.directory.path().join("targets.txt");
    fs::write(&path, "# one\nGET {pages.url}/a\n\nGET {behind.url}/b\n").expect("a file");
    let cell = lab.cell();
    let repeat = &cell["repeats"][0];
    assert_eq!(repeat["failed"], 0, "{repeat:#}");
    assert!(repeat["requests"].as_u64() > Some(0), "{repeat:#}");
    let used = repeat["used"].as_array().expect("processes");
    let apart: Vec<(&str, bool)> = used
        .iter()
        .map(|one| (one["name"].as_str().expect("a name"), one["apart"] == true))
        .collect();
    assert_eq!(
        apart,
        [("behind", true), ("pages", false), ("generator", true)]
    );
    assert!(used[2]["network_bytes"][0].as_u64() > Some(0), "{used:#?}");
    let link = &cell["link"];
    assert_eq!(
        (&link["name"], &link["by"]),
        (&"near".into(), &"loopback".into())
    );
    assert!(
        link["measured_megabits_per_second"].as_f64() > Some(0.0),
        "{link:#}"
    );

    fs::write(&path, "GET {page.url}/a\n").expect("a file");
    let output = lab.run(&["run", "lab.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("targets.txt:1: unknown variable {page.url}"),
        "{stderr}"
    );
}

#[test]
fn a_changed_script_is_not_mixed_with_old_results() {
    let lab = Lab::new(&one_cell());
    lab.cell();
    let run = lab.the_run();
    let run = run.to_str().expect("text");
    assert_eq!(lab.run(&["resume", run]).status.code(), Some(0));
    let script = lab.directory.path().join("get.js");
    fs::write(&script, format!("{SCRIPT}// other\n")).expect("a file");
    let output = lab.run(&["resume", run]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0));
    assert!(
        stderr.contains("get.js has changed since this run started"),
        "{stderr}"
    );
    assert!(
        stderr.contains("start a new run with plimsoll lab run"),
        "{stderr}"
    );
    // The existing measurements can still be evaluated.
    assert_eq!(lab.run(&["report", run]).status.code(), Some(0));
    fs::write(&script, SCRIPT).expect("a file");
    assert_eq!(lab.run(&["resume", run]).status.code(), Some(0));
}

/// `resume --disturbed` repeats a run if its last attempt was disturbed, and only then.
#[test]
fn a_disturbed_run_is_measured_again_on_request() {
    let lab = Lab::new(&one_cell());
    lab.cell();
    let run = lab.the_run();
    let path = run.to_str().expect("text");
    let resume = |flags: &[&str]| {
        let output = lab.run(&[&["resume", path], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    };
    let facts = run.join("cells/1/1/facts.json");
    let read = || -> Value {
        serde_json::from_slice(&fs::read(&facts).expect("the facts of the run")).expect("JSON")
    };
    let mut disturbed = read();
    disturbed["others"] = serde_json::json!({ "share": 0.9, "most": "compiler" });
    fs::write(&facts, disturbed.to_string()).expect("a file");
    resume(&[]);
    assert_eq!(read(), disturbed);
    resume(&["--disturbed"]);
    let again = read();
    let reasons = again["disturbed"].as_array().expect("reasons");
    let text = "other programs on this machine used 90% of a processor, compiler most of it";
    assert!(
        reasons
            .iter()
            .any(|reason| reason.as_str().is_some_and(|reason| reason.contains(text))),
        "{again}"
    );
    let result = lab.result();
    assert_eq!(result["cells"][0]["state"]["state"], "measured");
    assert!(run.join("cells/1").join("1.disturbed-1").is_dir());
}

/// A limit on the size of files makes writes fail as on a full disk, without filling a disk.
#[test]
fn results_that_cannot_be_written_end_the_lab_and_lose_no_measurements() {
    let lab = TINY.replace("duration = \"1s\"", "duration = \"300ms\"");
    let lab = Lab::new(&lab.replace("[\"script\", \"http\"]", "[\"http\"]"));
    let measured = lab.run_well();
    let run = lab.the_run();
    let read = |name: &str| fs::read_to_string(run.join(name)).expect("it is kept");
    let files = ["result.json", "report.md", "cells/1/1/facts.json"];
    let before = files.map(read);
    fs::remove_file(run.join("cells/2/1/facts.json")).expect("the second cell is measured");

    let limited = |action: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"])
            .arg(env!("CARGO_BIN_EXE_plimsoll"))
            .args(["lab", action])
            .arg(&run)
            .current_dir(lab.directory.path())
            .env("TMPDIR", lab.tmp());
        let output = shell.output().expect("the shell runs");
        assert_eq!(output.status.code(), Some(255), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let messages = limited("resume");
    for part in [
        "File too large",
        "The lab stops here",
        "plimsoll lab resume",
    ] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    let messages = limited("report");
    for part in ["result.json: File too large", "plimsoll lab report"] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    assert!(files.map(read) == before, "existing files have changed");
    lab.assert_nothing_is_left();

    let resumed = lab.run(&["resume", run.to_str().expect("text")]);
    assert_eq!(resumed.status.code(), Some(0), "{resumed:?}");
    let result = lab.result();
    assert_eq!(result["cells"][1]["state"]["state"], "measured");
    let repeats = |result: &Value| result["cells"][0]["repeats"].clone();
    assert_eq!(repeats(&result), repeats(&measured));
}

/// A pseudo-random number.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn a_lab_killed_at_any_time_leaves_nothing_and_resumes() {
    let since = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    let mut state = (since.as_nanos() as u64) | 1;
    let seed = format!("seed {state}");
    let text = TINY
        .replace("duration = \"1s\"", "duration = \"300ms\"")
        .replace("restarts = 1", "restarts = 1\nrepeats = 2")
        // A script runs for at least a second.
        .replace("[\"script\", \"http\"]", "[\"http\"]");
    let lab = Lab::new(&text);
    let mut first = true;
    for round in 0..20 {
        let run = (!first).then(|| lab.the_run());
        let arguments: Vec<&str> = match &run {
            None => vec!["run", "lab.toml"],
            Some(run) => vec!["resume", run.to_str().expect("text")],
        };
        let mut child = lab
            .command(&arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        thread::sleep(Duration::from_millis(random(&mut state) % 700));
        // Either the process that the user started, or its worker.
        let victim = match round % 2 {
            0 => Some(child.id()),
            _ => child_of(child.id()),
        };
        if let Some(victim) = victim {
            let _ = Command::new("kill")
                .args(["-9", &victim.to_string()])
                .status();
        }
        let _ = child.wait();
        lab.assert_nothing_is_left();
        first = !lab.directory.path().join("results").is_dir()
            || fs::read_dir(lab.directory.path().join("results"))
                .expect("results")
                .count()
                == 0
            || !lab.the_run().join("run.json").is_file();
        if first {
            let _ = fs::remove_dir_all(lab.directory.path().join("results"));
        }
    }
    let last = match first {
        true => lab.run(&["run", "lab.toml"]),
        false => lab.run(&["resume", lab.the_run().to_str().expect("text")]),
    };
    assert_eq!(
        last.status.code(),
        Some(0),
        "{seed}: {}",
        String::from_utf8_lossy(&last.stderr)
    );
    let result = lab.result();
    for cell in result["cells"].as_array().expect("cells") {
        assert_eq!(cell["state"]["state"], "measured", "{cell:#}");
        let numbers: Vec<_> = cell["repeats"]
            .as_array()
            .expect("repeats")
            .iter()
            .map(|one| one["number"].as_u64())
            .collect();
        assert_eq!(numbers, [Some(1), Some(2)]);
    }
    lab.assert_nothing_is_left();
}

/// The worker process of a lab.
fn child_of(parent: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}
