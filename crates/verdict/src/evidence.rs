//! Judges whether the figures can be trusted, and gives the reasons if they cannot. The evidence consists of the
//! generator's observations of itself, its machine, the service and the clock. `docs/verdict.md` lists all
//! thresholds.

use std::time::Duration;

use plimsoll_machine::{MachineReading, ThreadReading};
use plimsoll_units::Bytes;

use crate::{Arrivals, Cause, Level, MainFailure, Reason, ServiceTimes, Verdict};

/// Evidence collected over a whole run.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub(crate) workers: Vec<WorkerEvidence>,
    lateness: Vec<u64>,
    /// The machine readings during the run.
    pub machine: MachineReading,
    /// Whether iterations followed a schedule.
    pub open_model: bool,
    /// The 99th percentile of the send lag: actual minus scheduled start, in an open model.
    pub send_lag_p99: Option<Duration>,
    /// What the scenarios with an arrival process sent.
    pub arrivals: Vec<Arrivals>,
    /// The median of the latency that the run reports.
    pub latency_median: Option<Duration>,
    /// Number of iterations that arrival-rate scenarios scheduled.
    pub scheduled: u64,
    /// Number of these that were dropped because no user was free.
    pub dropped: u64,
    /// Number of started iterations.
    pub started: u64,
    /// Number of iterations in which the script threw an exception.
    pub threw: u64,
    /// Machine readings that are not accessible to this process.
    pub unreadable: Vec<&'static str>,
    /// Number of requests that failed because this machine had no free local port or file descriptor.
    pub exhausted: u64,
    /// Number of requests without a response or with an unexpected one.
    pub failed: u64,
    /// Number of all requests.
    pub requests: u64,
    /// Number of requests with any response.
    pub responses: u64,
    /// Why the run ended early, if the machine of the client was the cause.
    pub machine_failure: Option<String>,
    /// Number of requests that were sent again because the server closed their connection or
    /// refused them.
    pub resent: u64,
    /// Number of successful WebSocket handshakes.
    pub websocket_handshakes: u64,
    /// Number of WebSocket messages sent, without pings and close frames.
    pub messages_sent: u64,
    /// Number of WebSocket messages received.
    pub messages_received: u64,
    /// The most frequent failure.
    pub main_failure: Option<MainFailure>,
    /// Whether every iteration is a request. A run without requests then measured nothing.
    pub is_request_load: bool,
    /// Number of iterations that were interrupted.
    pub interrupted: u64,
    /// Whether the run ended before any iteration started and any request was sent, for example because `setup` failed.
    pub is_unstarted: bool,
    pub sent: Bytes,
    pub received: Bytes,
    /// The times of requests in a closed model, and the times of their phases in any model.
    pub service: Option<ServiceTimes>,
    /// Maximum number of connections that held a local port at the same time, and the number of
    /// local ports.
    pub waiting_ports: Option<(u64, u64)>,
    /// Maximum number of open file descriptors, and their limit.
    pub descriptors: Option<(u64, u64)>,
    /// The smallest observed step of the clock.
    pub clock_step: Option<Duration>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerEvidence {
    span: Duration,
    cpu: Duration,
    waited: Duration,
    /// Whether the kernel reports how long workers waited for a processor.
    pub(crate) reports_waiting: bool,
}

/// Maximum share of the time that a worker may be busy. A busier worker sends late.
const BUSY: f64 = 0.90;
/// The start of the sentence on a generator at its limit. Callers that know the load of the server
/// recognize the finding by it.
pub const BUSY_WORKER: &str = "a worker used";
/// Maximum share of the time that a runnable worker may wait for a processor.
const WAIT_SUSPECT: f64 = 0.05;
const WAIT_INVALID: f64 = 0.25;
/// Maximum 99th percentile of the lateness of a worker's timers. Smaller values are normal jitter
/// of a machine.
const LATE_SUSPECT: Duration = Duration::from_millis(5);
const LATE_INVALID: Duration = Duration::from_millis(100);
/// Maximum 99th percentile of the send lag.
const LAG_SUSPECT: Duration = Duration::from_millis(2);
const LAG_INVALID: Duration = Duration::from_millis(100);
/// The share of moments above a 99th percentile.
const LATE_SHARE: f64 = 0.01;
/// Maximum processor use of a worker that is not late because of its own work.
const UNLOADED: f64 = 0.5;
/// Maximum share of the schedule that may be dropped.
const DROPPED_INVALID: f64 = 0.5;
/// Number of buckets for lateness. They are powers of two of a microsecond.
const BUCKETS: usize = 40;

