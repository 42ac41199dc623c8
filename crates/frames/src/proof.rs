//! Proves whether the results of a run are complete.

use std::fmt;
use std::time::Duration;

use crate::account::{Account, Moved};
use crate::frame::End;

/// What to do when a run loses an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The run ends, and its results are invalid.
    #[default]
    Fail,
    /// The run continues with less load, and its results are degraded.
    Degrade,
    /// The run continues, and the other agents take over the load of the lost one. The results are
    /// degraded, because some of its iterations are missing.
    Redistribute,
}

/// How complete the results of a run are, from worst to best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completeness {
    /// Something is missing, or contradicts other results.
    Invalid,
    /// The run lost agents, but the results that they had sent are complete.
    Degraded,
    /// The results contain everything that every agent recorded, exactly once.
    Complete,
}

/// An agent that the run lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lost {
    pub agent: u32,
    /// The end of its latest results, since the start of the run.
    pub at: Duration,
    /// Its share of the load, 0 to 1.
    pub share: f64,
    /// The time at which other agents took over its load, if they did.
    pub moved: Option<Moved>,
}

/// Missing results of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub agent: u32,
    /// The start of the gap, since the start of the run. It extends to the end of the run.
    pub from: Duration,
}

/// The result of checking all accounts of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    pub completeness: Completeness,
    pub agents: usize,
    pub lost: Vec<Lost>,
    pub missing: Vec<Missing>,
    /// Contradictions: one sentence each, with the agent's name.
    pub faults: Vec<String>,
    /// The share of the load that was offered after the last loss, from 0 to 1.
    pub offered: f64,
}

/// Checks the accounts of all agents when a run has ended.
pub fn judge<'a>(accounts: impl IntoIterator<Item = &'a Account>, policy: Policy) -> Proof {
    let mut proof = Proof {
        completeness: Completeness::Complete,
        agents: 0,
        lost: Vec::new(),
        missing: Vec::new(),
        faults: Vec::new(),
        offered: 1.0,
    };
    for account in accounts {
        let agent = account.agent;
        proof.agents += 1;
        let mut found = Vec::new();
        if let Some(fault) = account.ledger.fault() {
            found.push(fault.to_string());
        }
        if let Some(missing) = account.ledger.missing() {
            found.push(match missing.end - missing.start {
                1 => format!("frame {} is missing", missing.start),
                _ => format!(
                    "frames {} to {} are missing",
                    missing.start,
                    missing.end - 1
                ),
            });
        }
        match (&account.end, account.lost) {
            (Some(end), _) => found.extend(contradictions(account, end)),
            (None, Some(at)) => {
                proof.missing.push(Missing { agent, from: at });
                let share = account.planned.share;
                let moved = account.moved;
                proof.lost.push(Lost {
                    agent,
                    at,
                    share,
                    moved,
                });
            }
            (None, None) => {
                let from = account.until;
                proof.missing.push(Missing { agent, from });
                found.push("its last frame is missing".to_owned());
            }
        }
        let found = found.into_iter();
        proof
            .faults
            .extend(found.map(|what| format!("agent {agent}: {what}")));
    }
    let reduced = proof.lost.iter().filter(|lost| lost.moved.is_none());
    proof.offered = 1.0 - reduced.map(|lost| lost.share).sum::<f64>();
    let is_degraded = !proof.lost.is_empty();
    let nothing_left = proof.lost.len() == proof.agents;
    if !proof.faults.is_empty() || nothing_left || is_degraded && policy == Policy::Fail {
        proof.completeness = Completeness::Invalid;
    } else if is_degraded {
        proof.completeness = Completeness::Degraded;
    }
    proof
}

/// Contradictions between the agent's own totals, the totals of its frames, and the plan.
fn contradictions(account: &Account, end: &End) -> Vec<String> {
    let mut found = Vec::new();
    let received = account.cumulative();
    if let Some(metric) = end.cumulative.difference(&received) {
        found.push(format!(
            "the sum of {metric} in its frames differs from its own"
        ));
    }
    if end.records != account.records {
        found.push(format!(
            "its frames have {} of its {} single samples",
            account.records, end.records
        ));
    }
    if end.counts != account.counts {
        found.push("the counts in its frames do not add up to its own".to_owned());
    }
    for (name, counted) in [
        ("iterations", end.counts.completed),
        (
            "dropped_iterations",
            end.counts.scenarios.iter().map(|one| one.dropped).sum(),
        ),
    ] {
        let sampled = received.counter(name);
        if sampled != counted as f64 {
            found.push(format!(
                "it counted {counted} {name} and has samples of {sampled}"
            ));
        }
    }
    let scenarios = end.counts.scenarios.iter().enumerate();
    let scheduled = |at: usize| account.planned.iterations.get(at).copied().flatten();
    for (at, counts) in scenarios {
        let Some(scheduled) = scheduled(at) else {
            continue;
        };
        let total_due = counts.started + counts.dropped;
        // Only an agent that ended early may have fewer iterations than scheduled.
        if total_due > scheduled || total_due < scheduled && end.ended_early.is_none() {
            found.push(format!(
                "scenario {} scheduled {scheduled} iterations, but {} started and {} were dropped",
                at + 1,
                counts.started,
                counts.dropped
            ));
        }
    }
    found
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = self.lost.iter().map(|lost| {
            let at = lost.at.as_secs_f64();
            let text = format!("agent {} lost at {at:.0} s", lost.agent);
            match lost.moved {
                Some(Moved { at, missing }) => format!(
                    "{text}, its load moved to the others at {:.0} s, {missing} of its iterations missing",
                    at.as_secs_f64()
                ),
                None => text,
            }
        });
        let mut details: Vec<String> = lost.collect();
        match self.completeness {
            Completeness::Complete => {
                let agents = self.agents;
                let s = if agents == 1 { "" } else { "s" };
                return write!(f, "complete: every sample of {agents} agent{s}, once");
            }
            Completeness::Degraded => {
                f.write_str("degraded (")?;
                let percent = self.offered * 100.0;
                details.push(format!("offered rate at the end: {percent:.0} %"));
            }
            Completeness::Invalid => {
                f.write_str("invalid (")?;
                details.extend(self.faults.iter().cloned());
            }
        }
        write!(f, "{})", details.join("; "))
    }
}
