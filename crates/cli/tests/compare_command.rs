//! `plimsoll compare` and `plimsoll history`, on synthetic records and on real runs.

mod plimsoll;

use std::path::{Path, PathBuf};
use std::time::Duration;

use plimsoll::plimsoll;
use plimsoll_results::distribution::Distribution;
use plimsoll_results::environment::Environment;
use plimsoll_results::record::{End, Header, SCHEMA, Second, Writer};
use plimsoll_results::store::Store;
use plimsoll_stats::{Histogram, Random};
use plimsoll_testkit::peers::{Peer, Play};
use plimsoll_testkit::program::Ended;
use serde_json::Value;

/// The parameters of a synthetic record.
#[derive(Clone, Copy)]
struct Made {
    seed: u64,
    seconds: u64,
    /// The median in milliseconds.
    median: f64,
    url: &'static str,
    machine: &'static str,
    verdict: &'static str,
}

const PLAIN: Made = Made {
    seed: 1,
    seconds: 30,
    median: 10.0,
    url: "http://127.0.0.1/",
    machine: "one",
    verdict: "valid",
};

fn made(of: Made) -> Vec<u8> {
    let header = Header {
        schema: SCHEMA.to_owned(),
        plimsoll: "0".to_owned(),
        kind: "http".to_owned(),
        command: vec!["plimsoll".to_owned(), "http".to_owned(), of.url.to_owned()],
        started: "2026-01-02T03:04:05Z".to_owned(),
        model: "closed".to_owned(),
        title: String::new(),
        load: Vec::new(),
        warm_up_seconds: 0.0,
        configuration: serde_json::json!({ "url": of.url, "connections": 5 }),
        configuration_hash: plimsoll_results::hash::hash([of.url.as_bytes()]),
        environment: Environment {
            cpu: of.machine.to_owned(),
            fingerprint: plimsoll_results::hash::hash([of.machine.as_bytes()]),
            ..Environment::default()
        },
    };
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, &header).expect("memory");
    let mut random = Random::new(of.seed);
    for number in 0..of.seconds {
        let mut times = Histogram::new();
        (0..100).for_each(|_| times.record(of.median * (0.7 + 0.6 * random.unit())));
        let mut second = Second {
            second: number,
            ..Second::default()
        };
        second.counters.insert("http_reqs".to_owned(), 100.0);
        second.rates.insert("http_req_failed".to_owned(), (0, 100));
        second
            .trends
            .insert("http_req_duration".to_owned(), Distribution::of(&times));
        writer.second(&second).expect("memory");
    }
    let mut end = End::default();
    end.generator.verdict = of.verdict.to_owned();
    writer.end(&end).expect("memory");
    bytes
}

/// A folder with records.
struct Records(tempfile::TempDir);

impl Records {
    fn new() -> Records {
        Records(tempfile::tempdir().expect("a folder"))
    }

    fn put(&self, name: &str, of: Made) -> &'static str {
        let path = self.0.path().join(name);
        std::fs::write(&path, made(of)).expect("written");
        // Leaked for the duration of a test, which makes lists of flags easy to write.
        Box::leak(path.to_str().expect("plain").to_owned().into_boxed_str())
    }
}

#[test]
fn records_are_compared_and_judged() {
    let records = Records::new();
    let before = records.put("before", PLAIN);
    let same = records.put("same", Made { seed: 2, ..PLAIN });
    let slower = records.put(
        "slower",
        Made {
            seed: 3,
            median: 15.0,
            ..PLAIN
        },
    );
    let quicker = records.put(
        "quicker",
        Made {
            seed: 4,
            median: 7.0,
            ..PLAIN
        },
    );
    let compare = |flags: &[&str]| plimsoll(&[&["compare"], flags].concat()).run();
    for (flags, status, parts) in [
        (
            &[before, same, "--fail-on", "regression"][..],
            0,
            &["no difference larger than 10.0 %"][..],
        ),
        (&[before, slower], 0, &["+50.", "larger, worse"]),
        (
            &[before, slower, "--fail-on", "regression"],
            1,
            &["failed on regression: p95 changed by +5"],
        ),
        (
            &[before, quicker, "--fail-on", "regression"],
            0,
            &["smaller, better"],
        ),
        (
            &[before, quicker, "--fail-on", "difference"],
            1,
            &["failed on difference: mean"],
        ),
        (
            &[before, slower, "--fail-on", "p95:+40%"],
            1,
            &["failed on p95:+40%"],
        ),
        (&[before, slower, "--fail-on", "p95:+60%"], 0, &["worse"]),
        (
            &[before, slower, "--noise", "60%", "--fail-on", "regression"],
            0,
            &["no difference larger than 60.0 %"],
        ),
    ] {
        let ended = compare(flags);
        assert_eq!(ended.status, Some(status), "{flags:?}: {ended:?}");
        for part in parts {
            assert!(
                ended.stdout.contains(part),
                "{flags:?}: no {part} in\n{}",
                ended.stdout
            );
        }
    }
}

