//! Measures the resource usage of processes (proc(5)).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plimsoll_machine::{ProcessReading, descendants};
use plimsoll_results::lab::Used;
use serde::{Deserialize, Serialize};

use super::host::Connection;

/// The name of the process that generates the load.
pub const GENERATOR: &str = "generator";

/// A process to observe.
#[derive(Clone, Debug)]
pub struct ObservedEntry {
    pub name: String,
    /// The process and all its descendants.
    pub of: ObservedProcess,
    /// Whether its processor time counts towards the systems.
    pub counts: bool,
}

/// The location of a process.
#[derive(Clone, Debug)]
pub enum ObservedProcess {
    /// On this host, with this id.
    Here(u32),
    /// On another host.
    There(Arc<Connection>),
}

/// Observes processes at intervals.
pub struct Observer {
    every: Duration,
    began: Instant,
    next: Instant,
    watched: Vec<WatchedProcess>,
    /// Processor seconds of all systems and services at each reading.
    series: Vec<(f64, f64)>,
}

struct WatchedProcess {
    of: ObservedProcess,
    /// The usage of each process when it was first seen. Usage before the run does not count.
    before: BTreeMap<u32, ProcessReading>,
    last: BTreeMap<u32, ProcessReading>,
    peak: Used,
}

/// The observations of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Observed {
    /// Each process.
    pub used: Vec<Used>,
    /// Seconds since the start, and the processor seconds of systems and services until then.
    pub series: Vec<(f64, f64)>,
}

impl Observer {
    /// Starts observing processes.
    pub fn begin(processes: &[ObservedEntry], every: Duration) -> Observer {
        let now = Instant::now();
        let mut observer = Observer {
            every,
            began: now,
            next: now,
            watched: processes
                .iter()
                .map(|entry| WatchedProcess::of(entry, entry.of.tree()))
                .collect(),
            series: Vec::new(),
        };
        observer.take_reading();
        observer
    }

    /// Takes a reading if it is due. Includes the process that generates the load when it exists.
    pub fn turn(&mut self, generator: u32) {
        let is_generator =
            |of: &ObservedProcess| matches!(of, ObservedProcess::Here(pid) if *pid == generator);
        if !self.watched.iter().any(|one| is_generator(&one.of)) {
            let entry = ObservedEntry {
                name: GENERATOR.to_owned(),
                of: ObservedProcess::Here(generator),
                counts: false,
            };
            // All of its usage belongs to this run.
            self.watched
                .push(WatchedProcess::of(&entry, BTreeMap::new()));
        }
        if Instant::now() >= self.next {
            self.take_reading();
        }
    }

    fn take_reading(&mut self) {
        self.next = Instant::now() + self.every;
        for watched in &mut self.watched {
            watched.take_reading();
        }
        // The lab did not start the system, so its process is unknown.
        let counts = self.watched.iter().filter(|one| !one.peak.apart);
        let used = counts
            .map(WatchedProcess::cpu)
            .reduce(|sum, used| sum + used);
        let elapsed = self.began.elapsed().as_secs_f64();
        self.series.extend(used.map(|used| (elapsed, used)));
    }

    /// Takes the last reading.
    pub fn end(mut self) -> Observed {
        self.take_reading();
        Observed {
            used: self
                .watched
                .into_iter()
                .map(|watched| Used {
                    cpu_seconds: watched.cpu(),
                    context_switches: watched.switches(),
                    ..watched.peak
                })
                .collect(),
            series: self.series,
        }
    }
}

impl WatchedProcess {
    fn of(entry: &ObservedEntry, before: BTreeMap<u32, ProcessReading>) -> WatchedProcess {
        WatchedProcess {
            of: entry.of.clone(),
            before,
            last: BTreeMap::new(),
            peak: Used {
                name: entry.name.clone(),
                apart: !entry.counts,
                ..Used::default()
            },
        }
    }

    fn take_reading(&mut self) {
        let now = self.of.tree();
        let sum = |of: fn(&ProcessReading) -> u64| now.values().map(of).sum::<u64>();
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let peak = &mut self.peak;
        peak.peak_rss_bytes = peak.peak_rss_bytes.max(sum(|sample| sample.rss_bytes));
        peak.threads = peak
            .threads
            .max(narrow(sum(|sample| sample.threads.into())));
        peak.open_files = peak
            .open_files
            .max(narrow(sum(|sample| sample.files.into())));
        // A child that has exited keeps its last reading.
        self.last.extend(now);
    }

    fn cpu(&self) -> f64 {
        let since = |pid: &u32, sample: &ProcessReading| {
            let before = self
                .before
                .get(pid)
                .map_or(0.0, |before| before.cpu_seconds);
            (sample.cpu_seconds - before).max(0.0)
        };
        self.last
            .iter()
            .map(|(pid, sample)| since(pid, sample))
            .sum()
    }

    fn switches(&self) -> (u64, u64) {
        self.last.iter().fold((0, 0), |sum, (pid, sample)| {
            let before = self
                .before
                .get(pid)
                .map_or((0, 0), |before| before.switches);
            (
                sum.0 + sample.switches.0.saturating_sub(before.0),
                sum.1 + sample.switches.1.saturating_sub(before.1),
            )
        })
    }
}

impl ObservedProcess {
    /// The process and all its descendants.
    fn tree(&self) -> BTreeMap<u32, ProcessReading> {
        match self {
            ObservedProcess::Here(pid) => std::iter::once(*pid)
                .chain(descendants(*pid))
                .filter_map(|pid| Some((pid, ProcessReading::of(pid)?)))
                .collect(),
            ObservedProcess::There(connection) => {
                let processes = connection.read().processes.into_iter();
                processes.map(|(pid, used)| (pid, used.into())).collect()
            }
        }
    }
}
