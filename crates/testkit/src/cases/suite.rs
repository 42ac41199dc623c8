//! Runs all cases with one program, a few concurrently.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;

use super::case::Case;
use super::compare::{Reference, compare};
use super::expected::Expected;
use super::observe::{Observation, observe};
use crate::case_server::{self, Addresses};

/// The server for the cases. It runs on a separate thread until this value is dropped.
pub struct Server {
    pub addresses: Addresses,
    _certificates: tempfile::TempDir,
    _stop: tokio::sync::oneshot::Sender<()>,
}

impl Server {
    pub fn start() -> io::Result<Server> {
        let certificates = tempfile::tempdir()?;
        let folder = certificates.path().to_owned();
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let started = runtime.and_then(|runtime| {
                let addresses = runtime.block_on(case_server::start(&folder))?;
                Ok((runtime, addresses))
            });
            match started {
                Ok((runtime, addresses)) => {
                    let _ = sender.send(Ok(addresses));
                    let _ = runtime.block_on(stopped);
                }
                Err(error) => {
                    let _ = sender.send(Err(error));
                }
            }
        });
        let addresses = receiver.recv().map_err(io::Error::other)??;
        Ok(Server {
            addresses,
            _certificates: certificates,
            _stop: stop,
        })
    }
}

/// The result of one case: its differences, or the reason why it could not be run.
pub struct Outcome {
    pub case: Case,
    pub differences: Vec<String>,
}

impl Outcome {
    pub fn passed(&self) -> bool {
        self.differences.is_empty()
    }
}

/// The file that contains k6's recording.
const K6_FILE: &str = "expected.json";
/// The file that contains Plimsoll's own recording of the parts in which it intentionally differs.
const OWN_FILE: &str = "plimsoll.json";

/// Runs every case with `program`, `at_once` of them concurrently, and compares the results.
pub fn run(cases: Vec<Case>, program: &Path, at_once: usize) -> io::Result<Vec<Outcome>> {
    let differences = |case: &Case, server: &Addresses| -> Result<Vec<String>, String> {
        let k6 = read(case, K6_FILE)?;
        let own = match case.settings.differs.is_empty() {
            true => k6.clone(),
            false => read(case, OWN_FILE)?,
        };
        let mut seen = Expected(observe(case, program, server)?);
        let mut reference = Reference { k6, own };
        for observation in [&mut reference.k6, &mut reference.own, &mut seen] {
            observation
                .replace(&case.settings.replace_both)
                .map_err(|error| format!("case.json: {error}"))?;
        }
        Ok(compare(case, &reference, &seen.0))
    };
    each(cases, at_once, |case, server| Outcome {
        differences: differences(&case, server).unwrap_or_else(|problem| vec![problem]),
        case,
    })
}

fn read(case: &Case, name: &str) -> Result<Expected, String> {
    let text = fs::read_to_string(case.folder.join(name)).map_err(|error| {
        let hint = match name {
            OWN_FILE => "; `cases keep PROGRAM NAME` writes it",
            _ => "",
        };
        format!("{name}: {error}{hint}")
    })?;
    Expected::from_text(&text).map_err(|error| format!("{name}: {error}"))
}

/// Number of runs when a case is recorded, to detect what varies.
const RUNS: usize = 3;

/// Runs every case with k6 and writes its recording. Returns the result of each case.
pub fn record(cases: Vec<Case>, k6: &Path, at_once: usize) -> io::Result<Vec<Outcome>> {
    write(cases, k6, at_once, K6_FILE, |run, case| {
        run.without(&case.settings.ignore)
    })
}

/// Runs every case that intentionally differs from k6 with Plimsoll, and records its results.
/// Returns the result of each case.
pub fn keep(cases: Vec<Case>, program: &Path, at_once: usize) -> io::Result<Vec<Outcome>> {
    let differ = |case: &Case| !case.settings.differs.is_empty();
    let cases = cases.into_iter().filter(differ).collect();
    write(cases, program, at_once, OWN_FILE, |run, case| {
        run.differing(case)
    })
}

fn write(
    cases: Vec<Case>,
    program: &Path,
    at_once: usize,
    name: &str,
    part: impl Fn(Observation, &Case) -> Observation + Sync,
) -> io::Result<Vec<Outcome>> {
    let write = |case: &Case, server: &Addresses| -> Result<(), String> {
        let runs: Vec<Observation> = (0..RUNS)
            .map(|_| Ok(part(observe(case, program, server)?, case)))
            .collect::<Result<_, String>>()?;
        let expected = Expected::common(&runs)?;
        let text = expected.to_text().map_err(|error| error.to_string())?;
        fs::write(case.folder.join(name), text).map_err(|error| error.to_string())
    };
    each(cases, at_once, |case, server| Outcome {
        differences: write(&case, server).err().into_iter().collect(),
        case,
    })
}

fn each(
    cases: Vec<Case>,
    at_once: usize,
    work: impl Fn(Case, &Addresses) -> Outcome + Sync,
) -> io::Result<Vec<Outcome>> {
    let server = Server::start()?;
    let waiting = Mutex::new(VecDeque::from(cases));
    let outcomes = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once.max(1) {
            scope.spawn(|| {
                while let Some(case) = next(&waiting) {
                    let outcome = work(case, &server.addresses);
                    if let Ok(mut outcomes) = outcomes.lock() {
                        outcomes.push(outcome);
                    }
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_default();
    outcomes.sort_by(|one, other| one.case.name.cmp(&other.case.name));
    Ok(outcomes)
}

fn next(waiting: &Mutex<VecDeque<Case>>) -> Option<Case> {
    waiting.lock().ok()?.pop_front()
}
