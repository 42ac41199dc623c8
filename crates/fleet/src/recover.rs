//! Collects the results of a run whose coordinator is gone from its agents.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use plimsoll_frames::{Account, Completeness, Planned, Policy, Proof, RunId, judge};
use plimsoll_samples::{Registry, Summary, Totals, Watch, WatchSettings, WindowDecoder};
use plimsoll_units::Moment;
use serde_json::{Value, json};

use crate::access::Access;
use crate::assignment::Assignment;
use crate::bus::{Bus, Delivery};
use crate::messages::{
    COMMANDS_TO_ALL, Command, REPORTS_OF_ALL, Report, StoredFile, command_subject, decode_piece,
    encode, report_subject,
};
use crate::spool;

/// How long agents may take to report which results they have.
const LISTING_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long to wait for a piece before requesting it again.
const PIECE_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of requests for one piece.
const MAX_PIECE_REQUESTS: u32 = 10;
/// Samples of setup are recorded before the start, which is at this moment.
const START: Moment = Moment::from_nanos(86_400_000_000_000);

/// Where to look for results.
pub struct RecoverySettings {
    /// The agents that are connected to this server.
    pub server: Option<Access>,
    /// The directory with the results of agents on this machine.
    pub spool: PathBuf,
}

/// The results of a run.
pub struct Recovered {
    pub run: String,
    pub summary: Summary,
    pub proof: Proof,
    /// Why agents ended early, and which results are missing.
    pub messages: Vec<String>,
}

/// A file, and the agent that stores it. `None` if it is on this machine.
type Place = (StoredFile, Option<String>);

impl Recovered {
    /// The results as a JSON document.
    pub fn document(&self) -> Value {
        json!({
            "run": self.run,
            "proof": self.proof.to_string(),
            "notes": self.messages,
            "summary": self.summary,
        })
    }

    /// Whether the results are those of a valid run.
    pub fn is_valid(&self) -> bool {
        self.proof.completeness != Completeness::Invalid
    }
}

/// Lists the runs with stored results.
///
/// # Errors
/// If the server cannot be reached.
pub fn kept_runs(settings: &RecoverySettings) -> Result<String, String> {
    let (places, _) = places(settings)?;
    let mut runs: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for (file, _) in places {
        let (files, bytes) = runs.entry(file.run).or_default();
        *files += 1;
        *bytes += file.length;
    }
    let lines = runs.into_iter().map(|(run, (files, bytes))| {
        format!("{run}\t{files} agents\t{} KB\n", bytes.div_ceil(1024))
    });
    Ok(lines.collect())
}

/// Adds up the stored results of a run. `run` may be the start of its name.
///
/// # Errors
/// If there are no results of it, or if they cannot be read.
pub fn recover(settings: &RecoverySettings, run: &str) -> Result<Recovered, String> {
    let (places, connection) = places(settings)?;
    let places: Vec<_> = places
        .into_iter()
        .filter(|(file, _)| !run.is_empty() && file.run.starts_with(run))
        .collect();
    let Some((first, _)) = places.first() else {
        return Err(format!(
            "there are no results of a run {run}; plimsoll fleet recover lists the runs"
        ));
    };
    let run = first.run.clone();
    if places.iter().any(|(file, _)| file.run != run) {
        return Err(format!(
            "several runs start with {run}; give more of the name"
        ));
    }
    let mut merged = Merged::new();
    for (file, agent) in places {
        match (agent, &connection) {
            (Some(agent), Some((bus, inputs))) => {
                let copy = fetch(bus, inputs, &agent, &file)?;
                merged.add(copy.path(), file.epoch)?;
            }
            _ => {
                let name = format!("{}.{}.{:016x}.frames", file.run, file.agent, file.epoch);
                merged.add(&settings.spool.join(name), file.epoch)?;
            }
        }
    }
    Ok(merged.finish(run))
}

type Connection = (Bus, Receiver<Delivery>);

fn places(settings: &RecoverySettings) -> Result<(Vec<Place>, Option<Connection>), String> {
    let here = spool::files(&settings.spool)
        .into_iter()
        .filter_map(|file| {
            let length = std::fs::metadata(&file.path).ok()?.len();
            let kept = StoredFile {
                run: file.run,
                agent: file.agent,
                epoch: file.epoch,
                length,
            };
            Some((kept, None))
        });
    let mut places: BTreeMap<StoredFile, Option<String>> = here.collect();
    let Some(server) = &settings.server else {
        return Ok((places.into_iter().collect(), None));
    };
    let (send, inputs) = channel();
    let bus = Bus::connect(server, vec![REPORTS_OF_ALL.to_owned()], move |delivery| {
        // If this fails, the caller no longer waits.
        let _ = send.send(delivery);
    })
    .map_err(|error| format!("could not connect to the NATS server: {error}"))?;
    bus.send(COMMANDS_TO_ALL, encode(&Command::Collect));
    let started = plimsoll_clock::now();
    loop {
        let left = LISTING_TIMEOUT.saturating_sub(plimsoll_clock::now().since(started));
        let Ok(delivery) = inputs.recv_timeout(left) else {
            return Ok((places.into_iter().collect(), Some((bus, inputs))));
        };
        let Delivery::Message { subject, bytes } = delivery else {
            continue;
        };
        let id = subject.rsplit('.').next().unwrap_or_default();
        if let Ok(Report::Kept { files }) = serde_json::from_slice(&bytes) {
            for file in files {
                // The name comes from outside, so it must not lead to another directory.
                if file.run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    places.entry(file).or_insert_with(|| Some(id.to_owned()));
                }
            }
        }
    }
}

