//! Pieces that wait for a line with a limited rate, in the order in which they entered it.
//!
//! A line sends first in, first out, but a busy relay reads some pieces late, after others that
//! entered later. So the order is not decided when a piece is read, but shortly before the piece
//! could leave. Until that moment, a piece that is read late still gets its correct position.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use plimsoll_units::{Bytes, Moment};

/// The waiting pieces of one direction, and how long the line is busy with them.
#[derive(Debug)]
pub struct Waiting<T> {
    pieces: BinaryHeap<Reverse<Entered<T>>>,
    count: u64,
    /// When everything that has entered will have been sent.
    end: Moment,
}

/// A piece that has entered. Pieces that entered at the same moment keep their order.
#[derive(Debug)]
struct Entered<T> {
    at: Moment,
    number: u64,
    size: Bytes,
    what: T,
}

impl<T> Waiting<T> {
    /// Adds a piece of `size` that entered at `at` and needs `need` of line time. Returns true if it is
    /// now the first.
    pub fn push(&mut self, at: Moment, size: Bytes, need: Duration, what: T) -> bool {
        // Lindley's recursion ("The theory of queues with a single server", 1952). The order of insertion
        // does not matter while the line is busy.
        self.end = self.end.max(at) + need;
        let number = self.count;
        self.count += 1;
        let is_first = self.first().is_none_or(|(first, _)| at < first);
        self.pieces.push(Reverse(Entered {
            at,
            number,
            size,
            what,
        }));
        is_first
    }

    /// When the first piece entered, and its size.
    pub fn first(&self) -> Option<(Moment, Bytes)> {
        self.pieces
            .peek()
            .map(|Reverse(first)| (first.at, first.size))
    }

    /// Removes the first piece, which entered at this moment.
    pub fn pop(&mut self) -> Option<(Moment, Bytes, T)> {
        let Reverse(first) = self.pieces.pop()?;
        Some((first.at, first.size, first.what))
    }

    /// Number of waiting pieces.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// The time that a piece which enters at `now` would wait for the line to be free.
    pub fn backlog(&self, now: Moment) -> Duration {
        self.end.since(now)
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting {
            pieces: BinaryHeap::new(),
            count: 0,
            end: Moment::ZERO,
        }
    }
}

impl<T> PartialEq for Entered<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl<T> Eq for Entered<T> {}

impl<T> PartialOrd for Entered<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entered<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn pieces_leave_in_the_order_in_which_they_entered() {
        let mut waiting = Waiting::default();
        let need = Duration::from_millis(4);
        assert!(waiting.push(at(10), Bytes(1), need, 'b'));
        assert!(waiting.push(at(5), Bytes(1), need, 'a'));
        assert!(!waiting.push(at(10), Bytes(2), need, 'c'));
        assert_eq!(waiting.first(), Some((at(5), Bytes(1))));
        let order: String = std::iter::from_fn(|| waiting.pop().map(|(.., what)| what)).collect();
        assert_eq!(order, "abc");
    }

    #[test]
    fn the_backlog_is_the_time_that_the_line_needs_for_all_pieces() {
        let mut waiting = Waiting::default();
        let need = Duration::from_millis(4);
        waiting.push(at(10), Bytes(1), need, ());
        waiting.push(at(11), Bytes(1), need, ());
        assert_eq!(waiting.backlog(at(12)), Duration::from_millis(6));
        // A piece still occupies the line after it was removed from the queue.
        waiting.pop();
        assert_eq!(waiting.backlog(at(12)), Duration::from_millis(6));
        assert_eq!(waiting.backlog(at(20)), Duration::ZERO);
        waiting.push(at(30), Bytes(1), need, ());
        assert_eq!(waiting.backlog(at(31)), Duration::from_millis(3));
    }
}
