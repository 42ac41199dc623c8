//! The messages between the coordinator and agents, except frames. JSON, because they are few.

use std::collections::BTreeMap;

use plimsoll_pace::Takeover;
use plimsoll_plan::Stripe;
use serde::{Deserialize, Serialize};

use crate::assignment::Assignment;

/// The subject of commands to every agent.
pub const TO_ALL: &str = "plimsoll.command.all";
/// The subjects of every agent's messages.
pub const FROM_ALL: &str = "plimsoll.agent.*";
/// The first byte of a piece of the archive; JSON starts with `{`, and a frame with `P`.
const PIECE: u8 = b'C';
/// The length of a piece of the archive.
pub const PIECE_LENGTH: usize = 256 << 10;

/// The subject of commands to one agent.
pub fn to_agent(id: &str) -> String {
    format!("plimsoll.command.{id}")
}

/// The subject of an agent's messages.
pub fn from_agent(id: &str) -> String {
    format!("plimsoll.agent.{id}")
}

/// A message of the coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Command {
    /// Agents reply with what they are.
    Find,
    /// The agent gets a part of a run.
    Prepare(Box<Assignment>),
    /// What the coordinator wants of the agent, sent several times a second.
    Want(Want),
    /// A comparison of clocks.
    Ping { run: String, sent: u64 },
    /// Agents reply with what they keep of runs whose coordinator is gone.
    Collect,
    /// The agent sends the piece of a kept file that starts at this byte.
    Read { file: KeptFile, offset: u64 },
}

/// A file with the frames of one agent in one run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeptFile {
    pub run: String,
    pub agent: u32,
    /// The epoch of the process that wrote it.
    pub epoch: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// What the coordinator wants of an agent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Want {
    pub run: String,
    /// The number of the first frame that the coordinator does not have.
    pub next: u64,
    /// The data that `setup` returned, if it has returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupData>,
    /// When scenarios start, in nanoseconds of the agent's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Iterations of lost agents that the agent takes over. Empty when it has all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takeovers: Vec<TakeoverPart>,
    /// `teardown` may run.
    pub teardown: bool,
    /// The run ends early.
    pub stop: bool,
    /// The agent is no longer needed for this run.
    pub leave: bool,
}

/// A part of the schedule of a lost agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeoverPart {
    /// The name of the scenario.
    pub scenario: String,
    /// The lost agent's stripe: its slots in every cycle of this length.
    pub slots: Vec<u32>,
    pub period: u32,
    /// Every `step`-th of its iterations, from number `first` on.
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

/// What `setup` returned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetupData {
    /// As JSON; nothing if it returned nothing.
    pub json: Option<String>,
    /// The secrets that it may contain, which no output may show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
}

/// A message of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Report {
    /// The agent is connected.
    Here(Here),
    /// The files that the agent keeps.
    Kept { files: Vec<KeptFile> },
    /// The agent needs the piece of the archive that starts at this byte.
    Fetch { run: String, offset: u64 },
    /// The state of its run, sent several times a second.
    State(Box<State>),
    /// The reply to [`Command::Ping`]: when that was sent, in the coordinator's clock, and when it
    /// was received and replied to, in the agent's clock. In nanoseconds.
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
    /// An open model has no free users.
    InsufficientUsers {
        run: String,
        scenario: String,
        users: u32,
    },
}

/// An agent that is connected.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Here {
    /// Its name, for people.
    pub name: String,
    pub version: String,
    /// Its region, if it has one.
    #[serde(default)]
    pub region: Option<String>,
    /// The run that it takes part in; none if it is free.
    #[serde(default)]
    pub run: Option<String>,
    /// The most users that it accepts.
    #[serde(default)]
    pub max_users: Option<u32>,
}

/// The state of an agent's run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub run: String,
    /// Every user's init code has run.
    pub users_ready: bool,
    /// It waits for the start, and `setup` has returned this on the agent that runs it.
    pub waiting: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<SetupData>,
    /// How much later than planned its scenarios started, in nanoseconds.
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
    /// Why it ended its run.
    pub aborted: Option<Aborted>,
    /// Its run cannot start or continue, and no more frames will be sent.
    pub failed: Option<String>,
    /// Its run has ended, and its last frame was sent.
    pub ended: bool,
}

/// Why a run was aborted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Aborted {
    pub cause: AbortCause,
    pub text: String,
}

/// The kinds of reasons that arise on an agent.
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

/// A message as bytes.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    // Only maps whose keys are not text cannot be written.
    serde_json::to_vec(message).unwrap_or_default()
}

/// A piece of the archive as bytes.
pub fn encode_piece(offset: u64, piece: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + piece.len());
    bytes.push(PIECE);
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(piece);
    bytes
}

/// The piece of the archive in `bytes`, and where it starts; `None` if they are another message.
pub fn decode_piece(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (offset, piece) = rest.split_first_chunk::<8>()?;
    (*first == PIECE).then_some((u64::from_be_bytes(*offset), piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_not_json_and_are_read_back() {
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