impl Evidence {
    /// Adds the measurements of one worker for one second.
    pub fn add(&mut self, worker: usize, thread: &ThreadReading) {
        if self.workers.len() <= worker {
            self.workers
                .resize_with(worker + 1, WorkerEvidence::default);
        }
        let entry = &mut self.workers[worker];
        entry.span += thread.span;
        entry.cpu += thread.cpu;
        entry.waited += thread.run_queue_wait.unwrap_or_default();
        entry.reports_waiting |= thread.run_queue_wait.is_some();
        self.lateness.resize(BUCKETS, 0);
        for late in &thread.lateness {
            let bucket = (late.as_micros() as u64)
                .checked_ilog2()
                .map_or(0, |log| log as usize + 1);
            self.lateness[bucket.min(BUCKETS - 1)] += 1;
        }
    }

    /// Returns the verdict.
    pub fn judge(&self) -> Verdict {
        self.find().into_verdict(self)
    }

    /// Returns the problems, each with the level that it requires.
    pub fn problems(&self) -> Vec<(Level, Reason)> {
        self.find().all
    }

    fn find(&self) -> Findings {
        let mut found = Findings::default();
        // Must be the first of its level, because without responses nothing else matters.
        self.judge_responses(&mut found);
        self.judge_workers(&mut found);
        self.judge_schedule(&mut found);
        self.judge_arrivals(&mut found);
        self.judge_machine(&mut found);
        self.judge_exceptions(&mut found);
        self.judge_service(&mut found);
        self.judge_clock(&mut found);
        self.judge_gaps(&mut found);
        found
    }

    fn judge_workers(&self, found: &mut Findings) {
        if let Some(busiest) = self.busiest()
            && busiest > BUSY
        {
            found.add(Level::Suspect, Cause::Client, format!(
                "{BUSY_WORKER} {:.0}% of its processor: the server may handle more than was offered",
                busiest * 100.0
            ));
        }
        let waited = self.waited_share();
        if let Some(level) = graded(waited, WAIT_SUSPECT, WAIT_INVALID) {
            found.disturbed(level, format!(
                "a worker was ready and had no processor for {:.0}% of the time: other programs compete with it",
                waited * 100.0
            ));
        }
        if let Some(late) = self.lateness_p99()
            && let Some(level) = graded(late, LATE_SUSPECT, LATE_INVALID)
        {
            self.add_late(
                found,
                level,
                format!(
                    "one in a hundred of the generator's own timers was more than {} late",
                    plimsoll_units::duration::short(late)
                ),
            );
        }
    }

    fn judge_schedule(&self, found: &mut Findings) {
        if let Some(lag) = self.send_lag_p99
            && let Some(level) = graded(lag, LAG_SUSPECT, LAG_INVALID)
        {
            self.add_late(found, level, format!(
                "one in a hundred iterations started more than {} after its scheduled moment (send lag p99)",
                plimsoll_units::duration::short(lag)
            ));
        }
        if self.dropped > 0 {
            let share = self.dropped as f64 / self.scheduled as f64;
            let level = if share > DROPPED_INVALID {
                Level::Invalid
            } else {
                Level::Suspect
            };
            // Without requests, only the script kept the users busy.
            let (cause, more) = match self.requests == 0 && self.sent.get() == 0 {
                true => (Cause::Client, ""),
                false => (Cause::Server, ", or the server is beyond its limit"),
            };
            found.add(level, cause, format!(
                "{} of {} scheduled iterations were dropped because all users were busy: allow more users{more}",
                self.dropped, self.scheduled
            ));
        }
    }

    /// Adds the finding that one in a hundred moments was missed. Other programs are the cause if
    /// workers that needed at most half of their processor waited for it at least that share of the
    /// time.
    fn add_late(&self, found: &mut Findings, level: Level, text: String) {
        let waited = self.waited_share();
        let taken = waited + self.stolen_share().unwrap_or(0.0);
        if taken >= LATE_SHARE && self.busiest().is_some_and(|busy| busy <= UNLOADED) {
            let cause = format!(
                "{text}, while other programs or the hypervisor had its processor for {:.1}% of the time",
                taken * 100.0
            );
            found.disturbed(level, cause);
        } else {
            found.add(level, Cause::Client, text);
        }
    }