/// Copies a file from an agent.
fn fetch(
    bus: &Bus,
    inputs: &Receiver<Delivery>,
    agent: &str,
    file: &StoredFile,
) -> Result<tempfile::NamedTempFile, String> {
    let cannot =
        |error: std::io::Error| format!("cannot write a temporary file: {error}; set TMPDIR");
    let mut copy = tempfile::NamedTempFile::new().map_err(cannot)?;
    let mut length = 0;
    let mut requests = 0;
    while length < file.length {
        requests += 1;
        if requests > MAX_PIECE_REQUESTS {
            return Err(format!("agent {} does not send its results", file.agent));
        }
        let command = Command::Read {
            file: file.clone(),
            offset: length,
        };
        bus.send(&command_subject(agent), encode(&command));
        while let Ok(delivery) = inputs.recv_timeout(PIECE_TIMEOUT) {
            let Delivery::Message { subject, bytes } = delivery else {
                continue;
            };
            if subject != report_subject(agent) {
                continue;
            }
            let Some((offset, piece)) = decode_piece(&bytes) else {
                continue;
            };
            if offset == length && !piece.is_empty() {
                copy.write_all(piece).map_err(cannot)?;
                length += piece.len() as u64;
                requests = 0;
                break;
            }
        }
    }
    Ok(copy)
}

/// Adds up the files of a run.
struct Merged {
    registry: Arc<Registry>,
    watch: Option<Arc<Watch>>,
    accounts: BTreeMap<u32, Account>,
    totals: Option<Totals>,
    agents: u32,
    messages: Vec<String>,
}

impl Merged {
    fn new() -> Merged {
        Merged {
            registry: Arc::new(Registry::new()),
            watch: None,
            accounts: BTreeMap::new(),
            totals: None,
            agents: 0,
            messages: Vec::new(),
        }
    }

    fn add(&mut self, path: &Path, epoch: u64) -> Result<(), String> {
        let (assignment, frames) = spool::read(path)?;
        let watch = match &self.watch {
            Some(watch) => Arc::clone(watch),
            None => {
                let settings = WatchSettings {
                    breakdown: assignment.breakdown,
                    by_name: assignment.by_name,
                    by_second: assignment.by_second,
                    ..WatchSettings::default()
                };
                let watch =
                    Watch::new(&self.registry, settings).map_err(|errors| errors.to_string())?;
                Arc::clone(self.watch.insert(Arc::new(watch)))
            }
        };
        let empty = || Totals::new(Arc::clone(&self.registry), Arc::clone(&watch));
        let totals = self.totals.get_or_insert_with(empty);
        self.agents = self.agents.max(assignment.agents);
        let agent = assignment.agent;
        if self.accounts.contains_key(&agent) {
            return Err(format!("two processes were agent {agent} of this run"));
        }
        if assignment.redistributes {
            self.messages.push(format!(
                "agent {agent}: its results were not compared with its schedule, because it may have taken over iterations of others"
            ));
        }
        let mut account = account(&assignment, epoch, &self.registry, &watch, empty())?;
        for frame in frames {
            for received in account.receive(&frame, START) {
                let windows = received.into_windows();
                windows.into_iter().for_each(|window| totals.merge(window));
            }
        }
        match account.end() {
            Some(end) => {
                let early = end.ended_early.iter();
                let early = early.map(|why| format!("agent {agent} ended early: {why}"));
                self.messages.extend(early);
            }
            None => account.give_up(),
        }
        self.accounts.insert(agent, account);
        Ok(())
    }

    fn finish(mut self, run: String) -> Recovered {
        let missing = (0..self.agents).filter(|agent| !self.accounts.contains_key(agent));
        let missing: Vec<_> = missing.map(|agent| agent.to_string()).collect();
        if !missing.is_empty() {
            let text = format!("results are missing from the agents {}", missing.join(", "));
            self.messages.push(text);
        }
        let longest = self.accounts.values().map(Account::until).max();
        let proof = judge(self.accounts.values(), Policy::Degrade);
        let totals = self.totals.as_ref();
        let elapsed = longest.unwrap_or_default();
        Recovered {
            run,
            summary: totals
                .map(|totals| totals.summary(elapsed))
                .unwrap_or_default(),
            proof,
            messages: self.messages,
        }
    }
}

fn account(
    assignment: &Assignment,
    epoch: u64,
    registry: &Arc<Registry>,
    watch: &Arc<Watch>,
    totals: Totals,
) -> Result<Account, String> {
    let run = u128::from_str_radix(&assignment.run, 16)
        .map_err(|error| format!("the run {} is invalid: {error}", assignment.run))?;
    let planned = Planned {
        share: assignment.share,
        iterations: match assignment.redistributes {
            false => assignment.iterations.clone(),
            // The iterations that it had to take over are not known here.
            true => Vec::new(),
        },
        scheduled_by: None,
    };
    Ok(Account::new(
        RunId(run.to_be_bytes()),
        assignment.agent,
        epoch,
        planned,
        WindowDecoder::new(Arc::clone(registry), Arc::clone(watch)),
        totals,
    ))
}
