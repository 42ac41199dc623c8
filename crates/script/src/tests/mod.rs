//! Runs a script as a virtual user would, and compares its log with a recorded one.
//!
//! `tests/observed/NAME.js` (or `.ts`) is a script. `NAME.txt` is the log that k6, or another program that the test
//! names, wrote for it. See `tests/observed/README.md`.

mod give_way;
mod observed;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use plimsoll_engine::{RunState, UserId};
use plimsoll_k6::user::{Interrupted, Phase, User, Work};
use plimsoll_samples::{Recorder, Registry, TagMap, Watch, WatchSettings};

use crate::instance::{Argument, Instance, Outcome};
use crate::{ImportMap, LoadSettings, Program};

/// The folder of the scripts and logs.
fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/observed")
}

/// Asserts that the script with that name writes the recorded log.
fn assert_observed(name: &str) {
    let expected = std::fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    let typescript = format!("{name}.ts");
    let found = if folder().join(&typescript).exists() {
        logged(&typescript)
    } else {
        logged(&format!("{name}.js"))
    };
    let pairs = found.lines().zip(expected.lines()).enumerate();
    let wrong: Vec<String> = pairs
        .filter(|(_, (found, expected))| found != expected)
        .map(|(i, (found, expected))| {
            format!("line {}\n  found    {found}\n  expected {expected}", i + 1)
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} lines differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// The log of the script in that file. Its init code runs twice, first for loading and then as user 1, and one
/// iteration runs.
fn logged(file: &str) -> String {
    let path = folder().join(file);
    let lines = Arc::new(Mutex::new(String::new()));
    let log_lines = Arc::clone(&lines);
    let source = std::fs::read(&path).unwrap();
    let log = move |text: &str| {
        let mut lines = log_lines.lock().unwrap();
        lines.push_str(text);
        lines.push('\n');
    };
    match run(path, source, log, None) {
        Outcome::Returned(()) => {}
        Outcome::Threw(text) => panic!("{text}"),
        _ => panic!("the iteration did not end on its own"),
    }
    let lines = lines.lock().unwrap();
    lines.clone()
}

/// Runs a script's init code twice, first for loading and then as user 1, and one iteration. The iteration is
/// interrupted once `interrupted` returns true.
fn run(
    path: PathBuf,
    source: Vec<u8>,
    log: impl Fn(&str) + Send + Sync + 'static,
    interrupted: Option<Interrupted>,
) -> Outcome<()> {
    let registry = Arc::new(Registry::new());
    let program = Program::load(LoadSettings {
        source,
        path,
        may_be_typescript: false,
        env: Default::default(),
        freezes_env: false,
        keeps_metric_context: false,
        registry: Arc::clone(&registry),
        log: Arc::new(move |_, text, _| log(text)),
        fetch: None,
        import_map: ImportMap::default(),
        archive: None,
        keep_files: false,
        secrets: Default::default(),
    })
    .unwrap_or_else(|error| panic!("{error}"));
    let watch = Watch::new(&registry, WatchSettings::default()).unwrap();
    crate::once::block_on(async move {
        let work = Work {
            recorder: Rc::new(Recorder::new(registry, Arc::new(watch))),
            run: Arc::new(RunState::new()),
            client: plimsoll_http::Client::new(plimsoll_http::Shared::new(Default::default()), 1),
        };
        let mut user = User::new(UserId(1), Arc::clone(&program.common), Some(work));
        user.interrupted = interrupted;
        let instance = Instance::start(user, None)
            .await
            .unwrap_or_else(|e| panic!("{e}"));
        instance.user.tags.reset(&TagMap::new());
        let function = instance.function("default").unwrap();
        let outcome = instance.call(
            Phase::Iteration,
            function,
            Argument::Undefined,
            None,
            |_| Ok(()),
        );
        outcome.await
    })
    .unwrap()
}
