//! Both directions of a network path. All connections and packets of a relay share them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes as Buffer;
use plimsoll_engine::timer::sleep;
use plimsoll_units::{Bytes, Moment};
use tokio::sync::Mutex;

use crate::Link;
use crate::account::{Account, Direction, Side};
use crate::deliveries::{Deliveries, Outgoing};
use crate::line::{Line, Passage};
use crate::queue::{Piece, Queue};
use crate::waiting::Waiting;

/// The longest wait for a free line before senders are blocked. This corresponds to the buffer of a
/// router.
const BUFFER: Duration = Duration::from_millis(20);
/// Limits the size of one read: with a bandwidth limit, a piece contains at most the bytes that the
/// line transmits in this time.
const PIECE_TIME: Duration = Duration::from_micros(200);
const MAX_PIECE: usize = 64 << 10;
const MIN_PIECE: usize = 1448;
/// A piece's slot on the line is decided at most this long before the piece can leave, and at most
/// a quarter of the travel time before.
const LEAD: Duration = Duration::from_millis(1);

/// State that a relay's connections and packets share: both directions of the network path, and the statistics.
#[derive(Debug)]
pub struct NetworkPath {
    pub link: Link,
    pub account: Account,
    forward: OneWay,
    backward: OneWay,
    /// The shared read buffer, from which data is copied into separate memory. So waiting connections
    /// hold no buffers.
    pub(crate) scratch: RefCell<Vec<u8>>,
    deliveries: Deliveries,
}

/// One direction.
#[derive(Debug)]
struct OneWay {
    line: RefCell<Line>,
    /// With a rate: the pieces whose slot on the line is not decided yet.
    waiting: RefCell<Waiting<Entry>>,
    /// When the slot of the first of them is decided.
    decision: Cell<Option<Moment>>,
    /// The queue for a line whose buffer is full: first come, first served.
    turn: Mutex<()>,
}

/// A piece or packet that enters a line.
#[derive(Debug)]
pub enum Entry {
    /// A piece of a TCP stream.
    Stream(Rc<Outgoing>, Piece),
    /// A UDP packet.
    Packet(Rc<Queue>, Buffer),
}

impl NetworkPath {
    /// A path without traffic. Equal seeds give the same jitter and losses.
    pub fn new(link: Link, seed: u64) -> Self {
        let one_way = |seed| OneWay {
            line: RefCell::new(Line::new(link, seed)),
            waiting: RefCell::default(),
            decision: Cell::new(None),
            turn: Mutex::new(()),
        };
        NetworkPath {
            link,
            account: Account::default(),
            forward: one_way(seed),
            backward: one_way(seed.wrapping_add(1)),
            scratch: RefCell::new(vec![0; piece_size(&link)]),
            deliveries: Deliveries::default(),
        }
    }

    /// The statistics of a direction.
    pub fn direction(&self, side: Side) -> &Direction {
        match side {
            Side::Forward => &self.account.forward,
            Side::Backward => &self.account.backward,
        }
    }

    fn one_way(&self, side: Side) -> &OneWay {
        match side {
            Side::Forward => &self.forward,
            Side::Backward => &self.backward,
        }
    }

    /// Writes pieces that are due. Runs until the future is dropped.
    pub(crate) async fn deliver(&self) {
        loop {
            let decisions = || {
                self.forward
                    .decision
                    .get()
                    .into_iter()
                    .chain(self.backward.decision.get())
            };
            self.deliveries.wait(|| decisions().min()).await;
            self.catch_up();
        }
    }

    /// Ends streams whose end can wait. Runs until the future is dropped.
    pub(crate) async fn end_streams(&self) {
        self.deliveries.end_streams().await;
    }

    /// Writes pieces that are due. This takes precedence over all other work.
    pub(crate) fn catch_up(&self) {
        let now = plimsoll_clock::now();
        self.decide(Side::Forward, now);
        self.decide(Side::Backward, now);
        self.deliveries.catch_up(|side| self.direction(side));
    }

    /// Puts a piece or packet of `size` on a line that it entered at `entered`.
    pub(crate) fn enter(&self, side: Side, entered: Moment, size: Bytes, entry: Entry) {
        let Some(rate) = self.link.rate else {
            self.send(side, entered, size, entry);
            return;
        };
        let of_flow = match &entry {
            Entry::Stream(to, _) => {
                to.waiting.set(to.waiting.get() + 1);
                &to.flow
            }
            Entry::Packet(to, _) => &to.flow,
        };
        let mut flow = of_flow.get();
        let entered = flow.enter(entered);
        of_flow.set(flow);
        let one_way = self.one_way(side);
        let is_first = one_way
            .waiting
            .borrow_mut()
            .push(entered, size, rate.time_for(size), entry);
        if is_first {
            self.plan_decision(one_way);
            self.deliveries.wake();
        }
    }

