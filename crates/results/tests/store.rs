//! Stores runs and retrieves them.

use plimsoll_results::environment::Environment;
use plimsoll_results::record::{End, Header, SCHEMA, Second, Writer};
use plimsoll_results::store::{Store, StoreError};

fn record(question: &str, requests: f64, end: bool) -> Vec<u8> {
    let header = Header {
        schema: SCHEMA.to_owned(),
        plimsoll: "0".to_owned(),
        kind: "http".to_owned(),
        command: vec!["plimsoll".to_owned(), "http".to_owned()],
        started: "2026-01-02T03:04:05Z".to_owned(),
        model: "closed".to_owned(),
        title: String::new(),
        load: Vec::new(),
        warm_up_seconds: 0.0,
        configuration: serde_json::json!({ "url": question }),
        configuration_hash: question.to_owned(),
        environment: Environment {
            fingerprint: "here".to_owned(),
            ..Environment::default()
        },
    };
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, &header).expect("memory");
    let mut second = Second::default();
    second.counters.insert("iterations".to_owned(), requests);
    let mut times = plimsoll_stats::Histogram::new();
    (1..=30).for_each(|time| times.record(f64::from(time)));
    let times = plimsoll_results::distribution::Distribution::of(&times);
    second.trends.insert("iteration_duration".to_owned(), times);
    writer.second(&second).expect("memory");
    if end {
        let mut end = End::default();
        end.generator.verdict = "valid".to_owned();
        writer.end(&end).expect("memory");
    }
    bytes
}

#[test]
fn stored_runs_are_listed_and_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("below/runs.sqlite");
    let mut store = Store::open(&path).expect("made");
    assert!(matches!(store.resolve("latest"), Err(StoreError::NoRun(_))));
    for (question, requests, end) in [
        ("aa11", 5.0, true),
        ("bb22", 6.0, true),
        ("aa11", 7.0, false),
    ] {
        store.keep(&record(question, requests, end)).expect("kept");
    }
    drop(store);
    let store = Store::open_existing(&path).expect("there");
    let runs = store.runs("aa").expect("listed");
    let verdicts: Vec<_> = runs
        .iter()
        .map(|run| (run.id, run.verdict.as_str()))
        .collect();
    assert_eq!(verdicts, [(1, "valid"), (3, "killed")]);
    assert_eq!(
        (runs[0].command.as_str(), runs[0].fingerprint.as_str()),
        ("plimsoll http", "here")
    );
    let rate = |at: usize| {
        runs[at]
            .figures
            .iter()
            .find(|(name, _)| name == "rate")
            .map(|(_, value)| *value)
    };
    assert_eq!((rate(0), rate(1)), (Some(5.0), Some(7.0)));
    assert!(
        runs[0]
            .figures
            .iter()
            .any(|(name, value)| name == "p50" && (15.0..16.0).contains(value))
    );
    assert_eq!(store.runs("").expect("all").len(), 3);
    assert_eq!(store.resolve("latest").expect("the last"), 3);
    assert_eq!(store.resolve("latest~2").expect("the first"), 1);
    assert_eq!(
        store.record(2).expect("a record").header.configuration_hash,
        "bb22"
    );
    for wrong in ["latest~3", "latest~", "latest~-1", "newest"] {
        assert!(
            matches!(store.resolve(wrong), Err(StoreError::NoRun(_))),
            "{wrong}"
        );
    }
    assert!(matches!(store.record(9), Err(StoreError::NoRun(_))));
}

#[test]
fn invalid_records_and_stores_are_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let mut store = Store::open(&path).expect("made");
    assert!(matches!(
        store.keep(b"no record"),
        Err(StoreError::Record(_))
    ));
    assert!(store.runs("").expect("none").is_empty());
    let text = folder.path().join("text");
    std::fs::write(&text, "This is not a database, however long the text is.").expect("written");
    assert!(matches!(Store::open(&text), Err(StoreError::Sqlite(_))));
    assert!(matches!(
        Store::open_existing(&folder.path().join("none")),
        Err(StoreError::Io(_))
    ));
    let later = rusqlite::Connection::open(folder.path().join("later")).expect("made");
    later.execute_batch("PRAGMA user_version = 9").expect("set");
    let error = Store::open(&folder.path().join("later"))
        .expect_err("later")
        .to_string();
    assert!(error.contains("layout 9"), "{error}");
}

#[test]
fn two_programs_may_keep_runs_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs.sqlite");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || {
                let mut store = Store::open(&path).expect("opened");
                (0..5).for_each(|_| {
                    store.keep(&record("q", 1.0, true)).expect("kept");
                });
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(
        Store::open(&path)
            .expect("opened")
            .runs("q")
            .expect("all")
            .len(),
        20
    );
}
