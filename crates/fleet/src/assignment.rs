//! The part of a run that is assigned to an agent.

use std::path::PathBuf;

use plimsoll_plan::Plan;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::random;

/// Maximum size of a script and its files, in bytes.
pub const MAX_PACKAGE_LENGTH: u64 = 256 << 20;

/// One agent's part of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Assignment {
    /// Identifies the run: 32 hexadecimal digits.
    pub run: String,
    /// The agent's number, starting at 0. The first agent runs `setup` and `teardown`.
    pub agent: u32,
    /// Its segment of the test, such as `1/4:2/4`.
    pub segment: String,
    /// The boundaries of all parts.
    pub sequence: String,
    /// The length of the packed files, in bytes.
    pub package_length: u64,
    /// Their SHA-256 hash, as hexadecimal digits.
    pub package_hash: String,
    /// The hash of the scenarios of its part ([`plan_hash`]).
    pub plan_hash: String,
    /// The number of worker threads. The default is one per processor.
    pub threads: Option<usize>,
    /// The kernel interface for sending and receiving.
    pub io: String,
    /// Whether other agents of the run are on the same machine.
    pub shares_machine: bool,
    /// The settings of the run's metrics, which must be the same on all agents.
    pub thresholds: bool,
    pub breakdown: bool,
    pub by_name: bool,
    pub by_second: bool,
    /// Whether outputs need individual samples.
    pub outputs: bool,
    /// The number of agents.
    pub agents: u32,
    /// Its share of the whole load, from 0 to 1.
    pub share: f64,
    /// Whether it may have to take over iterations of lost agents.
    pub redistributes: bool,
    /// The number of iterations of each of its scenarios, if the plan determines it.
    pub iterations: Vec<Option<u64>>,
    /// For a load without a script: the command and its arguments, as the coordinator received them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// For a script: the TLS flags.
    pub insecure: bool,
    pub ca: Vec<PathBuf>,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    /// For a script: the sources of secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secret_sources: Vec<String>,
}

impl Assignment {
    /// The assignment without arguments that may be secret.
    pub fn without_secrets(&self) -> Assignment {
        Assignment {
            command: Vec::new(),
            secret_sources: Vec::new(),
            ..self.clone()
        }
    }
}

/// The hash of a plan's scenarios. The agent builds its plan from the archive, and its hash must equal that of the
/// coordinator's plan.
pub fn plan_hash(plan: &Plan) -> String {
    let text = format!("{:?}", plan.scenarios);
    random::hex(&Sha256::digest(text))
}

/// The boundaries of equal parts, and each part. They are exact fractions, so that nothing is omitted.
pub fn equal_parts(agents: u32) -> (String, Vec<String>) {
    let border = |n: u32| match n {
        0 => "0".to_owned(),
        n if n == agents => "1".to_owned(),
        n => format!("{n}/{agents}"),
    };
    let borders: Vec<_> = (0..=agents).map(border).collect();
    let parts = borders.windows(2).map(|pair| pair.join(":")).collect();
    (borders.join(","), parts)
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::{Segment, SegmentSequence};

    use super::*;

    #[test]
    fn parts_are_exact_fractions() {
        let (sequence, parts) = equal_parts(3);
        assert_eq!(sequence, "0,1/3,2/3,1");
        assert_eq!(parts, ["0:1/3", "1/3:2/3", "2/3:1"]);
        assert!(SegmentSequence::parse(&sequence).is_ok());
        assert!(parts.iter().all(|part| Segment::parse(part).is_ok()));
        assert_eq!(equal_parts(1).1, ["0:1"]);
    }
}
