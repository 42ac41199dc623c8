//! Counts complete requests in a stream of bytes.

/// Finds the ends of requests without a body: each ends with an empty line.
///
/// The state is the number of bytes of `\r\n\r\n` that have matched at the end of the input so far, so a
/// request may be split anywhere.
#[derive(Debug, Default, Clone, Copy)]
pub struct RequestCounter {
    matched: u8,
}

impl RequestCounter {
    /// Counts the requests that end within `bytes`.
    pub fn count(&mut self, bytes: &[u8]) -> usize {
        let mut ended = 0;
        let mut matched = self.matched;
        for &byte in bytes {
            matched = match (byte, matched) {
                (b'\r', 2) => 3,
                (b'\r', _) => 1,
                (b'\n', 1) => 2,
                (b'\n', 3) => {
                    ended += 1;
                    0
                }
                _ => 0,
            };
        }
        self.matched = matched;
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn counts_pipelined_requests() {
        let mut counter = RequestCounter::default();
        assert_eq!(counter.count(&REQUEST.repeat(3)), 3);
        assert_eq!(counter.count(b"GET / HTTP/1.1\r\n"), 0);
        assert_eq!(counter.count(b"\r\n"), 1);
    }

    #[test]
    fn a_split_anywhere_changes_nothing() {
        for at in 0..REQUEST.len() {
            let mut counter = RequestCounter::default();
            let (first, rest) = REQUEST.split_at(at);
            assert_eq!(
                counter.count(first) + counter.count(rest),
                1,
                "split at {at}"
            );
        }
    }

    #[test]
    fn unexpected_carriage_returns_do_not_end_a_request() {
        let mut counter = RequestCounter::default();
        assert_eq!(counter.count(b"a\r\r\nb\r\n\rc\r\n"), 0);
        assert_eq!(counter.count(b"\r\n"), 1);
    }
}
