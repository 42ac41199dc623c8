//! Builds the chain of frames of an agent.

use std::time::Duration;

use crate::counts::Counts;
use crate::frame::{Content, Digest, End, Frame, RunId, WindowFrame, WorkerWindow};

/// Builds the frames of one agent in one run.
#[derive(Debug)]
pub struct Sender {
    run: RunId,
    agent: u32,
    epoch: u64,
    sequence: u64,
    previous: Digest,
    /// The end of the time that the latest frame covers.
    until: Duration,
    /// The counts that have been sent.
    counts: Counts,
}

impl Sender {
    pub fn new(run: RunId, agent: u32, epoch: u64) -> Sender {
        Sender {
            run,
            agent,
            epoch,
            sequence: 0,
            previous: Digest::default(),
            until: Duration::ZERO,
            counts: Counts::default(),
        }
    }

    /// The number of frames so far.
    pub fn sent(&self) -> u64 {
        self.sequence
    }

    /// The frame with the results since the previous one. `counts` are totals since the start of
    /// the run. `users` are the numbers of active users and of users that have run their init code.
    pub fn window(
        &mut self,
        until: Duration,
        counts: &Counts,
        users: (u32, u32),
        windows: Vec<WorkerWindow>,
    ) -> Vec<u8> {
        let until = until.max(self.until);
        let frame = WindowFrame {
            from: std::mem::replace(&mut self.until, until),
            until,
            counts: counts.since(&self.counts),
            users_active: users.0,
            users_ready: users.1,
            windows,
        };
        self.counts.clone_from(counts);
        self.frame(Content::Window(frame))
    }

    /// The frame with individual samples for outputs.
    pub fn records(&mut self, records: Vec<u8>) -> Vec<u8> {
        self.frame(Content::Records(records))
    }

    /// The last frame of the agent.
    pub fn end(&mut self, end: End) -> Vec<u8> {
        self.frame(Content::End(Box::new(end)))
    }

    fn frame(&mut self, content: Content) -> Vec<u8> {
        let frame = Frame {
            run: self.run,
            agent: self.agent,
            epoch: self.epoch,
            sequence: self.sequence,
            previous: self.previous,
            content,
        };
        let bytes = frame.encode();
        self.previous = Digest::of(&bytes);
        self.sequence += 1;
        bytes
    }
}
