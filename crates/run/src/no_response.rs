//! Reports during a run that no responses arrive, with the likely cause.

use std::time::Duration;

use plimsoll_samples::HttpOverview;
use plimsoll_verdict::main_failure;

use crate::{Event, Listener};

/// The time without a response after which a report is due.
const REPORT_AFTER: Duration = Duration::from_secs(3);
/// Maximum number of reports in one run, for servers that respond only occasionally.
const MAX_REPORTS: u32 = 3;

/// A listener that calls a function with a sentence if no response has arrived for three seconds.
pub struct NoResponse<F> {
    report: F,
    /// Whether users do nothing but send requests, so that a user without a request in progress waits for a response.
    is_request_load: bool,
    state: State,
}

#[derive(Default)]
struct State {
    responses: u64,
    /// The number of failures up to the latest response.
    failures: u64,
    /// When the latest response was counted, since the start.
    latest: Duration,
    is_reported: bool,
    reports: u32,
}

impl<F: FnMut(&str)> NoResponse<F> {
    /// `is_request_load`: whether a user can only be waiting for a response.
    pub fn new(is_request_load: bool, report: F) -> Self {
        NoResponse {
            report,
            is_request_load,
            state: State::default(),
        }
    }
}

impl<F: FnMut(&str)> Listener for NoResponse<F> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Second(progress) = event {
            let waiting = match self.is_request_load {
                true => progress.state().users_active(),
                false => 0,
            };
            let http = progress.http();
            if let Some(text) = self.state.second(progress.elapsed(), &http, waiting) {
                (self.report)(&text);
            }
        }
    }
}

impl State {
    /// The report that is due after this second, if any.
    fn second(&mut self, elapsed: Duration, http: &HttpOverview, waiting: u32) -> Option<String> {
        let responses = http.responses();
        let counted: u64 = http.errors.iter().map(|error| error.count).sum();
        let failures = counted + http.other_errors;
        if responses > self.responses {
            self.responses = responses;
            self.failures = failures;
            self.latest = elapsed;
            self.is_reported = false;
            return None;
        }
        let silent = elapsed.saturating_sub(self.latest);
        if silent < REPORT_AFTER || self.is_reported || self.reports == MAX_REPORTS {
            return None;
        }
        let failed = failures.saturating_sub(self.failures);
        let main = main_failure(http).filter(|_| failed > 0);
        let usable = match &main {
            Some(main) if main.is_of_body => "usable ",
            _ => "",
        };
        let since = match self.responses {
            0 => "response yet after",
            _ => "response for",
        };
        let seconds = silent.as_secs();
        let what = match main {
            Some(main) => format!("{failed} requests failed. {}", main.text),
            None if waiting > 0 => format!(
                "{waiting} users wait for one. Does the server accept connections without responding, or does a firewall drop packets?"
            ),
            None => return None,
        };
        self.is_reported = true;
        self.reports += 1;
        Some(format!("no {usable}{since} {seconds}s: {what}"))
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_samples::ErrorCount;

    use super::*;

    fn overview(responses: u64, failures: u64) -> HttpOverview {
        let errors = (failures > 0).then(|| ErrorCount {
            code: 1212,
            text: "dial: connection refused".to_owned(),
            count: failures,
        });
        HttpOverview {
            protocols: vec![("HTTP/1.1".to_owned(), responses)],
            errors: errors.into_iter().collect(),
            ..HttpOverview::default()
        }
    }

    fn second(
        state: &mut State,
        at: u64,
        responses: u64,
        failures: u64,
        waiting: u32,
    ) -> Option<String> {
        state.second(
            Duration::from_secs(at),
            &overview(responses, failures),
            waiting,
        )
    }

    #[test]
    fn failures_without_a_response_are_reported_once() {
        let mut state = State::default();
        assert_eq!(second(&mut state, 2, 0, 20, 0), None);
        let text = second(&mut state, 3, 0, 30, 0).unwrap();
        assert!(
            text.starts_with("no response yet after 3s: 30 requests failed. "),
            "{text}"
        );
        assert!(text.contains("is the server running"), "{text}");
        assert_eq!(second(&mut state, 4, 0, 40, 0), None);
        // A response arrives, and then the failures continue.
        assert_eq!(second(&mut state, 5, 1, 40, 0), None);
        assert_eq!(second(&mut state, 7, 1, 50, 0), None);
        let text = second(&mut state, 8, 1, 60, 0).unwrap();
        assert!(
            text.starts_with("no response for 3s: 20 requests failed"),
            "{text}"
        );
    }

    #[test]
    fn users_that_wait_are_reported_only_if_they_send_requests() {
        let mut state = State::default();
        assert_eq!(second(&mut state, 5, 0, 0, 0), None);
        let text = second(&mut state, 6, 0, 0, 10).unwrap();
        assert!(text.contains("10 users wait"), "{text}");
    }

    #[test]
    fn slow_responses_are_not_reported() {
        let mut state = State::default();
        for at in 1..20 {
            assert_eq!(second(&mut state, at, at / 2, 5, 10), None, "{at}");
        }
    }
}
