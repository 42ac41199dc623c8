//! The frame that an agent sends once a second, and its encoding.
//!
//! ```text
//! "PF" version  run  agent  epoch  sequence  hash of the previous frame  kind  content  checksum
//! ```
//!
//! Equal frames have equal bytes, so the hash of a frame is the hash of its bytes. The checksum is
//! the start of the hash of the preceding bytes. The next frame contains the whole hash, but the
//! last frame needs a checksum because it has no next one.

use std::time::Duration;

use plimsoll_samples::Cumulative;
use plimsoll_samples::wire::{Reader, WireError, Writer};
use sha2::{Digest as _, Sha256};

use crate::counts::Counts;

/// The first bytes of a frame. The last of them is the version of the encoding.
const MARK: [u8; 3] = [b'P', b'F', 2];
/// The length of a frame's checksum.
const CHECKSUM: usize = 8;
/// Maximum number of windows in one frame: one for each worker and phase of the run.
const WINDOW_LIMIT: usize = 4_096;
/// Maximum number of reasons for a verdict.
const REASON_LIMIT: usize = 256;
/// Maximum number of timer readings per second.
const LATENESS_LIMIT: usize = 4_096;

/// The SHA-256 hash of a frame's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
        let Digest(hash) = Digest::of(bytes);
        std::array::from_fn(|at| hash[at])
    }

    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }
}

/// Identifies a run. It is random, so that frames of an earlier run can be detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(pub [u8; 16]);

/// One message with results from an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub run: RunId,
    /// The number of the agent in the run, counted from 0.
    pub agent: u32,
    /// Identifies the process of the agent. A restarted agent has a different epoch.
    pub epoch: u64,
    /// The number of the frame, counted from 0 without gaps.
    pub sequence: u64,
    /// The hash of the previous frame, or zeros for the first one.
    pub previous: Digest,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Window(WindowFrame),
    /// Individual samples for outputs, as encoded by `plimsoll_samples::RecordEncoder`.
    Records(Vec<u8>),
    /// The last frame of an agent.
    End(Box<End>),
}

/// The results since the previous frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowFrame {
    /// The start of the time that the frame covers, since the start of the run. Equals the end of
    /// the previous frame.
    pub from: Duration,
    pub until: Duration,
    pub counts: Counts,
    /// Number of users that run iterations.
    pub users_active: u32,
    /// Number of users that have run their init code.
    pub users_ready: u32,
    /// The samples of the agent's workers.
    pub windows: Vec<WorkerWindow>,
}

/// The samples of one worker, and how busy the worker was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerWindow {
    pub worker: u32,
    /// The phase of the run: 0 before the scenarios, 1 while they run, 2 after them.
    pub part: u8,
    /// When the window was closed, in nanoseconds since the start of the run.
    pub taken: i64,
    /// The start and the end of the time that `in_flight` covers, in nanoseconds since the start of
    /// the run.
    pub span: (i64, i64),
    /// The total time of iterations in flight.
    pub in_flight: Duration,
    /// The time spent in interrupted iterations.
    pub interrupted: Duration,
    pub thread: Option<ThreadHealth>,
    /// The samples, as encoded by `plimsoll_samples::WindowEncoder`.
    pub samples: Vec<u8>,
}

/// The measurements of a worker's thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadHealth {
    pub span: Duration,
    pub cpu: Duration,
    /// The time for which the thread was runnable but had no processor.
    pub waited: Option<Duration>,
    /// How late the timers of the thread were.
    pub lateness: Vec<Duration>,
}

/// The totals of an agent over the whole run, counted independently of its frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// The duration of the run.
    pub elapsed: Duration,
    pub counts: Counts,
    /// The sum of each metric.
    pub cumulative: Cumulative,
    /// Number of individual samples for outputs.
    pub records: u64,
    /// The reason why the agent ended early, if it did.
    pub ended_early: Option<String>,
    /// Whether the script marked the run as failed.
    pub marked_failed: bool,
    /// The agent's verdict on itself.
    pub grade: Grade,
    /// The reasons for the verdict.
    pub reasons: Vec<(Grade, String)>,
}

/// How far an agent can be trusted as a load generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    #[default]
    Good,
    Suspect,
    Invalid,
}

impl Frame {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.exactly(&MARK);
        out.exactly(&self.run.0);
        out.number(u64::from(self.agent));
        out.number(self.epoch);
        out.number(self.sequence);
        out.exactly(&self.previous.0);
        match &self.content {
            Content::Window(window) => {
                out.byte(0);
                window.encode(&mut out);
            }
            Content::End(end) => {
                out.byte(1);
                end.encode(&mut out);
            }
            Content::Records(records) => {
                out.byte(2);
                out.bytes(records);
            }
        }
        seal(out.into_bytes())
    }

    /// Decodes a frame from `bytes`. The samples in it are validated later, when they are added.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a frame.
    pub fn decode(bytes: &[u8]) -> Result<Frame, WireError> {
        let (bytes, checksum) = bytes
            .split_last_chunk::<CHECKSUM>()
            .ok_or(WireError::Short)?;
        if *checksum != Digest::checksum(bytes) {
            return Err(WireError::Invalid("checksum"));
        }
        let mut input = Reader::new(bytes);
        if input.array()? != MARK {
            return Err(WireError::Invalid("start of a frame"));
        }
        let frame = Frame {
            run: RunId(input.array()?),
            agent: input.small()?,
            epoch: input.number()?,
            sequence: input.number()?,
            previous: Digest(input.array()?),
            content: match input.byte()? {
                0 => Content::Window(WindowFrame::decode(&mut input)?),
                1 => Content::End(Box::new(End::decode(&mut input)?)),
                2 => Content::Records(input.bytes()?.to_vec()),
                _ => return Err(WireError::Invalid("kind of frame")),
            },
        };
        input.end()?;
        Ok(frame)
    }
}

