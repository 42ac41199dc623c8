//! Puts the frames of one agent in order and removes duplicates.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::Range;

use plimsoll_samples::wire::WireError;

use crate::frame::{Digest, Frame, RunId};

/// Maximum number of frames that wait for an earlier one. Further frames are dropped, because the
/// agent sends them again.
const WAITING_LIMIT: usize = 256;
/// Number of frame hashes to remember, to distinguish a repeated frame from a different one with
/// the same number.
const REMEMBERED: usize = 4_096;

/// The frames of one agent, in order.
#[derive(Debug)]
pub struct Ledger {
    run: RunId,
    agent: u32,
    epoch: u64,
    /// The number of the next expected frame.
    next: u64,
    /// The hash of the previous frame.
    previous: Digest,
    /// The hashes of the latest frames, up to `next`.
    remembered: VecDeque<Digest>,
    waiting: BTreeMap<u64, (Digest, Frame)>,
    fault: Option<Fault>,
}

/// The outcome of processing a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Receipt {
    /// It was the next frame. Contains this frame and the frames that waited for it.
    InOrder(Vec<Frame>),
    /// It waits for a missing frame.
    Waiting,
    /// It was received before.
    Repeated,
    /// It was rejected. The completeness of the agent's results can no longer be proven.
    Refused(Fault),
}

/// The reason why the frames of an agent do not form a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes are not a frame.
    Unreadable(WireError),
    /// The frame belongs to another run or agent.
    Foreign,
    /// The frame comes from another process than the one that started the run.
    Epoch { expected: u64, found: u64 },
    /// Two different frames have this number.
    Fork { sequence: u64 },
    /// The frame with this number does not follow the previous one.
    Chain { sequence: u64 },
    /// The samples in the frame with this number could not be decoded.
    Samples { sequence: u64, error: WireError },
    /// The times or counts of the frame with this number contradict those of earlier frames.
    Contents { sequence: u64, what: &'static str },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Unreadable(error) => write!(f, "a frame is unreadable: {error}"),
            Fault::Foreign => f.write_str("a frame belongs to another run or agent"),
            Fault::Epoch { expected, found } => write!(
                f,
                "frames came from two processes of the agent (epochs {expected} and {found})"
            ),
            Fault::Fork { sequence } => {
                write!(f, "there are two different frames with number {sequence}")
            }
            Fault::Chain { sequence } => write!(
                f,
                "frame {sequence} does not have the hash of the frame before it"
            ),
            Fault::Samples { sequence, error } => {
                write!(f, "the samples of frame {sequence} are unreadable: {error}")
            }
            Fault::Contents { sequence, what } => write!(f, "{what} in frame {sequence}"),
        }
    }
}

impl Ledger {
    /// Creates a ledger without frames.
    pub fn new(run: RunId, agent: u32, epoch: u64) -> Ledger {
        Ledger {
            run,
            agent,
            epoch,
            next: 0,
            previous: Digest::default(),
            remembered: VecDeque::new(),
            waiting: BTreeMap::new(),
            fault: None,
        }
    }

    /// Processes the bytes of a frame.
    pub fn take(&mut self, bytes: &[u8]) -> Receipt {
        let frame = match Frame::decode(bytes) {
            Ok(frame) => frame,
            Err(error) => return self.refuse(Fault::Unreadable(error)),
        };
        if frame.run != self.run || frame.agent != self.agent {
            return self.refuse(Fault::Foreign);
        }
        if frame.epoch != self.epoch {
            let (expected, found) = (self.epoch, frame.epoch);
            return self.refuse(Fault::Epoch { expected, found });
        }
        let (sequence, digest) = (frame.sequence, Digest::of(bytes));
        if sequence < self.next {
            return match self.remembered(sequence) {
                Some(known) if known != digest => self.refuse(Fault::Fork { sequence }),
                _ => Receipt::Repeated,
            };
        }
        if let Some((known, _)) = self.waiting.get(&sequence) {
            return if *known == digest {
                Receipt::Repeated
            } else {
                self.refuse(Fault::Fork { sequence })
            };
        }
        if sequence > self.next {
            // Drop a frame above the limit: the agent sends it again later.
            if self.waiting.len() < WAITING_LIMIT {
                self.waiting.insert(sequence, (digest, frame));
            }
            return Receipt::Waiting;
        }
        let mut in_order = Vec::new();
        let mut following = Some((digest, frame));
        while let Some((digest, frame)) = following {
            if frame.previous != self.previous {
                return self.refuse(Fault::Chain {
                    sequence: frame.sequence,
                });
            }
            self.previous = digest;
            if self.remembered.len() == REMEMBERED {
                self.remembered.pop_front();
            }
            self.remembered.push_back(digest);
            self.next += 1;
            in_order.push(frame);
            following = self.waiting.remove(&self.next);
        }
        Receipt::InOrder(in_order)
    }

    fn remembered(&self, sequence: u64) -> Option<Digest> {
        let back = usize::try_from(self.next - sequence).ok()?;
        let place = self.remembered.len().checked_sub(back)?;
        self.remembered.get(place).copied()
    }

    /// Records the first fault. Unreadable and foreign frames are faults as well, because they may
    /// be damaged frames of this agent.
    pub(crate) fn refuse(&mut self, fault: Fault) -> Receipt {
        self.fault.get_or_insert_with(|| fault.clone());
        Receipt::Refused(fault)
    }

    /// The first fault.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    /// The number of the next expected frame, which is also the number of frames received in order.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The numbers of the frames to request again. `None` unless later frames have arrived.
    pub fn missing(&self) -> Option<Range<u64>> {
        let first = self.waiting.keys().next()?;
        Some(self.next..*first)
    }
}
