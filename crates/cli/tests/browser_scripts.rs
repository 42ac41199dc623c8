//! `k6/browser` with Debian's Chromium and pages from a test server.

#[path = "browser_scripts/pages.rs"]
mod pages;
mod plimsoll;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll::RUN;
use plimsoll_testkit::chromium::chromium;
use plimsoll_testkit::program::{Ended, Program, Signal};
use serde_json::Value;
use tempfile::TempDir;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/browser_scripts")
        .join(name)
}

/// Runs a script in `folder`, which is also the folder for temporary files.
fn program(folder: &TempDir) -> Program {
    Program::at(env!("CARGO_BIN_EXE_plimsoll"))
        .args(RUN)
        .args(["-e", &format!("PAGES={}", pages::serve())])
        .args(["-e", &format!("CLOSED={}", pages::closed())])
        .args(["-e", &format!("FOLDER={}", folder.path().display())])
        .env("K6_BROWSER_EXECUTABLE_PATH", chromium())
        .env("K6_BROWSER_ARGS", "no-sandbox")
        .env("TMPDIR", folder.path())
        .limit(Duration::from_secs(120))
}

/// Runs a script that compares values.
fn compares(name: &str, at_least: usize) {
    let folder = tempfile::tempdir().unwrap();
    let ended = program(&folder).arg(script(name)).run();
    assert_no_browser(&folder);
    let log = &ended.stderr;
    assert_eq!(ended.status, Some(0), "{log}");
    assert!(!log.contains("WRONG"), "{log}");
    let compared = log
        .lines()
        .find_map(|line| line.strip_prefix("COMPARED "))
        .unwrap_or_else(|| panic!("it did not finish: {log}"));
    assert!(compared.parse::<usize>().unwrap() >= at_least, "{log}");
}

/// The browser's processes. Their command lines contain the folder, because the browser's profile is in it.
fn browser_processes(folder: &TempDir) -> Vec<i32> {
    let wanted = folder.path().join("plimsoll-browser-");
    let wanted = wanted.to_str().unwrap();
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // The process may have exited meanwhile.
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(wanted) {
            found.push(id);
        }
    }
    found
}

/// Checks that nothing of the browser remains, possibly after a moment.
fn assert_no_browser(folder: &TempDir) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let processes = browser_processes(folder);
        let profiles: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.to_string_lossy().contains("plimsoll-browser-"))
            .collect();
        if processes.is_empty() && profiles.is_empty() {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "left behind: {processes:?} {profiles:?}"
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_browser_script_uses_pages_and_elements() {
    compares("api.js", 80);
}

#[test]
fn a_browser_script_follows_requests_and_new_pages() {
    compares("events.js", 15);
}

#[test]
fn a_browser_script_survives_odd_pages() {
    compares("odd.js", 20);
}

#[test]
fn browser_users_have_their_own_cookies_and_pages() {
    let folder = tempfile::tempdir().unwrap();
    let ended = program(&folder).arg(script("users.js")).run();
    assert_no_browser(&folder);
    let lines = ended.stderr.lines().filter(|line| *line == "USER 0 true 1");
    assert_eq!(lines.count(), 6, "{}", ended.stderr);
}

const METRICS: &str = r#"
import { browser } from 'k6/browser';
export const options = {
  scenarios: { ui: { executor: 'shared-iterations', options: { browser: { type: 'chromium' } } } },
  thresholds: { browser_web_vital_lcp: ['p(90) < 60000'], 'browser_http_req_failed{status:404}': ['rate == 1'], browser_http_req_duration: ['avg > 0'] },
};
export default async function () {
  const page = await browser.newPage();
  page.on('metric', (metric) => metric.tag({ name: 'any second', matches: [{ url: /second\?\d+$/ }] }));
  await page.goto(`${__ENV.PAGES}/`);
  await page.locator('#button').click();
  await page.waitForTimeout(100);
  await page.goto(`${__ENV.PAGES}/second?1`);
  await page.goto(`${__ENV.PAGES}/none`);
  await page.close();
}
"#;

#[test]
fn a_browser_script_records_metrics_and_web_vitals() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("samples.json");
    let ended = program(&folder)
        .arg("--out")
        .arg(format!("json={}", out.display()))
        .arg("-")
        .input(METRICS)
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let samples: Vec<Value> = fs::read_to_string(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &Value| line["type"] == "Point")
        .collect();
    let of = |name: &str| -> Vec<&Value> {
        samples
            .iter()
            .filter(|sample| sample["metric"] == name)
            .map(|sample| &sample["data"])
            .collect()
    };
    for vital in ["ttfb", "fcp", "lcp", "cls", "fid", "inp"] {
        let found = of(&format!("browser_web_vital_{vital}"));
        assert!(!found.is_empty(), "no {vital}");
        for sample in found {
            assert!(sample["value"].as_f64().unwrap() >= 0.0, "{sample}");
            let rating = sample["tags"]["rating"].as_str().unwrap();
            assert!(
                ["good", "needs-improvement", "poor"].contains(&rating),
                "{sample}"
            );
        }
    }
    let documents = |name: &str, suffix: &str| -> Vec<Value> {
        let ends = |data: &&Value| data["tags"]["url"].as_str().unwrap_or("").ends_with(suffix);
        of(name).into_iter().filter(ends).cloned().collect()
    };
    let durations = documents("browser_http_req_duration", "/none");
    assert_eq!(durations.len(), 1, "{durations:?}");
    let tags = &durations[0]["tags"];
    assert_eq!(tags["status"], "404");
    assert_eq!(tags["method"], "GET");
    assert_eq!(tags["scenario"], "ui");
    assert_eq!(documents("browser_http_req_failed", "/none")[0]["value"], 1);
    let grouped = documents("browser_http_req_duration", "second?1");
    assert_eq!(grouped[0]["tags"]["name"], "any second", "{grouped:?}");
    for metric in ["browser_data_sent", "browser_data_received"] {
        let sum: f64 = of(metric)
            .iter()
            .filter_map(|data| data["value"].as_f64())
            .sum();
        assert!(sum > 500.0, "{metric}: {sum}");
    }
}