#[test]
fn incomparable_runs_are_refused_with_the_reason() {
    let records = Records::new();
    let before = records.put("before", PLAIN);
    let elsewhere = records.put(
        "elsewhere",
        Made {
            machine: "two",
            ..PLAIN
        },
    );
    let otherwise = records.put(
        "otherwise",
        Made {
            url: "http://127.0.0.1/b",
            ..PLAIN
        },
    );
    let short = records.put(
        "short",
        Made {
            seconds: 5,
            ..PLAIN
        },
    );
    let invalid = records.put(
        "invalid",
        Made {
            verdict: "invalid",
            median: 20.0,
            ..PLAIN
        },
    );
    let text = records.0.path().join("text");
    std::fs::write(&text, "no record\n").expect("written");
    let compare = |flags: &[&str]| plimsoll(&[&["compare"], flags].concat()).run();
    for (flags, status, part) in [
        (&[before, elsewhere][..], 2, "processor: one | two"),
        (
            &[before, otherwise],
            2,
            "url: http://127.0.0.1/ | http://127.0.0.1/b",
        ),
        (
            &[before, text.to_str().expect("plain")],
            2,
            "not a record of a run",
        ),
        (
            &[before, "/nonexistent"],
            2,
            "there is no file /nonexistent",
        ),
        (&[before, "latest"], 2, "--store"),
        (
            &[before, before, "--noise", "measure"],
            2,
            "cannot be repeated",
        ),
        (&["--", "http", "http://127.0.0.1:9/"], 2, "two commands"),
        (
            &["--", "http", "u", "--", "curl", "u"],
            2,
            "cannot run \"curl\"",
        ),
        (
            &["--", "http", "u", "--", "http", "--record=x", "u"],
            2,
            "remove it",
        ),
        (&[], 2, "name two records"),
    ] {
        let ended = compare(flags);
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (Some(status), ""),
            "{flags:?}: {ended:?}"
        );
        assert!(ended.stderr.contains(part), "{flags:?}: {}", ended.stderr);
    }
    // With this flag, the comparison continues and reports the differences.
    let ended = compare(&[before, elsewhere, "--any-environment"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("differs: processor: one | two"),
        "{}",
        ended.stdout
    );
    // A gate that cannot judge must not pass.
    for other in [short, invalid] {
        let ended = compare(&[before, other, "--fail-on", "regression", "--json"]);
        assert_eq!(ended.status, Some(3), "{ended:?}");
        let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        assert_eq!(printed["schema"], "plimsoll/compare-result/2");
        assert_eq!(
            printed["figures"][2]["outcome"], "not-measured",
            "{printed:#}"
        );
        assert!(printed["not_judged"][0].is_string(), "{printed:#}");
    }
}

