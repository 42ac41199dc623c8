//! Advice for errors in which the system refuses a thread, memory or a file descriptor.

use std::io::{Error, ErrorKind};

/// The error with advice, for the end of a message.
pub fn explain(error: &Error) -> String {
    // The error codes are the same on Linux and macOS.
    const TOO_MANY_FILES: [Option<i32>; 2] = [Some(23), Some(24)];
    let advice = match error.kind() {
        ErrorKind::OutOfMemory | ErrorKind::WouldBlock => {
            "The process is short of memory, or of threads. Raise its limits (ulimit -v, ulimit -u, or those of the \
             container), or run with fewer users or workers"
        }
        _ if TOO_MANY_FILES.contains(&error.raw_os_error()) => {
            "Raise the limit on open files (ulimit -n), or run with fewer users or workers"
        }
        _ => return error.to_string(),
    };
    format!("{error}. {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortages_come_with_advice() {
        for (number, advice) in [(11, "ulimit -v"), (12, "ulimit -v"), (24, "ulimit -n")] {
            let text = explain(&Error::from_raw_os_error(number));
            assert!(text.contains(advice), "{text}");
        }
        assert!(!explain(&Error::from_raw_os_error(1)).contains("ulimit"));
    }
}
