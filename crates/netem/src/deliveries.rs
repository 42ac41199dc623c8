//! Writes pieces that are due, before any other work.
//!
//! A relay is one thread, and a burst of new connections causes a lot of work. Most of it can wait,
//! because delays count from when bytes arrive, not from when they are read. Pieces that are due
//! cannot wait. So every task calls [`Deliveries::catch_up`] before each step that takes time, and
//! no piece is late by more than one such step.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::rc::Rc;

use bytes::Buf;
use plimsoll_engine::timer::sleep_until;
use plimsoll_units::{Bytes, Moment};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::Notify;

use crate::account::{Direction, Side};
use crate::ends::{Ends, Exchange};
use crate::line::Flow;
use crate::queue::Piece;

/// The pieces in transit on all connections, ordered by when they are due.
#[derive(Debug, Default)]
pub struct Deliveries {
    due: RefCell<BinaryHeap<Reverse<Delivery>>>,
    pushed: Cell<u64>,
    /// Notifies the waiting task of a piece that is due earlier than all others.
    sooner: Notify,
    ends: Ends<Rc<Outgoing>>,
}

/// The next piece of a stream. Pieces that are due at the same moment keep their order.
#[derive(Debug)]
struct Delivery {
    at: Moment,
    number: u64,
    outgoing: Rc<Outgoing>,
}

impl Deliveries {
    /// Adds a piece that leaves `outgoing` at `at`, but never before pieces that were added earlier.
    pub fn push(&self, outgoing: &Rc<Outgoing>, at: Moment, piece: Piece) {
        outgoing.push(at, piece);
        let number = self.pushed.get();
        self.pushed.set(number + 1);
        let mut due = self.due.borrow_mut();
        if due.peek().is_none_or(|Reverse(first)| at < first.at) {
            self.wake();
        }
        due.push(Reverse(Delivery {
            at,
            number,
            outgoing: Rc::clone(outgoing),
        }));
    }

    /// Number of pieces in transit.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.due.borrow().len()
    }

    /// Writes all pieces that are due.
    pub fn catch_up<'a>(&self, account: impl Fn(Side) -> &'a Direction) {
        self.ends.step();
        while let Some(Delivery { at, outgoing, .. }) = self.next_due() {
            if outgoing.deliver(account(outgoing.side)) {
                self.ends.add(at, outgoing);
            }
        }
    }

    /// Ends streams whose end can wait. Runs until the future is dropped.
    pub async fn end_streams(&self) {
        self.ends.run(|outgoing| outgoing.wake_finish()).await;
    }

    fn next_due(&self) -> Option<Delivery> {
        let mut due = self.due.borrow_mut();
        let Reverse(first) = due.peek()?;
        if first.at > plimsoll_clock::now() {
            return None;
        }
        due.pop().map(|Reverse(delivery)| delivery)
    }

    /// Makes [`wait`](Self::wait) check again which piece is due first.
    pub fn wake(&self) {
        self.sooner.notify_one();
    }

    /// Waits until a piece is due, or until the moment that `other` returns.
    pub async fn wait(&self, other: impl Fn() -> Option<Moment>) {
        loop {
            let due = self.due.borrow().peek().map(|Reverse(first)| first.at);
            let Some(at) = due.into_iter().chain(other()).min() else {
                self.sooner.notified().await;
                continue;
            };
            if at <= plimsoll_clock::now() {
                return;
            }
            // While other tasks run steps, they write the pieces that are due. A kernel timer for each piece
            // would take a tenth of the processor time of a burst of connections.
            let before = self.ends.steps();
            tokio::task::yield_now().await;
            if self.ends.steps() != before {
                continue;
            }
            tokio::select! {
                () = sleep_until(at) => return,
                () = self.sooner.notified() => {}
            }
        }
    }
}

