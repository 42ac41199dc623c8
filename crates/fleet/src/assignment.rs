//! A part of a run, as an agent gets it.

use plimsoll_plan::Plan;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::random;

/// The longest archive of a script, in bytes.
pub const ARCHIVE: u64 = 256 << 20;

/// One agent's part of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Assignment {
    /// Identifies the run: 32 hexadecimal digits.
    pub run: String,
    /// The agent's number, from 0. The first one runs `setup` and `teardown`.
    pub agent: u32,
    /// Its part of the test, such as `1/4:2/4`.
    pub segment: String,
    /// The boundaries of all parts.
    pub sequence: String,
    /// The length of the archive, in bytes.
    pub archive_length: u64,
    /// The archive's SHA-256 hash, as hexadecimal digits.
    pub archive_hash: String,
    /// The hash of the scenarios of its part ([`plan_hash`]).
    pub plan_hash: String,
    /// Worker threads; by default one for each processor.
    pub threads: Option<usize>,
    /// How requests are sent and received.
    pub io: String,
    /// Other agents of the run are on the same machine.
    pub shares_machine: bool,
    /// The settings of the run's metrics, which must be the same everywhere.
    pub thresholds: bool,
    pub breakdown: bool,
    pub by_name: bool,
    pub by_second: bool,
}

/// The hash of a plan's scenarios. The agent builds its plan from the archive, and must get the one that the
/// coordinator expects.
pub fn plan_hash(plan: &Plan) -> String {
    let text = format!("{:?}", plan.scenarios);
    random::hex(&Sha256::digest(text))
}

/// The boundaries of equal parts, and each part: exact fractions, so that nothing is left out.
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