#[test]
fn two_commands_run_alternately() {
    let quick = Peer::start(Play::ok("hello"));
    let slow = Peer::start(Play::Drip {
        bytes: plimsoll_testkit::peers::ok_response("hello").into_bytes(),
        pause: Duration::from_millis(1),
    });
    let compare = |pairs: &str, other: &Peer, flags: &[&str]| {
        let (one, other) = (quick.url(), other.url());
        let commands = [
            "--", "plimsoll", "http", "-c", "2", "-n", "60", &one, "--", "http", "-c", "2", "-n",
            "60", &other,
        ];
        let flags = [
            &[
                "compare",
                "--figures",
                "p50,failed",
                "--json",
                "--pairs",
                pairs,
            ],
            flags,
            &commands,
        ]
        .concat();
        plimsoll(&flags).run()
    };
    let ended = compare("6", &slow, &["--fail-on", "regression"]);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let median = &printed["figures"][0];
    assert_eq!(
        (&median["figure"], &median["outcome"]),
        (&"p50".into(), &"larger".into())
    );
    assert_eq!(median["worse"], true);
    assert!(
        median["change"].as_f64().expect("a ratio") > 2.0,
        "{printed:#}"
    );
    // Twelve runs: each pair runs A first, then B twice, then A again.
    let order: String = ended
        .stderr
        .lines()
        .filter_map(|line| line.split_once(", ")?.1.chars().next())
        .collect();
    assert_eq!(order, "ABBAABBAABBA", "{}", ended.stderr);
    // Two pairs cannot show any difference, so they are refused before anything runs.
    let flags = ["--noise", "measure", "--fail-on", "p50:+10%"];
    let ended = compare("2", &quick, &flags);
    assert_eq!(ended.status, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("use at least 3"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("run 1"), "{}", ended.stderr);
    let ended = compare("3", &quick, &flags);
    let same = ended.stderr.matches("A against A").count();
    assert_eq!(same, 6, "{}", ended.stderr);
    // Figures that are not shown do not fail the comparison, unless a flag names them.
    let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let outcome = printed["figures"][0]["outcome"]
        .as_str()
        .expect("an outcome");
    let known = ["larger", "smaller", "no-difference", "uncertain"];
    assert!(known.contains(&outcome), "{printed:#}");
}

fn store(folder: &Path) -> PathBuf {
    folder.join("runs.sqlite")
}

fn history(store: &Path, flags: &[&str]) -> Ended {
    let store = store.to_str().expect("plain");
    plimsoll(&[&["history", "--store", store], flags].concat()).run()
}

#[test]
fn runs_are_stored_listed_and_compared_by_number() {
    let server = Peer::start(Play::ok("hello"));
    let folder = tempfile::tempdir().expect("a folder");
    let place = store(folder.path());
    let name = place.to_str().expect("plain");
    for number in 1..=2 {
        let url = server.url();
        let ended = plimsoll(&[
            "http", "--quiet", "-n", "50", "-c", "2", "--store", name, &url,
        ])
        .run();
        assert_eq!(ended.status, Some(0), "{ended:?}");
        assert!(
            ended
                .stderr
                .contains(&format!("kept as run {number} in {name}")),
            "{}",
            ended.stderr
        );
    }
    // Only the store remains. The temporary records have been deleted.
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let ended = history(&place, &["--figure", "rate"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    for part in ["requests per second", ", 2 runs", "no change of level"] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    let ended = plimsoll(&["compare", "--store", name, "1", "latest"]).run();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(
        ended.stdout.contains("not measured: a run"),
        "{}",
        ended.stdout
    );
    // If the home is not a directory, --keep has no default path.
    let ended = plimsoll(&["http", "--keep", "-n", "1", &server.url()])
        .env("HOME", "/dev/null")
        .run();
    assert_eq!(ended.status, Some(104), "{ended:?}");
    assert!(
        ended.stderr.contains("/dev/null/.local/share/plimsoll"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_change_of_level_is_found_in_the_history() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = store(folder.path());
    let mut kept = Store::open(&place).expect("a store");
    let mut keep = |of: Made| kept.keep(&made(of)).expect("kept");
    keep(Made {
        url: "http://127.0.0.1/other",
        ..PLAIN
    });
    for seed in 0..40 {
        let median = if seed < 20 { 10.0 } else { 12.0 };
        let seconds = 2;
        keep(Made {
            seed,
            median,
            seconds,
            ..PLAIN
        });
    }
    keep(Made {
        verdict: "invalid",
        median: 90.0,
        seconds: 2,
        ..PLAIN
    });
    let ended = history(&place, &[]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    for part in [
        ", 41 runs",
        "left out: run 42 of",
        "the level changes here",
        "run 22 of",
        "p95 went from 12",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    let printed: Value = serde_json::from_str(&history(&place, &["--json"]).stdout).expect("JSON");
    assert_eq!(
        printed["change_points"].as_array().map(Vec::len),
        Some(1),
        "{:#}",
        printed["change_points"]
    );
    assert_eq!(printed["change_points"][0]["run"], 22);
    let other = plimsoll_results::hash::hash(["http://127.0.0.1/other".as_bytes()]);
    let ended = history(&place, &["--configuration", &other[..6]]);
    assert!(ended.stdout.contains(", 1 run\n"), "{}", ended.stdout);
    let ended = history(&place, &["--configuration", "zz"]);
    assert_eq!(ended.status, Some(2));
    assert!(
        ended.stderr.contains("begins with \"zz\""),
        "{}",
        ended.stderr
    );
    let ended = history(&folder.path().join("none"), &[]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.stderr.contains("--keep"), "{}", ended.stderr);
}

#[test]
fn several_stored_runs_form_pairs_and_the_history_gives_the_noise() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = store(folder.path());
    let name = place.to_str().expect("plain");
    let mut kept = Store::open(&place).expect("a store");
    for seed in 0..16 {
        // Eight fast runs and eight slow ones. Each differs from its neighbor by 1 %.
        let level = if seed < 8 { 10.0 } else { 14.0 };
        let median = level * (1.0 + 0.01 * (seed % 3) as f64);
        let bytes = made(Made {
            seed,
            median,
            ..PLAIN
        });
        kept.keep(&bytes).expect("kept");
    }
    drop(kept);
    let compare = |flags: &[&str]| {
        let flags = [
            &["compare", "--store", name, "--figures", "mean,p95"],
            flags,
        ]
        .concat();
        plimsoll(&flags).run()
    };
    let ended = compare(&["1..8", "9..16", "--fail-on", "regression"]);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    for part in [
        "8 pairs of runs in the order given",
        "larger, worse (p < 0.001)",
    ] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    // Six pairs are also enough, for two figures at the same time.
    let ended = compare(&["1..6", "9..14", "--fail-on", "regression"]);
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("failed on regression"), "{ended:?}");
    let ended = compare(&["1..8", "9..15"]);
    assert_eq!(ended.status, Some(2), "{ended:?}");
    assert!(
        ended.stderr.contains("name the same number of each"),
        "{ended:?}"
    );
    // The noise includes the 1 % between neighbors but not the change of level, so the slow runs are still slower.
    let ended = compare(&["1", "9", "--noise", "history"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    for part in ["the noise between 16 runs of A's configuration", " worse"] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    let ended = history(&place, &["--figure", "mean"]);
    assert!(
        ended.stdout.contains("noise between runs of a level"),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_warm_up_is_excluded_and_reported() {
    let records = Records::new();
    let steady = records.put("steady", PLAIN);
    let folder = tempfile::tempdir().expect("a folder");
    let warming = folder.path().join("warming");
    // Five slow seconds, then the same seconds as in the other record. MSER-5 may remove one or two batches more, but
    // never fewer.
    let text = String::from_utf8(made(PLAIN)).expect("text");
    let slow = String::from_utf8(made(Made {
        median: 80.0,
        ..PLAIN
    }))
    .expect("text");
    let mixed: Vec<&str> = slow.lines().take(6).chain(text.lines().skip(6)).collect();
    std::fs::write(&warming, mixed.join("\n") + "\n").expect("written");
    let warming = warming.to_str().expect("plain");
    let compare = |flags: &[&str]| plimsoll(&[&["compare", steady, warming], flags].concat()).run();
    let ended = compare(&["--figures", "mean"]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    for part in ["warming, its warm-up", "no difference larger than 10.0 %"] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    assert_eq!(ended.stdout.matches("left out").count(), 1, "{ended:?}");
    let ended = compare(&["--figures", "mean", "--json"]);
    let printed: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let left_out = printed["warm_up"][0]["seconds_left_out"].as_u64();
    assert!(matches!(left_out, Some(5 | 10 | 15)), "{printed:#}");
    let ended = compare(&["--figures", "mean", "--skip", "0"]);
    assert!(!ended.stdout.contains("left out"), "{}", ended.stdout);
}

#[test]
fn the_record_of_a_killed_run_is_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = store(folder.path());
    Store::open(&place)
        .and_then(|mut kept| kept.keep(&made(PLAIN)))
        .expect("kept");
    let killed = String::from_utf8(made(PLAIN)).expect("text");
    let lines: Vec<&str> = killed.lines().take(10).collect();
    let left = folder.path().join("runs.4194999.jsonl");
    std::fs::write(&left, lines.join("\n") + "\n").expect("written");
    // The record of a run in progress is locked.
    let held = folder.path().join("runs.4194998.jsonl");
    std::fs::write(&held, "").expect("written");
    let file = std::fs::File::open(&held).expect("there");
    file.lock().expect("locked");
    let ended = history(&place, &[]);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(
        ended.stderr.contains("stored the record of a killed run"),
        "{}",
        ended.stderr
    );
    for part in [", 2 runs", "left out: run 2 of", "it was killed"] {
        assert!(ended.stdout.contains(part), "{part}\n{}", ended.stdout);
    }
    assert!(!left.exists() && held.exists());
    drop(file);
}