const GROUPS: &str = r#"
import { browser } from 'k6/browser';
import { group } from 'k6';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export const options = {
  scenarios: { ui: { executor: 'shared-iterations', options: { browser: { type: 'chromium' } } } },
};
export default async function () {
  const page = await browser.newPage();
  await group('first', async () => {
    page.on('response', (response) => { if (response.url().endsWith('?b')) seen.add(1); });
    await page.goto(`${__ENV.PAGES}/second?a`);
  });
  await group('second', async () => {
    await page.goto(`${__ENV.PAGES}/second?b`);
    seen.add(2);
  });
  await page.close();
}
"#;

#[test]
fn groups_follow_pages_if_the_feature_is_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("samples.json");
    let ended = program(&folder)
        .args(["--features", "async-metric-context", "--out"])
        .arg(format!("json={}", out.display()))
        .arg("-")
        .input(GROUPS)
        .run();
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let text = fs::read_to_string(out).unwrap();
    let samples = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut found: Vec<String> = samples
        .filter(|line| line["type"] == "Point")
        .filter_map(|line| {
            let tags = &line["data"]["tags"];
            let what = match line["metric"].as_str()? {
                "seen" => line["data"]["value"].to_string(),
                "browser_http_req_duration" => tags["url"].as_str()?.split_once('?')?.1.to_owned(),
                _ => return None,
            };
            Some(format!("{what} {}", tags["group"].as_str()?))
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        ["1 ::first", "2 ::second", "a ::first", "b ::second"]
    );
}

/// A run that keeps a page open.
const WAITING: &str = r#"
import { browser } from 'k6/browser';
import exec from 'k6/execution';
export const options = {
  scenarios: { ui: { executor: 'shared-iterations', iterations: 2, gracefulStop: '0s', options: { browser: { type: 'chromium' } } } },
};
export default async function () {
  const page = await browser.newPage();
  await page.goto(`${__ENV.PAGES}/second`);
  console.log('READY');
  if (__ENV.MODE === 'abort') exec.test.abort('enough');
  if (__ENV.MODE === 'throw') throw new Error('broken');
  if (__ITER === 0) {
    try {
      await page.evaluate(() => new Promise(() => {}));
    } catch (error) {
      console.log(`LOST ${error.message}`);
    }
  }
}
"#;

