//! The messages for the end of a session. They match those of k6.

use plimsoll_ws::{Error, Rejected, code};

/// A close code with its meaning: `websocket: close 1006 (abnormal closure): unexpected EOF`.
pub fn closed(code: u16, reason: &str) -> String {
    let meaning = match code {
        1000 => " (normal)",
        1001 => " (going away)",
        1002 => " (protocol error)",
        1003 => " (unsupported data)",
        1005 => " (no status)",
        1006 => " (abnormal closure)",
        1007 => " (invalid payload data)",
        1008 => " (policy violation)",
        1009 => " (message too big)",
        1010 => " (mandatory extension missing)",
        1011 => " (internal server error)",
        1015 => " (TLS handshake error)",
        _ => "",
    };
    let before = if reason.is_empty() { "" } else { ": " };
    format!("websocket: close {code}{meaning}{before}{reason}")
}

/// Why events ended without a close frame: an error message, the equivalent close code, and the reason for that code.
pub fn broken(error: &Error) -> (String, u16, String) {
    match error {
        Error::Closed { .. } => {
            let reason = "unexpected EOF";
            (
                closed(code::ABNORMAL, reason),
                code::ABNORMAL,
                reason.to_owned(),
            )
        }
        Error::Violation(violation) => {
            let code = violation.close_code();
            (format!("websocket: {error}"), code, violation.to_string())
        }
        Error::Io(_) => (format!("read: {error}"), code::ABNORMAL, error.to_string()),
    }
}

/// Why the handshake failed.
pub fn rejected(rejected: &Rejected) -> String {
    match rejected {
        Rejected::Failed(error) => match error.detail() {
            // The stream ended in the middle of the handshake's response.
            "EOF" => "unexpected EOF".to_owned(),
            text => text.to_owned(),
        },
        Rejected::Refused(..) => "websocket: bad handshake".to_owned(),
    }
}

/// Whether this close code is a normal end. Other codes are errors for scripts, too.
pub fn is_expected(code: u16) -> bool {
    matches!(code, code::NORMAL | code::GOING_AWAY)
}