    /// The largest share of the time that a runnable worker waited for a processor.
    fn waited_share(&self) -> f64 {
        let shares = self.workers.iter().map(WorkerEvidence::waiting_share);
        shares.fold(0.0, f64::max)
    }

    /// Whether it is unknown how long the workers themselves waited for a processor. If it is
    /// known, that wait is judged instead of the wait of all programs. The latter includes, for
    /// example, the processes of a measured database, which queue for their own processors and do
    /// not affect the generator.
    pub(crate) fn waiting_is_unknown(&self) -> bool {
        self.workers.is_empty() || !self.workers.iter().all(|worker| worker.reports_waiting)
    }

    fn busiest(&self) -> Option<f64> {
        self.workers
            .iter()
            .filter(|w| !w.span.is_zero())
            .map(WorkerEvidence::busy_share)
            .reduce(f64::max)
    }

    /// The upper bound of the bucket that contains the 99th percentile.
    fn lateness_p99(&self) -> Option<Duration> {
        let total: u64 = self.lateness.iter().sum();
        // Fewer than a hundred readings do not have a 99th percentile.
        if total < 100 {
            return None;
        }
        let above = total / 100;
        let mut seen = 0;
        let bucket = (0..self.lateness.len()).rev().find(|bucket| {
            seen += self.lateness[*bucket];
            seen > above
        })?;
        Some(Duration::from_micros(if bucket == 0 {
            0
        } else {
            1 << (bucket - 1)
        }))
    }
}

impl WorkerEvidence {
    fn busy_share(&self) -> f64 {
        share(self.cpu, self.span)
    }

    fn waiting_share(&self) -> f64 {
        share(self.waited, self.span)
    }
}

/// The ratio of two times, or 0 if the whole is 0.
pub(crate) fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() {
        0.0
    } else {
        part.as_secs_f64() / whole.as_secs_f64()
    }
}

pub(crate) fn graded<T: PartialOrd>(seen: T, suspect: T, invalid: T) -> Option<Level> {
    if seen > invalid {
        Some(Level::Invalid)
    } else if seen > suspect {
        Some(Level::Suspect)
    } else {
        None
    }
}

#[derive(Default)]
pub(crate) struct Findings {
    all: Vec<(Level, Reason)>,
    disturbed: bool,
}

impl Findings {
    pub fn add(&mut self, level: Level, cause: Cause, text: String) {
        self.all.push((level, Reason { cause, text }));
    }

    /// Adds a disturbance by other programs of the machine or by its hypervisor.
    pub fn disturbed(&mut self, level: Level, text: String) {
        self.disturbed = true;
        self.add(level, Cause::Client, text);
    }

    /// Sorts the findings, worst first. A run without findings lists what was checked instead.
    fn into_verdict(mut self, evidence: &Evidence) -> Verdict {
        self.all.sort_by_key(|(level, _)| std::cmp::Reverse(*level));
        let Some((level, _)) = self.all.first() else {
            return Verdict {
                level: Level::Valid,
                reasons: evidence.all_well(),
                disturbed: false,
            };
        };
        Verdict {
            level: *level,
            reasons: self.all.into_iter().map(|(_, reason)| reason).collect(),
            disturbed: self.disturbed,
        }
    }
}

impl Evidence {
    fn all_well(&self) -> Vec<Reason> {
        let mut seen = Vec::new();
        if let Some(busiest) = self.busiest() {
            seen.push(format!(
                "busiest worker at {:.0}% of its processor",
                busiest * 100.0
            ));
        }
        if let Some(late) = self.lateness_p99() {
            let late = late.max(Duration::from_micros(1));
            seen.push(format!(
                "timers late by about {} (p99)",
                plimsoll_units::duration::short(late)
            ));
        }
        if let Some(lag) = self.send_lag_p99 {
            seen.push(format!(
                "send lag {} (p99)",
                plimsoll_units::duration::short(lag)
            ));
        }
        if self.resent > 0 {
            seen.push(self.resent_text());
        }
        if seen.is_empty() {
            seen.push("the run was too short to check the generator".to_owned());
        }
        if self.failed > 0 {
            seen.push(format!(
                "but {} of {} requests failed",
                self.failed, self.requests
            ));
        }
        let texts = std::iter::once(seen.join(", ")).chain(self.arrivals_seen());
        texts
            .map(|text| Reason {
                cause: Cause::Client,
                text,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests;
