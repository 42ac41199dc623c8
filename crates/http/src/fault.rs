//! Creates the errors that several HTTP versions report.

use std::io;

use crate::error::{ErrorInfo, code};

/// The request exceeded its timeout.
pub(crate) fn timeout() -> ErrorInfo {
    ErrorInfo::new(code::REQUEST_TIMEOUT, "request timeout")
}

/// The response arrived in time, but decompressing it exceeded the request's timeout. The message
/// differs from that of [`timeout`], because the server is not the cause.
pub(crate) fn timeout_of_decompression() -> ErrorInfo {
    ErrorInfo::new(
        code::REQUEST_TIMEOUT,
        "request timeout while decompressing the response body",
    )
}

/// Reading from or writing to a connection failed.
pub(crate) fn broken(when: &str, error: &io::Error) -> ErrorInfo {
    if let Some(tls) = plimsoll_net::tls_fault(error, "") {
        return ErrorInfo::from(&plimsoll_net::Error::Tls(tls));
    }
    let code = match error.kind() {
        io::ErrorKind::BrokenPipe => code::TCP_BROKEN_PIPE,
        io::ErrorKind::ConnectionReset => code::TCP_RESET,
        _ if error.raw_os_error().is_some() => code::TCP_UNKNOWN,
        _ => code::TCP,
    };
    ErrorInfo::new(code, format!("{when}: {}", plimsoll_net::describe(error)))
}
