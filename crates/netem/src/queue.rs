//! The pieces in transit in one direction of one connection, in order of arrival.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use bytes::Bytes as Buffer;
use plimsoll_units::Moment;
use tokio::sync::Notify;

/// A piece of a stream, or its end.
#[derive(Debug)]
pub enum Piece {
    Data(Buffer),
    End,
}

/// First in, first out, with a limit on the number of bytes.
#[derive(Debug, Default)]
pub struct Queue {
    pieces: RefCell<VecDeque<(Moment, Piece)>>,
    bytes: Cell<usize>,
    filled: Notify,
}

impl Queue {
    /// Appends a piece that leaves at `due`.
    pub fn push(&self, due: Moment, piece: Piece) {
        if let Piece::Data(data) = &piece {
            self.bytes.set(self.bytes.get() + data.len());
        }
        self.pieces.borrow_mut().push_back((due, piece));
        self.filled.notify_one();
    }

    /// Bytes in transit.
    pub fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Waits for the first piece, and returns it with the moment at which it is due.
    pub async fn next(&self) -> (Moment, Piece) {
        loop {
            let first = self.pieces.borrow_mut().pop_front();
            if let Some((due, piece)) = first {
                if let Piece::Data(data) = &piece {
                    self.bytes.set(self.bytes.get() - data.len());
                }
                return (due, piece);
            }
            self.filled.notified().await;
        }
    }
}
