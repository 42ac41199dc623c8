//! The messages between the coordinator and the agents, except for frames. They are JSON, because there are few of
//! them.

use std::collections::BTreeMap;

use plimsoll_pace::Takeover;
use plimsoll_plan::Stripe;
use serde::{Deserialize, Serialize};

use crate::assignment::Assignment;

/// The subject of commands to all agents.
pub const COMMANDS_TO_ALL: &str = "plimsoll.command.all";
/// The subject pattern of all agents' messages.
pub const REPORTS_OF_ALL: &str = "plimsoll.agent.*";
/// The first byte of a piece of the archive. JSON starts with `{`, and a frame with `P`.
const PIECE_MARK: u8 = b'C';
/// The length of a piece of the archive.
pub const PIECE_LENGTH: usize = 256 << 10;

/// The subject of commands to one agent.
pub fn command_subject(id: &str) -> String {
    format!("plimsoll.command.{id}")
}

/// The subject of an agent's messages.
pub fn report_subject(id: &str) -> String {
    format!("plimsoll.agent.{id}")
}

/// A message of the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Command {
    /// Asks agents to report who they are.
    Find,
    /// Assigns a part of a run to the agent.
    Prepare(Box<Assignment>),
    /// The current instructions for the agent, sent several times per second.
    Want(Instructions),
    /// A comparison of clocks.
    Ping { run: String, sent: u64 },
    /// Asks agents which results they have of runs whose coordinator is gone.
    Collect,
    /// Requests the piece of a stored file that starts at this byte.
    Read { file: StoredFile, offset: u64 },
}

/// A file with the frames of one agent in one run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StoredFile {
    pub run: String,
    pub agent: u32,
    /// The epoch of the process that wrote it.
    pub epoch: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// The instructions for an agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    pub run: String,
    /// The number of the first frame that the coordinator does not have.
    pub next: u64,
    /// The result of `setup`, once it has returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupData>,
    /// When scenarios start, in nanoseconds of the agent's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Iterations of lost agents that the agent must take over. Empty if it already has all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takeovers: Vec<TakeoverPart>,
    /// Whether `teardown` may run.
    pub teardown: bool,
    /// Why the run ends early, if it does.
    pub stop: bool,
    /// Whether the agent is no longer needed for this run.
    pub leave: bool,
}

/// A part of a lost agent's schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeoverPart {
    /// The name of the scenario.
    pub scenario: String,
    /// The stripe of the lost agent: its slots in every cycle of this length.
    pub slots: Vec<u32>,
    pub period: u32,
    /// Every `step`-th of its iterations, starting with number `first`.
    pub first: u64,
    pub step: u64,
}

impl TakeoverPart {
    pub fn of(scenario: &str, part: &Takeover) -> TakeoverPart {
        TakeoverPart {
            scenario: scenario.to_owned(),
            slots: part.stripe.slots().to_vec(),
            period: part.stripe.fraction().1,
            first: part.first,
            step: part.step,
        }
    }

    /// Converts the message to the part of the load to take over.
    ///
    /// # Errors
    /// If the slots are invalid.
    pub fn takeover(&self) -> Result<Takeover, String> {
        let stripe = Stripe::of_slots(&self.slots, self.period);
        Ok(Takeover {
            stripe: stripe.map_err(|fault| fault.message)?,
            first: self.first,
            step: self.step.max(1),
        })
    }
}

/// The result of `setup`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetupData {
    /// The result as JSON. `None` if it returned nothing.
    pub json: Option<String>,
    /// Secrets that the result may contain, which no output may show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

/// A message of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Report {
    /// The agent is connected.
    Here(AgentInfo),
    /// The files that the agent stores.
    Kept { files: Vec<StoredFile> },
    /// Requests the piece of the archive that starts at this byte.
    Fetch { run: String, offset: u64 },
    /// The state of its run, sent several times per second.
    State(Box<State>),
    /// The reply to [`Command::Ping`]: when the ping was sent, in the coordinator's clock, and when it was received and
    /// replied to, in the agent's clock. In nanoseconds.
    Pong {
        run: String,
        sent: u64,
        received: u64,
        replied: u64,
    },
    /// A line of the script's log.
    Line {
        run: String,
        level: String,
        text: String,
        fields: BTreeMap<String, String>,
    },
    /// An open model has no free user.
    InsufficientUsers {
        run: String,
        scenario: String,
        users: u32,
    },
}

/// A connected agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AgentInfo {
    /// Its name for users.
    pub name: String,
    pub version: String,
    /// Its region, if any.
    #[serde(default)]
    pub region: Option<String>,
    /// The run in which it takes part. `None` if it is free.
    #[serde(default)]
    pub run: Option<String>,
    /// The maximum number of users that it accepts.
    #[serde(default)]
    pub max_users: Option<u32>,
}

/// The state of an agent's run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub run: String,
    /// The init code of all users has run.
    pub users_ready: bool,
    /// It waits for the start. On the agent that runs `setup`, contains its result.
    pub waiting: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupData>,
    /// The delay between the planned and the actual start of its scenarios, in nanoseconds.
    pub late: Option<u64>,
    /// How long its scenarios ran, in nanoseconds.
    pub done: Option<u64>,
    /// Users that run iterations.
    pub users: u32,
    /// Users whose init code has run.
    pub initialized: u32,
    /// The number of its frames.
    pub frames: u64,
    /// The number of parts of lost agents that it has taken over.
    #[serde(default)]
    pub takeovers: usize,
    /// Why its run ended.
    pub aborted: Option<Aborted>,
    /// Its run cannot start or continue, and it sends no more frames.
    pub failed: Option<String>,
    /// Its run has ended, and it has sent its last frame.
    pub ended: bool,
}

/// Why a run was aborted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aborted {
    pub cause: AbortCause,
    pub text: String,
}

/// The kinds of reasons that can occur on an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbortCause {
    ByScript,
    Exception,
    SetupTimeout,
    TeardownTimeout,
    Failed,
    Machine,
}

pub fn encode(message: &impl Serialize) -> Vec<u8> {
    // Serialization fails only for maps whose keys are not strings.
    serde_json::to_vec(message).unwrap_or_default()
}

/// Serializes a piece of the archive.
pub fn encode_piece(offset: u64, piece: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + piece.len());
    bytes.push(PIECE_MARK);
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(piece);
    bytes
}

/// Reads a piece of the archive, and its offset. `None` if the bytes are another kind of message.
pub fn decode_piece(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (offset, piece) = rest.split_first_chunk::<8>()?;
    (*first == PIECE_MARK).then_some((u64::from_be_bytes(*offset), piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_not_json_and_are_decoded() {
        let bytes = encode_piece(7, b"abc");
        assert_eq!(decode_piece(&bytes), Some((7, &b"abc"[..])));
        assert_eq!(decode_piece(&encode(&Command::Find)), None);
        assert_eq!(decode_piece(b"C12"), None);
    }

    #[test]
    fn a_state_is_read_back() {
        let state = State {
            run: "7".to_owned(),
            setup: Some(SetupData::default()),
            aborted: Some(Aborted {
                cause: AbortCause::ByScript,
                text: "enough".to_owned(),
            }),
            ..State::default()
        };
        let bytes = encode(&Report::State(Box::new(state)));
        let Ok(Report::State(read)) = serde_json::from_slice(&bytes) else {
            panic!("{}", String::from_utf8_lossy(&bytes));
        };
        assert_eq!(read.setup, Some(SetupData::default()));
        assert_eq!(
            read.aborted.map(|aborted| aborted.text).as_deref(),
            Some("enough")
        );
    }
}
