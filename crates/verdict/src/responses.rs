//! Checks whether there were responses at all, and finds the most frequent failure.

use crate::evidence::{Evidence, Findings};
use crate::{Cause, Level};

/// Maximum share of requests that were sent again. Above it, the load on the server differs from
/// the reported load.
const RESENT: f64 = 0.01;

impl Evidence {
    pub(crate) fn judge_responses(&self, found: &mut Findings) {
        if self.is_empty_run() {
            if let Some(failure) = &self.machine_failure {
                let text = format!("nothing was measured: {failure}");
                found.add(Level::Invalid, Cause::Client, text);
                return;
            }
            if self.is_request_load && self.interrupted > 0 {
                let text = format!(
                    "nothing was measured: when the run ended, {} had no response; does the server respond, and is the run long enough?",
                    match self.interrupted {
                        1 => "1 request".to_owned(),
                        count => format!("{count} requests"),
                    }
                );
                found.add(Level::Invalid, Cause::Server, text);
                return;
            }
            // A script may only compute or sleep. A command that only sends requests has at least
            // tried to connect.
            let (cause, text) = if self.is_request_load || self.sent.get() > 0 {
                (
                    Cause::Server,
                    "nothing was measured: nothing had finished and nothing was received when the run ended; \
                     does the server respond, and is the run long enough?",
                )
            } else {
                (
                    Cause::Client,
                    "nothing was measured: when the run ended, no iteration had ended and nothing had been sent; \
                     does the script compute or wait for longer than the run, or can it not connect?",
                )
            };
            found.add(Level::Invalid, cause, text.to_owned());
            return;
        }
        if self.is_unstarted {
            let text = "nothing was measured: no iteration started".to_owned();
            found.add(Level::Invalid, Cause::Client, text);
            return;
        }
        if self.requests == 0 {
            return;
        }
        let failure = self.main_failure.as_ref();
        if self.responses == 0 {
            found.add(
                Level::Invalid,
                failure.map_or(Cause::Server, |failure| failure.cause),
                format!(
                    "none of {} requests got a response{}{}",
                    self.requests,
                    match failure {
                        Some(failure) if failure.is_of_body => " that could be used",
                        _ => "",
                    },
                    failure.map_or(String::new(), |failure| format!(": {}", failure.text))
                ),
            );
            return;
        }
        if self.resent as f64 > self.requests as f64 * RESENT {
            found.add(Level::Suspect, Cause::Server, self.resent_text());
        }
        if self.messages_sent > 0
            && self.messages_received == 0
            && self.responses == self.websocket_handshakes
        {
            // The run is not invalid, because a service that only receives messages behaves like this.
            found.add(
                Level::Suspect,
                Cause::Server,
                format!(
                    "no WebSocket message was received after {} were sent; if the service never responds, this is expected",
                    self.messages_sent
                ),
            );
        }
        if self.failed * 2 > self.requests {
            // Name the failure only if it explains most of the failed requests.
            let failure = failure.filter(|failure| failure.count * 2 > self.failed);
            found.add(
                Level::Suspect,
                failure.map_or(Cause::Server, |failure| failure.cause),
                format!(
                    "{} of {} requests failed{}{}",
                    self.failed,
                    self.requests,
                    // k6's metrics contain failed requests.
                    match self.is_request_load {
                        true => "",
                        false => ": the times of k6's metrics are mostly those of failures",
                    },
                    failure.map_or(String::new(), |failure| format!(" ({})", failure.text))
                ),
            );
        }
    }

    pub(crate) fn resent_text(&self) -> String {
        format!(
            "{} of {} requests were sent again after the server closed their connection or refused them: it may have seen them twice",
            self.resent, self.requests
        )
    }

    /// Whether the run ended before anything was completed.
    fn is_empty_run(&self) -> bool {
        let none_finished = self.started == self.interrupted;
        let expected = self.is_request_load || self.interrupted > 0;
        expected && none_finished && self.requests == 0 && self.received.get() == 0
    }
}
