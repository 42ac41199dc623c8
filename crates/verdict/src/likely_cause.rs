//! Finds the most frequent failure of a run and suggests what to check.

use plimsoll_samples::HttpOverview;

use crate::{Cause, MainFailure};

/// A part of an error message, the likely cause, and what to check.
type Hint = (&'static str, Cause, &'static str);

/// The first match counts. The messages come from the network crate. HTTP and gRPC errors repeat them.
const HINTS: &[Hint] = &[
    (
        "no such host",
        Cause::Client,
        "the name does not resolve: check its spelling and this machine's DNS",
    ),
    (
        "lookup",
        Cause::Client,
        "the name could not be looked up: check this machine's DNS",
    ),
    (
        "is blocked",
        Cause::Client,
        "the run's own options block it",
    ),
    (
        "is blacklisted",
        Cause::Client,
        "the run's own options block it",
    ),
    (
        "assign requested address",
        Cause::Client,
        "this machine has no free local port or address",
    ),
    (
        "oo many open files",
        Cause::Client,
        "this process has no free file descriptor",
    ),
    (
        "connection refused",
        Cause::Server,
        "is the server running, and on this port?",
    ),
    (
        "no route to host",
        Cause::Network,
        "is the address right, and reachable from here?",
    ),
    (
        "network is unreachable",
        Cause::Network,
        "is the address right, and reachable from here?",
    ),
    (
        "no such file",
        Cause::Server,
        "is the server running, and is this its socket?",
    ),
    (
        "i/o timeout",
        Cause::Network,
        "nothing accepted the connection in time: is the address right, or does a firewall drop packets?",
    ),
    (
        "while decompressing",
        Cause::Client,
        "the response arrived, but this machine did not decompress it in time: raise the timeout, or discard response bodies",
    ),
    (
        "decompressed data of all users",
        Cause::Client,
        "the limit is the generator's own",
    ),
    (
        "decompressing response body (no memory left)",
        Cause::Client,
        "the generator has no memory left for it",
    ),
    (
        "error decompressing response body",
        Cause::Server,
        "the body is not what its Content-Encoding says",
    ),
    (
        "no response when the run ended",
        Cause::Server,
        "each had waited for a second or longer",
    ),
    (
        "request timeout",
        Cause::Server,
        "the server accepted the connection but did not respond in time",
    ),
    (
        "DeadlineExceeded",
        Cause::Server,
        "the server did not respond in time",
    ),
    (
        "unknown authority",
        Cause::Client,
        "this machine does not trust the server's certificate: name its authority (--ca), or accept any certificate (-k)",
    ),
    (
        "certificate required",
        Cause::Client,
        "the server requires a client certificate: give --cert and --key",
    ),
    (
        "remote error: tls: bad certificate",
        Cause::Client,
        "the server did not accept the client certificate",
    ),
    (
        "x509",
        Cause::Client,
        "the server's certificate was not accepted",
    ),
    (
        "does not look like a TLS handshake",
        Cause::Client,
        "the server does not use TLS on this port: write http:// (or --plaintext)",
    ),
    (
        "malformed HTTP response",
        Cause::Client,
        "the server does not speak this protocol on this port: is it TLS, or HTTP/2?",
    ),
    (
        "authentication handshake failed",
        Cause::Client,
        "does the server use TLS on this port? If not, write --plaintext",
    ),
    ("reset", Cause::Server, "the server closed the connection"),
    ("EOF", Cause::Server, "the server closed the connection"),
    (
        "broken pipe",
        Cause::Server,
        "the server closed the connection",
    ),
];

/// The most frequent failure, or `None` if no failure has a message.
pub fn main_failure(http: &HttpOverview) -> Option<MainFailure> {
    let error = http.errors.first()?;
    Some(MainFailure {
        is_of_body: error.text.contains("decompressing"),
        cause: hint(&error.text).map_or(Cause::Server, |(_, cause, _)| *cause),
        text: with_hint(&error.text),
        count: error.count,
    })
}

/// An error message, with the advice on what to check if there is any.
pub fn with_hint(error: &str) -> String {
    match hint(error) {
        Some((_, _, check)) => format!("{error}: {check}"),
        None => error.to_owned(),
    }
}

fn hint(error: &str) -> Option<&'static Hint> {
    HINTS.iter().find(|(part, ..)| error.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_samples::ErrorCount;

    fn of(text: &str) -> MainFailure {
        let http = HttpOverview {
            errors: vec![ErrorCount {
                code: 0,
                text: text.to_owned(),
                count: 3,
            }],
            ..HttpOverview::default()
        };
        main_failure(&http).expect("there is an error")
    }

    #[test]
    fn failures_have_a_cause_and_a_hint() {
        let refused = of("dial: connection refused");
        assert_eq!((refused.cause, refused.count), (Cause::Server, 3));
        assert!(
            refused.text.contains("is the server running"),
            "{refused:?}"
        );
        let tls = of(
            "Unavailable: connection error: desc = \"transport: authentication handshake failed: EOF\"",
        );
        assert!(tls.text.ends_with("If not, write --plaintext"), "{tls:?}");
        let name = of("lookup: no such host");
        assert_eq!(name.cause, Cause::Client);
        assert!(name.text.contains("does not resolve"), "{name:?}");
        let grpc = of("Unavailable: dial tcp 127.0.0.1:9: connect: connection refused");
        assert!(grpc.text.ends_with("on this port?"), "{grpc:?}");
        assert_eq!(of("something new").text, "something new");
        // In these cases, the server did respond.
        for text in [
            "request timeout while decompressing the response body",
            "error decompressing response body (decompressed data of all users would exceed the limit of 1 GB)",
            "error decompressing response body (no memory left)",
        ] {
            let body = of(text);
            assert_eq!(
                (body.cause, body.is_of_body),
                (Cause::Client, true),
                "{text}"
            );
        }
        let corrupt = of("error decompressing response body (unexpected EOF)");
        assert_eq!((corrupt.cause, corrupt.is_of_body), (Cause::Server, true));
        assert!(
            corrupt.text.ends_with("Content-Encoding says"),
            "{corrupt:?}"
        );
        let late = of("request timeout");
        assert_eq!((late.cause, late.is_of_body), (Cause::Server, false));
        assert_eq!(main_failure(&HttpOverview::default()), None);
    }
}
