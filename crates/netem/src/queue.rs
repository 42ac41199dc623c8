//! The packets in transit in one direction of one UDP session, in order of arrival.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use bytes::Bytes as Buffer;
use plimsoll_units::Moment;
use tokio::sync::Notify;

use crate::line::Flow;

/// A piece of a stream, or its end.
#[derive(Debug)]
pub enum Piece {
    Data(Buffer),
    End,
}

/// First in, first out, with a limit on the number of bytes.
#[derive(Debug, Default)]
pub struct Queue {
    packets: RefCell<VecDeque<(Moment, Buffer)>>,
    bytes: Cell<usize>,
    pub flow: Cell<Flow>,
    filled: Notify,
}

impl Queue {
    /// Appends a packet that leaves at `due`.
    pub fn push(&self, due: Moment, packet: Buffer) {
        self.bytes.set(self.bytes.get() + packet.len());
        self.packets.borrow_mut().push_back((due, packet));
        self.filled.notify_one();
    }

    /// Bytes in transit.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Waits for the first packet. Returns it and the moment at which it is due.
    pub async fn next(&self) -> (Moment, Buffer) {
        loop {
            if let Some(first) = self.pop() {
                return first;
            }
            self.filled.notified().await;
        }
    }

    /// The first packet, if any.
    pub fn pop(&self) -> Option<(Moment, Buffer)> {
        let (due, packet) = self.packets.borrow_mut().pop_front()?;
        self.bytes.set(self.bytes.get() - packet.len());
        Some((due, packet))
    }
}