fn waiting(folder: &TempDir, mode: &str) -> Program {
    program(folder)
        .args(["-e", &format!("MODE={mode}"), "--console-output"])
        .arg(folder.path().join("log"))
        .arg("-")
        .input(WAITING)
}

/// Waits until the log contains a line.
fn wait_for(folder: &TempDir, text: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let log = folder.path().join("log");
    while !fs::read_to_string(&log).unwrap_or_default().contains(text) {
        assert!(Instant::now() < deadline, "no {text}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_browser_exits_if_a_script_throws_or_aborts() {
    for (mode, status) in [("throw", Some(0)), ("abort", Some(108))] {
        let folder = tempfile::tempdir().unwrap();
        let ended = waiting(&folder, mode).run();
        assert_eq!(ended.status, status, "{mode}: {}", ended.stderr);
        assert_no_browser(&folder);
    }
}

#[test]
fn the_browser_exits_if_the_run_is_interrupted() {
    for signals in [
        &[Signal::INT][..],
        &[Signal::INT, Signal::INT],
        &[Signal::KILL],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let running = waiting(&folder, "wait").start();
        wait_for(&folder, "READY");
        assert!(!browser_processes(&folder).is_empty());
        for signal in signals {
            running.signal(*signal);
            thread::sleep(Duration::from_millis(200));
        }
        drop(running.wait());
        assert_no_browser(&folder);
    }
}

#[test]
fn a_killed_browser_fails_its_iteration_and_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let running = waiting(&folder, "lose").start();
    wait_for(&folder, "READY");
    for id in browser_processes(&folder) {
        let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
        if name.starts_with("chrom")
            && let Some(id) = rustix::process::Pid::from_raw(id)
        {
            let _ = rustix::process::kill_process(id, Signal::KILL);
        }
    }
    let ended = running.wait();
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("LOST"), "{log} {}", ended.stderr);
    assert!(log.contains("Chromium has ended"), "{log}");
    assert_eq!(log.matches("READY").count(), 2, "{log} {}", ended.stderr);
    assert_no_browser(&folder);
}

fn fails(variables: &[(&str, &str)], script: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let mut program = program(&folder);
    for (name, value) in variables {
        program = program.env(name, value);
    }
    program.arg("-").input(script).run()
}

#[test]
fn a_browser_that_fails_to_start_is_explained() {
    let script = "import { browser } from 'k6/browser';
        export const options = { scenarios: { ui: { executor: 'shared-iterations', options: { browser: { type: 'chromium' } } } } };
        export default async function () { await browser.newPage(); }";
    let explained = |variables: &[(&str, &str)], wanted: &[&str]| {
        let ended = fails(variables, script);
        for text in wanted {
            assert!(ended.stderr.contains(text), "{text}: {}", ended.stderr);
        }
    };
    explained(
        &[("K6_BROWSER_EXECUTABLE_PATH", "/none/chromium")],
        &[
            "/none/chromium, which is not a file",
            "apt-get install chromium",
        ],
    );
    explained(
        &[("K6_BROWSER_EXECUTABLE_PATH", ""), ("PATH", "/none")],
        &["neither is installed", "apt-get install chromium"],
    );
    explained(
        &[("K6_BROWSER_EXECUTABLE_PATH", "/bin/false")],
        &["/bin/false ended while starting"],
    );
    explained(
        &[("K6_BROWSER_HEADLESS", "maybe")],
        &["K6_BROWSER_HEADLESS=maybe: write true or false"],
    );
    explained(
        &[("K6_BROWSER_WS_URL", &pages::closed().replace("http", "ws"))],
        &["cannot connect to Chromium"],
    );
}

#[test]
fn the_browser_starts_only_for_browser_scenarios_in_scripts_that_use_it() {
    let path = [("K6_BROWSER_EXECUTABLE_PATH", "/none")];
    let ended = fails(
        &path,
        "import { browser } from 'k6/browser'; export default async function () { await browser.newPage(); }",
    );
    let text = "make sure to set browser type option in scenario definition";
    assert!(ended.stderr.contains(text), "{}", ended.stderr);
    let ended = fails(
        &path,
        "import { browser } from 'k6/browser'; export default () => { browser.context(); browser.isConnected(); }",
    );
    assert_eq!(ended.stderr, "");
}