/// Appends the checksum of the preceding bytes.
pub fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = Digest::checksum(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

impl WindowFrame {
    fn encode(&self, out: &mut Writer) {
        out.duration(self.from);
        out.duration(self.until);
        self.counts.encode(out);
        out.number(u64::from(self.users_active));
        out.number(u64::from(self.users_ready));
        out.number(self.windows.len() as u64);
        self.windows.iter().for_each(|window| window.encode(out));
    }

    fn decode(input: &mut Reader<'_>) -> Result<WindowFrame, WireError> {
        let mut frame = WindowFrame {
            from: input.duration()?,
            until: input.duration()?,
            counts: Counts::decode(input)?,
            users_active: input.small()?,
            users_ready: input.small()?,
            windows: Vec::new(),
        };
        let count = input.count(9)?;
        if count > WINDOW_LIMIT {
            return Err(WireError::TooMany("workers"));
        }
        for _ in 0..count {
            frame.windows.push(WorkerWindow::decode(input)?);
        }
        Ok(frame)
    }
}

impl WorkerWindow {
    fn encode(&self, out: &mut Writer) {
        out.number(u64::from(self.worker));
        out.byte(self.part);
        out.signed(self.taken);
        out.signed(self.span.0);
        out.signed(self.span.1);
        out.duration(self.in_flight);
        out.duration(self.interrupted);
        out.flag(self.thread.is_some());
        if let Some(thread) = &self.thread {
            thread.encode(out);
        }
        out.bytes(&self.samples);
    }

    fn decode(input: &mut Reader<'_>) -> Result<WorkerWindow, WireError> {
        let (worker, part) = (input.small()?, input.byte()?);
        if part > 2 {
            return Err(WireError::Invalid("part of the run"));
        }
        Ok(WorkerWindow {
            worker,
            part,
            taken: input.signed()?,
            span: (input.signed()?, input.signed()?),
            in_flight: input.duration()?,
            interrupted: input.duration()?,
            thread: match input.flag()? {
                true => Some(ThreadHealth::decode(input)?),
                false => None,
            },
            samples: input.bytes()?.to_vec(),
        })
    }
}

impl ThreadHealth {
    fn encode(&self, out: &mut Writer) {
        out.duration(self.span);
        out.duration(self.cpu);
        out.flag(self.waited.is_some());
        if let Some(waited) = self.waited {
            out.duration(waited);
        }
        out.number(self.lateness.len() as u64);
        self.lateness.iter().for_each(|late| out.duration(*late));
    }

    fn decode(input: &mut Reader<'_>) -> Result<ThreadHealth, WireError> {
        let (span, cpu) = (input.duration()?, input.duration()?);
        let waited = match input.flag()? {
            true => Some(input.duration()?),
            false => None,
        };
        let count = input.count(1)?;
        if count > LATENESS_LIMIT {
            return Err(WireError::TooMany("readings of a timer"));
        }
        let lateness = (0..count).map(|_| input.duration());
        Ok(ThreadHealth {
            span,
            cpu,
            waited,
            lateness: lateness.collect::<Result<_, _>>()?,
        })
    }
}

impl End {
    fn encode(&self, out: &mut Writer) {
        out.duration(self.elapsed);
        self.counts.encode(out);
        self.cumulative.encode(out);
        out.flag(self.ended_early.is_some());
        if let Some(reason) = &self.ended_early {
            out.text(reason);
        }
        out.flag(self.marked_failed);
        out.byte(self.grade as u8);
        out.number(self.reasons.len() as u64);
        for (grade, reason) in &self.reasons {
            out.byte(*grade as u8);
            out.text(reason);
        }
        out.number(self.records);
    }

    fn decode(input: &mut Reader<'_>) -> Result<End, WireError> {
        let mut end = End {
            elapsed: input.duration()?,
            counts: Counts::decode(input)?,
            cumulative: Cumulative::decode(input)?,
            records: 0,
            ended_early: match input.flag()? {
                true => Some(input.text()?.to_owned()),
                false => None,
            },
            marked_failed: input.flag()?,
            grade: Grade::of(input.byte()?)?,
            reasons: Vec::new(),
        };
        let count = input.count(2)?;
        if count > REASON_LIMIT {
            return Err(WireError::TooMany("reasons of a verdict"));
        }
        for _ in 0..count {
            let grade = Grade::of(input.byte()?)?;
            end.reasons.push((grade, input.text()?.to_owned()));
        }
        end.records = input.amount()?;
        Ok(end)
    }
}

impl Grade {
    fn of(code: u8) -> Result<Grade, WireError> {
        let all = [Grade::Good, Grade::Suspect, Grade::Invalid];
        let grade = all.get(usize::from(code)).copied();
        grade.ok_or(WireError::Invalid("verdict"))
    }
}
