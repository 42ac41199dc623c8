//! Stores the messages of a streaming call until the server responds. If the server did not process
//! the call, they are sent again ("gRPC Retry Design", Transparent Retries).

use crate::frame::Framed;

/// Maximum number of message bytes that are stored. A call with more is not sent again. grpc-go has
/// the same limit.
const LIMIT: usize = 256 << 10;

/// The messages of one streaming call that were sent before the server responded.
#[derive(Debug, Default)]
pub struct Replay {
    kept: Vec<Framed>,
    bytes: usize,
    /// Number of messages that the current attempt has started to send.
    started: usize,
    /// The highest number of messages that an attempt has sent.
    sent: usize,
    is_committed: bool,
}

impl Replay {
    /// The next message from an earlier attempt.
    pub fn next_kept(&mut self) -> Option<Framed> {
        let message = self.kept.get(self.started)?.clone();
        self.started += 1;
        Some(message)
    }

    /// Stores a message that is about to be sent for the first time.
    pub fn keep(&mut self, message: &Framed) {
        self.started += 1;
        if self.is_committed {
            return;
        }
        self.bytes += message.len();
        if self.bytes > LIMIT {
            self.commit();
        } else {
            self.kept.push(message.clone());
        }
    }

    /// Records that the message that was started last has been sent. Returns whether no earlier attempt
    /// had sent it.
    pub fn finish_message(&mut self) -> bool {
        let is_new = self.started > self.sent;
        self.sent = self.sent.max(self.started);
        is_new
    }

    /// Records that the call will not be sent again, because the server has responded or it was already
    /// sent twice.
    pub fn commit(&mut self) {
        self.is_committed = true;
        // An attempt that is still sending stored messages needs them.
        if self.started >= self.kept.len() {
            self.kept = Vec::new();
        }
    }

    /// Starts another attempt with the first message. Returns false if the call must not be sent again.
    pub fn restart(&mut self) -> bool {
        if self.is_committed {
            return false;
        }
        self.is_committed = true;
        self.started = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Compression;

    fn message(text: &[u8]) -> Framed {
        Framed::new(text, Compression::Identity, usize::MAX).unwrap()
    }

    #[test]
    fn messages_are_sent_again_once_and_counted_once() {
        let mut replay = Replay::default();
        let (first, second, third) = (message(b"first"), message(b"second"), message(b"third"));
        assert_eq!(replay.next_kept(), None);
        replay.keep(&first);
        assert!(replay.finish_message());
        // The server refuses the call before the second message is sent completely.
        replay.keep(&second);
        assert!(replay.restart());
        assert_eq!(replay.next_kept(), Some(first));
        assert!(!replay.finish_message());
        assert_eq!(replay.next_kept(), Some(second));
        assert!(replay.finish_message());
        assert_eq!(replay.next_kept(), None);
        replay.keep(&third);
        assert!(replay.finish_message());
        assert!(!replay.restart());
    }

    #[test]
    fn a_response_in_the_middle_of_the_second_attempt_loses_no_message() {
        let mut replay = Replay::default();
        for text in [b"a", b"b"] {
            replay.keep(&message(text));
            replay.finish_message();
        }
        assert!(replay.restart());
        assert_eq!(replay.next_kept(), Some(message(b"a")));
        replay.commit();
        assert_eq!(replay.next_kept(), Some(message(b"b")));
        assert_eq!(replay.next_kept(), None);
    }

    #[test]
    fn nothing_is_sent_again_after_a_response_or_too_many_bytes() {
        let mut replay = Replay::default();
        replay.keep(&message(b"a"));
        replay.commit();
        assert!(!replay.restart());
        let mut replay = Replay::default();
        let half = message(&vec![0; LIMIT / 2]);
        replay.keep(&half);
        replay.keep(&half);
        assert!(replay.kept.is_empty());
        assert!(!replay.restart());
    }
}
