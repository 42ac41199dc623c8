//! Checks the machine that the generator runs on, and the network path to the server.

use std::time::Duration;

use crate::evidence::{Evidence, Findings, graded, share};
use crate::{Cause, Level};

/// Maximum share of quota periods in which the control group was throttled.
const THROTTLED_INVALID: f64 = 0.02;
/// Maximum share of processor time that the hypervisor took away (steal).
const STEAL_SUSPECT: f64 = 0.02;
const STEAL_INVALID: f64 = 0.15;
/// Minimum share of the available processors that is busy on a crowded machine.
const CROWDED: f64 = 0.95;
/// Minimum share of the available processors that other programs use on a crowded machine.
const CROWDED_BY_OTHERS: f64 = 0.25;
/// Maximum share of the time in which some task on the machine waited for a processor.
const PROCESSOR_PRESSURE: f64 = 0.60;
/// Minimum duration of a reading. Shorter ones are too imprecise, because processor time is counted
/// in hundredths of a second.
const MIN_SPAN: Duration = Duration::from_secs(1);
/// Maximum share of the time in which some task waited for memory.
const MEMORY_SUSPECT: f64 = 0.05;
const MEMORY_INVALID: f64 = 0.25;
/// Maximum share of retransmitted TCP segments.
const RETRANSMIT_SUSPECT: f64 = 0.01;
const MIN_SEGMENTS: u64 = 1_000;
/// Maximum share of local ports that closed connections still hold (TIME_WAIT).
const PORTS_SUSPECT: f64 = 0.80;
/// Minimum share of local ports that the run itself used. Below this share, the held ports stem
/// from before the run and do not affect it.
const PORTS_TAKEN: f64 = 0.10;
/// Maximum share of file descriptors that are open.
const DESCRIPTORS_SUSPECT: f64 = 0.80;

impl Evidence {
    pub(crate) fn judge_machine(&self, found: &mut Findings) {
        self.judge_quota(found);
        self.judge_processors(found);
        self.judge_memory(found);
        self.judge_network(found);
    }

    /// A problem may go unnoticed if readings are not available.
    pub(crate) fn judge_gaps(&self, found: &mut Findings) {
        let mut unreadable = self.unreadable.clone();
        if self.workers.iter().any(|worker| !worker.reports_waiting) {
            unreadable.push("waiting for a processor (/proc/thread-self/schedstat)");
        }
        if !unreadable.is_empty() {
            found.add(
                Level::Suspect,
                Cause::Client,
                format!(
                    "this system does not show {}, so problems there would go unnoticed: mount /proc, or run outside of the sandbox",
                    unreadable.join(", ")
                ),
            );
        }
    }

    fn judge_quota(&self, found: &mut Findings) {
        let Some(times) = self.machine.throttled.filter(|times| *times > 0) else {
            return;
        };
        let periods = self.machine.quota_periods.unwrap_or(0).max(times);
        let share = times as f64 / periods as f64;
        let level = if share > THROTTLED_INVALID {
            Level::Invalid
        } else {
            Level::Suspect
        };
        found.add(level, Cause::Client, format!(
            "the control group's CPU quota throttled the generator in {times} of {periods} periods: raise the quota, or reduce the load"
        ));
    }

    /// The share of processor time that the hypervisor gave to other machines, or `None` if unknown.
    pub(crate) fn stolen_share(&self) -> Option<f64> {
        let all = self.machine.processor_time.filter(|all| !all.is_zero())?;
        Some(share(self.machine.steal?, all))
    }

    fn judge_processors(&self, found: &mut Findings) {
        let machine = &self.machine;
        if machine.span < MIN_SPAN {
            return;
        }
        if let Some(share) = self.stolen_share()
            && let Some(level) = graded(share, STEAL_SUSPECT, STEAL_INVALID)
        {
            found.disturbed(
                level,
                format!(
                    "the hypervisor gave {:.0}% of the processors' time to others (steal)",
                    share * 100.0
                ),
            );
        }
        if let (Some(busy), Some(all)) = (machine.allowed_busy, machine.allowed_time)
            && !all.is_zero()
        {
            let busy = share(busy, all);
            let others = busy - share(machine.own, all);
            if busy > CROWDED && others > CROWDED_BY_OTHERS {
                found.disturbed(Level::Suspect, format!(
                    "the processors it may use were {:.0}% busy, {:.0}% with other programs: pin it to processors of its own",
                    busy * 100.0,
                    others * 100.0
                ));
            }
        }
        if let Some(waited) = machine.processor_pressure
            && share(waited, machine.span) > PROCESSOR_PRESSURE
            && self.waiting_is_unknown()
        {
            let share = share(waited, machine.span);
            found.disturbed(Level::Suspect, format!(
                "for {:.0}% of the time some program of this machine waited for a processor (PSI)",
                share * 100.0
            ));
        }
    }

    fn judge_memory(&self, found: &mut Findings) {
        if let Some(waited) = self.machine.memory_pressure
            && let share = share(waited, self.machine.span)
            && let Some(level) = graded(share, MEMORY_SUSPECT, MEMORY_INVALID)
        {
            found.add(level, Cause::Client, format!(
                "for {:.0}% of the time some program on this machine waited for memory (PSI): run fewer users here",
                share * 100.0
            ));
        }
    }

    fn judge_network(&self, found: &mut Findings) {
        // A sender also retransmits segments that were not lost, if the acknowledgment is late by
        // as little as 2 ms (RFC 8985, section 7). The receiver reports such segments.
        let needless = self.machine.retransmitted_needlessly.unwrap_or(0);
        let lost = self
            .machine
            .retransmitted
            .map(|all| all.saturating_sub(needless));
        if let (Some(again), Some(sent)) = (lost, self.machine.segments_sent)
            && sent > MIN_SEGMENTS
            && again as f64 / sent as f64 > RETRANSMIT_SUSPECT
        {
            found.add(
                Level::Suspect,
                Cause::Network,
                format!("{again} of {sent} TCP segments were retransmitted, because they were lost or late"),
            );
        }
        if self.exhausted > 0 {
            found.add(Level::Invalid, Cause::Client, format!(
                "{} requests failed because there was no free local port or file descriptor: reuse connections, or raise ulimit -n and net.ipv4.ip_local_port_range",
                self.exhausted
            ));
            return;
        }
        if let Some((open, limit)) = self.descriptors
            && open as f64 > limit as f64 * DESCRIPTORS_SUSPECT
        {
            found.add(Level::Suspect, Cause::Client, format!(
                "{open} of {limit} file descriptors were open: raise ulimit -n, because a few more users would exceed it"
            ));
        }
        if let Some((waiting, ports)) = self.waiting_ports
            && waiting as f64 > ports as f64 * PORTS_SUSPECT
            && self
                .machine
                .opened
                .is_none_or(|opened| opened as f64 > ports as f64 * PORTS_TAKEN)
        {
            found.add(Level::Suspect, Cause::Client, format!(
                "{waiting} of {ports} local ports were held by closed connections (TIME_WAIT): reuse connections, or widen net.ipv4.ip_local_port_range"
            ));
        }
    }
}