    /// Sets when the slot of the first waiting piece is decided.
    fn plan_decision(&self, one_way: &OneWay) {
        let first = one_way.waiting.borrow().first();
        let lead = self.lead().as_nanos() as u64;
        one_way.decision.set(first.map(|(entered, size)| {
            let earliest = one_way.line.borrow().earliest(entered, size);
            Moment::from_nanos(earliest.as_nanos().saturating_sub(lead))
        }));
    }

    fn lead(&self) -> Duration {
        LEAD.min(self.link.round_trip / 8)
    }

    /// Decides the slots of the pieces whose decision is due, and of those that follow within a
    /// short time.
    fn decide(&self, side: Side, now: Moment) {
        let one_way = self.one_way(side);
        if one_way.decision.get().is_none_or(|at| at > now) {
            return;
        }
        while one_way
            .decision
            .get()
            .is_some_and(|at| at <= now + self.lead())
        {
            let first = one_way.waiting.borrow_mut().pop();
            if let Some((entered, size, entry)) = first {
                if let Entry::Stream(to, _) = &entry {
                    to.waiting.set(to.waiting.get() - 1);
                }
                self.send(side, entered, size, entry);
            }
            self.plan_decision(one_way);
        }
    }

    /// Sends a piece or packet over the line.
    fn send(&self, side: Side, entered: Moment, size: Bytes, entry: Entry) {
        let mut line = self.one_way(side).line.borrow_mut();
        match entry {
            Entry::Stream(to, piece) => {
                let mut flow = to.flow.get();
                let due = line.stream(&mut flow, entered, size);
                to.flow.set(flow);
                self.deliveries.push(&to, due, piece);
            }
            Entry::Packet(to, packet) => {
                let mut flow = to.flow.get();
                let passage = line.packet(&mut flow, entered, size);
                to.flow.set(flow);
                match passage {
                    Passage::Lost => self.direction(side).lost(),
                    Passage::Arrives(due) => to.push(due, packet),
                }
            }
        }
    }

    /// Whether the line's buffer has no space for a packet that enters at `now`.
    pub(crate) fn is_full(&self, side: Side, now: Moment) -> bool {
        self.one_way(side).waiting.borrow().backlog(now) > BUFFER
    }

    /// Waits until the line's buffer has space. First come, first served, as in the buffer itself; only
    /// the first waiter checks.
    pub(crate) async fn wait_for_line(&self, side: Side) {
        let one_way = self.one_way(side);
        let _turn = one_way.turn.lock().await;
        loop {
            let backlog = one_way.waiting.borrow().backlog(plimsoll_clock::now());
            if backlog <= BUFFER {
                return;
            }
            sleep(backlog - BUFFER).await;
        }
    }

    /// Number of pieces of streams in transit, including those that wait for the line.
    #[cfg(test)]
    pub(crate) fn in_transit(&self) -> usize {
        self.deliveries.len()
            + self.forward.waiting.borrow().len()
            + self.backward.waiting.borrow().len()
    }
}

fn piece_size(link: &Link) -> usize {
    let Some(rate) = link.rate else {
        return MAX_PIECE;
    };
    let smooth = u128::from(rate.get()) * PIECE_TIME.as_nanos() / 8 / 1_000_000_000;
    usize::try_from(smooth)
        .unwrap_or(MAX_PIECE)
        .clamp(MIN_PIECE, MAX_PIECE)
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_units::BitRate;

    /// A piece's slot on the line depends on when the piece entered, not on when a busy relay read it.
    #[test]
    fn a_packet_that_is_read_late_leaves_before_those_that_entered_later() {
        let link = Link {
            round_trip: Duration::from_millis(10),
            jitter: Duration::ZERO,
            // The line sends a thousand bytes in 8 ms.
            rate: BitRate::new(1_000_000),
            loss: 0.0,
        };
        let path = NetworkPath::new(link, 1);
        let (first, second, late) = (Rc::default(), Rc::default(), Rc::default());
        let start = plimsoll_clock::now();
        let at = |micros| start + Duration::from_micros(micros);
        // The second packet of `late` has an earlier timestamp than the first.
        let packets = [
            (at(1), &first),
            (at(3), &second),
            (at(2), &late),
            (at(0), &late),
        ];
        for (entered, queue) in packets {
            let packet = Buffer::from_static(&[0; 1_000]);
            path.enter(
                Side::Forward,
                entered,
                Bytes(1_000),
                Entry::Packet(Rc::clone(queue), packet),
            );
        }
        assert!(path.is_full(Side::Forward, at(4)));
        let mut due = Vec::new();
        while due.len() < 4 {
            path.catch_up();
            let left = [&first, &late, &late, &second].map(|queue| queue.pop());
            due.extend(left.into_iter().flatten().map(|(due, _)| due.since(start)));
        }
        let after = |millis| Duration::from_micros(1) + Duration::from_millis(millis);
        assert_eq!(due, [after(13), after(21), after(29), after(37)]);
    }
}
