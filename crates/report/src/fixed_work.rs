//! What a fixed amount of work came to.

use std::time::Duration;

use serde::Serialize;
use units::Bytes;

use crate::numbers;
use crate::paint::Paint;

/// A fixed amount of work: so many workers, each of which made so many calls.
/// Rates are payload of calls that did not fail, divided by the makespan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedWork {
    /// Users that worked at once.
    pub workers: u32,
    /// Calls that each of them was to make.
    pub loops: u64,
    /// Calls that ended, failed ones included.
    pub calls: u64,
    /// Of these, those that failed.
    pub failed_calls: u64,
    /// From the start of the first call to the end of the last.
    pub makespan_seconds: f64,
    /// Both directions, of calls that did not fail, without heads and framing.
    pub payload_bytes: u64,
    /// The part that was sent.
    pub payload_bytes_sent: u64,
    /// The part that was received.
    pub payload_bytes_received: u64,
    /// Millions of bytes of payload per second.
    pub megabytes_per_second: f64,
    /// Millions of bits of payload per second: eight times as many.
    pub megabits_per_second: f64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Calls that ended, failed ones included.
    pub calls: u64,
    /// Of these, those that failed.
    pub failed: u64,
    /// Payload sent by calls that did not fail.
    pub sent: Bytes,
    /// Payload that they received.
    pub received: Bytes,
    /// From the start of the first call to the end of the last.
    pub makespan: Duration,
}

impl FixedWork {
    /// What `workers` with so many `loops` each came to.
    pub fn new(workers: u32, loops: u64, counted: &Counted) -> FixedWork {
        let payload = counted.sent.saturating_add(counted.received).get();
        let seconds = counted.makespan.as_secs_f64();
        let megabytes = if seconds > 0.0 {
            payload as f64 / 1e6 / seconds
        } else {
            0.0
        };
        FixedWork {
            workers,
            loops,
            calls: counted.calls,
            failed_calls: counted.failed,
            makespan_seconds: seconds,
            payload_bytes: payload,
            payload_bytes_sent: counted.sent.get(),
            payload_bytes_received: counted.received.get(),
            megabytes_per_second: megabytes,
            megabits_per_second: megabytes * 8.0,
        }
    }

    /// Label and text of each line.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<(&'static str, String)> {
        let FixedWork {
            workers,
            loops,
            calls,
            ..
        } = self;
        let wanted = u64::from(*workers).saturating_mul(*loops);
        let mut work = format!("{workers} workers × {loops} loops: {calls} calls");
        if *calls < wanted {
            let missing = format!(" of {wanted}; the rest did not end in time");
            work.push_str(&paint.bad(&missing));
        }
        let mut payload = format!(
            "{} MB/s = {} Mbit/s: {} sent and {} received",
            paint.figure(&format!("{:.3}", self.megabytes_per_second)),
            paint.figure(&format!("{:.3}", self.megabits_per_second)),
            Bytes(self.payload_bytes_sent),
            Bytes(self.payload_bytes_received),
        );
        if self.failed_calls > 0 {
            let left_out = format!(", without {} failed calls", self.failed_calls);
            payload.push_str(&paint.bad(&left_out));
        }
        vec![
            ("work", work),
            (
                "makespan",
                format!(
                    "{} from the first call's start to the last one's end",
                    paint.figure(&numbers::time(self.makespan_seconds * 1e3, None))
                ),
            ),
            ("payload", payload),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_bits_are_told_apart() {
        let counted = Counted {
            calls: 39,
            failed: 2,
            sent: Bytes(3_000_000),
            received: Bytes(1_000_000),
            makespan: Duration::from_secs(2),
        };
        let work = FixedWork::new(4, 10, &counted);
        assert_eq!(work.megabytes_per_second, 2.0);
        assert_eq!(work.megabits_per_second, 16.0);
        let lines = work.lines(Paint::new(false));
        let text: Vec<_> = lines.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            text,
            [
                "4 workers × 10 loops: 39 calls of 40; the rest did not end in time",
                "2s from the first call's start to the last one's end",
                "2.000 MB/s = 16.000 Mbit/s: 3.0 MB sent and 1.0 MB received, without 2 failed calls",
            ]
        );
    }
}
