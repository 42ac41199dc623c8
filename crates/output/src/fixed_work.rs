//! The results of fixed work.

use plimsoll_samples::{Loops, ScenarioWork};
use plimsoll_units::Bytes;
use serde::Serialize;

use crate::numbers;
use crate::paint::Paint;

/// The result of fixed work: a number of users, and the number of iterations that they completed. Rates are the payload
/// of successful calls, divided by the makespan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedWork {
    /// Concurrent users.
    pub workers: u32,
    /// Configured iterations per user. `None` if all users share one number of iterations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loops: Option<u64>,
    /// Configured iterations of all users together.
    pub iterations_wanted: u64,
    /// Completed iterations. Without a script, each is a call.
    pub iterations: u64,
    /// Completed calls, including failed ones: HTTP exchanges, gRPC calls and streams, WebSocket
    /// sessions.
    pub calls: u64,
    /// How many of these calls failed.
    pub failed_calls: u64,
    /// From the start of the first iteration to the end of the last.
    pub makespan_seconds: f64,
    /// Payload in both directions of successful calls, without headers and framing.
    pub payload_bytes: u64,
    /// The sent part of the payload.
    pub payload_bytes_sent: u64,
    /// The received part of the payload.
    pub payload_bytes_received: u64,
    /// Millions of bytes of payload per second.
    pub megabytes_per_second: f64,
    /// Millions of bits of payload per second: eight times as many.
    pub megabits_per_second: f64,
}

/// The kind of users, which decides the wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserKind {
    /// Users without a script, whose iterations are calls.
    Direct,
    /// A script's users.
    Script,
}

impl UserKind {
    fn iteration(self) -> &'static str {
        match self {
            UserKind::Direct => "call",
            UserKind::Script => "iteration",
        }
    }
}

/// Formats `1 call` or `2 calls`.
fn count_of(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

impl FixedWork {
    /// The results of a scenario's work.
    pub fn of(work: &ScenarioWork) -> FixedWork {
        let done = &work.done;
        let payload = done.sent.saturating_add(done.received).get();
        let seconds = done.makespan.as_secs_f64();
        let megabytes = if seconds > 0.0 {
            payload as f64 / 1e6 / seconds
        } else {
            0.0
        };
        FixedWork {
            workers: work.workers,
            loops: match work.loops {
                Loops::Each(loops) => Some(loops),
                Loops::Shared(_) => None,
            },
            iterations_wanted: work.wanted(),
            iterations: work.iterations,
            calls: done.calls,
            failed_calls: done.failed,
            makespan_seconds: seconds,
            payload_bytes: payload,
            payload_bytes_sent: done.sent.get(),
            payload_bytes_received: done.received.get(),
            megabytes_per_second: megabytes,
            megabits_per_second: megabytes * 8.0,
        }
    }

    /// The label and the text of each line.
    pub(crate) fn lines(&self, user_kind: UserKind, paint: Paint) -> Vec<(&'static str, String)> {
        let of = user_kind.iteration();
        let makespan = format!(
            "{} from the first {of}'s start to the last one's end",
            paint.figure(&numbers::time(self.makespan_seconds * 1e3, None))
        );
        let mut lines = vec![
            ("work", self.work(user_kind, paint)),
            ("makespan", makespan),
        ];
        // A script that only computes makes no calls.
        if self.calls > 0 || user_kind == UserKind::Direct {
            lines.push(("payload", self.payload(paint)));
        }
        lines
    }

    fn work(&self, user_kind: UserKind, paint: Paint) -> String {
        let (workers, wanted, calls) = (self.workers, self.iterations_wanted, self.calls);
        let users = count_of(workers.into(), "user");
        let amount = match self.loops {
            Some(loops) => format!("{users} × {loops}"),
            None => format!("shared by {users}"),
        };
        let done = match user_kind {
            UserKind::Direct => calls,
            UserKind::Script => self.iterations,
        };
        let mut text = match done < wanted {
            true => {
                let done = format!("{done} of {}", count_of(wanted, user_kind.iteration()));
                format!("{} ({amount})", paint.bad(&done))
            }
            false => format!("{} ({amount})", count_of(done, user_kind.iteration())),
        };
        if user_kind == UserKind::Script && calls > 0 {
            text.push_str(&format!(", {}", count_of(calls, "call")));
        }
        text
    }

    fn payload(&self, paint: Paint) -> String {
        let mut text = format!(
            "{} MB/s = {} Mbit/s: {} sent and {} received",
            paint.figure(&format!("{:.3}", self.megabytes_per_second)),
            paint.figure(&format!("{:.3}", self.megabits_per_second)),
            Bytes(self.payload_bytes_sent),
            Bytes(self.payload_bytes_received),
        );
        if self.failed_calls > 0 {
            let left_out = format!(", without {}", count_of(self.failed_calls, "failed call"));
            text.push_str(&paint.bad(&left_out));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn work(loops: Loops, iterations: u64, calls: u64) -> FixedWork {
        FixedWork::of(&ScenarioWork {
            scenario: "default".to_owned(),
            workers: 4,
            loops,
            iterations,
            done: plimsoll_samples::Work {
                calls,
                failed: calls.min(2),
                sent: Bytes(3_000_000),
                received: Bytes(1_000_000),
                makespan: Duration::from_secs(2),
            },
        })
    }

    fn texts(work: &FixedWork, user_kind: UserKind) -> Vec<String> {
        let lines = work.lines(user_kind, Paint::new(false));
        lines.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn bytes_and_bits_are_distinguished() {
        let work = work(Loops::Each(10), 39, 39);
        assert_eq!(work.megabytes_per_second, 2.0);
        assert_eq!(work.megabits_per_second, 16.0);
        assert_eq!(
            texts(&work, UserKind::Direct),
            [
                "39 of 40 calls (4 users × 10)",
                "2s from the first call's start to the last one's end",
                "2.000 MB/s = 16.000 Mbit/s: 3.0 MB sent and 1.0 MB received, without 2 failed calls",
            ]
        );
    }

    #[test]
    fn a_scripts_iterations_are_not_its_calls() {
        let shared = work(Loops::Shared(10), 9, 18);
        assert_eq!(
            texts(&shared, UserKind::Script)[..2],
            [
                "9 of 10 iterations (shared by 4 users), 18 calls",
                "2s from the first iteration's start to the last one's end",
            ]
        );
        let computing = work(Loops::Each(10), 40, 0);
        assert_eq!(
            texts(&computing, UserKind::Script),
            [
                "40 iterations (4 users × 10)",
                "2s from the first iteration's start to the last one's end",
            ]
        );
    }
}