impl PartialEq for Delivery {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl Eq for Delivery {}

impl PartialOrd for Delivery {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Delivery {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// The sending side of one direction of a connection, with its pieces in transit. Dropping the last
/// reference shuts the direction down.
#[derive(Debug)]
pub struct Outgoing {
    socket: OwnedWriteHalf,
    pub side: Side,
    pub flow: Cell<Flow>,
    /// Number of its pieces that wait for the line.
    pub waiting: Cell<u32>,
    pieces: RefCell<VecDeque<(Moment, Piece)>>,
    bytes: Cell<usize>,
    emptied: Notify,
    /// Set when the socket accepted only a part of what was due, or when the stream ends:
    /// [`Outgoing::finish`] continues from there.
    stuck: Cell<bool>,
    attention: Notify,
    /// The progress of both directions.
    exchange: Rc<Exchange>,
}

impl Outgoing {
    pub fn new(socket: OwnedWriteHalf, side: Side, exchange: Rc<Exchange>) -> Rc<Outgoing> {
        Rc::new(Outgoing {
            socket,
            side,
            flow: Cell::default(),
            waiting: Cell::default(),
            pieces: RefCell::default(),
            bytes: Cell::new(0),
            emptied: Notify::new(),
            stuck: Cell::new(false),
            attention: Notify::new(),
            exchange,
        })
    }

    fn push(&self, at: Moment, piece: Piece) {
        if let Piece::Data(data) = &piece {
            self.bytes.set(self.bytes.get() + data.len());
        }
        self.pieces.borrow_mut().push_back((at, piece));
    }

    /// Waits until fewer than `limit` bytes are in transit.
    pub async fn wait_for_space(&self, limit: usize) {
        while self.bytes.get() >= limit {
            self.emptied.notified().await;
        }
    }

    /// Writes the first piece, which is due, without waiting. Returns true if it is the end of the
    /// stream and can wait.
    fn deliver(&self, account: &Direction) -> bool {
        if self.stuck.get() {
            return false;
        }
        match self.write(account, false) {
            Ok(Written::Piece) => {
                self.exchange.data(self.side);
                return false;
            }
            Ok(Written::End) => {
                self.exchange.end(self.side);
                if self.exchange.can_wait(self.side) {
                    return true;
                }
            }
            Ok(Written::Part | Written::Nothing) | Err(_) => {}
        }
        self.wake_finish();
        false
    }

    /// Makes [`finish`](Self::finish) continue and end the stream, if its end is due.
    fn wake_finish(&self) {
        self.stuck.set(true);
        self.attention.notify_one();
    }

    /// Writes what the socket did not accept immediately, until the stream has ended.
    ///
    /// # Errors
    /// If the socket fails.
    pub async fn finish(&self, account: &Direction) -> io::Result<()> {
        loop {
            self.attention.notified().await;
            let mut held_back = false;
            while self.stuck.get() {
                match self.write(account, held_back)? {
                    Written::Piece => {}
                    Written::Nothing => self.stuck.set(false),
                    Written::Part => {
                        held_back = true;
                        self.socket.writable().await?;
                    }
                    Written::End => return Ok(()),
                }
            }
        }
    }

    /// Writes the first piece if it is due. `held_back` is true if the socket has refused data since
    /// the last moment at which nothing was due; then the receiver caused the lateness.
    fn write(&self, account: &Direction, held_back: bool) -> io::Result<Written> {
        let mut pieces = self.pieces.borrow_mut();
        let now = plimsoll_clock::now();
        let data = match pieces.front_mut() {
            Some((at, _)) if *at > now => return Ok(Written::Nothing),
            None => return Ok(Written::Nothing),
            Some((_, Piece::End)) => return Ok(Written::End),
            Some((_, Piece::Data(data))) => data,
        };
        match self.socket.try_write(data) {
            Ok(count) => {
                account.wrote(Bytes(count as u64));
                self.bytes.set(self.bytes.get().saturating_sub(count));
                data.advance(count);
                self.emptied.notify_one();
                if !data.is_empty() {
                    return Ok(Written::Part);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Written::Part),
            Err(error) => return Err(error),
        }
        if let Some((at, _)) = pieces.pop_front() {
            if held_back {
                account.passed_after_receiver();
            } else {
                account.passed(now.since(at));
            }
        }
        Ok(Written::Piece)
    }
}

/// The result of writing the first piece.
enum Written {
    /// The piece was written.
    Piece,
    /// The piece was not written, or only partly, because the socket accepts no more data now.
    Part,
    /// No piece is due.
    Nothing,
    /// The piece is the end of the stream.
    End,
}
